"""A build appears complete or not at all, even after a kill, a full disk or damage."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.program import program

import medsim
from medsim.builds.output import BUILD
from medsim.core.output import claimed
from medsim.evaluations.output import EVALUATION

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds to wait for a condition
LAST = "pairs/dataset=syn_syn/difficulty=hard/negatives=random/data.parquet"
FIRST = "pairs/dataset=possibly_equivalent_to/difficulty=easy/negatives=random/data.parquet"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "release.zip"
    medsim.synth(path, concepts=500, seed=1)
    return path


@pytest.fixture(scope="module")
def finished(source: Path, tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A finished build to copy."""
    return medsim.build(source, tmp_path_factory.mktemp("finished") / "out")


@pytest.fixture(scope="module")
def undisturbed(finished: medsim.Build) -> dict:
    return finished.manifest.outputs


@pytest.fixture(scope="module")
def of_seed_1(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    return medsim.build(source, tmp_path_factory.mktemp("other") / "out", seed=1).manifest.outputs


@pytest.fixture(scope="module")
def killed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The remains of a build that was killed twice, the second time with all random sets written.

    The second run continues where the first was killed.
    """
    out = tmp_path_factory.mktemp("killed") / "out"
    for name in ("terminology/concept.parquet", LAST):
        kill_at(source, out, name)
        assert not out.exists()
    return unfinished(out, ".")


@pytest.fixture
def interrupted(killed: Path, tmp_path: Path) -> Path:
    """The path of a killed build, with a copy of all that it left."""
    shutil.copytree(killed, unfinished(tmp_path / "out", "."))
    return tmp_path / "out"


@pytest.fixture
def there(finished: medsim.Build, tmp_path: Path) -> Path:
    """The path of a copy of a finished build."""
    shutil.copytree(finished.folder, tmp_path / "out")
    return tmp_path / "out"


def start(source: Path, out: Path, *options: str, **process) -> subprocess.Popen[str]:
    command = [program(), "build", str(source), "-o", str(out), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **process
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until a condition holds or the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and process.poll() is None:
        assert time.monotonic() < deadline, "the condition never came"
        time.sleep(0.005)


def unfinished(out: Path, name: str) -> Path:
    return out.with_name(f".{out.name}.unfinished") / name


def noted(out: Path, name: str) -> bool:
    """Return whether a file is written and recorded for a later run."""
    job = unfinished(out, "job.json")
    return job.exists() and name in json.loads(job.read_text())["digests"]


def kill_at(source: Path, out: Path, name: str, *options: str) -> None:
    """Start a build, and kill it as soon as a file is written."""
    process = start(source, out, *options)
    wait_for(lambda: unfinished(out, name).exists(), process)
    process.kill()
    process.communicate()


def leftovers(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir() if path != out)


@pytest.mark.full
def test_killed_build_is_completed_by_the_next_run(
    source: Path, undisturbed: dict, of_seed_1: dict, killed: Path, tmp_path: Path
) -> None:
    for at, (options, expected) in enumerate((({}, undisturbed), ({"seed": 1}, of_seed_1))):
        out = tmp_path / str(at) / "out"
        shutil.copytree(killed, unfinished(out, "."))
        assert medsim.build(source, out, **options).manifest.outputs == expected
        assert leftovers(out) == []
    assert undisturbed != of_seed_1


@pytest.mark.full
def test_interrupt_ends_cleanly_and_the_next_run_continues(
    source: Path, undisturbed: dict, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    for number, name in ((signal.SIGINT, FIRST), (signal.SIGTERM, LAST)):
        process = start(source, out)
        wait_for(lambda name=name: noted(out, name), process)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=PATIENCE)

        assert process.returncode == 130, (number, stderr)
        assert stdout == ""
        assert stderr.splitlines()[-1] == "interrupted"
        assert "Traceback" not in stderr
        assert not out.exists()
    progress = medsim.Progress()
    messages: list[str] = []
    progress.say = messages.append  # type: ignore[method-assign]
    build = medsim.build(source, out, progress=progress)
    assert any("take over possibly_equivalent_to/easy/random" in line for line in messages)
    assert build.manifest.outputs == undisturbed
    assert leftovers(out) == []


def test_a_damaged_file_of_an_interrupted_run_is_made_again(
    source: Path, undisturbed: dict, interrupted: Path
) -> None:
    damaged = unfinished(interrupted, FIRST)
    damaged.write_bytes(damaged.read_bytes()[:-50])

    assert medsim.build(source, interrupted).manifest.outputs == undisturbed


@pytest.mark.full
def test_a_full_disk_ends_in_one_line(source: Path, tmp_path: Path) -> None:
    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    # Else Python might keep the first 10,000 bytes of a compiled module, for later processes too.
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    (tmp_path / "cache").mkdir()
    out = tmp_path / "place" / "out"
    process = start(source, out, preexec_fn=limit_file_size, env=environment)
    stdout, stderr = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1, stderr
    assert stdout == ""
    assert stderr.splitlines()[-1].startswith("error: cannot write")
    assert "Traceback" not in stderr
    assert not out.exists()


def test_folder_that_cannot_be_created_is_named(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for out, message in (
        ("/proc/out", "cannot write /proc/out: /proc takes no files"),
        (tmp_path / "file" / "out", "cannot write"),
        (tmp_path / "file", "is a file; give a folder"),
    ):
        with pytest.raises(medsim.MedsimError, match=message):
            medsim.build(source, out)


def test_earlier_build_is_replaced_only_on_request(
    source: Path, undisturbed: dict, of_seed_1: dict, there: Path
) -> None:
    with pytest.raises(medsim.MedsimError, match="add `overwrite`"):
        medsim.build(source, there, seed=1)
    second = medsim.build(source, there, seed=1, overwrite=True)

    assert second.manifest.outputs == of_seed_1 != undisturbed
    assert leftovers(there) == []


@pytest.mark.full
def test_an_interrupted_replacement_leaves_the_earlier_build(
    source: Path, undisturbed: dict, there: Path
) -> None:
    kill_at(source, there, LAST, "--overwrite", "--seed", "1")

    assert medsim.open(there).manifest.outputs == undisturbed


@pytest.mark.parametrize("damage", ["cut", "emptied", "of another form", "a folder", "unreadable"])
def test_files_of_unknown_origin_are_never_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    out, folder = tmp_path / "out", tmp_path / ".out.unfinished"
    (folder / "pairs").mkdir(parents=True)
    (folder / "pairs" / "data.parquet").write_text("hours of work")
    note = folder / "job.json"
    text = json.dumps({"job": {"seed": "0"}, "digests": {}})
    note.write_text({"cut": text[:-5], "emptied": "", "of another form": "[]"}.get(damage, text))
    if damage == "a folder":
        note.unlink()
        note.mkdir()
    elif damage == "unreadable":
        monkeypatch.setattr(Path, "read_text", failing_to_read)

    for kind in (BUILD, EVALUATION):
        with (
            pytest.raises(medsim.MedsimError, match=r"job\.json cannot be read .*remove that"),
            claimed(out, kind, overwrite=False) as output,
        ):
            output.resume({"seed": "1"})

    monkeypatch.undo()
    assert (folder / "pairs" / "data.parquet").read_text() == "hours of work"
    assert note.exists()
    assert leftovers(out) == [".out.unfinished"]


def failing_to_read(path: Path, **_options: str) -> str:
    raise PermissionError(13, "Permission denied", str(path))


def test_files_of_another_job_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / ".out.unfinished"
    for job in ({"seed": "0"}, None):
        (folder / "pairs").mkdir(parents=True)
        (folder / "job.json").write_text(json.dumps({"job": job, "digests": {}}))
        with claimed(tmp_path / "out", BUILD, overwrite=False) as output:
            assert not output.resume({"seed": "1"})
            assert sorted(path.name for path in folder.iterdir()) == ["job.json", "spill"]
