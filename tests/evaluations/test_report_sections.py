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
from medsim.pages.page import Chart, Folded, Page

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

    one, both = retrieval(frame, NONE, NAMES), retrieval(pl.concat([frame, ivf]), NONE, NAMES)

    assert set(charts(one)[0].rows["contender"]) == {"one", "two"}
    names = {f"{name} ({index})" for name in NAMES for index in ("flat", "ivf")}
    assert set(charts(both)[0].rows["contender"]) == names
    assert "98.7%" in charts(both)[0].says
    assert "98.7%" not in charts(one)[0].says


def test_differences_in_retrieval_come_with_their_intervals(full: EvaluationReportData) -> None:
    frame = full.retrieval
    row = dict.fromkeys(COMPARISONS.dtypes) | {
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
    compared = pl.DataFrame([row], schema=COMPARISONS.dtypes)

    found = retrieval(
        frame, pl.concat([compared, compared.with_columns(dataset=pl.lit("x"))]), NAMES
    )

    assert found.parts[-1].frame.rows() == [
        ("mean reciprocal rank", "one \N{MINUS SIGN} two", 0.25, 0.2, 0.3, "< 0.001", 70)
    ]


def test_a_cell_of_differences_has_signs_and_a_p_that_is_rounded(page: Page) -> None:
    (section,) = (one for one in page.sections if one.title == "Significance")
    texts = section.parts[0].rows["label"].to_list()

    assert {text[0] for text in texts} == {"+", "\N{MINUS SIGN}"}
    assert all(re.fullmatch(r".\d\.\d{3}\np (= \d\.\d{3}|< 0\.001)", text) for text in texts)


def test_lengths_of_terms_stand_in_order_of_length(full: EvaluationReportData) -> None:
    found = retrieval(full.retrieval, NONE, NAMES)

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

    shown = charts(found)[1]
    assert sorted(set(shown.rows["y"])) == [f"category {at:02}" for at in range(10, 30)]
    assert "The 10 smallest categories are in" in shown.says
    found = separation(pl.concat([overall, *rows[:21]]), ["one"])
    assert "The smallest category is in" in charts(found)[1].says


def test_the_result_is_told_in_sentences_with_its_uncertainty_and_in_a_chart(page: Page) -> None:
    first = page.sections[0]

    on_set, over_sets = first.result
    assert on_set == (
        "On invented: dataset_0, hard, levenshtein negatives (188 pairs) two has an AUC of "
        "0.650 (95% interval 0.630 to 0.670), and cannot be told from one."
    )
    assert over_sets == (
        "Of 4 sets, these are most often among the best: two on 4 (mean AUC 0.650) and one on "
        "4 (mean AUC 0.600)."
    )
    [chart] = charts(first)
    assert chart.rows.select("y", "value").rows() == [("two", 0.65), ("one", 0.6)]


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ((0.4, 0.6), "; it cannot be told from chance, 0.5."),
        ((0.3, 0.4), "; that is below chance, 0.5: negatives look more alike than positives."),
        ((0.6, 0.7), "0.700)."),
        ((None, None), "0.450 (without an interval)."),
    ],
)
def test_the_result_says_how_it_stands_beside_chance(
    full: EvaluationReportData, ends, says
) -> None:
    low, high = (pl.lit(end, pl.Float64) for end in ends)
    value = pl.lit(0.45 if ends[0] is None else sum(ends) / 2)
    results = full.results.filter(embedding="one").with_columns(value=value, low=low, high=high)

    found = result(results, NONE, ["one", "two"])

    assert found.result[0].endswith(says)
    assert found.result[-1] == "2 warnings under “Inputs and options”."


def test_what_is_never_among_the_best_is_not_named_there(full: EvaluationReportData) -> None:
    ahead = full.comparisons.with_columns(p_bonferroni=pl.lit(0.0), p_holm=pl.lit(0.0))

    found = result(full.results, ahead, ["two", "one"])

    told = "Of 4 sets, this is most often among the best: two on 4 (mean AUC 0.650)."
    assert told in found.result


def test_a_page_says_whether_its_intervals_count_pairs_as_independent(page: Page) -> None:
    assert "unless independent_pairs is True" in charts(page.sections[0])[0].says
    assert page.signature.endswith("coverage any, independent_pairs True, seed 0, resamples 200")


@pytest.mark.parametrize(("n", "n_tables"), [(2, 4), (6, 12)])
def test_worst_errors_of_few_embeddings_stand_together(n: int, n_tables: int) -> None:
    first = worst_errors_of(n)[0]

    assert (len(first.tables), first.opened) == (n_tables, True)


def test_worst_errors_of_many_embeddings_are_those_of_the_first_and_folded_others() -> None:
    first, others = worst_errors_of(12)[:2]

    assert (len(first.tables), first.opened) == (10, True)
    assert (len(others.tables), others.opened) == (14, False)
    assert others.summary == f"{first.summary}: 7 further embeddings"
    assert "model 7 " in first.tables[-1].caption  # model 11 stands best
    assert "model 6 " in others.tables[0].caption


def worst_errors_of(n: int) -> list[Folded]:
    names = [f"model {at}" for at in range(n)]
    profile = invented_profile(names, n_datasets=1)
    order = standing_order(profile.results, profile.comparisons, names)
    return errors(profile.errors, profile.retrieved, order).parts


def test_a_result_of_few_pairs_says_so(full: EvaluationReportData) -> None:
    found = result(full.results.with_columns(n_covered=pl.lit(4)), full.comparisons, [])

    assert "(4 pairs), too few to conclude from, two has" in found.result[0]


def test_what_metrics_change_is_computed_and_not_claimed(page: Page) -> None:
    [section] = [one for one in page.sections if one.title == "Metrics"]

    assert section.prose.endswith(
        "At the median over sets, AUC differs by 0.010 between the best and the worst metric of an "
        "embedding and by 0.050 between the best and the worst embedding, at their best metrics."
    )


def test_full_coverage_is_a_sentence(full: EvaluationReportData) -> None:
    covered = full.coverage.with_columns(
        n_terms_uncovered=pl.lit(0, pl.Int64), n_pairs_uncovered=pl.lit(0, pl.Int64)
    )

    found = coverage(covered, NAMES)

    assert found.prose == "Every embedding covers every term: no pair is left out."
    assert not charts(found)


def test_embeddings_stand_in_all_charts_as_in_the_standings(page: Page) -> None:
    for section in page.sections:
        for chart in charts(section):
            if chart.title.startswith(("AUC on invented", "Positives found", "Scores by metric")):
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
