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
    """Return the commit that is checked out, with a mark if files were changed since."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.strip()


def machine(settings: Settings) -> str:
    """Return what ratios depend on: the processor's kind, and how many threads computed."""
    return (
        f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}, {os.cpu_count()} cores, "
        f"{settings.threads} threads, Python {platform.python_version()}"
    )
