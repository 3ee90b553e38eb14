"""What the report of a build shows of its pairs: distances, lengths, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.page import BuildProfile
from medsim.builds.stats import table_2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.core.opened import Build

_EXAMPLES = 3  # of each kind in a set

_SHOWN = ("term1", "term2", "distance", "similarity")

_SetFile = tuple[dict[str, str], str]


def profile_of(build: Build) -> BuildProfile:
    """Return what a build's report shows; one set of pairs is held at a time."""
    stats = build.stats()
    sets = _sets(build, stats)
    distances, examples = [], []
    seen: set[tuple[str, str]] = set()
    for named, path in sets:
        set_name = named["dataset"], named["difficulty"]
        chosen = [0] if set_name in seen else [1, 0]
        seen.add(set_name)
        frame = _pairs(build, path, named["negatives"])
        for label in chosen:
            kind = "positives" if label else f"{named['negatives']} negatives"
            pairs = frame.filter(pl.col("label") == label).with_columns(
                pl.lit(named["dataset"]).alias("dataset"),
                pl.lit(named["difficulty"]).alias("difficulty"),
                pl.lit(kind).alias("kind"),
            )
            key = ["dataset", "difficulty", "kind"]
            counted = pairs.group_by(*key, "distance").agg(pl.len().cast(pl.Int64).alias("n"))
            distances.append(counted.sort("distance"))
            examples.append(pairs.head(_EXAMPLES).select(*key, *_SHOWN))
    return BuildProfile(
        sizes=table_2(stats),
        distances=pl.concat(distances),
        lengths=_lengths(build, sets),
        examples=pl.concat(examples),
    )


def _pairs(build: Build, path: str, negatives: str) -> pl.DataFrame:
    """Return the pairs of a set; those that no embedding made have no similarity."""
    if negatives == "embedding":
        return build.read(path, ("label", *_SHOWN))
    frame = build.read(path, ("label", *_SHOWN[:-1]))
    return frame.with_columns(pl.lit(None, pl.Float32).alias("similarity"))


def _sets(build: Build, stats: pl.DataFrame) -> list[_SetFile]:
    """Return what names each set, and its file, in order of the statistics."""
    columns = ("dataset", "difficulty", "negatives")
    named = [dict(zip(columns, row, strict=True)) for row in stats.select(columns).iter_rows()]
    order = list(stats["negatives"].unique(maintain_order=True))
    named.sort(key=lambda one: order.index(one["negatives"]))
    return [
        (one, path)
        for one in named
        if (path := f"pairs/{'/'.join(f'{k}={v}' for k, v in one.items())}/data.parquet")
        in build.manifest.outputs
    ]


def _lengths(build: Build, sets: Sequence[_SetFile]) -> pl.DataFrame:
    """Return how long the different terms of all positives are."""
    first = sets[0][0]["negatives"] if sets else None
    terms = pl.Series("term", [], pl.String)
    for named, path in sets:
        if named["negatives"] != first:
            continue
        pairs = build.read(path, ("term1", "term2", "label")).filter(pl.col("label") == 1)
        terms = pl.concat([terms, pairs["term1"].alias("term"), pairs["term2"].alias("term")])
        terms = terms.unique()
    lengths = {
        "characters": terms.str.len_chars(),
        "words": terms.str.count_matches(r"\S+"),
    }
    frames = [
        pl.DataFrame({"length": values.cast(pl.Int64)})
        .group_by("length")
        .agg(pl.len().cast(pl.Int64).alias("n"))
        .sort("length")
        .select(pl.lit(unit).alias("unit"), "length", "n")
        for unit, values in lengths.items()
    ]
    return pl.concat(frames)
