"""Runs benchmarks, prints their results, adds a line for each to LOG.md, checks the baseline."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings, UnavailableError
from benchmarks.harness.baseline import (
    Baseline,
    best_ratios,
    complaints,
    entry_of,
    fallen,
    read_baseline,
    write_baseline,
)
from benchmarks.harness.log import commit, log_line, machine, now
from medsim.core.config import available_threads
from medsim.core.errors import MedsimError

HERE = Path(__file__).parent
_RUNS = 3  # runs of a benchmark for a baseline, and before a fallen ratio counts
_THREADS = 2  # threads of every side for a baseline, on any machine


def main(arguments: list[str]) -> int:
    """Run the benchmarks of the arguments; return the exit code, 1 if anything is wrong."""
    options = _parser().parse_args(arguments)
    against_baseline = options.check or options.update
    settings = Settings(
        quick=options.quick or against_baseline,
        threads=options.threads or (_THREADS if against_baseline else available_threads()),
        cache=options.cache,
        prototype=options.prototype,
    )
    baseline = read_baseline(options.baseline)
    usual = baseline.benchmarks if against_baseline else BENCHMARKS.all()
    problems: list[str] = []
    entries = dict(baseline.benchmarks)
    for name in options.names or usual or BENCHMARKS.all():
        try:
            if options.update:
                runs = [_run(name, settings, options.log) for _ in range(_RUNS)]
                entries[name] = entry_of(runs)
            elif options.check:
                problems += _check(name, baseline, settings, options.log)
            else:
                _run(name, settings, options.log)
        except (MismatchError, UnavailableError, MedsimError) as error:
            problems.append(f"{name}: {error}")
    if options.update and not problems:
        write_baseline(
            options.baseline,
            Baseline(machine=machine(settings), margin=baseline.margin, benchmarks=entries),
        )
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _check(name: str, baseline: Baseline, settings: Settings, log: Path) -> list[str]:
    """Return the faults of a benchmark, which runs again while a ratio seems to have fallen."""
    entry = baseline.benchmarks.get(name)
    if entry is None:
        return [f"{name}: has no baseline; write one with just bench-check --update {name}"]
    runs: list[Measured] = []
    while not runs or (len(runs) < _RUNS and fallen(entry, best_ratios(runs), baseline.margin)):
        runs.append(_run(name, settings, log))
    return complaints(name, entry, runs, baseline.margin)


def _run(name: str, settings: Settings, log: Path) -> Measured:
    """Run a benchmark, print its line and add it to the log."""
    measured = BENCHMARKS.get(name)(settings)
    line = log_line(now(), commit(), machine(settings), name, measured)
    with log.open("a", encoding="utf-8") as lines:
        lines.write(f"{line}\n")
    print(line, flush=True)
    return measured


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="benchmarks; all by default, or those of the baseline"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, which take minutes")
    parser.add_argument(
        "--check", action="store_true", help="quick, and fail if a ratio fell or rows changed"
    )
    parser.add_argument(
        "--update", action="store_true", help="quick, and write the baseline instead of checking"
    )
    parser.add_argument(
        "--threads", type=int, help=f"of every side; all, or {_THREADS} against the baseline"
    )
    parser.add_argument("--cache", type=Path, default=_cache(), help="folder for downloads")
    parser.add_argument(
        "--prototype",
        type=Path,
        default=HERE.parents[1] / "shared/prototype/run.py",
        help="program to compare with the search",
    )
    parser.add_argument("--log", type=Path, default=HERE / "LOG.md", help="file to add lines to")
    parser.add_argument("--baseline", type=Path, default=HERE / "baseline.json", help="its file")
    return parser


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "medsim-bench"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
