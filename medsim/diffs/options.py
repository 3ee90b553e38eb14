"""The options of ``medsim diff``."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.options import OVERWRITE, OpenedFolder, Option, Options, Reporting, Threads

_BUILT = "A source is built with default options first; see medsim build for sources."


@dataclass(frozen=True, slots=True)
class DiffOptions(Options):
    """The options of ``medsim diff``."""

    old: Annotated[
        str | Path | OpenedFolder,
        Option(
            f"The earlier release: a folder of a build, or a source. {_BUILT}",
            argument=True,
            metavar="OLD",
            or_name=True,
        ),
    ]
    new: Annotated[
        str | Path | OpenedFolder,
        Option(
            f"The later release: a folder of a build, or a source. {_BUILT}",
            argument=True,
            metavar="NEW",
            or_name=True,
        ),
    ]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    threads: Threads = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None
