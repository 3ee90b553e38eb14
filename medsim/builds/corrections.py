"""Pairs that people judged differently from the terminology, and their effect on a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.options import Correction
from medsim.core.errors import InputError
from medsim.core.tables import read_table, unguarded
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_CORRECTIONS = 20_000
"""The maximum number of corrections of a build; its manifest and files repeat them all."""

_JUDGED = {"same": True, "not_same": False}


def read_corrections(given: str | Path | Sequence[Correction]) -> tuple[Correction, ...]:
    """Return corrections, given as such or as a table, each pair once, in order of text.

    A table has the columns term1, term2 and judged, which is "same" or "not_same"; others are
    ignored. ``medsim study score`` writes such a file, as CSV that is safe in spreadsheets.

    Raises:
        InputError: the file cannot be read, or lacks a column; or a correction is not a pair of
            different terms, or two contradict each other. The message has the line or number.
    """
    if isinstance(given, (str, Path)):
        where, table = str(given), read_table(Path(given), ("term1", "term2", "judged"))
        judged = table.frame["judged"]
        table.refuse(~judged.is_in(list(_JUDGED)), "judged", "is neither same nor not_same")
        rows = [
            (place, Correction(term1=unguarded(one), term2=unguarded(other), same=_JUDGED[answer]))
            for place, (one, other, answer) in table.rows()
        ]
    else:
        where = "`corrections`"
        rows = [(f"number {number}", one) for number, one in enumerate(given, start=1)]
    found: dict[tuple[str, ...], tuple[str, Correction]] = {}
    for place, one in rows:
        key = tuple(sorted(lowered((one.term1, one.term2))))
        if not key[0] or key[0] == key[1]:
            raise InputError(f"{where}: {place}: {one.term1!r} and {one.term2!r} are not two terms")
        known_place, known = found.setdefault(key, (place, one))
        if known.same != one.same:
            raise InputError(
                f"{where}: {known_place} and {place} contradict each other on {one.term1!r} and "
                f"{one.term2!r}"
            )
    if len(found) > MOST_CORRECTIONS:
        raise InputError(
            f"{where} has {len(found):,} corrections; the limit is {MOST_CORRECTIONS:,}"
        )
    return tuple(found[key][1] for key in sorted(found))


def corrections_in(options: Mapping[str, object]) -> tuple[Correction, ...]:
    """Return the corrections among the options of a build's manifest."""
    rows = options.get("corrections", [])
    try:
        return tuple(
            Correction(term1=term1, term2=term2, same=bool(same))
            for term1, term2, same in rows  # type: ignore[attr-defined]  # see below
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"the corrections of the manifest cannot be read ({error})") from error


def corrected_nodes(corrections: Sequence[Correction], terms: pl.DataFrame) -> pl.DataFrame:
    """Return the corrections of known terms: node1_id, node2_id, the smaller first, and same."""
    nodes = terms.select("lower_term", "node_id").unique()
    rows = [(*lowered((one.term1, one.term2)), one.same) for one in corrections]
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
    """Return positives without those that were judged not to mean the same."""
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
