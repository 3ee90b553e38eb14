"""Scores embeddings, other systems and baselines by entity linking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column
from medsim.corpora import corpus_names
from medsim.corpora.documents import (
    Problems,
    codes_of,
    corpus_digest,
    documents_of,
    open_corpus,
)
from medsim.embeddings.embedded_terms import embedded_by
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.linking.choosing import ChoosingModel
from medsim.linking.options import LinkOptions
from medsim.linking.output import DEPTH, LINK, LINKING, MENTION, Linking, LinkingManifest
from medsim.neighbours.rankers import (
    equal_names,
    names_by_cosine,
    names_by_distance,
    names_by_tfidf,
)
from medsim.systems.options import System, system_of, systems_of
from medsim.systems.predictions import number_column, predicted_table
from medsim.systems.ranked_lists import KnownConcepts, PredictedLists
from medsim.systems.rankings import IS_KNOWN, RANKING_TABLES, STRATA, ranking_tables
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from medsim.core.tables import TextTable

_STRATA = {
    **{name: STRATA[name] for name in ("all", "name", "not_name")},
    "homonym": IS_KNOWN & (pl.col("n_named") > 1),
    "abbreviation": IS_KNOWN & pl.col("is_abbreviation"),
    **{name: pl.col("status") == name for name in ("composite", "unknown_concept", "no_concept")},
    **{name: STRATA[name] for name in ("no_match", "with_no_match")},
}
_KEYS = (("mention",), ("document", "start", "end"), ("document", "text"), ("text",))

_ANNOTATION = ("mention_id", "corpus", "document_id", "start", "end", "term", "type")
_CODES = {"mention_id": pl.Int32, "vocabulary": pl.String, "code": pl.String}
_TABLES = frozenset({".csv", ".tsv", ".tab", ".xlsx", ".xlsm", ".parquet", ".jsonl", ".ndjson"})
_NO_TYPE = "mention"

_Mention = tuple[str, int | None, int | None, str, str, Sequence[tuple[str, str]]]
"""Document, start, end, text, type, and codes."""


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
        corpora = _read_mentions(options.corpora, store, problems, progress)
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


def _read_mentions(
    corpora: Sequence[str | Path], store: Store, problems: Problems, progress: Progress
) -> dict[str, dict[str, object]]:
    """Put all mentions and their codes into the store; return the facts on each corpus by name.

    A corpus is PubTator, BioC or brat, or a table with a column of texts and one of concepts.
    """
    given, facts = [system_of(corpus, "corpus") for corpus in corpora], {}
    rows: list[tuple[Any, ...]] = []
    codes: list[tuple[int, str, str]] = []
    for corpus, system in zip(corpus_names([each.source for each in given]), given, strict=True):
        is_table = system.columns or system.source.suffix.lower() in _TABLES
        read = _of_table(system, progress) if is_table else _of_corpus(system, problems)
        mentions, facts[corpus] = read
        facts[corpus] |= {"n_mentions": len(mentions)}
        for document_id, start, end, text, kind, cited in mentions:
            codes += [(len(rows), *code) for code in cited]
            rows.append((len(rows), corpus, document_id, start, end, text, kind))
    annotations = {name: MENTION.dtypes[name] for name in _ANNOTATION}
    annotated = pl.DataFrame(rows, annotations, orient="row")
    lower = lowered_column(annotated["term"].str.strip_chars())
    store.put("annotation", annotated.with_columns(lower))
    store.put("annotation_code", pl.DataFrame(codes, _CODES, orient="row"))
    return facts


def _of_corpus(system: System, problems: Problems) -> tuple[list[_Mention], dict[str, object]]:
    path: Path = system.source
    mentions: list[_Mention] = []
    with open_corpus(path) as file:
        documents = list(documents_of(file, path, problems))
        facts: dict[str, object] = {"file": path.name, "sha256": corpus_digest(file, path)}
    for document in documents:
        for each in document.annotations:
            if len(each.text) > MAX_NAME:
                where = f"{path}: document {document.document_id}"
                problems.add(f"mention {TOO_LONG}", where, each.text)
                continue
            place = document.document_id, each.start, each.end
            mentions.append((*place, each.text, each.kind, each.codes))
    return mentions, facts | {"n_documents": len(documents)}


def _of_table(system: System, progress: Progress) -> tuple[list[_Mention], dict[str, object]]:
    """Return the mentions of a table; without a column of documents each row is one of its own."""
    table = predicted_table(system, ("text", "concept"), ("document", "start", "end", "type"))
    progress.warn(*table.warnings)
    rows = table.frame
    table.refuse(rows["text"] == "", "text", "must not be empty")
    table.refuse(rows["text"].str.len_chars() > MAX_NAME, "text", TOO_LONG)
    numbers = [
        _whole(table, name) if name in rows else [None] * len(rows) for name in ("start", "end")
    ]
    documents = rows["document"] if "document" in rows else map(str, table.at)
    kinds = rows["type"] if "type" in rows else [_NO_TYPE] * len(rows)
    cited = [
        [("", part.strip()) for part in re.split("[|;]", cell)] if codes is None else codes
        for cell, codes in zip(rows["concept"], map(codes_of, rows["concept"]), strict=True)
    ]
    mentions = [*zip(documents, *numbers, rows["text"], kinds, cited, strict=True)]
    n_documents = len({document for document, *_ in mentions})
    facts = {"file": table.path.name, "sha256": table.sha256, "n_documents": n_documents}
    return mentions, facts


def _whole(table: TextTable, name: str) -> pl.Series:
    numbers = number_column(table, name)
    whole = numbers.cast(pl.Int32, strict=False)
    table.refuse((whole != numbers).fill_null(numbers.is_not_null()), name, "is not a whole number")
    return whole


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
