"""Looks up linked terms among all terms, exactly and approximately, compared with NumPy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.timing import timed
from medsim.core.kinds import TERM_COLUMNS
from medsim.core.progress import Progress, Stage
from medsim.embeddings.embedded_terms import EmbeddedTerms
from medsim.embeddings.lookup import gpu_library
from medsim.embeddings.metrics import TermPoints
from medsim.evaluations.retrieval import retrieve

if TYPE_CHECKING:
    from medsim.kernels.types import Vectors

_TERMS_A_CENTRE = 20
_SPREAD = 0.5  # standard deviation of terms around their centre; that of centres is 1
_APART = 0.55  # distance of linked terms, so that other terms come between
_BLOCK = 16_384  # terms that NumPy compares at a time
_FEW = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a look-up.

    Attributes:
        n_terms: number of all terms.
        n_queries: number of terms to look up, linked in pairs, so even.
        n_plain: number of these that NumPy looks up.
        n_dimensions: dimensions of the vectors.
        threads: threads of medsim; NumPy uses all.
    """

    n_terms: int
    n_queries: int
    n_plain: int
    n_dimensions: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The times and results of an index.

    Attributes:
        seconds: time for all queries, with making the index.
        ready_seconds: time for two queries, nearly all of it for making the index.
        peak_mib: peak memory, with the vectors.
        ranks: rank for each query, null if nothing was found.
        recall: recall of the ten nearest; None for an exact index.
    """

    seconds: float
    ready_seconds: float
    peak_mib: int
    ranks: pl.Series
    recall: float | None


def measure(settings: Settings) -> Measured:
    """Return the number of terms looked up per second; see ``Measure``.

    Looking up all terms with a flat index would take half an hour at full size, so some are looked
    up among all terms, and the time for all is extrapolated.
    """
    job = Job(
        n_terms=settings.size(700_000, 60_000),
        n_queries=settings.size(65_536, 4096),
        n_plain=settings.size(2048, 1024),
        n_dimensions=200,
        threads=settings.threads,
    )
    flat, ivf, hnsw = (apart(look_up, job, index) for index in ("flat", "ivf", "hnsw"))
    there = apart(look_up, job, "flat", "auto") if gpu_library() else None
    plain_seconds, plain_ranks = apart(look_up_plainly, job)
    wrong = np.flatnonzero(plain_ranks != flat.ranks.head(job.n_plain).to_numpy())
    if len(wrong):
        raise MismatchError(f"the rank of query {wrong[0]} differs from brute force")
    if there and not there.ranks.equals(flat.ranks):
        raise MismatchError("the ranks of a GPU differ from those of the processor")
    plain = plain_seconds / job.n_plain
    exact_each = _each(flat, job)
    share = (flat.ranks == 1).sum() / job.n_queries
    return Measured(
        about=f"{job.n_queries:,} terms in {job.n_terms:,}, {job.n_dimensions} dimensions",
        times=f"flat {flat.seconds:.1f} s, to make the index {flat.ready_seconds:.1f} s of them, "
        f"so for all terms {(flat.ready_seconds + exact_each * job.n_terms) / 60:.1f} minutes "
        f"(extrapolated); {_gpu_times(there)}"
        f"{_times(ivf, 'ivf', job)}; {_times(hnsw, 'hnsw', job)}; "
        f"{100 * share:.0f}% have a linked term nearest; NumPy (matmul and argpartition), each "
        "for one term",
        ratios={
            "NumPy to flat": plain / exact_each,
            "NumPy to ivf": plain / _each(ivf, job),
            "NumPy to hnsw": plain / _each(hnsw, job),
        },
        peak=f"flat {flat.peak_mib} MiB, ivf {ivf.peak_mib} MiB, hnsw {hnsw.peak_mib} MiB, of "
        f"which the vectors {job.n_terms * job.n_dimensions * 4 >> 20} MiB",
        fingerprint=hashlib.sha256(flat.ranks.to_numpy().tobytes()).hexdigest()[:16],
    )


def look_up(job: Job, index: str, device: str = "cpu") -> Looked:
    """Return the seconds of an index for two queries and for all."""
    vectors = invented(job)
    found_by = partial(retrieve, index=index, seed=0, threads=job.threads, device=device)
    few = replace(job, n_terms=min(_FEW, job.n_terms))
    found_by(_linked(few, 2), _embedded(vectors[:_FEW]), Stage("warm"))  # compiles
    progress = Progress()
    with progress.stage("first") as stage:
        _, ready = timed(lambda: found_by(_linked(job, 2), _embedded(vectors), stage))
    with progress.stage("all") as stage:
        ranked, seconds = timed(
            lambda: found_by(_linked(job, job.n_queries), _embedded(vectors), stage)
        )
    recall = ranked["recall"].mean()
    return Looked(
        seconds=seconds,
        ready_seconds=ready,
        peak_mib=max(record.peak_mib for record in progress.records),
        ranks=ranked["rank"],
        recall=recall if isinstance(recall, float) else None,
    )


def look_up_plainly(job: Job) -> tuple[float, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return NumPy's seconds for the ten nearest terms of some queries, and their ranks."""
    vectors = invented(job)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = units[: job.n_plain]

    def nearest() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        best = np.full((len(queries), 0), 0, np.float32)
        for begin in range(0, len(units), _BLOCK):
            cosines = queries @ units[begin : begin + _BLOCK].T
            n_kept = min(11, cosines.shape[1])
            kept = np.argpartition(-cosines, n_kept - 1, axis=1)[:, :n_kept]
            best = np.concatenate([best, np.take_along_axis(cosines, kept, axis=1)], axis=1)
        return np.sort(best, axis=1)[:, ::-1][:, :11]

    _, seconds = timed(nearest)
    ranks = np.ones(job.n_plain, np.int64)
    wide = units[: job.n_plain].astype(np.float64)
    partners = wide.reshape(-1, 2, job.n_dimensions)[:, ::-1].reshape(wide.shape)
    linked = (wide * partners).sum(axis=1)
    for begin in range(0, len(units), _BLOCK):
        cosines = wide @ units[begin : begin + _BLOCK].T.astype(np.float64)
        ranks += (cosines >= linked[:, None]).sum(axis=1)
    near = np.arange(job.n_plain)
    counts_itself = (wide @ wide.T >= linked[:, None])[near, near].astype(np.int64)
    counts_linked = (wide @ wide.T >= linked[:, None])[near, near ^ 1].astype(np.int64)
    return seconds, ranks - counts_itself - counts_linked


