"""Relations of words: from a terminology, variants of its names, and association norms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from medsim.builds.output import Build
from medsim.builds.positives import reload_names
from medsim.core.errors import InputError
from medsim.core.store import Store
from medsim.core.tables import lines_of, read_table, read_text, unguarded
from medsim.core.terms import lowered
from medsim.studies.words import Forms, has_white_space
from medsim.systems.predictions import number_column

_FILES = {"LRAGR": (6, 1, 5), "LRSPL": (3, 1, 2), "LRNOM": (6, 1, 4)}
"""The number of fields of a file, and the positions of a word and of its base.

LRAGR has EUI, inflected form, category, agreement, citation form and base; LRSPL has EUI, spelling
and base; LRNOM has EUI, base and category of a nominalisation, then of its verb or adjective.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The variants of words, in lower case; each table maps a word to others.

    Attributes:
        bases: bases of inflected forms and spellings.
        forms: inflected forms and spellings of bases.
        nominalisations: both directions, such as phosphorylation and phosphorylate.
    """

    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    forms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    nominalisations: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def variants(self, word: str) -> set[str]:
        """Return a word with its variants: all forms of its bases and of their nominalisations."""
        bases = {word} | _all_of(self.bases, [word])
        bases |= _all_of(self.nominalisations, bases)
        return bases | _all_of(self.forms, bases)


def read_lexicon(paths: Sequence[str | Path]) -> Lexicon:
    """Return the variants in files of the SPECIALIST Lexicon: LRAGR, LRNOM and LRSPL.

    Fields are separated by bars, as in the files of the relational format in the UMLS Reference
    Manual (section 6); multi-word entries are skipped.

    Args:
        paths: files with these names and any suffix, and folders with some of them.

    Raises:
        InputError: a file cannot be read, has another name, or has a line with too few fields.
    """
    lexicon = Lexicon()
    for path in map(Path, paths):
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        kinds = [(file.name.split(".")[0].upper(), file) for file in files]
        lexicon_files = [(kind, file) for kind, file in kinds if kind in _FILES]
        if not lexicon_files:
            raise InputError(
                f"{path} is not from the SPECIALIST Lexicon; give {', '.join(_FILES)} or a folder"
            )
        for kind, file in lexicon_files:
            for word, base in _words_of(kind, file):
                if kind == "LRNOM":
                    lexicon.nominalisations[word].add(base)
                    lexicon.nominalisations[base].add(word)
                else:
                    lexicon.bases[word].add(base)
                    lexicon.forms[base].add(word)
    return lexicon


def _words_of(kind: str, path: Path) -> Iterator[tuple[str, str]]:
    n_fields, *positions = _FILES[kind]
    for number, line in enumerate(lines_of(read_text(path, guess=False)), start=1):
        fields = line.rstrip("\r\n").split("|")
        if not line.strip():
            continue
        if len(fields) < n_fields:
            few = f"{len(fields)} fields between bars; {kind} has {n_fields}"
            raise InputError(f"{path}: line {number} has {few}")
        word, base = lowered([fields[position].strip() for position in positions])
        if word and base and word != base and not has_white_space(word + base):
            yield word, base


def _all_of(table: dict[str, set[str]], words: Iterable[str]) -> set[str]:
    return set().union(*(table.get(word, ()) for word in words))


_SIDES = ("cue", "target")
_STRENGTHS = {"fsg": "FSG", "strength": "strength"}
_PARTICIPANTS, _ANSWERS, _BACKWARD = "#g", "#p", "bsg"


def read_norms(
    paths: Sequence[str | Path], *, participants: int, answers: int = 0, one_way: bool
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the associations of files of norms, and a warning for each missing column.

    Files have columns cue and target. The eight files of the University of South Florida (Nelson,
    McEvoy and Schreiber 2004, Behavior Research Methods 36(3)) have more: #G is the number of
    people who saw the cue, #P the number of them who said the target, FSG the forward strength
    (#P / #G), and BSG the backward strength (the share of people who saw the target and said the
    cue), 0 or not a number if unknown. Other files may have a column strength instead of FSG, and
    the other columns.

    Args:
        paths: the files.
        participants: the minimum number of people who saw the cue of a norm.
        answers: the minimum number of them who said its target.
        one_way: whether to use norms without a backward strength.

    Returns:
        cue and target, in lower case; strength, null if missing; its name; and counts, whether the
        norm associates its words. If the column for a rule is missing, all norms pass the rule,
        with a warning.
    """
    frames, warnings = [], []
    limits = {
        _PARTICIPANTS: ("norm_participants", participants),
        _ANSWERS: ("norm_answers", answers),
    }
    for path in map(Path, paths):
        table = read_table(path, _SIDES, (*_STRENGTHS, *limits, _BACKWARD))
        frame = table.frame
        for side in _SIDES:
            table.refuse(frame[side] == "", side, "is empty; give a word, or leave the row out")
        column = next((name for name in _STRENGTHS if name in frame.columns), "")
        missing = pl.repeat(None, frame.height, dtype=pl.Float64, eager=True)
        strengths = number_column(table, column) if column else missing
        counts = pl.repeat(value=True, n=frame.height, eager=True)
        for name, (option, least) in limits.items():
            if least > 0 and name in frame.columns:
                counts &= number_column(table, name).fill_null(0) >= least
            elif least > 0:
                unknown = f"`{option}` {least} is not applied"
                warnings.append(f"{path.name} has no column {name.upper()}, so {unknown}")
        if not one_way and _BACKWARD in frame.columns:
            with_points = frame[_BACKWARD].str.replace(",", ".")
            backward = with_points.cast(pl.Float64, strict=False).fill_nan(None)
            counts &= (strengths.fill_null(0) > 0) & (backward.fill_null(0) > 0)
        elif not one_way:
            warnings.append(f"{path.name} has no column BSG, so norms that go one way count")
        sides = [pl.Series(side, lowered(frame[side].to_list()), pl.String) for side in _SIDES]
        norms = pl.DataFrame([*sides, strengths.alias("strength"), counts.alias("counts")])
        frames.append(norms.with_columns(name=pl.lit(_STRENGTHS.get(column), pl.String)))
    return pl.concat(frames), tuple(warnings)


