"""Pairs that people judged otherwise than a terminology says, and their effect on a build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.options import Correction
from medsim.core.errors import InputError
from medsim.core.manifest import Skipped
from medsim.core.tables.named import read_table
from medsim.core.tables.text import unguarded
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_CORRECTIONS = 20_000
"""The most corrections of a build, whose manifest and files bear them all."""

_JUDGED = {"same": True, "not_same": False}


def read_corrections(given: str | Path | Sequence[Correction]) -> tuple[Correction, ...]:
    """Return corrections as they are given; of a table, each pair once, in order of text.

    Its columns are term1, term2 and judged, which is "same" or "not_same"; others are ignored.
    ``medsim study score`` writes such a file, as CSV whose cells are harmless to spreadsheets.

    Raises:
        InputError: the file cannot be read, lacks a column, or contradicts itself; the message
            names the line.
    """
    if not isinstance(given, (str, Path)):
        return tuple(given)
    path = Path(given)
    table = read_table(path, ("term1", "term2", "judged"))
    for side in ("term1", "term2"):
        table.refuse(table.frame[side] == "", side, "is empty")
    judged = table.frame["judged"]
    table.refuse(~judged.is_in(list(_JUDGED)), "judged", "is neither same nor not_same")
    found: dict[tuple[str, ...], tuple[str, Correction]] = {}
    for place, (guarded1, guarded2, answer) in table.rows():
        term1, term2 = unguarded(guarded1), unguarded(guarded2)
        key = tuple(sorted(lowered((term1, term2))))
        if key[0] == key[1]:
            raise InputError(f"{path}: {place}: both terms are {term1!r}")
        one = Correction(term1=term1, term2=term2, same=_JUDGED[answer])
        known_place, known = found.setdefault(key, (place, one))
        if known.same != one.same:
            raise InputError(
                f"{path}: {known_place} and {place} contradict each other on {term1!r} and "
                f"{term2!r}"
            )
    if len(found) > MOST_CORRECTIONS:
        raise InputError(
            f"{path} has {len(found):,} corrections; up to {MOST_CORRECTIONS:,} are accepted"
        )
    return tuple(found[key][1] for key in sorted(found))


def corrections_in(options: Mapping[str, object]) -> tuple[Correction, ...]:
    """Return the corrections among the options of a build's manifest."""
    rows = options.get("corrections", [])
    try:
        return tuple(
            Correction(term1=term1, term2=term2, same=bool(same))
            for term1, term2, same in rows  # type: ignore[attr-defined]  # said below
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
        own = nodes.rename({"lower_term": side, "node_id": f"{side}_node"})
        frame = frame.join(own, on=side, maintain_order="left")
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


def effects(n_rejected: int, n_unmatched: int) -> Iterator[Skipped]:
    """Yield the numbers of positives that were rejected, and of corrections of unknown terms."""
    if n_rejected:
        yield Skipped(reason="a positive judged not to mean the same", n_rows=n_rejected)
    if n_unmatched:
        yield Skipped(reason="a correction of a term that no name bears", n_rows=n_unmatched)
