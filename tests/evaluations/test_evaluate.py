"""Evaluations from end to end: the files, and scores compared with other libraries."""

from __future__ import annotations

import json
import math
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import selected
from fixtures.embeddings import write_words
from polars.testing import assert_frame_equal
from scipy import stats

import medsim
from medsim.evaluations import evaluate as evaluate_module
from medsim.evaluations.evaluate import overlap_of
from medsim.evaluations.inputs import pair_id_of
from medsim.evaluations.sets import SET

RATED = "term 1,term 2,mesh 1,mesh 2,score\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, shared_evaluation: medsim.Evaluation) -> Path:
    """A folder with a build, a rated file and two word embeddings that each lack words."""
    folder = tmp_path_factory.mktemp("evaluate")
    shutil.copytree(shared_evaluation.folder.parent / "build", folder / "build")
    shutil.copy(shared_evaluation.folder.parent / "release.zip", folder)
    pairs = medsim.Build(folder / "build").pairs()
    words = sorted({word for side in ("term1", "term2") for t in pairs[side] for word in t.split()})
    write_words(folder / "one.vec", words[::3], 1)
    write_words(folder / "two.vec", words[::2], 2)
    terms = pairs.unique("pair_id").sort("pair_id").head(60)
    lines = [
        f'"{a}","{b}",D1,D2,{(i * 37 % 11) / 10}'
        for i, (a, b) in enumerate(terms.select("term1", "term2").iter_rows())
    ]
    (folder / "rated.csv").write_text(RATED + "\n".join(lines) + "\n", encoding="utf-8")
    return folder


def run(data: Path, out: Path, *names: str, **options) -> medsim.Evaluation:
    defaults = {"resamples": 200, "metrics": ["avg_cos", "max_jaccard"], "coverage": "any"}
    options = defaults | options
    inputs = options.pop("inputs", [data / "build", data / "rated.csv"])
    return medsim.evaluate(
        inputs, {name: data / f"{name}.vec" for name in names or ("one", "two")}, out, **options
    )


@pytest.fixture(scope="module")
def out(data: Path) -> medsim.Evaluation:
    return run(data, data / "results")


@cache
def joined(out: medsim.Evaluation, embedding: str, metric: str) -> pl.DataFrame:
    """Return every pair of every set with its similarity."""
    scores = out.scores().filter(embedding=embedding, metric=metric).collect()
    pairs = out.pairs().collect().join(scores, on=["input", "pair_id"])
    return pairs.sort(*SET, "pair_id")


def test_the_folder_has_the_documented_files(out: medsim.Evaluation) -> None:
    files = {p.relative_to(out.folder).as_posix() for p in out.folder.rglob("*") if p.is_file()}
    assert {"manifest.json", "results.parquet", "comparisons.parquet"} < files
    assert "scores/input=build/embedding=one/metric=avg_cos/data.parquet" in files
    assert files == {"manifest.json", *out.manifest.outputs}
    assert not [p for p in out.folder.parent.iterdir() if p.name.startswith(".results")]


def test_scores_of_labelled_pairs_match_scikit_learn(out: medsim.Evaluation) -> None:
    from sklearn import metrics as sklearn_metrics

    results = out.results().filter(pl.col("embedding") != "baseline", input="build", subset="own")
    n_seen = 0
    for (*key, embedding, metric), group in results.group_by(*SET, "embedding", "metric"):
        pairs = joined(out, embedding, metric).filter(**dict(zip(SET, key, strict=True)))
        covered = pairs.drop_nulls("similarity")
        value = dict(group.select("statistic", "value").iter_rows())
        assert group["n_pairs"].unique().to_list() == [pairs.height]
        assert group["n_covered"].unique().to_list() == [covered.height]
        labels, similarities = covered["label"].to_numpy(), covered["similarity"].to_numpy()
        if len(set(labels)) < 2:
            assert value["auc"] is None
            continue
        n_seen += 1
        assert value["auc"] == pytest.approx(sklearn_metrics.roc_auc_score(labels, similarities))
        assert value["average_precision"] == pytest.approx(
            sklearn_metrics.average_precision_score(labels, similarities)
        )
        best = max(
            np.mean((similarities >= threshold) == (labels == 1))
            for threshold in [*similarities, math.inf]
        )
        assert value["accuracy"] == pytest.approx(best)
    assert n_seen > 10


