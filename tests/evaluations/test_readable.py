"""Tables of an evaluation, read off results that can be checked by eye."""

from __future__ import annotations

import polars as pl
import pytest
from fixtures.scores import COMPARISONS, EASY, RESULTS, result

from medsim.core.shown import MISSING
from medsim.evaluations import output
from medsim.evaluations.conclusions import best_metrics
from medsim.evaluations.readable import readable_tables


def test_a_readable_table_has_a_column_an_embedding() -> None:
    (table,) = readable_tables(
        best_metrics(RESULTS, COMPARISONS, ["auc"]).filter(difficulty="easy")
    )
    assert table.rows(named=True) == [
        {
            **EASY,
            "statistic": "auc",
            "n_pairs": "10 (few)",
            "a": "0.900 avg_cos +1\N{MINUS SIGN}0 *",
            "b": "0.750 max_jaccard +1\N{MINUS SIGN}0 *",
            "c": "0.600 avg_cos +0\N{MINUS SIGN}2",
        }
    ]


def test_a_readable_table_of_all_metrics_has_a_column_a_metric() -> None:
    every = best_metrics(RESULTS, COMPARISONS, ["auc"], every=True).filter(
        difficulty="easy", embedding="a"
    )
    (table,) = readable_tables(every)
    row = table.row(0, named=True)
    assert row["embedding"] == "a"
    assert row["max_jaccard"] == "0.800 +0\N{MINUS SIGN}1"


def test_what_is_negative_has_a_minus_sign() -> None:
    negative = RESULTS.with_columns(-pl.col("value"))
    (table,) = readable_tables(best_metrics(negative, COMPARISONS.clear(), ["auc"], subset="own"))
    assert table["a"].item() == "\N{MINUS SIGN}0.950 avg_cos (12)"


def test_embeddings_with_other_metrics_have_a_table_of_their_own() -> None:
    terms = pl.DataFrame(
        [result(EASY, "t", metric, 0.5) for metric in ("cos", "pearson")],
        schema=output.SET_RESULTS.dtypes,
    )
    every = best_metrics(pl.concat([RESULTS, terms]), COMPARISONS, ["auc"], every=True)
    tables = readable_tables(every.filter(difficulty="easy"))
    assert [table["embedding"].to_list() for table in tables] == [["a", "b", "c"], ["t"]]
    assert "cos" not in tables[0].columns


def test_of_many_embeddings_each_has_a_row_the_best_first() -> None:
    values = {"a": 0.5, "b": 0.9, "c": 0.7, "d": 0.6}
    rows = [result(EASY, name, "cos", value) for name, value in values.items()]
    found = best_metrics(
        pl.DataFrame(rows, schema=output.SET_RESULTS.dtypes), COMPARISONS.clear(), ["auc"]
    )
    (table,) = readable_tables(found)
    assert table["embedding"].to_list() == ["b", "c", "d", "a"]
    assert table["set"].unique().to_list() == ["fsn_syn"]
    assert table.columns[-3:] == ["embedding", "metric", "value"]


def test_retrieval_has_the_ends_of_intervals_which_may_be_far_from_symmetric() -> None:
    table = output.RETRIEVAL
    rows = [
        {"statistic": "mrr", "value": 1.0, "low": 0.583, "high": 1.0},
        {"statistic": "accuracy_at_1", "value": 0.25, "low": 0.2, "high": 0.3},
        {"statistic": "accuracy_at_5", "value": 0.5, "low": None, "high": None},
        {"statistic": "accuracy_at_10", "value": None, "low": None, "high": None},
    ]
    named = {"input": "b", "embedding": "a", "index": "flat", "subset": "own", "n_covered": 9}
    (shown,) = readable_tables(pl.DataFrame([named | row for row in rows], table.dtypes))

    assert shown.row(0)[-4:] == (
        "1.000 [0.583, 1.000]",
        "0.250 [0.200, 0.300]",
        "0.500",
        MISSING,
    )


def test_statistics_have_tables_of_their_own() -> None:
    rated = result({"input": "mayo", "dataset": "mean"}, "a", "cos", 0.5, statistic="spearman")
    rows = pl.DataFrame([result(EASY, "a", "cos", 0.6), rated], schema=output.SET_RESULTS.dtypes)
    of_build, of_rated = readable_tables(
        best_metrics(rows, COMPARISONS.clear(), ["auc", "spearman"])
    )
    assert "difficulty" in of_build.columns
    assert of_rated.columns == ["input", "dataset", "statistic", "a"]


@pytest.mark.parametrize("name", ["statistic", "input", "dataset"])
def test_an_embedding_may_be_named_as_a_column(name: str) -> None:
    rows = RESULTS.with_columns(pl.col("embedding").replace("a", name))
    found = best_metrics(rows, COMPARISONS.clear(), ["auc"]).filter(difficulty="easy")
    (table,) = readable_tables(found)
    assert table[f"{name} (embedding)"].item().startswith("0.900 avg_cos")


def test_a_set_may_be_named_as_a_column() -> None:
    of = {"input": "embedding", "dataset": "mean"}
    scores = [result(of, name, "cos", 0.5, statistic="spearman") for name in ("a", "b")]
    rows = pl.DataFrame(scores, schema=output.SET_RESULTS.dtypes).with_columns(n_in_set=20)
    found = best_metrics(rows, COMPARISONS.clear(), ["spearman"]).with_columns(n_in_set=20)
    (table,) = readable_tables(found)
    assert table["embedding (set)"].to_list()[0] == "10 of 20"
    differing = found.with_columns(n_better=1, n_worse=0).drop("value", "n_in_set")
    (table,) = readable_tables(differing)
    assert table["embedding (set)"].to_list() == ["cos +1\N{MINUS SIGN}0"] * 2
