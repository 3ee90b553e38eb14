"""One module a tool that exports are made for, each registered by the tool's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from medsim.builds.output import Build
    from medsim.core.kinds import View
    from medsim.core.manifest import Skipped
    from medsim.core.output import OutputFolder
    from medsim.core.progress import Progress
    from medsim.exports.options import ExportOptions
    from medsim.splits.output import Splits


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One run of ``medsim export``, as formats take it.

    Attributes:
        exported: the build or the splits.
        splits: the builds by split; a build that is one split has its name, and one that was not
            split is all "train".
        options: of the run.
        output: the folder that is written.
        threads: to use.
        progress: told of every stage.
    """

    exported: Build | Splits
    splits: Mapping[str, Build]
    options: ExportOptions
    output: OutputFolder
    threads: int
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """The files that one tool reads.

    Attributes:
        write: writes the files, and returns what it left out.
        next: what to do with the files, with ``{out}`` for their folder, ``{file}`` for the one of
            the split train, or the first.
        accepts: the options, beside those of every export, that it goes by.
        tables: the files of rows that it writes, by name.
        others: its other files, by pattern: what each is, in a sentence.
    """

    write: Callable[[Export], list[Skipped]]
    next: str
    accepts: frozenset[str] = frozenset()
    tables: Mapping[str, View] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)


FORMATS: Registry[ExportFormat] = Registry("tool", "medsim.exports.formats")
"""The formats by the name of the tool, as ``medsim export --for`` takes it."""
