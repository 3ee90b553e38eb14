"""The table for an article, and the filters of sets, compared with plain programs."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from fixtures.embeddings import write_words
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.table_formats import TABLE_FORMATS
from medsim.evaluations.compare import article_note, article_table
from medsim.evaluations.options import PAPER, number_of
from medsim.evaluations.sets import whole_sets

SET = ("input", "dataset", "difficulty", "negatives")
HEADLINE = ("build", "syn_syn", "all", "all")


def expected_row(
    evaluation: medsim.Evaluation, key: tuple[str, ...], embedding: str
) -> dict[str, object]:
    """Return the best metric of an embedding on a set, by a loop over all results."""
    statistic = "auc_beyond_spelling" if key == HEADLINE else "auc"
    rows = [
        row
        for row in evaluation.results().iter_rows(named=True)
        if tuple(row[column] for column in SET) == key
        and (row["embedding"], row["statistic"]) == (embedding, statistic)
        and row["subset"] in {"build", "common"}
    ]
    best = max(rows, key=lambda row: row["value"])
    return {name: best[name] for name in ("metric", "value", "low", "high")} | {
        "n_pairs": best["n_covered"]
    }


def expected_test(
    evaluation: medsim.Evaluation, key: tuple[str, ...], first: str, second: str
) -> tuple[float, float, float, float] | None:
    """Return a difference, its interval and p in the direction asked for, by a loop."""
    for row in evaluation.comparisons().iter_rows(named=True):
        if tuple(row[column] for column in SET) != key or row["between"] == "metrics":
            continue
        if row["of"] not in {"auc", "auc_beyond_spelling"}:
            continue
        if (row["embedding1"], row["embedding2"]) == (first, second):
            return row["difference"], row["low"], row["high"], row["p_holm"]
        if (row["embedding1"], row["embedding2"]) == (second, first):
            return -row["difference"], -row["high"], -row["low"], row["p_holm"]
    return None


@pytest.mark.parametrize("baseline", [None, "two", "baseline"])
def test_rows_are_the_best_metrics_with_the_tests_against_one_embedding(
    shared_evaluation: medsim.Evaluation, baseline: str | None
) -> None:
    options = {"negatives": ["levenshtein", "random"], "baseline": baseline}
    rows = medsim.compare(shared_evaluation, table="article", correction="holm", **options)

    sets = list(dict.fromkeys(rows.select(SET).iter_rows()))
    assert sets[0] == HEADLINE
    assert [key[2] for key in sets[1:]] == ["hard", "hard"]
    assert rows.height == 3 * len(sets)
    for row in rows.iter_rows(named=True):
        key = tuple(row[column] for column in SET)
        name = row["embedding"]
        expected = expected_row(shared_evaluation, key, name)
        assert {column: row[column] for column in expected} == expected
        of_models = rows.filter(
            pl.col("embedding") != "baseline", **dict(zip(SET, key, strict=True))
        )
        best = max(of_models.iter_rows(named=True), key=lambda other: other["value"])["embedding"]
        assert row["best"] == (None if name == "baseline" else name == best)
        assert row["reference"] == (baseline or best)
        test = expected_test(shared_evaluation, key, name, row["reference"])
        names = ("difference", "difference_low", "difference_high", "p")
        assert tuple(row[column] for column in names) == (test or (None,) * 4)
        against_best = expected_test(shared_evaluation, key, name, best)
        if name not in {"baseline", best}:
            assert against_best is not None
            assert row["among_best"] == (against_best[3] >= 0.05)


def run(*arguments: object) -> tuple[str, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.stdout, result.stderr


def test_small_sets_are_left_out_and_named_and_others_are_chosen_by_name(
    shared_evaluation: medsim.Evaluation,
) -> None:
    compare = ("compare", shared_evaluation.folder, "--table", "article")

    stdout, stderr = run(*compare, "--datasets", "syn_syn,rated", "--negatives", "levenshtein")

    assert stderr == "left out, fewer than 30 pairs: syn_syn easy, levenshtein; rated\n"
    head = stdout.splitlines()[0].split("   ")
    columns = [name.strip() for name in head if name.strip()]
    assert columns[1] == "AUC beyond spelling"
    assert columns[-1] == "syn_syn hard, levenshtein"
    head = run(*compare, "--statistics", "accuracy", "--negatives", "random")[0].splitlines()[0]
    assert "syn_syn hard, random: accuracy" in " ".join(head.split())
    only = run(*compare, "--format", "md")[0]
    assert re.match(r"\| model \| AUC beyond spelling \| coverage \| difference to \w+ \|\n", only)
    row = medsim.compare(shared_evaluation, table="article").row(0, named=True)
    value, low, high = (row[name] for name in ("value", "low", "high"))
    assert f"{value:.3f} [{low:.3f}, {high:.3f}]" in only
    assert "Releases: release.zip of " in " ".join(only.split())
    for arguments, message in (
        (["--datasets", "sin_syn"], "unknown dataset 'sin_syn'; did you mean syn_syn or fsn_syn?"),
        (["--negatives", "embedding"], "no set has these --datasets, --difficulty and --negatives"),
        (["--baseline", "tow"], "unknown embedding 'tow'; did you mean two?"),
        (["--subset", "own"], "--subset own has no standings; leave it out"),
        (["--metric", "cos"], "not for article"),
        (
            ["--table", "best", "--baseline", "two"],
            "--baseline is for the table article, not for best",
        ),
    ):
        assert message in run(*compare, *arguments)[1]


def test_evaluations_without_enough_pairs_have_no_table(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    folder = shared_evaluation.folder.parent
    few = medsim.evaluate(folder / "rated.csv", {"one": folder / "one.vec"}, tmp_path / "few")
    with pytest.raises(InputError, match="has no such set of 30 pairs; choose other sets"):
        medsim.compare(few, table="article")


def invented() -> pl.DataFrame:
    """Return rows of three models and a baseline on a headline and a rated file."""
    rows = []
    for key, values in (
        (("hpo", "syn_syn", "all", "all", "auc_beyond_spelling"), (0.8, 0.79, 0.5, 0.7)),
        (("mayo", "mean", None, None, "spearman"), (0.25, None, 0.5, -0.125)),
    ):
        best = max(value for value in values[:3] if value is not None)
        for name, value in zip(("a_b", "b", "c", "baseline"), values, strict=True):
            is_model = name != "baseline"
            low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
            among = is_model and value is not None and best - value < 0.1
            rows.append(
                (*key, name, "cos" if is_model else "length", value, low, high, 50)
                + (among if is_model else None, value == best if is_model else None, "a_b")
                + ((None,) * 4 if name == "a_b" else (-0.01, -0.02, 0.0, 0.5))
                + (name == "a_b" or None, None if value is None else 1 - value)
            )
    names = [*SET, "statistic", "embedding", "metric", "value", "low", "high", "n_pairs"]
    names += ["among_best", "best", "reference", "difference", "difference_low"]
    names += ["difference_high", "p", "above_baseline", "coverage"]
    return pl.DataFrame(rows, names, orient="row")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "a_b        0.800 [0.700, 0.900] *   20.0%      \N{EN DASH}"),
        ("md", "| a_b | **0.800 [0.700, 0.900]** | 20.0% | \N{EN DASH} | 0.250 [0.150, 0.350] |"),
        (
            "md",
            "| b | 0.790 [0.690, 0.890]\N{DAGGER} | 21.0% | -0.010 [-0.020, 0.000] | \N{EN DASH} |",
        ),
        ("md", "| model | AUC beyond spelling | coverage | difference to a_b | mayo |"),
        ("md", "| baseline | 0.700 [0.600, 0.800] | 30.0% | -0.010 [-0.020, 0.000] | -0.125 "),
        ("latex", r"a\_b & \textbf{0.800 [0.700, 0.900]} & 20.0\% & "),
        ("latex", r"b & 0.790 [0.690, 0.890]$^\dagger$ & "),
        ("latex", r" & $-$0.010 [$-$0.020, 0.000] & $-$0.125 [$-$0.225, $-$0.025] \\"),
        ("html", "<tr><td>a_b</td><td><b>0.800 [0.700, 0.900]</b></td>"),
    ],
)
def test_the_best_is_marked_in_each_format(form: str, expected: str) -> None:
    text = TABLE_FORMATS[form].render(article_table(invented()))

    assert expected in text.replace("\N{MINUS SIGN}", "-"), text


@pytest.mark.parametrize("above", [True, None, False])
def test_the_best_is_not_bold_if_it_is_not_above_the_baseline(above: object) -> None:
    rows = invented().with_columns(above_baseline=pl.lit(above, pl.Boolean))

    assert ("**" in TABLE_FORMATS["md"].render(article_table(rows))) == (above is not False)


def test_the_differences_name_their_set_if_there_are_several_builds() -> None:
    other = invented().head(4).with_columns(input=pl.lit("other"))

    columns = article_table(pl.concat([invented(), other])).columns

    assert columns[1:4] == [
        "hpo: AUC beyond spelling",
        "coverage on hpo",
        "difference to a_b on hpo",
    ]
    assert columns[-3:] == [
        "other: AUC beyond spelling",
        "coverage on other",
        "difference to a_b on other",
    ]


def test_a_note_has_the_number_of_pairs_and_the_metrics() -> None:
    source = {"name": "HPO", "release_date": "2025-01-16"}
    note = article_note(invented(), {"hpo": {"source": source}, "mayo": {}}, "holm")

    assert "(paired tests, level 0.05, Holm's correction)" in note[0]
    assert note.pop(1) == "Releases: HPO of 2025-01-16."
    assert [sentence.replace("Spearman's correlation", "rho") for sentence in note[1:]] == [
        (
            "Columns: AUC beyond spelling on 50 pairs; rho on 50 pairs, with 95% confidence "
            "intervals."
        ),
        "Metrics: a_b cos; b cos; c cos; baseline length.",
        "The baseline is the best without a model.",
    ]
    assert TABLE_FORMATS["html"].paragraph("a < b") == "<p>a &lt; b</p>"
    assert TABLE_FORMATS["latex"].paragraph("a_b\N{DAGGER}") == r"a\_b$^\dagger$"


@pytest.fixture(scope="module")
def evaluations(
    tmp_path_factory: pytest.TempPathFactory, shared_evaluation: medsim.Evaluation
) -> tuple[medsim.Evaluation, medsim.Evaluation]:
    """One evaluation of a build, and one of its hard pairs with Levenshtein negatives."""
    folder = tmp_path_factory.mktemp("filters")
    build = shared_evaluation.folder.parent / "build"
    words = {word for term in medsim.Build(build).pairs()["term1"] for word in term.split()}
    write_words(folder / "model.vec", sorted(words), 3)
    whole, chosen = (
        medsim.evaluate(
            build, {"m": folder / "model.vec"}, folder / name, coverage="any", **options
        )
        for name, options in (
            ("whole", {"datasets": ["syn_syn"]}),
            ("hard", {"datasets": "syn_syn", "difficulty": "hard", "negatives": "levenshtein"}),
        )
    )
    return whole, chosen


def test_eval_scores_only_the_chosen_sets_with_the_same_values(
    evaluations: tuple[medsim.Evaluation, medsim.Evaluation],
    shared_evaluation: medsim.Evaluation,
) -> None:
    whole, hard = evaluations

    key = ("syn_syn", "hard", "levenshtein")
    assert {*hard.results().select(SET[1:]).iter_rows()} == {key}
    assert {*hard.pairs().collect().select(SET[1:]).iter_rows()} == {key}
    assert {*whole_sets(whole.results())["dataset"]} == {"syn_syn"}
    assert {*whole.results()["statistic"]} >= {"auc_beyond_spelling", "auc"}
    on = [*SET, "subset", "embedding", "metric", "statistic"]
    both = hard.results().join(whole.results(), on=on)
    assert both.height == hard.results().height > 0
    depends = pl.col("metric") == "rare_trigram_overlap"  # on all evaluated terms
    exact = both.filter(~depends, pl.col("statistic").is_in(["auc", "accuracy"]))
    assert exact["value"].equals(exact["value_right"].alias("value"))
    assert "hard pairs only" in hard.results()["signature"][0]
    options = hard.manifest.options
    assert [options[name] for name in ("datasets", "difficulty", "negatives")] == [
        [name] for name in key
    ]
    expected = shared_evaluation.results().filter(
        embedding="baseline", statistic="auc_beyond_spelling", metric="length"
    )
    actual = whole.results().filter(
        embedding="baseline", statistic="auc_beyond_spelling", metric="length"
    )
    assert actual.select("value", "low", "high").equals(expected.select("value", "low", "high"))


def test_other_filters_cannot_add_to_results_and_filters_need_pairs_of_builds(
    evaluations: tuple[medsim.Evaluation, medsim.Evaluation],
    shared_evaluation: medsim.Evaluation,
    tmp_path: Path,
) -> None:
    inputs, out = shared_evaluation.folder.parent, evaluations[1].folder
    models = {"m": out.parent / "model.vec"}
    message = "made with `negatives` levenshtein, not random; use levenshtein to add to it"
    with pytest.raises(OutputError, match=message):
        medsim.evaluate(
            inputs / "build",
            models,
            out,
            coverage="any",
            datasets="syn_syn",
            difficulty="hard",
            negatives="random",
        )
    with pytest.raises(OptionError, match="build has no such pairs; change `datasets`"):
        medsim.evaluate(inputs / "build", models, tmp_path / "x", negatives="embedding")
    with pytest.raises(OptionError, match="`difficulty` needs a build among the inputs"):
        medsim.evaluate(inputs / "rated.csv", models, tmp_path / "x", difficulty="easy")


def test_one_difficulty_has_no_headline(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    folder = shared_evaluation.folder.parent

    hard = medsim.evaluate(
        folder / "build", {"one": folder / "one.vec"}, tmp_path / "hard", difficulty="hard"
    )

    assert {*hard.results()["negatives"]} == {"levenshtein", "random"}
    assert {*hard.results()["difficulty"]} == {"hard"}


@pytest.mark.parametrize("number", ["B1", "b1", "Table B1", "figureB1", "C7", "c.7", "figure C.1"])
def test_numbers_of_the_paper_need_no_dot(number: str) -> None:
    compact = number.lower().replace("table", "").replace(" ", "").replace("-", "")
    expected = {name.lower().replace("-", "").replace(".", ""): name for name in PAPER}
    assert number_of(number) == expected[compact.replace(".", "")]
    assert number_of("auc") is None
