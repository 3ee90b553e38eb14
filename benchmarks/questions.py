"""How often rules of spelling, a learner on them and MiniLM answer balanced questions."""

from __future__ import annotations

import hashlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import medsim
from benchmarks.encode import write_model
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.timing import timed
from benchmarks.shortcuts import source_of
from medsim.exports import pairs
from medsim.exports.pairs import exported_pairs
from medsim.questions.answers import asked_of
from medsim.questions.question import read_questions
from medsim.questions.rules import RULES, scores_by_rule

if TYPE_CHECKING:
    import polars as pl

_N_WRONG = 3
_OPPOSITES = {"farthest", "farthest_from_options", "shortest"}


def measure(settings: Settings) -> Measured:
    """Return the accuracy of rules, of a learner and of MiniLM on each terminology."""
    said, total, n_questions = [], 0.0, settings.size(2_000, 300)
    names = ("hpo",) if settings.quick else ("hpo", "go", "mesh")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            source = source_of(name, settings.cache, place)
            build = medsim.build(source, place / "build", threads=settings.threads)
            out = place / "questions"
            make = partial(medsim.export, build, out, "jsonl", choices=_N_WRONG, private=True)
            # Later positives do not change the first questions.
            few = partial(first_positives, n_positives=2 * n_questions)
            with patch.object(pairs, "exported_pairs", few):
                _, seconds = timed(make)
            lines = (out / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
            (out / "train.jsonl").write_text("".join(lines[:n_questions]), encoding="utf-8")
            write_model(place / "minilm", settings.cache)
            models = {"minilm": str(place / "minilm")}
            results = medsim.evaluate(out, models, place / "answers", cache="none").results()
            right = dict(results.filter(by="all").select("model", "accuracy").rows())
            right["learner"] = learned(read_questions(out).asked)
            shares = ", ".join(f"{model} {share:.3f}" for model, share in right.items())
            said.append(f"{name} ({len(lines):,} of {2 * n_questions:,}) {shares}")
            total += seconds
    return Measured(
        about=f"{n_questions:,} balanced questions each on {', '.join(names)}",
        times=f"{total:.1f} s for all questions; {'; '.join(said)}",
        fingerprint=hashlib.sha256("; ".join(said).encode()).hexdigest()[:16],
    )


def first_positives(*of_export: Any, n_positives: int, **options: Any) -> pl.DataFrame:
    """Return the first positives of an export."""
    return exported_pairs(*of_export, **options).head(n_positives)


def learned(questions: pl.DataFrame) -> float:
    """Return the accuracy of a gradient boosting that learned how to combine rules.

    It sees the score of a choice by each rule, its differences from the largest and from the mean
    of the question, and its rank, and learned from the questions about other concepts.
    """
    shape = (questions.height, _N_WRONG + 1)
    scores = scores_by_rule(asked_of(questions, "pairs"))
    rules = [name for name in RULES if name not in _OPPOSITES]
    values = np.array([scores[name].reshape(shape) for name in rules]).astype(np.float64)
    gaps = [values - values.max(axis=2, keepdims=True), values - values.mean(axis=2, keepdims=True)]
    ranks = values.argsort(axis=2).argsort(axis=2)
    features = np.concatenate([values, *gaps, ranks]).transpose(1, 2, 0)
    answers = questions["answer"].to_numpy()
    is_right = np.arange(shape[1]) == answers[:, None]
    halves = np.array(
        [hashlib.sha256(concept.encode()).digest()[0] % 2 for concept in questions["concept1"]]
    )
    chosen = np.empty(len(answers), np.int64)
    for half in (0, 1):
        known, asked = features[halves != half], features[halves == half]
        learner = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
        learner.fit(known.reshape(-1, known.shape[2]), is_right[halves != half].ravel())
        chances = learner.predict_proba(asked.reshape(-1, asked.shape[2]))[:, 1]
        chosen[halves == half] = chances.reshape(-1, shape[1]).argmax(axis=1)
    return float((chosen == answers).mean())


BENCHMARKS.register("questions", measure)
