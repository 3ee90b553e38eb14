"""The headline score and the baselines without a model, compared with obvious programs."""

from __future__ import annotations

import shutil
from collections import Counter
from math import log2
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.release import random_release
from rapidfuzz.distance import Levenshtein
from sklearn.metrics import roc_auc_score

import medsim
from medsim.builds.spelling import spelling_of, strata_of_spelling
from medsim.core.errors import OptionError
from medsim.evaluations.baselines import BASELINES
from medsim.evaluations.sets import HEADLINE

TERMS = [
    "Heart",
    "heart attack",
    "HEART  attack",
    "Ärzte",
    "x",
    "xy",
    "İstanbul",
    "ab ab ab",
    "\U0001d49cb",
]


def trigrams(term: str) -> list[str]:
    padded = f"  {term} "
    return [padded[at : at + 3] for at in range(len(padded) - 2)]


OCCURRENCES = Counter(trigram for term in TERMS for trigram in trigrams(term.lower()))


def rarity(items: set[str]) -> float:
    return sum(log2(1 + len(TERMS) / OCCURRENCES[item]) for item in items)


def jaccard(first: set[str], second: set[str]) -> float:
    return len(first & second) / len(first | second)


def expected_similarities(name: str, first: str, second: str) -> float:
    distance = Levenshtein.distance(first, second)
    return {
        "distance": -distance,
        "distance_reversed": distance,
        "length": -abs(len(first) - len(second)),
        "trigram_overlap": jaccard({*trigrams(first)}, {*trigrams(second)}),
        "rare_trigram_overlap": rarity({*trigrams(first)} & {*trigrams(second)})
        / rarity({*trigrams(first)} | {*trigrams(second)}),
        "word_overlap": jaccard({*first.split()}, {*second.split()}),
    }[name]


@pytest.mark.parametrize("name", [name for name in BASELINES if name != "spelling"])
def test_baselines_compare_lower_case_spellings(name: str) -> None:
    pairs = [(first, second) for first in TERMS for second in TERMS]

    frame = pl.DataFrame(pairs, schema=["term1", "term2"], orient="row")
    similarities = BASELINES[name].similarities(spelling_of(frame))

    expected = [expected_similarities(name, a.lower(), b.lower()) for a, b in pairs]
    np.testing.assert_allclose(similarities, np.array(expected, np.float32), rtol=1e-6)


