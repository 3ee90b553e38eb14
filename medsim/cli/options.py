"""The options of the commands that read outputs of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.options import (
    NAMED_PATH,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    main_field,
    option_field,
)
from medsim.core.statements import StatementOptions


@dataclass(frozen=True, slots=True)
class SqlOptions(StatementOptions):
    """The options of ``medsim sql``."""

    out: Annotated[
        str | Path,
        Option(
            "The folder of a build, an evaluation, a comparison of releases, a study, its scores, "
            "words in context or a tagging, or a .parquet or .csv file of medsim nearest.",
            argument=True,
            metavar="OUT",
        ),
    ]
    statement: str | None = option_field(
        None, "One select; read from standard input if piped.", argument=True
    )
    _: KW_ONLY
    others: Mapping[str, str | Path] | None = main_field(
        None,
        "Another output, whose views are NAME.VIEW in the statement, such as new.pair. Repeat it "
        "for several.",
        ("--with",),
        metavar=NAMED_PATH,
    )


@dataclass(frozen=True, slots=True)
class ReportOptions(Options):
    """The options of ``medsim report``."""

    output: Annotated[
        PathOrOutput,
        Option(
            "The folder of a build, an evaluation, an audit, a comparison of releases, words in "
            "context or their scores, a tagging, or a study's scores.",
            argument=True,
            metavar="FOLDER",
        ),
    ]
    out: Annotated[
        str | Path,
        Option(
            "The .html file to write, or a .svg or .png file for a single chart of an evaluation.",
            ("--out", "-o"),
        ),
    ]
    _: KW_ONLY
    statistic: str | None = main_field(
        None,
        "Statistic of a single chart, such as auc; default: the first that the evaluation has.",
    )
    progress: Reporting = None
