"""The options of ``medsim eval``, ``compare`` and ``correlate``, and the tables that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from medsim.core.config import MOST_SEED, checked_threads
from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.embeddings.given import EmbeddingLike, embedding_spec, wrapped_by_name
from medsim.embeddings.options import COVERAGES, EMBEDDINGS, Coverage, Device, EmbeddingSpec
from medsim.evaluations.bins import BINS, EQUAL_PARTS, TOPIC_BINS, checked_bins
from medsim.evaluations.names import (
    FORMERLY,
    ComparedTable,
    Correction,
    Index,
    MetricName,
    StatisticName,
    Subset,
)
from medsim.evaluations.paper import ELSEWHERE, PAPER, PAPER_METRICS, PaperTable, number_of
from medsim.evaluations.statistic import tabulated_names
from medsim.statistics.resampling import (
    FEWEST_RESAMPLES,
    MOST_RESAMPLES,
    RESAMPLES,
    RESAMPLES_A_COMPARISON,
)

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
    *("separation", "all-separation", "separation-terms", "categories", "all-categories"),
)
"""The tables of ``medsim compare``, those of declared statistics among them."""

FIXABLE = ("best", "standings", "parts", *tabulated_names())
"""Those in which embeddings can be compared at fixed metrics."""

INDEXES: tuple[Index, ...] = get_args(Index)
"""The indexes of retrieval, which ``medsim.embeddings.lookup`` has."""

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

    def recorded(self) -> dict[str, object]:
        """Return the options that decide results, without those that are as ``FORMERLY``."""
        found = Options.recorded(self)  # a class with slots has no super() of its own
        return {
            name: value for name, value in found.items() if (name, value) not in FORMERLY.items()
        }

    def check(self) -> None:
        """Raise OptionError for options that are missing or do not fit each other."""
        if not self.embeddings:
            raise OptionError(
                "name at least one embedding by `embeddings`, such as glove=vectors.txt"
            )
        named = wrapped_by_name(self.embeddings, "embeddings")
        object.__setattr__(self, "embeddings", named)
        self._check_categories()
        if self.index != "flat" and not self.retrieval:
            raise OptionError(f"`index` {self.index} is for retrieval; add `retrieval`")
        bins, topic_bins = checked_bins(self.bins, self.topic_bins, self.equal_parts)
        object.__setattr__(self, "bins", bins)
        object.__setattr__(self, "topic_bins", topic_bins)

    def _check_categories(self) -> None:
        """Raise OptionError unless there are two near and some far categories, or others."""
        if (self.near or self.far) and self.categories:
            raise OptionError("`categories` are instead of `near` and `far`; leave out either")
        if (self.near or self.far) and (len(self.near) != _N_NEAR or not self.far):
            raise OptionError(
                f"the overlap error is of two `near` categories and at least one `far`, not of "
                f"{len(self.near)} and {len(self.far)}"
            )


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
        """Raise OptionError for a table that there is not, or that other options do not fit."""
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
