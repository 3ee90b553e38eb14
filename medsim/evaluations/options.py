"""The options of ``medsim eval``, ``compare`` and ``correlate``: their names and tables.

The paper, whose tables and figures have numbers, is Schulz and Juric (AAAI 2020).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from medsim.core.config import MINIMAL, DatasetName, Difficulty, Strategy
from medsim.core.errors import OptionError, check_known, check_unique
from medsim.core.options import (
    ModelOptions,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    Threads,
    input_field,
    machine_field,
    main_field,
    option_field,
    output_field,
    seed_field,
    several,
)
from medsim.core.registry import RegisteredNames
from medsim.embeddings.options import (
    COVERAGES,
    EMBEDDINGS,
    Coverage,
    Device,
    EmbeddingLike,
    EmbeddingSpec,
    embedding_spec,
)
from medsim.evaluations.statistic import BASELINE, STATISTICS, tabulated_names
from medsim.statistics.options import (
    MAX_RESAMPLES,
    MIN_RESAMPLES,
    RESAMPLES,
    RESAMPLES_A_COMPARISON,
)
from medsim.systems.options import PREDICTIONS_OPTION, SystemLike

Subset = Literal["common", "own"]
PValueCorrection = Literal["bonferroni", "holm"]
CorrelationCorrection = Literal["holm", "none"]
Index = Literal["flat", "ivf", "hnsw"]
Noise = Literal[
    "wrong_key",
    "swap",
    "drop",
    "double",
    "word_order",
    "spelling",
    "plural",
    "abbreviation",
    "accent",
]

_METRIC_NAMES = RegisteredNames("medsim.embeddings.metrics", "METRICS")

RATED_METRICS, LABELLED_METRICS = ("avg_cos", "kendall"), ("fuzzy_jaccard", "kendall")
"""The paper's metrics on rated and on labelled pairs: for word embeddings, and for others."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or figure of the paper.

    Attributes:
        table: the name of the table in ``medsim compare``.
        negatives: the strategy of its negatives; None for all strategies.
        metrics: fixed metrics; none if embeddings are compared at their best metric.
        glove_metric: the metric for GloVe, if it is another.
    """

    table: str
    negatives: str | None = None
    metrics: tuple[str, ...] = ()
    glove_metric: str | None = None


PAPER = {
    "1": PaperTable("rated"),
    "4": PaperTable("spearman", None, RATED_METRICS, "avg_pearson"),
    "5": PaperTable("accuracy", "levenshtein", LABELLED_METRICS),
    "6": PaperTable("separation"),
    "A.1": PaperTable("coverage"),
    "A.2": PaperTable("overlap"),
    "B.1": PaperTable("spearman"),
    **{f"B.{number}": PaperTable("standings-spearman") for number in range(2, 6)},
    "C.1": PaperTable("accuracy", "random", LABELLED_METRICS),
    "C.2": PaperTable("auc", "levenshtein", LABELLED_METRICS),
    "C.3": PaperTable("auc", "random", LABELLED_METRICS),
    **{f"C.{number}": PaperTable("standings-accuracy", "levenshtein") for number in range(4, 9)},
    "D.1": PaperTable("categories"),
    "figure-B.1": PaperTable("spread-spearman"),
    "figure-C.1": PaperTable("spread-accuracy"),
}
"""The tables and figures of the paper by number."""

OTHER_COMMANDS = {"2": "medsim stats BUILD", "3": "medsim study score STUDY ANSWERS"}
"""The commands that print the other tables, by number."""


def number_of(text: str) -> str | None:
    """Return the key in ``PAPER`` or ``OTHER_COMMANDS`` for a text such as "Table c.1" or "C1"."""
    plain = {re.sub(r"[ .-]", "", name.lower()): name for name in (*PAPER, *OTHER_COMMANDS)}
    return plain.get(re.sub(r"[ .-]", "", text.lower()).removeprefix("table"))


if TYPE_CHECKING:
    import polars as pl

    ModelScores = str | Path | pl.DataFrame
else:  # the command line takes only paths, and its help does not import Polars
    ModelScores = str | Path | Any


SUBSETS: tuple[Subset, ...] = get_args(Subset)
"""Pairs that all embeddings cover, or that each one covers."""

CORRECTIONS: tuple[PValueCorrection, ...] = get_args(PValueCorrection)
"""Corrections of p-values for the number of comparisons; the first is the paper's."""

SEPARATION_TABLES = ("separation", "all-separation", "separation-terms", "categories")
"""The tables of ``medsim compare`` on category separation."""

