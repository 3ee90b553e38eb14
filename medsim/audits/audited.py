"""Reads a release as an audit needs it: its names, and the chains of positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.builds.build import Run, derive, is_output
from medsim.builds.options import SearchOptions
from medsim.builds.output import Build
from medsim.builds.positives import reload
from medsim.core.opened import reading_output
from medsim.core.options import folder_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medsim.builds.positives import Derived
    from medsim.core.options import OpenedFolder
    from medsim.core.progress import Progress
    from medsim.core.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A release that is audited.

    Attributes:
        source: the facts about the terminology, as in the manifest of a build.
        store: store with the canonical tables and those of ``derive_positives``.
        derived: the positives, and the terms that they link.
    """

    source: Mapping[str, object]
    store: Store
    derived: Derived
    threads: int
    progress: Progress


def read_audited(
    place: str | Path | OpenedFolder, store: Store, threads: int, progress: Progress
) -> Audited:
    """Return a release from the folder of a build, or from a source with default options.

    The folder of an output comes before a built-in source of the same name. Both ways derive the
    same positives; only negatives are left out.
    """
    if is_output(place):
        build = Build(folder_of(place))
        with reading_output(build), progress.stage("derive positives"):
            source, derived = build.manifest.source, reload(build, store, threads)
    else:
        options = SearchOptions(source=str(place), threads=threads, progress=progress)
        run = Run.from_options(options, store)
        source, derived = run.terminology.to_json(), derive(run)
    return Audited(source=source, store=store, derived=derived, threads=threads, progress=progress)
