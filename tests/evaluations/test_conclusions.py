"""Best metrics and standings, of comparisons and results that can be checked by eye."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from fixtures.scores import COMPARISONS, EASY, RESULTS, result

from medsim.evaluations import output
from medsim.evaluations.conclusions import (
    best_metrics,
    embedding_standings,
    standings,
)

Comparison = tuple[str, str, float | None, float | None]  # of two, their difference, p
Standing = tuple[int, int, bool]  # n_better, n_worse, among_best


def stand(comparisons: list[Comparison], **options) -> dict[str, Standing]:
    columns = {"metric1": pl.String, "metric2": pl.String}
    numbers = {"difference": pl.Float64, "p_bonferroni": pl.Float64}
    frame = pl.DataFrame(comparisons, schema=columns | numbers, orient="row")
    ends = {name: pl.lit(None, pl.Float64) for name in ("low", "high")}
    frame = frame.with_columns(difficulty=pl.lit(None, pl.String), **ends)
    found = standings(frame, ["difficulty"], "metric", **options)
    return {name: tuple(rest) for _, name, *rest in found.iter_rows()}


def compared(values: dict[str, float], close: float) -> list[Comparison]:
    """Return comparisons that are significant where values are further apart than ``close``."""
    return [
        (one, other, (gap := values[one] - values[other]), 0.01 if abs(gap) > close else 0.5)
        for one, other in combinations(values, 2)
    ]


@pytest.mark.parametrize(
    ("comparisons", "expected"),
    [
        (
            compared({"d": 0.9, "a": 0.5, "b": 0.83, "c": 0.71}, close=0.15),
            {"a": (0, 3, False), "b": (1, 0, True), "c": (1, 1, False), "d": (2, 0, True)},
        ),
        ([("a", "b", 0.1, 0.05)], {"a": (0, 0, True), "b": (0, 0, True)}),
        ([("a", "b", 0.1, None)], {"a": (0, 0, True), "b": (0, 0, True)}),
        (
            compared({"a": 0.9, "b": 0.9, "c": 0.1}, close=0.0),
            {"a": (1, 0, True), "b": (1, 0, True), "c": (0, 2, False)},
        ),
        # One that does not differ from one of two equal best ones.
        (
            [("a", "b", 0.0, 1.0), ("a", "c", 0.1, 0.01), ("b", "c", 0.1, 0.2)],
            {"a": (1, 0, True), "b": (0, 0, True), "c": (0, 1, True)},
        ),
        ([("a", "b", None, None)], {"a": (0, 0, True), "b": (0, 0, True)}),
        ([], {}),
    ],
)
def test_standings_are_counted_against_all_others_in_either_direction(
    comparisons: list[Comparison], expected: dict[str, Standing]
) -> None:
    back = [(other, one, -(gap or 0), p) for one, other, gap, p in reversed(comparisons)]

    assert stand(comparisons) == stand(back) == expected


def test_each_embedding_stands_at_its_best_metric() -> None:
    best = best_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy")
    columns = ["embedding", "metric", "value", "n_pairs", "n_better", "n_worse", "among_best"]
    assert best.select(columns).rows() == [
        ("a", "avg_cos", 0.9, 10, 1, 0, True),
        ("b", "max_jaccard", 0.75, 10, 1, 0, True),  # 0.08 is not below 0.05
        ("c", "avg_cos", 0.6, 10, 0, 2, False),
    ]
    by_holm = best_metrics(RESULTS, COMPARISONS, ["auc"], correction="holm")
    assert by_holm.filter(difficulty="easy")["among_best"].to_list() == [True, False, False]
    hard = by_holm.filter(difficulty="hard").select("embedding", "value", "among_best")
    assert hard.rows() == [("a", None, False), ("b", 0.5, True)]
    own = best_metrics(RESULTS, COMPARISONS, ["auc"], subset="own")
    assert own.select("embedding", "value", "n_pairs").rows() == [("a", 0.95, 12)]
    assert "n_better" not in own.columns


def test_metrics_of_an_embedding_stand_among_each_other() -> None:
    every = best_metrics(RESULTS, COMPARISONS, ["auc"], every=True).filter(
        difficulty="easy", embedding="a"
    )
    assert every.select("metric", "n_better", "n_worse", "among_best").rows() == [
        ("avg_cos", 1, 0, True),
        ("max_jaccard", 0, 1, False),
    ]


def test_means_leave_out_small_sets_and_those_that_another_contains() -> None:
    sizes = {"fsn_syn": 100, "syn_syn": 200, "replaced_by": 30, "same_as": 29}
    values = {"fsn_syn": 0.9, "syn_syn": 0.7, "replaced_by": 0.5, "same_as": 0.1}
    rows = pl.DataFrame(
        [
            result(EASY | {"dataset": name}, "a", "cos", values[name], n_covered=n_pairs)
            for name, n_pairs in sizes.items()
        ],
        schema=output.SET_RESULTS.dtypes,
    )

    best = best_metrics(rows, COMPARISONS.clear(), ["auc"])

    assert embedding_standings(best).select("n_sets", "mean").rows() == [(3, pytest.approx(0.6))]
    few = best.filter(pl.col("n_pairs") < 30)
    assert embedding_standings(few).select("n_sets", "mean").rows() == [(1, pytest.approx(0.1))]


def test_embeddings_stand_over_all_sets_that_have_enough_pairs() -> None:
    best = best_metrics(RESULTS, COMPARISONS, ["auc"])
    columns = ["embedding", "n_sets", "n_among_best", "n_better", "n_worse"]
    assert embedding_standings(best).select(columns).rows() == [
        ("b", 2, 2, 1, 0),  # no set has enough, so all count
        ("a", 1, 1, 1, 0),
        ("c", 1, 0, 0, 2),
    ]
    large = best.with_columns(
        n_pairs=pl.when(difficulty="easy").then(pl.lit(30)).otherwise(pl.lit(29))
    )
    assert embedding_standings(large)["n_sets"].to_list() == [1, 1, 1]
