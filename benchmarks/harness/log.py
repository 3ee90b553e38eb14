"""Lines of LOG.md."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite.binding

if TYPE_CHECKING:
    from benchmarks.harness import Measured, Settings

_ROOT = Path(__file__).parents[2]
_LOG = "benchmarks/LOG.md"


def log_line(when: datetime, commit: str, machine: str, name: str, measured: Measured) -> str:
    """Return the line of a run, in the columns of LOG.md."""
    times = [measured.times] if measured.times else []
    times += [
        f"{ratio} {times_as_long:.3g} times" for ratio, times_as_long in measured.ratios.items()
    ]
    cells = [
        f"{when:%Y-%m-%d %H:%M}",
        commit,
        machine,
        name,
        measured.about,
        "; ".join(times),
        measured.peak,
        measured.fingerprint,
    ]
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def commit() -> str:
    """Return the current commit, marked as dirty if files other than the log changed."""
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", f":!{_LOG}")
    return _git("describe", "--always") + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    run = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def machine(settings: Settings) -> str:
    """Return the kind of processor and the number of threads, which influence ratios."""
    return (
        f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}, {os.cpu_count()} cores, "
        f"{settings.threads} threads, Python {platform.python_version()}"
    )
