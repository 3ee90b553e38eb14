"""The nearest name of MeSH, one thread, beside what else finds it: queries per second of CPU.

RapidFuzz is used in two ways: ``cdist`` with all names, and with care, on names by length, from the
query's length outwards, with a cutoff that falls. polars-ds and stringzillas take part if they are
installed. TF-IDF of trigrams is the usual substitute; how often it has a nearest name is measured.
"""

from __future__ import annotations

import hashlib
import time
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, extractOne

import medsim
from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_TOP = 100


def measure(settings: Settings) -> Measured:
    """Return queries per second of CPU, and the ratios; see ``Measure``."""
    n_many, n_few = settings.size(250_000, 20_000), settings.size(1_000, 200)
    return apart(_measured, settings.cache, n_many, n_few, settings.size(60, 10))


def _measured(cache: Path, n_many: int, n_few: int, n_peers: int) -> Measured:
    names = list(mesh(cache).terms)
    rng = np.random.default_rng(0)
    drawn = [names[row] for row in rng.choice(len(names), n_many, replace=False)]
    medsim.Pool(names[::50], threads=1).nearest(drawn[:10], 2)  # compiles
    pool, laying_out = _timed(lambda: _laid_out(names))
    found, many = _timed(lambda: pool.nearest(drawn, 2))
    _, few = _timed(lambda: pool.nearest(drawn[:n_few], 2))
    latencies = [_timed(partial(pool.nearest, [query], 2))[1] for query in drawn[:300]]
    # A query is in the pool, so its nearest other name has rank 2.
    distances = found.filter(rank=2)["distance"].to_list()
    rates, said = {}, []
    for name, search in _peers(names).items():
        some = drawn[: n_peers if name != "cdist" else 4 * n_peers]
        theirs, seconds = _timed(partial(search, some))
        if theirs != distances[: len(some)]:
            raise MismatchError(f"{name} finds other distances")
        rates[name] = len(some) / seconds
        said.append(f"{name} {rates[name]:.1f}")
    top, said_of_vectors = _tf_idf(names, drawn[:n_few], distances)
    speed = n_many / many
    return Measured(
        about=f"MeSH, {len(names):,} names, one thread; queries per second of CPU",
        times=f"{speed:,.0f} in a run of {n_many:,}, {n_few / few:,.0f} in a run of {n_few:,}, "
        f"{n_few / (few + laying_out):,.0f} with the layout; one query {_ms(latencies, 50)} ms "
        f"(median), {_ms(latencies, 99)} ms (99%); {', '.join(said)}; {said_of_vectors}",
        ratios={name: speed / rate for name, rate in rates.items()},
        fingerprint=hashlib.sha256(repr((distances, top)).encode()).hexdigest()[:16],
    )


def _laid_out(names: Sequence[str]) -> medsim.Pool:
    pool = medsim.Pool(names, threads=1)
    pool.nearest(names[:1])
    return pool


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def _ms(seconds: Sequence[float], percentile: int) -> str:
    return f"{1000 * np.percentile(seconds, percentile):.1f}"


def _peers(names: Sequence[str]) -> dict[str, Callable[[Sequence[str]], list[int]]]:
    """Return functions that give the distance of the nearest other name of each query."""
    peers: dict[str, Callable[[Sequence[str]], list[int]]] = {
        "RapidFuzz with care": partial(_with_care, _by_length(names)),
        "cdist": lambda queries: _second(
            cdist(queries, names, scorer=Levenshtein.distance, dtype=np.uint16)
        ),
    }
    if find_spec("polars_ds"):
        peers["polars-ds"] = partial(_by_polars, pl.DataFrame({"name": names}))
    if find_spec("stringzillas"):
        import stringzilla  # noqa: PLC0415 — not a dependency
        import stringzillas  # noqa: PLC0415 — as above

        engine = stringzillas.LevenshteinDistancesUTF8(capabilities=("serial",))
        pool = stringzilla.Strs(list(names))
        peers["stringzillas"] = lambda queries: _second(
            engine(stringzilla.Strs(list(queries)), pool)
        )
    return peers


def _second(matrix: Any) -> list[int]:
    """Return the second smallest distance of each query, as the smallest is its own."""
    return [int(value) for value in np.partition(np.asarray(matrix), 1, axis=1)[:, 1]]


def _by_length(names: Sequence[str]) -> dict[int, list[str]]:
    by_length: dict[int, list[str]] = {}
    for name in names:
        by_length.setdefault(len(name), []).append(name)
    return by_length


def _with_care(by_length: dict[int, list[str]], queries: Sequence[str]) -> list[int]:
    distances = []
    for query in queries:
        best, difference = max(by_length), 0
        while difference < best:
            for length in {len(query) - difference, len(query) + difference}:
                bucket = by_length.get(length, [])
                if length == len(query):
                    bucket = [name for name in bucket if name != query]
                nearest = extractOne(
                    query, bucket, scorer=Levenshtein.distance, score_cutoff=best - 1
                )
                best = best if nearest is None else int(nearest[1])
            difference += 1
        distances.append(best)
    return distances


def _by_polars(names: pl.DataFrame, queries: Sequence[str]) -> list[int]:
    import polars_ds  # noqa: PLC0415 — not a dependency

    columns = [names.select(polars_ds.str_leven("name", pl.lit(query))) for query in queries]
    return _second(np.stack([frame.to_series().to_numpy() for frame in columns]))


def _tf_idf(
    names: Sequence[str], queries: Sequence[str], distances: Sequence[int]
) -> tuple[list[bool], str]:
    """Return whether the most similar name by trigrams is a nearest one, and the shares."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 — of benchmarks

    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 3))
    vectors = vectorizer.fit_transform(names).T.tocsc().T
    ranks, seconds = [], 0.0
    for query, distance in zip(queries, distances, strict=False):
        began = time.process_time()
        similarities = (vectors @ vectorizer.transform([query]).T).toarray().ravel()
        top = np.argpartition(-similarities, _TOP)[: _TOP + 1]
        top = top[np.argsort(-similarities[top], kind="stable")]
        seconds += time.process_time() - began
        others = [names[row] for row in top if names[row] != query][:_TOP]
        nearest = [Levenshtein.distance(query, other) == distance for other in others]
        ranks.append(nearest.index(True) if any(nearest) else _TOP)
    shares = [np.mean([rank < top for rank in ranks]) for top in (1, 10, _TOP)]
    said = ", ".join(
        f"top {top} {share:.1%}" for top, share in zip((1, 10, _TOP), shares, strict=True)
    )
    return [rank == 0 for rank in ranks], f"TF-IDF {len(ranks) / seconds:.1f} ({said})"


BENCHMARKS.register("nearest_names", measure)
