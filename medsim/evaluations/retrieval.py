"""Retrieval: the ranks at which embeddings find synonyms, and their scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.config import DIFFICULTIES
from medsim.core.progress import Stage
from medsim.core.terms import content_hashes
from medsim.embeddings.embedded_terms import EmbeddedTerms, term_rows
from medsim.embeddings.lookup import INDEXES, CosineSearch
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import COSINES, points_of
from medsim.evaluations.output import RETRIEVAL, RETRIEVED, SET_COMPARISONS, SET_RESULTS, TableRow
from medsim.evaluations.scoring import Score, family_rows
from medsim.evaluations.statistic import statistics_of
from medsim.kernels.types import Counts, Flags, Hashes, Ids, Rows, Singles, Vectors
from medsim.statistics.estimates import interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample

if TYPE_CHECKING:
    from medsim.evaluations.run import EvaluationRun
    from medsim.kernels.best import Nearest

LENGTHS = ("1", "2", "3", "4", "5+")
"""Numbers of words that terms are grouped by."""

_MAX_DEPTH = 10
_N_NEAREST = {"flat": _MAX_DEPTH + 1, "ivf": 100, "hnsw": 100}
"""The number of nearest terms to search for."""

_SAMPLE = 1000  # terms for which an approximate index is compared with exact search


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pool:
    """The terms that have a vector.

    Attributes:
        terms: int64[n_points], rows of the build's terms, in order of text.
        vectors: float32[n_points, n_dimensions].
        components: int32[n_points], equal for linked terms.
        hashes: uint64[n_points], of the terms' content.
        queries: int32[n_queries], the points that are linked to another term, covered or not.
        findable: bool[n_queries], whether a term linked to the query is also a point.
    """

    terms: Rows
    vectors: Vectors
    components: Ids
    hashes: Hashes
    queries: Ids
    findable: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class _SearchResults:
    """The points found for the queries.

    Attributes:
        neighbours: their nearest points.
        ranks: int64[n_queries], of the most similar linked point, or ``NOT_FOUND``.
        linked: int32[n_queries], that point, or -1 if there is none.
        similarities: float32[n_queries], the similarity to it, or NaN if there is none.
        recall: float32[n_queries], the share of the ten nearest that an approximate index found,
            NaN if not sampled.
    """

    neighbours: Nearest
    ranks: Counts
    linked: Ids
    similarities: Singles
    recall: Singles


def write_retrieval(
    run: EvaluationRun, input_name: str, linked: pl.DataFrame, name: str, embedded: EmbeddedTerms
) -> None:
    """Write the terms that an embedding finds for an input's linked terms, if not yet written."""
    options = run.options
    path = RETRIEVED.path(input_name, name, COSINES[type(embedded.embedded)], options.index)
    if run.is_complete(path):
        return
    settings = {"device": options.device, "seed": options.seed, "threads": options.n_threads}
    with run.progress.stage(f"look up {input_name} in {name}") as stage:
        rows = retrieve(linked, embedded, stage, options.index, **settings)
        run.write(path, rows)
        n_first = rows.filter(pl.col("rank") == 1).height
        stage.note(f"{n_first:,} of {rows.height:,} terms have a linked term nearest")


def retrieve(
    linked: pl.DataFrame, embedded: EmbeddedTerms, stage: Stage, index: str, **settings: Any
) -> pl.DataFrame:
    """Return the nearest and the linked terms that an embedding finds for each linked term.

    The rank of a term's most similar linked term is one more than the number of terms that are not
    linked to it and at least as similar: ties count against the embedding. An approximate index
    returns 100 near terms; the linked term and its rank are the best among these. If none of them
    is linked, the row has the most similar linked term by exact search, without a rank.

    Args:
        linked: see ``linked_terms``.
        embedded: the same terms in the embedding.
        stage: receives the progress.
        index: one of ``INDEXES``.
        settings: the seed, threads and device of ``CosineSearch``.

    Returns:
        ``RETRIEVED``, a row per linked term in order of text.
    """
    pool = _pool(linked, embedded, settings["threads"])
    stage.total(len(pool.queries))
    groups = np.arange(len(pool.terms), dtype=np.int32)
    by_index = partial(CosineSearch, pool.vectors, groups, pool.hashes, **settings)
    search = by_index(index=index)
    neighbours = _nearest(search, pool, pool.queries, _N_NEAREST[index], stage)
    queries = pool.queries[pool.findable]
    partners, similarities = search.most_similar_linked(queries, pool.components)
    results = _SearchResults(
        neighbours=neighbours,
        ranks=np.full(len(pool.queries), NOT_FOUND, np.int64),
        linked=np.full(len(pool.queries), -1, np.int32),
        similarities=np.full(len(pool.queries), np.nan, np.float32),
        recall=np.full(len(pool.queries), np.nan, np.float32),
    )
    results.linked[pool.findable], results.similarities[pool.findable] = partners, similarities
    if index == "flat":
        _fill_ranks(search, pool, results, stage)
    else:
        _fill_approximate_ranks(pool, results)
        _fill_recall(pool, results, by_index(index="flat"), stage)
    return _frame(linked, pool, results)


