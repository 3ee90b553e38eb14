"""The options of the commands on words: which are of which domain, and pairs of them to rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.errors import OptionError
from medsim.core.options import Option, Options, Reporting, Threads
from medsim.studies.options import OUT, SEED, AskingOptions

N_QUARTERS = 4
"""Quarters of a set of word pairs: biomedical or general, associated or not."""

MOST_PAIRS = 10_000
"""The most pairs of a set of word pairs: more than people ever rated of words."""

Words = Annotated[
    str | Path,
    Option(
        "Frequency table of a biomedical corpus, CSV, TSV or Parquet: columns word, class, "
        "count, and where known lemma and topics (a number, or names with ; between).",
        argument=True,
    ),
]
WordClass = Annotated[
    str | None,
    Option(
        "The class of words, such as noun; by default the only one.",
        ("--word-class", "--class"),
        key="word_class",
    ),
]
MinCount = Annotated[
    int, Option("Smallest count of a word, all forms added.", least=1, key="min_count")
]
MinLength = Annotated[int, Option("Fewest letters of a word.", least=1, key="min_length")]
NoLemmas = Annotated[bool, Option("Make no lemmas where the table has none.", key="no_lemmas")]


@dataclass(frozen=True, slots=True)
class DomainsOptions(AskingOptions):
    """The options of ``medsim study domains``."""

    words: Words
    out: Annotated[str | Path, OUT]
    _: KW_ONLY
    word_class: WordClass = None
    size: Annotated[int | None, Option("Words to draw; all by default.", least=1, key="size")] = (
        None
    )
    min_count: MinCount = 5
    min_length: MinLength = 3
    no_lemmas: NoLemmas = False
    title: Annotated[str, Option("The heading that annotators see.")] = "Which domain is it of?"


@dataclass(frozen=True, slots=True)
class PairsOptions(Options):
    """The options of choosing pairs of words."""

    words: Words
    _: KW_ONLY
    word_class: WordClass = None
    terminology: Annotated[
        str | Path | None,
        Option("Folder of a build; associates its synonyms and siblings.", metavar="BUILD"),
    ] = None
    norms: Annotated[
        str | Path | Sequence[str | Path] | None,
        Option(
            "Association norms, as of the University of South Florida, or a table with columns "
            "cue, target and where known strength; any number of files.",
            metavar="FILE",
            many=True,
        ),
    ] = None
    biomedical: Annotated[
        str | Path | None,
        Option(
            "Biomedical words, one a line, or a build whose names they are; all other words are "
            "general.",
            metavar="LIST",
        ),
    ] = None
    general: Annotated[
        str | Path | None,
        Option(
            "Frequency table of a general corpus; in place of a list, how often either corpus uses "
            "a word decides its domain.",
            metavar="CORPUS",
        ),
    ] = None
    domains: Annotated[
        str | Path | None,
        Option(
            "A table with columns word and domain, as medsim study score writes of words that "
            "people sorted; all other words are left out.",
            metavar="TABLE",
        ),
    ] = None
    confirmed: Annotated[
        str | Path | None,
        Option(
            "A table with columns term1 and term2, as medsim study score writes of pairs that "
            "people inspected: the only pairs that are drawn as associated biomedical ones.",
            metavar="TABLE",
        ),
    ] = None
    ratio: Annotated[
        float,
        Option(
            "With a general corpus: how many times more often its own domain uses a word.", least=1
        ),
    ] = 5.0
    size: Annotated[int, Option("Pairs to choose, in four equal quarters.")] = 1_000
    min_count: MinCount = 5
    min_length: MinLength = 3
    per_word: Annotated[int, Option("Most pairs that a word is in.", least=1)] = 3
    no_lemmas: NoLemmas = False
    seed: Annotated[int, SEED] = 0
    threads: Threads = None
    progress: Reporting = None

    @property
    def norm_files(self) -> list[Path]:
        """The files of norms."""
        if isinstance(self.norms, (str, Path)):
            return [Path(self.norms)]
        return [Path(file) for file in self.norms or ()]

    def check(self) -> None:
        """Raise OptionError if a size has no quarters, or a quarter nothing to tell its words."""
        if self.size % N_QUARTERS or not N_QUARTERS <= self.size <= MOST_PAIRS:
            near = min(MOST_PAIRS, max(N_QUARTERS, self.size // N_QUARTERS * N_QUARTERS))
            raise OptionError(
                f"`size` {self.size} cannot be cut into four equal quarters; a multiple of 4 up to "
                f"{MOST_PAIRS:,} can, such as {near}"
            )
        if not math.isfinite(self.ratio):
            raise OptionError(f"`ratio` {self.ratio} is out of range; at least 1 is accepted")
        if sum(one is not None for one in (self.biomedical, self.general, self.domains)) != 1:
            raise OptionError(
                "say by one of `biomedical` LIST, `general` CORPUS and `domains` TABLE which words "
                "are biomedical"
            )
        if self.terminology is self.confirmed is None and not self.norm_files:
            raise OptionError(
                "nothing tells which words are associated; add `terminology` BUILD or `norms` FILE"
            )


@dataclass(frozen=True, slots=True)
class PairsFileOptions(PairsOptions):
    """The options of ``medsim study pairs``."""

    _: KW_ONLY
    out: Annotated[str | Path, Option("The .csv or .parquet file to write.", ("--out", "-o"))]
    overwrite: Annotated[bool, Option("Replace a file that is there.")] = False
