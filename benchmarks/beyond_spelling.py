"""What baselines, other learners and models know beyond spelling, on four terminologies.

The other learners are trained on one half of the terminology and score the other, much as medsim's
classifier does. Those "of spelling" see other features than it, which name no letter and no word.
Those "trained here" see which n-grams or words two terms differ in: they learn vocabulary, and so
what a model of meaning should know.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rapidfuzz import fuzz
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cpdist

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings, UnavailableError
from benchmarks.harness.timing import timed
from benchmarks.leaderboard.__main__ import packaged
from benchmarks.shortcuts import source_of
from medsim.builds.spelling import (
    Fragments,
    learned_scores,
    spelling_of,
    strata_of_spelling,
    terminology_parts,
)
from medsim.evaluations.baselines import BASELINES
from medsim.statistics.boosting import strata_of_scores
from medsim.statistics.matched import MatchedPairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medsim.builds.spelling import Spelling
    from medsim.kernels.types import Flags, Ids, Rows, Values, Vectors

_N_DIVISIONS = 5
_MOST_TRAINED = 1 << 16  # pairs of a half
_MOST_SCORED = 50_000  # positives that models and other learners score; of more, a sample
_CONCEPTS = 2_000  # of the invented release
_TEST = "-test"  # the end of the name of a test split
MODELS = ("glove-6b-50d", "all-minilm-l6-v2-int8")


def measure(settings: Settings) -> Measured:
    """Return plain AUC, matched AUC and AUC beyond spelling of everything on every build."""
    names = ("synth",) if settings.quick else ("hpo", "hpo-test", "mondo", "go", "mesh")
    said, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            build = _build(name, settings, Path(folder))
            rows, seconds = timed(partial(_rows, build, settings, Path(folder) / f"{name}-results"))
            said.append(f"{name} " + ", ".join(rows))
            print(said[-1], file=sys.stderr, flush=True)  # the last takes half an hour
            total += seconds
    return Measured(
        about=f"the default builds of {', '.join(names)}: AUC, matched AUC, AUC beyond spelling "
        f"(standard deviation over {_N_DIVISIONS} divisions)",
        times=f"{total:.0f} s; {'; '.join(said)}",
        fingerprint=hashlib.sha256("; ".join(said).encode()).hexdigest()[:16],
    )


def _build(name: str, settings: Settings, folder: Path) -> medsim.Build:
    if name == "synth":
        source: str | Path = folder / "release.zip"
        medsim.synth(source, concepts=_CONCEPTS, seed=1)
    elif name.endswith(_TEST):
        build = folder / name.removesuffix(_TEST)
        return medsim.split(build, folder / f"{name}-splits", ratios="80/10/10")["test"]
    else:
        source = source_of(name, settings.cache, folder)
    return medsim.build(source, folder / name, threads=settings.threads)


def _rows(build: medsim.Build, settings: Settings, folder: Path) -> list[str]:
    """Return a line for each baseline, learner and model; small sizes have only baselines."""
    pairs = build.pairs().filter(dataset="syn_syn").unique("pair_id").sort("pair_id")
    spelling, labels = spelling_of(pairs), pairs["label"].to_numpy() == 1
    parts = [terminology_parts(spelling, labels, seed) for seed in range(_N_DIVISIONS)]
    scores = [learned_scores(spelling, labels, of_seed) for of_seed in parts]
    similarities = {
        name: baseline.similarities(spelling).astype(np.float64)
        for name, baseline in BASELINES.items()
    }
    similarities["spelling"] = scores[0]
    strata = [np.zeros(len(labels), np.int32), strata_of_spelling(spelling)]
    strata += [strata_of_scores(*of_seed) for of_seed in zip(scores, parts, strict=True)]
    if settings.quick:
        return [*_lines(similarities, labels, strata)]
    of_models, is_scored = _of_models(build, pairs, settings, folder)
    halves = terminology_parts(spelling, labels, n_parts=2) == 1
    learned = _learned(spelling, labels, halves, is_scored)
    of_scored = [of_pairs[is_scored] for of_pairs in strata]
    return [
        *_lines(similarities, labels, strata),
        *_lines(learned | of_models, labels[is_scored], of_scored),
    ]


def _lines(similarities: dict[str, Values], labels: Flags, strata: list[Ids]) -> Iterator[str]:
    """Return lines, given the strata of all pairs, of equal spelling, and of each division."""
    areas = [MatchedPairs(labels, of, by_precision=at > 1) for at, of in enumerate(strata)]
    for name, values in similarities.items():
        plain, matched, *beyond = (area.sample(values).auc.value for area in areas)
        deviation = np.std(beyond, ddof=1)
        yield f"{name} {plain:.3f} {matched:.3f} {beyond[0]:.3f} ({deviation:.4f})"


def _of_models(
    build: medsim.Build, pairs: pl.DataFrame, settings: Settings, folder: Path
) -> tuple[dict[str, Values], Flags]:
    """Return the similarities of scored pairs by each model, and which pairs are scored."""
    models = packaged(settings.cache, folder, MODELS)
    medsim.evaluate(
        build,
        models,
        folder / "results",
        datasets=["syn_syn"],
        metrics=["cos", "avg_cos"],
        sample=_MOST_SCORED,
    )
    evaluation = medsim.Evaluation(folder / "results")
    scores, sampled = evaluation.scores().collect(), evaluation.pairs().collect()
    sampled = sampled.filter(pl.col("negatives") != "all")  # "all": added for the matched AUC
    is_scored = pairs["pair_id"].is_in(sampled["pair_id"].unique().implode())
    scored, found = pairs.filter(is_scored).select("pair_id"), {}
    for (model,), rows in scores.group_by("embedding", maintain_order=True):
        if model in models:
            of_model = rows.select("pair_id", "similarity").unique("pair_id")
            joined = scored.join(of_model, on="pair_id", how="left", maintain_order="left")
            found[str(model)] = joined["similarity"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found, is_scored.to_numpy()


def _learned(
    spelling: Spelling, labels: Flags, halves: Flags, is_scored: Flags
) -> dict[str, Values]:
    """Return the cross-fitted scores of other learners, for the pairs that are scored.

    Raises:
        UnavailableError: scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import (  # noqa: PLC0415 — a tool for developers
            ExtraTreesClassifier,
            HistGradientBoostingClassifier,
            RandomForestClassifier,
        )
        from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    except ImportError as error:
        raise UnavailableError("scikit-learn is not installed") from error
    linear = LogisticRegression(max_iter=500)
    learners = {
        "another boosting": HistGradientBoostingClassifier(max_iter=200, early_stopping=False),
        "forest": RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
        "extra trees": ExtraTreesClassifier(100, min_samples_leaf=5, random_state=0),
        "logistic": make_pipeline(StandardScaler(), linear),
    }
    sides = labels, halves, is_scored
    features = _other_features(spelling)
    found = {
        f"{name} of spelling": _cross_fitted(learner, features, *sides)
        for name, learner in learners.items()
    }
    counters = {
        "n-grams": CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=3),
        "words": CountVectorizer(token_pattern=r"\w+", min_df=3),  # noqa: S106 — no password
    }
    for name, counter in counters.items():
        counter.set_params(binary=True, dtype=np.int8)
        differing = _differences(counter.fit_transform(spelling.terms.to_list()), spelling)
        found[f"linear of {name}, trained here"] = _cross_fitted(linear, differing, *sides)
    return found