def test_pairs_of_a_stratum_have_equal_distances_and_gaps_and_near_sizes() -> None:
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice([*"abc"], rng.integers(1, 12))) for _ in range(400)]
    pairs = pl.DataFrame({"term1": words[:200], "term2": words[200:]})

    strata = strata_of_spelling(spelling_of(pairs))

    keys = [
        (Levenshtein.distance(a, b), abs(len(a) - len(b)), (len(a) + len(b)) // 5)
        for a, b in pairs.iter_rows()
    ]
    assert len({*zip(keys, strata, strict=True)}) == len({*keys}) == len({*strata})
    empty = pairs.clear()
    assert len(strata_of_spelling(spelling_of(empty))) == 0


def headline(evaluation: medsim.Evaluation) -> pl.DataFrame:
    return evaluation.results().filter(statistic=HEADLINE).sort("embedding", "metric")


def letters(terms: list[str]) -> np.ndarray:
    table = np.random.default_rng(0).normal(size=(128, 16))
    return np.array([sum(table[ord(character) % 128] for character in term) for term in terms])


MODEL = {"letters": medsim.Embedding(letters, name="letters", version="1")}


@pytest.fixture(scope="module")
def evaluation(
    tmp_path_factory: pytest.TempPathFactory, shared_evaluation: medsim.Evaluation
) -> medsim.Evaluation:
    folder = tmp_path_factory.mktemp("headline")
    shutil.copytree(shared_evaluation.folder.parent / "build", folder / "build")
    for name in ("one.vec", "two.vec"):
        shutil.copy(shared_evaluation.folder.parent / name, folder)
    models = {"one": folder / "one.vec"}
    return medsim.evaluate(folder / "build", models, folder / "results", coverage="any")


def test_matched_auc_is_scikit_learns_area_per_stratum_with_ties_for_what_is_not_covered(
    evaluation: medsim.Evaluation,
) -> None:
    pairs = evaluation.pairs().filter(dataset="syn_syn").collect().unique("pair_id")
    scores = evaluation.scores().filter(metric="avg_cos").collect()
    pairs = pairs.join(scores, on="pair_id")
    keys = [
        (Levenshtein.distance(a, b), abs(len(a) - len(b)), (len(a) + len(b)) // 5)
        for a, b in pairs.select(pl.col("term1", "term2").str.to_lowercase()).iter_rows()
    ]
    areas, weights, n_pairs, n_covered = [], [], 0, 0
    for group in pairs.with_columns(key=pl.Series(keys)).partition_by("key"):
        labels, covered = group["label"].to_numpy(), group["similarity"].is_not_null().to_numpy()
        if len({*labels}) < 2:
            continue
        n_pairs, n_covered = n_pairs + len(labels), n_covered + covered.sum()
        both, area = covered[labels == 1].mean() * covered[labels == 0].mean(), 0.5
        if both:
            area = roc_auc_score(labels[covered], group["similarity"].to_numpy()[covered])
        areas.append(both * area + (1 - both) / 2)
        weights.append((labels == 1).sum())

    of_model = evaluation.results().filter(embedding="one", statistic="auc_matched")
    row = of_model.row(0, named=True)

    assert row["value"] == pytest.approx(np.average(areas, weights=weights), abs=1e-12)
    assert row["low"] < row["value"] < row["high"]
    assert (row["metric"], row["subset"], row["difficulty"]) == ("avg_cos", "build", "all")
    assert (row["n_pairs"], row["n_covered"]) == (n_pairs, n_covered)
    assert n_covered < n_pairs < pairs.height
    share = evaluation.results().filter(statistic="matched_share")["value"].unique().to_list()
    n_positives = pairs.filter(label=1).height
    assert share == [pytest.approx(sum(weights) / n_positives)]


def test_headline_does_not_change_when_a_model_is_added(evaluation: medsim.Evaluation) -> None:
    before = headline(evaluation)
    build, model = (evaluation.folder.parent / name for name in ("build", "two.vec"))
    other = evaluation.folder.parent / "other"
    shutil.copytree(evaluation.folder, other)

    after = medsim.evaluate(build, {"two": model}, other, coverage="any")

    assert headline(after).filter(pl.col("embedding") != "two").equals(before)
    between = after.comparisons().filter(of=HEADLINE)
    assert sorted(between["between"]) == ["baseline", "baseline", "embeddings"]


def test_each_model_is_compared_with_the_best_baseline_of_each_set(
    evaluation: medsim.Evaluation,
) -> None:
    results = evaluation.results().filter(pl.col("subset").is_in(["common", "build"]))
    values = {
        tuple(row[:-1]): row[-1]
        for row in results.select(
            "dataset", "difficulty", "negatives", "embedding", "metric", "statistic", "value"
        ).iter_rows()
    }
    compared = evaluation.comparisons().filter(between="baseline")
    assert {"auc_matched", "auc_beyond_spelling", "auc", "accuracy"} <= {*compared["of"]}
    for row in compared.iter_rows(named=True):
        key = (row["dataset"], row["difficulty"], row["negatives"])
        of_row = {*BASELINES} - {"spelling"}  # the build is too small for it
        every = [values[*key, "baseline", name, row["of"]] for name in of_row]
        if None in every:  # only positives or only negatives are covered
            assert row["value2"] is None
            continue
        best = max(every)
        assert (row["embedding1"], row["embedding2"]) == ("one", "baseline")
        assert row["value2"] == best
        assert row["difference"] == pytest.approx(row["value1"] - best)
    tested = compared.filter(of=HEADLINE).row(0, named=True)
    assert tested["test"] == "matched_clusters"
    assert tested["low"] < tested["difference"] < tested["high"]


def test_a_build_without_random_negatives_has_baselines_and_no_headline(tmp_path: Path) -> None:
    random_release(4, 60).write_zip(tmp_path / "release.zip", "Snapshot")
    build = medsim.build(tmp_path / "release.zip", tmp_path / "build", negatives=["levenshtein"])

    evaluation = medsim.evaluate(build, MODEL, tmp_path / "results")

    assert headline(evaluation).is_empty()
    of_baseline = evaluation.results().filter(embedding="baseline")
    assert {*of_baseline["metric"]} == {*BASELINES} - {"spelling"}


def test_a_model_cannot_have_the_name_of_the_baselines(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'baseline' is the name of scores without a model"):
        medsim.evaluate(tmp_path, {"baseline": letters}, tmp_path / "results")