TABLES = (
    "best",
    "standings",
    "article",
    *(name for name, statistic in STATISTICS.items() if statistic.table in {"headline", "single"}),
    *tabulated_names(),
    *(f"{kind}-{name}" for kind in ("all", "standings", "spread") for name in tabulated_names()),
    *("confusions", "ladder", "parts", "rated", "coverage", "overlap", "retrieval", "robustness"),
    *SEPARATION_TABLES,
)
"""The tables of ``medsim compare``, including those of declared statistics."""

FIXABLE = ("best", "standings", "parts", *tabulated_names())
"""The tables that can compare embeddings at fixed metrics."""

_N_NEAR = 2
_COUNT = re.compile(r"[1-9][0-9]{0,17}")

_ARTICLE = tuple(
    name for name, one in STATISTICS.items() if one.kind in {"matched", "labelled", "rated"}
)
_SHOWN_SETS = "With --table article: sets to show besides the headline; default: none."
_REFERENCE = "With --table article: compare the others with this embedding; default: the best one."


def _sets(text: str, key: str | None = None, *, lower: bool = True) -> Option:
    """Return an option that chooses sets of pairs."""
    return Option(text, listed=True, lower=lower, key=key)


SUBSET = Option(
    "Score all embeddings on the pairs that all cover (common), or each on the pairs that it "
    "covers (own). The headline score always uses all pairs."
)


