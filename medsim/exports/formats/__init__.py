"""The export formats, one module per tool, registered by the tool's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.progress import Progress
from medsim.core.registry import Registry

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.core.kinds import Table
    from medsim.core.manifest import Skipped
    from medsim.core.output import OutputFolder
    from medsim.exports.options import ExportOptions
    from medsim.splits.output import Splits


SPLIT_NOTE = "SPLIT is train, validation or test; train for a build that was not split."
"""The meaning of SPLIT in the names of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One run of ``medsim export``.

    Attributes:
        exported: the build or the splits.
        splits: builds by split; a single split keeps its name, and a build that was not split is
            "train".
        options: options of the export.
        output: folder that is written.
        threads: number of threads.
        progress: receives the stages.
        skipped: items left out; formats add to it.
    """

    exported: Build | Splits
    splits: Mapping[str, Build]
    options: ExportOptions
    output: OutputFolder
    threads: int
    progress: Progress
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """The files that one tool reads.

    Packages add formats by entry points in the group ``medsim.exports``.

    Attributes:
        write: function that writes the files of an export, with ``Export.output.write_file``.
        next: next step, with ``{out}`` for the folder and ``{file}`` for the first file of the
            split train, or else the first file.
        accepts: options that apply, besides the options of every export.
        tables: the files of rows that it writes, by name.
        others: descriptions of its other files, by pattern.
        questions: the files of multiple-choice questions, if the tool reads them.
    """

    write: Callable[[Export], None]
    next: str
    accepts: frozenset[str] = frozenset()
    tables: Mapping[str, Table] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    questions: ExportFormat | None = None

    def register(self, tool: str) -> None:
        """Add the format to those that medsim writes."""
        EXPORT_FORMATS.register(tool, self)


EXPORT_FORMATS = Registry(
    "tool", __name__, group="medsim.exports", entry_type=ExportFormat, named_as_modules=True
)
"""The formats by the name of the tool in ``medsim export --for``."""


def format_of(options: ExportOptions) -> ExportFormat:
    """Return the format of an export: of its tool, and of questions if it has `choices`."""
    form = EXPORT_FORMATS.get(options.to)
    return form if options.choices is None else form.questions or form


MAX_ROWS = 1_000_000
"""The maximum number of rows of a file."""


def shards(config: str, split: str, n_rows: int) -> Iterator[tuple[str, int, int]]:
    """Yield the path of each file, its first row, and the row after its last.

    Files are named as on Hugging Face's hub. Every file has rows, since ``load_dataset`` does not
    accept a split without rows.
    """
    n_files = -(-n_rows // MAX_ROWS)
    for number in range(n_files):
        begin = number * MAX_ROWS
        path = f"{config}/{split}-{number:05d}-of-{n_files:05d}.parquet"
        yield path, begin, min(begin + MAX_ROWS, n_rows)
