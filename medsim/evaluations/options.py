"""The options of ``medsim eval``, ``compare`` and ``correlate``: their names and tables.

The paper, whose tables and figures have numbers, is Schulz and Juric (AAAI 2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from medsim.core.config import MOST_SEED, checked_threads
from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.embeddings.given import EmbeddingLike, embedding_spec, wrapped_by_name
from medsim.embeddings.options import COVERAGES, EMBEDDINGS, Coverage, Device, EmbeddingSpec
from medsim.evaluations.statistic import tabulated_names
from medsim.statistics.resampling import (
    FEWEST_RESAMPLES,
    MOST_RESAMPLES,
    RESAMPLES,
    RESAMPLES_A_COMPARISON,
)

Subset = Literal["common", "own"]
Correction = Literal["bonferroni", "holm"]
Index = Literal["flat", "ivf", "hnsw"]

StatisticName = Literal[
    "auc",
    "average_precision",
    "accuracy",
    "accuracy_heldout",
    "threshold",
    "spearman",
    "pearson",
    "kendall",
    "accuracy_at_1",
    "accuracy_at_5",
    "accuracy_at_10",
    "mrr",
    "overlap_error",
    "category_error",
]
"""The statistics of ``medsim.evaluations.statistic``."""

MetricName = Literal[
    "avg_cos",
    "avg_kendall",
    "avg_pearson",
    "avg_spearman",
    "cos",
    "fuzzy_jaccard",
    "kendall",
    "max_jaccard",
    "pair_cos",
    "pair_kendall",
    "pair_pearson",
    "pair_spearman",
    "pearson",
    "spearman",
]
"""The metrics of ``medsim.embeddings.metrics``."""

ComparedTable = Literal[
    "best",
    "standings",
    "auc",
    "accuracy",
    "spearman",
    "all-auc",
    "all-accuracy",
    "all-spearman",
    "standings-auc",
    "standings-accuracy",
    "standings-spearman",
    "spread-auc",
    "spread-accuracy",
    "spread-spearman",
    "metrics",
    "parts",
    "rated",
    "coverage",
    "overlap",
    "retrieval",
    "separation",
    "all-separation",
    "separation-terms",
    "categories",
    "1",
    "4",
    "5",
    "6",
    "A.1",
    "A.2",
    "B.1",
    "B.2",
    "B.3",
    "B.4",
    "B.5",
    "C.1",
    "C.2",
    "C.3",
    "C.4",
    "C.5",
    "C.6",
    "C.7",
    "C.8",
    "D.1",
    "figure-B.1",
    "figure-C.1",
]
"""The tables of ``medsim compare``, and those of the paper by their numbers."""


PAPER_METRICS = ("fuzzy_jaccard", "kendall")
"""The metric of all word embeddings and that of all others, where the paper fixes one."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or figure of the paper.

    Attributes:
        table: of ``medsim compare``.
        negatives: the strategy of the sets that it has; None for all.
        fixed: whether each embedding is at one of ``PAPER_METRICS``, not at its best metric.
    """

    table: str
    negatives: str | None = None
    fixed: bool = False


PAPER = {
    "1": PaperTable("rated"),
    "4": PaperTable("spearman", fixed=True),
    "5": PaperTable("accuracy", "levenshtein", fixed=True),
    "6": PaperTable("separation"),
    "A.1": PaperTable("coverage"),
    "A.2": PaperTable("overlap"),
    "B.1": PaperTable("spearman"),
    **{f"B.{number}": PaperTable("standings-spearman") for number in range(2, 6)},
    "C.1": PaperTable("accuracy", "random", fixed=True),
    "C.2": PaperTable("auc", "levenshtein", fixed=True),
    "C.3": PaperTable("auc", "random", fixed=True),
    **{f"C.{number}": PaperTable("standings-accuracy", "levenshtein") for number in range(4, 9)},
    "D.1": PaperTable("categories"),
    "figure-B.1": PaperTable("spread-spearman"),
    "figure-C.1": PaperTable("spread-accuracy"),
}
"""Tables by their number, and figures by theirs."""

ELSEWHERE = {"2": "medsim stats BUILD", "3": "medsim study score STUDY ANSWERS"}
"""The commands that print the other tables, by number."""


def number_of(text: str) -> str | None:
    """Return the number in ``PAPER`` or ``ELSEWHERE`` that a text such as "Table c.1" means."""
    wanted = text.strip().lower().removeprefix("table").strip().replace("figure ", "figure-")
    return next((one for one in (*PAPER, *ELSEWHERE) if one.lower() == wanted), None)


BINS = Option(
    "Counts at which bins of word frequency begin: 1,10,100,… by default.",
    metavar="N,N,…",
    listed=True,
)

TOPIC_BINS = Option(
    "Numbers of topics at which bins of topics begin: 1,2,5 by default.",
    metavar="N,N,…",
    listed=True,
)

EQUAL_PARTS = Option(
    "Cut by counts, and by numbers of topics, into this many parts with about equally many pairs "
    "in place of bins; three in Chiu et al. (2018).",
    least=2,
    most=20,
)


def checked_bins(
    bins: Sequence[int | str], topic_bins: Sequence[int | str], equal_parts: int | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return bins of counts and of topics as numbers, which the command line gives as text.

    Raises:
        OptionError: they are no ascending counts, or stand beside equal parts.
    """
    found = [_ascending("bins", bins), _ascending("topic_bins", topic_bins)]
    if equal_parts is not None and any(found):
        given = "bins" if found[0] else "topic_bins"
        raise OptionError(f"`equal_parts` chooses its own bins; leave out `{given}`, or it")
    return found[0], found[1]


