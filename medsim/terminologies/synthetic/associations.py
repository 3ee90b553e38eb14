"""Makes the associations of invented concepts: what takes the place of those that are retired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.synthetic.components import USUAL_FATES, components, fates, ids
from medsim.terminologies.synthetic.history import Fate
from medsim.terminologies.synthetic.outline import NAMESPACES, Model

if TYPE_CHECKING:
    from medsim.terminologies.synthetic.draws import Draws, Ints, Weights
    from medsim.terminologies.synthetic.outline import Outline

# The associations of a retired concept, by slot: main, second substitute, one it once had.
_SECOND, _FORMER = 1, 2
_SHARES = np.array([0.97, 0.7, 0.08])
_KINDS: Weights = {
    sctid.SAME_AS: 40,
    sctid.REPLACED_BY: 30,
    sctid.POSSIBLY_EQUIVALENT_TO: 27,
    sctid.MOVED_TO: 3,
}
_REPLACED_BY_NAMESPACE, _IN_MODEL_MODULE = 0.005, 0.015


def association_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the associations of the retired among concepts, each with its targets and fate."""
    retired = numbers[(numbers >= outline.n_active) & (numbers < outline.n_clinical)]
    parts = components("substitute", retired, _SHARES, outline.draws)
    slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
    item, base = parts["item"].to_numpy(), outline.bases(concept)
    kind = outline.draws.weigh("kind", concept, _KINDS)
    has_two = (kind == sctid.POSSIBLY_EQUIVALENT_TO) & (base + 1 < outline.n_active)
    fate = fates("substitute", parts, outline, active=USUAL_FATES, retired=USUAL_FATES)
    other = outline.draws.choose("other substitute", item, outline.n_active)
    target = np.select(
        [slot == _SECOND, slot == _FORMER], [base + 1, other], _substitutes(concept, kind, outline)
    )
    was = np.where(kind == sctid.SAME_AS, sctid.REPLACED_BY, sctid.SAME_AS)
    return parts.with_columns(
        kind=pl.Series(np.where(slot == _FORMER, was, kind)),
        target=pl.Series(target),
        other=pl.Series(other),
        fate=pl.Series(np.where(slot == _FORMER, Fate.RETIRED, fate)),
    ).filter((slot != _SECOND) | has_two)


def association_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated associations with RF2's columns."""
    item = rows["item"].to_numpy()
    is_model = outline.draws.chance("substitute in model", item, _IN_MODEL_MODULE)
    target = pl.when("changes_later").then("other").otherwise("target")
    return rows.with_columns(
        id=_uuids(outline.draws, item),
        moduleId=pl.when(pl.Series(is_model))
        .then(sctid.MODEL_COMPONENT_MODULE)
        .otherwise(outline.model_id(Model.MODULE)),
        refsetId="kind",
        referencedComponentId=ids(rows["concept"], "concept"),
        targetComponentId=ids(rows.select(target).to_series(), "concept"),
    )


def _substitutes(concepts: Ints, kinds: Ints, outline: Outline) -> Ints:
    draws = outline.draws
    is_gone = draws.chance("replaced by namespace", concepts, _REPLACED_BY_NAMESPACE)
    is_namespace = (kinds == sctid.MOVED_TO) | ((kinds == sctid.REPLACED_BY) & is_gone)
    namespaces = np.array([outline.model_number(namespace) for namespace in NAMESPACES])
    namespace = namespaces[draws.choose("namespace", concepts, len(NAMESPACES))]
    return np.select(
        [is_namespace, outline.is_in_chain(concepts)],
        [namespace, concepts + 1],
        outline.bases(concepts),
    )


def _uuids(draws: Draws, items: Ints) -> pl.Series:
    """Return random UUIDs (RFC 9562, version 4) made from item numbers."""
    halves = np.stack([draws.bits("uuid 1", items), draws.bits("uuid 2", items)], axis=1)
    halves[:, 0] = halves[:, 0] & np.uint64(0xFFFFFFFFFFFF0FFF) | np.uint64(0x4000)
    halves[:, 1] = halves[:, 1] & np.uint64((1 << 62) - 1) | np.uint64(1 << 63)
    digits = halves.astype(">u8").tobytes().hex()
    starts = range(0, len(digits), 32)
    parts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    uuids = ["-".join(digits[at + a : at + b] for a, b in parts) for at in starts]
    return pl.Series(uuids, dtype=pl.String)
