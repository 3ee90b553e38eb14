"""The options of the commands of words in context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.config import MOST_SEED, MOST_THREADS
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.terminologies.options import ReadingOptions
from medsim.wic import SPLITS

BROADER = ("direct", "any")
"""Meanings of broader concepts: the parents of a concept, or all its ancestors."""

STATISTICS_TABLES = ("splits", "terms", "corpora")
"""The tables of a benchmark: instances by group and label, their terms, and their corpora."""

_RECORD = ("language", "as_of", "synonym_scopes", "vocabularies", "broader", "most_train", "seed")


def place_of(data: str | Path | OpenedFolder) -> Path:
    """Return the folder or the file of a benchmark, which may be opened already."""
    return Path(data) if isinstance(data, (str, Path)) else data.folder


@dataclass(frozen=True, slots=True)
class WicBuildOptions(ReadingOptions):
    """The options of ``medsim wic build``."""

    corpora: Annotated[
        Sequence[str | Path],
        Option(
            "Files in PubTator format, such as MedMentions.", argument=True, metavar="CORPUS..."
        ),
    ]
    terminology: Annotated[
        str | Path,
        Option(
            "Source that mentions are linked to, as for medsim build, such as MeSH or UMLS: its "
            "ids, and its codes in other vocabularies, say which concepts mentions stand for.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ]
    out: Annotated[
        str | Path, Option("The folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    _: KW_ONLY
    broader: Annotated[
        str,
        Option(
            "Which concepts are broader than another, and so in no instance with it: direct, its "
            "parents, as the paper has it; or any, all its ancestors.",
            lower=True,
            choices=BROADER,
            noun="meaning of broader",
            key="broader",
        ),
    ] = "direct"
    most_train: Annotated[
        int | None,
        Option(
            "Instances of either label that a group has in train at most; all by default.",
            least=1,
            key="most_train",
        ),
    ] = None
    seed: Annotated[int, Option("Of all draws.", least=0, most=MOST_SEED, key="seed")] = 0
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace an earlier benchmark at OUT.")] = False
    progress: Reporting = None

    def recorded(self) -> dict[str, object]:
        """Return the options that decide the instances, in the order that manifests have."""
        plain = ReadingOptions.recorded(self)
        return {key: plain[key] for key in _RECORD if key in plain}


@dataclass(frozen=True, slots=True)
class WicStatsOptions(Options):
    """The options of ``medsim wic stats``."""

    out: Annotated[
        str | Path, Option("The folder of a benchmark of medsim wic build.", argument=True)
    ]
    _: KW_ONLY
    table: Annotated[
        str, Option("The table to print: splits, terms or corpora.", choices=STATISTICS_TABLES)
    ] = "splits"


@dataclass(frozen=True, slots=True)
class WicEvaluateOptions(Options):
    """The options of ``medsim wic eval``."""

    data: Annotated[
        str | Path | OpenedFolder,
        Option(
            "A folder with train.json, dev.json and test.json as BioWiC is published; or one such "
            "file, which is cross-fitted.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, Option("The folder of results to write.", ("--out", "-o"))]
    _: KW_ONLY
    models: Annotated[
        Sequence[str],
        Option(
            "random; or an embedding, with options behind its path: input=target or input=sentence "
            "of word vectors, input=target or input=quoted of encoders; tune=yes and epochs=N of "
            "sentence-transformers.",
            ("--model", "-m"),
            metavar="NAME=PATH",
        ),
    ] = ()
    predictions: Annotated[
        Sequence[str],
        Option(
            "Answers of any other model: CSV, TSV, JSON lines or Parquet with a column prediction, "
            "or score and behind the path ,dev=PATH for those of the dev split.",
            ("--predictions",),
            metavar="NAME=PATH",
        ),
    ] = ()
    train: Annotated[
        str | Path | None, Option("A file to fit on, in place of the folder's train.json.")
    ] = None
    dev: Annotated[
        str | Path | None,
        Option("A file to choose thresholds on, in place of the folder's dev.json."),
    ] = None
    seed: Annotated[
        int, Option("Of folds, of the coin and of what is fitted.", least=0, most=MOST_SEED)
    ] = 0
    threads: Annotated[
        int | None,
        Option(
            "Threads to use; all by default. They change no result, but for rounding of encoders' "
            "vectors and what fine-tuning makes of it.",
            least=1,
            most=MOST_THREADS,
        ),
    ] = None
    cache: Cache = None
    overwrite: Annotated[bool, Option("Replace earlier results.")] = False
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class WicVerifyOptions(Options):
    """The options of ``medsim wic verify``."""

    data: Annotated[
        str | Path | OpenedFolder,
        Option("A folder with train.json, dev.json, test.json, or one such file.", argument=True),
    ]
    _: KW_ONLY
    split: Annotated[
        str | None,
        Option(
            "The split of one file: test, dev or train; by default its name says so.",
            choices=SPLITS,
            noun="split",
        ),
    ] = None
    train: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None
    dev: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None
    test: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None
    terminology: Annotated[
        str | Path | None,
        Option(
            "Source whose names decide what synonyms are: a file, folder or built-in name. A "
            "folder of medsim wic build keeps such names, and is compared with it.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ] = None
    progress: Reporting = None
