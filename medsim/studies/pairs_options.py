"""The options of choosing pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.config import MOST_COUNT
from medsim.core.errors import OptionError
from medsim.core.options import Option, Options, Reporting, Threads
from medsim.studies.options import SEED, MinCount, MinLength, NoLemmas, WordClass, Words

NORM_PARTICIPANTS = 11
"""The fewest people who saw the cue of a norm that counts: more than ten (Chiu et al. 2018)."""

N_QUARTERS = 4
"""Quarters of a set of word pairs: biomedical or general, associated or not."""

MOST_PAIRS = 10_000
"""The most pairs of a set of word pairs: more than people ever rated of words."""


def _paths(given: str | Path | Sequence[str | Path] | None) -> list[Path]:
    """Return the paths of an option that takes any number of them."""
    return [Path(given)] if isinstance(given, (str, Path)) else [Path(one) for one in given or ()]


@dataclass(frozen=True, slots=True)
class PairsOptions(Options):
    """The options of choosing pairs of words."""

    words: Words
    _: KW_ONLY
    word_class: WordClass = None
    terminology: Annotated[
        str | Path | Sequence[str | Path] | None,
        Option(
            "Folder of a build; associates its synonyms and siblings. Any number of builds.",
            metavar="BUILD",
            many=True,
        ),
    ] = None
    lexicon: Annotated[
        str | Path | Sequence[str | Path] | None,
        Option(
            "Files LRNOM, LRAGR and LRSPL of the SPECIALIST Lexicon, or their folder: variants of "
            "a build's names count as these do, as phosphorylate where it has phosphorylation.",
            metavar="FILE",
            many=True,
        ),
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
    norm_participants: Annotated[
        int,
        Option(
            "Fewest people who saw the cue of a norm that counts (#G); more than ten by default.",
            least=0,
            most=MOST_COUNT,
        ),
    ] = NORM_PARTICIPANTS
    one_way: Annotated[
        bool, Option("Count norms that lack a forward or a backward strength (FSG, BSG) as well.")
    ] = False
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
            "Frequency table of a general corpus, with which frequencies are correlated; without a "
            "list or a table of domains, how often either corpus uses a word decides its domain.",
            metavar="CORPUS",
        ),
    ] = None
    documents: Annotated[
        str | Path | None,
        Option(
            "Topics of documents or journals: a table of document and topics (names with ; "
            "between). A word has the topics of those in its column documents, and as its own the "
            "most frequent.",
            metavar="TABLE",
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
            "With a general corpus alone: how many times more often its own domain uses a word.",
            least=1,
            most=MOST_COUNT,
        ),
    ] = 5.0
    size: Annotated[
        int, Option("Pairs to choose, in four equal quarters.", least=N_QUARTERS, most=MOST_PAIRS)
    ] = 1_000
    min_count: MinCount = 5
    min_length: MinLength = 3
    per_word: Annotated[int, Option("Most pairs that a word is in.", least=1, most=MOST_PAIRS)] = 3
    no_lemmas: NoLemmas = False
    seed: Annotated[int, SEED] = 0
    threads: Threads = None
    progress: Reporting = None

    @property
    def norm_files(self) -> list[Path]:
        """The files of norms."""
        return _paths(self.norms)

    @property
    def builds(self) -> list[Path]:
        """The folders of terminologies."""
        return _paths(self.terminology)

    @property
    def lexicon_files(self) -> list[Path]:
        """The files of the SPECIALIST Lexicon, or their folders."""
        return _paths(self.lexicon)

    @property
    def by_ratio(self) -> bool:
        """Whether the domain of a word is told by the ratio of its frequencies in two corpora."""
        return self.biomedical is None and self.domains is None

    def check(self) -> None:
        """Raise OptionError if a size has no quarters, or a quarter nothing to tell its words."""
        if self.size % N_QUARTERS:
            near = self.size // N_QUARTERS * N_QUARTERS
            raise OptionError(
                f"`size` {self.size} cannot be cut into four equal quarters; a multiple of 4 up to "
                f"{MOST_PAIRS:,} can, such as {near}"
            )
        if self.biomedical is not None and self.domains is not None:
            raise OptionError(
                "`biomedical` and `domains` both say which words are biomedical; give one of them"
            )
        if self.by_ratio and self.general is None:
            raise OptionError(
                "say by one of `biomedical` LIST, `general` CORPUS and `domains` TABLE which words "
                "are biomedical"
            )
        if not self.builds and not self.norm_files and self.confirmed is None:
            raise OptionError(
                "nothing tells which words are associated; add `terminology` BUILD or `norms` FILE"
            )


@dataclass(frozen=True, slots=True)
class PairsFileOptions(PairsOptions):
    """The options of ``medsim study pairs``."""

    _: KW_ONLY
    out: Annotated[str | Path, Option("The .csv or .parquet file to write.", ("--out", "-o"))]
    overwrite: Annotated[bool, Option("Replace a file that is there.")] = False
