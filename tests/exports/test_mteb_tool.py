"""mteb runs its export, and gives the same scores as medsim."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import medsim

if TYPE_CHECKING:
    from fixtures.shared import Once

mteb = pytest.importorskip("mteb", reason="medsim[tools] is not installed", exc_type=ImportError)

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of mteb and its imports

SET = ("dataset", "difficulty", "negatives")
SIZES = ("n_positives", "n_negatives")
TYPES = ("PairClassification", "STS", "Retrieval")
ROUNDED = 1e-5  # mteb rounds retrieval scores to five decimals


def static_model(build, *, split):
    """Return a model of random vectors, for words or for whole lower-cased terms.

    Vectors of words have integers, so that terms with the same words tie; some words share one.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    terms = build.pairs().select(pl.concat_list("term1", "term2").explode().unique())
    units = terms.to_series().str.to_lowercase()
    units = (units.str.split(" ").explode() if split else units).unique().sort().to_list()
    random = np.random.default_rng(0)
    vectors = random.integers(-99, 99, (40, 8)) if split else random.normal(size=(len(units), 8))
    rows = np.arange(len(units)) % len(vectors)
    tokens = models.WordLevel({unit: at for at, unit in enumerate(units)}, unk_token=units[0])
    tokenizer = Tokenizer(tokens)
    tokenizer.normalizer = normalizers.Lowercase()
    if split:
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    static = StaticEmbedding(tokenizer, embedding_weights=vectors[rows].astype(np.float32))
    return SentenceTransformer(modules=[static], device="cpu")


def scores_of(model, tasks):
    """Return mteb's scores by the name of the task without its last part."""
    results = mteb.evaluate(model, tasks, cache=None, show_progress_bar=False).task_results
    return {task.task_name.rpartition("-")[0]: task.scores["test"][0] for task in results}


@pytest.fixture(scope="module")
def folder(once: Once, shared_build: medsim.Build) -> Path:
    """A folder with a rated file, and an export of it and of the shared build."""

    def make(folder: Path) -> None:
        pairs = shared_build.pairs("fsn_syn", "hard").head(60)
        ratings = pairs.select("term1", "term2", score=pl.int_range(pl.len()) % 7)
        ratings.write_csv(folder / "rated.csv")
        rated = f"{folder / 'rated.csv'},term1=term1,term2=term2,rating=score"
        medsim.export(shared_build, folder / "out", "mteb", private=True, rated=rated)

    return once("mteb-tool", make)


@pytest.fixture(scope="module")
def tasks(folder):
    """The tasks by mteb's type."""
    sys.path.insert(0, str(folder / "out"))
    try:
        from tasks import TASKS
    finally:
        del sys.path[0]
    return {kind: [t for t in TASKS if t.metadata.type == kind] for kind in TYPES}


@pytest.fixture(scope="module")
def ours(folder, shared_build, tmp_path_factory):
    """The evaluation of a model with many ties and of one without ties."""
    models = {"tied": static_model(shared_build, split=True)}
    models["free"] = static_model(shared_build, split=False)
    out = tmp_path_factory.mktemp("own") / "results"
    inputs = [shared_build, f"{folder / 'rated.csv'},term1=term1,term2=term2,rating=score"]
    result = medsim.evaluate(inputs, models, out, metrics=["cos"], retrieval=True)
    return models, result.results().filter(pl.col("subset").is_in(["own", "build"]))


def our_scores(ours, **key):
    """Return medsim's scores by statistic."""
    rows = ours[1].filter(pl.col(column).eq_missing(value) for column, value in key.items())
    return dict(rows.select("statistic", "value").rows())


def test_average_precision_and_accuracy_equal_medsims_even_with_ties(tasks, ours, shared_build):
    """Only medsim predicts all pairs or none as positives if no threshold is better."""
    scores = scores_of(ours[0]["tied"], tasks["PairClassification"])
    sets = shared_build.stats().filter(pl.col("n_positives") > 0)

    headline = scores.pop("release.zip-beyond-spelling")
    expected = our_scores(ours, embedding="tied", difficulty="all")["auc_beyond_spelling"]
    assert headline["main_score"] == pytest.approx(expected, abs=1e-6)
    assert len(scores) == sets.height
    for dataset, difficulty, negatives, *sizes in sets.select(*SET, *SIZES).iter_rows():
        theirs = scores[f"release.zip-{dataset}-{difficulty}-{negatives}"]
        key = dict(zip(SET, (dataset, difficulty, negatives), strict=True))
        expected = our_scores(ours, embedding="tied", **key)
        assert theirs["cosine_ap"] == pytest.approx(expected["average_precision"], abs=1e-6)
        assert theirs["main_score"] == theirs["cosine_ap"]
        if np.isfinite(expected["threshold"]):
            assert theirs["cosine_accuracy"] == pytest.approx(expected["accuracy"], abs=1e-6)
        else:
            assert theirs["cosine_accuracy"] <= expected["accuracy"] == max(sizes) / sum(sizes)


def test_correlations_with_ratings_equal_medsims_even_with_ties(tasks, ours):
    theirs = scores_of(ours[0]["tied"], tasks["STS"])["rated-score"]
    expected = our_scores(ours, embedding="tied", dataset="score")

    assert theirs["cosine_spearman"] == pytest.approx(expected["spearman"], abs=1e-6)
    assert theirs["cosine_pearson"] == pytest.approx(expected["pearson"], abs=1e-6)
    assert theirs["main_score"] == theirs["cosine_spearman"]


def test_ranks_of_terms_equal_medsims_without_ties(tasks, ours):
    theirs = scores_of(ours[0]["free"], tasks["Retrieval"])["release.zip-retrieval"]
    expected = our_scores(ours, embedding="free", dataset="retrieval", difficulty=None)

    for depth in (1, 5, 10):
        share = expected[f"accuracy_at_{depth}"]
        assert theirs[f"hit_rate_at_{depth}"] == pytest.approx(share, abs=ROUNDED)
    assert theirs["mrr_at_100"] == pytest.approx(expected["mrr"], abs=0.01)  # of 100 terms, not all
    assert theirs["main_score"] == theirs["mrr_at_10"]
