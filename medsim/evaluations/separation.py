"""The separation of categories of terms under an embedding.

A triple of terms (a, b, c) is an error if a is at most as similar to b as to c. The overlap error
is the share of errors if a is from one category, b from a category near to it, and c from one far
from both (Schulz and Juric, AAAI 2020, section 5.3); for the category error a and b are from one
category, and c from another. For each a, one row of similarities is sorted, which counts all
pairs of b and c without visiting them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.positives import named_concepts, reload_names
from medsim.core.canonical import canonical_digest
from medsim.core.config import in_threads
from medsim.core.errors import OptionError
from medsim.core.store import Store
from medsim.embeddings.embedded_terms import EmbeddedTerms, check_finite, term_rows
from medsim.embeddings.metrics import Metric, Workers
from medsim.evaluations.output import SEPARATED, SEPARATION, SEPARATION_PARTS, SET_RESULTS, TableRow
from medsim.evaluations.statistic import STATISTICS
from medsim.kernels.separation import n_not_below, sums_of_later
from medsim.kernels.types import Counts, CountTable, FloatTable, Starts, Vectors
from medsim.statistics.estimates import Estimate, defined, quotients

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.evaluations.run import EvaluationRun

RF2_CATEGORIES = ("103693007", "277132007", "410607006")
"""SNOMED CT's diagnostic and therapeutic procedure, near, and organism, far, as in the paper."""

_ADVICE = "give two CONCEPT_IDs with `near` and one with `far`, or at least two with `categories`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A category: a concept and its descendants.

    Attributes:
        terms: the terms of its descendants, in order of code points; no two are equal ignoring
            case, and no other category has any of them.
    """

    name: str
    concept_id: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The categories of a build.

    Attributes:
        categories: at least two, in the order in which they were named.
        n_far: the number of far categories, the last ones; the first two are near to each other. 0
            if no categories are near.
        n_shared_concepts: concepts left out because they are below several of the categories.
        n_shared_terms: terms of the other concepts, left out because several categories have them.
    """

    categories: tuple[Category, ...]
    n_far: int = 0
    n_shared_concepts: int
    n_shared_terms: int

    def terms(self) -> list[str]:
        """Return the terms of all categories, in order of code points."""
        return sorted(term for category in self.categories for term in category.terms)

    def provenance(self) -> dict[str, object]:
        """Return the categories for a manifest: plain JSON, with a ``fingerprint`` of the terms."""
        return {
            "categories": [
                {"name": c.name, "concept_id": c.concept_id, "n_terms": len(c.terms)}
                for c in self.categories
            ],
            "n_shared_concepts": self.n_shared_concepts,
            "n_shared_terms": self.n_shared_terms,
            "fingerprint": canonical_digest(
                [(c.name, c.concept_id, c.terms) for c in self.categories]
            ),
            **({"n_far": self.n_far} if self.n_far else {}),
        }


