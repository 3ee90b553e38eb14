"""Samples of builds: which pairs are drawn, and how an evaluation names its sample."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from rapidfuzz.distance import Levenshtein
from typer.testing import CliRunner

import medsim
from medsim.cli import app
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

    of_sets = pl.col("difficulty") != "all"
    samples = {size: sampled(frame, size, 3).filter(of_sets) for size in (1, 20, 21, 10**9)}

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
    assert first_terms(sampled(shuffled, 20, 3).filter(of_sets)) == smaller
    assert first_terms(sampled(frame, 20, 4).filter(of_sets)) != smaller


def strata(frame: pl.DataFrame) -> pl.Series:
    lower = frame.select(pl.col("term1", "term2").str.to_lowercase()).iter_rows()
    keys = [
        f"{Levenshtein.distance(a, b)} {abs(len(a) - len(b))} {(len(a) + len(b)) // 5}"
        for a, b in lower
    ]
    return pl.Series(keys, dtype=pl.String)


def test_the_headline_score_of_a_sample_has_matching_negatives_where_the_build_has(
    shared_evaluation: medsim.Evaluation,
) -> None:
    frame = shared_evaluation.pairs().filter(dataset="syn_syn").collect()
    frame = frame.with_columns(key=strata(frame))
    negatives = frame.filter(label=0)["key"]

    sample = sampled(frame, 10, 3)

    of_sets = sample.filter(pl.col("difficulty") != "all")
    positives = of_sets.filter(label=1)["key"].unique()
    matched = positives.filter(positives.is_in(negatives.implode()))
    assert {*positives} & {*sample.filter(label=0)["key"]} == {*matched}
    assert not {*matched} <= {*of_sets.filter(label=0)["key"]}
    further = sample.filter(difficulty="all", negatives="all", label=0)
    assert further.height == sample.height - of_sets.height > 0
    assert {*further["key"]} <= {*positives}
    assert further["key"].value_counts()["count"].max() <= 5
    assert not {*further["pair_id"]} & {*of_sets["pair_id"]}
    without_random = frame.filter(pl.col("negatives") != "random")
    assert "all" not in sampled(without_random, 40, 3)["difficulty"]


def test_an_evaluation_of_a_sample_records_and_says_so(build: Path, tmp_path: Path) -> None:
    model = {"one": build.parent / "one.vec"}
    options = {"sample": 40, "coverage": "any", "metrics": ["avg_cos"]}

    evaluation = medsim.evaluate(build, model, tmp_path / "results", **options)

    results = evaluation.results().filter(embedding="one")
    assert results["signature"].str.contains(", sample of 40 positives,").all()
    share, whole = (
        each.results().filter(statistic="matched_share", metric="avg_cos", embedding="one")["value"]
        for each in (evaluation, medsim.Evaluation(build.parent / "results"))
    )
    assert abs(share.item() - whole.item()) < 0.1
    pairs = evaluation.pairs().filter(dataset="syn_syn").collect()
    n_in_set = evaluation.coverage().filter(difficulty="all")["n_pairs"].item()
    assert n_in_set == pairs["pair_id"].n_unique()
    assert 0 < results.filter(statistic="auc_matched")["n_pairs"].item() < n_in_set
    assert "all" not in evaluation.results().filter(statistic="auc")["difficulty"]
    assert evaluation.manifest.options["sample"] == 40
    drawn = "40 positives of each dataset, or all if there are fewer, with their negatives"
    at_metric = {"C.1": ["avg_cos"]}
    for table in ("best", "standings", "article", "all-auc", "C.1"):
        metrics = at_metric.get(table)
        options = CompareOptions(evaluation=evaluation, table=table, metrics=metrics)
        sentences = compared(options)[1]
        assert sentences[-1] == f"Builds were scored on a sample of {drawn} (seed 0)."
    for table in ("article", "C.1"):
        arguments = ["compare", str(evaluation.folder), "--table", table, "--format", "md"]
        arguments += ["--metric", "avg_cos"] if table in at_metric else []
        printed = " ".join(CliRunner().invoke(app, arguments).stdout.split())
        assert printed.endswith(f"Builds were scored on a sample of {drawn} (seed 0).")
    n_positives = (
        evaluation.pairs().filter(label=1, dataset="syn_syn").collect().n_unique("pair_id")
    )
    assert 40 <= n_positives < 60


def test_rated_files_alone_are_not_sampled(build: Path, tmp_path: Path) -> None:
    (tmp_path / "rated.csv").write_text("term1,term2,rating\na,b,1\na,c,2\n")
    model = {"one": build.parent / "one.vec"}

    with pytest.raises(OptionError, match="`sample` needs a build among the inputs"):
        medsim.evaluate(tmp_path / "rated.csv", model, tmp_path / "results", sample=9)
