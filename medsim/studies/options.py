"""The options of studies: asking people, scoring their answers, and choosing pairs of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    MakingOptions,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    Threads,
    input_field,
    main_field,
    main_option,
    option_field,
    output_field,
    output_option,
    seed_field,
)
from medsim.statistics.options import MAX_RESAMPLES, MIN_RESAMPLES, Resampling

CountOrNames: TypeAlias = int | str | Sequence[str]
"""A number of people, or their names, as a sequence or separated by commas."""

_MAX_ANNOTATORS = 1000
_NAME = re.compile(r"[^\W_](?:[\w .-]{0,38}[\w-])?")  # fit for a folder on any system
_NUMBER = re.compile(r"[0-9]{1,6}")
_NO_NAME = re.compile(
    # Numbers that are not counts, words with a meaning in `leave_out` or tables, Windows devices.
    r"[0-9.]+|all|mean|outliers|(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?",
    re.IGNORECASE,
)


def annotators_of(named: CountOrNames, stem: str) -> tuple[str, ...]:
    """Return the names of annotators, which are also the names of their folders.

    Args:
        named: their number, or their names as a sequence or separated by commas: "ada,ben,eva".
        stem: stem of made-up names if only a number is given, as in "annotator-1".

    Raises:
        OptionError: a name is unfit for a folder or repeated, or there are too many or none.
    """
    text = str(named).strip()
    if not isinstance(named, (str, int)):
        names = list(named)
    elif _NUMBER.fullmatch(text):
        names = [f"{stem}-{number:0{len(text)}}" for number in range(1, int(text) + 1)]
    else:
        names = [name.strip() for name in text.split(",")]
    if not 1 <= len(names) <= _MAX_ANNOTATORS:
        raise OptionError(f"{len(names):,} annotators; 1 to {_MAX_ANNOTATORS:,} are accepted")
    for n_earlier, name in enumerate(names):
        if _NAME.fullmatch(name) is None or _NO_NAME.fullmatch(name) is not None:
            raise OptionError(
                f"{name[:60]!r} cannot be the name of an annotator: a name has up to 40 letters, "
                "digits, spaces and . - _, begins with a letter or digit, and is not a number"
            )
        if name.casefold() in {other.casefold() for other in names[:n_earlier]}:
            raise OptionError(f"two annotators are named {name!r}")
    return tuple(names)


PER_CLASS = 30
"""The number of judged positives, and of negatives, per set (Schulz and Juric 2020, 3.3)."""

PAGE_SIZE, CONSISTENCY, DUPLICATES = 120, 50, 50
"""Pairs per page, pairs that all rate, and pairs that a rater sees twice (Chiu et al. 2018)."""

SIZE, COMMON = 100, 50
"""Instances per annotator, and how many of them all see (Rouhizadeh et al. 2024)."""

OUTLIER_SHARE = 0.5
"""The share of the others' average IAA-1 below which a rater is an outlier."""

_MIN_RATERS = 2  # per group: a single rater has no agreement

