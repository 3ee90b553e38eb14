"""Tables of a graded study: the rated set, agreement of raters, and outliers among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import OptionError
from medsim.statistics.estimates import defined
from medsim.studies.agreement.rater_agreement import (
    outlying_raters,
    pairwise_spearman,
    rater_agreement,
)
from medsim.studies.output import RATED_COLUMNS
from medsim.studies.score_tables import Row, answer_table, table_of, with_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.kernels.types import Flags, Rows, Table
    from medsim.statistics.resampling import Resampling

OUTLIERS = "outliers"
"""The name that stands for all outlying raters among those that are left out."""

_HIGHEST = 6  # of the scale of ratings, which begins with 0 (Chiu et al. 2018)
_SCALED_TO = 10  # the highest of the means, as rated sets have them
_MOST_VALUES = 12  # of a column whose values name parts
_FEWEST = 2  # raters that can agree


def graded_tables(
    items: pl.DataFrame, answers: pl.DataFrame, leave_out: Sequence[str], resampling: Resampling
) -> dict[str, pl.DataFrame]:
    """Return tables of a graded study.

    The rating of a pair that a rater saw twice is the mean of both.

    Returns:
        agreement: IAA-1 and IAA-2 of every group, of the consistency set and of all, with and
        without those left out. raters: how each agrees with the others and with oneself. rated:
        the rated set, from 0 to 10. parts: ratings and deviations of its parts.
    """
    names = answers["annotator"].unique().sort().to_list()
    ratings = answer_table(items, answers, names)
    outlying = outlying_raters(ratings)
    accepted = np.array([name not in leave_out for name in names])
    if OUTLIERS in leave_out:
        accepted &= ~outlying
    if not accepted.any():
        raise OptionError("`leave_out` leaves nobody")
    rated = _rated(items, ratings[accepted])
    return {
        "agreement": _agreement(items, ratings, accepted, resampling),
        "raters": _raters(names, ratings, answers, outlying, accepted),
        "rated": rated,
        "parts": _parts_of(rated),
    }


def _agreement(
    items: pl.DataFrame, ratings: Table, accepted: Flags, resampling: Resampling
) -> pl.DataFrame:
    rows: list[Row] = []
    for named, columns in _groups(items["group"]):
        part = ratings[:, columns]
        rated_any = ~np.isnan(part).all(axis=1)
        for of, chosen in (("all", rated_any), ("accepted", rated_any & accepted)):
            if of == "accepted" and (chosen == rated_any).all():
                continue  # nobody was left out
            found = rater_agreement(
                part[chosen],
                seed=resampling.seed,
                resamples=resampling.resamples if chosen.sum() >= _FEWEST else 0,
                threads=resampling.threads,
            )
            rows.append(
                {
                    "pairs": named,
                    "raters": of,
                    "n_raters": int(chosen.sum()),
                    "n_pairs": int((~np.isnan(part[chosen])).any(axis=0).sum()),
                }
                | with_ends("iaa1", found.iaa1)
                | with_ends("iaa2", found.iaa2)
            )
    return table_of(rows)


def _groups(groups: pl.Series) -> Iterator[tuple[str, Rows]]:
    """Yield the columns of all pairs, of the consistency set, and of every group's own."""
    of = groups.to_numpy()
    yield "all", np.arange(len(of))
    for group in sorted(set(of.tolist())):
        named = "consistency set" if group == 0 else f"group {group}"
        yield named, np.flatnonzero(of == group)


def _raters(
    names: Sequence[str], ratings: Table, answers: pl.DataFrame, outlying: Flags, accepted: Flags
) -> pl.DataFrame:
    found = rater_agreement(ratings, resamples=0)
    rows: list[Row] = []
    for at, name in enumerate(names):
        own = answers.filter(annotator=name).sort("position")
        rows.append(
            {
                "rater": name,
                "n_answers": own.height,
                "with_others": defined(found.with_others[at]),
                "with_mean": defined(found.with_mean[at]),
                "outlier": bool(outlying[at]),
                "accepted": bool(accepted[at]),
                "longest_run": int(own["value"].rle().struct.field("len").max()),  # type: ignore[arg-type]
            }
            | _consistency(own)
        )
    return table_of(rows)


def _consistency(answers: pl.DataFrame) -> Row:
    """Return how alike a rater's first and second ratings are of the pairs that were rated twice.

    The difference is the mean absolute one; what is not defined is None.
    """
    first, second = (answers.filter(showing=showing) for showing in (1, 2))
    both = first.join(second, on="item_id", suffix="_again")
    values = both.select("value", "value_again").cast(pl.Float64)
    differences = (values["value"] - values["value_again"]).abs()
    return {
        "n_twice": both.height,
        "twice_equal": (differences == 0).mean(),
        "twice_within_one": (differences <= 1).mean(),
        "twice_difference": differences.mean(),
        "twice_spearman": defined(pairwise_spearman(values.to_numpy().T)[0, 1]),
    }


def scaled_means(ratings: Table) -> pl.DataFrame:
    """Return the mean rating of each item, scaled linearly from 0-6 to 0-10.

    Args:
        ratings: float64[n_raters, n_items] from 0 to 6, NaN where there is none.

    Returns:
        rating, NaN where nobody rated; deviation, the standard deviation (n - 1), null of fewer
        than two ratings; n_ratings.
    """
    rated = ~np.isnan(ratings)
    n_ratings = rated.sum(axis=0, dtype=np.int32)
    scaled = np.where(rated, ratings, 0.0) * _SCALED_TO / _HIGHEST
    none = np.full(ratings.shape[1], np.nan)
    mean = np.divide(scaled.sum(axis=0), n_ratings, out=none.copy(), where=n_ratings > 0)
    squares = (np.where(rated, scaled - mean, 0.0) ** 2).sum(axis=0)
    variance = np.divide(squares, n_ratings - 1, out=none, where=n_ratings > 1)
    deviation = pl.Series(np.sqrt(variance)).fill_nan(None)
    return pl.DataFrame({"rating": mean, "deviation": deviation, "n_ratings": n_ratings})


def _rated(items: pl.DataFrame, ratings: Table) -> pl.DataFrame:
    """Return the rated set: ``RATED_COLUMNS``, the group, and the other columns of the pairs."""
    return (
        items.hstack(scaled_means(ratings))
        .filter(pl.col("n_ratings") > 0)
        .sort("term1", "term2")
        .with_columns(pl.col(pl.String).replace("", None))
        .select(*RATED_COLUMNS, pl.exclude(*RATED_COLUMNS, "item_id"))
    )


def _parts_of(rated: pl.DataFrame) -> pl.DataFrame:
    """Return ratings and deviations of all pairs, and of parts by each column of few values."""
    described = rated.columns[len(RATED_COLUMNS) :]
    telling = [name for name in described if 1 < rated[name].n_unique() <= _MOST_VALUES]
    parts = [pl.format("{}={}", pl.lit(name), pl.col(name)) for name in telling]
    return pl.concat(_summary(rated, part) for part in [pl.lit("all"), *parts])


def _summary(rated: pl.DataFrame, part: pl.Expr) -> pl.DataFrame:
    return (
        rated.group_by(part.alias("part"))
        .agg(
            pl.len().alias("n_pairs"),
            pl.col("rating").mean().alias("mean_rating"),
            pl.col("deviation").mean().alias("mean_deviation"),
        )
        .drop_nulls("part")
        .sort("part")
    )
