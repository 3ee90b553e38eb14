"""The names of MeSH with the most similar trigrams, for altered names: TF-IDF, one thread.

scikit-learn's vectors are compared by SciPy in batches, and by sparse_dot_topn if it is installed,
for a part of the queries; their times are extrapolated to all.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import mesh
from medsim.core.progress import Progress
from medsim.neighbours.rankers import names_by_tfidf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_DEPTH = 10
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ADDED = ("10 mg tablet", "injection", "nos", "oral solution", "left", "unspecified", "chronic")
_ROUNDING = 1e-6
_BATCH = 100


def measure(settings: Settings) -> Measured:
    """Return the seconds of CPU, and the ratios; see ``Measure``."""
    n_queries, n_compared = settings.size(200_000, 2_000), settings.size(1_000, 200)
    return apart(_measured, settings.cache, n_queries, n_compared)


def _measured(cache: Path, n_queries: int, n_compared: int) -> Measured:
    names = list(mesh(cache).terms)
    queries = _altered(names, n_queries)
    columns = pl.Series(names), pl.Series(queries)
    names_by_tfidf(columns[0][:100], columns[1][:10], _DEPTH, 1)  # compiles
    progress = Progress()
    with progress.stage("search"):
        found, ours = _timed(partial(names_by_tfidf, *columns, _DEPTH, 1))
    few = found.filter(pl.col("query_id") < n_compared)
    ratios = {}
    (vectors, asked), preparing = _timed(lambda: _vectors(names, queries[:n_compared]))
    for name, search in _peers().items():
        scores, seconds = _timed(partial(search, asked, vectors.T.tocsr()))
        expected = scores[scores > 0]
        if len(expected) != len(few) or np.abs(expected - few["score"]).max() > _ROUNDING:
            raise MismatchError(f"{name} finds other similarities")
        ratios[name] = (preparing + seconds / n_compared * n_queries) / ours
    rows = found.select("query_id", "name_id").to_numpy().tobytes()
    return Measured(
        about=f"MeSH, {n_queries:,} altered in {len(names):,} names, k = {_DEPTH}, one thread",
        times=f"{ours:.1f} s of CPU",
        ratios=ratios,
        peak=f"{progress.records[-1].peak_mib} MiB",
        fingerprint=hashlib.sha256(rows).hexdigest()[:16],
    )


def _altered(names: Sequence[str], n_queries: int) -> list[str]:
    """Return names with a letter changed, with their words reversed, or with words added."""
    rng = np.random.default_rng(0)
    altered = []
    for row, way in zip(
        rng.choice(len(names), n_queries, replace=False), rng.integers(0, 4, n_queries), strict=True
    ):
        text = names[row]
        if way & 1:
            text = " ".join(reversed(text.split()))
        if way == 2:  # noqa: PLR2004 — of four ways
            text += " " + str(rng.choice(_ADDED))
        if way in {0, 3}:
            at = rng.integers(len(text))
            text = text[:at] + _LETTERS[rng.integers(len(_LETTERS))] + text[at + 1 :]
        altered.append(text)
    return altered


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def _vectors(names: Sequence[str], queries: Sequence[str]) -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 — of benchmarks

    fitted = TfidfVectorizer(analyzer=_trigrams)
    return fitted.fit_transform(names), fitted.transform(queries)


def _trigrams(text: str) -> list[str]:
    """Return trigrams as scikit-learn's, which would join spaces before."""
    text = f" {text} "
    return [text[at : at + 3] for at in range(len(text) - 2)]


def _peers() -> dict[str, Callable[[Any, Any], Any]]:
    """Return functions that give the largest similarities of each query, descending."""
    peers: dict[str, Callable[[Any, Any], Any]] = {"scikit-learn": _by_scipy}
    if find_spec("sparse_dot_topn"):
        peers["sparse_dot_topn"] = _by_sparse_dot_topn
    return peers


def _by_scipy(asked: Any, vectors: Any) -> Any:
    batches = range(0, asked.shape[0], _BATCH)
    products = (row for at in batches for row in (asked[at : at + _BATCH] @ vectors))
    return np.array([_largest(row.data) for row in products])


def _by_sparse_dot_topn(asked: Any, vectors: Any) -> Any:
    from sparse_dot_topn import sp_matmul_topn  # noqa: PLC0415 — not a dependency

    found = sp_matmul_topn(asked, vectors, top_n=_DEPTH, n_threads=1, sort=True)
    return np.array([_largest(row.data) for row in found])


def _largest(products: Any) -> Any:
    largest = np.zeros(_DEPTH)
    some = np.partition(products, -_DEPTH)[-_DEPTH:] if len(products) > _DEPTH else products
    largest[: len(some)] = -np.sort(-some)
    return largest


BENCHMARKS.register("similar_names", measure)
