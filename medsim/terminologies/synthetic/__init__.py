"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from enum import IntEnum
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias, cast
from uuid import UUID

import numpy as np
import polars as pl

from medsim.core.queries import query
from medsim.terminologies.rf2_writer import COLUMNS, Component, ReleaseType, release_writer, sctids
from medsim.terminologies.synthetic.concepts import (
    BRANCHES,
    CHANCES,
    MODEL_FSNS,
    NAMESPACES,
    ConceptNames,
    Draws,
    Ints,
    Model,
    Outline,
    Wording,
    concept_ids,
    families_of,
)

Make: TypeAlias = Callable[[Ints, Outline], pl.DataFrame]
Finish: TypeAlias = Callable[[pl.DataFrame, Outline], pl.DataFrame]

_BY_NAME = re.findall(r"when '(\w+)' then '(\d+)'", query("macros/sctid").text)
SCTID = SimpleNamespace(**{name: int(sctid) for name, sctid in _BY_NAME})
"""The SNOMED CT identifiers that medsim uses, by the names that they have in SQL."""

Fate = IntEnum("Fate", "KEPT CHANGED RETIRED CHANGED_THEN_RETIRED REVIVED LATE", start=0)
"""The events of a component between its first row and the release."""

# For each row of a component, 1 if it is active then, 0 if inactive, -1 if there is no such row.
_ROWS = np.array([CHANCES["histories"][fate.name] for fate in Fate])
_FATES = CHANCES["fates"]
_CHANGING = (Fate.CHANGED, Fate.CHANGED_THEN_RETIRED)

RELEASE_DATE = date(2026, 1, 1)
LATER_DATE = date(2026, 7, 1)

# Six periods of seven half-yearly releases, and their dates as YYYYMMDD.
_N_PERIODS, _PER_PERIOD, _DAYS_PER_RELEASE = 6, 7, 182
_AGES = reversed(range(_N_PERIODS * _PER_PERIOD))
_DAYS = (RELEASE_DATE - timedelta(days=_DAYS_PER_RELEASE * age) for age in _AGES)
_RELEASES = np.array([int(f"{day:%Y%m%d}") for day in _DAYS])


def dated(
    table: str, components: pl.DataFrame, outline: Outline, *, newest_only: bool
) -> pl.DataFrame:
    """Return a row for each component and time, ordered by both.

    All changes of a concept's components in a period happen in the same release. The rows have the
    components' columns, such as ``concept`` and ``fate``, and ``effectiveTime``, ``active`` and
    ``changes_later``.
    """
    fate = components["fate"].to_numpy()
    has_row = _ROWS[fate] >= 0
    if newest_only:
        newest = 2 - np.argmax(has_row[:, ::-1], axis=1)
        has_row = newest[:, None] == np.arange(3)
    component, event = np.nonzero(has_row)
    period = np.array(CHANCES["periods"][table])[event]
    moment = components["concept"].to_numpy()[component] * _N_PERIODS + period
    release = period * _PER_PERIOD + outline.draws.choose("release", moment, _PER_PERIOD)
    return components[component].with_columns(
        effectiveTime=pl.Series(_RELEASES[release]),
        active=pl.Series(_ROWS[fate[component], event]),
        changes_later=pl.Series(np.isin(fate[component], _CHANGING) & (event == 0)),
    )


def draw_components(label: str, concepts: Ints, draws: Draws) -> pl.DataFrame:
    """Return the components of concepts, int64[n], one per slot in the label's share of them.

    Each row is a component: its number as ``item``, its ``concept`` and its ``slot``.
    """
    n_slots = len(CHANCES["shares"][label])
    concept, slot = np.repeat(concepts, n_slots), np.tile(np.arange(n_slots), len(concepts))
    item = concept * n_slots + slot
    exists = draws.chance(label, item, slot)
    return pl.DataFrame({"item": item, "concept": concept, "slot": slot}).filter(exists)


def fates(label: str, parts: pl.DataFrame, outline: Outline) -> Ints:
    """Return the fate of each component; components of the model's concepts are kept."""
    item, concept = parts["item"].to_numpy(), parts["concept"].to_numpy()
    weights = {state: _FATES[state].get(label, _FATES["usual"]) for state in ("active", "retired")}
    return outline.weigh_by_state(label, item, concept, weights, Fate.__members__)


