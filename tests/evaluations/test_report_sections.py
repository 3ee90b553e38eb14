"""Which sections a report has, and what they tell."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.reports import invented_manifest, invented_profile
from fixtures.scores import HARD, comparison
from fixtures.scores import result as made

pytest.importorskip("altair", reason="needs medsim[report]")

from medsim.evaluations.conclusions import best_metrics, with_standing
from medsim.evaluations.detail_sections import category_separation, errors, retrieval
from medsim.evaluations.output import SET_COMPARISONS, SET_RESULTS
from medsim.evaluations.page import (
    coverage,
    evaluation_page,
    meanings_of,
    score_boards,
    standing_order,
)
from medsim.evaluations.readable import set_name
from medsim.evaluations.sentences import result_sentences
from medsim.pages import charts as marks
from medsim.pages.page import Chart, Page

if TYPE_CHECKING:
    from medsim.evaluations.detail_sections import EvaluationReportData

NAMES = ("one", "two")
TITLES = (
    "Result|Worst errors|Standings|Significance|Accuracy|Distributions|ROC curves|Metrics|"
    "Retrieval|Robustness|Category separation|Coverage|Provenance"
)
ALL = TITLES.split("|")


@pytest.fixture(scope="module")
def full() -> EvaluationReportData:
    return invented_profile(NAMES, n_datasets=1)


@pytest.fixture(scope="module")
def page(full: EvaluationReportData) -> Page:
    return evaluation_page(invented_manifest(NAMES, redistributable=True), full)


def bare(full: EvaluationReportData) -> EvaluationReportData:
    """Return tables without rows."""
    return replace(full, **{one.name: getattr(full, one.name)[:0] for one in fields(full)})


def titles(profile: EvaluationReportData, names=NAMES) -> list[str]:
    manifest = invented_manifest(names, redistributable=True)
    return [section.title for section in evaluation_page(manifest, profile).sections]


def best(profile: EvaluationReportData) -> pl.DataFrame:
    """Return the embeddings at their best metrics, with standings."""
    return with_standing(
        best_metrics(profile.results, profile.comparisons, ("auc",), baseline=True)
    )


def charts(section) -> list[Chart]:
    return [part for part in section.parts if isinstance(part, Chart)]


def test_sections_without_data_are_left_out(full: EvaluationReportData, page: Page) -> None:
    one = invented_profile(("one",), n_datasets=1)
    empty = ("retrieval", "robustness", "separation")
    few = replace(one, **{name: getattr(one, name).clear() for name in empty})

    assert [section.title for section in page.sections] == ALL
    assert titles(bare(full)) == ["Provenance"]
    left_out = {"Retrieval", "Robustness", "Category separation", "Significance"}  # of one
    assert titles(few, ("one",)) == [title for title in ALL if title not in left_out]


def test_filled_points_are_those_that_cannot_be_told_from_the_best() -> None:
    names = ("one", "three", "two")
    profile = invented_profile(names, n_datasets=1)

    [board] = charts(score_boards(best(profile), names))

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
            assert drawn(chart.spec) - {"x"} <= set(chart.rows.columns), chart.title


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


def test_mean_similarities_are_those_of_each_embedding_at_its_best_metric(
    full: EvaluationReportData,
) -> None:
    better = {"category_error": pl.lit(0.1), "mean_similarity": pl.lit(0.7)}
    is_better = pl.col("metric") == "pearson"
    rows = full.separation.with_columns(
        pl.when(is_better).then(value).otherwise(name).alias(name) for name, value in better.items()
    )

    table = category_separation(rows, NAMES).parts[1].tables[0].frame

    assert table.height == len(NAMES) * 3 * 3  # of three categories
    assert {*table["metric"]} == {"pearson"}
    assert {*table["mean similarity"]} == {0.7}


def sentences(scores: dict, p: dict, n: int = 100, half: float = 0.05, **of) -> str:
    """Return the result of values by set and model, and of p-values by two models and set."""
    kind = {"statistic": "spearman" if "difficulty" in of else "auc"}
    rows = [
        made(HARD | {"dataset": name} | of, model, metric, v, n_covered=n, **ends, **kind)
        for name, values in scores.items()
        for model, v in values.items()
        for metric in ["distance_reversed" if model == "baseline" else "cos"]
        for ends in [{"low": v - half, "high": v + half}]
    ]
    tests = [
        comparison(HARD | {"dataset": name} | of, *two, gap, 1, low=gap - 0.02, high=gap + 0.02)
        | {"p": p and p / len(by_pair), "p_bonferroni": p, "of": kind["statistic"]}
        | ({"between": "baseline"} if "baseline" in two else {})
        for name, by_pair in p.items()
        for two, p in by_pair.items()
        for gap in [scores[name][two[0]] - scores[name][two[1]]]
    ]
    compared = pl.DataFrame(tests, schema=SET_COMPARISONS.dtypes)
    results = pl.DataFrame(rows, schema=SET_RESULTS.dtypes)
    best = best_metrics(results, compared, list(kind.values()), baseline=True)
    return " ".join(result_sentences(best, compared)).replace(WHERE, "PLACE")


WHERE = "the 100 hard pairs of x (hpo) with random negatives"
FOUR = {"a": 0.8, "b": 0.7, "c": 0.5, "d": 0.4}
SURE = dict.fromkeys(("ab", "ac", "ad", "bc", "bd", "dc"), 0.01)
LEADS = "a leads on PLACE: its AUC is 0.800 (95% CI 0.750 to 0.850), 0.100 (95% CI 0.080 to 0.120"
HIGHEST = (
    "No model leads on PLACE: a has the highest AUC, 0.800 (95% CI 0.750 to 0.850), but cannot"
)
NONE = "No model is significantly better than chance (0.5) on PLACE: a has the highest AUC,"
GAP = "0.100, 95% CI 0.080 to 0.120"
OTHERS = f"{LEADS}, corrected p = 0.010) above b, the next best. On the same pairs,"
SETS = "sets with at least 30 pairs"
MANY = f"{OTHERS} 2 of the 3 comparisons of other models are"


@pytest.mark.parametrize(
    ("models", "p", "says"),
    [
        ("a", {}, "On PLACE, a has an AUC of 0.800 (95% CI 0.750 to 0.850)."),
        ("ab", {"ab": 0.0001}, f"{LEADS}, p < 0.001) above b."),
        ("ba", {"ba": 0.049}, f"{LEADS}, p = 0.049) above b."),
        ("ab", {"ab": 0.05}, f"{HIGHEST} be distinguished from b (difference {GAP}, p = 0.050)."),
        ("ab", {"ab": None}, f"b (difference {GAP}, no significance test)."),
        ("ab", {}, "before b with 0.700 (95% CI 0.650 to 0.750); the two were not compared."),
        ("abc", {}, f"{OTHERS} b is 0.200 (95% CI 0.180 to 0.220, corrected p = 0.010) above c."),
        ("abc", {"bc": 1}, f"{OTHERS} b and c cannot be distinguished from each other (difference"),
        ("abc", {"ab": 1, "ac": 1}, "corrected p = 1.000) or from c. On the same pairs, b is 0.2"),
        ("abcd", {}, f"{OTHERS} the other models all differ significantly from each other."),
        (
            "abcd",
            {"bd": 1},
            f"{OTHERS} of the other models only b and d cannot be distinguished from",
        ),
        ("abcd", {"bd": 1, "dc": 1}, f"{MANY} not significant, such as b and d (difference 0.300,"),
    ],
)
def test_the_result_says_who_leads_by_how_much_and_what_cannot_be_distinguished(
    models: str, p: dict, says: str
) -> None:
    tests = {two: SURE[two] for two in SURE if {*two} <= {*models}} if len(models) > 2 else {}
    values = {model: FOUR[model] for model in models}

    found = sentences({"x": values}, {"x": tests | p})

    assert says in found
    assert found.startswith(says[:20]) or says[0].islower()


@pytest.mark.parametrize(
    ("values", "p", "says"),
    [
        ({"a": 0.56, "b": 0.4}, 0.01, "a leads on PLACE: its AUC is 0.560"),
        ({"a": 0.54, "b": 0.4}, 0.01, f"{NONE} 0.540 (95% CI 0.490 to 0.590), 0.140 ("),
        ({"a": 0.3, "b": 0.2}, 0.01, f"{NONE} 0.300 (95% CI 0.250 to 0.350), 0.100 ("),
        ({"a": 0.3, "b": 0.2}, 0.9, f"{NONE} 0.300 (95% CI 0.250 to 0.350), but cannot be"),
    ],
)
def test_no_model_leads_if_none_is_above_chance(values: dict, p: float, says: str) -> None:
    found = sentences({"x": values, "y": values}, {"x": {"ab": p}, "y": {"ab": p}})

    assert found.startswith(says)
    assert ("is below chance (0.5): negatives are more similar" in found) == (values["a"] < 0.4)
    assert "not significantly different from chance" not in found


def test_a_model_does_not_lead_on_sets_without_a_model_above_chance() -> None:
    values = {"x": {"a": 0.8, "b": 0.7, "c": 0.6}, "y": {"a": 0.4, "b": 0.3, "c": 0.2}}

    found = sentences(values, {name: dict.fromkeys(("ab", "ac", "bc"), 0.01) for name in values})

    assert f"a leads on 1 of 2 {SETS} and is among the best on 2." in found


@pytest.mark.parametrize(
    ("others", "p", "of_two", "of_three"),
    [
        ([0.8], 0.01, f"each of the 2 {SETS}.", f"each of the 2 {SETS}."),
        (
            [0.6],
            0.06,
            f"1 of 2 {SETS}, and significantly worse on none.",
            f"1 of 2 {SETS} and is among the best on 2.",
        ),
        (
            [0.6],
            0.01,
            f"1 of 2 {SETS}, and significantly worse on 1.",
            f"1 of 2 {SETS} and is among the best on 1.",
        ),
        (
            [0.6, 0.6],
            0.01,
            f"1 of 3 {SETS}, and significantly worse on 2.",
            f"1 of 3 {SETS} and is among the best on 1, b on 2.",
        ),
    ],
)
def test_the_result_says_whether_other_sets_agree(
    others: list[float], p: float, of_two: str, of_three: str
) -> None:
    scores = {name: {"a": a, "b": 0.7} for name, a in zip("xyz", [0.8, *others], strict=False)}
    tests = {name: {"ab": 0.01 if name == "x" else p} for name in scores}

    two = sentences(scores, tests)
    three = sentences(
        {name: of_set | {"c": 0.5} for name, of_set in scores.items()},
        {name: of_set | {"ac": 0.01, "bc": 0.01} for name, of_set in tests.items()},
    )

    assert two.endswith(f" above b. a is significantly better than b on {of_two}")
    assert three.endswith(f" above c. a leads on {of_three}")


def test_the_result_names_a_baseline_above_all_models_on_the_same_set() -> None:
    says = "No model is significantly better than the baseline distance reversed (0.9) on PLACE: a"
    scores = {"x": {"a": 0.8, "b": 0.7}}
    baseline = {"x": {"a": 0.8, "b": 0.7, "baseline": 0.9}}

    assert says in sentences(baseline, {"x": {"ab": 0.01}})
    assert "baseline" not in sentences(scores, {"x": {"ab": 0.01}})
    assert "baseline" not in sentences({"x": scores["x"] | {"baseline": 0.75}}, {"x": {"ab": 0.01}})


def test_p_values_are_called_corrected_if_models_are_also_compared_with_a_baseline() -> None:
    scores = {"x": {"a": 0.8, "b": 0.7, "baseline": 0.75}}

    assert ", p = 0.010) above b" in sentences(scores, {"x": {"ab": 0.01}})
    against = {"ab": 0.01, ("a", "baseline"): 0.02}
    assert ", corrected p = 0.010) above b" in sentences(scores, {"x": against})


def test_the_difference_from_a_baseline_is_of_the_set_of_the_leader() -> None:
    rows, tests = [], []
    for name, value, n in (("b", 0.6, 50), ("a", 0.8, 100)):  # the set of the leader is the last
        where = {"input": name, "dataset": "syn_syn", "difficulty": "all", "negatives": "all"}
        of = {"subset": "build", "statistic": "auc_beyond_spelling", "n_covered": n}
        for model, metric, v in (("m", "cos", value), ("baseline", "length", 0.7)):
            rows.append(made(HARD | where, model, metric, v, **of))
        test = comparison(HARD | where, "m", "baseline", value - 0.7, 0.01)
        tests.append(test | {"of": "auc_beyond_spelling", "between": "baseline", "value2": 0.7})
    results = pl.DataFrame(rows, schema=SET_RESULTS.dtypes)
    compared = pl.DataFrame(tests, schema=SET_COMPARISONS.dtypes)
    best = best_metrics(results, compared, ["auc_beyond_spelling"], baseline=True)

    found = result_sentences(best, compared)

    assert found[0].startswith(
        "On all synonym pairs of a (syn_syn), m has an AUC beyond spelling of 0.8"
    )
    assert found[1].startswith("m is 0.100 ")
    assert found[2].startswith("On all synonym pairs of b, m has an AUC beyond spelling of 0.6")
    assert found[3].startswith("The best baseline without a model, avg cos, is 0.100 ")
    assert len(found) == 4


def test_a_build_on_which_no_model_covers_a_pair_has_no_sentence() -> None:
    rows = []
    for name, n in (("a", 100), ("b", 0)):
        where = {"input": name, "dataset": "syn_syn", "difficulty": "all", "negatives": "all"}
        of = {"subset": "build", "statistic": "auc_beyond_spelling"}
        rows.append(made(HARD | where, "m", "cos", 0.5, n_covered=n, **of))
        rows.append(made(HARD | where, "baseline", "length", 0.5, n_covered=100, **of))
    tests = pl.DataFrame(schema=SET_COMPARISONS.dtypes)
    results = pl.DataFrame(rows, schema=SET_RESULTS.dtypes)

    found = result_sentences(
        best_metrics(results, tests, ["auc_beyond_spelling"], baseline=True), tests
    )

    assert found
    assert not any(" of b" in sentence for sentence in found)


def test_a_result_in_which_no_model_covers_enough_pairs_ends_with_a_plain_sentence() -> None:
    few = {"n_covered": 0, "statistic": "auc"}
    rows = [
        made(HARD | {"dataset": "x"}, "m", "cos", 0.5, low=None, high=None, **few),
        made(HARD | {"dataset": "x"}, "baseline", "length", 0.8, statistic="auc", n_covered=100),
    ]
    tests = pl.DataFrame(schema=SET_COMPARISONS.dtypes)
    for some in (rows, rows[1:]):
        results = pl.DataFrame(some, schema=SET_RESULTS.dtypes)
        best = best_metrics(results, tests, ["auc"], baseline=True)
        found = result_sentences(best, tests)
        assert bool(found) == (some is rows)
        assert not found or "(too few for a conclusion), m has an AUC of 0.500 (" in found[0]


def test_the_result_of_one_model_has_its_range_and_how_it_compares_with_chance() -> None:
    over = "0.350 (95% CI 0.250 to 0.450) to 0.520 (95% CI 0.420 to 0.620); the mean is 0.435."
    chance = "The AUC of a is not significantly different from chance (0.5)."
    two = {"x": {"a": 0.52}, "y": {"a": 0.35}}
    rated = {"difficulty": None, "negatives": None, "half": 0.1}

    assert sentences(two, {}, half=0.1).endswith(
        f"{chance} Over 2 sets with at least 30 pairs its AUC ranges from {over}"
    )
    assert "The AUC of a is below chance (0.5): neg" in sentences({"x": {"a": 0.35}}, {}, half=0.1)
    assert sentences({"x": {"a": -0.3}}, {}, **rated) == (
        "On the 100 rated pairs of hpo, a has a Spearman's correlation of \u22120.300 (95% CI "
        "\u22120.400 to \u22120.200). Spearman's correlation of a is negative: it ranks pairs "
        "against the ratings."
    )
    assert (
        "On the 4 hard pairs of x (hpo) with random negatives (too few for a conclusion), a "
        in (sentences({"x": {"a": 0.5}}, {}, n=4))
    )


def test_the_result_is_above_a_chart_of_the_same_numbers(full, page: Page) -> None:
    first = page.sections[0]

    assert first.result[0] == (
        "No model leads on the 188 hard pairs of dataset_0 (invented) with Levenshtein negatives: "
        "two has the highest AUC, 0.650 (95% CI 0.630 to 0.670), but cannot be distinguished from "
        "one (difference 0.050, 95% CI 0.010 to 0.100, corrected p = 1.000)."
    )
    [chart] = charts(first)
    assert chart.rows.select("y", "value").rows() == [("two", 0.65), ("one", 0.6)]
    assert chart.says.endswith("largest set of hard pairs with Levenshtein negatives.")
    assert page.signature.endswith("coverage any, independent_pairs True, seed 0, resamples 200")
    manifest = replace(invented_manifest(NAMES, redistributable=True), warnings=["one", "two"])
    warned = evaluation_page(manifest, full)
    assert warned.sections[0].result[-1] == "This run gave 2 warnings, listed under “Provenance”."
    (table,) = (part for part in warned.sections[-1].parts if "Warnings" in str(part))
    assert table.frame["warning"].to_list() == ["one", "two"]


def test_worst_errors_are_folded_but_those_of_the_best_embedding(full) -> None:
    first, *others = errors(full, standing_order(best(full), NAMES)).parts

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
    dots = marks.dots(names, x=marks.ValueAxis(title="AUC"), y=["a"])
    curves = marks.curves(names, (), with_points=True)  # a curve may be a single point

    for spec in (dots, curves):
        channels = spec["layer"][-1]["encoding"]
        ranges = (channels[name]["scale"]["range"] for name in ("color", "shape"))
        assert len(set(zip(*ranges, strict=True))) == 23


def test_every_word_on_the_page_that_needs_it_is_explained() -> None:
    sets = {"dataset": "fsn_syn", "difficulty": "hard", "negatives": "levenshtein"}
    row = dict.fromkeys(SET_RESULTS.dtypes) | sets | {"metric": "pair_pearson", "statistic": "auc"}

    found = meanings_of(pl.DataFrame([row], schema=SET_RESULTS.dtypes))

    assert list(found) == ["fsn_syn", "hard", "levenshtein negatives", "pair_pearson", "AUC"]
    assert found["pair_pearson"].startswith(
        "A metric: mean of Pearson's correlation over all pairs"
    )
