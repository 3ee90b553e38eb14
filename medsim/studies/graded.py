"""Tables of a graded study: the rated set, agreement of raters, and outliers among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from medsim.core.errors import OptionError
from medsim.kernels.types import Flags, FloatTable, Rows, Values
from medsim.statistics.estimates import defined, quotients
from medsim.statistics.options import Resampling
from medsim.statistics.ranks import without_rounding_errors
from medsim.statistics.rater_agreement import (
    FEWEST_SHARED,
    mean_of_defined,
    pairwise_spearman,
    rater_agreement,
    row_means,
)
from medsim.statistics.strata import PAIR_PROPERTIES, Stratification, parts_of, property_in
from medsim.studies.agreement import ScoreRow, answer_table, estimate_columns, score_table
from medsim.studies.options import OUTLIER_SHARE
from medsim.studies.output import MAX_PARTS, RATING_COLUMNS

OUTLIERS = "outliers"
"""The name for all outlying raters in the option to leave raters out."""

_HIGHEST = 6  # of the scale of ratings, which begins with 0 (Chiu et al. 2018)
_SCALED_TO = 10  # the highest mean, as in rated sets
_GROUP = "group "
_NUMBERED = ("count", "topics")


def graded_tables(
    items: pl.DataFrame,
    answers: pl.DataFrame,
    leave_out: Sequence[str],
    resampling: Resampling,
    *,
    outlier_share: float = OUTLIER_SHARE,
    equal_parts: int | None = None,
) -> dict[str, pl.DataFrame]:
    """Return tables of a graded study.

    The rating of a pair that a rater saw twice is the mean of both. Outliers are determined on the
    consistency set, or on all pairs if it has fewer than ten.

    Returns:
        agreement: IAA-1 and IAA-2 of every group, of the consistency set and of all, and the mean
            over groups, with and without the raters in ``leave_out``. raters: the agreement of each
            rater with the others and with their own repeated ratings. rated: the rated set, from 0
            to 10. parts: ratings and deviations of its parts.
    """
    names = answers["annotator"].unique().sort().to_list()
    ratings = answer_table(items, answers, names)
    consistency = np.flatnonzero(items["group"].to_numpy() == 0)
    judged = ratings[:, consistency] if len(consistency) >= FEWEST_SHARED else ratings
    standings = standings_of(judged, share=outlier_share)
    accepted = np.array([name not in leave_out for name in names])
    if OUTLIERS in leave_out:
        accepted &= ~standings.outlying
    if not accepted.any():
        raise OptionError("`leave_out` leaves no answers")
    rated = (
        items.hstack(scaled_means(ratings[accepted]))
        .filter(pl.col("n_ratings") > 0)
        .sort("term1", "term2")
        .with_columns(pl.col(pl.String).replace("", None))
        .select(*RATING_COLUMNS, pl.exclude(*RATING_COLUMNS, "item_id"))
    )
    return {
        "agreement": _agreement(items, ratings, accepted, resampling),
        "raters": _raters(names, ratings, answers, standings, accepted),
        "rated": rated,
        "parts": _parts_of(rated, equal_parts),
    }


def _agreement(
    items: pl.DataFrame, ratings: FloatTable, accepted: Flags, resampling: Resampling
) -> pl.DataFrame:
    rows: list[ScoreRow] = []
    group_rows: dict[str, list[ScoreRow]] = {"all": [], "accepted": []}
    for pairs, own_columns, columns in _groups(items["group"]):
        rated_any = ~np.isnan(ratings[:, own_columns]).all(axis=1)
        group_ratings, row = ratings[:, columns], None
        for raters, chosen in (("all", rated_any), ("accepted", rated_any & accepted)):
            if row is None or (chosen != rated_any).any():
                rated = group_ratings[chosen]
                agreement = rater_agreement(rated, resampling if len(rated) > 1 else None)
                n_pairs = int((~np.isnan(rated)).any(axis=0).sum())
                row = {"pairs": pairs, "raters": raters, "n_raters": len(rated), "n_pairs": n_pairs}
                row |= estimate_columns("iaa1", agreement.iaa1) | estimate_columns(
                    "iaa2", agreement.iaa2
                )
                rows.append(row)
            if pairs.startswith(_GROUP):
                group_rows[raters].append(row)
    if len(group_rows["all"]) > 1:
        left_out = group_rows["accepted"] != group_rows["all"]
        for raters in ("all", "accepted")[: 1 + left_out]:  # no interval: they share a set
            means = pl.DataFrame(group_rows[raters], infer_schema_length=None).mean().to_dicts()[0]
            row = dict.fromkeys(rows[0]) | {"pairs": "mean of groups", "raters": raters}
            rows.append(row | {name: means[name] for name in ("iaa1", "iaa2")})
    return score_table(rows)


def _groups(groups: pl.Series) -> Iterator[tuple[str, Rows, Rows]]:
    """Yield the name and the columns of all pairs, of the consistency set, and of every group.

    For a group, these are first its own columns, then all columns that its raters rated, which
    include the consistency set (Chiu et al. 2018).
    """
    numbers = groups.to_numpy()
    yield "all", np.arange(len(numbers)), np.arange(len(numbers))
    for group in sorted(set(numbers.tolist())):
        own_columns = np.flatnonzero(numbers == group)
        name = f"{_GROUP}{group}" if group else "consistency set"
        yield name, own_columns, np.flatnonzero((numbers == group) | (numbers == 0))


def _raters(
    names: Sequence[str],
    ratings: FloatTable,
    answers: pl.DataFrame,
    standings: Standings,
    accepted: Flags,
) -> pl.DataFrame:
    agreement = rater_agreement(ratings)
    rows: list[ScoreRow] = []
    for number, name in enumerate(names):
        own_answers = answers.filter(annotator=name).sort("position")
        rows.append(
            {
                "rater": name,
                "n_answers": own_answers.height,
                "with_others": defined(agreement.with_others[number]),
                "with_mean": defined(agreement.with_mean[number]),
                "consistency_iaa1": defined(standings.iaa1[number]),
                "others_iaa1": defined(standings.others_iaa1[number]),
                "outlier": bool(standings.outlying[number]),
                "accepted": bool(accepted[number]),
                "longest_run": int(own_answers["value"].rle().struct.field("len").max()),  # type: ignore[arg-type]
                "longest_alternation": _longest_alternation(own_answers["value"]),
            }
            | _consistency(own_answers)
        )
    return score_table(rows)


def _longest_alternation(ratings: pl.Series) -> int:
    """Return the longest alternation of two ratings, such as 4 for 2, 5, 2, 5; 0 if none."""
    turns = (ratings == ratings.shift(2)) & (ratings != ratings.shift(1))
    runs = turns.fill_null(value=False).rle().struct.unnest().filter("value")["len"].to_list()
    return max(runs) + 2 if runs else 0


def _consistency(answers: pl.DataFrame) -> ScoreRow:
    """Return the agreement of a rater's first and second ratings of repeated pairs.

    ``twice_difference`` is the mean absolute difference; undefined values are None.
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


