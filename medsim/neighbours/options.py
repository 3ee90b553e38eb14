"""The options of ``medsim nearest``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    Option,
    Options,
    Reporting,
    Threads,
    input_field,
    main_field,
    option_field,
)

Ties = Literal["first", "all"]
"""Which of the names at the last distance are returned."""

NamesLike: TypeAlias = str | Path | Any
"""What names are taken from; see ``names.names_of``."""

MAX_EDITS = 4
"""The largest distance of all pairs."""

MAX_MATCHES = 1_000_000
"""The largest number of names for each query."""


@dataclass(frozen=True, slots=True)
class NearestOptions(Options):
    """The options of ``medsim nearest``."""

    queries: Annotated[
        NamesLike,
        Option(
            "File with a name per line, .csv, .xlsx, .jsonl, .parquet, .sqlite or .duckdb file, or "
            "folder of a build.",
            argument=True,
        ),
    ]
    pool: NamesLike | None = option_field(
        None,
        "The names to search, as for QUERIES; default: the other names of QUERIES.",
        argument=True,
    )
    k: int | None = main_field(
        None,
        "Nearest names of each query; default: 1, or all with --max-distance.",
        ("--k", "-k"),
        least=1,
        most=MAX_MATCHES,
    )
    max_distance: int | None = main_field(
        None,
        "Largest edit distance. Without --k, all pairs within it are found, and it is 1 to 4, or 0 "
        "with --duplicates.",
        least=0,
        most=1 << 20,
    )
    _: KW_ONLY
    query_column: str | None = input_field(
        None, "Column of QUERIES; default: the only one, or one named term, name or label."
    )
    pool_column: str | None = input_field(None, "Column of POOL; the same default.")
    query_table: str | None = input_field(
        None, "Table of QUERIES, if it is a database, or sheet, if it is a workbook."
    )
    pool_table: str | None = input_field(None, "Table of POOL, as for QUERIES.")
    keep: Sequence[str] = main_field(
        (),
        "Columns of QUERIES to keep as query_COLUMN, such as codes; without POOL, also as "
        "match_COLUMN. A name of several rows is repeated for each. Builds have concept_id, "
        "description_id, kind and language.",
        listed=True,
        metavar="COLUMN",
    )
    keep_pool: Sequence[str] = main_field(
        (), "Columns of POOL to keep, as match_COLUMN.", listed=True, metavar="COLUMN"
    )
    duplicates: bool = main_field(
        False,
        "Also pair each row with the first row of the same name, at distance 0. Needs "
        "--max-distance; not with --k or POOL.",
    )
    match_case: bool = option_field(False, "Distinguish upper and lower case.")
    ties: Ties = option_field(
        "first",
        "'all' adds the names that tie for the last place. 'first' takes --k names, at equal "
        "distances the first ones in order of text.",
    )
    threads: Threads = None
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for a distance that all pairs cannot have, or a column of no file."""
        limit = self.pairs_within
        if self.duplicates and (limit is None or self.pool is not None):
            raise OptionError("`duplicates` needs `max_distance`, and neither `k` nor a pool")
        if limit is not None and not 1 - self.duplicates <= limit <= MAX_EDITS:
            raise OptionError(
                f"`max_distance` takes 1 to {MAX_EDITS} without `k`; add `k` for larger distances"
            )
        for name in ("pool_column", "pool_table", "keep_pool"):
            if getattr(self, name) and not isinstance(self.pool, (str, Path)):
                raise OptionError(f"`{name}` needs a file of names")

    @property
    def pairs_within(self) -> int | None:
        """The distance within which all pairs are searched; None for nearest names."""
        return self.max_distance if self.k is None else None


@dataclass(frozen=True, slots=True)
class NearestCommandOptions(NearestOptions):
    """The options of ``medsim nearest`` on the command line, which can write the rows."""

    to_address = "whole"

    _: KW_ONLY
    out: Path | None = main_field(
        None, "The .parquet or .csv file to write; default: print the rows.", ("--out", "-o")
    )
    overwrite: Annotated[bool, OVERWRITE] = False
