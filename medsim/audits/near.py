"""Finds near names of active concepts that no chain of positives links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
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
_PARTS = {"component": "component_id", "concept": "concept_id", "term": "term"}


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


def near_names(audited: Audited, distance: int) -> pl.DataFrame:
    """Return the pairs of near names, complete and classified.

    Two names are near if their edit distance is small, or if they are the same without accents,
    hyphens and spaces, in another order of the words, or without sides and negations.
    """
    names = audited.store.frame("audits/audited_name")
    lower = names["lower_term"]
    pairs = _candidates(lower, distance, audited.threads)
    sides = [
        names.select(**{f"{name}{side}": column for name, column in _PARTS.items()})[pairs[row]]
        for side, row in enumerate(_ROWS, 1)
    ]
    found = pl.concat([pairs, *sides], how="horizontal").filter(
        pl.col("component1") != pl.col("component2"), pl.col("concept1") != pl.col("concept2")
    )
    between, texts = DifferenceClassifier(lower).between, lower.to_list()
    described = [_described(part, texts, between) for part in found.iter_slices(_AT_ONCE)]
    return pl.concat([found.head(0).pipe(_described, texts, between), *described])


def _described(
    found: pl.DataFrame, texts: Sequence[str], between: Callable[[str, str], NameDifference]
) -> pl.DataFrame:
    """Return pairs of rows with how the texts of these rows differ, and their family."""
    pairs = [(texts[row1], texts[row2]) for row1, row2 in found.select(_ROWS).iter_rows()]
    parts = pl.DataFrame(
        list(starmap(between, pairs)),
        schema=dict.fromkeys(NameDifference._fields, pl.String),
        orient="row",
    )
    families = [series_of(kind, *pair) for kind, pair in zip(parts["kind"], pairs, strict=True)]
    family = pl.Series("family", families, pl.String)
    return pl.concat([found, parts], how="horizontal").with_columns(family)


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
    same = pl.concat(parts).unique().join(near, on=_ROWS, how="anti").sort(_ROWS)
    measured = pair_distances(lower, same["row1"], same["row2"], threads)
    return pl.concat([near, same.with_columns(distance=measured)])