@dataclass(frozen=True, slots=True)
class EvaluateOptions(ModelOptions):
    """The options of ``medsim eval``."""

    to_address = "resumed"

    inputs: Annotated[
        PathOrOutput | Sequence[PathOrOutput],
        Option(
            "Folders of builds and files of rated pairs, or only folders of questions. If medsim "
            "does not know the layout of a file, add its columns: "
            "rated.csv,term1=A,term2=B,rating=score.",
            argument=True,
            metavar="INPUT...",
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], replace(EMBEDDINGS, needed=False)]
    out: Annotated[str | Path, Option("Folder to write, or to add to.", ("--out", "-o"))]
    _: KW_ONLY
    llms: Sequence[str] = main_field(
        (),
        "Language model to ask multiple-choice questions. Append ,model=M to the URL and, if you "
        "like, ,shots=N ,tokens=N and ,ask=choice or ,ask=pairs. For example "
        "llama=api:http://localhost:8000/v1,model=llama. ask=choice shows all names of a "
        "question, ask=pairs the term with one name at a time; shots=N puts N examples from train "
        "before each.",
        ("--llm",),
        metavar="NAME=api:URL",
    )
    prompt: str | Path | None = input_field(
        None, "Text file with the instruction for language models.", key="prompt", kept_empty=False
    )
    max_tokens_total: int = option_field(
        1_000_000, "Maximum tokens to and from language models, as estimated.", least=1
    )
    yes: bool = option_field(False, "Send more tokens than the maximum to language models.")
    predictions: Annotated[Mapping[str, SystemLike] | None, PREDICTIONS_OPTION] = None
    metrics: Sequence[str] | None = main_field(
        None,
        "Metric to compute, repeatable; default: all that apply.",
        ("--metric",),
        noun="metric",
        choices=_METRIC_NAMES,
    )
    seed: int = seed_field(0, "Random seed.")
    resamples: int | None = option_field(
        None,
        f"Bootstrap resamples for Spearman's correlation; default: {RESAMPLES:,}, or more for "
        f"many comparisons. By default tests have at least {RESAMPLES_A_COMPARISON} per "
        "comparison, so that p-values below 0.05 are possible after Bonferroni's correction.",
        least=MIN_RESAMPLES,
        most=MAX_RESAMPLES,
        key="resamples",
    )
    sample: int | None = main_field(
        None,
        "Score a sample: this many positives of each dataset, or questions of each folder. First "
        "terms are drawn, with all their positives and negatives, by hashes of the terms and the "
        "seed. Rated files are used whole.",
        least=1,
        most=10**9,
        key="sample",
    )
    coverage: Coverage = option_field(
        COVERAGES[0], "all: a term needs vectors for all its words; any: for one.", key="coverage"
    )
    independent_pairs: bool = option_field(
        False,
        "Treat pairs as independent in confidence intervals and tests. The paper does so; by "
        "default labelled pairs that share terms form clusters and intervals are wider.",
        key="independent_pairs",
    )
    retrieval: bool = main_field(False, "Also rank each term's synonyms among all terms.")
    index: Index = option_field(
        "flat", "Index for --retrieval. flat is exact, ivf and hnsw are approximate and faster."
    )
    noise: Sequence[Noise] = option_field(
        (),
        "With --retrieval, also look up altered names of these kinds. wrong_key, swap, drop and "
        "double are typing errors, spelling is British or American.",
        listed=True,
        lower=True,
    )
    device: Device = machine_field(
        "auto", "auto uses a GPU for the flat index if PyTorch finds one. The ranks are the same."
    )
    separation: bool = main_field(
        False,
        "Also measure how well categories are separated. For SNOMED CT the paper's categories are "
        "the default.",
    )
    near: Sequence[str] = option_field(
        (),
        "For --separation: top concept of one of two related categories; give two. The terms of "
        "the first are compared. For SNOMED CT the default is diagnostic and therapeutic "
        "procedures.",
        metavar="[NAME=]CONCEPT_ID",
    )
    far: Sequence[str] = option_field(
        (),
        "Top concept of a category that is unrelated to those of --near; repeatable. For SNOMED CT "
        "the default is organisms.",
        metavar="[NAME=]CONCEPT_ID",
    )
    categories: Sequence[str] = option_field(
        (),
        "Top concept of a category; give two or more to measure their separation. They replace "
        "near and far, and their category error is computed.",
        ("--category",),
        metavar="[NAME=]CONCEPT_ID",
    )
    words: str | Path | None = input_field(
        None,
        "Table of words with counts or topics, to divide rated pairs into bins. Its columns are "
        "word, and count (in a corpus), topics (the number of topics that use it) or domain.",
    )
    bins: Sequence[int] = option_field(
        (),
        "With --words: lower bounds of bins by count; default: powers of ten.",
        listed=True,
        metavar="N,N,…",
    )
    topic_bins: Sequence[int] = option_field(
        (),
        "With --words: lower bounds of bins by number of topics; default: 1,2,5.",
        listed=True,
        metavar="N,N,…",
    )
    equal_parts: int | None = option_field(
        None,
        "Use this many bins of equal size, instead of --bins and --topic-bins. Each has about "
        "equally many pairs; Chiu et al. (2018) use three.",
        least=2,
        most=20,
    )
    datasets: Annotated[Sequence[DatasetName], _sets("Datasets; default: all.", "datasets")] = ()
    difficulty: Annotated[
        Sequence[Difficulty], _sets("Difficulty of pairs; default: both.", "difficulty")
    ] = ()
    negatives: Annotated[Sequence[Strategy], _sets("Negatives; default: all.", "negatives")] = ()
    submitter: str | None = output_field(None, "Submitter to name in result.json.")
    date: dt.date | None = output_field(None, "Date to give in result.json.")

    @property
    def input_paths(self) -> list[str | Path]:
        """The inputs as paths."""
        inputs = several(self.inputs)
        return [value if isinstance(value, (str, Path)) else value.folder for value in inputs]

    @property
    def specs(self) -> list[EmbeddingSpec]:
        """The embeddings with their options."""
        return [embedding_spec(embedding, name) for name, embedding in self.embeddings.items()]

    @property
    def separates(self) -> bool:
        """Whether to separate categories; naming categories implies it."""
        return self.separation or any((self.near, self.far, self.categories))

    def check(self) -> None:
        """Raise OptionError for options that are missing or do not fit together."""
        models = [*self.embeddings, *(self.predictions or ())]
        if not models and not self.llms:
            raise OptionError(
                "name at least one of `embeddings`, such as glove=vectors.txt, of `predictions`, "
                "such as ranker=scores.csv, or of `llms` for questions"
            )
        check_unique("models", models)
        if BASELINE in models:
            raise OptionError(f"{BASELINE!r} is the name of scores without a model; choose another")
        if (self.near or self.far) and self.categories:
            raise OptionError("`categories` replaces `near` and `far`; give one or the other")
        if (self.near or self.far) and (len(self.near) != _N_NEAR or not self.far):
            raise OptionError("give two categories with `near`, and at least one with `far`")
        if self.index != "flat" and not self.retrieval:
            raise OptionError(f"`index` {self.index} needs `retrieval`")
        if self.noise and not self.retrieval:
            raise OptionError("`noise` needs `retrieval`")
        if self.difficulty and {*self.negatives} == {MINIMAL}:
            raise OptionError(
                "leave out `difficulty`: minimal negatives have easy and hard positives together"
            )
        self._check_bins()

    def _check_bins(self) -> None:
        """Make bins integers, which the command line gives as text, or raise OptionError."""
        if self.equal_parts is not None and (self.bins or self.topic_bins):
            raise OptionError(
                "`equal_parts` replaces `bins` and `topic_bins`; give one or the other"
            )
        for name in ("bins", "topic_bins"):
            texts = ",".join(map(str, getattr(self, name)))
            bins = tuple(sorted({int(text) for text in texts.split(",") if _COUNT.fullmatch(text)}))
            if ",".join(map(str, bins)) != texts:
                raise OptionError(
                    f"`{name}` {texts} must be ascending counts from 1, such as 5,50,500"
                )
            object.__setattr__(self, name, bins)