def test_scores_of_rated_pairs_match_scipy(out: medsim.Evaluation) -> None:
    covered = joined(out, "one", "avg_cos").filter(input="rated").drop_nulls("similarity")
    results = out.results().filter(input="rated", subset="own", embedding="one", metric="avg_cos")
    value = dict(results.select("statistic", "value").iter_rows())
    pair = covered["similarity"].to_numpy(), covered["rating"].to_numpy()
    assert value["spearman"] == pytest.approx(stats.spearmanr(*pair).statistic)
    assert value["pearson"] == pytest.approx(stats.pearsonr(*pair).statistic)
    assert value["kendall"] == pytest.approx(stats.kendalltau(*pair).statistic)


def test_comparisons_use_pairs_that_all_embeddings_cover(out: medsim.Evaluation) -> None:
    covers = [
        joined(out, name, "avg_cos").filter(input="rated")["similarity"].is_not_null()
        for name in ("one", "two")
    ]
    n_common = int((covers[0] & covers[1]).sum())
    assert 0 < n_common < min(cover.sum() for cover in covers)
    common = out.results().filter(input="rated", subset="common")
    assert common["n_covered"].unique().to_list() == [n_common]
    assert out.comparisons().filter(input="rated")["n_pairs"].unique().to_list() == [n_common]
    coverage = out.coverage().filter(input="rated", embedding="one").row(0, named=True)
    assert coverage["n_pairs_common"] == n_common
    assert coverage["n_pairs"] - coverage["n_pairs_uncovered"] == int(covers[0].sum())


def test_every_comparison_is_made_once_and_corrected_in_its_family(out: medsim.Evaluation) -> None:
    comparisons = out.comparisons()
    labelled = comparisons.filter(input="build").group_by("between", "of").len()
    assert set(labelled.rows()) == {
        ("embeddings", "auc", 20),
        ("embeddings", "accuracy", 20),
        ("metrics", "auc", 40),
        ("metrics", "accuracy", 40),
        ("baseline", "auc", 40),
        ("baseline", "accuracy", 40),
        ("baseline", "auc_matched", 2),
        ("embeddings", "auc_matched", 1),
        ("baseline", "auc_beyond_spelling", 2),
        ("embeddings", "auc_beyond_spelling", 1),
        ("baseline", "auc_of_kind", 6),
        ("embeddings", "auc_of_kind", 3),
        ("baseline", "synonym_nearer", 6),
        ("embeddings", "synonym_nearer", 3),
    }
    assert comparisons.filter(input="rated")["of"].unique().to_list() == ["spearman"]
    tested = comparisons.drop_nulls("p")
    assert tested.height > 20
    assert (tested["p_holm"] <= tested["p_bonferroni"]).all()
    assert (tested["p"] <= tested["p_holm"]).all()


def test_values_of_comparisons_match_the_results(out: medsim.Evaluation) -> None:
    key = [*SET, "embedding", "metric", "statistic"]
    common = out.results().filter(pl.col("subset") != "own").select(*key, "value")
    for side in ("1", "2"):
        left_key = [*SET, f"embedding{side}", f"metric{side}", "of"]
        matched = out.comparisons().join(common, left_on=left_key, right_on=key, nulls_equal=True)
        assert matched.height == out.comparisons().height
        assert matched["value"].equals(matched[f"value{side}"].alias("value"), null_equal=True)


def test_neither_threads_nor_the_order_of_inputs_and_embeddings_matter(
    data: Path, out: medsim.Evaluation
) -> None:
    inputs = [data / "rated.csv", medsim.open(data / "build")]
    again = run(data, data / "turned", "two", "one", inputs=inputs, threads=1)
    key = [*SET, "subset", "embedding", "metric", "statistic"]
    assert_frame_equal(again.results().sort(key), out.results().sort(key))


