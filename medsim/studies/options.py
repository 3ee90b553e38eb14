"""The options of studies: drawing pairs, grading them and scoring answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

from medsim.core.config import MOST_COUNT, MOST_SEED
from medsim.core.errors import OptionError
from medsim.core.options import OpenedFolder, Option, Options, Reporting, Threads
from medsim.evaluations.bins import BINS, EQUAL_PARTS, TOPIC_BINS, checked_bins
from medsim.statistics.resampling import FEWEST_RESAMPLES, MOST_RESAMPLES
from medsim.studies.people import CountOrNames, annotators_of

PAGE_SIZE, CONSISTENCY, DUPLICATES = 120, 50, 50
"""Pairs of a page, pairs that all rate, pairs that a rater sees twice (Chiu et al. 2018)."""

PER_CLASS = 30
"""The positives, and negatives, of a dataset that are judged (Schulz and Juric 2020, 3.3)."""

OUTLIER_SHARE = 0.5
"""The share of the others' average IAA-1 below which a rater is an outlier."""

_MOST_PER_CLASS = 10_000
_MOST_GROUPS = 500
_LEAST_RATERS = 2  # of a group: one alone agrees with nobody
OUT = Option("The folder of the study to write.", ("--out", "-o"))
INSTRUCTIONS = Option(
    "A text file to be read before the first pair, with empty lines between paragraphs; by default "
    "a few sentences on how to answer."
)
OVERWRITE = Option("Replace an earlier study, whose answers then fit no longer.")
SEED = Option("Of what is drawn and of its order.", least=0, most=MOST_SEED, key="seed")


Place: TypeAlias = str | Path | OpenedFolder
"""A folder, or the output that was opened there."""


def _of_graded(option: Option, key: str) -> Option:
    """Return an option of evaluations as one of the scores of graded studies, for their table."""
    text = f"Of a graded study: {option.help[0].lower()}{option.help[1:]}"
    return replace(option, help=text, key=key, kept_empty=False)


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

    def check(self) -> None:
        """Raise OptionError for annotators that are none."""
        annotators_of(self.annotators, stem="annotator")


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
        int,
        Option(
            "Groups of raters, each with pairs of its own.",
            least=1,
            most=_MOST_GROUPS,
            key="groups",
        ),
    ] = 2
    consistency: Annotated[
        int | None,
        Option(
            "Pairs that all rate; 50 by default, none for a single group.",
            least=0,
            most=MOST_COUNT,
            key="consistency",
        ),
    ] = None
    duplicates: Annotated[
        int,
        Option("Pairs that each rater sees twice.", least=0, most=MOST_COUNT, key="duplicates"),
    ] = DUPLICATES
    page_size: Annotated[
        int,
        Option(
            "Most pairs of a page, after which there is a pause; 0 for no pages.",
            least=0,
            most=MOST_COUNT,
        ),
    ] = PAGE_SIZE
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

    def check(self) -> None:
        """Raise OptionError for raters that are none, or too few for the groups."""
        n_raters = len(annotators_of(self.raters, stem="rater"))
        if n_raters < _LEAST_RATERS * self.groups:
            raise OptionError(
                f"`raters` {n_raters} cannot make `groups` {self.groups} of {_LEAST_RATERS} or more"
            )


@dataclass(frozen=True, slots=True)
class ScoreOptions(Options):
    """The options of ``medsim study score``."""

    study: Annotated[Place, Option("The folder of a study.", argument=True)]
    answers: Annotated[
        Sequence[str | Path],
        Option(
            "What annotators sent back: files of the page, sheets in CSV or TSV, exports of Label "
            "Studio, or folders of such.",
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
        Option(
            "Of the bootstrap, for intervals of agreement; 0 for none.",
            least=0,
            most=MOST_RESAMPLES,
            key="resamples",
        ),
    ] = 10_000
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace earlier scores.")] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for bins that are none, or too few resamples."""
        if 0 < self.resamples < FEWEST_RESAMPLES:
            raise OptionError(
                f"`resamples` {self.resamples} are too few for intervals; "
                f"{FEWEST_RESAMPLES} are enough, and 0 makes none"
            )
        if not self.answers:
            raise OptionError("name at least one file of answers, or a folder of such")
        bins, topic_bins = checked_bins(self.bins, self.topic_bins, self.equal_parts)
        object.__setattr__(self, "bins", bins)
        object.__setattr__(self, "topic_bins", topic_bins)


Words = Annotated[
    str | Path,
    Option(
        "Frequency table of a biomedical corpus, CSV, TSV or Parquet: columns word, class, "
        "count, and where known lemma and topics (a number, or names with ; between) or documents.",
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
    int,
    Option("Smallest count of a word, all forms added.", least=1, most=MOST_COUNT, key="min_count"),
]
MinLength = Annotated[
    int, Option("Fewest letters of a word.", least=1, most=1_000, key="min_length")
]
NoLemmas = Annotated[bool, Option("Make no lemmas where the table has none.", key="no_lemmas")]
