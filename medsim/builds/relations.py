"""The relations of the concepts that two names have, in the hierarchy of a terminology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from medsim.core.store import Store


def relations_in(store: Store, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the closest relation of the concepts of two names, see ``relation.sql``.

    Args:
        store: store with the tables of ``derive_names``.
        pairs: pair_id, lower1 and lower2, names in lower case.

    Returns:
        pair_id and relation, of pairs whose names are known; no rows without a hierarchy.
    """
    if not store.table("is_a").height:
        return pl.DataFrame(schema={"pair_id": pairs.schema["pair_id"], "relation": pl.String})
    with store.frame_as("unlike", pairs):
        return store.frame("builds/pairs/relation")
