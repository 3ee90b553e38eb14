"""The options of ``medsim diff``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.options import MakingOptions, Option, PathOrOutput
from medsim.terminologies.options import extensions_option


def _release(which: str, metavar: str) -> Option:
    about = (
        f"The {which} release: a folder of a build, or a source. A source is built with default "
        "options first; see medsim build for sources."
    )
    return Option(about, argument=True, metavar=metavar, or_name=True)


@dataclass(frozen=True, slots=True)
class DiffOptions(MakingOptions):
    """The options of ``medsim diff``."""

    old: Annotated[PathOrOutput, _release("earlier", "OLD")]
    new: Annotated[PathOrOutput, _release("later", "NEW")]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    extensions: Annotated[Sequence[str | Path], extensions_option("NEW")] = ()