def scaled_means(ratings: FloatTable) -> pl.DataFrame:
    """Return the mean rating of each item, scaled linearly from 0-6 to 0-10.

    Args:
        ratings: float64[n_raters, n_items] from 0 to 6, NaN if missing.

    Returns:
        rating, NaN without ratings; deviation, the standard deviation (n - 1), null for fewer than
        two ratings; n_ratings.
    """
    rated = ~np.isnan(ratings)
    n_ratings = rated.sum(axis=0, dtype=np.int32)
    scaled = np.where(rated, ratings, 0.0) * _SCALED_TO / _HIGHEST
    mean = without_rounding_errors(quotients(scaled.sum(axis=0), n_ratings))
    squares = (np.where(rated, scaled - mean, 0.0) ** 2).sum(axis=0)
    variance = quotients(squares, n_ratings - 1)
    deviation = pl.Series(np.sqrt(variance)).fill_nan(None)
    return pl.DataFrame({"rating": mean, "deviation": deviation, "n_ratings": n_ratings})


def _parts_of(rated: pl.DataFrame, equal_parts: int | None) -> pl.DataFrame:
    """Return ratings and deviations of all pairs, and of parts by columns of the file.

    Parts by counts and by numbers of topics have the pairs whose words are both in the same bin
    (Chiu et al. 2018, tables 10 and 11). A column with few values gives a part for each value.
    """
    properties = pl.DataFrame(
        {
            column: [property_in(column, cell or "") for cell in rated[column]]
            for column in PAIR_PROPERTIES
            if column.startswith(_NUMBERED) and column in rated.columns
        },
        schema_overrides=dict.fromkeys(PAIR_PROPERTIES, pl.Float64),
    )
    if equal_parts and not properties.columns:
        raise OptionError(
            "`equal_parts` needs the columns count1, count2, topics1 or topics2, which the pairs "
            "of this study lack"
        )
    in_bins = (
        part.with_columns(
            pl.format("{}={}", "part", "part_value").alias("part"),
            pl.col("part").alias("of"),
            pl.col("part_value").str.extract(r"^([0-9.]+)").cast(pl.Float64).alias("begin"),
        )
        for part in parts_of(properties, Stratification(equal_parts=equal_parts)).values()
    )
    described = [
        name for name in rated.columns[len(RATING_COLUMNS) :] if name not in properties.columns
    ]
    telling = [name for name in described if 1 < rated[name].n_unique() <= MAX_PARTS]
    numbered = rated.select("rating", "deviation").with_row_index("row")
    members = [numbered.select("row", part=pl.lit("all"), of=pl.lit(""), begin=0.0), *in_bins]
    for name in telling:
        named = pl.format("{}={}", pl.lit(name), rated[name]).alias("part")
        members.append(numbered.select("row", named, of=pl.lit(name), begin=0.0))
    columns = ("row", "part", "of", "begin")
    rows = pl.concat(member.select(columns) for member in members).drop_nulls("part")
    means = pl.col("deviation").mean()
    return (
        rows.join(numbered, on="row")
        .group_by("of", "begin", "part")
        .agg(
            pl.len().alias("n_pairs"),
            pl.col("rating").mean().alias("mean_rating"),
            means.alias("mean_deviation"),
            (means * _HIGHEST / _SCALED_TO).alias("deviation_as_rated"),
        )
        .sort("of", "begin", "part")
        .drop("of", "begin")
    )


