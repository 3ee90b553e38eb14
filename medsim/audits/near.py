"""Finds near names of active concepts that no chain of positives links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.positives import Derived, pair_distances
from medsim.core.progress import Progress
from medsim.neighbours.difference import (
    DifferenceClassifier,
    NameDifference,
    folded,
    ordered,
    series_of,
    unmarked,
)
from medsim.neighbours.search import pairs_within

if TYPE_CHECKING:
    from medsim.core.store import Store

_SHORT = 8  # characters; names of at most this length are near only at distance 1
_ROWS = ["row1", "row2"]
_AT_ONCE = 1 << 16  # pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A release that is audited.

    Attributes:
        source: the facts about the terminology, as in the manifest of a build.
        store: store with the canonical tables and those of ``derive_positives``.
        derived: the positives, and the terms that they link.
    """

    source: Mapping[str, object]
    store: Store
    derived: Derived
    threads: int
    progress: Progress


def near_names(audited: Audited, distance: int, kinds: Iterable[str]) -> pl.DataFrame:
    """Return the pairs of near names of some kinds, complete, in order of distance and terms.

    Two names are near if their edit distance is small, or if they are the same without accents,
    hyphens and spaces, in another order of the words, or without sides and negations.
    """
    names = audited.store.frame("audits/audited_name")
    lower = names["lower_term"]
    pairs = _unlinked(_candidates(lower, distance, audited.threads), names)
    pairs = pairs.sort("distance", *(names["term_id"].gather(pairs[row]) for row in _ROWS))
    between = DifferenceClassifier(lower).between
    is_asked = pl.col("kind").is_in([*kinds])
    slices = [pairs.head(0), *pairs.iter_slices(_AT_ONCE)]
    found = pl.concat([_described(part, lower, between).filter(is_asked) for part in slices])
    parts = names.select(concept="concept_id", term="term").cast({pl.String: pl.Categorical})
    sides = [parts[found[row]].select(pl.all().name.suffix(row[-1])) for row in _ROWS]
    return pl.concat([found.drop(_ROWS), *sides], how="horizontal").with_columns(
        family=pl.when(pl.col("family").is_duplicated()).then("family")
    )


def _unlinked(pairs: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of two concepts and components, if either concept has a category."""
    parts = names.select("component_id", "concept_id", "has_category")
    first, second = (parts[pairs[row]] for row in _ROWS)
    are_apart = (first["component_id"] != second["component_id"]) & (
        first["concept_id"] != second["concept_id"]
    )
    return pairs.filter(are_apart & (first["has_category"] | second["has_category"]))


def _described(
    found: pl.DataFrame, lower: pl.Series, between: Callable[[str, str], NameDifference]
) -> pl.DataFrame:
    """Return pairs of rows with how the texts of these rows differ, and their family."""
    texts = [lower.gather(found[row]).to_list() for row in _ROWS]
    fields = NameDifference._fields
    # Not a tuple per pair, for Python's garbage collector would visit each.
    cells = list(chain.from_iterable(map(between, *texts)))
    columns = {name: cells[at :: len(fields)] for at, name in enumerate(fields)}
    family = pl.Series("family", list(map(series_of, columns["kind"], *texts)), pl.Categorical)
    return found.with_columns(
        *(pl.Series(name, column, pl.Categorical) for name, column in columns.items()), family
    )


def _candidates(lower: pl.Series, limit: int, threads: int) -> pl.DataFrame:
    """Return all pairs of near names: row1, row2 and distance."""
    row1, row2, distance = pairs_within(lower, limit, threads=threads)
    lengths = lower.str.len_chars()
    near = pl.DataFrame({"row1": row1, "row2": row2, "distance": distance}).filter(
        (pl.col("distance") == 1)
        | (pl.min_horizontal(lengths.gather(row1), lengths.gather(row2)) > _SHORT)
    )
    rows = pl.DataFrame({"row": pl.int_range(len(lower), dtype=pl.Int32, eager=True)})
    parts = []
    for key in (folded, ordered, unmarked):
        keyed = rows.with_columns(key=lower.map_elements(key, pl.String))
        keyed = keyed.filter(pl.col("key") != "", pl.col("key").is_duplicated())
        both = keyed.join(keyed, on="key", suffix="2").filter(pl.col("row") < pl.col("row2"))
        parts.append(both.select(pl.col("row").alias("row1"), "row2"))
    same = pl.concat(parts).unique()
    known = near.join(same, on=_ROWS, how="semi")  # far fewer than all near pairs
    same = same.join(known, on=_ROWS, how="anti").sort(_ROWS)
    measured = pair_distances(lower, same["row1"], same["row2"], threads)
    return pl.concat([near, same.with_columns(distance=measured)])
