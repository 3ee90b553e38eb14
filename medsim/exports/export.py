"""Exports a build or its splits to the files that another tool reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from medsim.builds.cards import split_of
from medsim.builds.output import Build
from medsim.core.errors import OptionError
from medsim.core.files import digest_of
from medsim.core.manifest import MANIFEST
from medsim.core.opened import open_output, reading_output
from medsim.core.options import declared, folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import progress_of
from medsim.exports.formats import Export, format_of
from medsim.exports.options import BALANCED, ExportOptions
from medsim.exports.output import EXPORT, Exported, ExportManifest
from medsim.splits.output import Splits

_COMMON = {"folder", "out", "to", "threads", "overwrite", "progress"}  # options of every export


@public(ExportOptions)
def export(options: ExportOptions) -> Exported:
    """Write an export, and return it.

    Raises:
        InputError: the folder is not a finished build or splits.
        OptionError: an option is out of range, or does not fit the tool.
        OutputError: ``out`` exists or cannot be written.
    """
    form = format_of(options)
    standard = ExportOptions(folder=options.folder, out=options.out, to=options.to)
    for name in sorted(declared(ExportOptions).keys() - _COMMON - form.accepts):
        if getattr(options, name) != getattr(standard, name):
            raise OptionError(f"`{name}` does not apply to exports for {options.to}; leave it out")
    if options.negatives == BALANCED and "choices" not in form.accepts:
        raise OptionError("`negatives` balanced is for questions; add `choices`, or leave it out")
    exported: Any = open_output(folder_of(options.folder), Build, Splits)
    is_split = isinstance(exported, Splits)
    splits = dict(exported.builds) if is_split else {split_of(exported.manifest): exported}
    progress = progress_of(options.progress)
    with reading_output(exported), claimed_by(options, EXPORT, [exported.folder]) as output:
        run = Export(
            exported=exported,
            splits=splits,
            options=options,
            output=output,
            threads=options.n_threads,
            progress=progress,
        )
        form.write(run)
        ExportManifest(
            source=exported.manifest.source,
            exported=digest_of(exported.folder / MANIFEST),
            skipped=[asdict(reason) for reason in run.skipped],
            **output.run_facts(options.recorded(), progress, run.threads),
        ).write(output.folder)
    return Exported(options.out)
