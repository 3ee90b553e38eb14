"""Tables by their numbers in the paper, embeddings at fixed metrics, variances between metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_words
from fixtures.scores import EASY, HARD, result
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.shown import MISSING
from medsim.evaluations import output
from medsim.evaluations.conclusions import metric_spread
from medsim.evaluations.options import PAPER, TABLES, number_of
from medsim.evaluations.readable import readable_tables

METRICS = ["avg_cos", "avg_pearson", "fuzzy_jaccard", "pair_cos", "cos", "kendall"]
FUZZY = ["fuzzy_jaccard", "kendall"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, shared_evaluation: medsim.Evaluation) -> Path:
    """A folder with two word embeddings, one lacking a word, one of terms, and rated pairs."""
    folder = tmp_path_factory.mktemp("paper")
    pairs = medsim.Build(shared_evaluation.folder.parent / "build").pairs()
    terms = sorted({*pairs["term1"], *pairs["term2"]})
    words = sorted({word for term in terms for word in term.split()})
    write_words(folder / "one.vec", words, 0)
    write_words(folder / "two.vec", words[:-1], 1)
    draw = np.random.default_rng(3)
    np.save(folder / "whole.npy", draw.normal(size=(len(terms), 5)).astype(np.float32))
    (folder / "whole.txt").write_text("\n".join(terms) + "\n", encoding="utf-8")
    rated = pairs.unique("pair_id").sort("pair_id").head(60).select("term1", "term2")
    rated.with_columns(rating=pl.int_range(pl.len()) % 7).write_csv(folder / "rated.csv")
    return folder


def run(
    inputs: Path,
    shared: medsim.Evaluation,
    out: str,
    metrics: list[str],
    *,
    independent: bool = False,
) -> medsim.Evaluation:
    return medsim.evaluate(
        [shared.folder.parent / "build", inputs / "rated.csv"],
        {
            "one": inputs / "one.vec",
            "two": inputs / "two.vec",
            "whole": f"{inputs / 'whole.npy'},keys=terms",
        },
        inputs / out,
        metrics=metrics,
        resamples=300,
        independent_pairs=independent,
    )


@pytest.fixture(scope="module")
def several(inputs: Path, shared_evaluation: medsim.Evaluation) -> medsim.Evaluation:
    return run(inputs, shared_evaluation, "several", METRICS)


@pytest.fixture(scope="module")
def alone(inputs: Path, shared_evaluation: medsim.Evaluation) -> medsim.Evaluation:
    """The same, evaluated only under fixed metrics, which are thus the best."""
    return run(inputs, shared_evaluation, "alone", FUZZY)


@pytest.mark.some(2)
@pytest.mark.parametrize("table", ["best", "auc", "accuracy", "spearman"])
def test_fixed_metrics_give_the_same_table_as_an_evaluation_of_only_those(
    several: medsim.Evaluation, alone: medsim.Evaluation, table: str
) -> None:
    fixed = medsim.compare(several, table, metrics=FUZZY)

    of_models = medsim.compare(alone, table).filter(pl.col("embedding") != "baseline")
    assert_frame_equal(fixed, of_models.filter(pl.col("statistic") != "auc_beyond_spelling"))
    assert set(fixed["metric"]) == {*FUZZY}


@pytest.mark.parametrize(
    ("number", "statistic", "negatives", "chosen"),
    [
        ("4", "spearman", None, ["avg_cos", "kendall"]),
        ("5", "accuracy", "levenshtein", FUZZY),
        ("B.1", "spearman", None, None),
        ("C.1", "accuracy", "random", FUZZY),
        ("C.2", "auc", "levenshtein", FUZZY),
        ("C.3", "auc", "random", FUZZY),
        ("Table c.3", "auc", "random", FUZZY),
    ],
)
def test_a_numbered_table_has_the_content_of_the_paper(
    several: medsim.Evaluation,
    number: str,
    statistic: str,
    negatives: str | None,
    chosen: list[str] | None,
) -> None:
    rows = medsim.compare(several, number)

    assert set(rows["statistic"]) == {statistic}
    assert set(rows["negatives"]) == {negatives}
    named = medsim.compare(several, statistic, metrics=chosen)
    named = named.filter(pl.col("embedding") != "baseline")
    if negatives:
        named = named.filter(negatives=negatives)
    assert_frame_equal(rows.drop("n_in_set"), named)


def test_table_4_has_another_metric_for_glove(inputs: Path, tmp_path: Path) -> None:
    (tmp_path / "GloVe.6B.txt").write_bytes((inputs / "one.vec").read_bytes())
    embeddings = {
        "one": inputs / "one.vec",
        "my_Glove": inputs / "two.vec",
        "general": tmp_path / "GloVe.6B.txt",
        "glove_sentences": f"{inputs / 'whole.npy'},keys=terms",
    }
    results = medsim.evaluate(inputs / "rated.csv", embeddings, tmp_path / "out", resamples=300)

    def metrics_in(number: str) -> dict[str, str]:
        return dict(medsim.compare(results, number).select("embedding", "metric").iter_rows())

    of_rated = {"general": "avg_pearson", "my_Glove": "avg_pearson", "one": "avg_cos"}
    assert metrics_in("4") == of_rated | {"glove_sentences": "kendall"}
    cosine = medsim.compare(results, "4", metrics=["avg_cos", "kendall"])
    assert set(cosine["metric"]) == {"avg_cos", "kendall"}


def test_glove_that_lacks_its_metric_of_table_4_is_reported(inputs: Path, tmp_path: Path) -> None:
    embeddings = {"glove": inputs / "one.vec", "two": inputs / "two.vec"}
    results = medsim.evaluate(
        inputs / "rated.csv", embeddings, tmp_path / "out", metrics=["avg_cos"], resamples=300
    )
    with pytest.raises(medsim.MedsimError, match="glove needs one metric of avg_cos, not avg_pear"):
        medsim.compare(results, "4")


@pytest.mark.some(3)
@pytest.mark.parametrize("number", ["5", "C.1", "C.3", "C.4", "C.8", "4", "B.2"])
def test_a_numbered_table_names_its_test(
    several: medsim.Evaluation, inputs: Path, shared_evaluation: medsim.Evaluation, number: str
) -> None:
    tests = {"4": "BCa bootstrap", "B.2": "BCa bootstrap", "C.3": "DeLong's test"}
    test, labelled = tests.get(number, "McNemar's test"), number not in {"4", "B.2"}
    clusters = " by clusters of pairs that share terms"
    end = ", level 0.05, Bonferroni's correction."

    for form in ("table", "md", "latex"):
        done = shown(several, number, form)
        assert f"Significance: {test}{clusters if labelled else ''}{end}" in done
    if labelled:
        independent = run(inputs, shared_evaluation, "independent", METRICS, independent=True)
        says = f"Significance: {test} on pairs as independent{end}"
        assert says in shown(independent, number, "table")
    assert "Significance" not in shown(several, "best", "table")
    assert "Significance" not in shown(several, number, "csv")


def shown(results: medsim.Evaluation, table: str, form: str) -> str:
    """Return what the command prints, in one line."""
    words = ["compare", str(results.folder), "--table", table, "--format", form]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("number", ["B.2", "b.5", "C.4", "C.8"])
def test_numbered_tables_of_metrics_have_the_standings_of_every_metric(
    several: medsim.Evaluation, number: str
) -> None:
    statistic = "spearman" if number.upper().startswith("B") else "accuracy"
    rows = medsim.compare(several, number)

    every = medsim.compare(several, f"all-{statistic}").drop_nulls("value")
    if statistic == "accuracy":
        every = every.filter(negatives="levenshtein")
    assert_frame_equal(rows, every.select(rows.columns))
    (shown,) = readable_tables(rows)
    assert shown["embedding"].to_list() == ["one", "two", "whole"]


def test_every_number_refers_to_an_existing_table() -> None:
    assert {paper_table.table for paper_table in PAPER.values()} - {"rated"} <= set(TABLES)
    assert [number_of(text) for text in ("table 4", "FIGURE B.1", "figure-c.1", "best")] == [
        "4",
        "figure-B.1",
        "figure-C.1",
        None,
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "2"}, "table 2 is printed by medsim stats BUILD"),
        ({"table": "3"}, "printed by medsim study score"),
        ({"table": "C.9"}, "unknown table 'C.9'"),
        ({"table": "coverage", "metrics": ["cos"]}, "`metrics` is for the tables best"),
        ({"table": "B.1", "metrics": ["cos"]}, r"C\.1, C\.2, C\.3, not for B\.1"),
        ({"table": "B.2", "subset": "own"}, "`subset` own has no standings"),
        ({"table": "article", "subset": "own"}, "`subset` own has no standings"),
        ({"metrics": ["avg_coz"]}, "did you mean avg_cos"),
        (
            {"metrics": ["fuzzy_jaccard"]},
            "whole needs one metric of cos, kendall, not fuzzy_jaccard",
        ),
        (
            {"metrics": ["avg_cos", "pair_cos", "cos"]},
            "one needs one metric of avg_cos.* such as one=avg_cos",
        ),
        ({"metrics": ["cos", "one=avg_cos", "one=pair_cos"]}, "two metrics for one embedding"),
        ({"metrics": ["avg_cos", "cos", "tow=avg_cos"]}, "unknown embedding 'tow'; did you mean"),
    ],
)
def test_invalid_tables_and_metrics_are_refused(
    several: medsim.Evaluation, options: dict, message: str
) -> None:
    with pytest.raises(medsim.MedsimError, match=message):
        medsim.compare(several, **options)


def test_one_embedding_can_have_its_own_metric(several: medsim.Evaluation) -> None:
    rows = medsim.compare(several, "4", metrics=["fuzzy_jaccard", "cos", "two=avg_cos"])
    assert rows.select("embedding", "metric").unique().sort("embedding").rows() == [
        ("one", "fuzzy_jaccard"),
        ("two", "avg_cos"),
        ("whole", "cos"),
    ]


def test_the_variance_is_over_the_metrics_of_an_embedding_on_each_set() -> None:
    values = {"one": [[0.1, 0.5, 0.9], [0.4, 0.4, 0.4], [0.2, 0.3, 0.7]], "two": [[0.1], [0.2]]}
    rows = [
        result(EASY | {"dataset": f"set {at}"}, name, metric, value)
        for name, sets in values.items()
        for at, set_values in enumerate(sets)
        for metric, value in zip(("avg_cos", "pair_cos", "max_jaccard"), set_values, strict=False)
    ]
    rows.append(result(HARD, "one", "avg_cos", None))

    spreads = metric_spread(pl.DataFrame(rows, schema=output.SET_RESULTS.dtypes), ["auc"])

    variances = [float(np.var(set_values)) for set_values in values["one"]]
    assert spreads.select("statistic", "embedding", "n_sets").rows() == [("auc", "one", 3)]
    spread = spreads.select("least", "median", "greatest").row(0)
    assert spread == pytest.approx((0.0, np.median(variances), max(variances)))


def test_figures_use_the_sets_of_the_paper(several: medsim.Evaluation) -> None:
    rated, labelled = (medsim.compare(several, f"figure {name}") for name in ("B.1", "C.1"))
    assert set(rated["statistic"]) == {"spearman"}
    assert set(rated["n_sets"]) == {1}
    every = medsim.compare(several, "all-accuracy").drop_nulls("value").filter(embedding="one")
    assert (
        labelled.filter(embedding="one")["n_sets"].item()
        == every.select("dataset", "difficulty", "negatives").unique().height
    )


def test_a_numbered_table_has_a_row_per_embedding_and_a_column_per_set() -> None:
    rows = pl.DataFrame(
        [
            EASY
            | {"statistic": "auc", "embedding": name, "metric": "avg_cos", "value": value}
            | {"low": 0.0, "high": 1.0, "n_pairs": 1200, "n_in_set": 2000}
            | {"n_better": int(name == "b"), "n_worse": 0, "among_best": name == "b"}
            for name, value in (("b", 0.75), ("a", 0.5))
        ]
    )
    rows = pl.concat([rows, rows.with_columns(difficulty=pl.lit("hard"))])

    (table,) = readable_tables(rows)

    better = "0.750 +1\N{MINUS SIGN}0 *"
    assert table.rows() == [
        ("(pairs)", None, "1,200 of 2,000", "1,200 of 2,000"),
        ("a", "avg_cos", "0.500 +0\N{MINUS SIGN}0", "0.500 +0\N{MINUS SIGN}0"),
        ("b", "avg_cos", better, better),
    ]
    assert table.columns == ["embedding", "metric", "fsn_syn easy", "fsn_syn hard"]


def test_a_cell_of_standings_names_the_metrics_that_differ() -> None:
    rows = pl.DataFrame(
        [
            EASY
            | {"statistic": "auc", "embedding": name, "metric": metric}
            | {"n_better": better, "n_worse": worse}
            for name, metric, better, worse in (
                ("a", "avg_cos", 2, 0),
                ("a", "pair_cos", 0, 1),
                ("a", "max_jaccard", 0, 0),
                ("b", "cos", 0, 0),
            )
        ]
    )
    (table,) = readable_tables(rows)
    says = "avg_cos +2\N{MINUS SIGN}0, pair_cos +0\N{MINUS SIGN}1"
    assert table.rows() == [("a", says), ("b", MISSING)]
