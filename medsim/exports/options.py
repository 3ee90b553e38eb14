"""The options of ``medsim export``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from medsim.builds.options import MOVED_EMBEDDING, NEW_FOLDER
from medsim.core.config import DatasetName, Difficulty, Strategy
from medsim.core.errors import OptionError
from medsim.core.options import (
    ModelOptions,
    Option,
    PathOrOutput,
    input_field,
    main_field,
    output_field,
    seed_field,
)
from medsim.core.registry import RegisteredNames
from medsim.embeddings.options import EmbeddingLike

BALANCED = "balanced"
"""The strategy of wrong names of questions that no rule of spelling tells from the right one."""


@dataclass(frozen=True, slots=True)
class ExportOptions(ModelOptions):
    """The options of ``medsim export``."""

    to_address = "whole"

    folder: Annotated[
        PathOrOutput, Option("Folder of a build or of splits.", argument=True, metavar="FOLDER")
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
    negatives: Literal[Strategy, "balanced"] | None = main_field(
        None,
        "Strategy of negatives; default: levenshtein, for questions balanced.",
        lower=True,
        noun="strategy of negatives",
        key="negatives",
        kept_empty=False,
    )
    n_negatives: int | None = main_field(
        None,
        "Hard negatives per positive; default: 5.",
        least=0,
        most=1_000,
        key="n_negatives",
        kept_empty=False,
    )
    choices: int | None = main_field(
        None,
        "Wrong names per question; lm-eval: 3 by default.",
        least=1,
        most=25,
        key="choices",
        kept_empty=False,
    )
    datasets: Sequence[DatasetName] = main_field(
        (),
        "Datasets to export; default: all.",
        listed=True,
        lower=True,
        noun="dataset",
        key="datasets",
        kept_empty=False,
    )
    difficulty: Difficulty | None = main_field(
        None,
        "Difficulty of the pairs; default: both.",
        lower=True,
        key="difficulty",
        kept_empty=False,
    )
    rated: Sequence[str | Path] = input_field(
        (), "File of rated pairs, for an mteb task.", metavar="FILE", key="rated", kept_empty=False
    )
    seed: int = seed_field(0, "Random seed. It decides the order of rows and random negatives.")
    embedding: Annotated[EmbeddingLike | None, MOVED_EMBEDDING] = None
    private: bool = output_field(
        False, "Also export content that may not be shared.", key="private", kept_empty=False
    )

    def check(self) -> None:
        """Raise OptionError if no strategy needs `embedding`."""
        if self.embedding is not None and self.negatives != "embedding":
            raise OptionError("`embedding` needs `negatives` embedding; add it")