def invented(job: Job) -> Vectors:
    """Return vectors around centres; the first ones are in pairs near each other."""
    draw = np.random.default_rng(0)
    n_centres = max(1, job.n_terms // _TERMS_A_CENTRE)
    centres = draw.standard_normal((n_centres, job.n_dimensions), np.float32)
    vectors = centres[draw.integers(0, n_centres, job.n_terms)]
    vectors += np.float32(_SPREAD) * draw.standard_normal(vectors.shape, np.float32)
    seconds = vectors[1 : job.n_queries : 2]
    seconds[:] = vectors[0 : job.n_queries : 2]
    seconds += np.float32(_APART * 2**0.5) * draw.standard_normal(seconds.shape, np.float32)
    return vectors


def _linked(job: Job, n_queries: int) -> pl.DataFrame:
    """Return terms whose first ones are linked in pairs."""
    component = np.arange(job.n_terms, dtype=np.int32)
    component[1:n_queries:2] -= 1
    return pl.DataFrame(
        {
            "term": _terms(job.n_terms),
            "component": component,
            "difficulty": pl.Series(["hard"]).new_from_index(0, job.n_terms),
            "n_words": pl.Series([1], dtype=pl.Int32).new_from_index(0, job.n_terms),
            "is_linked": np.arange(job.n_terms) < n_queries,
        }
    )


def _embedded(vectors: Vectors) -> EmbeddedTerms:
    n_terms = len(vectors)
    terms = pl.DataFrame({"term": _terms(n_terms), "covered": True}).with_columns(
        pl.lit(None).alias("n_words"), pl.lit(None).alias("n_unknown_words")
    )
    return EmbeddedTerms(
        embedded=TermPoints(vectors=vectors),
        covered=np.ones(n_terms, np.bool_),
        terms=terms.cast(pl.Schema(TERM_COLUMNS)),
        words=None,
        n_vocabulary=None,
    )


def _terms(n_terms: int) -> pl.Series:
    return pl.int_range(n_terms, eager=True).cast(pl.String).str.zfill(7)


def _gpu_times(looked: Looked | None) -> str:
    """Return the times of a GPU in words, empty without one."""
    if looked is None:
        return ""
    ready = looked.ready_seconds
    return f"on a GPU {looked.seconds:.1f} s, to make the index {ready:.1f} s of them; "


def _times(looked: Looked, index: str, job: Job) -> str:
    """Return the times of an approximate index in words."""
    minutes = (looked.ready_seconds + _each(looked, job) * job.n_terms) / 60
    return (
        f"{index} {looked.seconds:.1f} s, to make the index and a flat one for its recall "
        f"{looked.ready_seconds:.1f} s of them, so for all terms {minutes:.1f} minutes, recall "
        f"{looked.recall:.3f}"
    )


def _each(looked: Looked, job: Job) -> float:
    """Return the seconds for one query, without making the index."""
    return (looked.seconds - looked.ready_seconds) / job.n_queries


BENCHMARKS.register("retrieval", measure)