def ids(numbers: pl.Series, component: Component) -> pl.Series:
    """Return the identifiers of components or concepts by their numbers, which begin at 0."""
    items = numbers.to_numpy()
    return pl.Series(concept_ids(items) if component == "concept" else sctids(items + 1, component))


def concept_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the concepts with these numbers, with their fates."""
    parts = pl.DataFrame({"item": numbers, "concept": numbers})
    fate = fates("concept", parts, outline)
    # The model's concepts were once in the clinical module.
    fate = np.where(numbers >= outline.n_clinical, Fate.CHANGED, fate)
    return parts.with_columns(fate=pl.Series(fate))


def concept_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated concepts with RF2's columns."""
    is_defined = outline.draws.chance("defined", rows["concept"].to_numpy())
    is_model = (pl.col("concept") >= outline.n_clinical) & ~pl.col("changes_later")
    return rows.with_columns(
        id=ids(rows["concept"], "concept"),
        moduleId=pl.when(is_model).then(SCTID.model_component_module).otherwise("moduleId"),
        definitionStatusId=pl.when(pl.Series(is_defined) ^ pl.col("changes_later"))
        .then(SCTID.defined)
        .otherwise(SCTID.primitive),
    )


_FSN, _PREFERRED, _OLD_FSN, _DEFINITION = 0, 1, 5, 6  # slots
_TYPES = {
    _FSN: SCTID.fully_specified_name,
    _OLD_FSN: SCTID.fully_specified_name,
    _DEFINITION: SCTID.text_definition,
}
_LONGEST_TERM, _LONGEST_DEFINITION = 255, 4096
_CASE_RULES = (SCTID.case_insensitive, SCTID.case_sensitive, SCTID.initial_case_insensitive)
_SYNONYMS = (
    "REVERSED RESPELLED COMBINED PLURAL INVERTED SHORTENED REPHRASED INITIALED UPPER EPONYM TITLE"
)
_SYNONYM_WORDINGS = np.array([Wording[name] for name in _SYNONYMS.split()])
_TAGS = pl.Series(["", *(f" ({branch['tag']})" for branch in BRANCHES)])
_MODEL_TEXTS = pl.Series([text for fsn in MODEL_FSNS for text in (fsn, fsn.rpartition(" (")[0])])
_UNTAGGED = (Wording.OR_IN_BRACKETS, Wording.AND_IN_BRACKETS)


def description_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated descriptions or text definitions with RF2's columns."""
    item = rows["item"].to_numpy()
    typed = rows.with_columns(
        typeId=pl.col("slot").replace_strict(_TYPES, default=SCTID.synonym, return_dtype=pl.Int64)
    )
    moment = item * 2 + rows["changes_later"].to_numpy()
    case_rule = outline.draws.choose("case", moment, len(_CASE_RULES))
    return typed.with_columns(
        id=ids(rows["item"], "description"),
        conceptId=ids(rows["concept"], "concept"),
        languageCode=pl.lit("en"),
        term=_terms(typed, outline),
        caseSignificanceId=pl.Series(_CASE_RULES).gather(case_rule),
    )


