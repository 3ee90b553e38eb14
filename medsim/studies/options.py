"""The options of studies: drawing pairs, grading them, scoring answers and choosing word pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from medsim.core.config import MOST_SEED
from medsim.core.options import OpenedFolder, Option, Options, Reporting, Threads

PAGE_SIZE, CONSISTENCY, DUPLICATES = 120, 50, 50
"""Pairs of a page, pairs that all rate, pairs that a rater sees twice (Chiu et al. 2018)."""

PER_CLASS = 30
"""The positives, and negatives, of a dataset that are judged (Schulz and Juric 2020, 3.3)."""

SIZE, COMMON = 100, 50
"""Instances of an annotator, and those of them that all see (Rouhizadeh et al. 2024)."""

_MOST_PER_CLASS = 10_000
OUT = Option("The folder of the study to write.", ("--out", "-o"))
INSTRUCTIONS = Option(
    "A text file to be read before the first pair, with empty lines between paragraphs; by default "
    "a few sentences on how to answer."
)
OVERWRITE = Option("Replace an earlier study, whose answers then fit no longer.")
SEED = Option("Of what is drawn and of its order.", least=0, most=MOST_SEED, key="seed")


Place: TypeAlias = str | Path | OpenedFolder
"""A folder, or the output that was opened there."""

CountOrNames: TypeAlias = int | str | Sequence[str]
"""A number of people, or their names: in order, or in a text with commas between them."""


def folder_of(place: Place) -> Path:
    """Return the folder of an output."""
    return Path(place) if isinstance(place, (str, Path)) else place.folder


@dataclass(frozen=True, slots=True)
class SampleOptions(Options):
    """The options of ``medsim study sample``."""

    build: Annotated[Place, Option("The folder of a build.", argument=True, metavar="OUT")]
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    per_class: Annotated[
        int,
        Option(
            "Positives, and negatives, to draw of every dataset.",
            least=1,
            most=_MOST_PER_CLASS,
            key="per_class",
        ),
    ] = PER_CLASS
    annotators: Annotated[
        CountOrNames, Option("How many annotators, or their names, as in ada,ben,eva.")
    ] = 3
    title: Annotated[str, Option("The heading that annotators see.")] = (
        "Do these terms mean the same?"
    )
    instructions: Annotated[str | Path | None, INSTRUCTIONS] = None
    seed: Annotated[int, SEED] = 0
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class GradeOptions(Options):
    """The options of ``medsim study grade``."""

    pairs: Annotated[
        str | Path,
        Option(
            "CSV, TSV or Parquet with the columns term1 and term2; other columns are kept for the "
            "results.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    raters: Annotated[
        CountOrNames, Option("How many raters, or their names, those of a group together.")
    ] = 12
    groups: Annotated[
        int, Option("Groups of raters, each with pairs of its own.", key="groups")
    ] = 4
    consistency: Annotated[
        int | None,
        Option("Pairs that all rate; 50 by default, none for a single group.", key="consistency"),
    ] = None
    duplicates: Annotated[int, Option("Pairs that each rater sees twice.", key="duplicates")] = (
        DUPLICATES
    )
    page_size: Annotated[int, Option("Pairs before a pause; 0 for no pauses.", least=0)] = PAGE_SIZE
    title: Annotated[str, Option("The heading that raters see.")] = "How similar are these words?"
    instructions: Annotated[str | Path | None, INSTRUCTIONS] = None
    notice: Annotated[
        str | None, Option("What raters must know before they pass a sheet on; nothing by default.")
    ] = None
    seed: Annotated[int, SEED] = 0
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    @property
    def n_consistency(self) -> int:
        """The number of pairs that all rate."""
        if self.consistency is None:
            return CONSISTENCY if self.groups > 1 else 0
        return self.consistency

    def recorded(self) -> dict[str, object]:
        """Return the options that decide what is shown to whom, as plain JSON values."""
        return {**Options.recorded(self), "consistency": self.n_consistency}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions(Options):
    """The options of every study in which a few people answer the same questions."""

    annotators: Annotated[
        CountOrNames, Option("How many annotators, or their names, as in ada,ben.")
    ] = 2
    instructions: Annotated[str | Path | None, INSTRUCTIONS] = None
    notice: Annotated[
        str | None,
        Option("What annotators must know before they pass a sheet on; nothing by default."),
    ] = None
    seed: Annotated[int, SEED] = 0
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class InspectOptions(AskingOptions):
    """The options of ``medsim study inspect``."""

    pairs: Annotated[
        str | Path,
        Option(
            "CSV, TSV or Parquet with the columns term1 and term2; other columns are kept for the "
            "results. Where it has domain or associated, as medsim study pairs writes them, the "
            "associated biomedical pairs are shown.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    title: Annotated[str, Option("The heading that annotators see.")] = "Are they associated?"


@dataclass(frozen=True, slots=True)
class InstancesOptions(AskingOptions):
    """The options of ``medsim study instances``."""

    benchmark: Annotated[
        str | Path,
        Option(
            "A folder with test.json, as BioWiC is published and medsim wic build writes it, or "
            "one such file.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    size: Annotated[int, Option("Instances of each annotator.", least=1, key="size")] = SIZE
    common: Annotated[
        int, Option("How many of them all annotators see.", least=0, key="common")
    ] = COMMON
    title: Annotated[str, Option("The heading that annotators see.")] = (
        "Do these terms mean the same here?"
    )


@dataclass(frozen=True, slots=True)
class ScoreOptions(Options):
    """The options of ``medsim study score``."""

    study: Annotated[Place, Option("The folder of a study.", argument=True)]
    answers: Annotated[
        Sequence[str | Path],
        Option(
            "What annotators sent back: files of the page, sheets in CSV, exports of Label Studio, "
            "or folders of such.",
            argument=True,
            metavar="ANSWERS...",
        ),
    ]
    out: Annotated[
        str | Path | None,
        Option("A folder to write all tables to, as CSV; none by default.", ("--out", "-o")),
    ] = None
    _: KW_ONLY
    leave_out: Annotated[
        Sequence[str],
        Option(
            "Annotators that do not count, as in ada,ben; of a graded study, outliers stands for "
            "those that the table raters calls so.",
            listed=True,
            key="leave_out",
        ),
    ] = ()
    seed: Annotated[int, Option("Of the bootstrap.", least=0, most=MOST_SEED, key="seed")] = 0
    resamples: Annotated[
        int,
        Option("Of the bootstrap, for intervals of agreement; 0 for none.", key="resamples"),
    ] = 10_000
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace earlier scores.")] = False
    progress: Reporting = None
