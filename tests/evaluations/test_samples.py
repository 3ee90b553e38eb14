"""Samples of builds: which pairs are drawn, and how an evaluation names its sample."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.core.errors import OptionError
from medsim.evaluations.compare import compared
from medsim.evaluations.options import CompareOptions
from medsim.evaluations.samples import sampled

Drawn = dict[str, set[str]]


@pytest.fixture(scope="module")
def build(shared_evaluation: medsim.Evaluation) -> Path:
    return shared_evaluation.folder.parent / "build"


def first_terms(frame: pl.DataFrame) -> Drawn:
    groups = frame.group_by("dataset").agg("term1").iter_rows()
    return {dataset: {*terms} for dataset, terms in groups}


def test_a_sample_has_whole_first_terms_until_there_are_enough_positives(
    shared_evaluation: medsim.Evaluation,
) -> None:
    frame = shared_evaluation.pairs().filter(pl.col("label").is_not_null()).collect()

    samples = {size: sampled(frame, size, 3) for size in (1, 20, 21, 10**9)}

    for size, sample in samples.items():
        for dataset, drawn in first_terms(sample).items():
            every = frame.filter(dataset=dataset)
            whole = every.filter(pl.col("term1").is_in(list(drawn)))
            assert sample.filter(dataset=dataset).equals(whole)
            positives = every.filter(label=1).unique("pair_id").group_by("term1").len()
            counts = {term: n for term, n in positives.iter_rows() if term in drawn}
            n_drawn = sum(counts.values())
            assert n_drawn >= min(size, positives["len"].sum())
            assert n_drawn - max(counts.values()) < size
    smaller, larger = (first_terms(samples[size]) for size in (20, 21))
    assert all(smaller[dataset] <= larger[dataset] for dataset in smaller)
    assert samples[10**9].equals(frame)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=0)
    assert first_terms(sampled(shuffled, 20, 3)) == smaller
    assert first_terms(sampled(frame, 20, 4)) != smaller


def test_an_evaluation_of_a_sample_records_and_says_so(build: Path, tmp_path: Path) -> None:
    model = {"one": build.parent / "one.vec"}
    options = {"sample": 40, "coverage": "any", "metrics": ["avg_cos"]}

    evaluation = medsim.evaluate(build, model, tmp_path / "results", **options)

    results = evaluation.results().filter(embedding="one")
    assert results["signature"].str.contains(", sample of 40 positives,").all()
    assert results.filter(statistic="auc_matched").height == 1
    assert evaluation.manifest.options["sample"] == 40
    sentences = compared(CompareOptions(evaluation=evaluation))[1]
    drawn = "40 positives of each dataset, with their negatives"
    assert sentences[-1] == f"Builds were scored on a sample: {drawn} (seed 0)."
    n_positives = (
        evaluation.pairs().filter(label=1, dataset="syn_syn").collect().n_unique("pair_id")
    )
    assert 40 <= n_positives < 60


def test_rated_files_alone_are_not_sampled(build: Path, tmp_path: Path) -> None:
    (tmp_path / "rated.csv").write_text("term1,term2,rating\na,b,1\na,c,2\n")
    model = {"one": build.parent / "one.vec"}

    with pytest.raises(OptionError, match="`sample` needs a build among the inputs"):
        medsim.evaluate(tmp_path / "rated.csv", model, tmp_path / "results", sample=9)
