"""How far similarities keep categories of terms apart, every metric a file."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.schema import RESULT_COLUMNS, SEPARATION_COLUMNS
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.separation_counts import Separation, separation
from medsim.evaluations.similarities import finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from medsim.core.output import OutputFolder
    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric
    from medsim.embeddings.metrics.workers import Workers
    from medsim.evaluations.categories import Categories
    from medsim.evaluations.comparisons import Row
    from medsim.kernels.types import Counts, Ids, Vectors

DATASET = "separation"
"""What results have as the dataset of separation."""

_NOT_SAID = ("difficulty", "negatives", "low", "high")
_IN_PATH = ("input", "embedding", "metric")


def separation_path(name: str, embedding: str, metric: str) -> str:
    """Return where it lies how far an input's categories are apart."""
    return f"separation/input={name}/embedding={embedding}/metric={metric}/data.parquet"


def write_separation(  # noqa: PLR0913 — what is compared, and where it goes
    name: str,
    embedding: str,
    has: EmbeddedTerms,
    categories: Categories,
    metrics: Mapping[str, Metric],
    *,
    output: OutputFolder,
    metadata: Mapping[str, str],
    workers: Workers,
) -> int:
    """Write how far an input's categories are apart under an embedding, a file a metric.

    A file has a row per two categories, in the order in which they were named, and one of all
    triples together. What an interrupted run wrote is left as it is.

    Args:
        name: of the input.
        embedding: its name.
        has: the terms of the categories, and maybe others, as the embedding has them.
        categories: of the input.
        metrics: by name; those that are for such embeddings.
        output: where files are written.
        metadata: of the files.
        workers: share out the work, and are told how many terms are done: under each metric, as
            many as the categories have.

    Returns:
        How many terms are left out because the embedding has no vector for them.
    """
    terms = [term for category in categories.categories for term in category.terms]
    rows = _rows(has, terms)
    covered = has.covered[rows]
    ends = np.cumsum([len(category.terms) for category in categories.categories])
    n_covered = np.concatenate([[0], np.cumsum(covered)])
    starts = n_covered[[0, *ends]]
    for metric, compares in metrics.items():
        path = separation_path(name, embedding, metric)
        if output.done(path):
            workers.advance(len(terms))
            continue
        table = compares.tabulated(has.embedded, rows[covered], workers)
        found = separation(partial(_finite_part, table, metric), starts, workers)
        workers.advance(int((~covered).sum()))
        output.write(path, _frame(categories, np.diff(starts), found), metadata)
    return int((~covered).sum())


def separation_of(
    name: str,
    embeddings: Iterable[str],
    output: OutputFolder,
    signature: Callable[[str, str, str], str],
) -> pl.DataFrame:
    """Return how far an input's categories are apart, as the files of all metrics say.

    Args:
        name: of the input; one without categories has no files.
        embeddings: their names.
        output: where the files are.
        signature: returns for an input, an embedding and a metric what decides their numbers.

    Returns:
        ``SEPARATION_COLUMNS``
    """
    frames = [pl.DataFrame(schema=SEPARATION_COLUMNS)]
    for key in product([name], embeddings, METRICS.all()):
        path = separation_path(*key)
        if path in output.outputs:
            in_path = [
                pl.lit(part).alias(column) for column, part in zip(_IN_PATH, key, strict=True)
            ]
            signed = pl.lit(signature(*key)).alias("signature")
            frame = output.taken(path).with_columns(*in_path, signed)
            frames.append(frame.select(*SEPARATION_COLUMNS))
    return pl.concat(frames)


def overlap_errors(separation: pl.DataFrame, n_terms: int) -> pl.DataFrame:
    """Return the overlap error of all triples as ``RESULT_COLUMNS`` have it.

    What they count as pairs are terms here: all of the categories, and those that have a vector.

    Args:
        separation: of ``separation_of``.
        n_terms: of all categories.
    """
    of_all = separation.filter(pl.col("category1").is_null())
    return of_all.with_columns(
        dataset=pl.lit(DATASET),
        subset=pl.lit("own"),
        statistic=pl.lit("overlap_error"),
        value="overlap_error",
        n_pairs=pl.lit(n_terms, pl.Int64),
        n_covered="n_terms1",
        **{column: pl.lit(None, RESULT_COLUMNS[column]) for column in _NOT_SAID},
    ).select(*RESULT_COLUMNS)


def _finite_part(table: Callable[[slice], Vectors], metric: str, part: slice) -> Vectors:
    return finite(table(part), metric)


def _rows(has: EmbeddedTerms, terms: list[str]) -> Ids:
    """Return which of an embedding's terms these are: int32[n_terms]."""
    numbers = has.terms.select("term").with_row_index("row")
    wanted = pl.DataFrame({"term": terms}, schema={"term": pl.String})
    joined = wanted.join(numbers, on="term", how="left", maintain_order="left")
    return joined["row"].to_numpy().astype(np.int32)


def _frame(categories: Categories, n_terms: Counts, found: Separation) -> pl.DataFrame:
    """Return the rows of a file: every category with every other, then all together."""
    names = [category.name for category in categories.categories]
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
        if one != other:
            row |= _errors(found.n_triples[one, other], found.n_errors[one, other])
        rows.append(row)
    every: Row = {"n_terms1": int(n_terms.sum())}
    rows.append(every | _errors(found.n_triples.sum(), found.n_errors.sum()))
    schema = {c: t for c, t in SEPARATION_COLUMNS.items() if c not in {*_IN_PATH, "signature"}}
    return pl.DataFrame(rows, schema=schema)


def _errors(n_triples: np.int64, n_errors: np.int64) -> Row:
    """Return the columns of errors; of no triples there is no share."""
    share = float(n_errors / n_triples) if n_triples else None
    return {"n_triples": int(n_triples), "n_errors": int(n_errors), "overlap_error": share}