def associated(norms: pl.DataFrame, forms: Forms, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of ``words`` that norms associate, in either direction.

    Returns:
        word1_id < word2_id; reason: the strongest association of the two words, preferably one that
        counts; counts: whether one of their associations counts.
    """
    pairs = (
        norms.with_columns(
            pl.Series(side, [forms.form_of(word) for word in norms[side].to_list()], pl.String)
            for side in _SIDES
        )
        .join(words.select(cue="word", cue_id="word_id"), on="cue")
        .join(words.select(target="word", target_id="word_id"), on="target")
        .filter(pl.col("cue_id") != pl.col("target_id"))
        .sort(*_SIDES)
        .sort("counts", "strength", descending=True, nulls_last=True, maintain_order=True)
    )
    rows = pairs.select(*_SIDES, "strength", "name").iter_rows()
    reasons = [
        f"norm: {cue} \N{RIGHTWARDS ARROW} {target}"
        + ("" if strength is None else f", {name} {strength:g}")
        for cue, target, strength, name in rows
    ]
    ids = ("cue_id", "target_id")
    return (
        pairs.select(
            pl.min_horizontal(ids).alias("word1_id"),
            pl.max_horizontal(ids).alias("word2_id"),
            pl.Series("reason", reasons, pl.String),
            "counts",
        )
        .unique(["word1_id", "word2_id"], keep="first", maintain_order=True)
        .sort("word1_id", "word2_id")
    )


def read_confirmed(path: Path, forms: Forms, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of ``words`` in a table of confirmed pairs, term1 and term2.

    ``medsim study score`` writes such tables, with cells escaped for spreadsheets.

    Returns:
        word1_id < word2_id, and reason.
    """
    terms = read_table(path, ("term1", "term2")).frame
    pairs = pl.DataFrame(
        [
            pl.Series(side, lowered([unguarded(term) for term in column]), pl.String)
            for side, column in zip(_SIDES, terms, strict=True)
        ]
    ).with_columns(strength=pl.lit(None, pl.Float64), name=pl.lit(None, pl.String), counts=True)
    confirmed = associated(pairs, forms, words).drop("counts")
    return confirmed.with_columns(reason=pl.lit("confirmed by people"))


def listed_words(
    path: Path, forms: Forms, threads: int, lexicon: Lexicon | None = None
) -> frozenset[str]:
    """Return the forms of the words of a file, one per line, or of a build's one-word names."""
    if path.is_dir():
        with Store(threads=threads) as store:
            reload_names(Build(path), store)
            return frozenset(single_words(store, forms, lexicon)["word"])
    words = [line.strip() for line in lines_of(read_text(path)) if line.strip()]
    return frozenset(map(forms.form_of, lowered(words)))


def single_words(store: Store, forms: Forms, lexicon: Lexicon | None = None) -> pl.DataFrame:
    """Return the single words that are names of active concepts, in the forms of a corpus.

    With a lexicon, all variants of these names are included: if phosphorylation is a name, so is
    phosphorylate (Chiu et al. 2018). The store has the tables name and term, see
    ``sql/builds/terms``; the frame has node_id and word, with several words per node if there are
    variants.
    """
    nodes = store.table("name").select("node_id").unique()
    terms = store.table("term").unique("node_id").join(nodes, on="node_id", how="semi")
    names = terms.select("node_id", "lower_term").sort("node_id").iter_rows()
    rows = [
        (node_id, form)
        for node_id, word in names
        if not has_white_space(word)
        for form in sorted({*map(forms.form_of, lexicon.variants(word) if lexicon else [word])})
    ]
    return pl.DataFrame(rows, {"node_id": pl.Int32, "word": pl.String}, orient="row")


def relations(
    store: Store, names: pl.DataFrame, words: pl.DataFrame, components: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the pairs of words that a terminology relates; word1_id < word2_id, each pair once.

    Variants of one name are related, and never associated by it or by another.

    Returns:
        word1_id, word2_id and reason of associated words: synonyms or siblings; and word1_id and
        word2_id of words that must not count as unassociated, because one is an ancestor of the
        other, or positives link them.
    """
    nodes = names.join(words, on="word").select("node_id", "word_id")
    ids = ("word1_id", "word2_id")
    both = nodes.join(nodes, on="node_id").select(word1_id="word_id", word2_id="word_id_right")
    variants = both.filter(pl.col("word1_id") < pl.col("word2_id")).unique()
    store.put("word_node", nodes)
    word_components = nodes.join(components, on="node_id").select("word_id", "component")
    store.put("word_component", word_components.unique())
    store.run("studies/word_concept")
    pairs = store.frame("studies/associated_words")
    associated = pairs.join(variants, on=ids, how="anti", maintain_order="left")
    reason = pl.concat_str(
        pl.when("are_synonyms").then(pl.lit("synonyms of ")).otherwise(pl.lit("siblings under ")),
        "concept_id",
    )
    related = pl.concat([store.frame("studies/related_words"), variants]).unique().sort(ids)
    return associated.select("word1_id", "word2_id", reason.alias("reason")), related
