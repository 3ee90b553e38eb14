"""Outputs of the version before open, verify and grow as they did; see README.md beside this."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.previous import unpacked
from polars.testing import assert_frame_equal

import medsim
from medsim.evaluations.sets import FEW
from medsim.evaluations.statistic import STATISTICS

pytestmark = pytest.mark.slow

WRITTEN = 1_600_000_000  # when every file in the archives was, in seconds
SET = "pairs/dataset={}/difficulty={}/negatives={}/data.parquet"
PAIRS = {
    ("fsn_syn", "easy"): (33, 33),
    ("fsn_syn", "hard"): (29, 29),
    ("possibly_equivalent_to", "easy"): (1, 0),
    ("possibly_equivalent_to", "hard"): (6, 6),
    ("replaced_by", "easy"): (1, 0),
    ("replaced_by", "hard"): (9, 9),
    ("same_as", "easy"): (2, 2),
    ("same_as", "hard"): (6, 6),
    ("syn_syn", "easy"): (41, 41),
    ("syn_syn", "hard"): (45, 45),
}
"""Positives and negatives of every set of the build, of either strategy."""

EVALUATION = {
    "resamples": 200,
    "retrieval": True,
    "categories": ["zabi=700001", "puru=700002"],
    "words": "words.csv",
    "bins": [1, 100],
    "metrics": ["avg_cos", "fuzzy_jaccard"],
    "coverage": "any",  # as it was then
    "independent_pairs": True,
}
SEPARATION = "separation/input=build/embedding={}/metric={}/data.parquet"
TWO = {"one": "one.txt", "two": "two.txt"}
_INTERVAL = ("low", "high")
SUMMARIES = {
    f"{name}.parquet"
    for name in ("results", "comparisons", "coverage", "overlap", "retrieval", "separation")
}


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything of the archives, which no test may change."""
    return unpacked(tmp_path_factory.mktemp("previous"))