def test_adding_an_embedding_later_gives_the_same_results(
    data: Path, out: medsim.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(data, data / "added", "one")
    embedded: list[str] = []
    real = evaluate_module.embed_terms
    monkeypatch.setattr(
        evaluate_module,
        "embed_terms",
        lambda named, *rest, **more: embedded.append(named.spec.name) or real(named, *rest, **more),
    )

    added = run(data, data / "added", "two")
    again = run(data, data / "added", "one")

    assert embedded == ["two"]
    assert again.manifest.outputs == added.manifest.outputs == out.manifest.outputs
    assert_frame_equal(added.results(), out.results())


def test_a_run_with_nothing_new_computes_nothing_and_a_further_metric_is_computed(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"inputs": data / "rated.csv"}
    run(data, data / "few", "one", **options, metrics=["avg_cos"])
    more = run(data, data / "few", "one", **options, metrics=["max_jaccard"])
    assert {"avg_cos", "max_jaccard"} <= {*more.results()["metric"]}
    damaged = data / "few" / "results.parquet"
    damaged.write_bytes(damaged.read_bytes()[:300])
    run(data, data / "few", "one", **options, metrics=["avg_cos"])
    assert medsim.Evaluation(data / "few").results().equals(more.results())
    monkeypatch.setattr(evaluate_module, "summarize", None)
    same = run(data, data / "few", "one", **options, metrics=["avg_cos", "max_jaccard"])
    assert same.manifest.outputs == more.manifest.outputs
    with pytest.raises(TypeError):
        run(data, data / "few", "one", **options, metrics=["pair_cos"])


def test_an_input_can_be_added_and_earlier_ones_stay(data: Path, out: medsim.Evaluation) -> None:
    run(data, data / "grown", inputs=medsim.open(data / "build"))
    grown = run(data, data / "grown", inputs=data / "rated.csv")
    assert grown.manifest.outputs == out.manifest.outputs


def test_an_opened_output_that_is_not_a_build_is_refused(
    data: Path, out: medsim.Evaluation, tmp_path: Path
) -> None:
    with pytest.raises(medsim.MedsimError, match="is an evaluation, not a build"):
        run(data, tmp_path / "none", inputs=[out, data / "rated.csv"])


def test_files_of_the_user_stay_when_results_are_added(data: Path) -> None:
    folder = run(data, data / "kept", "one", inputs=data / "rated.csv").folder
    (folder / "notes.txt").write_text("mine")
    run(data, folder, "two", inputs=data / "rated.csv")
    assert (folder / "notes.txt").read_text() == "mine"


def test_another_embedding_of_the_same_name_is_refused(data: Path) -> None:
    folder = run(data, data / "named", "one", inputs=data / "rated.csv").folder
    before = (folder / "manifest.json").read_bytes()
    for path, says in (("two.vec", "other content"), ("one.vec,case=keep", "other options")):
        with pytest.raises(medsim.MedsimError, match=rf"another embedding named one \({says}\)"):
            medsim.evaluate(
                data / "rated.csv", {"one": f"{data}/{path}"}, folder, resamples=200, coverage="any"
            )
    assert (folder / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seed": 1}, "was made with `seed` 0, not 1"),
        ({"coverage": "all"}, "made with `coverage` any, not all; use any to add to it"),
        ({"independent_pairs": True}, "made with `independent_pairs` False, not True; use False"),
    ],
)
def test_results_of_other_options_are_not_added_to(
    data: Path, tmp_path: Path, options, says: str
) -> None:
    folder = run(data, tmp_path / "out", "one", inputs=data / "rated.csv").folder
    with pytest.raises(medsim.MedsimError, match=says):
        run(data, folder, "one", inputs=data / "rated.csv", **options)
    again = run(data, folder, "one", inputs=data / "rated.csv", **options, overwrite=True)
    assert again.manifest.options.items() >= options.items()


def test_results_of_another_version_are_not_added_to(data: Path, tmp_path: Path) -> None:
    folder = run(data, tmp_path / "out", "one", inputs=data / "rated.csv").folder
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"medsim": "0.0.1"}))
    with pytest.raises(medsim.MedsimError, match=r"by medsim 0\.0\.1; .*; add `overwrite`"):
        run(data, folder, "one", inputs=data / "rated.csv")


