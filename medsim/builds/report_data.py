"""Distances, lengths and examples of the pairs of a build, for its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.datasets import SetKey
from medsim.builds.stats import table_2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.output import Build

_EXAMPLES = 3  # of each kind in a set

_SHOWN = ("term1", "term2", "distance", "similarity")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReportData:
    """The tables of the report of a build, besides its manifest.

    Attributes:
        sizes: table 2 of the paper, see ``medsim.builds.stats.table_2``.
        distances: dataset, difficulty, kind ("positives", or whose negatives), distance, n.
        lengths: unit ("characters" or "words"), length, n: of the terms of all positives.
        examples: dataset, difficulty, kind, term1, term2, distance, similarity (a cosine, where
            an embedding made the negatives).
    """

    sizes: pl.DataFrame
    distances: pl.DataFrame
    lengths: pl.DataFrame
    examples: pl.DataFrame


def report_data_of(build: Build) -> BuildReportData:
    """Return the tables of a build's report; one set of pairs is held at a time."""
    stats = build.stats()
    sets = _sets(build, stats)
    distances, examples = [], []
    seen: set[tuple[str, str]] = set()
    for one in sets:
        chosen = [0] if (one.dataset, one.difficulty) in seen else [1, 0]
        seen.add((one.dataset, one.difficulty))
        frame = _pairs(build, one)
        for label in chosen:
            pairs = frame.filter(label=label).with_columns(
                dataset=pl.lit(one.dataset),
                difficulty=pl.lit(one.difficulty),
                kind=pl.lit("positives" if label else f"{one.negatives} negatives"),
            )
            key = ["dataset", "difficulty", "kind"]
            counted = pairs.group_by(*key, "distance").agg(pl.len().cast(pl.Int64).alias("n"))
            distances.append(counted.sort("distance"))
            examples.append(pairs.head(_EXAMPLES).select(*key, *_SHOWN))
    return BuildReportData(
        sizes=table_2(build),
        distances=pl.concat(distances),
        lengths=_lengths(build, sets),
        examples=pl.concat(examples),
    )


def _pairs(build: Build, key: SetKey) -> pl.DataFrame:
    columns = [name for name in ("label", *_SHOWN) if name in key.schema()]
    similarity = pl.col("similarity") if "similarity" in columns else pl.lit(None, pl.Float32)
    return build.read(key.path, columns).with_columns(similarity=similarity)


def _sets(build: Build, stats: pl.DataFrame) -> list[SetKey]:
    rows = stats.select("dataset", "difficulty", "negatives").iter_rows(named=True)
    order = list(stats["negatives"].unique(maintain_order=True))
    keys = sorted((SetKey(**row) for row in rows), key=lambda key: order.index(key.negatives))
    return [key for key in keys if key.path in build.manifest.outputs]


def _lengths(build: Build, sets: Sequence[SetKey]) -> pl.DataFrame:
    terms = pl.Series("term", [], pl.String)
    for key in sets:
        if key.negatives == sets[0].negatives:  # the other strategies have the same positives
            pairs = build.read(key.path, ("term1", "term2", "label")).filter(label=1)
            ends = [pairs[side].alias("term") for side in ("term1", "term2")]
            terms = pl.concat([terms, *ends]).unique()
    units = {"characters": terms.str.len_chars(), "words": terms.str.count_matches(r"\S+")}
    frames = [
        pl.DataFrame({"length": values.cast(pl.Int64)})
        .group_by("length")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .sort("length")
        .select(pl.lit(unit).alias("unit"), "length", "n")
        for unit, values in units.items()
    ]
    return pl.concat(frames)
