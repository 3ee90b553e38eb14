"""Makes the links of invented concepts: their parents, attributes, and what takes their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.synthetic.components import USUAL_FATES, Fate, components, fates, ids
from medsim.terminologies.synthetic.families import places_of
from medsim.terminologies.synthetic.outline import NAMESPACES, Model

if TYPE_CHECKING:
    from medsim.terminologies.synthetic.draws import Draws, Ints, Weights
    from medsim.terminologies.synthetic.outline import Outline

# The relationships of a concept, by slot: three parents, two attributes, a parent it once had.
_FIRST_ATTRIBUTE, _FORMER_PARENT = 3, 5
_LINKS = np.array([1, 0.25, 0.06, 0.5, 0.35, 0.1])
_FIRST_PARENT_FATES: Weights = {Fate.KEPT: 89, Fate.CHANGED: 10, Fate.REVIVED: 1}
_END: Weights = {Fate.RETIRED: 1}


def relationship_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the relationships of concepts, each with its target and its fate."""
    parts = components("link", numbers, _LINKS, outline.draws)
    slot, place = parts["slot"].to_numpy(), parts["concept"].to_numpy() - numbers[0]
    target = np.stack(_targets(numbers, outline), axis=1)[place, slot]
    fate = np.select(
        [slot == 0, slot == _FORMER_PARENT],
        [fates("parent", parts, outline, active=_FIRST_PARENT_FATES, retired=_END), Fate.RETIRED],
        fates("link", parts, outline, active=USUAL_FATES, retired=_END),
    )
    return parts.with_columns(target=pl.Series(target), fate=pl.Series(fate)).filter(
        pl.col("target") >= 0
    )


def relationship_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated relationships with RF2's columns."""
    attribute = pl.col("slot") - _FIRST_ATTRIBUTE
    is_attribute = attribute.is_in([0, 1])
    seat, cause = outline.model_id(Model.SEAT), outline.model_id(Model.CAUSE)
    return rows.with_columns(
        id=ids(rows["item"], "relationship"),
        moduleId=pl.lit(outline.model_id(Model.MODULE)),
        sourceId=ids(rows["concept"], "concept"),
        destinationId=ids(rows["target"], "concept"),
        relationshipGroup=pl.when(is_attribute)
        .then(attribute + 1 + pl.col("changes_later"))
        .otherwise(0),
        typeId=pl.when(attribute == 0)
        .then(seat)
        .when(attribute == 1)
        .then(cause)
        .otherwise(sctid.IS_A),
        characteristicTypeId=pl.when(~is_attribute & pl.col("changes_later"))
        .then(sctid.STATED)
        .otherwise(sctid.INFERRED),
        modifierId=pl.lit(sctid.EXISTENTIAL),
    )


def _targets(numbers: Ints, outline: Outline) -> list[Ints]:
    """Return what concepts are linked to, int64[n] for each slot; -1 is nothing.

    A parent has a smaller number than its child or is a model concept, so no is-a path returns
    to its start, and all paths of active concepts end at concept 0.
    """
    draws, ordinal = outline.draws, places_of(numbers, outline.draws).ordinal
    is_active, is_retired = numbers < outline.n_active, numbers >= outline.n_active
    before = np.maximum(numbers, 1)
    first = _first_parents(numbers, outline)
    second = np.where(ordinal > 1, numbers - 1, draws.choose("second", numbers, before))
    third = draws.choose("third", numbers, before)
    former = draws.choose("former", numbers, before)
    has_others = is_active & (numbers > 0)
    attributes = [draws.choose(f"attribute {i}", numbers, outline.n_active) for i in range(2)]
    is_model = numbers >= outline.n_clinical
    first = np.where(is_retired, outline.bases(numbers), first)
    model_parent = np.where(numbers > outline.n_clinical, outline.model_number(Model.ROOT), -1)
    return [
        np.where(is_model, model_parent, first),
        np.where(has_others & (second != first), second, -1),
        np.where(has_others & (third != first) & (third != second), third, -1),
        *(np.where(is_model, -1, target) for target in attributes),
        np.where(has_others, former, -1),
    ]


def _first_parents(numbers: Ints, outline: Outline) -> Ints:
    """Return the head of each concept's family; for a head, one before it, or -1 for none."""
    places = places_of(numbers, outline.draws)
    parents = np.zeros_like(numbers)
    for attempt in range(3):
        found = outline.draws.choose(f"parent {attempt}", numbers, np.maximum(numbers, 1))
        other = places_of(found, outline.draws)
        parents = np.where(other.branch == places.branch, found - other.ordinal, parents)
    parents = np.where(places.ordinal > 0, numbers - places.ordinal, parents)
    return np.where(numbers > 0, parents, -1)


# The associations of a retired concept, by slot: main, second substitute, one it once had.
_SECOND, _FORMER = 1, 2
_SUBSTITUTES = np.array([0.97, 0.7, 0.08])
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
    parts = components("substitute", retired, _SUBSTITUTES, outline.draws)
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
