"""The options of studies in which a few people answer the same questions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from medsim.core.config import MOST_COUNT
from medsim.core.errors import OptionError
from medsim.core.options import Option, Options, Reporting
from medsim.studies.options import (
    INSTRUCTIONS,
    OUT,
    OVERWRITE,
    SEED,
    MinCount,
    MinLength,
    NoLemmas,
    WordClass,
    Words,
)
from medsim.studies.people import CountOrNames, annotators_of

SIZE, COMMON = 100, 50
"""Instances of an annotator, and those of them that all see (Rouhizadeh et al. 2024)."""


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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators."""
        return annotators_of(self.annotators, stem="annotator")

    def check(self) -> None:
        """Raise OptionError for annotators that are none."""
        _ = self.names


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
    size: Annotated[
        int, Option("Instances of each annotator.", least=1, most=MOST_COUNT, key="size")
    ] = SIZE
    common: Annotated[
        int,
        Option("How many of them all annotators see.", least=0, most=MOST_COUNT, key="common"),
    ] = COMMON
    title: Annotated[str, Option("The heading that annotators see.")] = (
        "Do these terms mean the same here?"
    )

    @property
    def n_common(self) -> int:
        """The number of instances that all annotators see."""
        return self.common if len(self.names) > 1 else self.size

    def check(self) -> None:
        """Raise OptionError for annotators that are none, or more common instances than all."""
        AskingOptions.check(self)
        if self.n_common > self.size:
            raise OptionError(f"`common` {self.n_common} is more than `size` {self.size}")


@dataclass(frozen=True, slots=True)
class DomainsOptions(AskingOptions):
    """The options of ``medsim study domains``."""

    words: Words
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    word_class: WordClass = None
    size: Annotated[
        int | None,
        Option("Words to draw; all by default.", least=1, most=MOST_COUNT, key="size"),
    ] = None
    min_count: MinCount = 5
    min_length: MinLength = 3
    no_lemmas: NoLemmas = False
    title: Annotated[str, Option("The heading that annotators see.")] = "Which domain is it of?"


AskedOptions: TypeAlias = InstancesOptions | DomainsOptions | InspectOptions
