"""Sets in which one cluster of pairs decides the scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import medsim
from medsim.evaluations.inputs import EvaluationInput, pair_id_of
from medsim.evaluations.output import SET_PAIRS
from medsim.evaluations.scoring import dominated_sets


def labelled(n_chained: int, n_single: int, *, independent: bool = False) -> EvaluationInput:
    """Return positives, some of them in a chain of shared terms, with a negative for each."""
    chained = [(f"chained {at:02}", f"chained {at + 1:02}") for at in range(n_chained)]
    positives = chained + [(f"single {at}", f"other {at}") for at in range(n_single)]
    rows = [(pair_id_of(*pair), *pair, 1) for pair in positives]
    rows += [(pair_id_of(term, f"not {term}"), term, f"not {term}", 0) for term, _ in positives]
    frame = pl.DataFrame(rows, schema=["pair_id", "term1", "term2", "label"], orient="row")
    named = {"dataset": "syn_syn", "difficulty": "hard", "negatives": "random"}
    return EvaluationInput(
        name="build",
        rated=False,
        frame=frame.with_columns(
            pl.col("label").cast(pl.Int8),
            *(pl.lit(value).alias(column) for column, value in named.items()),
            rating=pl.lit(None, pl.Float64),
            spelling=pl.lit(None, pl.Float32),
            stratum=pl.lit(None, pl.Int32),
            difference=pl.lit(None, pl.String),
            relation=pl.lit(None, pl.String),
        ).select(*SET_PAIRS.dtypes),
        provenance={},
        independent=independent,
    )


def test_a_dominant_cluster_is_reported_with_some_of_its_terms() -> None:
    (warning,) = dominated_sets(labelled(n_chained=90, n_single=10))

    assert warning == (
        "build syn_syn/hard/random: 90% of the pairs share terms, such as 'chained 00', "
        "'chained 01' and 'chained 02'; this cluster decides every score, so there are no "
        "confidence intervals and no tests"
    )


@pytest.mark.parametrize(
    "pairs",
    [
        labelled(n_chained=2, n_single=20),
        labelled(n_chained=90, n_single=2),  # too few clusters, however large each is
        labelled(n_chained=90, n_single=10, independent=True),
    ],
    ids=["small clusters", "few clusters", "independent pairs"],
)
def test_other_sets_give_no_warning(pairs: EvaluationInput) -> None:
    assert list(dominated_sets(pairs)) == []


@pytest.mark.slow
def test_an_evaluation_warns_and_gives_no_interval(tmp_path: Path) -> None:
    many = [f'synonym: "name {at:02} of many" EXACT []' for at in range(12)]
    terms = [("many", "many", "\n".join(many))]
    terms += [(at, f"thing {at}", f'synonym: "item {at} alone" EXACT []') for at in range(6)]
    entries = [f"\n[Term]\nid: T:{at}\nname: {name}\n{more}\n" for at, name, more in terms]
    (tmp_path / "release.obo").write_text("format-version: 1.2\n" + "".join(entries))
    build = medsim.build(tmp_path / "release.obo", tmp_path / "build", negatives=["random"])

    evaluation = medsim.evaluate(build, {"one": lengths}, tmp_path / "results", cache="none")

    low = evaluation.results().filter(statistic="auc", dataset="syn_syn")["low"]
    assert low.null_count() == len(low) > 0
    assert any("decides every score" in warning for warning in evaluation.manifest.warnings)


def lengths(terms: list[str]) -> np.ndarray:
    return np.array([[len(term), term.count("a") + 1, ord(term[0])] for term in terms], float)
