"""Which sections a report has, and what they tell."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.reports import invented_manifest, invented_profile

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.evaluations.detail_sections import errors, retrieval, separation
from medsim.evaluations.output import COMPARISONS, RESULTS
from medsim.evaluations.page import coverage, evaluation_page, words_of
from medsim.evaluations.readable import set_name
from medsim.evaluations.score_sections import leaderboard, result, standing_order
from medsim.pages import charts as marks
from medsim.pages.page import Chart, Page

if TYPE_CHECKING:
    from medsim.evaluations.report_data import EvaluationReportData

NONE = pl.DataFrame(schema=COMPARISONS.dtypes)
NAMES = ("one", "two")
ALL = [
    "Result",
    "Worst errors",
    "Leaderboard",
    "Significance",
    "Accuracy",
    "Distributions",
    "ROC curves",
    "Metrics",
    "Variance between metrics",
    "Fixed metrics",
    "Retrieval",
    "Category separation",
    "Coverage",
    "Inputs and options",
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


def test_sections_without_data_are_left_out(full: EvaluationReportData, page: Page) -> None:
    one = invented_profile(("one",), n_datasets=1)
    few = replace(one, retrieval=one.retrieval.clear(), separation=one.separation.clear())

    assert [section.title for section in page.sections] == ALL
    assert titles(bare(full)) == ["Inputs and options", "Provenance"]
    left_out = {"Retrieval", "Category separation", "Significance"}  # of one embedding
    assert titles(few, ("one",)) == [title for title in ALL if title not in left_out]


def test_filled_points_are_those_that_cannot_be_told_from_the_best() -> None:
    names = ("one", "three", "two")
    profile = invented_profile(names, n_datasets=1)

    [board] = charts(leaderboard(profile, names))

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

    one, both = retrieval(frame, NAMES), retrieval(pl.concat([frame, ivf]), NAMES)

    assert set(charts(one)[0].rows["contender"]) == {"one", "two"}
    names = {f"{name} ({index})" for name in NAMES for index in ("flat", "ivf")}
    assert set(charts(both)[0].rows["contender"]) == names
    assert "98.7%" in charts(both)[0].says
    assert "98.7%" not in charts(one)[0].says


def test_a_cell_of_differences_has_signs_and_a_p_that_is_rounded(page: Page) -> None:
    (section,) = (one for one in page.sections if one.title == "Significance")
    texts = section.parts[0].rows["label"].to_list()

    assert {text[0] for text in texts} == {"+", "\N{MINUS SIGN}"}
    assert all(re.fullmatch(r".\d\.\d{3}\np (= \d\.\d{3}|< 0\.001)", text) for text in texts)


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

    shown = charts(found)[1]
    assert sorted(set(shown.rows["y"])) == [f"category {at:02}" for at in range(10, 30)]
    assert "Of 30 categories, the 20 largest are shown." in shown.says


def test_the_result_is_told_in_sentences_with_its_uncertainty_and_in_a_chart(page: Page) -> None:
    first = page.sections[0]

    on_set, over_sets = first.result
    assert on_set == (
        "On invented: dataset_0, hard, levenshtein negatives (188 pairs) two has an AUC of "
        "0.650 (95% CI 0.630 to 0.670), not significantly different from one."
    )
    assert over_sets == (
        "Most often among the best over 4 sets: two on 4 (mean AUC 0.650) and one on 4 (mean AUC "
        "0.600)."
    )
    [chart] = charts(first)
    assert chart.rows.select("y", "value").rows() == [("two", 0.65), ("one", 0.6)]
    assert "unless independent_pairs is True" in chart.says
    assert page.signature.endswith("coverage any, independent_pairs True, seed 0, resamples 200")


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ((0.4, 0.6), "; this is not significantly different from chance (0.5)."),
        ((0.3, 0.4), "; this is below chance (0.5), as negatives are more similar than positives."),
        ((0.6, 0.7), "0.700)."),
        ((None, None), "0.450 (no confidence interval)."),
    ],
)
def test_the_result_says_how_it_stands_beside_chance(
    full: EvaluationReportData, ends, says
) -> None:
    low, high = (pl.lit(end, pl.Float64) for end in ends)
    value = pl.lit(0.45 if ends[0] is None else sum(ends) / 2)
    results = full.results.filter(embedding="one").with_columns(value=value, low=low, high=high)

    found = result(replace(full, results=results, comparisons=NONE), ["one", "two"])

    assert found.result[0].endswith(says)
    assert found.result[1].startswith("Over 4 sets its AUC ranges from 0.")
    assert found.result[-1] == "2 warnings under “Inputs and options”."


def test_the_result_names_only_the_best_and_says_where_pairs_are_few(full) -> None:
    ahead = full.comparisons.with_columns(p_bonferroni=pl.lit(0.0), p_holm=pl.lit(0.0))
    few = full.results.with_columns(n_covered=pl.lit(4))

    assert result(replace(full, comparisons=ahead), []).result[1] == (
        "Most often among the best over 4 sets: two on 4 (mean AUC 0.650)."
    )
    found = result(replace(full, results=few), []).result[0]
    assert "(4 pairs), too few for a conclusion, two has" in found


def test_worst_errors_are_folded_but_those_of_the_best_embedding(full) -> None:
    first, *others = errors(full, standing_order(full, NAMES)).parts

    named = "Pairs of invented: dataset_0, hard, levenshtein negatives, by two (cos)"
    assert (first.summary, len(first.tables), first.opened) == (named, 2, True)
    assert not any(one.opened for one in others)


def test_coverage_is_a_sentence_and_a_table(full) -> None:
    whole = full.coverage.with_columns(
        n_terms_uncovered=pl.lit(0, pl.Int64), n_pairs_uncovered=pl.lit(0, pl.Int64)
    )

    [folded] = coverage(full.coverage).parts
    assert folded.tables[0].frame.select("% of terms", "% of pairs").unique().rows() == [(5.0, 6.0)]
    assert coverage(whole).prose == "Every embedding covers every term: no pair is left out."


def test_embeddings_stand_in_all_charts_as_in_the_standings(page: Page) -> None:
    for section in page.sections:
        for chart in charts(section):
            if chart.title.startswith(("AUC on invented", "True positives", "Scores by metric")):
                text = json.dumps(chart.spec)
                assert text.index('"two"') < text.index('"one"'), chart.title


def test_no_two_embeddings_look_alike() -> None:
    names = [f"model {at}" for at in range(23)]
    spec = marks.dots(names, x=marks.ValueAxis(title="AUC"), y=["a"])

    channels = spec["layer"][1]["encoding"]
    looks = zip(
        channels["fill"]["scale"]["range"], channels["shape"]["scale"]["range"], strict=True
    )
    assert len(set(looks)) == 23


def test_every_word_on_the_page_that_needs_it_is_explained() -> None:
    sets = {"dataset": "fsn_syn", "difficulty": "hard", "negatives": "levenshtein"}
    row = dict.fromkeys(RESULTS.dtypes) | sets | {"metric": "pair_pearson", "statistic": "auc"}

    found = words_of(pl.DataFrame([row], schema=RESULTS.dtypes))

    assert list(found) == ["fsn_syn", "hard", "levenshtein negatives", "pair_pearson", "AUC"]
    assert found["pair_pearson"].startswith(
        "A metric: mean of Pearson's correlation over all pairs"
    )
