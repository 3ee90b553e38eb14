"""Pairs that people judged differently from the terminology, and their effect on a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.options import Correction
from medsim.core.errors import InputError
from medsim.core.tables import read_table, unguarded
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_JUDGED = {"same": True, "not_same": False}


def read_corrections(corrections: str | Path | Sequence[Correction]) -> tuple[Correction, ...]:
    """Return corrections, or those in a table, with each pair once, in order of text.

    A table has the columns term1, term2 and judged, which is "same" or "not_same"; others are
    ignored. ``medsim study score`` writes such a file, as CSV that is safe in spreadsheets.

    Raises:
        InputError: the file cannot be read, or lacks a column; or a correction is not a pair of
            different terms, or two contradict each other. The message gives the line or number.
    """
    if isinstance(corrections, (str, Path)):
        where, table = str(corrections), read_table(Path(corrections), ("term1", "term2", "judged"))
        judged = table.frame["judged"]
        table.refuse(~judged.is_in(list(_JUDGED)), "judged", "is neither same nor not_same")
        rows = [
            (place, Correction(term1=unguarded(a), term2=unguarded(b), same=_JUDGED[answer]))
            for place, (a, b, answer) in table.rows()
        ]
    else:
        where = "`corrections`"
        rows = [(f"number {number}", pair) for number, pair in enumerate(corrections, start=1)]
    by_terms: dict[tuple[str, ...], tuple[str, Correction]] = {}
    for place, pair in rows:
        key = tuple(sorted(lowered((pair.term1, pair.term2))))
        if not key[0] or key[0] == key[1]:
            raise InputError(
                f"{where}: {place}: {pair.term1!r} and {pair.term2!r} are not two terms"
            )
        first_place, first = by_terms.setdefault(key, (place, pair))
        if first.same != pair.same:
            raise InputError(
                f"{where}: {first_place} and {place} contradict each other on {pair.term1!r} and "
                f"{pair.term2!r}"
            )
    return tuple(by_terms[key][1] for key in sorted(by_terms))


def corrections_in(options: Mapping[str, Any]) -> tuple[Correction, ...]:
    """Return the corrections among the options of a build's manifest."""
    return tuple(
        Correction(term1=term1, term2=term2, same=same)
        for term1, term2, same in options.get("corrections", [])
    )


def corrected_nodes(corrections: Sequence[Correction], terms: pl.DataFrame) -> pl.DataFrame:
    """Return the corrections of known terms: node1_id, node2_id (the smaller first) and same."""
    nodes = terms.select("lower_term", "node_id").unique()
    rows = [(*lowered((pair.term1, pair.term2)), pair.same) for pair in corrections]
    schema = {"left": pl.String, "right": pl.String, "same": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for side in ("left", "right"):
        side_nodes = nodes.rename({"lower_term": side, "node_id": f"{side}_node"})
        frame = frame.join(side_nodes, on=side, maintain_order="left")
    both = ("left_node", "right_node")
    return frame.select(
        pl.min_horizontal(both).alias("node1_id"), pl.max_horizontal(both).alias("node2_id"), "same"
    )


def without_rejected(
    pairs: pl.DataFrame, corrected: pl.DataFrame, terms: pl.DataFrame
) -> pl.DataFrame:
    """Return positives without those that people judged not to mean the same."""
    rejected = corrected.filter(~pl.col("same"))
    if rejected.is_empty():
        return pairs
    node = terms["node_id"]
    ends = {side: node.gather(pairs[f"{side}_id"]) for side in ("term1", "term2")}
    return (
        pairs.with_columns(
            pl.min_horizontal(*ends.values()).alias("node1_id"),
            pl.max_horizontal(*ends.values()).alias("node2_id"),
        )
        .join(rejected, on=["node1_id", "node2_id"], how="anti", maintain_order="left")
        .drop("node1_id", "node2_id")
    )
