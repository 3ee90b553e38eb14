"""Single words that are names of a terminology's concepts, and how it relates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.output import Build
from medsim.builds.term_index import node_components, reload_names
from medsim.core.store import Store
from medsim.core.tables.text import lines_of, read_text
from medsim.studies.words.filters import has_white_space
from medsim.studies.words.frequencies import normalised

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.studies.words.forms import Forms
    from medsim.studies.words.lexicon import Lexicon


def listed_words(
    path: Path, forms: Forms, threads: int, lexicon: Lexicon | None = None
) -> frozenset[str]:
    """Return the words of a file, a word a line, or the single-word names of a build, as forms."""
    if path.is_dir():
        with Store(threads=threads) as store:
            reload_names(Build(path), store)
            return frozenset(names_of(store, forms, lexicon)["word"])
    words = [line.strip() for line in lines_of(read_text(path)) if line.strip()]
    return frozenset(map(forms.of, normalised(words)))


def relations_in(
    folder: Path, forms: Forms, words: pl.DataFrame, threads: int, lexicon: Lexicon | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how the terminology of a build relates words; see ``relations``."""
    with Store(threads=threads) as store:
        components = node_components(Build(folder), store, threads)
        return relations(store, names_of(store, forms, lexicon), words, components)


def names_of(store: Store, forms: Forms, lexicon: Lexicon | None = None) -> pl.DataFrame:
    """Return the single words that are names of active concepts, in the forms of a corpus.

    With a lexicon, so are all variants of these names: since phosphorylation is a name,
    phosphorylate is (Chiu et al. 2018). The store has the tables name and term, see
    ``sql/builds/terms``; the frame has node_id and word, several words to a node where there are
    variants.
    """
    nodes = store.table("name").select("node_id").unique()
    terms = store.table("term").unique("node_id").join(nodes, on="node_id", how="semi")
    names = terms.select("node_id", "lower_term").sort("node_id")
    single = names.filter(
        pl.Series([not has_white_space(t) for t in names["lower_term"].to_list()], dtype=pl.Boolean)
    )
    words = [
        sorted({forms.of(one) for one in (lexicon.variants(word) if lexicon else (word,))})
        for word in normalised(single["lower_term"].to_list())
    ]
    of_nodes = single.select("node_id", pl.Series("word", words, pl.List(pl.String)))
    return of_nodes.explode("word")


def relations(
    store: Store, names: pl.DataFrame, words: pl.DataFrame, components: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the pairs of words that a terminology relates; word1_id < word2_id, each pair once.

    Variants of one name are related, and never associated by it or by another.

    Returns:
        word1_id, word2_id and the reason of associated words: synonyms or siblings; word1_id and
        word2_id of words that must not count as unassociated: one is above the other, or positives
        link them.
    """
    nodes = names.join(words, on="word").select("node_id", "word_id")
    ids = ("word1_id", "word2_id")
    variants = (
        nodes.join(nodes, on="node_id")
        .select(word1_id="word_id", word2_id="word_id_right")
        .filter(pl.col("word1_id") < pl.col("word2_id"))
        .unique()
    )
    store.put("word_node", nodes)
    store.put(
        "word_component",
        nodes.join(components, on="node_id").select("word_id", "component").unique(),
    )
    store.run("studies/word_concept")
    found = store.frame("studies/associated_words")
    associated = found.join(variants, on=ids, how="anti", maintain_order="left")
    reason = pl.concat_str(
        pl.when("are_synonyms").then(pl.lit("synonyms of ")).otherwise(pl.lit("siblings under ")),
        "concept_id",
    )
    related = pl.concat([store.frame("studies/related_words"), variants]).unique().sort(ids)
    return associated.select("word1_id", "word2_id", reason.alias("reason")), related
