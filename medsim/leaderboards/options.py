"""The options of ``medsim leaderboard``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.core.errors import OptionError
from medsim.core.options import (
    Option,
    Options,
    PathOrOutput,
    Reporting,
    folder_of,
    main_field,
    several,
)
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike

KIND_COLUMNS = ("side", "negation", "number", "parent_child")
"""The kinds of negatives that have a column."""

LEADERBOARD_COLUMNS = (
    *("rank", "model", "value", "low", "high", "gain", "kind", "metric", "trained_here", "check"),
    *KIND_COLUMNS,
)
"""The columns of a leaderboard that tables for reading have."""


@dataclass(frozen=True, slots=True)
class LeaderboardOptions(Options):
    """The options of ``medsim leaderboard``."""

    results: Annotated[
        PathOrOutput | Sequence[PathOrOutput],
        Option(
            "Folders of evaluations, their result.json files, or a folder of such files.",
            argument=True,
            metavar="RESULT...",
        ),
    ]
    out: str | Path | None = main_field(None, "The .html file to write.", ("--out", "-o"))
    _: KW_ONLY
    checks: Sequence[PathOrOutput] = main_field(
        (), "Build on which to evaluate models again.", ("--check",), metavar="BUILD"
    )
    embeddings: Annotated[
        Mapping[str, EmbeddingLike] | None,
        replace(EMBEDDINGS, needed=False, heading="Main options"),
    ] = None
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if no result is named."""
        if not self.paths:
            raise OptionError("name at least one result: the folder of an evaluation")
        if self.embeddings and not self.checks:
            raise OptionError("`embeddings` needs `checks`")

    @property
    def paths(self) -> list[Path]:
        """The results as paths."""
        return [folder_of(result) for result in several(self.results)]
