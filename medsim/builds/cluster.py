"""Searches on a Dask cluster; the only module that imports Dask."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from distributed import CancelledError, Client, KilledWorker, LocalCluster, as_completed, get_worker

from medsim.builds.negatives.candidates import (
    CandidateSource,
    candidates_of,
    request_share,
    with_spares,
)
from medsim.core.errors import ClusterError
from medsim.core.manifest import library_versions, medsim_version
from medsim.core.progress import Progress, Stage
from medsim.neighbours.search import NearestSearch, Terms

if TYPE_CHECKING:
    from distributed import Future

    from medsim.builds.negatives import SearchResult, TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.kernels.types import Ids

_SHARES_PER_WORKER = 8  # so that a slow, late or lost worker costs little
_MIN_FIRSTS = 64  # per share
_RETRIES = 3  # of a failed share, and of everything after all workers with a pool were lost
_TIMEOUT = 60  # seconds for a cluster to answer, and to have a worker
_IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Run by local workers, so that they ignore an interrupt, which only the main process reports."""


@contextmanager
def on_cluster(
    address: str, *, seed: int, threads: int, progress: Progress
) -> Iterator[ClusterSearch]:
    """Connect to a cluster, and yield a search on it.

    Raises:
        ClusterError: no scheduler answers, it has no workers, or their versions differ.
    """
    with ExitStack() as stack:
        local_or_address: LocalCluster | str = address
        if address == "local":
            local_or_address = stack.enter_context(
                LocalCluster(
                    n_workers=threads,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.ERROR,
                    preload=[_IGNORE_INTERRUPTS],
                )
            )
        with progress.stage(f"connect to Dask at {address}") as waiting:
            waiting.say(f"waits up to {_TIMEOUT} seconds for the scheduler, and for a worker")
            try:
                client = stack.enter_context(
                    Client(local_or_address, timeout=_TIMEOUT, set_as_default=False)
                )
            except (OSError, ValueError) as error:
                raise ClusterError(f"no Dask scheduler answers at {address} ({error})") from error
            try:
                client.wait_for_workers(1, timeout=_TIMEOUT)
                worker_versions = client.run(_versions)
            except TimeoutError as error:
                raise ClusterError(f"{address} has no workers ({_TIMEOUT} seconds)") from error
            except ImportError as error:
                raise ClusterError(
                    f"the workers of {address} cannot import medsim: {error}"
                ) from error
            for worker, versions in worker_versions.items():
                _check_versions(worker, versions, _versions())
        yield ClusterSearch(client, address, seed)


class ClusterSearch:
    """Searches shares on the workers of a cluster; see ``builds.build.complete``."""

    def __init__(self, client: Client, address: str, seed: int) -> None:
        self._client = client
        self._address = address
        self._seed = seed

    def __call__(
        self, index: TermIndex, requests: Sequence[SearchRequest], progress: Progress
    ) -> Sequence[SearchResult]:
        """Return the nearest candidates for all requests.

        Each pool is sent to every worker once, and free workers search its shares. If a worker
        dies, its share is searched again on another one.
        """
        n_workers = len(self._client.scheduler_info(n_workers=-1)["workers"])
        shares = []
        for request in sorted(requests, key=lambda request: len(request.pool_ids), reverse=True):
            n_firsts = len(request.term1_ids)
            n_shares = min(_SHARES_PER_WORKER * n_workers, -(-n_firsts // _MIN_FIRSTS))
            shares += [
                request_share(index, request, number + 1, n_shares) for number in range(n_shares)
            ]
        pending = dict(enumerate(shares))
        results: list[SearchResult] = []
        with progress.stage(f"search on {self._address}") as stage:
            stage.total(sum(len(share.term1_ids) for share in pending.values()))
            for _ in range(_RETRIES):
                if pending:
                    results += self._searched(index, pending, stage)
            if pending:
                raise ClusterError(f"the workers of {self._address} were lost {_RETRIES} times")
            stage.note(f"{len(results):,} shares on {n_workers:,} workers")
        return results

    def _searched(
        self, index: TermIndex, pending: dict[int, SearchRequest], stage: Stage
    ) -> Iterator[SearchResult]:
        """Yield the results of shares, and remove the shares.

        Shares stay if their pool was lost because all workers with it died.
        """
        pools = {}
        for name, request in {share.pool: share for share in pending.values()}.items():
            candidates = candidates_of(index, request.pool_ids)
            pool = _Pool(name, candidates, request.pool_ids, self._seed)
            pools[name] = self._client.scatter(pool, broadcast=True, hash=False)
        shares: dict[Future[SearchResult], int] = {}
        for number, share in pending.items():
            future = self._client.submit(
                _search,
                pools[share.pool],
                share.term1_ids,
                share.sizes,
                _versions(),
                retries=_RETRIES,
                pure=False,
            )
            shares[future] = number
        for future in as_completed(shares, loop=self._client.loop):
            share = pending[shares[future]]
            if future.status not in {"finished", "error"}:
                continue
            try:
                result = future.result()
            except CancelledError:  # the worker died between finishing and handing over
                continue
            except KilledWorker as error:
                raise ClusterError(
                    f"every worker that searched one share of {share.pool} died; "
                    f"the last was {error.last_worker.address}"
                ) from error
            del pending[shares[future]]
            stage.advance(len(share.term1_ids))
            yield result


class _Pool:
    """A pool on a worker, prepared at its first search.

    Its terms and arrays are sent. The worker searches one share at a time, with all its threads.
    Arrays are copied, because kernels are compiled for writable arrays, and messages have
    read-only ones.
    """

    def __init__(self, name: str, candidates: Terms, term_ids: Ids, seed: int) -> None:
        self._sent = (name, candidates, term_ids, seed)
        self._lock = Lock()
        self._source: CandidateSource | None = None

    def __reduce__(self) -> tuple[type[_Pool], tuple[object, ...]]:
        return type(self), self._sent

    def search(self, term1_ids: Ids, sizes: Ids, threads: int) -> SearchResult:
        with self._lock:
            if self._source is None:
                name, sent, term_ids, seed = self._sent
                copied = replace(sent, components=sent.components.copy(), hashes=sent.hashes.copy())
                search = with_spares(term_ids, NearestSearch(copied, seed=seed, threads=threads))
                self._source = CandidateSource(name, term_ids, term_ids, lambda: search)
            return self._source.search(term1_ids.copy(), sizes.copy(), lambda _: None)


def _search(pool: _Pool, term1_ids: Ids, sizes: Ids, versions: dict[str, str]) -> SearchResult:
    worker = get_worker()
    _check_versions(worker.address, _versions(), versions)
    return pool.search(term1_ids, sizes, worker.state.nthreads)


def _check_versions(worker: str, there: dict[str, str], here: dict[str, str]) -> None:
    """Raise ClusterError if a worker has other versions, because they might change results."""
    for name, version in here.items():
        if there.get(name) != version:
            raise ClusterError(
                f"worker {worker} has {name} {there.get(name)}, and this process {version}; "
                "all versions must be the same, because results can depend on them"
            )


def _versions() -> dict[str, str]:
    return {"medsim": medsim_version(), **library_versions()}