def test_an_interrupted_run_continues_where_it_stopped(
    data: Path, out: medsim.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = data / "interrupted"
    with monkeypatch.context() as patched:
        patched.setattr(evaluate_module, "summarize", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(data, place)
    assert not place.exists()
    unfinished = place.with_name(f".{place.name}.unfinished")
    similarities = sorted(unfinished.rglob("metric=*/data.parquet"))
    assert len(similarities) == 8
    similarities[0].write_bytes(b"damaged")
    changed = [path.stat().st_mtime_ns for path in similarities]

    again = run(data, place)

    assert again.manifest.outputs == out.manifest.outputs
    final = [place / path.relative_to(unfinished) for path in similarities]
    assert [path.stat().st_mtime_ns for path in final][1:] == changed[1:]


def _interrupt(*_arguments: object) -> None:
    raise KeyboardInterrupt


def test_pair_ids_match_those_of_a_build(out: medsim.Evaluation, data: Path) -> None:
    pairs = medsim.open(data / "build").pairs().select("pair_id", "term1", "term2")
    assert all(pair_id_of(a, b) == pair_id for pair_id, a, b in pairs.iter_rows())
    rated, built = (out.pairs().filter(input=name).collect() for name in ("rated", "build"))
    assert set(rated["pair_id"]) <= set(built["pair_id"])


def test_a_signature_has_everything_that_determines_a_score(out: medsim.Evaluation) -> None:
    signatures = out.results()["signature"].unique().to_list()
    # The pairs of the headline score have one each, and three kinds of negatives.
    assert len(signatures) == (2 * 2 + 6) * 2 * (20 + 1) + (2 + 6) * (1 + 3)
    fingerprint = str(out.manifest.embeddings["one"]["fingerprint"])[:12]
    ending = f"one@{fingerprint}, avg_cos, seed 0, 200 resamples, score, own"
    assert any(line.startswith("medsim ") and line.endswith(ending) for line in signatures)


def test_the_manifest_records_the_inputs(out: medsim.Evaluation) -> None:
    manifest = json.loads((out.folder / "manifest.json").read_text())
    assert manifest["embeddings"]["one"]["n_dimensions"] == 6
    assert manifest["inputs"]["rated"]["layout"] == "Hliaoutakis"
    assert manifest["inputs"]["build"]["source"]["name"] == "release.zip"


@pytest.mark.parametrize(
    ("embeddings", "message"),
    [
        ({}, "name at least one of `embeddings`"),
        ({"one": "nowhere.vec"}, r"nowhere\.vec does not exist"),
        ({"a/b": "one.vec"}, "a name has at most 100 characters, no slash"),
        ({"one": "one.vec,casing=lower"}, "did you mean case"),
        ({"one": "one.vec,pooling=cls"}, "pooling=cls does not fit"),
    ],
)
def test_invalid_embeddings_are_refused_before_anything_is_written(
    data: Path, tmp_path: Path, embeddings: dict[str, str], message: str
) -> None:
    for name in ("one.vec", "rated.csv"):
        shutil.copy(data / name, tmp_path / name)
    named = {name: f"{tmp_path}/{path}" for name, path in embeddings.items()}
    with pytest.raises(medsim.MedsimError, match=message) as caught:
        medsim.evaluate(tmp_path / "rated.csv", named, tmp_path / "out", resamples=200)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["cos"]}, "none of `metrics` fits one; add one of avg_cos"),
        ({"metrics": ["avg_coz"]}, "did you mean avg_cos"),
        ({"index": "ifv", "retrieval": True}, "unknown index"),
        ({"index": "ivf"}, "`index` ivf needs `retrieval`"),
        ({"negatives": ["minimal"], "difficulty": ["easy"]}, "leave out `difficulty`"),
        ({"inputs": ["rated.csv", "./rated.csv"]}, "two inputs are named 'rated'"),
        ({"inputs": []}, "name at least one input"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options, message: str
) -> None:
    monkeypatch.chdir(data)
    with pytest.raises(medsim.MedsimError, match=message):
        run(data, tmp_path / "out", "one", **options)


