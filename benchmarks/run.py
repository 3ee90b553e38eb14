"""Runs benchmarks, prints what they measured and adds a line for each to LOG.md."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
LOG = HERE / "LOG.md"
BENCHMARKS = ("build_hpo", "search_hpo", "read_release")


def main(names: list[str]) -> None:
    """Run the named benchmarks, all by default."""
    for name in names or list(BENCHMARKS):
        found = import_module(name).measure()
        line = " | ".join([_when(), _commit(), _machine(), name, *found])
        with LOG.open("a", encoding="utf-8") as log:
            log.write(f"| {line} |\n")
        print(line)


def _when() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M}"


def _commit() -> str:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main(sys.argv[1:])
