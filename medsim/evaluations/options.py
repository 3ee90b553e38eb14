"""The options of ``medsim eval``, ``compare`` and ``correlate``, and the tables that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from medsim.core.config import MOST_SEED, checked_threads
from medsim.core.errors import OptionError, unknown_name
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.embeddings.options import EmbeddingSpec, parse_embedding
from medsim.evaluations.statistic import STATISTICS, tabulated_names
from medsim.statistics.resampling import FEWEST_RESAMPLES, MOST_RESAMPLES, RESAMPLES

if TYPE_CHECKING:
    import polars as pl

    ModelScores = str | Path | pl.DataFrame
else:  # the command line takes paths alone, and its help does not wait for Polars
    ModelScores = str | Path | Any

SUBSETS = ("common", "own")
"""Pairs that all embeddings cover, or those that each covers."""

CORRECTIONS = ("bonferroni", "holm")
"""Corrections of p-values for the number of comparisons; the first is the paper's."""

TABLES = (
    "best",
    *tabulated_names(),
    *(f"all-{name}" for name in tabulated_names()),
    "metrics",
    "parts",
    "coverage",
    "overlap",
    "retrieval",
    "separation",
    "categories",
)
"""The tables of ``medsim compare``."""

PAPER = {"A.1": "coverage", "A.2": "overlap", "B.1": "metrics", "D.1": "categories"} | {
    number: table
    for one in STATISTICS.values()
    for number, table in zip(one.paper, (one.name, f"all-{one.name}"), strict=False)
}
"""Tables by the number of the table of Schulz and Juric (AAAI 2020) that has their shape."""

SUBSET = Option(
    "Pairs that all embeddings cover (common), or each its own (own).",
    choices=SUBSETS,
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
    embeddings: Annotated[
        Mapping[str, str | Path],
        Option(
            "An embedding; options follow the path, as in bert=model.onnx,pooling=cls.",
            ("--embedding", "-e"),
            metavar="NAME=PATH",
        ),
    ]
    out: Annotated[str | Path, Option("The folder to write, or to add to.", ("--out", "-o"))]
    _: KW_ONLY
    metrics: Annotated[
        Sequence[str] | None,
        Option("A metric, such as avg_cos; all that fit by default.", ("--metric",)),
    ] = None
    seed: Annotated[
        int,
        Option("Of the bootstrap and of the held-out half.", least=0, most=MOST_SEED, key="seed"),
    ] = 0
    resamples: Annotated[
        int,
        Option(
            "Of the bootstrap, for intervals of Spearman's correlation.",
            least=FEWEST_RESAMPLES,
            most=MOST_RESAMPLES,
            key="resamples",
        ),
    ] = RESAMPLES
    threads: Threads = None
    cache: Cache = None
    retrieval: Annotated[bool, Option("Find the synonyms of every term among all of a build.")] = (
        False
    )
    index: Annotated[
        str, Option("For retrieval: flat, which is exact; or ivf, approximate and faster.")
    ] = "flat"
    separation: Annotated[bool, Option("Measure how far categories of concepts are apart.")] = False
    categories: Annotated[
        Sequence[str],
        Option(
            "A category: the concepts below this one; two or more. For SNOMED CT diagnostic "
            "procedures, therapeutic procedures and organisms by default.",
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
    bins: Annotated[
        Sequence[int],
        Option(
            "Counts at which bins of word frequency begin: 1,10,100,… by default.",
            metavar="N,N,…",
            listed=True,
        ),
    ] = ()
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
        """The embeddings with the options behind their paths."""
        return [parse_embedding(f"{name}={path}") for name, path in self.embeddings.items()]

    @property
    def n_threads(self) -> int:
        """The threads to use."""
        return checked_threads(self.threads)

    @property
    def separates(self) -> bool:
        """True if categories are to be separated, which naming them asks for as well."""
        return self.separation or bool(self.categories)

    def check(self) -> None:
        """Raise OptionError for options that are missing or do not fit each other."""
        if not self.embeddings:
            raise OptionError(
                "name at least one embedding by `embeddings`, such as glove=vectors.txt"
            )
        _ = self.specs
        if self.index != "flat" and not self.retrieval:
            raise OptionError(f"`index` {self.index} is for retrieval; add `retrieval`")
        object.__setattr__(self, "bins", tuple(map(_count, self.bins)))
        if any(one < 1 for one in self.bins) or list(self.bins) != sorted(set(self.bins)):
            raise OptionError(
                f"`bins` {','.join(map(str, self.bins))} must be ascending counts from 1, such as "
                "5,50,500"
            )


@dataclass(frozen=True, slots=True)
class CompareOptions(Options):
    """The options of ``medsim compare``."""

    evaluation: Annotated[
        str | Path | OpenedFolder,
        Option("The folder of an evaluation.", argument=True, metavar="RESULTS"),
    ]
    table: Annotated[
        str,
        Option(f"{', '.join(TABLES)}, or the number of the paper's table of that shape."),
    ] = "best"
    _: KW_ONLY
    subset: Annotated[str, SUBSET] = "common"
    correction: Annotated[
        str,
        Option(
            "Of p-values, for the number of comparisons: bonferroni or holm.",
            choices=CORRECTIONS,
            noun="correction",
        ),
    ] = "bonferroni"

    def check(self) -> None:
        """Raise OptionError for a table that there is not."""
        if self.table_name not in TABLES:
            raise OptionError(unknown_name("table", self.table_name, [*TABLES, *sorted(PAPER)]))

    @property
    def table_name(self) -> str:
        """The table, where the option is the number of one in the paper."""
        return PAPER.get(self.table.upper(), self.table)


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
        str | None, Option("Of an evaluation; each embedding's best on each set by default.")
    ] = None
    statistic: Annotated[
        str | None, Option("Of an evaluation; auc or, for ratings, spearman by default.")
    ] = None
    subset: Annotated[str, SUBSET] = "common"
    progress: Reporting = None


def _count(given: int | str) -> int:
    """Return a count, which the command line gives as text."""
    if isinstance(given, int):
        return given
    if not (given.isascii() and given.isdecimal()):
        raise OptionError(f"`bins`: {given!r} is no count; 5,50,500 names three bins")
    return int(given)
