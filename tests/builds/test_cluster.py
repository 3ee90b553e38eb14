"""A build on a Dask cluster gives the same rows as without one, even if workers die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from fixtures.builds import run

import medsim

pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask
from distributed import CancelledError, Client, Future, LocalCluster

from medsim.builds import cluster
from medsim.core.manifest import library_versions

if TYPE_CHECKING:
    from medsim.core.progress import Stage

pytestmark = pytest.mark.slow


ANY_PORT = "127.0.0.1:0"
PATIENCE = 120  # seconds to wait for a condition before a test fails


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Wait for a busy machine, on which a process may not answer for half a minute.

    Variables that Dask sets for its workers are unset, as later tests start other programs.
    """
    monkeypatch.setattr(cluster, "_TIMEOUT", PATIENCE)
    timeouts = {"connect": f"{PATIENCE}s", "tcp": f"{PATIENCE}s"}
    with patch.dict(os.environ), dask.config.set({"distributed.comm.timeouts": timeouts}):
        yield


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "release.zip"
    medsim.synth(path, concepts=800, seed=1)
    return path


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    return medsim.build(source, tmp_path_factory.mktemp("whole") / "out").manifest.outputs


class FirstShare(medsim.Progress):
    """Does something once, after the first share has been returned."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__()
        self._act = act
        self.acted = False

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Run a stage, and watch it if it is the search on the cluster."""
        with super().stage(name) as stage:
            if name.startswith("search on"):
                stage.advance = self._advance
            yield stage

    def _advance(self, _n_units: int) -> None:
        if not self.acted:
            self.acted = True
            self._act()


@contextmanager
def workers(number: int) -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=number, threads_per_worker=1, dashboard_address=ANY_PORT, silence_logs=50
    ) as running:
        yield running


@pytest.fixture(scope="module")
def running() -> Iterator[LocalCluster]:
    """A cluster of two workers, for tests that leave them alive."""
    with workers(2) as running:
        yield running


def processes(running: LocalCluster) -> set[int]:
    with Client(running.scheduler_address, set_as_default=False) as client:
        return set(client.run(os.getpid).values())


@pytest.mark.full
def test_a_local_cluster_gives_the_same_rows(source: Path, whole: dict, tmp_path: Path) -> None:
    build = medsim.build(source, tmp_path / "out", dask="local", threads=1)

    assert build.manifest.outputs == whole
    assert "search on local" in {stage["name"] for stage in build.manifest.stages}


@pytest.mark.full
def test_a_killed_worker_does_not_change_the_rows(
    source: Path, whole: dict, tmp_path: Path
) -> None:
    with workers(1) as running:  # a separate cluster, since schedulers notice deaths late
        before = processes(running)
        progress = FirstShare(lambda: os.kill(min(before), signal.SIGKILL))  # its nanny starts one

        build = medsim.build(
            source, tmp_path / "out", dask=running.scheduler_address, progress=progress
        )

        assert progress.acted
        running.wait_for_workers(1, timeout=PATIENCE)
        assert processes(running) != before
    assert build.manifest.outputs == whole


@pytest.mark.full
def test_a_lost_result_is_searched_again(
    source: Path,
    whole: dict,
    running: LocalCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A worker may die after its share is finished and before it is fetched. Dask then reports the
    # future as cancelled, because it has forgotten it.
    lost = []
    fetch = Future.result

    def lossy(future: Future, *arguments: object, **options: object) -> object:
        if not lost:
            lost.append(future.key)
            raise CancelledError(future.key)
        return fetch(future, *arguments, **options)

    monkeypatch.setattr(Future, "result", lossy)
    build = medsim.build(source, tmp_path / "out", dask=running.scheduler_address)

    assert lost
    assert build.manifest.outputs == whole


@pytest.mark.full
def test_an_interrupt_at_a_terminal_ends_in_one_line(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "medsim", "build", str(source), "-o", "out"]
    process = subprocess.Popen(
        [*command, "--dask", "local", "--threads", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / ".out.unfinished" / "job.json").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # like a terminal, which also signals the worker
    stdout, stderr = process.communicate(timeout=PATIENCE)

    assert (process.returncode, stdout) == (130, "")
    assert stderr.splitlines()[-1] == "interrupted"
    assert "Traceback" not in stderr


def test_workers_of_other_versions_are_refused(
    source: Path, running: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = {**library_versions(), "medsim": "0.0.1"}
    monkeypatch.setattr(cluster.Client, "run", lambda _self, _function: {"tcp://invented:1": older})

    with pytest.raises(medsim.MedsimError, match=r"tcp://invented:1 has medsim 0\.0\.1, and"):
        medsim.build(source, tmp_path / "out", dask=running.scheduler_address)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_cluster_is_reported_in_one_line(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_TIMEOUT", 0.5)

    with pytest.raises(medsim.MedsimError, match="no Dask scheduler answers at tcp://127") as error:
        medsim.build(source, tmp_path / "out", dask="tcp://127.0.0.1:9")

    assert "\n" not in str(error.value)
    with (
        LocalCluster(n_workers=0, dashboard_address=ANY_PORT) as empty,
        pytest.raises(medsim.MedsimError, match="has no workers"),
    ):
        medsim.build(source, tmp_path / "out", dask=empty.scheduler_address)
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "medsim.builds.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)

    result = run("build", "hpo", "-o", tmp_path / "out", "--dask", "local")

    assert result.exit_code == 1
    assert result.stderr == "error: --dask needs Dask; install medsim with its extra dask\n"


def test_shards_and_dask_exclude_each_other(tmp_path: Path) -> None:
    result = run("build", "hpo", "-o", tmp_path / "out", "--shard", "1/2", "--dask", "local")

    assert result.exit_code == 1
    assert "--shard and --dask exclude each other" in result.stderr
