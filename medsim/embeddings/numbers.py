"""Vectors that objects hold or models return, of whatever library, as arrays of float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.core.errors import InputError, counted
from medsim.core.reading import reading
from medsim.embeddings.formats.files import check_dimensions
from medsim.embeddings.formats.rows import first_not_finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from medsim.kernels.types import Vectors

_MATRIX = 2


def as_vectors(answer: Any, of: str, terms: Sequence[str]) -> Vectors:
    """Return the vectors that a model gave terms: float32[n_terms, n_dimensions], finite.

    Raises:
        InputError: it gave something else; the message begins with ``of``.
    """
    found = as_matrix(answer, of)
    if len(found) != len(terms):
        raise InputError(
            f"{of} gives {counted(len(found), 'vector')} for {counted(len(terms), 'text')}, "
            f"{terms[0]!r} the first; one for each is due"
        )
    check_dimensions(of, found.shape[1])
    vectors = single(found)
    if (at := first_not_finite(vectors)) is not None:
        raise InputError(f"{of} gives {terms[at]!r} a vector that is not finite as float32")
    return vectors


def as_matrix(answer: Any, of: str) -> NDArray[Any]:
    """Return numbers in rows, of the type that they have: of NumPy, or lists, tensors, frames."""
    with reading(of, "an array of numbers, with a row for each text, word or term"):
        found = np.asarray(_plain(answer))
    if found.dtype.kind not in "fiu":
        raise InputError(f"{of} has or gives values of type {_type_of(answer, found)}, not numbers")
    if found.ndim != _MATRIX:
        raise InputError(
            f"{of} has or gives an array of shape {found.shape}; rows by dimensions are due, as in "
            "(1000, 300)"
        )
    return found


def single(vectors: NDArray[Any]) -> Vectors:
    """Return numbers as float32; what that cannot hold is infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(vectors, np.float32)


def _plain(value: Any) -> Any:
    """Return a value that NumPy takes: of tensors on any device and sparse matrices, their numbers.

    NumPy has no bfloat16, and takes no tensor that keeps track of gradients.
    """
    if isinstance(value, (list, tuple)) and len(value) and hasattr(value[0], "detach"):
        return [_plain(one) for one in value]
    if hasattr(value, "detach"):
        tensor = value.detach().cpu()
        return (tensor if tensor.is_complex() else tensor.float()).numpy()
    if hasattr(value, "toarray"):
        return value.toarray()
    if isinstance(value, np.ma.MaskedArray):  # what is masked is no number
        return np.ma.filled(value.astype(np.float64), np.nan)
    return value


def _type_of(answer: Any, found: NDArray[Any]) -> str:
    if isinstance(answer, np.ndarray) or found.ndim:
        return "text" if found.dtype.kind in "US" else str(found.dtype)
    return type(answer).__name__
