"""The options of ``medsim define`` and ``medsim rebuild``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.builds.options import MOVED_EMBEDDING, NEW_FOLDER, BuildOptions, Correction
from medsim.core import options as core
from medsim.core.options import OVERWRITE, Option, Options, PathOrOutput, declared
from medsim.embeddings.options import EmbeddingLike
from medsim.splits.options import SplitOptions
from medsim.terminologies.options import extensions_option

_OF_BUILDS, _OF_SPLITS = declared(BuildOptions), declared(SplitOptions)

_FOLDERS = "Folder of a build. To define splits or an export of it, add their folders in order."
_NAMED = "File of a definition, or a name in medsim-benchmark 1.0, such as hpo or hpo-splits."
_SOURCE = "Source, as for medsim build. Without --out, the folder of an output to compare."


@dataclass(frozen=True, slots=True)
class DefineOptions(Options):
    """The options of ``medsim define``."""

    folders: Annotated[
        PathOrOutput | Sequence[PathOrOutput],
        Option(_FOLDERS, argument=True, metavar="FOLDER..."),
    ]
    out: Annotated[str | Path, Option("JSON file to write.", ("--out", "-o"))]
    _: KW_ONLY
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: core.Reporting = None


@dataclass(frozen=True, slots=True)
class RebuildOptions(core.ModelOptions):
    """The options of ``medsim rebuild``."""

    definition: Annotated[str | Path, Option(_NAMED, argument=True, or_name=True)]
    source: Annotated[PathOrOutput, Option(_SOURCE, argument=True, or_name=True)]
    out: Annotated[str | Path | None, NEW_FOLDER] = None
    _: KW_ONLY
    extensions: Annotated[Sequence[str | Path], extensions_option()] = ()
    corrections: Annotated[str | Path | Sequence[Correction], _OF_BUILDS["corrections"]] = ()
    since: Annotated[PathOrOutput | None, _OF_SPLITS["since"]] = None
    embedding: Annotated[EmbeddingLike | None, MOVED_EMBEDDING] = None