def _pool(linked: pl.DataFrame, embedded: EmbeddedTerms, threads: int) -> _Pool:
    rows = term_rows(embedded, linked["term"])
    terms = np.flatnonzero(embedded.covered[rows])
    _, components = np.unique(linked["component"].to_numpy()[terms], return_inverse=True)
    queries = np.flatnonzero(linked["is_linked"].to_numpy()[terms]).astype(np.int32)
    return _Pool(
        terms=terms,
        vectors=points_of(embedded.embedded, rows[terms], Workers(threads=threads)),
        components=components.astype(np.int32),
        hashes=content_hashes(linked["term"])[terms],
        queries=queries,
        findable=np.bincount(components)[components[queries]] > 1,
    )


def _nearest(
    search: CosineSearch, pool: _Pool, queries: Ids, n_nearest: int, stage: Stage
) -> Nearest:
    n_others = max(len(pool.terms) - 1, 0)
    sizes = np.full(len(queries), min(n_nearest, n_others), np.int32)
    return search.nearest(queries, sizes, stage.advance)


def _fill_ranks(search: CosineSearch, pool: _Pool, results: _SearchResults, stage: Stage) -> None:
    """Write the rank of each query's most similar linked point.

    If the last neighbour is less similar than the linked point, the rank follows from the
    neighbours, since they include all points that are as similar. Otherwise these points are
    counted.
    """
    starts = results.neighbours.starts
    lowest = np.full(len(pool.queries), np.inf, np.float32)
    some = np.diff(starts) > 0
    lowest[some] = results.neighbours.similarities[starts[1:][some] - 1]
    everything = np.diff(starts) == len(pool.terms) - 1
    has_rank = pool.findable & ((results.similarities > lowest) | everything)
    results.ranks[has_rank] = 1 + _n_nearer(pool, results)[has_rank]
    remaining = pool.findable & ~has_rank
    stage.total(int(np.count_nonzero(remaining)))
    results.ranks[remaining] = 1 + search.count_as_similar(
        pool.queries[remaining], results.similarities[remaining], pool.components, stage.advance
    )


def _fill_approximate_ranks(pool: _Pool, results: _SearchResults) -> None:
    """Write the rank and the index of each query's first linked point among its neighbours."""
    same = np.flatnonzero(_are_linked(pool, results))
    queries, first = np.unique(_neighbour_queries(results)[same], return_index=True)
    at = same[first]
    results.linked[queries] = results.neighbours.ids[at]
    results.similarities[queries] = results.neighbours.similarities[at]
    results.ranks[queries] = 1 + _n_nearer(pool, results)[queries]


def _n_nearer(pool: _Pool, results: _SearchResults) -> Counts:
    """Return the number of unlinked neighbours at least as similar as the linked point."""
    row = _neighbour_queries(results)
    with np.errstate(invalid="ignore"):
        nearer = results.neighbours.similarities >= results.similarities[row]
    nearer &= ~_are_linked(pool, results)
    return np.bincount(row, nearer, len(pool.queries)).astype(np.int64)


def _neighbour_queries(results: _SearchResults) -> Rows:
    """Return the query of each neighbour: int64[n_neighbours]."""
    return np.repeat(np.arange(len(results.ranks)), np.diff(results.neighbours.starts))


def _are_linked(pool: _Pool, results: _SearchResults) -> Flags:
    """Return whether each neighbour is linked to its query: bool[n_neighbours]."""
    components = pool.components[pool.queries][_neighbour_queries(results)]
    return np.asarray(pool.components[results.neighbours.ids] == components, np.bool_)


def _fill_recall(pool: _Pool, results: _SearchResults, flat: CosineSearch, stage: Stage) -> None:
    """Write the share of ten nearest points that an approximate index found for some queries."""
    n_queries = len(pool.queries)
    sample = np.unique(np.linspace(0, max(n_queries - 1, 0), min(n_queries, _SAMPLE)).astype(int))
    exact = _nearest(flat, pool, pool.queries[sample], _MAX_DEPTH, stage)
    neighbours = results.neighbours
    for at, query in enumerate(sample):
        nearest = exact.ids[exact.starts[at] : exact.starts[at + 1]]
        start, end = neighbours.starts[query : query + 2]
        first = neighbours.ids[start:end][:_MAX_DEPTH]
        results.recall[query] = len(np.intersect1d(nearest, first)) / max(len(nearest), 1)