def _ascending(name: str, given: Sequence[int | str]) -> tuple[int, ...]:
    bins = tuple(_count(name, one) for one in given)
    if any(one < 1 for one in bins) or list(bins) != sorted(set(bins)):
        raise OptionError(
            f"`{name}` {','.join(map(str, bins))} must be ascending counts from 1, such as 5,50,500"
        )
    return bins


def _count(name: str, given: int | str) -> int:
    if isinstance(given, int):
        return given
    if not re.fullmatch(r"[0-9]{1,18}", given):
        raise OptionError(f"`{name}`: {given!r} is no count; 5,50,500 names three bins")
    return int(given)


if TYPE_CHECKING:
    import polars as pl

    ModelScores = str | Path | pl.DataFrame
else:  # the command line takes paths alone, and its help does not wait for Polars
    ModelScores = str | Path | Any


SUBSETS: tuple[Subset, ...] = get_args(Subset)
"""Pairs that all embeddings cover, or those that each covers."""

CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
"""Corrections of p-values for the number of comparisons; the first is the paper's."""

TABLES = (
    "best",
    "standings",
    *tabulated_names(),
    *(f"{of}-{name}" for of in ("all", "standings", "spread") for name in tabulated_names()),
    *("metrics", "parts", "rated", "coverage", "overlap", "retrieval"),
    *("separation", "all-separation", "separation-terms", "categories"),
)
"""The tables of ``medsim compare``, those of declared statistics among them."""

FIXABLE = ("best", "standings", "parts", *tabulated_names())
"""Those in which embeddings can be compared at fixed metrics."""

_N_NEAR = 2

SUBSET = Option(
    "Pairs that all embeddings cover (common), or each its own (own).",
    noun="subset",
)