def categories_of(
    build: Build, named: Sequence[str], threads: int, *, n_far: int = 0
) -> Categories:
    """Return the categories of a build and their terms.

    Args:
        build: a build of a terminology with is-a relationships.
        named: the concept of each category, as "CONCEPT_ID" or "NAME=CONCEPT_ID"; empty for the
            paper's categories, if the build is of an RF2 release.
        threads: threads of the database.
        n_far: see ``Categories``; 1 for the paper's categories.

    Raises:
        InputError: the manifest is incomplete.
        OptionError: fewer than two categories are named, or one twice, or one whose concept is
            unknown or has no terms; or none is named and the build has no default.
    """
    if not named and not build.manifest.source["rf2_rules"]:
        raise OptionError(f"{build.folder} has no default categories; {_ADVICE}")
    with Store(threads=threads) as store:
        reload_names(build, store)
        chosen = named_concepts(store, named or RF2_CATEGORIES, f"; {_ADVICE}")
        if len(chosen) == 1:
            raise OptionError(f"{chosen[0][0]!r} is the only category; {_ADVICE}")
        concepts = pl.DataFrame({"concept_id": [concept_id for _, concept_id in chosen]})
        store.put("category", concepts.with_row_index("category"))
        store.run("evaluations/category_member")
        members = store.table("category_member")
        terms = store.frame("evaluations/category_term")
    categories = []
    for at, (name, concept_id) in enumerate(chosen):
        category_terms = terms.filter(~pl.col("is_shared"), category=at)["term"].sort()
        if category_terms.is_empty():
            below = members.filter(category=at)
            raise OptionError(
                f"category {name!r} ({concept_id}) has no terms of its own: of the "
                f"{below.height:,} active concepts below it, {below['is_shared'].sum():,} are "
                "below other categories too"
            )
        categories.append(Category(name=name, concept_id=concept_id, terms=tuple(category_terms)))
    return Categories(
        categories=tuple(categories),
        n_far=n_far if named else 1,
        n_shared_concepts=members.filter("is_shared")["concept_id"].n_unique(),
        n_shared_terms=terms.filter("is_shared")["node_id"].n_unique(),
    )


