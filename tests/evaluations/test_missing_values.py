"""Tables show a dash for a missing score, and the reason."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.shown import MISSING
from medsim.evaluations.conclusions import best_metrics, embedding_standings, with_standing
from medsim.evaluations.output import SET_COMPARISONS
from medsim.evaluations.page import score_boards
from medsim.evaluations.readable import readable_tables, why_missing_in, why_scores_missing
from medsim.evaluations.statistic import tabulated_names

WORDS = {"fen": [0.8, 0.3], "ridge": [0.1, 0.9], "cliff": [0.3, 0.7], "hill": [0.2, 0.8]}
FLAT = {word: [1.0, 2.0] for word in WORDS}
FILES = {
    "constant": ["fen,ridge,3", "fen,cliff,3", "hill,ridge,3"],
    "single": ["fen,ridge,2"],
    "unknown": ["brook,ridge,2", "brook,cliff,3"],
    "usual": ["fen,ridge,1", "fen,cliff,2", "hill,ridge,3"],
}


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> medsim.Evaluation:
    folder = tmp_path_factory.mktemp("missing")
    for name, lines in FILES.items():
        text = "\n".join(["term1,term2,rating", *lines, ""])
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    inputs = [folder / f"{name}.csv" for name in FILES]
    embeddings = {"own": WORDS, "flat": FLAT}
    return medsim.evaluate(inputs, embeddings, folder / "out", resamples=100)


WHY = (
    "all ratings, or all similarities, are equal (constant rating and usual rating); a single pair "
    "has no correlation (single rating); no pair is covered (unknown rating)"
)


def test_a_missing_value_is_a_dash_with_its_reason(evaluation: medsim.Evaluation) -> None:
    rows = medsim.compare(evaluation)

    (table,) = readable_tables(rows)
    cells = {row["input"]: (row["own"], row["flat"]) for row in table.iter_rows(named=True)}
    for name in ("constant", "single", "unknown"):
        assert cells[name] == (MISSING, MISSING)
    words, flat = cells["usual"]
    assert words.startswith("1.000 ")  # cosines 0.45, 0.69, 0.99
    assert flat == MISSING
    assert why_scores_missing(rows) == why_missing_in(rows, [table]) == WHY
    assert rows.filter(pl.col("value").is_null())["among_best"].drop_nulls().is_empty()


def test_the_command_prints_reasons_only_in_readable_formats(evaluation: medsim.Evaluation) -> None:
    def printed(*options: str) -> str:
        return CliRunner().invoke(app, ["compare", str(evaluation.folder), *options]).stderr

    assert f"{MISSING}: {WHY}\n" in printed()
    assert printed("--format", "json") == printed("--format", "csv") == ""
    assert f"{MISSING}: no mean where no set has a value\n" in printed("--table", "standings")
    assert f"{MISSING}: no metric differs" in printed("--table", "standings-spearman")


def test_constant_ratings_give_a_warning(evaluation: medsim.Evaluation) -> None:
    warning = "constant.csv: every rating is 3, so its correlations are undefined"

    assert warning in evaluation.manifest.warnings
    assert any("no pair of unknown" in line for line in evaluation.manifest.warnings)
    assert sum("correlations are undefined" in line for line in evaluation.manifest.warnings) == 1


def test_an_embedding_without_a_value_stays_in_the_standings(evaluation: medsim.Evaluation) -> None:
    rows = medsim.compare(evaluation, "standings")

    assert rows.select("embedding", "n_sets", "mean").rows() == [("own", 1, 1.0), ("flat", 0, None)]
    assert readable_tables(rows)[0]["mean"].to_list() == ["1.00", MISSING]


def test_the_leaderboard_of_a_report_says_what_is_missing(evaluation: medsim.Evaluation) -> None:
    every, untested = evaluation.results(), pl.DataFrame(schema=SET_COMPARISONS.dtypes)
    section, nothing = (
        score_boards(
            with_standing(
                best_metrics(results, untested, tabulated_names(best=True), baseline=True)
            ),
            ["own", "flat"],
        )
        for results in (every, every.filter(input="constant"))
    )

    assert section.prose.endswith(f" Some scores are missing: {WHY}.")
    assert list(nothing.parts) == []
    assert "all ratings, or all similarities, are equal (constant rating)" in nothing.prose


LABELLED = {"input": "b", "dataset": "syn_syn", "difficulty": "easy", "negatives": "random"}


def labelled(name: str, value: float | None, n_pairs: int, **more: Any) -> dict[str, Any]:
    return {
        **LABELLED,
        "statistic": "auc",
        "embedding": name,
        "metric": "cos",
        "value": value,
        "low": value,
        "high": value,
        "n_pairs": n_pairs,
        **more,
    }


def test_labelled_pairs_of_one_label_have_no_auc() -> None:
    rows = pl.DataFrame([labelled("one", None, 3), labelled("one", None, 0, difficulty="hard")])

    assert why_scores_missing(rows) == (
        "only positives or only negatives are covered (b syn_syn easy random); no pair is covered "
        "(b syn_syn hard random)"
    )
    assert why_scores_missing(pl.DataFrame([labelled("one", 0.5, 3)])) == ""


def test_one_of_many_embeddings_without_a_value_keeps_its_row() -> None:
    names = ("a", "b", "c", "d")
    values = (0.5, 0.75, None, 0.25)
    rows = [labelled(name, value, 40) for name, value in zip(names, values, strict=True)]

    (table,) = readable_tables(pl.DataFrame(rows))

    assert table.select("embedding", "metric", "value").rows() == [
        ("b", "cos", "0.750"),
        ("a", "cos", "0.500"),
        ("d", "cos", "0.250"),
        ("c", None, MISSING),
    ]


def test_a_value_on_a_part_without_an_interval_is_shown() -> None:
    row = labelled("one", 0.5, 3, input="r", dataset="rating/count=1-9", statistic="spearman")
    row |= {"difficulty": None, "negatives": None, "low": None, "high": None}
    kinds = dict.fromkeys(("difficulty", "negatives"), pl.String)
    kinds |= dict.fromkeys(("low", "high"), pl.Float64)

    (table,) = readable_tables(pl.DataFrame([row], schema_overrides=kinds))

    assert re.fullmatch(r"0\.500 cos \(3\)", table["one"][0])


def test_standings_count_only_sets_with_a_value() -> None:
    results = pl.DataFrame([labelled("a", 0.5, 40), labelled("b", None, 40)]).rename(
        {"n_pairs": "n_covered"}
    )
    results = results.with_columns(subset=pl.lit("common"))
    best = best_metrics(results, pl.DataFrame(schema=SET_COMPARISONS.dtypes), ("auc",))

    standings = embedding_standings(best)

    counts = standings.select("embedding", "n_sets", "n_among_best")
    assert counts.rows() == [("a", 1, 1), ("b", 0, 0)]