@dataclass(frozen=True, slots=True)
class EvaluateOptions(Options):
    """The options of ``medsim eval``."""

    inputs: Annotated[
        str | Path | OpenedFolder | Sequence[str | Path | OpenedFolder],
        Option(
            "Folders of builds and files of rated pairs; columns of a file follow its path where "
            "they are in no known layout, as in rated.csv,term1=A,term2=B,rating=score.",
            argument=True,
            metavar="INPUT...",
            many=True,
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], EMBEDDINGS]
    out: Annotated[str | Path, Option("The folder to write, or to add to.", ("--out", "-o"))]
    _: KW_ONLY
    metrics: Annotated[
        Sequence[MetricName] | None,
        Option("A metric, such as avg_cos; all that fit by default.", ("--metric",), noun="metric"),
    ] = None
    seed: Annotated[
        int,
        Option(
            "Seed of the bootstrap and of the held-out half.", least=0, most=MOST_SEED, key="seed"
        ),
    ] = 0
    resamples: Annotated[
        int | None,
        Option(
            f"Resamples of the bootstrap of Spearman's correlation; by default {RESAMPLES:,}, and "
            f"for tests {RESAMPLES_A_COMPARISON} for each two embeddings where that is more, so "
            "that any two can differ significantly after Bonferroni's correction.",
            least=FEWEST_RESAMPLES,
            most=MOST_RESAMPLES,
            key="resamples",
        ),
    ] = None
    coverage: Annotated[
        Coverage,
        Option(
            "The words of a term that must have vectors for it to count as covered: all, as in the "
            "paper, or any.",
            key="coverage",
        ),
    ] = COVERAGES[0]
    independent_pairs: Annotated[
        bool,
        Option(
            "Count labelled pairs as independent in intervals and tests, as the paper does. By "
            "default pairs that share terms form clusters, and intervals are wider.",
            key="independent_pairs",
        ),
    ] = False
    threads: Threads = None
    cache: Cache = None
    retrieval: Annotated[bool, Option("Find the synonyms of every term among all of a build.")] = (
        False
    )
    index: Annotated[
        Index,
        Option(
            "For retrieval: flat, which is exact; or ivf or hnsw, approximate and faster, hnsw on "
            "the largest builds."
        ),
    ] = "flat"
    device: Annotated[
        Device,
        Option(
            "For retrieval by the index flat: the processor alone (cpu), or a GPU where PyTorch "
            "finds one (auto). The ranks are the same."
        ),
    ] = "auto"
    separation: Annotated[
        bool, Option("Measure how far categories of concepts are apart; of SNOMED CT the paper's.")
    ] = False
    near: Annotated[
        Sequence[str],
        Option(
            "One of two near categories, the concepts below this one, that the overlap error is "
            "of; the first has the terms that are compared. For SNOMED CT diagnostic and "
            "therapeutic procedures by default.",
            metavar="[NAME=]CONCEPT_ID",
        ),
    ] = ()
    far: Annotated[
        Sequence[str],
        Option(
            "A category far from both; one or more. For SNOMED CT organisms by default.",
            metavar="[NAME=]CONCEPT_ID",
        ),
    ] = ()
    categories: Annotated[
        Sequence[str],
        Option(
            "Instead of near and far: one of two or more categories of which none are nearer to "
            "each other than others. Their category error is measured.",
            ("--category",),
            metavar="[NAME=]CONCEPT_ID",
        ),
    ] = ()
    words: Annotated[
        str | Path | None,
        Option(
            "For rated files: a table (CSV, TSV, Parquet) of word, count, and if known topics and "
            "domain, by which they are cut into parts."
        ),
    ] = None
    bins: Annotated[Sequence[int], BINS] = ()
    topic_bins: Annotated[Sequence[int], TOPIC_BINS] = ()
    equal_parts: Annotated[int | None, EQUAL_PARTS] = None
    overwrite: Annotated[
        bool, Option("Replace earlier results at OUT instead of adding to them.")
    ] = False
    progress: Reporting = None

    @property
    def input_paths(self) -> list[str | Path]:
        """The inputs, of which Python may give one alone, and builds that it opened."""
        inputs = self.inputs
        if isinstance(inputs, (str, Path)) or not isinstance(inputs, Iterable):
            inputs = (inputs,)
        return [one if isinstance(one, (str, Path)) else one.folder for one in inputs]

    @property
    def specs(self) -> list[EmbeddingSpec]:
        """The embeddings with their options."""
        return [embedding_spec(given, name) for name, given in self.embeddings.items()]

    @property
    def n_threads(self) -> int:
        """The threads to use."""
        return checked_threads(self.threads)

    @property
    def separates(self) -> bool:
        """True if categories are to be separated, which naming them asks for as well."""
        return self.separation or any((self.near, self.far, self.categories))

    def check(self) -> None:
        """Raise OptionError for options that are missing or do not fit each other."""
        if not self.embeddings:
            raise OptionError(
                "name at least one embedding by `embeddings`, such as glove=vectors.txt"
            )
        named = wrapped_by_name(self.embeddings, "embeddings")
        object.__setattr__(self, "embeddings", named)
        if (self.near or self.far) and self.categories:
            raise OptionError("`categories` are instead of `near` and `far`; leave out either")
        if (self.near or self.far) and (len(self.near) != _N_NEAR or not self.far):
            raise OptionError(
                f"the overlap error is of two `near` categories and at least one `far`, not of "
                f"{len(self.near)} and {len(self.far)}"
            )
        if self.index != "flat" and not self.retrieval:
            raise OptionError(f"`index` {self.index} is for retrieval; add `retrieval`")
        bins, topic_bins = checked_bins(self.bins, self.topic_bins, self.equal_parts)
        object.__setattr__(self, "bins", bins)
        object.__setattr__(self, "topic_bins", topic_bins)


