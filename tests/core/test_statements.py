"""Users' statements have limits on memory and time, and end with their caller."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from medsim.core.errors import InputError, OptionError, StatementError
from medsim.core.statements import StatementOptions, frames_of, rows_of

if TYPE_CHECKING:
    import medsim
    from medsim.core.store import Store

ENDLESS = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"


def in_nothing(text: str, **bounds: object) -> pl.DataFrame:
    """Return the rows of a statement without views."""
    return rows_of(text, {}, StatementOptions(**bounds))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [("64MB", 64_000_000), ("1.5GB", 1_500_000_000), (" 2 gib ", 1 << 31), ("1TB", 10**12)],
)
def test_memory_is_a_number_and_a_unit(size: str, n_bytes: int) -> None:
    assert StatementOptions(memory=size).n_bytes == n_bytes


@pytest.mark.parametrize(
    "size", ["", "4", "GB", "-4GB", "4KB", "1MB", "63.9MB", "nan GB", "9" * 400 + "GB", "99999TB"]
)
def test_invalid_memory_is_refused_at_once(size: str) -> None:
    with pytest.raises(OptionError, match=r"`memory` .*(is not a size|is out of range)"):
        StatementOptions(memory=size)


@pytest.mark.parametrize("seconds", [0, 0.5, -1, float("nan"), float("inf"), 1e9])
def test_a_timeout_that_is_out_of_range_is_refused_at_once(seconds: float) -> None:
    with pytest.raises(OptionError, match=r"`timeout` .* is out of range"):
        StatementOptions(timeout=seconds)


def test_statement_of_a_kind_unknown_to_python_is_refused(store: Store) -> None:
    kind = "^expected one select statement, but got: another kind of statement$"
    with pytest.raises(StatementError, match=kind), store.batches("update extensions"):
        pass


@pytest.mark.slow
def test_rows_arrive_in_batches() -> None:
    frames = frames_of("from range(10000000000)", {}, StatementOptions())

    assert next(frames).schema == {"range": pl.Int64}
    assert next(frames)["range"].head(3).to_list() == [0, 1, 2]
    frames.close()


@pytest.mark.slow
def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("no Parquet")
    outputs = {"main": (tmp_path, {"x": "x.parquet"}, ())}

    with pytest.raises(InputError, match=r"x\.parquet"):
        rows_of("from x", outputs, StatementOptions())


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "bounds", "says"),
    [
        ("select list(range) from range(10000000000)", {}, "needs more than its `memory`"),
        ("from range(10000000000)", {}, "the rows need more than the statement's `memory`"),
        (
            "select repeat('x', 100000000) from range(1000)",
            {},
            "process ended, most likely out of memory",
        ),
        (ENDLESS, {"timeout": 1.0}, "took longer than 1 second; "),
        (  # DuckDB's own interrupt would have to wait for it
            "select levenshtein(repeat('a', 100000), repeat('b', 100000))",
            {"timeout": 1.0},
            "took longer than 1 second; ",
        ),
    ],
)
def test_endless_statement_ends(text: str, bounds: dict[str, object], says: str) -> None:
    with pytest.raises(StatementError, match=says):
        in_nothing(text, memory="100MB", **bounds)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds a process's children")
def test_signals_end_a_statement_and_its_process_at_once(
    shared_build: medsim.Build,
) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    command = [sys.executable, "-m", "medsim", "sql", str(shared_build.folder), ENDLESS]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in numbers
    ]
    children = [wait_for_child(run.pid) for run in runs]
    for child in children:
        wait_until_busy(child)
    for run, number in zip(runs, numbers, strict=True):
        begun = time.monotonic()
        run.send_signal(number)
        assert run.stderr is not None
        message = run.stderr.readline()
        assert time.monotonic() - begun < 4  # any signal ends it after 5; usually after 0.1
        out, rest = run.communicate(timeout=30)
        if number == signal.SIGKILL:
            assert run.returncode == -signal.SIGKILL
        else:
            assert (run.returncode, out, message + rest) == (130, "", "interrupted\n")
    for child in children:
        wait_for_end(child)


def wait_for_child(pid: int) -> int:
    """Return the first child of a process once it runs."""
    for _ in range(600):
        if children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            return int(children[0])
        time.sleep(0.05)
    pytest.fail("there is no child")


def wait_until_busy(pid: int) -> None:
    """Return once a process has computed for longer than its start takes."""
    for _ in range(600):
        used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        if sum(map(int, used)) > 1.5 * os.sysconf("SC_CLK_TCK"):
            return
        time.sleep(0.05)
    pytest.fail(f"{pid} does not compute")


def wait_for_end(pid: int) -> None:
    """Return when a process has ended, or is a zombie."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.05)
    pytest.fail(f"{pid} goes on")


@pytest.mark.slow
def test_a_statement_sees_several_outputs_and_nothing_else(
    shared_build: medsim.Build, similar_build: medsim.Build, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(similar_build.folder, tmp_path / "it's [a] copy=1"))
    others = {"New": type(similar_build)(copy), "same": shared_build}

    [(n_pairs, n_both, n_same)] = shared_build.sql(
        "select (select count(*) from new.pair), (select count(*) from positive semi join "
        "new.positive using (pair_id)), (select count(*) from same.positive)",
        others=others,
    ).rows()

    assert n_pairs == similar_build.pairs().height
    assert n_both == n_same == shared_build.positives().height
    outside = f"from read_text('{tmp_path}/*')"
    with pytest.raises(StatementError, match="Permission Error"):
        shared_build.sql(outside, others=others)


@pytest.mark.parametrize("names", [["main"], ["a b"], [""], ["Temp"], ["new", "NEW"]])
def test_names_of_other_outputs_are_words_and_different(
    shared_build: medsim.Build, names: list[str]
) -> None:
    with pytest.raises(OptionError, match="cannot name an output"):
        shared_build.sql("select 1", others=dict.fromkeys(names, shared_build))
