"""Baselines without a model: how similar two terms are by their spelling alone.

They show how much of a score needs no meaning. In results they are metrics of the embedding
"baseline".
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from medsim.builds.spelling import (
    Fragments,
    Spelling,
    learned_scores,
    spelling_of,
    strata_of_spelling,
    terminology_parts,
)
from medsim.core.errors import OutputError
from medsim.core.files import write_file
from medsim.kernels.types import Singles
from medsim.statistics.boosting import strata_of_scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A baseline.

    Attributes:
        describes: its similarity in a few words, for help and reports.
        similarities: returns float32[n_pairs], larger for more similar terms, NaN if unknown.
    """

    describes: str
    similarities: Callable[[Spelling], Singles]


def _jaccard(fragments: Fragments, spelling: Spelling, *, rare: bool = False) -> Singles:
    return fragments.jaccard(spelling.first, spelling.second, rare=rare).astype(np.float32)


BASELINES = {
    "distance": Baseline(
        describes="a smaller Levenshtein distance counts as more similar",
        similarities=lambda spelling: -spelling.distances.astype(np.float32),
    ),
    "distance_reversed": Baseline(
        describes="a larger Levenshtein distance counts as more similar",
        similarities=lambda spelling: spelling.distances.astype(np.float32),
    ),
    "length": Baseline(
        describes="a smaller difference of lengths counts as more similar",
        similarities=lambda spelling: (
            -np.abs(np.diff(spelling.lengths, axis=0)[0]).astype(np.float32)
        ),
    ),
    "trigram_overlap": Baseline(
        describes="Jaccard index of the sets of three adjacent characters",
        similarities=lambda spelling: _jaccard(Fragments.trigrams(spelling.terms), spelling),
    ),
    "rare_trigram_overlap": Baseline(
        describes="the same, in which trigrams that are rare in the evaluated terms count more",
        similarities=lambda spelling: _jaccard(
            Fragments.trigrams(spelling.terms), spelling, rare=True
        ),
    ),
    "spelling": Baseline(
        describes="log odds of synonyms by a spelling classifier, trained on other terms",
        similarities=lambda spelling: spelling.learned,
    ),
    "word_overlap": Baseline(
        describes="Jaccard index of the sets of words",
        similarities=lambda spelling: _jaccard(Fragments.words(spelling.terms, r"\S+"), spelling),
    ),
}
"""The baselines by name."""

DEFINITION = 2
"""The version of the features, the parts, the classifier and the strata of ``learned_strata``."""

FEWEST_POSITIVES = 800
"""The fewest positives to train on; with fewer, spelling still tells the pairs apart."""

_DIGEST = hashlib.sha256().digest_size


def learned_strata(pairs: pl.DataFrame, identity: str, cache: Path | None) -> pl.DataFrame:
    """Return the scores of pairs by a spelling classifier, and strata of nearly equal scores.

    The classifier needs 800 positives to train on. With fewer, scores are null, and strata are
    those of ``strata_of_spelling``.

    Args:
        pairs: distinct labelled pairs, with pair_id, term1, term2 and label.
        identity: identifies the pairs in the cache.
        cache: the folder in which results are kept; None keeps none.

    Returns:
        pair_id, spelling (Float32, log odds of synonyms) and stratum (Int32).
    """
    return kept(
        cache,
        "spelling",
        f"{identity}, {pairs.height} pairs, version {DEFINITION}",
        partial(_learned_strata, pairs),
    )


def _learned_strata(pairs: pl.DataFrame) -> pl.DataFrame:
    spelling, labels = spelling_of(pairs), pairs["label"].to_numpy() == 1
    parts = terminology_parts(spelling, labels)
    n_positives = np.bincount(parts[labels], minlength=1)
    if n_positives.sum() - n_positives.max() < FEWEST_POSITIVES:
        strata = strata_of_spelling(spelling)
        return pairs.select("pair_id", spelling=pl.lit(None, pl.Float32), stratum=pl.Series(strata))
    scores = learned_scores(spelling, labels, parts)
    return pairs.select(
        "pair_id",
        spelling=pl.Series(scores, dtype=pl.Float32),
        stratum=pl.Series(strata_of_scores(scores, parts)),
    )


def kept(
    cache: Path | None, name: str, identity: str, make: Callable[[], pl.DataFrame]
) -> pl.DataFrame:
    """Return a frame from a cache, or make it and keep it there.

    Args:
        cache: a folder; None keeps nothing.
        name: begins the name of the file.
        identity: identifies the content.
        make: makes the frame.
    """
    path = cache and cache / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()}"
    if path is not None:
        with suppress(OSError):
            content = path.read_bytes()
            if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:  # not damaged
                return pl.read_ipc(io.BytesIO(content[_DIGEST:]))
    frame = make()
    if path is not None:
        frame.write_ipc(stream := io.BytesIO())
        content = stream.getvalue()
        with suppress(OSError, OutputError):  # the next run makes it again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, hashlib.sha256(content).digest() + content, overwrite=True)
    return frame