SIMILARITIES_AT_ONCE = 1 << 24  # 64 MiB
_ROWS_A_TASK = 16
_N_NEAR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleCounts:
    """Triples of terms, and the errors among them."""

    n_triples: int
    n_errors: int

    @property
    def error(self) -> Estimate:
        """The share of errors, without an interval; NaN without triples."""
        share = float(self.n_errors) / float(self.n_triples) if self.n_triples else math.nan
        return Estimate(value=share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """The separation of categories under one metric.

    Attributes:
        n_triples: int64[n_categories, n_categories], triples of two different terms of the row's
            category and one of the column's; 0 on the diagonal. If the first two categories are
            near, triples of a term of each and one of the column's, in the first row only.
        n_errors: int64[n_categories, n_categories], triples in which the similarity of the first
            two terms is not above the similarity to the third, in single precision.
        errors: int64[n_terms, n_categories], errors in the triples that begin with each term.
        mean_similarity: float64[n_categories, n_categories], over pairs of different terms;
            symmetric, NaN without pairs.
    """

    n_triples: CountTable
    n_errors: CountTable
    errors: CountTable
    mean_similarity: FloatTable


def separation(
    table: Callable[[slice], Vectors], starts: Starts, workers: Workers, *, near: bool = False
) -> Separation:
    """Return the separation of categories; it does not depend on threads or blocks.

    Time is O(n_terms) per term besides the similarities; memory holds ``SIMILARITIES_AT_ONCE``.

    Args:
        table: returns the similarities of a slice of the terms with all terms, finite,
            float32[n_rows, n_terms].
        starts: int64[n_categories + 1]; the terms of category ``c`` are ``starts[c]`` to
            ``starts[c + 1]``.
        workers: divide the rows of a table, and count finished terms.
        near: whether the first two categories are near, and all others far from both.
    """
    n_terms, n_categories = int(starts[-1]), len(starts) - 1
    n_errors = np.zeros((n_terms, n_categories), np.int64)
    sums = np.zeros((n_terms, n_categories))

    def count(at: int, similarities: Vectors, terms: slice) -> None:
        sums[terms] = sums_of_later(similarities, starts, terms.start)
        if near and at:
            return
        inner, outer = (1, range(_N_NEAR, n_categories)) if near else (at, range(n_categories))
        categories = np.array([inner, *(other for other in outer if other != inner)])
        bits = similarities.view(np.uint32)
        n_errors[terms] = n_not_below(bits, starts, categories, terms.start)

    for at, block in _blocks(starts):
        similarities = table(block)
        parts = [
            slice(begin, min(begin + _ROWS_A_TASK, block.stop))
            for begin in range(block.start, block.stop, _ROWS_A_TASK)
        ]
        rows = (similarities[p.start - block.start : p.stop - block.start] for p in parts)
        in_threads(workers.threads, partial(count, at), rows, parts)
        workers.advance(len(similarities))
    return _sum_by_category(starts, n_errors, sums, near=near)


def _blocks(starts: Starts) -> Iterator[tuple[int, slice]]:
    """Yield categories and slices of their terms whose rows fit in memory."""
    n_rows = max(1, SIMILARITIES_AT_ONCE // max(1, int(starts[-1])))
    for at, (first, end) in enumerate(pairwise(starts.tolist())):
        for begin in range(first, end, n_rows):
            yield at, slice(begin, min(begin + n_rows, end))


def _sum_by_category(
    starts: Starts, errors: CountTable, sums: FloatTable, *, near: bool
) -> Separation:
    """Return the separation of categories from errors and sums with a row per term."""
    sizes = np.diff(starts)
    n_triples = np.outer(sizes * (sizes - 1), sizes)
    np.fill_diagonal(n_triples, 0)
    if near:
        n_triples[:] = 0
        n_triples[0, _N_NEAR:] = sizes[0] * sizes[1] * sizes[_N_NEAR:]
    n_pairs = np.outer(sizes, sizes)
    np.fill_diagonal(n_pairs, sizes * (sizes - 1) // 2)
    totals = np.array([sums[begin:end].sum(axis=0) for begin, end in pairwise(starts)])
    totals += np.triu(totals, 1).T
    mean = quotients(totals, n_pairs)
    return Separation(
        n_triples=n_triples,
        n_errors=np.array([errors[begin:end].sum(axis=0) for begin, end in pairwise(starts)]),
        errors=errors,
        mean_similarity=mean,
    )


def write_separation(
    run: EvaluationRun,
    input_name: str,
    categories: Categories,
    name: str,
    embedded: EmbeddedTerms,
    metrics: Mapping[str, Metric],
) -> None:
    """Write the separation of an input's categories under an embedding, by metric.

    A file has a row per two categories, in the order in which they were named, and one of all
    triples together; if two of them are near, one more file has the terms of the first. Files of an
    interrupted run are kept.
    """
    terms = [term for category in categories.categories for term in category.terms]
    rows = term_rows(embedded, pl.Series(terms, dtype=pl.String))
    covered = embedded.covered[rows]
    ends = [0, *accumulate(len(category.terms) for category in categories.categories)]
    starts = np.concatenate([[0], np.cumsum(covered)])[ends]
    n_uncovered = int((~covered).sum())
    with run.progress.stage(f"separate categories of {input_name} with {name}") as stage:
        stage.total(len(terms) * len(metrics))
        workers = Workers(threads=run.options.n_threads, advance=stage.advance)
        for metric, compares in metrics.items():
            path, *path_of_terms = separation_paths(input_name, name, metric, categories)
            if run.is_complete(path, *path_of_terms):
                workers.advance(len(terms))
                continue
            table = compares.tabulated(embedded.embedded, rows[covered], workers)
            near = categories.n_far > 0
            result = separation(partial(_finite_part, table, metric), starts, workers, near=near)
            workers.advance(n_uncovered)
            if near:
                first = pl.Series("term", categories.categories[0].terms, pl.String)
                first = first.filter(pl.Series(covered[: ends[1]]))
                run.write(path_of_terms[0], _term_rows(categories, starts, first, result))
            run.write(path, _frame(categories, np.diff(starts), result))
        stage.note(f"{len(terms):,} terms, {n_uncovered:,} without a vector")
    for category, n_terms in zip(categories.categories, np.diff(starts), strict=True):
        if not n_terms:
            run.progress.warn(f"{name} has no vector for any term of category {category.name!r}")


def separation_paths(
    name: str, embedding: str, metric: str, categories: Categories
) -> tuple[str, ...]:
    """Return the paths of the files that ``write_separation`` writes under a metric."""
    tables = (SEPARATION_PARTS, SEPARATED) if categories.n_far else (SEPARATION_PARTS,)
    return tuple(table.path(name, embedding, metric) for table in tables)


def separation_tables(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the separation of an input's categories, by table.

    Results have the statistics of all triples. Here ``n_pairs`` is the number of terms of the
    categories, and ``n_covered`` the number of those with a vector.
    """
    frames = [pl.DataFrame(schema=SEPARATION.dtypes)]
    for where, signature, part in run.files(SEPARATION_PARTS, name):
        key = where | {"signature": f"{signature}, separation"}
        frame = part.with_columns(pl.lit(value).alias(column) for column, value in key.items())
        frames.append(frame.select(*SEPARATION.dtypes))
    separation = pl.concat(frames)
    about = run.inputs[name].get("categories", {})
    measure = _measure(about.get("n_far", 0))
    n_terms = sum(category["n_terms"] for category in about.get("categories", ()))
    results = separation.filter(pl.col("category1").is_null()).select(
        *("input", "embedding", "metric", "signature"),
        dataset=pl.lit("separation"),
        subset=pl.lit("own"),
        statistic=pl.lit(measure),
        value=measure,
        n_pairs=pl.lit(n_terms, pl.Int64),
        n_covered="n_terms1",
    )
    results = pl.concat([pl.DataFrame(schema=SET_RESULTS.dtypes), results], how="diagonal")
    return {SEPARATION.files: separation, SET_RESULTS.files: results}


def _measure(n_far: int) -> str:
    """Return the error that is computed for the categories; see ``Categories.n_far``."""
    return "overlap_error" if n_far else "category_error"


def _finite_part(table: Callable[[slice], Vectors], metric: str, part: slice) -> Vectors:
    return check_finite(table(part), metric)


def _frame(categories: Categories, n_terms: Counts, result: Separation) -> pl.DataFrame:
    """Return the rows of a file: every two categories, then all together."""
    names = [category.name for category in categories.categories]
    measure = _measure(categories.n_far)
    first_far = len(names) - categories.n_far
    rows: list[TableRow] = []
    for (i, name1), (j, name2) in product(enumerate(names), repeat=2):
        mean = float(result.mean_similarity[i, j])
        row: TableRow = {
            "category1": name1,
            "category2": name2,
            "n_terms1": int(n_terms[i]),
            "n_terms2": int(n_terms[j]),
            "mean_similarity": None if np.isnan(mean) else mean,
        }
        if i == 0 and j >= first_far if categories.n_far else i != j:
            row |= _error_columns(measure, result.n_triples[i, j], result.n_errors[i, j])
        rows.append(row)
    every: TableRow = {"n_terms1": int(n_terms.sum())}
    rows.append(every | _error_columns(measure, result.n_triples.sum(), result.n_errors.sum()))
    return pl.DataFrame(rows, schema=SEPARATION_PARTS.dtypes)


def _term_rows(
    categories: Categories, starts: Starts, terms: pl.Series, result: Separation
) -> pl.DataFrame:
    """Return ``SEPARATED`` of the terms of the first category, by far category."""
    sizes = np.diff(starts)
    frames = [pl.DataFrame(schema=SEPARATED.dtypes)]
    for at in range(len(sizes) - categories.n_far, len(sizes)):
        n_errors, n_triples = result.errors[: len(terms), at], int(sizes[1] * sizes[at])
        share = n_errors / n_triples if n_triples else None
        values = (categories.categories[at].name, terms, n_triples, n_errors, share)
        rows = dict(zip(SEPARATED.dtypes, values, strict=True))
        frames.append(pl.DataFrame(rows, schema=SEPARATED.dtypes))
    return pl.concat(frames)


def _error_columns(measure: str, n_triples: np.int64, n_errors: np.int64) -> TableRow:
    """Return the columns of errors; the share is null without triples."""
    triples = TripleCounts(n_triples=int(n_triples), n_errors=int(n_errors))
    return asdict(triples) | {measure: defined(STATISTICS[measure].compute(triples).value)}
