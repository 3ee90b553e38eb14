"""Which sections a report has, and what they tell."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.reports import invented_manifest, invented_profile

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.evaluations.output import COMPARISON_COLUMNS
from medsim.evaluations.page.evaluation_page import evaluation_page
from medsim.evaluations.page.retrieval_section import retrieval
from medsim.evaluations.page.separation_section import separation
from medsim.evaluations.page.standing_sections import leaderboard
from medsim.evaluations.tables.labels import set_name
from medsim.pages.page import Chart, Page

if TYPE_CHECKING:
    from medsim.evaluations.report_data import EvaluationReportData

NONE = pl.DataFrame(schema=COMPARISON_COLUMNS)
NAMES = ("one", "two")
ALL = [
    "What was evaluated",
    "Leaderboard",
    "Accuracy",
    "Distributions",
    "ROC curves",
    "Fixed metrics",
    "Metrics",
    "Variance between metrics",
    "Significance",
    "Coverage",
    "Category separation",
    "Retrieval",
    "Worst errors",
    "Provenance",
]


@pytest.fixture(scope="module")
def full() -> EvaluationReportData:
    return invented_profile(NAMES, n_datasets=1)


@pytest.fixture(scope="module")
def page(full: EvaluationReportData) -> Page:
    return evaluation_page(invented_manifest(NAMES, redistributable=True), full)


def bare(full: EvaluationReportData) -> EvaluationReportData:
    """Return tables without rows."""
    return replace(full, **{one.name: getattr(full, one.name).clear() for one in fields(full)})


def titles(profile: EvaluationReportData, names=NAMES) -> list[str]:
    manifest = invented_manifest(names, redistributable=True)
    return [section.title for section in evaluation_page(manifest, profile).sections]


def charts(section) -> list[Chart]:
    return [part for part in section.parts if isinstance(part, Chart)]


def test_an_evaluation_with_everything_has_every_section(page: Page) -> None:
    assert [section.title for section in page.sections] == ALL


def test_sections_without_data_are_left_out(full: EvaluationReportData) -> None:
    one = invented_profile(("one",), n_datasets=1)
    few = replace(one, retrieval=one.retrieval.clear(), separation=one.separation.clear())

    assert titles(bare(full)) == ["What was evaluated", "Provenance"]
    left_out = {"Retrieval", "Category separation", "Significance"}  # of one embedding
    assert titles(few, ("one",)) == [title for title in ALL if title not in left_out]


@pytest.mark.parametrize("redistributable", [False, True, None])
def test_a_page_of_a_licensed_terminology_says_that_it_must_not_be_passed_on(
    full: EvaluationReportData, redistributable
) -> None:
    manifest = invented_manifest(NAMES, redistributable=redistributable)

    notice = evaluation_page(manifest, bare(full)).notice

    assert ("must not be passed on" in (notice or "")) == (redistributable is False)


def test_filled_points_are_those_that_cannot_be_told_from_the_best() -> None:
    names = ("one", "three", "two")
    profile = invented_profile(names, n_datasets=1)
    section = leaderboard(profile.results, profile.comparisons, names)

    assert section is not None
    [board] = charts(section)

    # "one" differs from "two" alone, and "three" from "two" as well: the second and third tests.
    filled = dict(board.rows.unique(["contender", "filled"]).select("contender", "filled").rows())
    assert filled == {"one": False, "three": False, "two": True}


def test_rated_pairs_are_named_by_their_file_and_where_there_are_several_by_their_rater() -> None:
    columns = ("input", "dataset", "difficulty", "negatives")
    rows = [
        ("rated", "mean", None, None),
        ("other", "coders", None, None),
        ("other", "physicians", None, None),
        ("hpo", "syn_syn", "hard", "random"),
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")

    assert set_name(frame).to_list() == ["rated", "other: coders", "other: physicians", "syn_syn"]
    assert set_name(frame, with_kind=True)[3] == "hpo: syn_syn, hard, random negatives"


def test_every_chart_draws_the_columns_that_it_names(page: Page) -> None:
    for section in page.sections:
        for chart in charts(section):
            assert drawn(chart.spec) - {"x"} <= set(chart.rows.columns) | {"mean"}, chart.title


def drawn(spec) -> set[str]:
    """Return the fields that a specification names anywhere."""
    if isinstance(spec, dict):
        own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
        return own.union(*map(drawn, spec.values()))
    return set().union(*map(drawn, spec)) if isinstance(spec, list) else set()


def test_retrieval_names_the_index_where_there_are_two(full: EvaluationReportData) -> None:
    frame = full.retrieval
    ivf = frame.with_columns(pl.lit("ivf").alias("index"), pl.lit(0.987).alias("recall"))

    one, both = retrieval(frame, NONE), retrieval(pl.concat([frame, ivf]), NONE)

    assert one is not None
    assert both is not None
    assert set(charts(one)[0].rows["contender"]) == {"one", "two"}
    names = {f"{name} ({index})" for name in NAMES for index in ("flat", "ivf")}
    assert set(charts(both)[0].rows["contender"]) == names
    assert "98.7%" in charts(both)[0].says
    assert "98.7%" not in charts(one)[0].says


def test_differences_in_retrieval_come_with_their_intervals(full: EvaluationReportData) -> None:
    frame = full.retrieval
    row = dict.fromkeys(COMPARISON_COLUMNS) | {
        "input": frame["input"][0],
        "dataset": "retrieval",
        "of": "mrr",
        "embedding1": "one",
        "embedding2": "two",
        "difference": 0.25,
        "low": 0.2,
        "high": 0.3,
        "p_bonferroni": 0.0004,
        "n_pairs": 70,
    }
    compared = pl.DataFrame([row], schema=COMPARISON_COLUMNS)

    found = retrieval(frame, pl.concat([compared, compared.with_columns(dataset=pl.lit("x"))]))

    assert found is not None
    assert found.parts[-1].frame.rows() == [
        ("mean reciprocal rank", "one \N{MINUS SIGN} two", 0.25, 0.2, 0.3, "< 0.001", 70)
    ]


def test_a_cell_of_differences_has_signs_and_a_p_that_is_rounded(page: Page) -> None:
    (section,) = (one for one in page.sections if one.title == "Significance")
    texts = section.parts[0].rows["label"].to_list()

    assert {text[0] for text in texts} == {"+", "\N{MINUS SIGN}"}
    assert all(re.fullmatch(r".\d\.\d{3}\np (= \d\.\d{3}|< 0\.001)", text) for text in texts)


def test_lengths_of_terms_stand_in_order_of_length(full: EvaluationReportData) -> None:
    found = retrieval(full.retrieval, NONE)

    assert found is not None
    spec = charts(found)[1].spec
    assert '"1 word", "2 words", "3 words", "4 words", "5+ words"' in str(spec).replace("'", '"')


def test_a_heat_map_shows_the_largest_categories() -> None:
    frame = invented_profile(("one",), n_datasets=1).separation
    template = frame.drop_nulls("category1").head(1)
    rows = [
        template.with_columns(
            *(pl.lit(f"category {at:02}").alias(column) for column in ("category1", "category2")),
            n_terms1=pl.lit(at, pl.Int64),
        )
        for at in range(30)
    ]
    overall = frame.filter(pl.col("category1").is_null())

    found = separation(pl.concat([overall, *rows]), ["one"])

    assert found is not None
    shown = charts(found)[1]
    assert sorted(set(shown.rows["y"])) == [f"category {at:02}" for at in range(10, 30)]
    assert "The 10 smallest categories are in" in shown.says
    found = separation(pl.concat([overall, *rows[:21]]), ["one"])
    assert found is not None
    assert "The smallest category is in" in charts(found)[1].says
