"""Every figure of the page on performance has its line in the log of benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")
LOG = (ROOT / "benchmarks" / "LOG.md").read_text(encoding="utf-8")
RUN = re.compile(r"`(\w+)`, (\d{4}-\d\d-\d\d \d\d:\d\d)(?: and (\d{4}-\d\d-\d\d \d\d:\d\d))?")


def logged() -> set[tuple[str, str]]:
    """Return the benchmarks of the log with their times."""
    rows = (line.split(" | ") for line in LOG.splitlines() if line.startswith("| 2"))
    return {(row[3], row[0].removeprefix("| ")) for row in rows}


def test_every_run_that_the_page_names_is_logged() -> None:
    runs = [(name, time) for name, *times in RUN.findall(PAGE) for time in times if time]

    assert len(runs) > 15
    assert set(runs) <= logged()


def test_every_row_of_the_page_names_a_run() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]

    unnamed = [row for row in rows if not RUN.search(row) and not row.startswith("| task")]

    assert unnamed == []