def description_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the descriptions of concepts with their fates; some are text definitions."""
    concepts = pl.DataFrame({"item": numbers, "concept": numbers})
    fsn_fates = fates("fsn", concepts, outline)
    parts = draw_components("name", numbers, outline.draws)
    slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
    fsn_fate = fsn_fates[concept - numbers[0]]
    other = fates("name", parts, outline)
    fate = np.select([slot == _FSN, slot == _OLD_FSN], [fsn_fate, Fate.RETIRED], other)
    among = outline.draws.chance("among", concept)
    exists = (slot != _OLD_FSN) | (fsn_fate == Fate.LATE)
    exists &= (concept < outline.n_clinical) | (slot <= _PREFERRED)
    exists &= (slot != _DEFINITION) | among
    return parts.with_columns(fate=pl.Series(fate)).filter(exists)


def _terms(rows: pl.DataFrame, outline: Outline) -> pl.Series:
    """Return the term of each description; an FSN has a semantic tag."""
    wording = _wordings(rows, outline)
    concepts, place = np.unique(rows["concept"].to_numpy(), return_inverse=True)
    bases = outline.bases(concepts)
    texts = outline.names.wordings(bases).gather(wording * len(concepts) + place)
    branch = families_of(bases, outline.draws).branch[place]
    is_fsn = (rows["typeId"] == SCTID.fully_specified_name).to_numpy()
    is_tagged = is_fsn & ~np.isin(wording, _UNTAGGED)
    model = np.maximum(rows["concept"].to_numpy() - outline.n_clinical, 0)
    room = pl.when(pl.col("typeId") == SCTID.text_definition).then(_LONGEST_DEFINITION)
    cut = pl.col("text").str.slice(0, room.otherwise(_LONGEST_TERM) - pl.col("tag").str.len_chars())
    return (
        rows.with_columns(
            text=texts,
            tag=_TAGS.gather(np.where(is_tagged, branch + 1, 0)),
            model=_MODEL_TEXTS.gather(2 * model + (rows["slot"] == _PREFERRED).to_numpy()),
        )
        .select(
            pl.when(pl.col("concept") >= outline.n_clinical)
            .then("model")
            .otherwise(cut.str.strip_chars_end() + pl.col("tag"))
        )
        .to_series()
    )


def _wordings(rows: pl.DataFrame, outline: Outline) -> Ints:
    draws, slot = outline.draws, rows["slot"].to_numpy()
    item, concept = rows["item"].to_numpy(), rows["concept"].to_numpy()
    weights = CHANCES["retired_wordings"]
    retired = draws.weigh("retired wording", concept, weights, Wording.__members__)
    fsn = np.where(concept < outline.n_active, Wording.PLAIN, retired)
    turn = draws.choose("wording", concept, len(_SYNONYM_WORDINGS)) + slot
    synonym = _SYNONYM_WORDINGS[turn % len(_SYNONYM_WORDINGS)]
    synonym = np.where(draws.chance("acronym", item), Wording.ACRONYM, synonym)
    like_fsn = (slot == _PREFERRED) & draws.chance("plain", concept)
    wording = np.select(
        [(slot == _FSN) | like_fsn, slot == _DEFINITION], [fsn, Wording.DEFINITION], synonym
    )
    is_old = rows["changes_later"].to_numpy() & draws.chance("reworded", item)
    is_old = (is_old & (slot < _OLD_FSN)) | (slot == _OLD_FSN)
    return np.where(is_old, Wording.UNSPECIFIED, wording)


_FIRST_ATTRIBUTE, _FORMER_PARENT = 3, 5  # slots


def relationship_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the relationships of concepts with their targets and fates."""
    parts = draw_components("link", numbers, outline.draws)
    slot, place = parts["slot"].to_numpy(), parts["concept"].to_numpy() - numbers[0]
    target = np.stack(_targets(numbers, outline), axis=1)[place, slot]
    fate = np.select(
        [slot == 0, slot == _FORMER_PARENT],
        [fates("parent", parts, outline), Fate.RETIRED],
        fates("link", parts, outline),
    )
    return parts.with_columns(target=pl.Series(target), fate=pl.Series(fate)).filter(
        pl.col("target") >= 0
    )


def relationship_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated relationships with RF2's columns."""
    attributes = {
        _FIRST_ATTRIBUTE: outline.model_id(Model.SEAT),
        _FIRST_ATTRIBUTE + 1: outline.model_id(Model.CAUSE),
    }
    slot, changes_later = pl.col("slot"), pl.col("changes_later")
    is_attribute = slot.is_in([*attributes])
    return rows.with_columns(
        id=ids(rows["item"], "relationship"),
        sourceId=ids(rows["concept"], "concept"),
        destinationId=ids(rows["target"], "concept"),
        relationshipGroup=(slot - _FIRST_ATTRIBUTE + 1 + changes_later) * is_attribute,
        typeId=slot.replace_strict(attributes, default=SCTID.is_a, return_dtype=pl.Int64),
        characteristicTypeId=pl.when(~is_attribute & changes_later)
        .then(SCTID.stated)
        .otherwise(SCTID.inferred),
        modifierId=pl.lit(SCTID.existential),
    )


