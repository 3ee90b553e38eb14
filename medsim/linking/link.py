"""Scores embeddings and baselines by entity linking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from medsim.builds.build import fill_tables, is_output, paths_of
from medsim.builds.output import Build
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.options import folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.shown import MISSING
from medsim.core.store import Store
from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column
from medsim.corpora import corpus_names
from medsim.corpora.documents import Problems, corpus_digest, documents_of, open_corpus
from medsim.embeddings.embedded_terms import embedded_by
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.linking.options import LinkOptions
from medsim.linking.output import (
    DEPTH,
    LINK,
    LINK_SCORES,
    LINKING,
    MENTION,
    Linking,
    LinkingManifest,
)
from medsim.neighbours.rankers import (
    equal_names,
    names_by_cosine,
    names_by_distance,
    names_by_tfidf,
)
from medsim.statistics.estimates import clustered_mean, interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.options import ReadingOptions

_ANNOTATION = ("mention_id", "corpus", "document_id", "start", "end", "term", "type")
_CODES = {"mention_id": pl.Int32, "vocabulary": pl.String, "code": pl.String}


@public(LinkOptions)
def link(options: LinkOptions) -> Linking:
    """Look up each mention of corpora among all names of a terminology, and return the scores.

    Each model ranks the concepts by their nearest name. Exact match, Levenshtein distance and
    TF-IDF of character trigrams are the baselines. Scores are accuracy@1, accuracy@5 and the mean
    reciprocal rank, with 95% confidence intervals by document.

    Raises:
        InputError: a corpus, the terminology or an embedding is missing, damaged or in an unknown
            format, or no mention has a concept of the terminology.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    problems = Problems()
    embeddings: dict[str, dict[str, object]] = {}
    with (
        claimed_by(options, LINKING, paths_of(options.terminology)) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        with progress.stage("read corpora"):
            corpora = _read_corpora([Path(path) for path in options.corpora], store, problems)
        progress.warn(*problems.warnings())
        terminology, dictionary = _read_names(options, store, progress)
        for query in ("name", "bearer", "gold", "mention"):
            store.run(f"linking/{query}")
        if not store.n_rows("gold"):
            cited, own = store.frame("linking/code_example").row(0)
            raise InputError(
                f"no mention has a concept of {terminology['name']}: codes of the corpora are such "
                f"as {cited}, and concepts such as {own}; except in UMLS and MeSH, ids of concepts "
                "need the prefix of their vocabulary"
            )
        links, mentions = [], store.table("mention").select(*MENTION.dtypes)
        for model, found in _searched(options, store, embeddings, progress, threads):
            with store.frame_as("found", found):
                ranks = store.frame("linking/link")
                links.append(ranks.select(pl.lit(model).alias("model"), pl.all()))
        ranked = pl.concat(links)
        has_hierarchy = bool(store.n_rows("is_a"))
        scores = link_scores(mentions, ranked, has_hierarchy=has_hierarchy)
        output.write(LINK_SCORES.files, scores)
        output.write(MENTION.files, mentions)
        output.write(LINK.files, ranked)
        LinkingManifest(
            corpora=corpora,
            terminology=terminology,
            dictionary=dictionary,
            embeddings=embeddings,
            options=options.recorded(),
            skipped=[asdict(item) for item in problems.skipped()],
            **manifest.run_facts(progress, output.outputs, threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return Linking(options.out)


def _searched(
    options: LinkOptions,
    store: Store,
    embeddings: dict[str, dict[str, object]],
    progress: Progress,
    threads: int,
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the names that each model finds; the facts about embeddings go to ``embeddings``."""
    names, queries = store.table("name"), store.frame("linking/query")
    numbers = queries.select("query_id", at=pl.col("lower_term").rank("dense").cast(pl.Int32) - 1)
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
    rows, cache = terms.search_sorted(texts).to_numpy(), cache_folder(options.cache)
    specs = (embedding_spec(source, name) for name, source in options.embeddings.items())
    each = embedded_by(specs, terms.to_list(), progress, threads=threads, cache=cache)
    for named, embedded in each:
        name = named.spec.name
        with progress.stage(f"search {queries.height:,} mentions with {name}"):
            sides = rows[: names.height], rows[names.height :]
            found = names_by_cosine(embedded, *sides, DEPTH, threads)
            found = found.with_columns(name_id=names["name_id"].gather(found["name_id"]))
        embeddings[name] = named.provenance()
        yield name, found


def _read_corpora(
    paths: Sequence[Path], store: Store, problems: Problems
) -> dict[str, dict[str, object]]:
    """Put all mentions and their codes into the store; return the facts on each corpus by name."""
    facts = {}
    rows: list[tuple[Any, ...]] = []
    codes: list[tuple[int, str, str]] = []
    for path, corpus in zip(paths, corpus_names(paths), strict=True):
        with open_corpus(path) as file:
            n_before, documents = len(rows), list(documents_of(file, path, problems))
            about: dict[str, object] = {"file": path.name, "sha256": corpus_digest(file, path)}
        for document in documents:
            for each in document.annotations:
                if len(each.text) > MAX_NAME:
                    where = f"{path}: document {document.document_id}"
                    problems.add(f"mention {TOO_LONG}", where, each.text)
                    continue
                codes += [(len(rows), *code) for code in each.codes]
                offsets = each.start, each.end
                mention = (len(rows), corpus, document.document_id, *offsets)
                rows.append((*mention, each.text, each.kind))
        n_mentions = len(rows) - n_before
        facts[corpus] = about | {"n_documents": len(documents), "n_mentions": n_mentions}
    mentions = pl.DataFrame(
        rows, {name: MENTION.dtypes[name] for name in _ANNOTATION}, orient="row"
    )
    lower = lowered_column(mentions["term"].str.strip_chars())
    store.put("annotation", mentions.with_columns(lower))
    store.put("annotation_code", pl.DataFrame(codes, _CODES, orient="row"))
    return facts


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
    names = store.frame("terminologies/concept_name", language=language)
    if names.is_empty():
        raise InputError(f"{source} has no names in `language` {language}")
    store.put("entry", names.with_columns(lowered_column(names["term"])))
    return terminology, {
        "n_names": names["term"].n_unique(),
        "n_concepts": names["concept_id"].n_unique(),
        "fingerprint": manifest.fingerprint(names),
        "build": build and build.manifest.digest,
    }


_ALL = "all"
"""The type of all mentions, and the stratum of all mentions of one known concept."""

_IS_KNOWN = pl.col("status") == "known"
_STRATA = {
    _ALL: _IS_KNOWN,
    "name": _IS_KNOWN & (pl.col("n_named") > 0),
    "not_name": _IS_KNOWN & (pl.col("n_named") == 0),
    "homonym": _IS_KNOWN & (pl.col("n_named") > 1),
    "abbreviation": _IS_KNOWN & pl.col("is_abbreviation"),
    **{name: pl.col("status") == name for name in ("composite", "unknown_concept", "no_concept")},
}
_STATISTICS = {
    "accuracy_at_1": lambda sample: sample.accuracy_at(1),
    "accuracy_at_5": lambda sample: sample.accuracy_at(5),
    "mrr": RankSample.mean_reciprocal_rank,
}
_NEAR_MISSES = ("parent", "child", "sibling")


def link_scores(
    mentions: pl.DataFrame, links: pl.DataFrame, *, has_hierarchy: bool
) -> pl.DataFrame:
    """Return the scores of all models, the rows of ``LINK_SCORES``."""
    rows = []
    every = pl.concat([mentions.with_columns(type=pl.lit(_ALL)), mentions.sort("type")])
    for (corpus, kind), of_type in every.group_by("corpus", "type", maintain_order=True):
        for stratum, chosen in _STRATA.items():
            counted = of_type.filter(chosen)
            for (model,), of_model in links.group_by("model", maintain_order=True):
                scored = counted.join(of_model, on="mention_id")
                sample = RankSample(
                    ranks=scored["rank"].fill_null(NOT_FOUND).cast(pl.Int64).to_numpy(),
                    clusters=scored["document_id"].rank("dense").cast(pl.Int64).to_numpy() - 1,
                )
                where = (corpus, kind, stratum, model)
                n_counted = counted.height, counted["document_id"].n_unique()
                estimates = {name: compute(sample) for name, compute in _STATISTICS.items()}
                if has_hierarchy:
                    missed = {name: scored["near_miss"].eq_missing(name) for name in _NEAR_MISSES}
                    right = scored["rank"].eq_missing(1) | missed["parent"]
                    for name, hits in {"accuracy_at_1_or_parent": right, **missed}.items():
                        found = hits.cast(pl.Float64).to_numpy()
                        estimates[name] = clustered_mean(found, sample.clusters)
                for statistic, estimate in estimates.items():
                    values = interval_of(estimate).values()
                    rows.append((*where, statistic, *values, *n_counted))
    return pl.DataFrame(rows, LINK_SCORES.dtypes, orient="row")


def readable_link_scores(results: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return the scores of all mentions in percent, their near misses, and accuracy@1 of strata."""
    value, low, high = (
        (100 * pl.col(name)).round(1).cast(pl.String) for name in ("value", "low", "high")
    )
    cell = pl.coalesce(pl.format("{} [{}, {}]", value, low, high), value, pl.lit(MISSING))
    shown = results.rename({"n_mentions": "mentions"}).with_columns(cell=cell)
    total, strata = shown.filter(stratum=_ALL), shown.filter(type=_ALL, statistic="accuracy_at_1")
    is_miss = pl.col("statistic").is_in(_NEAR_MISSES)
    index = ["corpus", "type", "mentions", "model"]
    return [
        total.filter(~is_miss).pivot("statistic", index=index, values="cell"),
        total.filter(is_miss, type=_ALL).pivot("statistic", index=index, values="cell"),
        strata.pivot("model", index=["corpus", "mentions", "stratum"], values="cell"),
    ]