Out = Annotated[str | Path, main_option("Folder to write.", ("--out", "-o"))]
Annotators = Annotated[CountOrNames, main_option("Number of annotators, or names: ada,ben.")]
Title = Annotated[str, output_option("Heading of the page.")]
PairsFile = Annotated[
    str | Path, Option("Table with columns term1 and term2; others are kept.", argument=True)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetsOptions(Options):
    """The options of all studies."""

    notice: str | None = output_field(
        None, "Notice about sharing the sheets. It is for annotators; there is none by default."
    )
    instructions: str | Path | None = output_field(
        None, "Text file with instructions for annotators. A few sentences by default."
    )
    seed: int = seed_field(0, "Random seed.")
    overwrite: bool = output_field(
        False, "Replace OUT if it exists; its answers will no longer match."
    )
    progress: Reporting = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions(SheetsOptions):
    """The options of studies in which a few people answer the same questions."""

    annotators: Annotators = 2

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators."""
        return annotators_of(self.annotators, stem="annotator")

    def check(self) -> None:
        """Raise OptionError if `annotators` are not names or a number."""
        _ = self.names


@dataclass(frozen=True, slots=True)
class SampleOptions(AskingOptions):
    """The options of ``medsim study sample``."""

    pairs: Annotated[
        PathOrOutput,
        Option("Folder of a build, or a table with columns term1 and term2.", argument=True),
    ]
    out: Out
    _: KW_ONLY
    per_class: int | None = main_field(
        None,
        "Pairs per set and label of a build; default: 30.",
        least=1,
        most=10_000,
        key="per_class",
    )
    annotators: Annotators = 3
    per_item: int | None = main_field(
        None,
        "Annotators who judge each pair; default: all. Everyone gets equally many pairs.",
        least=1,
        key="per_item",
    )
    title: str | None = output_field(
        None, "Heading of the page; default: the question, if it is given."
    )
    question: str | None = main_field(
        None, "Question to ask instead of the paper's; the answers stay."
    )
    answer_words: Sequence[str] = main_field(
        (),
        "Words for same, not same and don't know: yes,no,unsure. With ja,nein,unsicher, pages and "
        "sheets are in German.",
        listed=True,
    )

    @property
    def is_table(self) -> bool:
        """Whether the pairs are those of a table, not of a build."""
        return isinstance(self.pairs, (str, Path)) and Path(self.pairs).is_file()

    def check(self) -> None:
        """Raise OptionError for wrong `annotators`, or options that contradict each other."""
        if self.question is not None and not self.question.strip():
            raise OptionError("`question` is empty; give a question, or leave it out")
        n_people = len(self.names)
        if self.per_item is not None and self.per_item > n_people:
            raise OptionError(f"`per_item` {self.per_item} is more than {n_people} people")
        if self.is_table and self.per_class is not None:
            raise OptionError("`per_class` does not apply to a table of pairs; leave it out")
        if not self.is_table and self.per_class is None:
            object.__setattr__(self, "per_class", PER_CLASS)


@dataclass(frozen=True, slots=True)
class GradeOptions(SheetsOptions):
    """The options of ``medsim study grade``."""

    pairs: PairsFile
    out: Out
    _: KW_ONLY
    raters: CountOrNames = main_field(
        12, "Number of raters, or names: ada,ben. Names are in order of the groups."
    )
    groups: int = main_field(
        2, "Groups of raters, each with its own pairs.", least=1, most=500, key="groups"
    )
    consistency: int | None = option_field(
        None, "Pairs that all raters rate; default: 50.", least=0, key="consistency"
    )
    duplicates: int = option_field(
        DUPLICATES, "Pairs that each rater sees twice.", least=0, key="duplicates"
    )
    page_size: int = output_field(PAGE_SIZE, "Maximum pairs between pauses; 0: no pauses.", least=0)
    title: Title = "How similar are these words?"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the raters."""
        return annotators_of(self.raters, stem="rater")

    def check(self) -> None:
        """Raise OptionError if there are too few raters for the groups."""
        if self.consistency is None:
            object.__setattr__(self, "consistency", CONSISTENCY if self.groups > 1 else 0)
        n_raters = len(self.names)
        if n_raters < _MIN_RATERS * self.groups:
            raise OptionError(
                f"`raters` {n_raters} cannot make `groups` {self.groups} of {_MIN_RATERS} or more"
            )


StudyFolder = Annotated[PathOrOutput, Option("Folder of a study.", argument=True)]
_ANSWERS = Option("Files that annotators sent back, or folders.", argument=True)


@dataclass(frozen=True, slots=True)
class AddOptions(Options):
    """The options of ``medsim study add``."""

    study: StudyFolder
    name: Annotated[str, Option("Name of the new annotator.", argument=True)]
    answers: Annotated[Sequence[str | Path], replace(_ANSWERS, metavar="ANSWERS")] = ()
    _: KW_ONLY
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class ScoreOptions(MakingOptions):
    """The options of ``medsim study score``."""

    study: StudyFolder
    answers: Annotated[Sequence[str | Path], replace(_ANSWERS, metavar="ANSWERS...")]
    out: str | Path | None = main_field(
        None, "Folder to write all tables to, as CSV.", ("--out", "-o")
    )
    _: KW_ONLY
    leave_out: Sequence[str] = main_field(
        (), "Annotators to leave out: ada,ben or outliers.", listed=True, key="leave_out"
    )
    incomplete: bool = main_field(
        False, "Also correct or confirm items that lack answers.", key="incomplete"
    )
    pseudonyms: str | Path | None = output_field(
        None,
        "CSV file with the key of pseudonyms; all outputs then say judge A, B, …. It is made if it "
        "does not exist, and new annotators are added. Keep it apart from the outputs.",
        metavar="KEY",
    )
    outlier_share: float = option_field(
        OUTLIER_SHARE,
        "Outliers have an IAA-1 below this share of the others' mean. It applies to graded "
        "studies.",
        least=0,
        most=1,
        key="outlier_share",
    )
    equal_parts: int | None = option_field(
        None,
        "Number of parts by frequency and by topics, with about equally many pairs; Chiu et al. "
        "(2018) use three. It applies to graded studies.",
        least=2,
        most=20,
        key="equal_parts",
        kept_empty=False,
    )
    seed: int = seed_field(0, "Random seed.")
    resamples: int = option_field(
        10_000, "Bootstrap resamples; 0 for none.", least=0, most=MAX_RESAMPLES, key="resamples"
    )

    @property
    def resampling(self) -> Resampling:
        """The settings of the bootstrap intervals."""
        return Resampling(seed=self.seed, resamples=self.resamples, threads=self.n_threads)

    def check(self) -> None:
        """Raise OptionError for too few resamples, or no answers."""
        if 0 < self.resamples < MIN_RESAMPLES:
            raise OptionError(
                f"`resamples` {self.resamples} is too few; use {MIN_RESAMPLES} or more, or 0"
            )
        if not self.answers:
            raise OptionError("give at least one file or folder of answers")


@dataclass(frozen=True, slots=True)
class InspectOptions(AskingOptions):
    """The options of ``medsim study inspect``."""

    pairs: PairsFile
    out: Out
    _: KW_ONLY
    title: Title = "Are they associated?"


@dataclass(frozen=True, slots=True)
class InstancesOptions(AskingOptions):
    """The options of ``medsim study instances``."""

    benchmark: Annotated[
        str | Path, Option("test.json of a benchmark, or a folder that has it.", argument=True)
    ]
    out: Out
    _: KW_ONLY
    size: int = main_field(SIZE, "Instances per annotator.", least=1, key="size")
    common: int = main_field(COMMON, "Instances that all annotators see.", least=0, key="common")
    title: Title = "Do these terms mean the same here?"

    @property
    def n_common(self) -> int:
        """The number of instances that all annotators see."""
        return self.common if len(self.names) > 1 else self.size

    def check(self) -> None:
        """Raise OptionError if there are more common instances than `size`."""
        if self.n_common > self.size:
            raise OptionError(f"`common` {self.n_common} is more than `size` {self.size}")


FrequencyTable = Annotated[
    str | Path,
    Option("Frequency table of a biomedical corpus: word, class, count, …", argument=True),
]
WordClass = Annotated[
    str | None,
    main_option(
        "Word class, such as noun. It is needed if WORDS has several.",
        ("--word-class", "--class"),
        key="word_class",
    ),
]
MinCount = Annotated[
    int, Option("Minimum count of a word, in all its forms.", least=1, key="min_count")
]
MinLength = Annotated[
    int, Option("Minimum letters of a word.", least=1, most=1_000, key="min_length")
]
Keep = Annotated[
    Sequence[str],
    Option("Words to keep despite digits, symbols or length: co2,h2o,id.", listed=True, key="keep"),
]
NoLemmas = Annotated[bool, Option("Do not lemmatise if the table has no lemmas.", key="no_lemmas")]


@dataclass(frozen=True, slots=True)
class DomainsOptions(AskingOptions):
    """The options of ``medsim study domains``."""

    words: FrequencyTable
    out: Out
    _: KW_ONLY
    word_class: WordClass = None
    size: int | None = main_field(None, "Words to draw; default: all.", least=1, key="size")
    min_count: MinCount = 5
    min_length: MinLength = 3
    keep: Keep = ()
    no_lemmas: NoLemmas = False
    title: Title = "Which domain does it belong to?"


StudyOptions: TypeAlias = (
    SampleOptions | GradeOptions | InstancesOptions | DomainsOptions | InspectOptions
)
"""The options of the commands that write a study."""

NORM_PARTICIPANTS = 11
"""The minimum number of people who saw the cue of a norm: more than ten (Chiu et al. 2018)."""

N_QUARTERS = 4
"""The number of quarters of a set of word pairs: biomedical or general, associated or not."""

MAX_PAIRS = 10_000
"""The maximum number of word pairs, more than people ever rated."""


@dataclass(frozen=True, slots=True)
class PairsOptions(Options):
    """The options for choosing pairs of words."""

    words: FrequencyTable
    _: KW_ONLY
    word_class: WordClass = None
    terminology: Sequence[str | Path] | None = main_field(
        None,
        "Builds whose synonyms count as associated. So do their siblings.",
        metavar="BUILD",
    )
    lexicon: Sequence[str | Path] | None = input_field(
        None, "SPECIALIST Lexicon, for variants of names.", metavar="FILE"
    )
    norms: Sequence[str | Path] | None = main_field(
        None,
        "Association norms of words. The format is the one of USF, or tables with cue, target and "
        "strength.",
        metavar="FILE",
    )
    norm_participants: int = option_field(
        NORM_PARTICIPANTS, "Minimum participants for the cue of a norm.", least=0
    )
    norm_answers: int = option_field(
        0, "Minimum participants who answered a norm's target.", least=0
    )
    one_way: bool = option_field(
        False,
        "Also count norms with only one strength. They lack the forward or the backward strength "
        "(FSG, BSG).",
    )
    biomedical: str | Path | None = main_field(
        None, "Biomedical words, one per line; or a build.", metavar="LIST"
    )
    general: str | Path | None = main_field(
        None, "Frequency table of a general corpus.", metavar="CORPUS"
    )
    documents: str | Path | None = input_field(
        None, "Topics of documents or journals.", metavar="TABLE"
    )
    domains: str | Path | None = input_field(
        None, "Words to choose from, and their domains.", metavar="TABLE"
    )
    confirmed: str | Path | None = input_field(
        None, "Pairs that annotators confirmed.", metavar="TABLE"
    )
    ratio: float = option_field(
        5.0,
        "A word belongs to a domain that uses it this many times more often. Frequencies are "
        "compared.",
        least=1,
    )
    size: int = main_field(
        1_000, "Pairs to choose, in four equal quarters.", least=N_QUARTERS, most=MAX_PAIRS
    )
    min_count: MinCount = 5
    min_length: MinLength = 3
    keep: Keep = ()
    per_word: int = option_field(3, "Maximum pairs per word.", least=1, most=MAX_PAIRS)
    no_lemmas: NoLemmas = False
    seed: int = seed_field(0, "Random seed.")
    threads: Threads = None
    progress: Reporting = None

    @property
    def by_ratio(self) -> bool:
        """Whether the ratio of a word's frequencies in two corpora decides its domain."""
        return self.biomedical is None and self.domains is None

    def check(self) -> None:
        """Raise OptionError if `size` has no quarters, or words have no domain or association."""
        if self.size % N_QUARTERS:
            near = self.size // N_QUARTERS * N_QUARTERS
            raise OptionError(f"`size` {self.size} must be a multiple of 4, such as {near}")
        if self.biomedical is not None and self.domains is not None:
            raise OptionError("`biomedical` and `domains` contradict each other; give one of them")
        if self.by_ratio and self.general is None:
            raise OptionError(
                "say which words are biomedical: add `biomedical`, `general` or `domains`"
            )
        if not self.terminology and not self.norms and self.confirmed is None:
            raise OptionError(
                "say which words are associated: add `terminology`, `norms` or `confirmed`"
            )


@dataclass(frozen=True, slots=True)
class PairsFileOptions(PairsOptions):
    """The options of ``medsim study pairs``."""

    _: KW_ONLY
    out: Annotated[str | Path, Option("The .csv or .parquet file to write.", ("--out", "-o"))]
    overwrite: Annotated[bool, OVERWRITE] = False