@dataclass(frozen=True, slots=True)
class CompareOptions(Options):
    """The options of ``medsim compare``."""

    evaluation: Annotated[
        str | Path | OpenedFolder,
        Option("The folder of an evaluation.", argument=True, metavar="RESULTS"),
    ]
    table: Annotated[
        ComparedTable,
        Option(
            f"{', '.join(TABLES)}; or the number of a table or figure of the paper: "
            f"{', '.join(PAPER)}.",
            choices=(),  # a number may be written otherwise, as "Table c.1"
        ),
    ] = "best"
    _: KW_ONLY
    metrics: Annotated[
        Sequence[str] | None,
        Option(
            "The metric at which embeddings are compared, one for those of words and one for "
            "others, or for one embedding alone as in glove=avg_cos; by default the best of each, "
            f"in the paper's tables {' and '.join(PAPER_METRICS)} where it fixes them.",
            ("--metric",),
        ),
    ] = None
    subset: Annotated[Subset, SUBSET] = "common"
    correction: Annotated[
        Correction,
        Option(
            "Correction of p-values for the number of comparisons: bonferroni or holm.",
            noun="correction",
        ),
    ] = "bonferroni"
    threads: Threads = None
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for an unknown table, or one that other options do not fit."""
        number = number_of(self.table)
        if number in ELSEWHERE:
            raise OptionError(f"table {number} is printed by {ELSEWHERE[number]}")
        name = self.paper.table
        if name not in TABLES:
            raise OptionError(unknown_name("table", name, [*TABLES, *PAPER]))
        if self.metrics and (name not in FIXABLE or (self.is_numbered and not self.paper.fixed)):
            fixed = [number for number, one in PAPER.items() if one.fixed]
            raise OptionError(
                f"`metrics` is for the tables {', '.join((*FIXABLE, *fixed))}, not for {self.table}"
            )
        standings = name == "metrics" or name.startswith("standings")
        if standings and self.subset != "common":
            raise OptionError(f"`subset` {self.subset} has no standings; they are of common pairs")

    @property
    def paper(self) -> PaperTable:
        """The table, with what the paper's has where the option is the number of one."""
        return PAPER.get(number_of(self.table) or "", PaperTable(self.table))

    @property
    def is_numbered(self) -> bool:
        """True if the table is named by its number in the paper."""
        return number_of(self.table) is not None

    @property
    def fixed_metrics(self) -> Sequence[str]:
        """The metrics at which embeddings are compared; none for the best of each."""
        return self.metrics or (PAPER_METRICS if self.paper.fixed else ())


@dataclass(frozen=True, slots=True)
class CorrelateOptions(Options):
    """The options of ``medsim correlate``."""

    intrinsic: Annotated[
        ModelScores | OpenedFolder,
        Option(
            "The folder of an evaluation, whose embeddings are the models; or a .csv, .tsv or "
            ".parquet table with a row per model and a column per set.",
            argument=True,
        ),
    ]
    extrinsic: Annotated[
        ModelScores,
        Option(
            "A table with a row per model and a column per task. Models are in the column model, "
            "or in the first that has text.",
            argument=True,
        ),
    ]
    _: KW_ONLY
    metric: Annotated[
        MetricName | None,
        Option(
            "Metric of an evaluation; each embedding's best on each set by default.", choices=()
        ),
    ] = None
    statistic: Annotated[
        StatisticName | None,
        Option("Statistic of an evaluation; auc or, for ratings, spearman by default.", choices=()),
    ] = None
    subset: Annotated[Subset, SUBSET] = "common"
    progress: Reporting = None
