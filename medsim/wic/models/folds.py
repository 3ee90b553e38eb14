"""Instances shared out into folds that have no sentence and no pair of terms in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import InputError
from medsim.core.terms import lowered
from medsim.kernels.components import components
from medsim.wic.making.instances import drawn_order

if TYPE_CHECKING:
    import polars as pl

    from medsim.kernels.types import Ids

N_FOLDS = 10
"""The number of folds, where instances hang together in so many parts or more."""


def folds_of(instances: pl.DataFrame, seed: int, n_folds: int = N_FOLDS) -> Ids:
    """Return the fold of each instance, from 0: int32[n_instances].

    Instances that hang together stay together, see ``linked``. The largest parts are placed first,
    parts of one size in an order drawn from what they say, each in the smallest fold so far; so
    folds do not depend on the order of instances. There are fewer than ``n_folds`` where instances
    hang together in fewer parts.
    """
    parts, part_of = np.unique(linked(instances), return_inverse=True)
    if len(parts) < 2:  # noqa: PLR2004 — one to fit on, one to ask
        raise InputError(
            f"all {len(part_of):,} instances hang together by sentences or pairs of terms, so "
            "models cannot be fitted on some and asked about others; name files with `train` and "
            "`dev`"
        )
    sizes = np.bincount(part_of)
    drawn = np.full(len(parts), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(drawn, part_of, drawn_order(instances, seed))
    loads = np.zeros(min(n_folds, len(parts)), np.int64)
    fold_of = np.empty(len(parts), np.int32)
    for part in np.lexsort((drawn, -sizes)):
        fold_of[part] = np.argmin(loads)
        loads[fold_of[part]] += sizes[part]
    return fold_of[part_of]


def linked(instances: pl.DataFrame) -> Ids:
    """Return the connected part of each instance, the first instance in it: int32[n_instances].

    Two instances are linked that share a sentence, or both terms ignoring case and sides.
    """
    nodes: dict[tuple[str, ...], int] = {}
    left: list[int] = []
    right: list[int] = []
    names = ("term1", "term2", "sentence1", "sentence2")
    for row, (term1, term2, *sentences) in enumerate(instances.select(names).iter_rows()):
        pair = tuple(sorted(lowered([term1, term2])))
        for key in (pair, *((sentence,) for sentence in sentences)):
            left.append(row)
            right.append(instances.height + nodes.setdefault(key, len(nodes)))
    found = components(
        instances.height + len(nodes), np.array(left, np.int32), np.array(right, np.int32)
    )
    return found[: instances.height]
