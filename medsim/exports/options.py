"""The options of ``medsim export``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from medsim.core.config import MOST_SEED, Dataset, Difficulty, Strategy
from medsim.core.errors import OptionError
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.embeddings.given import EmbeddingLike, wrapped

Tool = Literal["duckdb", "huggingface", "jsonl", "mteb", "sapbert", "sentence-transformers"]
"""The tools that exports are made for; see ``medsim.exports.formats``."""

MOST_NEGATIVES = 1_000


@dataclass(frozen=True, slots=True)
class ExportOptions(Options):
    """The options of ``medsim export``."""

    folder: Annotated[
        str | Path | OpenedFolder,
        Option("Folder of a build or of splits.", argument=True, metavar="FOLDER"),
    ]
    out: Annotated[
        str | Path, Option("Folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    to: Annotated[
        Tool,
        Option(
            f"Tool that reads the files: {', '.join(get_args(Tool))}.",
            ("--for",),
            key="to",
            noun="tool",
        ),
    ]
    _: KW_ONLY
    negatives: Annotated[
        Strategy | None,
        Option(
            "Hard negatives: levenshtein (by default), random or embedding.",
            lower=True,
            noun="strategy of negatives",
            key="negatives",
            kept_empty=False,
        ),
    ] = None
    n_negatives: Annotated[
        int | None,
        Option(
            "Hard negatives per positive; 5 by default.",
            least=0,
            most=MOST_NEGATIVES,
            key="n_negatives",
            kept_empty=False,
        ),
    ] = None
    datasets: Annotated[
        Sequence[Dataset],
        Option(
            "Datasets to export; all by default.",
            listed=True,
            lower=True,
            noun="dataset",
            key="datasets",
            kept_empty=False,
        ),
    ] = ()
    difficulty: Annotated[
        Difficulty | None,
        Option(
            "easy or hard pairs; both by default.", lower=True, key="difficulty", kept_empty=False
        ),
    ] = None
    rated: Annotated[
        Sequence[str | Path],
        Option(
            "File of rated pairs, for a task of mteb.",
            metavar="FILE",
            key="rated",
            kept_empty=False,
        ),
    ] = ()
    seed: Annotated[
        int,
        Option(
            "Seed of the order of rows and of random negatives.",
            least=0,
            most=MOST_SEED,
            key="seed",
        ),
    ] = 0
    embedding: Annotated[
        EmbeddingLike | None,
        Option(
            "Embedding of the build, if it was moved or given in Python.",
            ("--embedding", "-e"),
            metavar="NAME=PATH",
        ),
    ] = None
    cache: Cache = None
    private: Annotated[
        bool, Option("Export what may not be passed on.", key="private", kept_empty=False)
    ] = False
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace an earlier export.")] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if `embedding` is not one, or no strategy needs it."""
        if self.embedding is not None:
            object.__setattr__(self, "embedding", wrapped(self.embedding, "`embedding`"))
            if self.negatives != "embedding":
                raise OptionError(
                    "`embedding` needs embedding negatives; add `negatives` embedding"
                )
