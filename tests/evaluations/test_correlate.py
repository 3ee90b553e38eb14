"""Correlations of intrinsic scores with extrinsic ones, from files and evaluations."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_words
from polars.testing import assert_frame_equal
from scipy import stats
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.evaluations.correlate import CORRELATION_COLUMNS
from medsim.evaluations.readable import readable_correlations

MODELS = [f"m{number}" for number in range(8)]


def scores(seed: int, *names: str, models: list[str] = MODELS) -> pl.DataFrame:
    """Return invented scores that rise with the number of the model, with noise."""
    rng = np.random.default_rng(seed)
    good = np.arange(len(models))
    return pl.DataFrame(
        {"model": models} | {name: good + rng.normal(size=len(models)) * 2 for name in names}
    )


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_correlations_match_scipy_and_corrections_match_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    sets, tasks = scores(1, "simlex", "mayo"), scores(2, "ner", "relations", "pico")

    rows = medsim.correlate(sets, tasks.reverse())

    assert rows.schema == pl.Schema(CORRELATION_COLUMNS)
    assert rows.select("set", "task").rows() == [
        (a, b) for a in ("simlex", "mayo") for b in ("ner", "relations", "pico")
    ]
    for row in rows.iter_rows(named=True):
        expected = stats.pearsonr(sets[row["set"]], tasks[row["task"]])
        low, high = expected.confidence_interval(0.95)
        assert row["r"] == pytest.approx(expected.statistic)
        assert row["p"] == pytest.approx(expected.pvalue)
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["t"] == pytest.approx(row["r"] * math.sqrt(6 / (1 - row["r"] ** 2)))
        assert (row["n_models"], row["statistic"]) == (8, None)
    assert rows["p_holm"].to_list() == pytest.approx(
        multipletests(rows["p"].to_numpy(), method="holm")[1]
    )


def test_models_are_in_the_column_named_model_or_the_first_text_column(tmp_path: Path) -> None:
    named = write(tmp_path, "1.csv", "note,ner,Model\nx,1,300\ny,2,100\nz,4,200\n")
    first = write(tmp_path, "2.csv", "size,name,ner\n9,a,1\n8,b,2\n9,c,4\n")
    progress = Progress()

    by_name = medsim.correlate(
        named, pl.DataFrame({"model": ["100", "200", "300"], "t": [1, 2, 4]}), progress=progress
    )
    by_text = medsim.correlate(first, pl.DataFrame({"model": list("abc"), "t": [1, 2, 4]}))

    assert by_name["set"].to_list() == ["ner"]
    assert any("column 'note' has no number" in line for line in progress.warnings)
    assert by_text["set"].to_list() == ["size", "ner"]
    assert by_text["r"][1] == pytest.approx(1)


def test_models_with_scores_on_one_side_only_are_left_out_with_a_warning() -> None:
    progress = Progress()
    sets, tasks = scores(1, "simlex"), scores(2, "ner", models=[*MODELS[2:], "other"])

    rows = medsim.correlate(sets, tasks, progress=progress)

    assert rows["n_models"].to_list() == [6]
    assert "only intrinsic scores, so left out: m0 and m1" in progress.warnings
    assert "only extrinsic scores, so left out: other" in progress.warnings


def test_missing_scores_are_left_out_of_their_correlations() -> None:
    progress = Progress()
    sets = scores(1, "simlex").with_columns(hole=pl.Series([1.0, None, 3, 4, 5, math.nan, 1, 2]))
    tasks = scores(2, "ner")

    rows = medsim.correlate(sets, tasks, progress=progress)

    assert rows["n_models"].to_list() == [8, 6]
    complete = [0, 2, 3, 4, 6, 7]
    expected = stats.pearsonr(sets["hole"].gather(complete), tasks["ner"].gather(complete))
    assert rows["r"][1] == pytest.approx(expected.statistic)
    assert "hole: left out 2 of 8 models without a score: m1 and m5" in progress.warnings


def test_undefined_correlations_give_the_reason() -> None:
    sets = scores(1, "simlex").with_columns(flat=pl.lit(0.5), few=pl.Series([1, 2] + [None] * 6))

    rows = medsim.correlate(sets, scores(2, "ner"))

    assert rows["verdict"].to_list()[1:] == [
        "undefined: all models have the same score on one side",
        "undefined: 2 models have both scores; 3 are needed",
    ]
    assert rows["r"].null_count() == rows["p_holm"].null_count() == 2
    assert rows["p_holm"][0] == rows["p"][0]


def test_too_few_models_are_reported() -> None:
    progress = Progress()
    sets = pl.DataFrame({"model": list("abcdef"), "s": [1, 2, 3, 4, 5, 6]})
    tasks = pl.DataFrame(
        {"model": list("abcdef"), "t": [2, 6, 1, 5, 3, 4], "u": [1, 2, 3, 4, 5, 7]}
    )

    rows = medsim.correlate(sets, tasks, progress=progress)

    warning = "too few models: only |r| ≥ 0.92 is detectable at 80% power"
    assert rows["verdict"].to_list() == [f"not significant; {warning}", "significant"]
    assert progress.warnings == [warning]
    three = medsim.correlate(sets.head(3), tasks.head(3))
    assert (
        three["verdict"][0]
        == "not significant; too few models: 3 models cannot show any correlation"
    )


def test_many_models_without_correlation_are_not_too_few() -> None:
    progress, draw = Progress(), np.random.default_rng(5)
    models = [f"m{number}" for number in range(40)]
    sides = (pl.DataFrame({"model": models, name: draw.normal(size=40)}) for name in "st")

    rows = medsim.correlate(*sides, progress=progress)

    assert rows["verdict"].to_list() == ["not significant; |r| ≥ 0.43 is detectable at 80% power"]
    assert not progress.warnings


def test_significance_lost_by_the_correction_is_reported() -> None:
    rows = medsim.correlate(scores(1, *"abcdef"), scores(9, *"uvwxyz"))

    between = rows.filter(pl.col("p") < 0.05, pl.col("p_holm") >= 0.05)
    assert between.height > 0
    for verdict in between["verdict"]:
        assert verdict.startswith("not significant after correction for 36 tests; too few models")
    uncorrected = medsim.correlate(scores(1, *"abcdef"), scores(9, *"uvwxyz"), correction="none")
    assert uncorrected.drop("verdict").equals(rows.drop("verdict"))
    is_significant = uncorrected["verdict"] == "significant"
    assert is_significant.to_list() == (rows["p"] < 0.05).to_list()


def test_a_readable_table_has_a_row_per_set_and_a_column_per_task() -> None:
    rows = pl.DataFrame(
        [
            ("one", None, "ner", 0.912, 0.1, 0.99, 5.0, 0.0002, 0.0004, 8, 0.85, ""),
            ("one", None, "set", -0.5, -0.9, 0.3, -1.0, 0.05, 0.05, 7, 0.89, ""),
            ("two", None, "ner", 0.8, 0.1, 0.9, 3.0, 0.01, 0.03, 8, 0.85, ""),
            ("two", None, "set", None, None, None, None, None, None, 8, 0.85, ""),
        ],
        schema=CORRELATION_COLUMNS,
        orient="row",
    )

    table = readable_correlations(rows)

    assert table.columns == ["set", "ner", "set (task)", "models", "detectable r"]
    assert table.rows() == [
        ("one", "0.912***", "\N{MINUS SIGN}0.500", "7 to 8", "0.89"),
        ("two", "0.800*", "–", "8", "0.85"),  # noqa: RUF001 — an en dash
    ]
    assert readable_correlations(rows, "p")["ner"].to_list() == ["0.912***", "0.800*"]
    assert readable_correlations(rows.with_columns(p=0.004), "p")["ner"][1] == "0.800**"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,ner\na,1\nb,good\nc,2\n", "line 3: ner 'good' is not a number such as 0.85"),
        ("model,ner\na,1\na,2\nb,3\n", "line 3: model 'a' is there twice; each model must"),
        ("model,ner\na,1\n,2\nb,3\n", "line 3: model '' names no model"),
        ("size,ner\n1,1\n2,2\n", "has no column of models; name it 'model'"),
        ("model,note\na,x\nb,y\n", "has no column of numbers beside 'model'"),
        ("model,ner\n", "0 models have both"),
        (
            "model,ner\nx,1\ny,2\nm1,2\n",
            "1 model has both .*use the same names; .* extrinsic: x and y",
        ),
    ],
)
def test_invalid_tables_are_refused_with_line_and_value(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, "tasks.csv", text)

    with pytest.raises(InputError, match=message):
        medsim.correlate(scores(1, "simlex"), path)


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> medsim.Evaluation:
    """The evaluation of four word embeddings on a rated file, which has parts."""
    folder = tmp_path_factory.mktemp("correlate")
    words = [f"{first}{second}" for first in "abcdef" for second in "xyz"]
    domains = ("biomedical", "general")
    lines = [f"{words[i]},{words[i * 7 % 18]},{i * 5 % 9},{domains[i % 2]}" for i in range(1, 18)]
    rated = write(folder, "rated.csv", "term1,term2,rating,domain\n" + "\n".join(lines) + "\n")
    for name in "pqrs":
        write_words(folder / f"{name}.vec", words, ord(name))
    paths = {name: folder / f"{name}.vec" for name in "pqrs"}
    return medsim.evaluate(
        [rated], paths, folder / "out", resamples=200, metrics=["avg_cos", "max_jaccard"]
    )


TASKS = pl.DataFrame({"model": list("pqrs"), "ner": [0.3, 0.1, 0.9, 0.4]})
CHOSEN = {"metric": "avg_cos", "statistic": "kendall", "subset": "own"}


@pytest.mark.parametrize("options", [{}, CHOSEN], ids=["by default", "as chosen"])
def test_embeddings_of_an_evaluation_are_at_their_best_or_the_chosen_metric(
    evaluation, options
) -> None:
    rows = medsim.correlate(evaluation, TASKS, **options)

    whole = evaluation.results().filter(dataset="rating")
    assert whole.height < evaluation.results().height  # the others are of parts
    best = whole.filter(**(options or {"statistic": "spearman", "subset": "common"}))
    values = dict(best.group_by("embedding").agg(pl.col("value").max()).iter_rows())
    expected = stats.pearsonr([values[name] for name in "pqrs"], TASKS["ner"])
    statistic = options.get("statistic", "spearman")
    assert rows.select("set", "statistic", "task").rows() == [("rated/rating", statistic, "ner")]
    assert rows["r"][0] == pytest.approx(expected.statistic)
    assert rows["p"][0] == pytest.approx(expected.pvalue)
    assert_frame_equal(medsim.correlate(evaluation.folder, TASKS, **options), rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "avg-cos"}, "did you mean avg_cos"),
        ({"statistic": "spearmann"}, "did you mean spearman"),
        ({"statistic": "threshold"}, "unknown statistic 'threshold'"),
        ({"statistic": "auc"}, "has no auc under a metric"),
        ({"subset": "all"}, "unknown subset 'all'"),
        ({"intrinsic": TASKS, "metric": "cos"}, "`metric` applies to the folder of an evaluation"),
    ],
)
def test_unknown_names_are_refused_with_suggestions(evaluation, options, message: str) -> None:
    with pytest.raises(medsim.MedsimError, match=message):
        medsim.correlate(**{"intrinsic": evaluation, "extrinsic": TASKS, **options})


def test_the_command_prints_a_readable_table_or_json(evaluation, tmp_path: Path) -> None:
    TASKS.write_csv(tmp_path / "tasks.csv")
    arguments = ["correlate", str(evaluation.folder), str(tmp_path / "tasks.csv"), "--format"]

    table, rows = (CliRunner().invoke(app, [*arguments, form]) for form in ("md", "json"))

    assert table.exit_code == rows.exit_code == 0, table.output
    assert table.stdout.startswith("| set | statistic | ner | models | detectable r |")
    assert "warning: too few models" in table.stderr
    [row] = json.loads(rows.stdout)
    assert list(row) == list(CORRELATION_COLUMNS)
    assert row["n_models"] == 4
    for correction, after in (("holm", " after Holm's correction"), ("none", "")):
        signs = CliRunner().invoke(app, [*arguments, "md", "--correction", correction]).stderr
        assert f"*, **, ***: p below 0.05, 0.01, 0.001{after}; detectable" in signs
    TASKS.with_columns(ner=pl.lit(0.5)).write_csv(tmp_path / "tasks.csv")
    flat = CliRunner().invoke(app, [*arguments, "md"])
    assert "| \N{EN DASH} |" in flat.stdout
    assert "\N{EN DASH}: all models have the same score on one side\n" in flat.stderr