MIN_AGREEMENT = 0.2
"""If no other rater agrees more than this with the rest, there are no outliers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The IAA-1 of each rater and of the others, float64[n_raters].

    Attributes:
        iaa1: the mean of a rater's correlations with the others; NaN if there are none.
        others_iaa1: the average IAA-1 among the others; NaN if none of them agrees with the rest.
        outlying: bool[n_raters], raters who agree considerably less than the others.
    """

    iaa1: Values
    others_iaa1: Values
    outlying: Flags


def standings_of(ratings: FloatTable, share: float = OUTLIER_SHARE) -> Standings:
    """Return the agreement of each rater with the others, and the outliers.

    Chiu et al. (2018) leave out a rater "whose IAA-1 was considerably lower than the average IAA-1
    of all the other annotators". Here the limit is ``share`` of that average, half by default; a
    rater who gave all items the same rating is also an outlier. The average is among the others, so
    that raters do not lower the standard by which they are judged.

    In 200 simulations each with 50 items, a single random rater among 11 good raters was always
    detected if good raters correlate by 0.67, and in 99.5% of cases if they correlate by 0.47. At
    0.47, each of two random raters was detected in 97% among ten good raters and in 93% among four,
    and each of three in 71% among three. At most 0.2% of good raters were called outliers. With 20
    items at 0.47, a single random rater among 11 was detected in 92%, and 1% to 4% of good raters
    were called outliers.

    With only two raters, neither is an outlier. There are no outliers if no other rater agrees with
    the rest, and a rater with too few shared items is never an outlier.

    Args:
        ratings: float64[n_raters, n_items], NaN if missing.
        share: a rater with an IAA-1 below this share of the others' average is an outlier.
    """
    table = pairwise_spearman(ratings, FEWEST_SHARED)
    iaa1, others_iaa1 = row_means(table), np.full(len(table), np.nan)
    constant = np.zeros(len(table), np.bool_)
    for rater, all_given in enumerate(ratings):
        others = np.delete(np.delete(table, rater, axis=0), rater, axis=1)
        agreeing = row_means(others)
        if (agreeing >= MIN_AGREEMENT).any():
            others_iaa1[rater] = mean_of_defined(agreeing)
        rated = all_given[~np.isnan(all_given)]
        constant[rater] = len(rated) >= FEWEST_SHARED and np.ptp(rated) == 0
    outlying = ~np.isnan(others_iaa1) & (constant | (iaa1 < share * np.maximum(others_iaa1, 0.0)))
    return Standings(iaa1=iaa1, others_iaa1=others_iaa1, outlying=outlying)