def test_the_path_of_a_vocabulary_does_not_matter(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [line.split()[0] for line in (data / "one.vec").read_text().splitlines()[1:]]
    np.save(tmp_path / "v.npy", np.eye(len(words), 5, dtype=np.float32) + 1)
    (tmp_path / "w.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    shutil.copy(tmp_path / "w.txt", tmp_path / "moved.txt")
    shutil.copy(data / "rated.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    for vocabulary in ("w.txt", str(tmp_path / "w.txt"), "moved.txt"):
        embeddings = {"x": f"v.npy,vocabulary={vocabulary}"}
        evaluation = medsim.evaluate("rated.csv", embeddings, "out", resamples=200, coverage="any")
    assert evaluation.manifest.embeddings["x"]["options"] == {}
    assert evaluation.manifest.embeddings["x"]["vocabulary"] == "moved.txt"
    assert not evaluation.results().filter(pl.col("signature").str.contains("txt")).height


def test_builds_and_results_do_not_overwrite_each_other(data: Path, out: medsim.Evaluation) -> None:
    with pytest.raises(medsim.MedsimError, match="holds files, not a build"):
        medsim.build(data / "release.zip", out.folder, overwrite=True)
    with pytest.raises(medsim.MedsimError, match="build is an input of this command"):
        run(data, data / "build", "one")
    with pytest.raises(medsim.MedsimError, match="holds files, not an evaluation"):
        run(data, data / "build", "one", inputs=data / "rated.csv")


def test_a_build_whose_rows_do_not_match_its_manifest_is_refused(
    data: Path, tmp_path: Path
) -> None:
    build = tmp_path / "build"
    shutil.copytree(data / "build", build)
    path = next(build.glob("pairs/dataset=syn_syn/difficulty=hard/negatives=random/*.parquet"))
    pl.read_parquet(path, hive_partitioning=False).head(3).write_parquet(path)
    with pytest.raises(medsim.MedsimError, match=r"data\.parquet was changed; run medsim build"):
        run(data, tmp_path / "out", "one", inputs=build)
    path.write_bytes(b"x")
    with pytest.raises(medsim.MedsimError, match=r"data\.parquet cannot be read"):
        run(data, tmp_path / "out", "one", inputs=build)


def test_names_with_wildcards_are_taken_literally(data: Path, tmp_path: Path) -> None:
    for name in ("run[1]*", "run1"):
        shutil.copytree(data / "build", tmp_path / name)
    (tmp_path / "run1" / "manifest.json").unlink()
    name = "run[1]*"
    evaluation = run(data, tmp_path / f"out {name}", "one", inputs=tmp_path / name)
    n_pairs = medsim.open(tmp_path / name).pairs().height
    assert selected(evaluation, "select count(*) as n from pair").item() == n_pairs
    assert set(evaluation.results()["input"]) == {"run_1__"}


def test_huge_values_give_the_same_similarities(data: Path, tmp_path: Path) -> None:
    lines = (data / "one.vec").read_text().splitlines()
    rows = [line.split() for line in lines[1:]]
    huge = [" ".join([word, *(f"{value}e37" for value in values)]) for word, *values in rows]
    (tmp_path / "huge.vec").write_text("\n".join([lines[0], *huge]) + "\n")
    embeddings = {"usual": data / "one.vec", "huge": tmp_path / "huge.vec"}
    evaluation = medsim.evaluate(
        data / "rated.csv", embeddings, tmp_path / "out", resamples=200, coverage="any"
    )
    scores = evaluation.scores().collect().pivot("embedding", values="similarity")
    assert scores["usual"].null_count() == scores["huge"].null_count()
    assert (scores["usual"] - scores["huge"]).abs().max() < 1e-5


def test_altered_results_cannot_be_added_to(data: Path, tmp_path: Path) -> None:
    folder = run(data, tmp_path / "out", "one", inputs=data / "rated.csv").folder
    path = next(folder.glob("scores/*/*/metric=avg_cos/data.parquet"))
    changed = pl.read_parquet(path, hive_partitioning=False).with_columns(pl.col("similarity") / 2)
    changed.write_parquet(path)
    with pytest.raises(medsim.MedsimError, match="was changed; add `overwrite`"):
        run(data, folder, "two", inputs=data / "rated.csv")
    run(data, folder, "two", inputs=data / "rated.csv", overwrite=True)


def test_vocabularies_overlap_in_words_of_any_case_and_form_of_unicode() -> None:
    terms = pl.DataFrame({"term": ["a"], "covered": [True]})
    words = {
        "one": pl.DataFrame({"word": ["Me\u0301nie\u0300re", "vertigo"]}),
        "other": pl.DataFrame({"word": ["m\u00e9ni\u00e8re", "M\u00e9ni\u00e8re"]}),
    }

    (row,) = overlap_of("pairs", dict.fromkeys(words, terms), words).rows(named=True)

    assert [value for value in row.values() if isinstance(value, (int, float))] == [2, 1, 1, 0.5, 1]
