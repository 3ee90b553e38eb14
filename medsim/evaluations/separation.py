"""The separation of categories of terms under an embedding, a file per metric."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.embeddings.metrics import METRICS
from medsim.evaluations.layout import separation_path
from medsim.evaluations.output import (
    RESULT_COLUMNS,
    SEPARATED_COLUMNS,
    SEPARATION_COLUMNS,
    with_measures,
)
from medsim.evaluations.separation_counts import Separation, TripleCounts, separation
from medsim.evaluations.similarities import finite, rows_of
from medsim.evaluations.statistic import STATISTICS
from medsim.statistics.estimates import defined, interval_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric, Workers
    from medsim.evaluations.categories import Categories
    from medsim.evaluations.comparisons import Row
    from medsim.evaluations.layout import EvaluationFiles
    from medsim.kernels.types import Counts, Starts, Vectors

DATASET = "separation"
"""The dataset of separation in results."""

_IN_PATH = ("input", "embedding", "metric")


def write_separation(
    name: str,
    embedding: str,
    has: EmbeddedTerms,
    categories: Categories,
    metrics: Mapping[str, Metric],
    files: EvaluationFiles,
    workers: Workers,
) -> int:
    """Write the separation of an input's categories under an embedding, by metric.

    A file has a row per two categories, in the order in which they were named, and one of all
    triples together; where two of them are near, one more has the terms of the first. What an
    interrupted run wrote is left as it is. Returned is the number of terms that are left out
    because the embedding has no vector for them.
    """
    terms = [term for category in categories.categories for term in category.terms]
    rows = rows_of(has, pl.Series(terms, dtype=pl.String))
    covered = has.covered[rows]
    ends = np.cumsum([len(category.terms) for category in categories.categories])
    n_covered = np.concatenate([[0], np.cumsum(covered)])
    starts = n_covered[[0, *ends]]
    for metric, compares in metrics.items():
        if files.exist(*separation_paths(name, embedding, metric, categories)):
            workers.advance(len(terms))
            continue
        table = compares.tabulated(has.embedded, rows[covered], workers)
        near = categories.n_far > 0
        found = separation(partial(_finite_part, table, metric), starts, workers, near=near)
        workers.advance(int((~covered).sum()))
        if near:
            first = categories.categories[0].terms
            known = pl.Series("term", first, pl.String).filter(pl.Series(covered[: len(first)]))
            path = separation_path(name, embedding, metric, "terms")
            files.write(path, _of_terms(categories, starts, known, found))
        path = separation_path(name, embedding, metric)
        files.write(path, _frame(categories, np.diff(starts), found))
    return int((~covered).sum())


def separation_paths(
    name: str, embedding: str, metric: str, categories: Categories
) -> tuple[str, ...]:
    """Return the paths of the files that ``write_separation`` writes under a metric."""
    return tuple(
        separation_path(name, embedding, metric, of)
        for of in ("data", *(["terms"] if categories.n_far else []))
    )


def separation_of(
    name: str,
    embeddings: Iterable[str],
    files: EvaluationFiles,
    signature: Callable[[str, str, str], str],
) -> pl.DataFrame:
    """Return ``SEPARATION_COLUMNS`` of an input's categories, by the files of all metrics."""
    frames = [pl.DataFrame(schema=SEPARATION_COLUMNS)]
    for key in product([name], embeddings, METRICS.all()):
        path = separation_path(*key)
        if path in files:
            named = dict(zip(_IN_PATH, key, strict=True), signature=signature(*key))
            frame = with_measures(files.load(path))
            frame = frame.with_columns(pl.lit(one).alias(c) for c, one in named.items())
            frames.append(frame.select(*SEPARATION_COLUMNS))
    return pl.concat(frames)


def separation_results(separation: pl.DataFrame, categories: Any) -> pl.DataFrame:
    """Return the statistics of all triples as ``RESULT_COLUMNS`` have them.

    What they count as pairs are terms here: all of the categories, and those that have a vector.
    The categories are as ``Categories.provenance`` has them.
    """
    rows: list[Row] = []
    for row in separation.filter(pl.col("category1").is_null()).iter_rows(named=True):
        statistic = STATISTICS[_measure(categories.get("n_far", 0))]
        triples = TripleCounts(n_triples=row["n_triples"], n_errors=row["n_errors"])
        rows.append(
            {column: row[column] for column in (*_IN_PATH, "signature")}
            | {
                "dataset": DATASET,
                "subset": "own",
                "statistic": statistic.name,
                **interval_of(statistic.compute(triples)),
                "n_pairs": sum(int(one["n_terms"]) for one in categories["categories"]),
                "n_covered": row["n_terms1"],
            }
        )
    return pl.DataFrame(rows, schema=RESULT_COLUMNS)


def _measure(n_far: int) -> str:
    """Return the error that is measured of categories; see ``Categories.n_far``."""
    return "overlap_error" if n_far else "category_error"


def _finite_part(table: Callable[[slice], Vectors], metric: str, part: slice) -> Vectors:
    return finite(table(part), metric)


def _frame(categories: Categories, n_terms: Counts, found: Separation) -> pl.DataFrame:
    """Return the rows of a file: every category with every other, then all together."""
    names = [category.name for category in categories.categories]
    measure = _measure(categories.n_far)
    first_far = len(names) - categories.n_far
    rows: list[Row] = []
    for (one, name1), (other, name2) in product(enumerate(names), repeat=2):
        mean = float(found.mean_similarity[one, other])
        row: Row = {
            "category1": name1,
            "category2": name2,
            "n_terms1": int(n_terms[one]),
            "n_terms2": int(n_terms[other]),
            "mean_similarity": None if np.isnan(mean) else mean,
        }
        if one == 0 and other >= first_far if categories.n_far else one != other:
            row |= _errors(measure, found.n_triples[one, other], found.n_errors[one, other])
        rows.append(row)
    every: Row = {"n_terms1": int(n_terms.sum())}
    rows.append(every | _errors(measure, found.n_triples.sum(), found.n_errors.sum()))
    schema = {c: t for c, t in SEPARATION_COLUMNS.items() if c not in {*_IN_PATH, "signature"}}
    return pl.DataFrame(rows, schema=schema)


def _of_terms(
    categories: Categories, starts: Starts, terms: pl.Series, found: Separation
) -> pl.DataFrame:
    """Return ``SEPARATED_COLUMNS`` of the terms of the first category, by far category."""
    sizes = np.diff(starts)
    frames = [pl.DataFrame(schema=SEPARATED_COLUMNS)]
    for at in range(len(sizes) - categories.n_far, len(sizes)):
        n_errors, n_triples = found.errors[: len(terms), at], int(sizes[1] * sizes[at])
        values = (
            categories.categories[at].name,
            terms,
            n_triples,
            n_errors,
            n_errors / n_triples if n_triples else None,
        )
        of_far = dict(zip(SEPARATED_COLUMNS, values, strict=True))
        frames.append(pl.DataFrame(of_far, schema=SEPARATED_COLUMNS))
    return pl.concat(frames)


def _errors(measure: str, n_triples: np.int64, n_errors: np.int64) -> Row:
    """Return the columns of errors; of no triples there is no share."""
    triples = TripleCounts(n_triples=int(n_triples), n_errors=int(n_errors))
    return {
        "n_triples": triples.n_triples,
        "n_errors": triples.n_errors,
        measure: defined(triples.error.value),
    }
