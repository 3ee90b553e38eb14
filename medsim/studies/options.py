"""The options of studies: drawing pairs, grading them, scoring answers and choosing word pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

from medsim.core.config import MOST_SEED
from medsim.core.errors import OptionError
from medsim.core.options import OpenedFolder, Option, Options, Reporting, Threads
from medsim.evaluations.bins import BINS, EQUAL_PARTS, TOPIC_BINS, checked_bins

PAGE_SIZE, CONSISTENCY, DUPLICATES = 120, 50, 50
"""Pairs of a page, pairs that all rate, pairs that a rater sees twice (Chiu et al. 2018)."""

PER_CLASS = 30
"""The positives, and negatives, of a dataset that are judged (Schulz and Juric 2020, 3.3)."""

OUTLIER_SHARE = 0.5
"""The share of the others' average IAA-1 below which a rater is an outlier."""

NORM_PARTICIPANTS = 11
"""The fewest people who saw the cue of a norm that counts: more than ten (Chiu et al. 2018)."""

N_QUARTERS = 4
"""Quarters of a set of word pairs: biomedical or general, associated or not."""

MOST_PAIRS = 10_000
"""The most pairs of a set of word pairs: more than people ever rated of words."""

_MOST_PER_CLASS = 10_000
_OUT = Option("The folder of the study to write.", ("--out", "-o"))
_INSTRUCTIONS = Option(
    "A text file to be read before the first pair, with empty lines between paragraphs; by default "
    "a few sentences on how to answer."
)
_OVERWRITE = Option("Replace an earlier study, whose answers then fit no longer.")
_SEED = Option("Of what is drawn and of its order.", least=0, most=MOST_SEED, key="seed")


Place: TypeAlias = str | Path | OpenedFolder
"""A folder, or the output that was opened there."""

CountOrNames: TypeAlias = int | str | Sequence[str]
"""A number of people, or their names: in order, or in a text with commas between them."""


def _of_graded(option: Option, key: str) -> Option:
    """Return an option of evaluations as one of the scores of graded studies, for their table."""
    text = f"Of a graded study: {option.help[0].lower()}{option.help[1:]}"
    return replace(option, help=text, key=key, kept_empty=False)


def _paths(given: str | Path | Sequence[str | Path] | None) -> list[Path]:
    """Return the paths of an option that takes any number of them."""
    return [Path(given)] if isinstance(given, (str, Path)) else [Path(one) for one in given or ()]


def folder_of(place: Place) -> Path:
    """Return the folder of an output."""
    return Path(place) if isinstance(place, (str, Path)) else place.folder


@dataclass(frozen=True, slots=True)
class SampleOptions(Options):
    """The options of ``medsim study sample``."""

    build: Annotated[Place, Option("The folder of a build.", argument=True, metavar="OUT")]
    out: Annotated[str | Path, _OUT]
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
    instructions: Annotated[str | Path | None, _INSTRUCTIONS] = None
    seed: Annotated[int, _SEED] = 0
    overwrite: Annotated[bool, _OVERWRITE] = False
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
    out: Annotated[str | Path, _OUT]
    _: KW_ONLY
    raters: Annotated[
        CountOrNames, Option("How many raters, or their names, those of a group together.")
    ] = 12
    groups: Annotated[
        int, Option("Groups of raters, each with pairs of its own.", key="groups")
    ] = 2
    consistency: Annotated[
        int | None,
        Option("Pairs that all rate; 50 by default, none for a single group.", key="consistency"),
    ] = None
    duplicates: Annotated[int, Option("Pairs that each rater sees twice.", key="duplicates")] = (
        DUPLICATES
    )
    page_size: Annotated[
        int,
        Option("Most pairs of a page, after which there is a pause; 0 for no pages.", least=0),
    ] = PAGE_SIZE
    title: Annotated[str, Option("The heading that raters see.")] = "How similar are these words?"
    instructions: Annotated[str | Path | None, _INSTRUCTIONS] = None
    notice: Annotated[
        str | None, Option("What raters must know before they pass a sheet on; nothing by default.")
    ] = None
    seed: Annotated[int, _SEED] = 0
    overwrite: Annotated[bool, _OVERWRITE] = False
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
    outlier_share: Annotated[
        float,
        Option(
            "Of a graded study: a rater whose IAA-1 on the consistency set is below this share of "
            "the others' average is an outlier.",
            least=0,
            most=1,
            key="outlier_share",
        ),
    ] = OUTLIER_SHARE
    bins: Annotated[Sequence[int], _of_graded(BINS, "bins")] = ()
    topic_bins: Annotated[Sequence[int], _of_graded(TOPIC_BINS, "topic_bins")] = ()
    equal_parts: Annotated[int | None, _of_graded(EQUAL_PARTS, "equal_parts")] = None
    seed: Annotated[int, Option("Of the bootstrap.", least=0, most=MOST_SEED, key="seed")] = 0
    resamples: Annotated[
        int,
        Option("Of the bootstrap, for intervals of agreement; 0 for none.", key="resamples"),
    ] = 10_000
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace earlier scores.")] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for bins that are none."""
        bins, topic_bins = checked_bins(self.bins, self.topic_bins, self.equal_parts)
        object.__setattr__(self, "bins", bins)
        object.__setattr__(self, "topic_bins", topic_bins)


@dataclass(frozen=True, slots=True)
class PairsOptions(Options):
    """The options of choosing pairs of words."""

    words: Annotated[
        str | Path,
        Option(
            "Frequency table of a biomedical corpus, CSV, TSV or Parquet: columns word, class, "
            "count, and where known lemma and topics (a number, or names with ; between) or "
            "documents.",
            argument=True,
        ),
    ]
    _: KW_ONLY
    word_class: Annotated[
        str | None,
        Option(
            "The class of words, such as noun; by default the only one.",
            ("--word-class", "--class"),
        ),
    ] = None
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
            "list, how often either corpus uses a word decides its domain.",
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
    ratio: Annotated[
        float,
        Option(
            "With a general corpus alone: how many times more often its own domain uses a word.",
            least=1,
        ),
    ] = 5.0
    size: Annotated[int, Option("Pairs to choose, in four equal quarters.")] = 1_000
    min_count: Annotated[int, Option("Smallest count of a word, all forms added.", least=1)] = 5
    min_length: Annotated[int, Option("Fewest letters of a word.", least=1)] = 3
    per_word: Annotated[int, Option("Most pairs that a word is in.", least=1)] = 3
    no_lemmas: Annotated[bool, Option("Make no lemmas where the table has none.")] = False
    seed: Annotated[int, _SEED] = 0
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
        if self.biomedical is None and self.general is None:
            raise OptionError(
                "say by `biomedical` LIST or `general` CORPUS which words are biomedical"
            )
        if not self.builds and not self.norm_files:
            raise OptionError(
                "nothing tells which words are associated; add `terminology` BUILD or `norms` FILE"
            )


@dataclass(frozen=True, slots=True)
class PairsFileOptions(PairsOptions):
    """The options of ``medsim study pairs``."""

    _: KW_ONLY
    out: Annotated[str | Path, Option("The .csv or .parquet file to write.", ("--out", "-o"))]
    overwrite: Annotated[bool, Option("Replace a file that is there.")] = False