def _targets(numbers: Ints, outline: Outline) -> list[Ints]:
    """Return the targets of concepts' relationships, int64[n] for each slot; -1 means no target.

    A parent has a smaller number than its child or is a concept of the model, so is-a paths have no
    cycles, and all paths of active concepts end at concept 0. Parents are of the same branch, or
    above it.
    """
    draws, places = outline.draws, families_of(numbers, outline.draws)
    is_active, is_retired = numbers < outline.n_active, numbers >= outline.n_active
    before = np.maximum(numbers, 1)
    earlier = [_earlier_of_branch(each, numbers, draws) for each in ("parent", "second", "third")]
    top = np.where(places.top < numbers, places.top, 0)
    near = np.where(earlier[0] < 0, top, earlier[0])
    near = np.where(places.ordinal > 0, numbers, near)  # members are below their family's head
    first = np.where(numbers > 0, near - families_of(near, draws).ordinal, -1)
    second = np.where(places.ordinal > 1, numbers - 1, earlier[1])
    third = earlier[2]
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


def _earlier_of_branch(label: str, numbers: Ints, draws: Draws) -> Ints:
    """Return an earlier concept of each concept's branch, or -1 if three draws find none."""
    branch, found = families_of(numbers, draws).branch, np.full_like(numbers, -1)
    for attempt in range(3):
        drawn = draws.choose(f"{label} {attempt}", numbers, np.maximum(numbers, 1))
        found = np.where(families_of(drawn, draws).branch == branch, drawn, found)
    return found


_SECOND, _FORMER = 1, 2  # slots


def association_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the associations of those concepts that are retired, with targets and fates."""
    retired = numbers[(numbers >= outline.n_active) & (numbers < outline.n_clinical)]
    parts = draw_components("substitute", retired, outline.draws)
    slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
    item, base = parts["item"].to_numpy(), outline.bases(concept)
    kind = outline.draws.weigh("kind", concept, CHANCES["associations"], vars(SCTID))
    has_two = (kind == SCTID.possibly_equivalent_to) & (base + 1 < outline.n_active)
    fate = fates("substitute", parts, outline)
    other = outline.draws.choose("other substitute", item, outline.n_active)
    target = np.select(
        [slot == _SECOND, slot == _FORMER], [base + 1, other], _substitutes(concept, kind, outline)
    )
    was = np.where(kind == SCTID.same_as, SCTID.replaced_by, SCTID.same_as)
    return parts.with_columns(
        kind=pl.Series(np.where(slot == _FORMER, was, kind)),
        target=pl.Series(target),
        other=pl.Series(other),
        fate=pl.Series(np.where(slot == _FORMER, Fate.RETIRED, fate)),
    ).filter((slot != _SECOND) | has_two)


def association_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated associations with RF2's columns."""
    item = rows["item"].to_numpy()
    is_model = pl.Series(outline.draws.chance("substitute in model", item))
    target = pl.when("changes_later").then("other").otherwise("target")
    return rows.with_columns(
        id=uuids(outline.draws, item),
        moduleId=pl.when(is_model).then(SCTID.model_component_module).otherwise("moduleId"),
        refsetId="kind",
        referencedComponentId=ids(rows["concept"], "concept"),
        targetComponentId=ids(rows.select(target).to_series(), "concept"),
    )


def _substitutes(concepts: Ints, kinds: Ints, outline: Outline) -> Ints:
    draws = outline.draws
    is_gone = draws.chance("replaced by namespace", concepts)
    is_namespace = (kinds == SCTID.moved_to) | ((kinds == SCTID.replaced_by) & is_gone)
    namespaces = np.array([outline.model_number(namespace) for namespace in NAMESPACES])
    namespace = namespaces[draws.choose("namespace", concepts, len(NAMESPACES))]
    return np.select(
        [is_namespace, outline.is_in_chain(concepts)],
        [namespace, concepts + 1],
        outline.bases(concepts),
    )


def uuids(draws: Draws, items: Ints) -> pl.Series:
    """Return random UUIDs (RFC 9562, version 4) made from item numbers."""
    halves = (draws.bits(f"uuid {half}", items).tolist() for half in (1, 2))
    pairs = zip(*halves, strict=True)
    return pl.Series(
        [str(UUID(int=high << 64 | low, version=4)) for high, low in pairs], dtype=pl.String
    )