@pytest.fixture(scope="module")
def anew(previous: Path, tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """Return the build as this version makes it."""
    return medsim.build(previous / "release.zip", tmp_path_factory.mktemp("anew") / "build", seed=4)


@pytest.fixture
def taken(previous: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that copies outputs to the current folder, where they may be changed."""
    monkeypatch.chdir(tmp_path)

    def take(*names: str) -> None:
        for name in names:
            if (previous / name).is_dir():
                shutil.copytree(previous / name, tmp_path / name)
            else:
                shutil.copy2(previous / name, tmp_path / name)

    return take


def fingerprints(opened: medsim.Build | medsim.Evaluation | medsim.Benchmark) -> dict[str, str]:
    return {name: one.fingerprint for name, one in opened.manifest.outputs.items()}


def known_before(build: medsim.Build) -> dict[str, str]:
    """Return the fingerprints of the rows that the version before wrote as well."""
    found = fingerprints(build)
    del found["terminology/term.parquet"], found["README.md"]
    return found


def is_as_written(path: Path) -> bool:
    """Return whether a file was not written since it came out of its archive."""
    return path.stat().st_mtime == WRITTEN


def versions(written: Path) -> dict[str, str]:
    """Return the versions that a file of this version's says it was made by."""
    metadata = pl.read_parquet_metadata(written)
    return {name: metadata[name] for name in ("medsim", "libraries")}


def test_a_build_opens(previous: Path) -> None:
    build = medsim.open(previous / "build")

    stats = build.stats()
    for negatives in ("random", "levenshtein"):
        sizes = {
            row[:2]: row[2:]
            for row in stats.filter(negatives=negatives)
            .select("dataset", "difficulty", "n_positives", "n_negatives")
            .iter_rows()
        }
        assert sizes == PAIRS
    tables = ("concept", "description", "association", "is_a", "code")
    assert [build.table(name).collect().height for name in tables] == [82, 210, 60, 106, 0]
    assert build.strategies == ("random", "levenshtein")
    assert build.positives().height == 108
    assert build.pairs().collect().height == 688
    pairs = build.pairs("same_as", "hard", "levenshtein").filter(pl.col("label") == 1).collect()
    columns = ["pair_id", "term1", "term2", "distance", "concept1", "concept2"]
    assert pairs.sort("pair_id").select(columns).rows()[:2] == [
        ("1f65eb3a2cf85137", "Lamu mebo", "Lamu meboo (left)", 8, "150000413", "100420"),
        ("560a5774242cb8cd", "lau sine", "lau sine or (ailment)", 13, "100000", "150000077"),
    ]
    count = "select dataset, count(*) from pair where label = 1 group by all order by all"
    assert [n_pairs for _, n_pairs in build.sql(count).rows()] == [124, 14, 20, 16, 172]
    assert build.views()["view"].to_list() == [*tables, "pair", "positive", "stats"]
    found = fingerprints(build)
    assert len(found) == 26
    assert found[SET.format("syn_syn", "hard", "levenshtein")].startswith("66f937e64b07")
    assert found[SET.format("fsn_syn", "easy", "random")].startswith("dfc332f6d4cd")
    assert found["stats.parquet"].startswith("3e830d842ed9")


@pytest.mark.parametrize(("name", "n_checks"), [("build", 21), ("corrected", 22)])
def test_a_build_verifies(previous: Path, name: str, n_checks: int) -> None:
    embedding = None if name == "build" else f"one={previous / 'one.txt'}"

    found = medsim.verify(previous / name, sample=20, embedding=embedding)

    assert found.holds
    assert found.findings.height == n_checks
    assert found.findings["violations"].sum() == 0


def test_a_build_is_made_anew_with_the_same_rows(previous: Path, anew: medsim.Build) -> None:
    assert known_before(anew) == fingerprints(medsim.open(previous / "build"))


def test_a_build_with_an_embedding_and_corrections_is_made_anew_with_the_same_rows(
    previous: Path, tmp_path: Path
) -> None:
    built = medsim.build(
        previous / "release.zip",
        tmp_path / "corrected",
        seed=4,
        negatives=["random", "embedding"],
        embedding=f"one={previous / 'one.txt'}",
        corrections=previous / "corrections.csv",
        pool="terminology",
    )

    known = medsim.open(previous / "corrected")
    assert known_before(built) == fingerprints(known)
    assert known.manifest.options["corrections"] == [
        ["Lamu mebbo", "Lamu mebbo kula", False],
        ["sine lura", "Lamu mebbo kula", True],
        ["modo uno", "mebo lua", True],
    ]
    assert "similarity" in known.pairs(negatives="embedding").collect().columns


def test_an_interrupted_build_is_completed(
    taken: Callable[..., None], previous: Path, anew: medsim.Build
) -> None:
    taken(".interrupted.unfinished", "release.zip")
    note = Path(".interrupted.unfinished", "job.json")
    content = json.loads(note.read_text(encoding="utf-8"))
    content["job"] |= versions(anew.folder / "stats.parquet")  # others would start it anew
    note.write_text(json.dumps(content), encoding="utf-8")

    built = medsim.build("release.zip", "interrupted", seed=4)

    assert known_before(built) == fingerprints(medsim.open(previous / "build"))
    assert not note.exists()
    pairs = {name for name in fingerprints(built) if name.startswith("pairs/")}
    assert {name for name in pairs if not is_as_written(built.folder / name)} == {
        SET.format("same_as", "hard", "levenshtein"),
        SET.format("fsn_syn", "easy", "levenshtein"),
        SET.format("fsn_syn", "hard", "levenshtein"),
        SET.format("syn_syn", "easy", "levenshtein"),
        SET.format("syn_syn", "hard", "levenshtein"),
    }


def test_pairs_of_an_interrupted_build_without_names_of_sets_are_made_anew(
    taken: Callable[..., None], anew: medsim.Build
) -> None:
    taken(".interrupted.unfinished", "release.zip")
    note = Path(".interrupted.unfinished", "job.json")
    content = json.loads(note.read_text(encoding="utf-8"))
    content["job"] |= versions(anew.folder / "stats.parquet")
    note.write_text(json.dumps(content), encoding="utf-8")

    assert fingerprints(medsim.build("release.zip", "interrupted", seed=4)) == fingerprints(anew)


def test_shards_are_merged(taken: Callable[..., None], previous: Path, anew: medsim.Build) -> None:
    taken("sharded.shards", "release.zip")
    job = json.loads(Path("sharded.shards", "job.json").read_text(encoding="utf-8"))
    now = versions(anew.folder / "stats.parquet")
    if {name: job["job"][name] for name in now} != now:
        with pytest.raises(medsim.MedsimError, match="holds shards of another job"):
            medsim.merge("sharded", source="release.zip")
        return

    built = medsim.merge("sharded", source="release.zip")

    assert known_before(built) == fingerprints(medsim.open(previous / "build"))
    assert not Path("sharded.shards").exists()


def test_an_evaluation_opens(previous: Path) -> None:
    evaluation = medsim.Evaluation(previous / "results")

    tables = (
        *(evaluation.results(), evaluation.comparisons(), evaluation.coverage()),
        *(evaluation.overlap(), evaluation.retrieval(), evaluation.separation()),
    )
    assert [one.height for one in tables] == [948, 134, 48, 2, 288, 20]
    scans = (evaluation.retrieved(), evaluation.pairs(), evaluation.scores())
    assert [one.collect().height for one in scans] == [208, 913, 1872]
    of = {"dataset": "syn_syn", "difficulty": "hard", "negatives": "levenshtein"}
    aucs = evaluation.results().filter(**of, subset="common", statistic="auc")
    expected = [
        ("one", "avg_cos", 0.602963, 0.483875, 0.722051),
        ("one", "fuzzy_jaccard", 0.590123, 0.469825, 0.710422),
        ("two", "avg_cos", 0.584691, 0.465499, 0.703884),
        ("two", "fuzzy_jaccard", 0.643951, 0.529003, 0.758898),
    ]
    columns = ["embedding", "metric", "value", "low", "high"]
    known = pl.DataFrame(expected, schema=columns, orient="row")
    assert_frame_equal(aucs.select(columns), known, check_exact=False, abs_tol=1e-6)
    assert evaluation.overlap().select("n1", "n2", "n_both").rows() == [(59, 51, 47), (51, 44, 40)]
    known = fingerprints(evaluation)
    assert len(known) == 30
    assert known["scores/input=build/embedding=one/metric=avg_cos/data.parquet"].startswith(
        "8286dc25429a"
    )


@pytest.mark.parametrize(
    ("table", "n_rows"),
    [
        *(("best", 42), ("all-auc", 80), ("metrics", 12), ("parts", 6), ("coverage", 42)),
        *(("overlap", 2), ("retrieval", 144), ("separation", 4), ("categories", 16)),
        *(("spearman", 2), ("4", 2), ("B.2", 4), ("figure-C.1", 2)),
    ],
)
def test_an_evaluation_is_compared(previous: Path, table: str, n_rows: int) -> None:
    assert medsim.compare(previous / "results", table).height == n_rows


def of_this_version(folder: Path, anew: medsim.Build) -> None:
    """Note in an evaluation that this version made it, for it adds to no other's."""
    manifest = folder / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["medsim"] = versions(anew.folder / "stats.parquet")["medsim"]
    manifest.write_text(json.dumps(content), encoding="utf-8")


def test_an_evaluation_grows(taken: Callable[..., None], anew: medsim.Build) -> None:
    taken("results", "build", "rated.csv", "more.csv", "words.csv")
    taken("one.txt", "two.txt", "three.txt")
    of_this_version(Path("results"), anew)
    before = medsim.Evaluation("results")
    known, own = fingerprints(before), before.results().filter(subset="own")

    grown = medsim.evaluate(
        ["build", "rated.csv", "more.csv"],
        {**TWO, "three": "three.txt"},
        "results",
        **EVALUATION,
    )

    found = fingerprints(grown)
    assert {name for name in known if found.get(name) != known[name]} <= SUMMARIES
    # What embeddings and inputs gave is as it was written; pairs of inputs are written every time.
    kept = [name for name in known if name not in SUMMARIES and not name.startswith("pairs/")]
    assert len(kept) == 22
    assert all(is_as_written(grown.folder / name) for name in kept)
    assert len(found) == 57  # three of them vocabularies, which earlier versions did not keep
    is_old = pl.col("embedding").is_in(list(TWO)) & pl.col("input").is_in(["build", "rated"])
    again = grown.results().filter(is_old, subset="own")
    assert_frame_equal(again.drop(*_INTERVAL, "signature"), own.drop(*_INTERVAL, "signature"))
    # Intervals that were points, or cut at 0 or 1, now say how few the pairs are.
    was_cut = own["low"].eq(own["high"]) | own["high"].eq(1.0) | own["low"].eq(0.0)
    # And those of Spearman's correlations of few pairs are wider.
    was_short = (own["statistic"] == "spearman") & (own["n_covered"] < FEW)
    # As are those of retrieval, whose clusters are not equally large.
    of_clusters = own["statistic"].is_in(
        [name for name, one in STATISTICS.items() if one.of == "retrieval"]
    )
    assert (again["low"] <= own["low"]).filter(of_clusters).all()
    assert (again["high"] >= own["high"]).filter(of_clusters).all()
    is_same = ~was_cut.fill_null(value=False) & ~was_short & ~of_clusters
    assert is_same.mean() > 0.5
    assert_frame_equal(
        again.select(_INTERVAL).filter(is_same), own.select(_INTERVAL).filter(is_same)
    )
    assert set(grown.results()["embedding"]) == {"one", "two", "three"}
    assert set(grown.results()["input"]) == {"build", "rated", "more"}
    at_once = medsim.evaluate(
        ["build", "rated.csv", "more.csv"], {**TWO, "three": "three.txt"}, "new", **EVALUATION
    )
    now = fingerprints(at_once)
    assert set(now) == set(found)
    # Earlier files call the category error overlap error; the table made of them does not.
    assert {name for name in now if now[name] != found[name]} == {
        SEPARATION.format(embedding, metric)
        for embedding in TWO
        for metric in ("avg_cos", "fuzzy_jaccard")
    }


def test_the_former_overlap_error_goes_by_its_own_name(
    taken: Callable[..., None], anew: medsim.Build
) -> None:
    taken("results", "build", "rated.csv", "words.csv", "one.txt", "two.txt")
    of_this_version(Path("results"), anew)
    before = medsim.Evaluation("results")

    separation = before.separation()
    assert separation["overlap_error"].null_count() == separation.height
    assert separation["category_error"].null_count() == 8  # of a category with itself
    statistics = before.results()["statistic"]
    assert "category_error" in statistics
    assert "overlap_error" not in statistics
    assert set(medsim.compare(before, "separation")["statistic"]) == {"category_error"}
    first, second = EVALUATION["categories"]
    near = {**EVALUATION, "categories": (), "near": [first, second], "far": ["2000343"]}
    with pytest.raises(medsim.MedsimError, match="results of other categories of build"):
        medsim.evaluate(["build", "rated.csv"], TWO, "results", **near)


def test_an_interrupted_evaluation_is_completed(
    taken: Callable[..., None], previous: Path, anew: medsim.Build
) -> None:
    taken(".halfway.unfinished", "build", "rated.csv", "words.csv", "one.txt", "two.txt")
    first = medsim.evaluate(["build", "rated.csv"], {"one": "one.txt"}, "one", **EVALUATION)
    now = versions(first.folder / "results.parquet")
    assert now["medsim"] == versions(anew.folder / "stats.parquet")["medsim"]
    note = Path(".halfway.unfinished", "job.json")
    content = json.loads(note.read_text(encoding="utf-8"))
    content["job"]["metadata"] |= now
    note.write_text(json.dumps(content), encoding="utf-8")

    found = medsim.evaluate(["build", "rated.csv"], TWO, "halfway", **EVALUATION)

    known = fingerprints(medsim.Evaluation(previous / "results"))
    now = fingerprints(found)
    assert set(now) - set(known) == {f"vocabularies/embedding={e}/words.parquet" for e in TWO}
    differs = {name for name, one in known.items() if now[name] != one}
    # Signatures name the version, and category errors were called overlap errors.
    separated = {SEPARATION.format("two", metric) for metric in ("avg_cos", "fuzzy_jaccard")}
    assert differs - SUMMARIES == separated
    kept = [name for name in known if is_as_written(found.folder / name)]
    assert [name for name in kept if name.startswith("scores/")] == [
        f"scores/input={of}/embedding={embedding}/metric={metric}/data.parquet"
        for of, embedding in (("build", "one"), ("build", "two"), ("rated", "one"))
        for metric in ("avg_cos", "fuzzy_jaccard")
    ]


def test_reports_are_made(previous: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    monkeypatch.setattr("medsim.cli.report._library", lambda *_: "")  # the same in every report
    for name in ("build", "results"):
        page = medsim.write_report(previous / name, tmp_path / f"{name}.html")
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_study_opens_and_is_drawn_anew_as_it_was(previous: Path, tmp_path: Path) -> None:
    study = medsim.Study(previous / "study")

    assert study.manifest.study_id == "78cb914ed13c6f44"
    assert (study.items().height, study.assignment().height) == (61, 183)
    again = medsim.sample_study(
        previous / "build", tmp_path / "study", per_class=2, annotators="ada,ben,eva", seed=2
    )
    assert again.manifest.study_id == study.manifest.study_id
    assert fingerprints_of_tables(again) == fingerprints_of_tables(study)


def test_a_graded_study_opens_and_has_the_same_shares_when_it_is_made_anew(
    previous: Path, tmp_path: Path
) -> None:
    study = medsim.Study(previous / "graded")

    assert study.manifest.study_id == "349ed3e49fc8132b"
    assert (study.items().height, study.assignment().height) == (24, 68)
    again = medsim.grade_study(
        previous / "pairs.csv",
        tmp_path / "graded",
        raters=4,
        groups=2,
        consistency=4,
        duplicates=3,
        page_size=5,
        seed=2,
    )
    # Pages have shares of all kinds of pairs by now, so that the order is another one.
    assert again.manifest.study_id != study.manifest.study_id
    assert again.items().equals(study.items())
    sizes = [one.assignment()["annotator"].value_counts(sort=True) for one in (again, study)]
    assert_frame_equal(*sizes, check_row_order=False)


def fingerprints_of_tables(study: medsim.Study) -> dict[str, str]:
    """Return those of a study's tables; its pages hold medsim's version."""
    outputs = study.manifest.outputs
    return {name: one.fingerprint for name, one in outputs.items() if name.endswith(".parquet")}


@pytest.mark.parametrize(
    ("study", "answers", "scored"),
    [("study", "answers", "scored"), ("graded", "ratings", "scored_graded")],
)
def test_a_study_scores_as_it_did(
    taken: Callable[..., None], study: str, answers: str, scored: str
) -> None:
    taken(study, answers, scored)
    before = {path.name: path.read_bytes() for path in Path(scored).rglob("*") if path.is_file()}

    found = medsim.score_study(study, [answers], scored, resamples=100, overwrite=True)

    assert found.study_id == medsim.Study(study).manifest.study_id
    after = {path.name: path.read_bytes() for path in Path(scored).rglob("*") if path.is_file()}
    assert set(after) == set(before)
    differs = {name for name in after if after[name] != before[name]} - {"manifest.json"}
    known, now = (pl.read_csv(io.BytesIO(of["agreement.csv"])) for of in (before, after))
    if study == "study":  # newer versions of Python add numbers up more exactly: the last digit
        assert_frame_equal(now, known, rel_tol=1e-12)
        differs -= {"agreement.csv"}
    else:
        # The version before wrote ends of IAA-2 over all pairs that differed from run to run.
        known = known.with_columns(
            pl.when(pairs="all").then(end).otherwise(column).alias(column)
            for column, end in {"iaa2_low": 0.13626153935440, "iaa2_high": 0.76961897858272}.items()
        )
        # Groups have the consistency set as well by now, and outliers are told beside an average.
        is_group = pl.col("pairs").str.contains("group")
        assert_frame_equal(now.filter(~is_group), known.filter(~is_group))
        assert now.filter(is_group)["n_pairs"].to_list() == [14, 14, None]
        for name in ("raters.csv", "parts.csv"):  # which have more columns by now
            known, now = (pl.read_csv(io.BytesIO(of[name])) for of in (before, after))
            assert_frame_equal(now.select(known.columns), known)
        differs -= {"agreement.csv", "raters.csv", "parts.csv"}
    assert not differs
    if study == "study":
        whole = found.table("quality").row(0, named=True)
        assert (whole["dataset"], whole["n_pairs"]) == ("all", 61)
        assert whole["alpha"] == pytest.approx(0.426255, abs=1e-6)
        assert whole["accuracy"] == pytest.approx(55 / 58)
        assert found.table("corrections")["term1"].to_list() == [
            *("fudu mopu", "lamu mmbo", "zota mebo")
        ]
    else:
        assert found.table("raters")["outlier"].to_list() == [False, False, True, True]
        assert found.table("rated")["rating"].sum() == pytest.approx(123.125)


def test_a_benchmark_opens(previous: Path) -> None:
    benchmark = medsim.Benchmark(previous / "wic" / "benchmark")

    sizes = [benchmark.instances(split).height for split in ("train", "dev", "test")]
    assert sizes == [30, 104, 288]
    assert benchmark.mentions().height == 824
    assert benchmark.sql("select count(*) from statistics").item() == 62  # which none has now
    sizes = medsim.describe_wic(benchmark)["all"].to_list()
    assert sizes == [30, 104, 288, 422]
    known = fingerprints(benchmark)
    assert known["instances.parquet"].startswith("813d9bd2cdb5")
    assert known["test.json"].startswith("cf6dd6b4190c")


def test_models_score_as_they_did_on_words_in_context(previous: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs medsim[wic]")
    folder = previous / "wic"

    found = medsim.evaluate_wic(
        folder / "benchmark",
        tmp_path / "scores",
        models=["random"],
        predictions=[f"said={folder / 'said.csv'}"],
    )

    seen = {"seen": "both_seen", "unseen": "unseen"}  # "seen" was what has both terms in train
    terms = {"seen": 2, "partly_seen": 1, "unseen": 0}
    known = {
        name: pl.read_parquet(folder / "scores" / f"{name}.parquet").filter(
            pl.col("model") != "words"
        )
        for name in ("results", "predictions")
    }
    assert_frame_equal(
        found.results.filter(pl.col("subset") != "any_seen"),
        known["results"]
        .filter(pl.col("subset") != "partly_seen")
        .with_columns(pl.col("subset").replace(seen)),
        check_row_order=False,
    )
    predictions = found.predictions.drop("seed")  # which was not kept, of one seed
    assert_frame_equal(
        predictions,
        known["predictions"]
        .with_columns(seen_terms=pl.col("seen").replace_strict(terms, return_dtype=pl.Int8))
        .select(predictions.columns),
        check_row_order=False,
    )
