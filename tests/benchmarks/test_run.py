"""The program that runs benchmarks, on invented ones."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import benchmarks
from benchmarks import run
from benchmarks.harness import (
    BENCHMARKS,
    Measure,
    Measured,
    MismatchError,
    Settings,
    UnavailableError,
)
from benchmarks.harness.baseline import Baseline, Entry, read_baseline, write_baseline
from medsim.core.registry import Registry


class Bench:
    """Runs invented benchmarks with separate files."""

    def __init__(self, folder: Path, registry: Registry[Measure]) -> None:
        self.log = folder / "LOG.md"
        self.baseline = folder / "baseline.json"
        self.seen: list[Settings] = []
        self._registry = registry

    def add(self, name: str, *speeds: float | Exception, fingerprint: str = "ab12") -> None:
        """Add a benchmark with the given speeds in consecutive runs."""
        rest = list(speeds)

        def measure(settings: Settings) -> Measured:
            self.seen.append(settings)
            speed = rest.pop(0)
            if isinstance(speed, Exception):
                raise speed
            return Measured(about=name, times="", ratios={"cdist": speed}, fingerprint=fingerprint)

        self._registry.register(name, measure)

    def expect(self, **ratios: float) -> None:
        """Write a baseline with a ratio to cdist."""
        entries = {
            name: Entry(ratios={"cdist": ratio}, fingerprint="ab12")
            for name, ratio in ratios.items()
        }
        write_baseline(self.baseline, Baseline(machine="old", margin=0.3, benchmarks=entries))

    def run(self, *arguments: str) -> int:
        """Return the exit code."""
        files = ["--log", str(self.log), "--baseline", str(self.baseline)]
        return run.main([*arguments, *files])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    (tmp_path / "no_benchmarks").mkdir()
    (tmp_path / "no_benchmarks/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[Measure] = Registry("benchmark", "no_benchmarks")
    monkeypatch.setattr(run, "BENCHMARKS", registry)
    return Bench(tmp_path, registry)


def test_every_run_adds_a_line_to_the_log(bench: Bench) -> None:
    bench.add("slow", 2.0)
    bench.add("fast", 50.0, 60.0)
    assert bench.run() == 0
    assert bench.run("fast") == 0
    lines = bench.log.read_text().splitlines()
    assert [line.split(" | ")[3] for line in lines] == ["fast", "slow", "fast"]
    assert not any(settings.quick for settings in bench.seen)


def test_a_check_is_quick_and_runs_what_the_baseline_has(bench: Bench) -> None:
    bench.expect(fast=50.0)
    bench.add("fast", 40.0)
    bench.add("slow", 2.0)
    assert bench.run("--check") == 0
    assert [(settings.quick, settings.threads) for settings in bench.seen] == [(True, 2)]


def test_a_check_fails_with_a_line_where_a_benchmark_is_slower_in_every_run(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.expect(fast=50.0, other=50.0)
    bench.add("fast", 20.0, 30.0, 10.0)
    bench.add("other", 20.0, 50.0)  # which only seemed slower
    assert bench.run("--check") == 1
    errors = capsys.readouterr().err
    assert errors == "fast: cdist fell from 50 to 30 times, by 40%; the margin is 30%\n"
    assert len(bench.log.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    "error", [MismatchError("row 3 has other terms"), UnavailableError("no download")]
)
def test_an_error_is_one_line_and_other_benchmarks_still_run(
    bench: Bench, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    bench.expect(broken=50.0, changed=50.0, fast=50.0)
    bench.add("broken", error)
    bench.add("changed", 90.0, fingerprint="cd34")
    bench.add("fast", 50.0)
    assert bench.run("--check") == 1
    broken, changed = capsys.readouterr().err.splitlines()
    assert broken == f"broken: {error}"
    assert changed.startswith("changed: the fingerprint is cd34, not ab12")
    assert len(bench.seen) == 3


def test_an_update_writes_the_median_of_three_runs_and_keeps_the_rest(bench: Bench) -> None:
    bench.expect(fast=50.0, other=7.0)
    bench.add("fast", 60.0, 90.0, 70.0)
    assert bench.run("--check", "--update", "fast") == 0
    updated = read_baseline(bench.baseline)
    assert {name: entry.ratios["cdist"] for name, entry in updated.benchmarks.items()} == {
        "fast": 70.0,
        "other": 7.0,
    }
    assert updated.margin == 0.3
    assert updated.machine != "old"


def test_each_file_registers_one_benchmark_of_its_name() -> None:
    (folder,) = benchmarks.__path__
    files = {path.stem for path in Path(folder).glob("*.py")} - {"__init__", "entered", "run"}
    assert set(BENCHMARKS.all()) == files
    for name, measure in BENCHMARKS.all().items():
        assert measure is importlib.import_module(f"benchmarks.{name}").measure


def test_the_committed_baseline_names_existing_benchmarks() -> None:
    committed = read_baseline(Path(run.__file__).parent / "baseline.json")
    assert set(committed.benchmarks) <= set(BENCHMARKS.all())
    assert 0 < committed.margin < 1
