"""What baselines, other learners and models know beyond spelling, on four terminologies.

The other learners see spelling, but other features than medsim's classifier. They are trained on
one half of the terminology and score the other, as the classifier does.
"""

from __future__ import annotations

import hashlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
    halves_of,
    learned_scores,
    spelling_of,
    strata_of_spelling,
)
from medsim.evaluations.baselines import BASELINES
from medsim.statistics.boosting import strata_of_scores
from medsim.statistics.matched import MatchedPairs

if TYPE_CHECKING:
    from medsim.builds.spelling import Spelling
    from medsim.kernels.types import Flags, Values, Vectors

_N_HALVINGS = 5
_MOST_TRAINED = 1 << 16  # pairs of a half
_CONCEPTS = 2_000  # of the invented release
MODELS = ("glove-6b-50d", "all-minilm-l6-v2-int8")


class Scored(NamedTuple):
    """Pairs with their labels, spelling, and similarities by name."""

    spelling: Spelling
    labels: Flags
    similarities: dict[str, Values]


def measure(settings: Settings) -> Measured:
    """Return plain AUC, matched AUC and AUC beyond spelling of everything on every build."""
    names = ("synth",) if settings.quick else ("hpo", "mondo", "go", "mesh")
    said, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            build = _build(name, settings, Path(folder))
            rows, seconds = timed(partial(_rows, build, settings, Path(folder) / f"{name}-results"))
            said.append(f"{name} " + ", ".join(rows))
            total += seconds
    return Measured(
        about=f"the default builds of {', '.join(names)}: AUC, matched AUC, AUC beyond spelling "
        f"(standard deviation over {_N_HALVINGS} halvings)",
        times=f"{total:.0f} s; {'; '.join(said)}",
        fingerprint=hashlib.sha256("; ".join(said).encode()).hexdigest()[:16],
    )


def _build(name: str, settings: Settings, folder: Path) -> medsim.Build:
    if name == "synth":
        source: str | Path = folder / "release.zip"
        medsim.synth(source, concepts=_CONCEPTS, seed=1)
    else:
        source = source_of(name, settings.cache, folder)
    return medsim.build(source, folder / name, threads=settings.threads)


def _rows(build: medsim.Build, settings: Settings, folder: Path) -> list[str]:
    """Return a line for each baseline, learner and model."""
    pairs = build.pairs().collect().filter(dataset="syn_syn").unique("pair_id").sort("pair_id")
    spelling, labels = spelling_of(pairs), pairs["label"].to_numpy() == 1
    halves = [halves_of(spelling, labels, seed) for seed in range(_N_HALVINGS)]
    scores = [learned_scores(spelling, labels, of_seed) for of_seed in halves]
    similarities = {
        name: baseline.similarities(spelling).astype(np.float64)
        for name, baseline in BASELINES.items()
    }
    similarities |= {"spelling": scores[0]} | _learned(spelling, labels, halves[0])
    if not settings.quick:
        similarities |= _of_models(build, pairs, settings, folder)
    beyond = [
        MatchedPairs(labels, strata_of_scores(*of_seed), by_precision=True)
        for of_seed in zip(scores, halves, strict=True)
    ]
    plain, matched = (
        MatchedPairs(labels, strata)
        for strata in (np.zeros(len(labels), np.int32), strata_of_spelling(spelling))
    )
    return [
        f"{name} {_area(plain, values):.3f} {_area(matched, values):.3f} "
        f"{_area(beyond[0], values):.3f} "
        f"({np.std([_area(of_seed, values) for of_seed in beyond], ddof=1):.4f})"
        for name, values in similarities.items()
    ]


def _area(pairs: MatchedPairs, values: Values) -> float:
    return pairs.sample(values).auc.value


def _of_models(
    build: medsim.Build, pairs: pl.DataFrame, settings: Settings, folder: Path
) -> dict[str, Values]:
    """Return the similarities of pairs by each model."""
    models = packaged(settings.cache, folder, MODELS)
    medsim.evaluate(build, models, folder / "results", metrics=["cos", "avg_cos"])
    scores = medsim.Evaluation(folder / "results").scores().collect()
    found = {}
    for (model,), rows in scores.group_by("embedding", maintain_order=True):
        if model in models:
            joined = pairs.select("pair_id").join(
                rows.select("pair_id", "similarity").unique("pair_id"),
                on="pair_id",
                how="left",
                maintain_order="left",
            )
            found[str(model)] = joined["similarity"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return found


def _learned(spelling: Spelling, labels: Flags, halves: Flags) -> dict[str, Values]:
    """Return the cross-fitted scores of other learners.

    Raises:
        UnavailableError: scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import (  # noqa: PLC0415 — a tool for developers
            ExtraTreesClassifier,
            HistGradientBoostingClassifier,
            RandomForestClassifier,
        )
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    except ImportError as error:
        raise UnavailableError("scikit-learn is not installed") from error
    learners = {
        "another boosting": HistGradientBoostingClassifier(max_iter=200, early_stopping=False),
        "forest": RandomForestClassifier(100, min_samples_leaf=5, random_state=0),
        "extra trees": ExtraTreesClassifier(100, min_samples_leaf=5, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    }
    features, rng = _other_features(spelling).T, np.random.default_rng(0)
    found = {}
    for name, learner in learners.items():
        odds = np.empty(len(labels))
        for half in (False, True):
            rows = rng.permutation(np.flatnonzero(halves != half))[:_MOST_TRAINED]
            learner.fit(features[rows], labels[rows])
            odds[halves == half] = learner.predict_proba(features[halves == half])[:, 1]
        found[name] = odds
    return found


def _other_features(spelling: Spelling) -> Vectors:
    """Return features of pairs that mostly differ from those of medsim's classifier."""
    ends = spelling.first, spelling.second
    texts = [spelling.terms.gather(end).to_list() for end in ends]
    longest = np.maximum(spelling.lengths.max(axis=0), 1)
    trigrams = Fragments.trigrams(spelling.terms)
    words = Fragments.words(spelling.terms, r"[^\s,/-]+")
    shared, left, right, rarest_left, rarest_right, *counts = words.overlap(*ends)
    return np.array(
        [
            spelling.distances,
            spelling.distances / longest,
            np.abs(np.diff(spelling.lengths, axis=0)[0]),
            spelling.lengths.sum(axis=0),
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
        ],
        np.float32,
    )


BENCHMARKS.register("beyond_spelling", measure)
