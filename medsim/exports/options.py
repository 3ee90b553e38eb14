"""The options of ``medsim export``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from medsim.builds.options import MOVED_EMBEDDING, NEW_FOLDER
from medsim.core.config import DatasetName, Difficulty, Strategy
from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    Cache,
    OpenedFolder,
    Option,
    Options,
    Reporting,
    Threads,
    input_option,
    main_option,
    output_option,
    seed_option,
)
from medsim.core.registry import RegisteredNames
from medsim.embeddings.options import EmbeddingLike, wrap

_main = partial(main_option, kept_empty=False)

BALANCED = "balanced"
"""The strategy of wrong names of questions that no rule of spelling tells from the right one."""


@dataclass(frozen=True, slots=True)
class ExportOptions(Options):
    """The options of ``medsim export``."""

    folder: Annotated[
        str | Path | OpenedFolder,
        Option("Folder of a build or of splits.", argument=True, metavar="FOLDER"),
    ]
    out: Annotated[str | Path, NEW_FOLDER]
    to: Annotated[
        str,
        Option(
            "Tool that reads the files.",
            ("--for",),
            key="to",
            noun="tool",
            choices=RegisteredNames("medsim.exports.formats", "EXPORT_FORMATS"),
        ),
    ]
    _: KW_ONLY
    negatives: Annotated[
        Literal[Strategy, "balanced"] | None,
        _main(
            "Strategy of negatives; default: levenshtein, for questions balanced.",
            lower=True,
            noun="strategy of negatives",
            key="negatives",
        ),
    ] = None
    n_negatives: Annotated[
        int | None,
        _main("Hard negatives per positive; default: 5.", least=0, most=1_000, key="n_negatives"),
    ] = None
    choices: Annotated[
        int | None,
        _main("Wrong names per question; lm-eval: 3 by default.", least=1, most=25, key="choices"),
    ] = None
    datasets: Annotated[
        Sequence[DatasetName],
        _main(
            "Datasets to export; default: all.",
            listed=True,
            lower=True,
            noun="dataset",
            key="datasets",
        ),
    ] = ()
    difficulty: Annotated[
        Difficulty | None,
        _main("Difficulty of the pairs; default: both.", lower=True, key="difficulty"),
    ] = None
    rated: Annotated[
        Sequence[str | Path],
        input_option(
            "File of rated pairs, for an mteb task.", metavar="FILE", key="rated", kept_empty=False
        ),
    ] = ()
    seed: Annotated[
        int, seed_option("Random seed. It decides the order of rows and random negatives.")
    ] = 0
    embedding: Annotated[EmbeddingLike | None, MOVED_EMBEDDING] = None
    cache: Cache = None
    private: Annotated[
        bool,
        output_option(
            "Also export content that may not be shared.", key="private", kept_empty=False
        ),
    ] = False
    threads: Threads = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if `embedding` is not an embedding, or no strategy needs it."""
        if self.embedding is not None:
            object.__setattr__(self, "embedding", wrap(self.embedding, "`embedding`"))
            if self.negatives != "embedding":
                raise OptionError("`embedding` needs `negatives` embedding; add it")
