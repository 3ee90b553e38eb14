"""The options of ``medsim nearest``."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from medsim.core.errors import OptionError
from medsim.core.options import Option, Options, Reporting, Threads

Ties = Literal["first", "all"]
"""Which of the names at the last distance are returned."""

if TYPE_CHECKING:
    Names: TypeAlias = Any
else:  # what help and messages name
    Names = str | Path | Any

MOST_EDITS = 4
"""The largest distance of all pairs."""

MOST_NAMES = 1_000_000
"""The largest number of names for each query."""


@dataclass(frozen=True, slots=True)
class NearestOptions(Options):
    """The options of ``medsim nearest``."""

    queries: Annotated[
        Names,
        Option(
            "File with a name per line, .csv or .parquet file, or folder of a build.",
            argument=True,
            metavar="QUERIES",
        ),
    ]
    pool: Annotated[
        Names | None,
        Option(
            "The names to search, as for QUERIES; default: the other names of QUERIES.",
            argument=True,
            metavar="POOL",
        ),
    ] = None
    k: Annotated[
        int | None,
        Option(
            "Nearest names of each query; default: 1.",
            ("--k", "-k"),
            least=1,
            most=MOST_NAMES,
            heading="Main options",
        ),
    ] = None
    max_distance: Annotated[
        int | None,
        Option(
            "Largest edit distance; without --k, all pairs within it are found (1 to 4).",
            least=0,
            most=1 << 20,
            heading="Main options",
        ),
    ] = None
    _: KW_ONLY
    query_column: Annotated[
        str | None,
        Option(
            "Column of QUERIES; default: the only one, or one named term, name or label.",
            heading="Input",
        ),
    ] = None
    pool_column: Annotated[
        str | None, Option("Column of POOL; the same default.", heading="Input")
    ] = None
    exclude: Annotated[
        Names | None,
        Option(
            "Table of pairs that do not match, with the columns query and match.", heading="Input"
        ),
    ] = None
    match_case: Annotated[bool, Option("Distinguish upper and lower case.")] = False
    ties: Annotated[
        Ties,
        Option(
            "'all' adds the other names at the distance of the last one. 'first' takes --k names, "
            "at equal distances the first ones in order of text."
        ),
    ] = "first"
    threads: Threads = None
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for a distance that all pairs cannot have."""
        if self.all_pairs and not 1 <= (self.max_distance or 0) <= MOST_EDITS:
            raise OptionError(
                f"`max_distance` takes 1 to {MOST_EDITS} without `k`; add `k` for larger distances"
            )

    @property
    def all_pairs(self) -> bool:
        """Whether all pairs within a distance are searched."""
        return self.k is None and self.max_distance is not None