def _differences(counts: Any, spelling: Spelling) -> Callable[[Rows], Any]:
    """Return a function of rows of pairs: what only either term has, and what only the first."""
    from scipy.sparse import hstack  # noqa: PLC0415 — comes with scikit-learn

    def differing(rows: Rows) -> Any:
        differences = counts[spelling.first[rows]] - counts[spelling.second[rows]]
        return hstack([abs(differences), differences.maximum(0)], "csr", np.float32)

    return differing


def _cross_fitted(
    learner: Any, features: Callable[[Rows], Any], labels: Flags, halves: Flags, is_scored: Flags
) -> Values:
    """Return the probabilities of a learner that was trained on the other half."""
    chances, rng = np.empty(len(labels)), np.random.default_rng(0)
    for half in (False, True):
        rows = rng.permutation(np.flatnonzero(halves != half))[:_MOST_TRAINED]
        learner.fit(features(rows), labels[rows])
        members = np.flatnonzero((halves == half) & is_scored)
        chances[members] = learner.predict_proba(features(members))[:, 1]
    return chances[is_scored]


def _other_features(spelling: Spelling) -> Callable[[Rows], Vectors]:
    """Return a function of rows of pairs: features most of which medsim's classifier lacks."""
    trigrams = Fragments.trigrams(spelling.terms)
    words = Fragments.words(spelling.terms, r"[^\s,/-]+")

    def features(rows: Rows) -> Vectors:
        ends, lengths = (spelling.first[rows], spelling.second[rows]), spelling.lengths[:, rows]
        texts = [spelling.terms.gather(end).to_list() for end in ends]
        shared, left, right, rarest_left, rarest_right, *counts = words.overlap(*ends)
        columns = [
            spelling.distances[rows],
            spelling.distances[rows] / np.maximum(lengths.max(axis=0), 1),
            np.abs(np.diff(lengths, axis=0)[0]),
            lengths.sum(axis=0),
            trigrams.jaccard(*ends),
            trigrams.jaccard(*ends, rare=True),
            words.jaccard(*ends),
            words.jaccard(*ends, rare=True),
            shared,
            left + right,
            rarest_left + rarest_right,
            np.abs(counts[1] - counts[2]),
            np.minimum(counts[1], counts[2]),
            np.minimum(counts[1], 3) * 4 + np.minimum(counts[2], 3),
            *(
                cpdist(*texts, scorer=scorer, dtype=np.float32)
                for scorer in (JaroWinkler.similarity, fuzz.token_sort_ratio, fuzz.partial_ratio)
            ),
        ]
        return np.array(columns, np.float32).T

    return features


BENCHMARKS.register("beyond_spelling", measure)
