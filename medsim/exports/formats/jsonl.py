"""Pairs as JSON lines, which any tool reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.exports.formats import FORMATS, ExportFormat

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.builds.output import Build
    from medsim.core.manifest import Skipped
    from medsim.exports.formats import Export


def write_json_lines(run: Export) -> list[Skipped]:
    """Write a file of JSON lines a split; see ``medsim.exports.formats.ExportFormat``."""
    for name, build in run.splits.items():

        def write(path: Path, build: Build = build) -> int:
            pairs = build.pairs().collect()
            pairs.write_ndjson(path)
            return pairs.height

        run.output.write_file(f"{name}.jsonl", write)
    return []


FORMATS.register("jsonl", ExportFormat(about="JSON lines, a file a split.", write=write_json_lines))
