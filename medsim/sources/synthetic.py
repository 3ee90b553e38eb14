"""Invents RF2 releases of any size, with full history, to test and measure without a licence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.errors import OptionError
from medsim.sources.rf2_writer import ReleaseOrigin, ReleaseWriter
from medsim.sources.sctid import sctids
from medsim.sources.synthetic_terms import Draws, Names, Wording
from medsim.sources.synthetic_words import BRANCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from medsim.sources.rf2_writer import ReleaseType, Table
    from medsim.sources.sctid import Component

    Ints = NDArray[np.int64]
    Weights = Mapping[int, int]

DEFAULT_DATE = date(2026, 1, 1)
MOST_CONCEPTS = 9_000_000
"""The most active concepts; more would need longer identifiers than RF2 allows."""

_ORIGIN = ReleaseOrigin(
    kind="synthetic",
    redistributable=True,
    terms="Invented by medsim from a seed; holds no content of SNOMED CT and may be passed on.",
)
_CHUNK = 20_000  # concepts
_ACTIVE_PER_RETIRED = 4
_EARLIEST_YEAR = 1950
_LONGEST_TERM = 255
_LONGEST_DEFINITION = 4096

_MODEL_MODULE = 900000000000012004
_FSN, _SYNONYM, _TEXT_DEFINITION = 900000000000003001, 900000000000013009, 900000000000550004
_IS_A = 116680003
_PRIMITIVE, _DEFINED = 900000000000074008, 900000000000073002
_CASE_RULES = (900000000000448009, 900000000000017005, 900000000000020002)
_INFERRED, _STATED = 900000000000011006, 900000000000010007
_SOME_MODIFIER = 900000000000451002
_SAME_AS, _REPLACED_BY = 900000000000527005, 900000000000526001
_POSSIBLY_EQUIVALENT_TO, _MOVED_TO = 900000000000523009, 900000000000524003

_MODEL_FSNS = (
    "Invented model component (metadata)",
    "Invented edition module (core metadata concept)",
    "Invented seat (attribute)",
    "Invented cause (attribute)",
    "Invented namespace 1000997 (namespace concept)",
    "Invented namespace 1000998 (namespace concept)",
)
_MODEL_ROOT, _MODULE, _SEAT, _CAUSE, _NAMESPACE, _N_NAMESPACES = 0, 1, 2, 3, 4, 2


class Fate(IntEnum):
    """What happens to a component between its first row and the release."""

    KEPT = 0
    CHANGED = auto()
    RETIRED = auto()
    CHANGED_THEN_RETIRED = auto()
    REVIVED = auto()
    LATE = auto()


# A component has rows at up to three times: a line for each fate, a column for each time.
_HAS_ROW = np.array(
    [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 1, 0]], dtype=np.bool_
)
_IS_ACTIVE = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]])
_CHANGING = (Fate.CHANGED, Fate.CHANGED_THEN_RETIRED)

_CONCEPT_FATES: Weights = {Fate.KEPT: 78, Fate.CHANGED: 19, Fate.REVIVED: 3}
_RETIRED_CONCEPT_FATES: Weights = {Fate.RETIRED: 85, Fate.CHANGED_THEN_RETIRED: 15}
_FSN_FATES: Weights = {Fate.KEPT: 84, Fate.LATE: 8, Fate.CHANGED: 7, Fate.REVIVED: 1}
_RETIRED_FSN_FATES: Weights = {Fate.KEPT: 84, Fate.LATE: 8, Fate.CHANGED: 6, Fate.RETIRED: 2}
_FIRST_PARENT_FATES: Weights = {Fate.KEPT: 89, Fate.CHANGED: 10, Fate.REVIVED: 1}
_OTHER_FATES: Weights = {
    Fate.KEPT: 80,
    Fate.CHANGED: 9,
    Fate.RETIRED: 7,
    Fate.CHANGED_THEN_RETIRED: 2,
    Fate.REVIVED: 2,
}
_END: Weights = {Fate.RETIRED: 1}

# Six periods of seven half-yearly releases; associations come after what they replace retires.
_N_PERIODS, _PER_PERIOD, _DAYS_PER_RELEASE = 6, 7, 182
_PERIODS: dict[Table, tuple[int, int, int]] = {
    "concept": (0, 1, 2),
    "description": (0, 1, 5),
    "text_definition": (0, 1, 5),
    "relationship": (0, 1, 2),
    "association": (3, 4, 5),
}

# The descriptions of a concept, by slot: FSN, preferred term, three more synonyms, the FSN that a
# later one replaced, a name in Spanish, a text definition.
_FSN_SLOT, _PREFERRED, _OLD_FSN, _SPANISH, _DEFINITION = 0, 1, 5, 6, 7
_NAME_SHARES = np.array([1, 1, 0.42, 0.26, 0.17, 1, 0.015, 0.04])
_PLAIN_PREFERRED, _SPANISH_FSNS, _DEFINITIONS_AMONG_NAMES, _REWORDED = 0.7, 0.2, 0.1, 0.7
_ACRONYMS = 0.03
_SYNONYM_WORDINGS = np.array(
    [
        Wording.REVERSED,
        Wording.RESPELLED,
        Wording.COMBINED,
        Wording.PLURAL,
        Wording.INVERTED,
        Wording.SHORTENED,
        Wording.REPHRASED,
        Wording.INITIALED,
        Wording.UPPER,
        Wording.EPONYM,
        Wording.TITLE,
    ]
)
_RETIRED_WORDINGS: Weights = {
    Wording.RESPELLED: 20,
    Wording.PLURAL: 15,
    Wording.UNSPECIFIED: 10,
    Wording.REVERSED: 16,
    Wording.INVERTED: 12,
    Wording.REPHRASED: 12,
    Wording.COMBINED: 6,
    Wording.D_FIRST: 3,
    Wording.D_LAST: 3,
    Wording.OR_IN_BRACKETS: 1,
    Wording.AND_IN_BRACKETS: 1,
    Wording.TITLE: 1,
}
_UNTAGGED = (Wording.OR_IN_BRACKETS, Wording.AND_IN_BRACKETS)

# The relationships of a concept, by slot: three parents, two attributes, a parent it once had.
_LINK_SHARES = np.array([1, 0.25, 0.06, 0.5, 0.35, 0.1])
_FIRST_ATTRIBUTE, _FORMER_PARENT = 3, 5

# The associations of a retired concept, by slot: main, second substitute, one it once had.
_SUBSTITUTE_SHARES = np.array([0.97, 0.7, 0.08])
_SECOND, _FORMER = 1, 2
_KINDS: Weights = {_SAME_AS: 40, _REPLACED_BY: 30, _POSSIBLY_EQUIVALENT_TO: 27, _MOVED_TO: 3}
_SUBSTITUTES_RETIRED, _REPLACED_BY_NAMESPACE, _IN_MODEL_MODULE = 0.04, 0.005, 0.015


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """How many rows each file of a release has."""

    concept: int
    description: int
    text_definition: int
    relationship: int
    association: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticSummary:
    """What an invented release holds.

    Attributes:
        active_concepts: active clinical concepts.
        retired_concepts: inactive clinical concepts.
        model_concepts: concepts of the model component module.
        full: rows of the full history.
        snapshot: rows of the newest state.
    """

    active_concepts: int
    retired_concepts: int
    model_concepts: int
    full: RowCounts
    snapshot: RowCounts


def write_synthetic(
    path: Path, *, concepts: int, seed: int, release_date: date = DEFAULT_DATE
) -> SyntheticSummary:
    """Write an invented RF2 release, Full and Snapshot in one zip, and return what it holds.

    The content depends on the arguments alone. Memory does not grow with ``concepts``.

    Args:
        path: the zip to write; an earlier file is replaced.
        concepts: how many active clinical concepts; a quarter as many retired ones come besides.
        seed: of every random choice.
        release_date: the date of the release; its history goes back 21 years.

    Raises:
        OptionError: ``concepts`` or ``release_date`` is out of range.
        OutputError: the zip cannot be written.
    """
    if not 1 <= concepts <= MOST_CONCEPTS:
        raise OptionError(f"a release has 1 to {MOST_CONCEPTS} concepts; asked for {concepts}")
    if release_date.year < _EARLIEST_YEAR:
        raise OptionError(f"a release is of {_EARLIEST_YEAR} or later; asked for {release_date}")
    content = _Content(concepts, seed, release_date)
    with ReleaseWriter(path, release_date=release_date, origin=_ORIGIN) as writer:
        full = _write_tables(writer, content, "Full")
        snapshot = _write_tables(writer, content, "Snapshot")
    return SyntheticSummary(
        active_concepts=concepts,
        retired_concepts=content.n_clinical - concepts,
        model_concepts=len(_MODEL_FSNS),
        full=full,
        snapshot=snapshot,
    )


def _write_tables(writer: ReleaseWriter, content: _Content, release_type: ReleaseType) -> RowCounts:
    def rows(table: Table) -> int:
        frames = content.frames(table, newest_only=release_type == "Snapshot")
        return writer.write(table, release_type, frames)

    return RowCounts(
        concept=rows("concept"),
        description=rows("description"),
        text_definition=rows("text_definition"),
        relationship=rows("relationship"),
        association=rows("association"),
    )


class _Content:
    """The rows of an invented release, made for a stretch of its concepts at a time.

    Concepts have numbers: the active clinical ones come first, then the retired ones, then the
    model's. For each table one method makes the components of some concepts: a row each, with an
    ``item`` number, the ``concept`` and the ``fate``. ``_history`` makes a row per time of these,
    and a second method of the table gives them RF2's columns.
    """

    def __init__(self, n_active: int, seed: int, release_date: date) -> None:
        self._n_active = n_active
        self.n_clinical = n_active + -(-n_active // _ACTIVE_PER_RETIRED)
        self._draws = Draws(seed)
        self._names = Names(self._draws)
        ages = reversed(range(_N_PERIODS * _PER_PERIOD))
        days = (release_date - timedelta(days=_DAYS_PER_RELEASE * age) for age in ages)
        self._releases = np.array([int(f"{day:%Y%m%d}") for day in days])
        model = self.n_clinical + np.arange(len(_MODEL_FSNS))
        self._model_ids = sctids(model + 1, "concept").tolist()

    def frames(self, table: Table, *, newest_only: bool) -> Iterator[pl.DataFrame]:
        """Return the rows of a file, some at a time, with the full history or the newest only."""
        makers: dict[Table, tuple[Callable[..., pl.DataFrame], ...]] = {
            "concept": (self._concepts, self._concept_rows),
            "description": (self._descriptions, self._description_rows),
            "text_definition": (self._text_definitions, self._description_rows),
            "relationship": (self._relationships, self._relationship_rows),
            "association": (self._associations, self._association_rows),
        }
        make, finish = makers[table]
        n_concepts = self.n_clinical + len(_MODEL_FSNS)
        for start in range(0, n_concepts, _CHUNK):
            components = make(np.arange(start, min(start + _CHUNK, n_concepts)))
            yield finish(self._history(table, components, newest_only=newest_only))

    def _history(
        self, table: Table, components: pl.DataFrame, *, newest_only: bool
    ) -> pl.DataFrame:
        """Return a row for each component and time, ordered by both.

        All that happens to a concept's components in one period happens in one release.
        """
        fate = components["fate"].to_numpy()
        has_row = _HAS_ROW[fate]
        if newest_only:
            newest = 2 - np.argmax(has_row[:, ::-1], axis=1)
            has_row = newest[:, None] == np.arange(3)
        component, event = np.nonzero(has_row)
        period = np.array(_PERIODS[table])[event]
        moment = components["concept"].to_numpy()[component] * _N_PERIODS + period
        release = period * _PER_PERIOD + self._draws.choose("release", moment, _PER_PERIOD)
        return components[component].with_columns(
            effectiveTime=pl.Series(self._releases[release]),
            active=pl.Series(_IS_ACTIVE[fate[component], event]),
            changes_later=pl.Series(np.isin(fate[component], _CHANGING) & (event == 0)),
        )

    def _fates(self, label: str, parts: pl.DataFrame, active: Weights, retired: Weights) -> Ints:
        """Return the fate of each component, by whether its concept is active or retired."""
        item, concept = parts["item"].to_numpy(), parts["concept"].to_numpy()
        return np.select(
            [concept < self._n_active, concept < self.n_clinical],
            [self._draws.weigh(label, item, active), self._draws.weigh(label, item, retired)],
            Fate.KEPT,
        )

    def _slotted(self, label: str, numbers: Ints, shares: NDArray[np.float64]) -> pl.DataFrame:
        """Return components of concepts: in each slot one, in that share of the concepts."""
        n_slots = len(shares)
        concept, slot = np.repeat(numbers, n_slots), np.tile(np.arange(n_slots), len(numbers))
        item = concept * n_slots + slot
        exists = self._draws.chance(label, item, shares[slot])
        return pl.DataFrame({"item": item, "concept": concept, "slot": slot}).filter(exists)

    def _bases(self, numbers: Ints) -> Ints:
        """Return the active concept whose name each name is a wording of; mostly the concept."""
        retired = numbers + self._is_in_chain(numbers)
        base = self._draws.choose("base", retired, self._n_active)
        return np.where(numbers < self._n_active, numbers, base)

    def _is_in_chain(self, numbers: Ints) -> NDArray[np.bool_]:
        """Return whether a concept's substitute is the next concept, which is retired too."""
        may_be: NDArray[np.bool_]
        may_be = (numbers >= self._n_active) & (numbers + 1 < self.n_clinical) & (numbers % 2 == 0)
        return may_be & self._draws.chance("chain", numbers, _SUBSTITUTES_RETIRED)

    def _concepts(self, numbers: Ints) -> pl.DataFrame:
        parts = pl.DataFrame({"item": numbers, "concept": numbers})
        fate = self._fates("concept", parts, _CONCEPT_FATES, _RETIRED_CONCEPT_FATES)
        # The model's concepts were in the clinical module once.
        fate = np.where(numbers >= self.n_clinical, Fate.CHANGED, fate)
        return parts.with_columns(fate=pl.Series(fate))

    def _concept_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        is_defined = self._draws.chance("defined", rows["concept"].to_numpy(), 0.3)
        is_model = (pl.col("concept") >= self.n_clinical) & ~pl.col("changes_later")
        return rows.with_columns(
            id=_ids(rows["concept"], "concept"),
            moduleId=pl.when(is_model).then(_MODEL_MODULE).otherwise(self._model_ids[_MODULE]),
            definitionStatusId=pl.when(pl.Series(is_defined) ^ pl.col("changes_later"))
            .then(_DEFINED)
            .otherwise(_PRIMITIVE),
        )

    def _descriptions(self, numbers: Ints) -> pl.DataFrame:
        return self._named(numbers).filter(~pl.col("is_apart"))

    def _text_definitions(self, numbers: Ints) -> pl.DataFrame:
        return self._named(numbers).filter("is_apart")

    def _named(self, numbers: Ints) -> pl.DataFrame:
        """Return the descriptions and text definitions of concepts."""
        concepts = pl.DataFrame({"item": numbers, "concept": numbers})
        fsn_fates = self._fates("fsn", concepts, _FSN_FATES, _RETIRED_FSN_FATES)
        parts = self._slotted("name", numbers, _NAME_SHARES)
        slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
        fsn_fate = fsn_fates[concept - numbers[0]]
        other = self._fates("name", parts, _OTHER_FATES, _OTHER_FATES)
        fate = np.select([slot == _FSN_SLOT, slot == _OLD_FSN], [fsn_fate, Fate.RETIRED], other)
        among = self._draws.chance("among", concept, _DEFINITIONS_AMONG_NAMES)
        exists = (slot != _OLD_FSN) | (fsn_fate == Fate.LATE)
        exists &= (concept < self.n_clinical) | (slot <= _PREFERRED)
        return parts.with_columns(
            fate=pl.Series(fate), is_apart=pl.Series((slot == _DEFINITION) & ~among)
        ).filter(exists)

    def _description_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        item = rows["item"].to_numpy()
        is_spanish = pl.col("slot") == _SPANISH
        is_fsn = pl.col("slot").is_in([_FSN_SLOT, _OLD_FSN]) | (
            is_spanish & pl.Series(self._draws.chance("fsn in Spanish", item, _SPANISH_FSNS))
        )
        typed = rows.with_columns(
            typeId=pl.when(is_fsn)
            .then(_FSN)
            .when(pl.col("slot") == _DEFINITION)
            .then(_TEXT_DEFINITION)
            .otherwise(_SYNONYM)
        )
        case_rule = self._draws.choose("case", item * 2 + rows["changes_later"].to_numpy(), 3)
        return typed.with_columns(
            id=_ids(rows["item"], "description"),
            moduleId=pl.lit(self._model_ids[_MODULE]),
            conceptId=_ids(rows["concept"], "concept"),
            languageCode=pl.when(is_spanish).then(pl.lit("es")).otherwise(pl.lit("en")),
            term=self._terms(typed),
            caseSignificanceId=pl.Series(_CASE_RULES).gather(case_rule),
        )

    def _terms(self, rows: pl.DataFrame) -> pl.Series:
        """Return the term of each description, an FSN's with its semantic tag."""
        wording = self._wordings(rows)
        concepts, place = np.unique(rows["concept"].to_numpy(), return_inverse=True)
        bases = self._bases(concepts)
        texts = self._names.wordings(bases).gather(wording * len(concepts) + place)
        branch = self._names.places(bases).branch[place]
        tag = np.where(rows["slot"] == _SPANISH, branch + len(BRANCHES), branch) + 1
        is_tagged = (rows["typeId"] == _FSN).to_numpy() & ~np.isin(wording, _UNTAGGED)
        model = np.maximum(rows["concept"].to_numpy() - self.n_clinical, 0)
        room = pl.when(pl.col("typeId") == _TEXT_DEFINITION).then(_LONGEST_DEFINITION)
        cut = pl.col("text").str.slice(
            0, room.otherwise(_LONGEST_TERM) - pl.col("tag").str.len_chars()
        )
        return (
            rows.with_columns(
                text=texts,
                tag=_tags().gather(np.where(is_tagged, tag, 0)),
                model=_model_texts().gather(2 * model + (rows["slot"] == _PREFERRED).to_numpy()),
            )
            .select(
                pl.when(pl.col("concept") >= self.n_clinical)
                .then("model")
                .otherwise(cut.str.strip_chars_end() + pl.col("tag"))
            )
            .to_series()
        )

    def _wordings(self, rows: pl.DataFrame) -> Ints:
        """Return how each description is worded."""
        draws, slot = self._draws, rows["slot"].to_numpy()
        item, concept = rows["item"].to_numpy(), rows["concept"].to_numpy()
        retired = draws.weigh("retired wording", concept, _RETIRED_WORDINGS)
        fsn = np.where(concept < self._n_active, Wording.PLAIN, retired)
        turn = draws.choose("wording", concept, len(_SYNONYM_WORDINGS)) + slot
        synonym = _SYNONYM_WORDINGS[turn % len(_SYNONYM_WORDINGS)]
        synonym = np.where(draws.chance("acronym", item, _ACRONYMS), Wording.ACRONYM, synonym)
        like_fsn = (slot == _PREFERRED) & draws.chance("plain", concept, _PLAIN_PREFERRED)
        wording = np.select(
            [(slot == _FSN_SLOT) | like_fsn, slot == _SPANISH, slot == _DEFINITION],
            [fsn, Wording.SPANISH, Wording.DEFINITION],
            synonym,
        )
        is_old = rows["changes_later"].to_numpy() & draws.chance("reworded", item, _REWORDED)
        is_old = (is_old & (slot < _OLD_FSN)) | (slot == _OLD_FSN)
        return np.where(is_old, Wording.UNSPECIFIED, wording)

    def _relationships(self, numbers: Ints) -> pl.DataFrame:
        parts = self._slotted("link", numbers, _LINK_SHARES)
        slot, place = parts["slot"].to_numpy(), parts["concept"].to_numpy() - numbers[0]
        target = np.stack(self._link_targets(numbers), axis=1)[place, slot]
        fate = np.select(
            [slot == 0, slot == _FORMER_PARENT],
            [self._fates("parent", parts, _FIRST_PARENT_FATES, _END), Fate.RETIRED],
            self._fates("link", parts, _OTHER_FATES, _END),
        )
        return parts.with_columns(target=pl.Series(target), fate=pl.Series(fate)).filter(
            pl.col("target") >= 0
        )

    def _link_targets(self, numbers: Ints) -> list[Ints]:
        """Return what concepts are linked to, int64[n] for each slot; -1 is nothing.

        A parent has a smaller number than its child or is a model concept, so no is-a path returns
        to its start, and all paths of active concepts end at concept 0.
        """
        draws, ordinal = self._draws, self._names.places(numbers).ordinal
        is_active, is_retired = numbers < self._n_active, numbers >= self._n_active
        before = np.maximum(numbers, 1)
        first = self._first_parents(numbers)
        second = np.where(ordinal > 1, numbers - 1, draws.choose("second", numbers, before))
        third = draws.choose("third", numbers, before)
        former = draws.choose("former", numbers, before)
        has_others = is_active & (numbers > 0)
        attributes = [draws.choose(f"attribute {i}", numbers, self._n_active) for i in range(2)]
        is_model = numbers >= self.n_clinical
        first = np.where(is_retired, self._bases(numbers), first)
        model_parent = np.where(numbers > self.n_clinical, self.n_clinical + _MODEL_ROOT, -1)
        return [
            np.where(is_model, model_parent, first),
            np.where(has_others & (second != first), second, -1),
            np.where(has_others & (third != first) & (third != second), third, -1),
            *(np.where(is_model, -1, target) for target in attributes),
            np.where(has_others, former, -1),
        ]

    def _first_parents(self, numbers: Ints) -> Ints:
        """Return the head of each concept's family; for a head, one before it, or -1 for none."""
        places = self._names.places(numbers)
        parents = np.zeros_like(numbers)
        for attempt in range(3):
            found = self._draws.choose(f"parent {attempt}", numbers, np.maximum(numbers, 1))
            other = self._names.places(found)
            parents = np.where(other.branch == places.branch, found - other.ordinal, parents)
        parents = np.where(places.ordinal > 0, numbers - places.ordinal, parents)
        return np.where(numbers > 0, parents, -1)

    def _relationship_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        attribute = pl.col("slot") - _FIRST_ATTRIBUTE
        is_attribute = attribute.is_in([0, 1])
        seat, cause = self._model_ids[_SEAT], self._model_ids[_CAUSE]
        return rows.with_columns(
            id=_ids(rows["item"], "relationship"),
            moduleId=pl.lit(self._model_ids[_MODULE]),
            sourceId=_ids(rows["concept"], "concept"),
            destinationId=_ids(rows["target"], "concept"),
            relationshipGroup=pl.when(is_attribute)
            .then(attribute + 1 + pl.col("changes_later"))
            .otherwise(0),
            typeId=pl.when(attribute == 0)
            .then(seat)
            .when(attribute == 1)
            .then(cause)
            .otherwise(_IS_A),
            characteristicTypeId=pl.when(~is_attribute & pl.col("changes_later"))
            .then(_STATED)
            .otherwise(_INFERRED),
            modifierId=pl.lit(_SOME_MODIFIER),
        )

    def _associations(self, numbers: Ints) -> pl.DataFrame:
        retired = numbers[(numbers >= self._n_active) & (numbers < self.n_clinical)]
        parts = self._slotted("substitute", retired, _SUBSTITUTE_SHARES)
        slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
        item, base = parts["item"].to_numpy(), self._bases(concept)
        kind = self._draws.weigh("kind", concept, _KINDS)
        has_two = (kind == _POSSIBLY_EQUIVALENT_TO) & (base + 1 < self._n_active)
        fate = self._fates("substitute", parts, _OTHER_FATES, _OTHER_FATES)
        other = self._draws.choose("other substitute", item, self._n_active)
        target = np.select(
            [slot == _SECOND, slot == _FORMER], [base + 1, other], self._substitutes(concept, kind)
        )
        was = np.where(kind == _SAME_AS, _REPLACED_BY, _SAME_AS)
        return parts.with_columns(
            kind=pl.Series(np.where(slot == _FORMER, was, kind)),
            target=pl.Series(target),
            other=pl.Series(other),
            fate=pl.Series(np.where(slot == _FORMER, Fate.RETIRED, fate)),
        ).filter((slot != _SECOND) | has_two)

    def _substitutes(self, concepts: Ints, kinds: Ints) -> Ints:
        """Return what takes the place of retired concepts."""
        draws = self._draws
        is_gone = draws.chance("replaced by namespace", concepts, _REPLACED_BY_NAMESPACE)
        is_namespace = (kinds == _MOVED_TO) | ((kinds == _REPLACED_BY) & is_gone)
        namespaces = (
            self.n_clinical + _NAMESPACE + draws.choose("namespace", concepts, _N_NAMESPACES)
        )
        return np.select(
            [is_namespace, self._is_in_chain(concepts)],
            [namespaces, concepts + 1],
            self._bases(concepts),
        )

    def _association_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        item = rows["item"].to_numpy()
        is_model = self._draws.chance("substitute in model", item, _IN_MODEL_MODULE)
        target = pl.when("changes_later").then("other").otherwise("target")
        return rows.with_columns(
            id=_uuids(self._draws, item),
            moduleId=pl.when(pl.Series(is_model))
            .then(_MODEL_MODULE)
            .otherwise(self._model_ids[_MODULE]),
            refsetId="kind",
            referencedComponentId=_ids(rows["concept"], "concept"),
            targetComponentId=_ids(rows.select(target).to_series(), "concept"),
        )


def _ids(numbers: pl.Series, component: Component) -> pl.Series:
    return pl.Series(sctids(numbers.to_numpy() + 1, component))


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


def _tags() -> pl.Series:
    """Return no tag, then the tag of each branch in English, then those in Spanish."""
    tags = [one.tag for one in BRANCHES] + [one.tag_es for one in BRANCHES]
    return pl.Series(["", *(f" ({tag})" for tag in tags)])


def _model_texts() -> pl.Series:
    """Return the FSN and the preferred term of each concept of the model."""
    return pl.Series([text for fsn in _MODEL_FSNS for text in (fsn, fsn.rpartition(" (")[0])])
