"""Tables of an evaluation, read off results that can be checked by eye."""

from __future__ import annotations

import polars as pl

from medsim.core.schema import COMPARISON_COLUMNS, RESULT_COLUMNS
from medsim.evaluations.conclusions import all_metrics, best_metrics, metric_standings
from medsim.evaluations.tables.readable import readable

EASY = {"input": "hpo", "dataset": "fsn_syn", "difficulty": "easy", "negatives": "random"}
HARD = EASY | {"difficulty": "hard"}


def result(of: dict, embedding: str, metric: str, value: float | None, **more) -> dict:
    return {
        **of,
        "subset": "common",
        "statistic": "auc",
        "embedding": embedding,
        "metric": metric,
        "value": value,
        "n_pairs": 12,
        "n_covered": 10,
        **more,
    }


def comparison(of: dict, one: str, other: str, difference: float, p: float, **more) -> dict:
    return {
        **of,
        "between": "embeddings",
        "embedding1": one,
        "metric1": "avg_cos",
        "embedding2": other,
        "metric2": "avg_cos",
        "of": "auc",
        "difference": difference,
        "p_bonferroni": p,
        "p_holm": p / 2,
        **more,
    }


RESULTS = pl.DataFrame(
    [
        result(EASY, "a", "avg_cos", 0.9),
        result(EASY, "a", "max_jaccard", 0.8),
        result(EASY, "b", "avg_cos", 0.7),
        result(EASY, "b", "max_jaccard", 0.75),
        result(EASY, "c", "avg_cos", 0.6),
        result(EASY, "c", "max_jaccard", 0.6),
        result(HARD, "a", "avg_cos", None),
        result(HARD, "b", "avg_cos", 0.5),
        result(EASY, "a", "avg_cos", 0.95, subset="own", n_covered=12),
        result(EASY, "a", "avg_cos", 0.85, statistic="accuracy"),
    ],
    schema=RESULT_COLUMNS,
)

COMPARISONS = pl.DataFrame(
    [
        comparison(EASY, "a", "b", 0.15, 0.08),
        comparison(EASY, "a", "c", 0.3, 0.001),
        comparison(EASY, "b", "c", 0.15, 0.02),
        comparison(EASY, "a", "a", 0.1, 0.01, between="metrics", metric2="max_jaccard"),
    ],
    schema=COMPARISON_COLUMNS,
)


def test_each_embedding_stands_at_its_best_metric() -> None:
    best = best_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy")
    columns = ["embedding", "metric", "value", "n_pairs", "n_better", "n_worse", "among_best"]
    assert best.select(columns).rows() == [
        ("a", "avg_cos", 0.9, 10, 1, 0, True),
        ("b", "max_jaccard", 0.75, 10, 1, 0, True),  # 0.08 is not below 0.05
        ("c", "avg_cos", 0.6, 10, 0, 2, False),
    ]


def test_the_correction_decides_what_is_significant() -> None:
    best = best_metrics(RESULTS, COMPARISONS, ["auc"], correction="holm")
    assert best.filter(difficulty="easy")["among_best"].to_list() == [True, False, False]


def test_without_a_value_an_embedding_is_not_among_the_best() -> None:
    best = best_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="hard")
    assert best.select("embedding", "value", "among_best").rows() == [
        ("a", None, False),
        ("b", 0.5, True),
    ]


def test_pairs_of_its_own_tell_no_standing() -> None:
    own = best_metrics(RESULTS, COMPARISONS, ["auc"], subset="own")
    assert own.select("embedding", "value", "n_pairs").rows() == [("a", 0.95, 12)]
    assert "n_better" not in own.columns


def test_metrics_of_an_embedding_stand_among_each_other() -> None:
    every = all_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy", embedding="a")
    assert every.select("metric", "n_better", "n_worse", "among_best").rows() == [
        ("avg_cos", 1, 0, True),
        ("max_jaccard", 0, 1, False),
    ]


def test_metrics_are_summed_up_over_all_sets() -> None:
    every = all_metrics(RESULTS, COMPARISONS, ["auc"]).filter(embedding="a")
    assert metric_standings(every).rows() == [
        ("auc", "a", "avg_cos", 0.9, 1, 1, 1, 1, 0),
        ("auc", "a", "max_jaccard", 0.8, 1, 0, 0, 0, 1),
    ]


def test_a_readable_table_has_a_column_an_embedding() -> None:
    (table,) = readable(best_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy"))
    assert table.rows(named=True) == [
        {
            **EASY,
            "statistic": "auc",
            "n_pairs": 10,
            "a": "0.900 avg_cos +1\N{MINUS SIGN}0 *",
            "b": "0.750 max_jaccard +1\N{MINUS SIGN}0 *",
            "c": "0.600 avg_cos +0\N{MINUS SIGN}2",
        }
    ]


def test_a_readable_table_of_all_metrics_has_a_column_a_metric() -> None:
    every = all_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy", embedding="a")
    (table,) = readable(every)
    row = table.row(0, named=True)
    assert row["embedding"] == "a"
    assert row["max_jaccard"] == "0.800 +0\N{MINUS SIGN}1"


def test_columns_that_say_nothing_are_left_out_of_a_readable_table() -> None:
    rated = pl.DataFrame(
        [result({"input": "mayo", "dataset": "mean"}, "a", "cos", 0.5, statistic="spearman")],
        schema=RESULT_COLUMNS,
    )
    (table,) = readable(best_metrics(rated, COMPARISONS, ["spearman"]))
    assert table.columns == ["input", "dataset", "statistic", "n_pairs", "a"]
    assert table["a"].item() == "0.500 cos +0\N{MINUS SIGN}0 *"


def test_embeddings_with_other_metrics_have_a_table_of_their_own() -> None:
    terms = pl.DataFrame(
        [result(EASY, "t", metric, 0.5) for metric in ("cos", "pearson")], schema=RESULT_COLUMNS
    )
    every = all_metrics(pl.concat([RESULTS, terms]), COMPARISONS, ["auc"])
    tables = readable(every.filter(difficulty="easy"))
    assert [table["embedding"].to_list() for table in tables] == [["a", "b", "c"], ["t"]]
    assert "cos" not in tables[0].columns


def test_a_table_of_own_pairs_tells_how_many_there_are() -> None:
    (table,) = readable(best_metrics(RESULTS, COMPARISONS, ["auc"], subset="own"))
    assert table["a"].item() == "0.950 avg_cos (12)"


def test_metrics_are_summed_up_where_nothing_was_compared() -> None:
    every = all_metrics(RESULTS, COMPARISONS.clear(), ["auc"]).filter(embedding="b")
    assert metric_standings(every)["n_among_best"].to_list() == [1, 2]
