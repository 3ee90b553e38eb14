"""Scores embeddings, other systems and baselines by entity linking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from medsim.builds.build import fill_tables, is_output, paths_of
from medsim.builds.output import Build
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.manifest import ENCODERS, fingerprint
from medsim.core.options import folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.corpora.documents import Problems
from medsim.embeddings.embedded_terms import embedded_by
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.linking.choosing import ChoosingModel
from medsim.linking.mentions import read_linked_mentions
from medsim.linking.options import LinkOptions
from medsim.linking.output import DEPTH, LINK, LINKING, MENTION, Linking, LinkingManifest
from medsim.neighbours.rankers import (
    equal_names,
    names_by_cosine,
    names_by_distance,
    names_by_tfidf,
)
from medsim.systems.options import systems_of
from medsim.systems.ranked_lists import KnownConcepts, PredictedLists
from medsim.systems.rankings import IS_KNOWN, RANKING_TABLES, STRATA, ranking_tables
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.options import ReadingOptions

_STRATA = {
    **{name: STRATA[name] for name in ("all", "name", "not_name")},
    "homonym": IS_KNOWN & (pl.col("n_named") > 1),
    "abbreviation": IS_KNOWN & pl.col("is_abbreviation"),
    **{name: pl.col("status") == name for name in ("composite", "unknown_concept", "no_concept")},
    **{name: STRATA[name] for name in ("no_match", "with_no_match")},
}
_KEYS = (("mention",), ("document", "start", "end"), ("document", "text"), ("text",))


@public(LinkOptions)
def link(options: LinkOptions) -> Linking:
    """Look up each mention of corpora among all names of a terminology, and return the scores.

    Each embedding ranks the concepts by their nearest name. Exact match, Levenshtein distance and
    TF-IDF of character trigrams are the baselines. Other systems give ranked lists of concepts: in
    a table, as a function of a mention's text, or by scoring pairs of a mention and a candidate.
    Scores are accuracy@1, accuracy@5 and the mean reciprocal rank, with 95% confidence intervals by
    document, and how much can be answered at which precision.

    Raises:
        InputError: a corpus, the terminology, an embedding or the predictions are missing, damaged
            or in an unknown format, or no mention has a concept of the terminology.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken or cannot be written.
        ServiceError: a service cannot be reached, or gives an invalid answer.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    llms = [*map(ChoosingModel.parse, options.llms)]
    problems = Problems()
    with (
        claimed_by(options, LINKING, paths_of(options.terminology)) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        corpora, terminology, dictionary = _read(options, store, progress, problems)
        models = _Models(options, store, progress, threads, llms)
        mentions = store.table("mention").select(*MENTION.dtypes)
        lists = dict(models.lists())
        items = mentions.rename({"mention_id": "item_id"}).with_columns(
            cluster=pl.struct("corpus", "document_id")
        )
        with progress.stage("score"):
            scores = ranking_tables(items, lists, _STRATA, has_hierarchy=bool(store.n_rows("is_a")))
        for name, frame in scores.items():
            output.write(RANKING_TABLES[name].files, frame)
        output.write(MENTION.files, mentions)
        each = (rows.with_columns(model=pl.lit(model)) for model, rows in lists.items())
        links = pl.concat(each).rename({"item_id": "mention_id"})
        output.write(LINK.files, links.select(*LINK.dtypes).cast(pl.Schema(LINK.dtypes)))
        LinkingManifest(
            corpora=corpora,
            terminology=terminology,
            dictionary=dictionary,
            embeddings=models.embeddings,
            systems=models.systems,
            skipped=[asdict(item) for item in problems.skipped()],
            **output.run_facts(options.recorded(), progress, threads, *ENCODERS),
        ).write(output.folder)
    return Linking(options.out)


def _read(
    options: LinkOptions, store: Store, progress: Progress, problems: Problems
) -> tuple[dict[str, dict[str, object]], dict[str, Any], dict[str, object]]:
    """Put mentions and names into the store; return facts on corpora, terminology and names."""
    with progress.stage("read corpora"):
        corpora = read_linked_mentions(options.corpora, store, problems, progress)
    progress.warn(*problems.warnings())
    terminology, dictionary = _read_names(options, store, progress)
    store.run_each("linking", "name", "bearer", "gold", "mention")
    if not store.n_rows("gold"):
        cited, own = store.frame("linking/code_example").row(0)
        raise InputError(
            f"no mention has a concept of {terminology['name']}: codes of the corpora are such "
            f"as {cited}, and concepts such as {own}; except in UMLS and MeSH, ids of concepts "
            "need the prefix of their vocabulary"
        )
    return corpora, terminology, dictionary


@dataclass(frozen=True, slots=True)
class _Models:
    """The models of a run, with facts on those that have answered, by name."""

    options: LinkOptions
    store: Store
    progress: Progress
    threads: int
    llms: list[ChoosingModel]
    embeddings: dict[str, dict[str, object]] = field(default_factory=dict)
    systems: dict[str, dict[str, object]] = field(default_factory=dict)

    def lists(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the name of each model with the rows of its lists; see sql/systems/ranked_item.

        Predictions are read before the searches, which may take long.
        """
        store, options = self.store, self.options
        by_query = store.frame("linking/item")
        by_mention = by_query.with_columns(query_id="item_id")
        mentions = store.frame("linking/named_mention")
        entries, cited = store.table("entry"), store.table("cited_code")
        known = KnownConcepts(concepts=entries["concept_id"], cited=cited)
        predicted = PredictedLists(facts=self.systems)
        systems = systems_of(options.predictions)
        predicted.read(systems, mentions, _KEYS, known, self.progress, "the corpora")
        candidates = pl.DataFrame()
        for model, found in self._searched():
            with store.frame_as("found", found):
                answers = store.frame("linking/answer")
            if model == options.first_search:
                candidates = answers.filter(pl.col("concept_rank") <= options.candidates)
            yield model, self._ranked(by_query, answers)
        queries = store.frame("linking/query").select("query_id", text="term")
        for name, answers in predicted.lists.items():
            yield name, self._ranked(by_mention, answers)
        for name, answers in predicted.reranked(candidates, queries, self.progress):
            yield name, self._ranked(by_query, answers)
        for llm in self.llms:
            cache = cache_folder(options.cache)
            answers, self.systems[llm.name] = llm.chosen(candidates, queries, cache, self.progress)
            yield llm.name, self._ranked(by_query, answers)

    def _ranked(self, items: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
        with self.store.frame_as("item", items), self.store.frame_as("answer", answers):
            return self.store.frame("systems/ranked_item")

    def _searched(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the names that each search finds."""
        store, progress, threads = self.store, self.progress, self.threads
        names, queries = store.table("name"), store.frame("linking/query")
        numbers = queries.select(
            "query_id", at=pl.col("lower_term").rank("dense").cast(pl.Int32) - 1
        )
        lower = names["lower_term"], queries["lower_term"].unique(maintain_order=True)

        def spelled(found: pl.DataFrame) -> pl.DataFrame:
            return found.rename({"query_id": "at"}).join(numbers, on="at")

        yield "exact", spelled(equal_names(*lower))
        with progress.stage(f"search {len(lower[1]):,} mentions by Levenshtein distance"):
            yield "levenshtein", spelled(names_by_distance(*lower, DEPTH, threads))
        with progress.stage(f"search {len(lower[1]):,} mentions by TF-IDF"):
            yield "tfidf", spelled(names_by_tfidf(*lower, DEPTH, threads))
        names = store.frame("linking/spelling")
        texts = pl.concat([names["term"], queries["term"]])
        terms = texts.unique().sort()
        rows, cache = terms.search_sorted(texts).to_numpy(), cache_folder(self.options.cache)
        specs = (embedding_spec(source, name) for name, source in self.options.embeddings.items())
        each = embedded_by(specs, terms.to_list(), progress, threads=threads, cache=cache)
        for named, embedded in each:
            name = named.spec.name
            with progress.stage(f"search {queries.height:,} mentions with {name}"):
                sides = rows[: names.height], rows[names.height :]
                found = names_by_cosine(embedded, *sides, DEPTH, threads)
                found = found.with_columns(name_id=names["name_id"].gather(found["name_id"]))
            self.embeddings[name] = named.provenance()
            yield name, found


def _read_names(
    options: LinkOptions, store: Store, progress: Progress
) -> tuple[dict[str, Any], dict[str, object]]:
    """Put the names of a build or source into the store, and its ``cited_code``.

    Returns:
        The facts about the terminology and about the names, for the manifest.
    """
    source, language = options.terminology, options.language
    reading = ReadingOptions(language=language, extensions=options.extensions)
    terminology = fill_tables(source, reading, store, progress)
    build = Build(folder_of(source)) if is_output(source) else None
    cite_codes(store, terminology["vocabulary"])
    # Tables of mentions cite concepts as they are, without a vocabulary.
    plain = (
        store.table("concept")
        .filter("active")
        .select(vocabulary=pl.lit(""), code="concept_id", concept_id="concept_id", n_concepts=1)
    )
    cited = store.table("cited_code")
    store.put("cited_code", pl.concat([cited, plain.cast(cited.schema)]))
    names = store.frame("terminologies/concept_name", language=language)
    if names.is_empty():
        raise InputError(f"{source} has no names in `language` {language}")
    store.put("entry", names.with_columns(lowered_column(names["term"])))
    return terminology, {
        "n_names": names["term"].n_unique(),
        "n_concepts": names["concept_id"].n_unique(),
        "fingerprint": fingerprint(names),
        "build": build and build.manifest.digest,
    }
