"""The files of an evaluation that is being made: paths, and the folder they are written to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from medsim.core.output import OutputFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFiles:
    """The files of an evaluation that is being made."""

    output: OutputFolder
    metadata: Mapping[str, str]

    def exist(self, *paths: str) -> bool:
        """Return whether files are there, and whole."""
        return all(map(self.output.is_complete, paths))

    def write(self, path: str, frame: pl.DataFrame) -> None:
        """Write a file."""
        self.output.write(path, frame, self.metadata)

    def load(self, path: str) -> pl.DataFrame:
        """Return the rows of a file of this run or of one before."""
        return self.output.load(path)

    def __contains__(self, path: str) -> bool:
        return path in self.output.outputs


def pairs_path(name: str) -> str:
    """Return the path of an input's pairs."""
    return f"pairs/input={name}/data.parquet"


def scores_path(name: str, embedding: str, metric: str) -> str:
    """Return the path of the similarities of an input's pairs."""
    return f"scores/input={name}/embedding={embedding}/metric={metric}/data.parquet"


def coverage_path(name: str, embedding: str, of: str) -> str:
    """Return the path of the "terms" of an input, or of the "words", that an embedding has."""
    return f"coverage/input={name}/embedding={embedding}/{of}.parquet"


def vocabulary_path(embedding: str) -> str:
    """Return the path of all words that an embedding has."""
    return f"vocabularies/embedding={embedding}/words.parquet"


def retrieval_path(name: str, embedding: str, metric: str, index: str) -> str:
    """Return the path of the terms that an embedding finds for an input's linked terms."""
    folder = f"retrieval/input={name}/embedding={embedding}/metric={metric}/index={index}"
    return f"{folder}/data.parquet"


def separation_path(name: str, embedding: str, metric: str, of: str = "data") -> str:
    """Return the path of the separation of an input's categories, or of their "terms"."""
    return f"separation/input={name}/embedding={embedding}/metric={metric}/{of}.parquet"