Event = IntEnum(
    "Event", "NONE ADDED RETIRED REVIVED MOVED NAMED UNNAMED REWORDED RENAMED RELINKED", start=0
)
"""What happens to a concept, its names, parents or associations; ADDED is a concept below it."""

_N_SLOTS: dict[str, int] = {"description": 8, "relationship": 6, "association": 3}

_ACTIVE, _EVENT = pl.col("active"), pl.col("event")
_SLOT, _TERM = pl.col("slot"), pl.col("term")
_IS_FSN, _IS_PREFERRED, _IS_OTHER = (_SLOT.eq(slot) for slot in range(3))  # names
_IS_PARENT = _SLOT == 0
_IS_MOVED = (_EVENT == Event.MOVED) & _IS_PARENT & (pl.col("target") > 0)
_OTHER_KIND = (
    pl.when(pl.col("refsetId") == SCTID.same_as).then(SCTID.replaced_by).otherwise(SCTID.same_as)
)
_Rule: TypeAlias = tuple[pl.Expr, dict[str, pl.Expr]]  # which rows, and how they change


def _worded(before: str, after: str = "") -> pl.Expr:
    first, rest = _TERM.str.slice(0, 1).str.to_lowercase(), _TERM.str.slice(1)
    return pl.concat_str(pl.lit(before), first, rest, pl.lit(after))


def _retired(which: pl.Expr) -> _Rule:
    return _ACTIVE & which, {"active": pl.lit(value=False)}


def _revived(which: pl.Expr) -> _Rule:
    return ~_ACTIVE & which, {"active": pl.lit(value=True)}


def _copied(which: pl.Expr, **differing: pl.Expr) -> _Rule:
    return _ACTIVE & which, {"id": pl.col("new_id"), **differing}


_RULES: dict[str, list[_Rule]] = {
    "concept": [
        _retired(_EVENT == Event.RETIRED),
        _copied(_EVENT == Event.ADDED),
        _revived(_EVENT == Event.REVIVED),
    ],
    "description": [
        _retired(
            ((_EVENT == Event.RENAMED) & _IS_FSN)
            | (_EVENT.is_in([Event.UNNAMED, Event.REWORDED]) & _IS_OTHER)
        ),
        _copied(
            (_EVENT == Event.ADDED) & (_IS_FSN | _IS_PREFERRED),
            conceptId=pl.col("added_id"),
            term=_worded("Early "),
        ),
        _copied((_EVENT == Event.NAMED) & _IS_PREFERRED, term=_worded("Typical ", " in adults")),
        _copied(
            (_EVENT == Event.REWORDED) & _IS_OTHER, term=_TERM.str.replace("([aeiou])", "${1}h")
        ),
        _copied((_EVENT == Event.RENAMED) & _IS_FSN, term=_worded("Primary ")),
        _revived((_EVENT == Event.REVIVED) & _IS_FSN),
    ],
    "relationship": [
        _retired((_EVENT == Event.RETIRED) | pl.col("target_retired") | _IS_MOVED),
        _copied(
            (_EVENT == Event.ADDED) & _IS_PARENT,
            sourceId=pl.col("added_id"),
            destinationId=pl.col("concept_id"),
        ),
        _copied(_IS_MOVED, destinationId=pl.col("root_id")),
        _revived((_EVENT == Event.REVIVED) & _IS_PARENT),
    ],
    "association": [
        _retired(_EVENT.is_in([Event.REVIVED, Event.RELINKED])),
        _copied(_EVENT == Event.RELINKED, refsetId=_OTHER_KIND),
    ],
}
"""Which components become inactive, have a new copy, or become active again, by table."""


def events_of(concepts: Ints, outline: Outline) -> Ints:
    """Return the event of each concept, given the concepts' numbers."""
    weights, values = CHANCES["events"], Event.__members__
    drawn = outline.weigh_by_state("later", concepts, concepts, weights, values)
    is_head = families_of(concepts, outline.draws).ordinal == 0  # other families may be below it
    return np.where(is_head & (concepts < outline.n_active), Event.NONE, drawn)


