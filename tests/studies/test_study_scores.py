"""Tables of scores, compared with counts by hand and trusted libraries."""

from __future__ import annotations

import random
import re
from collections import Counter

import krippendorff
import numpy as np
import polars as pl
import pytest
from fixtures.raters import mean, rated, spearman, with_gaps
from scipy.stats import spearmanr

from medsim.core.errors import OptionError
from medsim.statistics.options import Resampling
from medsim.studies.graded import graded_tables, scaled_means, standings_of
from medsim.studies.judged import judged_tables
from medsim.studies.output import ASSIGNED, GRADED_ITEMS, JUDGED_ITEMS
from medsim.studies.page import score_sentences
from medsim.studies.score import warnings_of_raters

RESAMPLING = Resampling(seed=0, resamples=100, threads=1)
SAME, NOT_SAME, DONT_KNOW = 1, 0, 2
ANSWER_COLUMNS = {
    **{name: ASSIGNED.dtypes[name] for name in ("annotator", "entry_id", "item_id")},
    **{name: ASSIGNED.dtypes[name] for name in ("showing", "position")},
    "value": pl.Int8,
}


def items_of(labels: dict[str, list[int]]) -> pl.DataFrame:
    rows = [
        (f"{name}-{at}", f"p{name}{at}", f"a{at}", f"b{at}", name, "hard", "random", label, "", "")
        for name, all_labels in labels.items()
        for at, label in enumerate(all_labels)
    ]
    return pl.DataFrame(rows, schema=JUDGED_ITEMS.dtypes, orient="row")


def answers_of(items: pl.DataFrame, values: dict[str, dict[str, int]]) -> pl.DataFrame:
    """Return the answers of annotators to all items, null if missing."""
    rows = [
        (name, f"{name}/{item_id}", item_id, 1, position, answers.get(item_id))
        for name, answers in values.items()
        for position, item_id in enumerate(items["item_id"], 1)
    ]
    return pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")


