"""Nearest terms by cosine with plain NumPy and with sentence-transformers' miner."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Ids, Places, Vectors

_QUERIES_AT_ONCE = 256
_MINER = ("sentence_transformers", "datasets")


def nearest_by_numpy(units: Vectors, groups: Ids, queries: Ids, n_wanted: int) -> Places:
    """Return the nearest rows of other groups, nearest first: int64[n_queries, n_wanted].

    Args:
        units: float32[n_rows, n_dimensions], of length 1.
        groups: int32[n_rows].
        queries: int32[n_queries], rows.
        n_wanted: number of rows for each query; there must be as many.
    """
    nearest = np.empty((len(queries), n_wanted), np.int64)
    for begin in range(0, len(queries), _QUERIES_AT_ONCE):
        batch = queries[begin : begin + _QUERIES_AT_ONCE]
        cosines = units[batch] @ units.T
        cosines[groups[batch][:, None] == groups] = -2
        near = np.argpartition(cosines, -n_wanted, axis=1)[:, -n_wanted:]
        order = np.argsort(-np.take_along_axis(cosines, near, axis=1), axis=1)
        nearest[begin : begin + len(batch)] = np.take_along_axis(near, order, axis=1)
    return nearest


def has_miner() -> bool:
    """Return whether sentence-transformers and datasets, which are optional, are installed."""
    return all(importlib.util.find_spec(name) is not None for name in _MINER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A stand-in for a model with given vectors; a text is the number of its row.

    Attributes:
        units: float32[n_rows, n_dimensions], of length 1.
        device: the device of the tensors.
    """

    units: Vectors
    device: str = "cpu"

    def encode_document(self, texts: Sequence[str], **_options: object) -> Vectors:
        """Return the vectors of texts."""
        vectors: Vectors = self.units[np.array([int(text) for text in texts])]
        return vectors

    encode_query = encode_document

    def get_embedding_dimension(self) -> int:
        """Return the number of dimensions."""
        return int(self.units.shape[1])

    get_sentence_embedding_dimension = get_embedding_dimension  # its name in older versions

    def similarity_pairwise(self, left: Vectors, right: Vectors) -> Any:
        """Return the cosine of each row with the same row of the other side, as a tensor."""
        return importlib.import_module("torch").from_numpy((left * right).sum(axis=1))


def mine(units: Vectors, firsts: Ids, seconds: Ids, n_wanted: int) -> int:
    """Return the number of negatives that sentence-transformers mines from all rows with FAISS.

    It only leaves out a first term's positives, and may return a pair twice.

    Args:
        units: float32[n_rows, n_dimensions], of length 1.
        firsts: int32[n_pairs], the first terms of positives, each once.
        seconds: int32[n_pairs], their second terms.
        n_wanted: number of negatives of each first term.
    """
    mining = importlib.import_module("sentence_transformers.util")
    datasets = importlib.import_module("datasets")
    pairs = {
        "anchor": [str(row) for row in firsts.tolist()],
        "positive": [str(row) for row in seconds.tolist()],
    }
    mined = mining.mine_hard_negatives(
        datasets.Dataset.from_dict(pairs),
        Lookup(units=units),
        corpus=[str(row) for row in range(len(units))],
        num_negatives=n_wanted,
        use_faiss=True,
        verbose=False,
    )
    return len(mined)