def later_rows(table: str, newest: pl.DataFrame, outline: Outline, day: date) -> pl.DataFrame:
    """Return the rows that the later release adds, given the newest rows of some concepts.

    Rows have the columns of RF2 and of components.
    """
    n_earlier, concept, item = outline.n_clinical + len(Model), newest["concept"], newest["item"]
    targets = newest["target" if table == "relationship" else "concept"].to_numpy()
    items = item + n_earlier * _N_SLOTS.get(table, 1)
    rows = newest.with_columns(
        _ACTIVE.cast(pl.Boolean),
        event=pl.Series(events_of(concept.to_numpy(), outline)),
        target_retired=pl.Series(events_of(targets, outline) == Event.RETIRED),
        added_id=ids(concept + n_earlier, "concept"),
        concept_id=ids(concept, "concept"),
        root_id=ids(concept * 0, "concept"),
        new_id=uuids(outline.draws, items.to_numpy())
        if table == "association"
        else ids(items, cast("Component", table)),
    )
    added = pl.concat([rows.filter(which).with_columns(**how) for which, how in _RULES[table]])
    time = pl.lit(int(f"{day:%Y%m%d}"))
    return added.with_columns(_ACTIVE.cast(pl.Int64), effectiveTime=time)


_ORIGIN = {
    "origin": "synthetic",
    "redistributable": True,
    "terms": "Invented by medsim from a seed; holds no content of SNOMED CT and may be passed on.",
}
_CHUNK = 20_000  # concepts

# For each table, the first function makes the components of some concepts, as rows with ``item``
# number, ``concept`` and ``fate``; ``dated`` makes a row for each of their dates, and the second
# function gives these RF2's columns.
_MAKERS: dict[str, tuple[Make, Finish]] = {
    "concept": (concept_components, concept_rows),
    "description": (description_components, description_rows),
    "relationship": (relationship_components, relationship_rows),
    "association": (association_components, association_rows),
}


def write_synthetic(
    path: Path,
    *,
    concepts: int,
    seed: int,
    later: date | None = None,
    overwrite: bool = False,
) -> dict[ReleaseType, dict[str, int]]:
    """Write an invented RF2 release, Full and Snapshot in one zip.

    Returns the number of rows of each file, by type of release. The content depends only on the
    arguments. Memory does not grow with ``concepts``. With ``later``, it is the release of that
    date, which follows the release of ``RELEASE_DATE`` and adds rows to it.
    """
    draws = Draws(seed)
    outline = Outline(n_active=concepts, draws=draws, names=ConceptNames(draws))
    n_concepts = outline.n_clinical + len(Model)
    starts = range(0, n_concepts, _CHUNK)
    n_rows: dict[ReleaseType, dict[str, int]] = {"Full": {}, "Snapshot": {}}
    with release_writer(
        path, release_date=later or RELEASE_DATE, origin=_ORIGIN, overwrite=overwrite
    ) as writer:
        for release_type, table in product(n_rows, _MAKERS):
            parts = (np.arange(at, min(at + _CHUNK, n_concepts)) for at in starts)
            newest_only = release_type == "Snapshot"
            frames = (
                _rows(table, numbers, outline, later, newest_only=newest_only) for numbers in parts
            )
            n_rows[release_type][table] = writer.write(table, release_type, frames)
    return n_rows


def _rows(
    table: str, numbers: Ints, outline: Outline, later: date | None, *, newest_only: bool
) -> pl.DataFrame:
    """Return the rows of some concepts in one file."""
    make, finish = _MAKERS[table]
    made = make(numbers, outline).with_columns(moduleId=pl.lit(outline.model_id(Model.MODULE)))
    rows = finish(dated(table, made, outline, newest_only=newest_only), outline)
    if later is None:
        return rows
    newest = rows if newest_only else finish(dated(table, made, outline, newest_only=True), outline)
    added = later_rows(table, newest, outline, later)
    kept = rows.join(added, on="id", how="anti", maintain_order="left") if newest_only else rows
    return pl.concat(
        [part.select(COLUMNS[table]) for part in (kept, added)], how="vertical_relaxed"
    )