@dataclass(frozen=True, slots=True)
class CompareOptions(Options):
    """The options of ``medsim compare``."""

    evaluation: Annotated[
        PathOrOutput, Option("The folder of an evaluation.", argument=True, metavar="RESULTS")
    ]
    table: str = main_field(
        "best",
        f"{', '.join(TABLES)}, or a table of the paper, such as C.2. standings sums "
        f"up all sets. The tables and figures of the paper are {', '.join(PAPER)}.",
        suggested=(*TABLES, *PAPER),
    )
    _: KW_ONLY
    metrics: Sequence[str] | None = main_field(
        None,
        "Metric for all embeddings; default: each one's best. Give one for word embeddings "
        "and one for others, or one embedding's, such as glove=avg_cos. Table 4 of the paper "
        f"has {' and '.join(RATED_METRICS)}, and {PAPER['4'].glove_metric} for word embeddings "
        "whose name or file name contains glove; tables 5 and C.1 to C.3 have "
        f"{' and '.join(LABELLED_METRICS)}.",
        ("--metric",),
    )
    datasets: Annotated[Sequence[str], _sets(_SHOWN_SETS, lower=False)] = ()
    difficulty: Annotated[Sequence[Difficulty], _sets("With --table article; default: both.")] = ()
    negatives: Annotated[Sequence[Strategy], _sets("With --table article; default: random.")] = ()
    statistics: Sequence[str] = option_field(
        (),
        "With --table article: statistics to show besides the headline, such as auc.",
        listed=True,
        choices=_ARTICLE,
    )
    baseline: str | None = option_field(None, _REFERENCE, metavar="NAME")
    subset: Annotated[Subset, SUBSET] = "common"
    correction: PValueCorrection = option_field(
        "bonferroni", "Correct p-values for multiple tests."
    )
    threads: Threads = None
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for an unknown table, or one that other options do not fit."""
        number = number_of(self.table)
        if number in OTHER_COMMANDS:
            raise OptionError(f"table {number} is printed by {OTHER_COMMANDS[number]}")
        name = self.paper.table
        check_known("table", [*TABLES, *PAPER], name)
        if self.metrics and (name not in FIXABLE or (self.numbered and not self.paper.metrics)):
            fixed = [number for number, paper_table in PAPER.items() if paper_table.metrics]
            raise OptionError(
                f"`metrics` is for the tables {', '.join((*FIXABLE, *fixed))}, not for {self.table}"
            )
        for option in ("datasets", "difficulty", "negatives", "statistics", "baseline"):
            if getattr(self, option) and name != "article":
                raise OptionError(f"`{option}` is for the table article, not for {self.table}")
        standings = name == "article" or name.startswith("standings")
        if standings and self.subset != "common":
            raise OptionError(f"`subset` {self.subset} has no standings; leave it out")

    @property
    def paper(self) -> PaperTable:
        """The table, with the paper's settings if it is given by its number in the paper."""
        return PAPER.get(number_of(self.table) or "", PaperTable(self.table))

    @property
    def numbered(self) -> bool:
        """Whether the table is given by its number in the paper."""
        return self.paper.table != self.table


@dataclass(frozen=True, slots=True)
class CorrelateOptions(Options):
    """The options of ``medsim correlate``."""

    intrinsic: Annotated[
        ModelScores | PathOrOutput,
        Option(
            "The folder of an evaluation, whose embeddings are the models; or a table (CSV, TSV or "
            "Parquet) with a row per model and a column per set.",
            argument=True,
        ),
    ]
    extrinsic: Annotated[
        ModelScores,
        Option(
            "A table with a row per model, named in the column model or the first column of text, "
            "and a column per task.",
            argument=True,
        ),
    ]
    _: KW_ONLY
    metric: str | None = main_field(
        None,
        "Metric for all embeddings; default: each one's best. It applies to an evaluation, not to "
        "a table.",
        suggested=_METRIC_NAMES,
    )
    statistic: str | None = main_field(
        None,
        "Statistic; default: auc or spearman. It applies to an evaluation, not to a table.",
        suggested=tuple(STATISTICS),
    )
    subset: Annotated[Subset, SUBSET] = "common"
    correction: CorrelationCorrection = option_field(
        "holm", "Correct p-values for multiple tests, for stars and verdicts."
    )
    progress: Reporting = None
