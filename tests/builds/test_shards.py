"""A build in shards gives the same rows as a build in one piece, despite interruptions."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures.builds import run
from fixtures.program import program
from fixtures.release import Release, random_release

import medsim
from medsim.builds.shards import ShardedRun, ShardFolder
from medsim.core.errors import OutputError

pytestmark = pytest.mark.slow

PATIENCE = 120  # seconds to wait for a condition before a test fails
SEARCHED = ["levenshtein"]  # the negatives that shards search; others are drawn by the merge


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "release.zip"
    random_release(8, 80).write_zip(path, "Snapshot")
    return path


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("whole")
    return {
        pool: medsim.build(
            source, folder / pool, pool=pool, seed=4, negatives=SEARCHED
        ).manifest.outputs
        for pool in ("set", "terminology")
    }


@pytest.fixture(scope="module")
def halves(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished shards, for tests to copy."""
    out = tmp_path_factory.mktemp("halves") / "out"
    make_shards(source, out, 2)
    return out.with_name("out.shards")


@pytest.fixture
def out(halves: Path, tmp_path: Path) -> Path:
    """The future path of a build with two finished shards."""
    shutil.copytree(halves, tmp_path / "out.shards")
    return tmp_path / "out"


@pytest.fixture(scope="module")
def long_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release whose search takes long enough to be killed in the middle."""
    path = tmp_path_factory.mktemp("long") / "release.zip"
    medsim.synth(path, concepts=2000, seed=1)
    return path


@pytest.fixture(scope="module")
def long_whole(long_source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    return medsim.build(long_source, tmp_path_factory.mktemp("one") / "out").manifest.outputs


def make_shards(source: Path, out: Path, total: int, *numbers: int, **options) -> None:
    for number in numbers or range(1, total + 1):
        medsim.build_shard(
            source, out, shard=f"{number}/{total}", seed=4, negatives=SEARCHED, **options
        )


def message_of(error: pytest.ExceptionInfo[medsim.MedsimError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.some(1)
@pytest.mark.parametrize(("total", "pool"), [(1, "set"), (3, "terminology")])
def test_shards_give_the_rows_of_a_build_in_one_piece(
    source: Path, whole: dict, tmp_path: Path, total: int, pool: str
) -> None:
    make_shards(source, tmp_path / "out", total, pool=pool)

    build = medsim.merge(tmp_path / "out")

    assert build.manifest.outputs == whole[pool]
    assert build.manifest.options["pool"] == pool
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.full
def test_more_shards_than_first_terms_are_allowed(tmp_path: Path) -> None:
    release = Release()
    release.named("100001", "Velp (ailment)", "Nurl", "Nurling")
    release.named("100002", "Quern of the drelling (thing)", "Mawk and olt")
    release.association("100001", "100001", "same_as")
    release.is_a("100001", "100002")
    release.write_zip(tmp_path / "release.zip", "Snapshot")
    whole = medsim.build(tmp_path / "release.zip", tmp_path / "whole", seed=4)
    rows = [
        medsim.build_shard(tmp_path / "release.zip", tmp_path / "out", shard=f"{number}/3", seed=4)
        for number in (3, 2, 1)
    ]

    merged = medsim.merge(tmp_path / "out")

    assert merged.manifest.outputs == whole.manifest.outputs
    assert {row["first_terms"].item() == 0 for row in rows} == {True, False}


@pytest.mark.full
def test_concurrent_processes_make_one_build(source: Path, whole: dict, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [program(), "build", source, "-o", out, "--seed", "4"]
    command += ["--negatives", "levenshtein"]
    # The first shard is made twice at the same time, as if a cluster restarted its job.
    processes = [
        subprocess.Popen(
            [*map(str, command), "--threads", "1", "--shard", "1/2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    make_shards(source, out, 2, 2)
    for process in processes:
        stdout, stderr = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, stderr
        assert "first_terms" in stdout

    result = run("merge", out, "--format", "csv")

    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("dataset,difficulty")
    assert medsim.open(out).manifest.outputs == whole["set"]


def test_a_finished_shard_is_not_searched_again(source: Path, tmp_path: Path) -> None:
    arguments = ["build", source, "-o", tmp_path / "out", "--shard", "2/3", "--format", "csv"]
    first = run(*arguments)
    file = tmp_path / "out.shards" / "shard-2-of-3.shard"
    before = file.stat().st_mtime_ns

    second = run(*arguments)

    assert first.exit_code == second.exit_code == 0
    assert second.stdout == first.stdout
    assert "search shard 2/3" in first.stderr
    assert "search shard" not in second.stderr
    assert "shard 2/3 is done already" in second.stderr
    assert file.stat().st_mtime_ns == before


def kill(command: list[str], is_there: Callable[[], bool], number: int) -> tuple[int, str]:
    """Send a command a signal once something exists; return its exit code and stderr."""
    process = subprocess.Popen(
        [program(), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not is_there() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    return process.returncode, stderr


@pytest.mark.full
def test_a_shard_killed_twice_is_finished_and_a_killed_merge_resumes(
    long_source: Path, long_whole: dict, tmp_path: Path
) -> None:
    out, job = tmp_path / "out", tmp_path / "out.shards" / "job.json"
    command = ["build", str(long_source), "-o", str(out), "--shard", "1/2"]
    code, stderr = kill(command, job.exists, signal.SIGTERM)
    assert (code, stderr.splitlines()[-1]) == (130, "interrupted")
    job.unlink(missing_ok=True)
    kill(command, job.exists, signal.SIGKILL)
    assert not list(job.parent.glob("*.shard"))

    for shard in ("1/2", "2/2"):
        medsim.build_shard(long_source, out, shard=shard)
    pairs = tmp_path / ".out.unfinished" / "pairs"
    kill(["merge", str(out)], lambda: any(pairs.rglob("*.parquet")), signal.SIGKILL)
    merged = medsim.merge(out)

    assert merged.manifest.outputs == long_whole
    assert not job.parent.exists()


@pytest.mark.full
def test_lists_missing_in_shards_are_searched(
    source: Path, whole: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_shards(source, tmp_path / "out", 2)
    read_all = ShardFolder.read_all  # a resumed merge plans fewer sets than the shards

    def without_one_pool(self: ShardFolder, sharded: Any) -> list[Any]:
        results = read_all(self, sharded)
        others = [result for result in results if result.pool != results[0].pool]
        assert 0 < len(others) < len(results)
        return others

    monkeypatch.setattr(ShardFolder, "read_all", without_one_pool)

    assert medsim.merge(tmp_path / "out").manifest.outputs == whole["set"]


def altered_job(out: Path) -> None:
    """Change the versions in the job."""
    path = out.with_name("out.shards") / "job.json"
    noted = json.loads(path.read_text())
    libraries = json.loads(noted["job"]["libraries"]) | {"numpy": "1.0"}
    noted["job"] |= {"medsim": "0.0.1", "libraries": json.dumps(libraries)}
    path.write_text(json.dumps(noted))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"seed": 5}, "seed"),
        ({"pool": "terminology"}, "pool"),
        ({"language": "sv"}, "language"),
        ({"shard": "1/3"}, "shards"),
        ({"source": 9}, "source_files"),
        ({"alter": altered_job}, "numpy, medsim"),
    ],
)
def test_shards_of_another_build_are_rejected(
    source: Path, out: Path, tmp_path: Path, changed: dict, expected: str
) -> None:
    options = {"source": source, "shard": "2/2", "seed": 4, "negatives": SEARCHED, **changed}
    if seed := changed.get("source"):
        options["source"] = random_release(seed, 80).write_zip(tmp_path / "release.zip", "Snapshot")
    options.pop("alter", str)(out)

    differ = rf"shards of another build \(they differ in {expected}\); remove it"
    with pytest.raises(medsim.MedsimError, match=differ) as error:
        medsim.build_shard(out=out, **options)
    message_of(error)
    if expected in {"source_files", "numpy, medsim"}:
        with pytest.raises(medsim.MedsimError, match="shards"):
            medsim.merge(out, source=options["source"])


def test_missing_and_damaged_shards_are_named(source: Path, tmp_path: Path) -> None:
    make_shards(source, tmp_path / "out", 4, 1, 3)
    (tmp_path / "out.shards" / "shard-3-of-4.shard").write_bytes(b"")

    with pytest.raises(medsim.MedsimError, match="of 4 shards, these are missing or") as error:
        medsim.merge(tmp_path / "out")

    assert "damaged: 2, 3 and 4; make each with medsim build --shard 2/4" in message_of(error)
    with pytest.raises(medsim.MedsimError, match="holds no shards; make them with medsim build"):
        medsim.merge(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.shards"]


@pytest.mark.parametrize("place", [0, 70, 0.5, "cut", "empty"])
def test_a_damaged_shard_is_named(out: Path, place: float | str) -> None:
    path = out.with_name("out.shards") / "shard-2-of-2.shard"
    content = bytearray(path.read_bytes())
    if isinstance(place, str):
        content = content[: -20 if place == "cut" else 0]
    else:
        content[int(place * len(content)) if isinstance(place, float) else place] ^= 1
    path.write_bytes(content)

    with pytest.raises(medsim.MedsimError, match=r"missing or damaged: 2; .* --shard 2/2"):
        medsim.merge(out)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("job.json", "[" * 200_000, "job.json cannot be read .*nested too deeply"),
        ("job.json", None, "job.json cannot be read .*not a file"),
    ],
    ids=["deep note", "pipe for a note"],
)
def test_unreadable_files_are_named(
    out: Path, name: str, content: str | None, expected: str
) -> None:
    (path := out.with_name("out.shards") / name).unlink()
    os.mkfifo(path) if content is None else path.write_text(content)

    with pytest.raises(medsim.MedsimError, match=expected):
        medsim.merge(out)


@pytest.mark.full
def test_a_damaged_shard_can_be_searched_again(source: Path, whole: dict, out: Path) -> None:
    path = out.with_name("out.shards") / "shard-2-of-2.shard"
    path.write_bytes(path.read_bytes()[:-20])

    options = ("--seed", "4", "--negatives", "levenshtein")
    again = run("build", source, "-o", out, *options, "--shard", "2/2")

    assert again.exit_code == 0
    assert "; it is searched again" in again.stderr
    assert medsim.merge(out).manifest.outputs == whole["set"]


@pytest.mark.full
def test_the_source_may_have_moved_before_the_merge(
    whole: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    random_release(8, 80).write_zip(Path("release.zip"), "Snapshot")
    make_shards(Path("release.zip"), Path("out"), 2)
    monkeypatch.chdir(tmp_path)  # relative paths are found from here too
    Path("moved").mkdir()
    Path("here/release.zip").rename("moved/release.zip")

    with pytest.raises(medsim.MedsimError, match=r"no file or folder .* with `source`") as error:
        medsim.merge("here/out")
    message_of(error)
    build = medsim.merge("here/out", source="moved/release.zip")

    assert build.manifest.outputs == whole["set"]


@pytest.mark.full
def test_shards_replace_a_finished_build_only_with_overwrite(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = medsim.build(source, out).manifest.outputs

    with pytest.raises(medsim.MedsimError, match="holds a build already; add `overwrite`"):
        make_shards(source, out, 1)
    make_shards(source, out, 1, overwrite=True)
    with pytest.raises(medsim.MedsimError, match="holds a build already; add `overwrite`"):
        medsim.merge(out)
    assert medsim.open(out).manifest.outputs == before

    assert medsim.merge(out, overwrite=True).manifest.outputs != before


@pytest.mark.parametrize(
    "shard", ["0/2", "3/2", "1", "1/", "/2", "-1/2", "a/b", "1/2/3", "1/1000001"]
)
def test_invalid_shard_names_are_rejected(source: Path, tmp_path: Path, shard: str) -> None:
    with pytest.raises(medsim.MedsimError, match=f"`shard` '{re.escape(shard)}' is not a"):
        medsim.build_shard(source, tmp_path / "out", shard=shard)

    assert list(tmp_path.iterdir()) == []


def test_a_missing_or_damaged_source_leaves_no_files(tmp_path: Path) -> None:
    result = run("build", tmp_path / "nowhere.zip", "-o", tmp_path / "out", "--shard", "1/2")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: no file or folder")

    (source := tmp_path / "damaged.obo").write_text("not an ontology\n")
    with pytest.raises(medsim.MedsimError, match="not an ontology in OBO"):
        make_shards(source, tmp_path / "out", 2, 1)
    assert list(tmp_path.iterdir()) == [source]


def job(seed: str) -> ShardedRun:
    return ShardedRun(
        job={"seed": seed, "libraries": "{}", "options": "{}"},
        total=2,
        source="release.zip",
        extensions=(),
    )


def before_the_first(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, happens: object
) -> None:
    """Make something happen once, just before a function is called."""
    function = getattr(module, name)
    pending = [happens]

    def interleaved(*arguments: object, **options: object) -> object:
        if pending:
            pending.pop()()
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, interleaved)


def test_a_file_at_the_path_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out.shards").write_text("in the way")

    with (
        pytest.raises(OutputError, match=r"cannot write .*out\.shards"),
        ShardFolder(tmp_path / "out").spill(),
    ):
        pass


def test_the_last_of_two_processes_claims_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process claims it after this one has seen no claim, but before it writes one."""
    shards = ShardFolder(tmp_path / "out")
    shards.folder.mkdir()
    before_the_first(monkeypatch, os, "fsync", lambda: shards.claim(job("1")))

    shards.claim(job("0"))

    assert [path.name for path in shards.folder.iterdir()] == ["job.json"]
    with pytest.raises(OutputError, match="shards of another build"):
        shards.write(job("1"), 1, [])
    shards.write(job("0"), 1, [])


def test_files_with_similar_names_are_not_removed(tmp_path: Path) -> None:
    shards = ShardFolder(tmp_path / "out")
    shards.folder.mkdir()
    names = ["shard-notes.txt", "spill-over-from-the-pond", "job.json.backup"]
    for name in names:
        (shards.folder / name).mkdir()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "diary.txt").write_text("precious")
    (shards.folder / "spill-abcdefgh").symlink_to(precious)
    shards.claim(job("0"))

    shards.remove()

    assert sorted(path.name for path in shards.folder.iterdir()) == sorted(names)
    assert (precious / "diary.txt").read_text() == "precious"