def test_corrections_and_disagreements_match_counts_by_hand() -> None:
    items = items_of({"fsn_syn": [1, 1, 0, 0], "same_as": [1]})
    ids = items["item_id"].to_list()
    answers = {
        "ada": dict(zip(ids, (SAME, NOT_SAME, NOT_SAME, SAME, DONT_KNOW), strict=True)),
        "ben": dict(zip(ids, (SAME, NOT_SAME, NOT_SAME, SAME, SAME), strict=True)),
        "eva": dict(zip(ids, (SAME, SAME, DONT_KNOW, NOT_SAME, NOT_SAME), strict=True)),
    }

    result = judged_tables(items, answers_of(items, answers), RESAMPLING)

    assert result["quality"].filter(dataset="same_as")["accuracy"].item() is None
    wrong = result["corrections"].select("term1", "judged", "n_same", "n_not_same", "n_dont_know")
    assert wrong.rows() == [("a1", "not_same", 1, 2, 0), ("a3", "same", 2, 1, 0)]
    why = {"contradicts the label": 2, "no ground truth": 1, "not unanimous": 1}
    assert Counter(result["disagreements"]["why"]) == why
    annotators = result["annotators"].rows_by_key("annotator", named=True, unique=True)
    assert annotators["eva"]["n_dont_know"] == 1
    assert annotators["ben"]["with_majority"] == 1.0
    _, labels, annotator = score_sentences(result)
    assert labels.startswith("4 of 5 pairs had a majority, which matched the label of 2: the accu")
    assert labels.endswith(" of labels is 0.500 (95% CI 0.150 to 0.850).")
    assert annotator == (
        "Annotators agreed with the majority in 0.333 (95% CI 0.061 to 0.792) to 1.000 (95% CI "
        "0.510 to 1.000) of answers."
    )
    assert annotators["eva"]["with_majority"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_of_simulated_annotators_match_trusted_libraries(seed: int) -> None:
    from sklearn.metrics import accuracy_score, precision_score, recall_score
    from statsmodels.stats.proportion import proportion_confint

    rng = random.Random(seed)  # noqa: S311 — no secret
    names, errors = ("ada", "ben", "eva", "tom"), (0.02, 0.1, 0.3, 0.5)
    items = items_of({name: [rng.randrange(2) for _ in range(60)] for name in ("one", "two")})
    given: dict[str, dict[str, int]] = {name: {} for name in names}
    for item_id, label in items.select("item_id", "label").iter_rows():
        meant = label if rng.random() < 0.9 else 1 - label
        for name, error in zip(names, errors, strict=True):
            fate = rng.random()
            if fate < 0.05:
                continue
            value = DONT_KNOW if fate < 0.1 else meant if rng.random() > error else 1 - meant
            given[name][item_id] = value

    result = judged_tables(items, answers_of(items, given), RESAMPLING)

    for row in result["quality"].iter_rows(named=True):
        of_set = items if row["dataset"] == "all" else items.filter(dataset=row["dataset"])
        truth, labels, values = [], [], []
        for item_id, label in of_set.select("item_id", "label").iter_rows():
            votes = [given[name].get(item_id) for name in names]
            values.append([np.nan if vote is None else vote for vote in votes])
            ahead = [judged for judged in (SAME, NOT_SAME) if votes.count(judged) > 2]
            truth += ahead
            labels += [label] * len(ahead)
        alpha = krippendorff.alpha(np.array(values).T, level_of_measurement="nominal")
        assert row["alpha"] == pytest.approx(alpha)
        assert row["alpha_low"] < alpha < row["alpha_high"]
        assert row["no_ground_truth"] == pytest.approx(1 - len(truth) / of_set.height)
        assert row["accuracy"] == pytest.approx(accuracy_score(truth, labels))
        assert row["recall"] == pytest.approx(recall_score(truth, labels))
        assert row["precision"] == pytest.approx(precision_score(truth, labels))
        interval = proportion_confint(sum(truth) * row["recall"], sum(truth), method="wilson")
        assert (row["recall_low"], row["recall_high"]) == pytest.approx(interval)
    table = np.array([[given[n].get(i, np.nan) for i in items["item_id"]] for n in ("ada", "tom")])
    agreement = result["agreement"].filter(annotators="ada & tom")
    table_decided = np.where(table == DONT_KNOW, np.nan, table)
    for dont_know, values in (("a judgement", table), ("left out", table_decided)):
        alpha = krippendorff.alpha(values, level_of_measurement="nominal")
        assert agreement.filter(dont_know=dont_know)["alpha"].item() == pytest.approx(alpha)
    assert agreement.height == 2
    assert result["agreement"].height == 2 * (1 + 6)


def test_two_annotators_have_one_row_and_missing_answers_are_ignored() -> None:
    items = items_of({"one": [1, 1, 0, 0]})
    first, second, third, _ = items["item_id"]
    answers = {
        "ada": {first: SAME, second: SAME, third: NOT_SAME},
        "ben": {first: SAME, second: NOT_SAME},
    }

    result = judged_tables(items, answers_of(items, answers), RESAMPLING)

    assert result["agreement"]["annotators"].unique().to_list() == ["ada & ben"]
    quality = result["quality"].filter(dataset="one").select("n_pairs", "no_ground_truth")
    assert quality.row(0) == (3, pytest.approx(2 / 3))
    disagreements = result["disagreements"].select("why", "term1", "label", "truth").rows()
    assert disagreements == [
        ("no ground truth", "a1", "positive", None),
        ("no ground truth", "a2", "negative", None),
    ]


def graded_items(number: int) -> pl.DataFrame:
    rows = [
        (f"i{at}", f"a{at:03}", f"b{at:03}", 0 if at < 20 else at % 2 + 1, "xy"[at % 2])
        for at in range(number)
    ]
    return pl.DataFrame(rows, schema={**GRADED_ITEMS.dtypes, "domain": pl.String}, orient="row")


def simulated_ratings(items: pl.DataFrame, *, bad: str) -> pl.DataFrame:
    """Return answers of six raters in two groups; one of them answers at random."""
    rng = random.Random(7)  # noqa: S311 — no secret
    true_ratings = {item_id: rng.uniform(0, 6) for item_id in items["item_id"]}
    rows = []
    for at, name in enumerate(("ada", "ben", "eva", "tom", "uma", "vic")):
        item_ids = items.filter(pl.col("group").is_in([0, at // 3 + 1]))["item_id"].to_list()
        for position, item_id in enumerate([*item_ids, *item_ids[:10]], 1):
            value = true_ratings[item_id] + rng.gauss(0, 0.7) if name != bad else rng.uniform(0, 6)
            showing = 1 if position <= len(item_ids) else 2
            value = min(6, max(0, round(value)))
            rows.append((name, f"{name}{position}", item_id, showing, position, value))
    return pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")


def test_bad_rater_is_detected_and_left_out_on_request() -> None:
    items = graded_items(140)
    answers = simulated_ratings(items, bad="eva")

    whole = graded_tables(items, answers, (), RESAMPLING)
    without = graded_tables(items, answers, ("outliers",), RESAMPLING)

    assert whole["raters"].filter("outlier")["rater"].to_list() == ["eva"]
    assert whole["raters"]["accepted"].all()
    message = list(warnings_of_raters(whole, ()))
    assert any(warning.startswith("eva hardly agrees with the others") for warning in message)
    first, lowest, outliers = score_sentences(whole)
    of_parts = whole["agreement"].rows_by_key("pairs", named=True, unique=True)
    values = [f"{of_parts[name]['iaa1']:.3f}" for name in ("all", "group 1", "group 2")]
    assert first.startswith(
        f"6 raters rated 140 pairs: the mean of Spearman's correlations is {values[0]}"
    )
    assert re.findall(r"(?:in group \d, )([\d.]+)", lowest) == sorted(values[1:])
    assert outliers == "1 rater is an outlier."
    assert score_sentences(without)[0].startswith("5 raters rated ")
    assert "IAA-1 is lowest in group " in score_sentences(without)[1]
    assert not any("hardly" in warning for warning in warnings_of_raters(without, ("outliers",)))
    assert without["raters"].filter(~pl.col("accepted"))["rater"].to_list() == ["eva"]
    group = without["agreement"].filter(pairs="group 1")
    iaa = dict(group.select("raters", "iaa1").iter_rows())
    assert iaa["accepted"] > iaa["all"] + 0.3
    assert without["rated"].filter(group=1)["n_ratings"].unique().to_list() == [2]
    both = answers.join(items.filter(pl.col("group") < 2), on="item_id").pivot(
        "annotator", index="item_id", values="value", aggregate_function="mean"
    )
    assert iaa["accepted"] == pytest.approx(spearmanr(both["ada"], both["ben"]).statistic)
    assert group["n_pairs"].to_list() == [20 + 60] * 2
    with pytest.raises(OptionError, match="leaves no answers"):
        graded_tables(items, answers, ("ada", "ben", "eva", "tom", "uma", "vic"), RESAMPLING)

    result = without["agreement"]  # averaged over groups, which share the consistency set
    assert result.select("pairs", "raters").rows() == [
        (pairs, raters)
        for pairs in ("all", "consistency set", "group 1", "group 2", "mean of groups")
        for raters in ("all", "accepted")
        if (pairs, raters) != ("group 2", "accepted")  # nobody in this group was left out
    ]
    groups = result.filter(pl.col("pairs").str.starts_with("group")).to_dicts()
    means = result.filter(pairs="mean of groups").rows_by_key("raters", named=True, unique=True)
    for which, (first, second) in (("all", (0, 2)), ("accepted", (1, 2))):
        for name in ("iaa1", "iaa2"):
            mean = (groups[first][name] + groups[second][name]) / 2
            assert means[which][name] == pytest.approx(mean)
            assert means[which][f"{name}_low"] is None


def test_outliers_are_determined_on_the_consistency_set() -> None:
    items = graded_items(140)
    answers = simulated_ratings(items, bad="none")
    common = items.filter(group=0)["item_id"].implode()
    reversed_there = (pl.col("annotator") == "eva") & pl.col("item_id").is_in(common)
    answers = answers.with_columns(
        pl.when(reversed_there).then(6 - pl.col("value")).otherwise("value").alias("value")
    )

    raters = graded_tables(items, answers, (), RESAMPLING)["raters"]

    assert raters.filter("outlier")["rater"].to_list() == ["eva"]
    row = raters.row(by_predicate=pl.col("rater") == "eva", named=True)
    assert row["consistency_iaa1"] < -0.5 < 0.5 < row["others_iaa1"]
    answers = simulated_ratings(items, bad="eva")
    none = graded_tables(items, answers, (), RESAMPLING, outlier_share=0.0)
    assert none["raters"]["outlier"].to_list() == [False] * 6


def test_ratings_are_means_from_0_to_10_with_their_deviation() -> None:
    items = graded_items(22)
    rows = [("ada", "e1", "i20", 1, 1, 3), ("ada", "e4", "i21", 1, 2, 0)]
    rows += [("ben", "e2", "i20", 1, 1, 6), ("ben", "e3", "i20", 2, 2, 3)]
    answers = pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")

    result = graded_tables(items, answers, (), Resampling(seed=0, resamples=0, threads=1))

    first, second = result["rated"].to_dicts()
    assert first["rating"] == pytest.approx((3 + 4.5) / 2 / 6 * 10)
    assert first["deviation"] == pytest.approx(np.std([5, 7.5], ddof=1))
    assert (second["rating"], second["deviation"], second["n_ratings"]) == (0.0, None, 1)
    assert first["domain"] == "x"
    parts = dict(result["parts"].select("part", "n_pairs").iter_rows())
    assert (parts["all"], parts["domain=x"], parts["domain=y"]) == (2, 1, 1)


def test_deviations_are_averaged_by_frequency_and_by_number_of_topics() -> None:
    rng = random.Random(2)  # noqa: S311 — no secret
    items = graded_items(140).with_columns(
        pl.Series(name, [str(rng.choice([3, 12, 80, 700, ""])) for _ in range(140)])
        for name in ("count1", "count2", "topics1", "topics2")
    )
    answers = simulated_ratings(items, bad="none")
    bins = {"count": (1, 10, 100), "topics": (2, 5)}

    result = graded_tables(items, answers, (), RESAMPLING)

    names = {"count": ["1-9", "10-99", "100-999"], "topics": ["2-4", "5+"]}
    rated = result["rated"].to_dicts()
    parts = result["parts"].rows_by_key("part", named=True, unique=True)
    for part, begins in bins.items():
        for name, begin, end in zip(names[part], begins, [*begins[1:], 10**9], strict=True):
            members = [
                row
                for row in rated
                if all(row[f"{part}{side}"] for side in "12")
                and all(begin <= int(row[f"{part}{side}"]) < end for side in "12")
            ]
            row = parts[f"{part}={name}"]
            assert row["n_pairs"] == len(members) > 0
            deviation = np.mean([pair["deviation"] for pair in members])
            assert row["mean_deviation"] == pytest.approx(deviation)
            assert row["deviation_as_rated"] == pytest.approx(deviation * 0.6)
            assert row["mean_rating"] == pytest.approx(
                np.mean([pair["rating"] for pair in members])
            )
    assert [part for part in parts if "count" in part] == [f"count={n}" for n in names["count"]]
    assert parts["all"]["n_pairs"] == 140
    equal = graded_tables(items, answers, (), RESAMPLING, equal_parts=2)
    assert equal["parts"].filter(pl.col("part").str.starts_with("count=")).height == 2
    with pytest.raises(OptionError, match="the pairs of this study lack"):
        graded_tables(graded_items(140), answers, (), RESAMPLING, equal_parts=2)


def test_equal_sums_of_ratings_tie() -> None:
    ratings = np.array([[0, 0, 6], [1, 2, 1], [6, 5, 0]], np.float64)
    assert scaled_means(ratings)["rating"].n_unique() == 1


def test_consistency_is_counted_over_pairs_that_were_rated_twice() -> None:
    first, second = (0, 1, 2, 3, 6, 4), (0, 2, 2, 5, 6)
    rows = [
        ("ada", f"e{showing}-{at}", f"i{at}", showing, at + 6 * showing, value)
        for showing, values in ((1, first), (2, second))
        for at, value in enumerate(values)
    ]
    rows.append(("ben", "e", "i0", 1, 1, 3))
    answers = pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")

    result = graded_tables(graded_items(6), answers, (), RESAMPLING)["raters"]

    columns = [f"twice_{name}" for name in ("equal", "within_one", "difference", "spearman")]
    ada, ben = result.select("n_twice", *columns).rows()
    assert ada == pytest.approx((5, 3 / 5, 4 / 5, 3 / 5, spearmanr(first[:5], second).statistic))
    assert ben == (0, None, None, None, None)


def test_alternating_and_equal_ratings_are_counted_by_rater() -> None:
    ratings = {
        "ada": [2, 5] * 6 + [5],
        "ben": [0] * 10 + [1, 2, 3],
        "eva": [0, 1, 2, 0, 1, 2, 1, 2, 1, 1, 2, 3, 4],
        "tom": [4],
    }
    items = graded_items(13)
    rows = [
        (name, f"{name}{at}", f"i{at}", 1, at + 1, value)
        for name, values in ratings.items()
        for at, value in enumerate(values)
    ]
    answers = pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")

    tables = graded_tables(items, answers, (), RESAMPLING)

    rows = tables["raters"].select("rater", "longest_run", "longest_alternation").rows()
    assert rows == [("ada", 2, 12), ("ben", 10, 0), ("eva", 2, 5), ("tom", 1, 0)]
    message = [warning for warning in warnings_of_raters(tables, ()) if "in a row" in warning]
    assert message == [
        "10 ratings of ben in a row are equal",
        "12 ratings of ada in a row alternate between two values",
    ]


@pytest.mark.parametrize(
    ("n_good", "n_random", "n_items", "least_found"),
    [
        *((n_good, 1, 120, 0.98) for n_good in (2, 3, 6)),
        (4, 2, 120, 0.98),
        (3, 2, 120, 0.95),
        (4, 3, 120, 0.95),
        (11, 1, 50, 0.96),  # a consistency set
        *(
            pytest.param(n_good, n_random, 120, 0.98, marks=pytest.mark.slow)
            for n_good, n_random in ((4, 1), (12, 1), (6, 2), (12, 2))
        ),
    ],
)
def test_random_raters_are_detected_and_good_raters_are_kept(
    n_good: int, n_random: int, n_items: int, least_found: float
) -> None:
    seeds = range(100 if n_random < 2 else 60)
    groups = [rated(n_good, n_items, seed, n_random=n_random) for seed in seeds]

    flags = np.array([standings_of(ratings).outlying for ratings in groups])
    assert flags[:, n_good:].mean() >= least_found
    assert flags[:, :n_good].mean() <= 0.015


@pytest.mark.parametrize(("n_good", "n_random", "most"), [(3, 0, 0.015), (12, 0, 0.015), (0, 8, 0)])
def test_raters_who_are_all_good_or_all_random_have_hardly_any_outliers(
    n_good: int, n_random: int, most: float
) -> None:
    groups = [rated(n_good, 120, seed, n_random=n_random, noise=0.95) for seed in range(100)]

    assert np.mean([standings_of(ratings).outlying for ratings in groups]) <= most


def test_rater_is_compared_with_the_average_among_the_others() -> None:
    ratings = with_gaps(rated(4, 40, seed=3, n_random=1, noise=1.2), seed=2)

    result = standings_of(ratings)

    for rater in range(5):
        others = [other for other in range(5) if other != rater]
        iaa1 = mean([spearman(ratings[rater], ratings[other]) for other in others])
        average = mean(
            [
                mean([spearman(ratings[rest], ratings[other]) for other in others if other != rest])
                for rest in others
            ]
        )
        assert (result.iaa1[rater], result.others_iaa1[rater]) == pytest.approx((iaa1, average))
        for share in (0.1, 0.5, 0.9, 1):
            outlying = standings_of(ratings, share=share).outlying
            assert outlying[rater] == (iaa1 < share * average)


def test_reversed_or_constant_ratings_are_outliers_and_a_single_rating_is_not() -> None:
    ratings = rated(5, 120, seed=6)
    ratings[2] = 6 - ratings[2]
    assert np.flatnonzero(standings_of(with_gaps(ratings, seed=7)).outlying).tolist() == [2]
    ratings = rated(5, 60, seed=8)
    ratings[1] = 4
    ratings[3, 1:] = np.nan

    assert np.flatnonzero(standings_of(ratings).outlying).tolist() == [1]


def test_no_outliers_among_two_raters_or_with_few_shared_items_or_without_agreement() -> None:
    assert not standings_of(rated(1, 50, seed=1, n_random=1)).outlying.any()
    opposed = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 0, 3], [3, 0, 3, 0]], np.float64)
    assert not standings_of(opposed).outlying.any()

    few = np.full((2, 120), np.nan)
    few[0, [3, 90]], few[1, [3, 90]] = (6, 0), (0, 6)

    assert not standings_of(np.vstack([rated(4, 120, seed=5), few])).outlying.any()