def _frame(linked: pl.DataFrame, pool: _Pool, results: _SearchResults) -> pl.DataFrame:
    """Return a row for each linked term, including those without a vector."""
    terms, components = linked["term"].gather(pool.terms), pl.Series(pool.components)
    starts = results.neighbours.starts
    first = pl.Series(starts[:-1]).set(pl.Series(np.diff(starts) == 0), None)
    nearest = pl.Series(results.neighbours.ids).gather(first)
    query_rows = pl.DataFrame(
        {
            "term": terms.gather(pool.queries),
            "covered": True,
            "rank": results.ranks,
            "linked_term": terms.gather(
                pl.Series(results.linked).set(pl.Series(results.linked < 0), None)
            ),
            "linked_similarity": results.similarities,
            "nearest_term": terms.gather(nearest),
            "nearest_similarity": pl.Series(results.neighbours.similarities).gather(first),
            "nearest_linked": components.gather(nearest) == components.gather(pool.queries),
            "recall": results.recall,
        },
        schema_overrides={"term": pl.String},
    )
    return (
        linked.filter("is_linked")
        .join(query_rows, on="term", how="left", maintain_order="left")
        .with_columns(
            pl.col("covered").fill_null(value=False),
            pl.when(pl.col("rank") != NOT_FOUND).then("rank").alias("rank"),
            pl.col("linked_similarity", "nearest_similarity", "recall").fill_nan(None),
        )
        .select(*RETRIEVED.dtypes)
        .cast(pl.Schema(RETRIEVED.dtypes))
    )


RETRIEVAL_DATASET = "retrieval"
"""The dataset of retrieval in results and comparisons."""


def retrieval_tables(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the scores of retrieval among an input's linked terms, by table.

    The subset "common" has all terms that are linked to another, the same for every embedding; a
    term without a vector counts as not found. The subset "own" has the terms with a vector whose
    linked terms include one with a vector. Results have the scores of terms of any length by exact
    search, and comparisons are made on all linked terms by exact search.
    """
    rows: list[TableRow] = []
    exact: list[Score] = []
    for where, signature, terms in run.files(RETRIEVED, name, INDEXES):
        about = f"{signature}, retrieval, {where['index']} index"
        rows += (where | row for row in _score_rows(terms, about))
        if where["index"] == "flat" and not terms.is_empty():
            exact.append(_score(terms, where["embedding"], where["metric"]))
    retrieval = pl.DataFrame(rows, schema=RETRIEVAL.dtypes, orient="row")
    set_columns: TableRow = {"input": name, "dataset": RETRIEVAL_DATASET}
    comparisons = [
        set_columns | row
        for statistic in statistics_of("retrieval", tested=True)
        for row in family_rows("embeddings", statistic, exact)
    ]
    n_scored = pl.when(pl.col("subset") == "own").then("n_covered").otherwise("n_terms")
    results = retrieval.filter(pl.col("length").is_null(), pl.col("index") == "flat").with_columns(
        n_covered=n_scored, n_pairs="n_terms", dataset=pl.lit(RETRIEVAL_DATASET)
    )
    return {
        RETRIEVAL.files: retrieval,
        SET_RESULTS.files: pl.DataFrame(results.to_dicts(), schema=SET_RESULTS.dtypes),
        SET_COMPARISONS.files: pl.DataFrame(
            comparisons, schema=SET_COMPARISONS.dtypes, orient="row"
        ),
    }


def _score(terms: pl.DataFrame, embedding: str = "", metric: str = "") -> Score:
    """Return the scores of an embedding on some terms."""
    ranks = terms["rank"].fill_null(NOT_FOUND).to_numpy()
    sample = RankSample(ranks=ranks, clusters=terms["component"].to_numpy())
    return Score(
        embedding=embedding,
        metric=metric,
        sample=sample,
        estimates={s.name: s.compute(sample) for s in statistics_of("retrieval")},
        n_pairs=terms.height,
    )


def _score_rows(terms: pl.DataFrame, signature: str) -> Iterator[TableRow]:
    """Yield a row per subset, difficulty, length and statistic; None means all."""
    terms = terms.with_columns(
        length=pl.col("n_words").clip(1, len(LENGTHS)) - 1,
        is_own=pl.col("covered") & pl.col("linked_term").is_not_null(),
    )
    recall = terms["recall"].mean()
    for difficulty, at in product((None, *DIFFICULTIES), (None, *range(len(LENGTHS)))):
        group_values = {"difficulty": difficulty, "length": at}
        group = {column: value for column, value in group_values.items() if value is not None}
        terms_in_group = terms.filter(**group)
        covered_group = terms_in_group.filter("is_own")
        for subset, chosen in (("common", terms_in_group), ("own", covered_group)):
            for statistic, estimate in _score(chosen).estimates.items():
                yield {
                    "subset": subset,
                    "difficulty": difficulty,
                    "length": None if at is None else LENGTHS[at],
                    "statistic": statistic,
                    **interval_of(estimate),
                    "n_terms": terms_in_group.height,
                    "n_covered": covered_group.height,
                    "recall": recall if isinstance(recall, float) else None,
                    "signature": f"{signature}, {subset}",
                }
