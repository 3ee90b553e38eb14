"""The rows of ontologies: terms with names, synonyms of four scopes, and references."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from datetime import date

import polars as pl

from medsim.core.identifiers import vocabulary_of
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.core.store import Store
from medsim.terminologies.sources import day_of

LANGUAGE = "en"
"""The language of names that do not state one; OBO files cannot."""

NO_LICENCE = "the file names no licence"

LICENCE_PROPERTY = re.compile(r"(^|[:/])license$", re.IGNORECASE)
"""The names of properties whose value is an ontology's licence."""

_REASONS = ("term has a second name", "description is empty", "synonym has another scope")
_NO_BOOLEAN = "owl:deprecated is not a boolean; the term is retired"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BATCH_ROWS = 100_000
_NAMES = CANONICAL_TABLES["description"].dtypes


@dataclass(slots=True)
class OntologyRows:
    """The rows of the canonical tables read so far, and counts of skipped rows.

    Attributes:
        scopes: the scopes of the synonyms that count, in lower case.
        reasons: the reasons for skipped rows that are counted even if there are none.
        active: whether each concept is in use.
        association: rows of (source_id, target_id, kind, active), each once.
        is_a: rows of (child_id, parent_id), each once.
    """

    scopes: frozenset[str]
    reasons: InitVar[Iterable[str]] = _REASONS
    active: dict[str, bool] = field(default_factory=dict)
    association: dict[tuple[str, str, str, bool], None] = field(default_factory=dict)
    is_a: dict[tuple[str, str], None] = field(default_factory=dict)
    _tag: dict[str, str] = field(default_factory=dict)
    _n_names: Counter[str] = field(default_factory=Counter)
    _named: set[tuple[str, str]] = field(default_factory=set)
    _names: list[tuple[str, str, str, str, bool, str]] = field(default_factory=list)
    _packed: list[pl.DataFrame] = field(default_factory=list)
    _code: dict[tuple[str, str, str], None] = field(default_factory=dict)
    _skipped: Counter[str] = field(default_factory=Counter)
    _first: dict[str, str] = field(default_factory=dict)

    def __post_init__(self, reasons: Iterable[str]) -> None:
        self._skipped.update(dict.fromkeys(reasons, 0))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The skipped rows by reason."""
        return tuple(
            Skipped(reason=why + self._first.get(why, ""), n_rows=n)
            for why, n in self._skipped.items()
        )

    def skip(self, reason: str, first: str = "", n_rows: int = 1) -> None:
        """Count skipped rows, and record where each reason first occurs."""
        self._skipped[reason] += n_rows
        self._first.setdefault(reason, first)

    def is_deprecated(self, concept_id: str, values: Iterable[str]) -> bool:
        """Return whether a value of owl:deprecated retires a term; all texts but "false" do."""
        marks = {value.strip().lower() for value in values} - {"false", "0", "no", ""}
        if marks - {"true", "1"}:
            self.skip(_NO_BOOLEAN, f", first {concept_id}: {min(marks):.60}")
        return bool(marks)

    def add_term(self, concept_id: str, *, obsolete: bool, tag: str = "") -> None:
        """Add a term; a repeated term is active unless one of its entries is obsolete."""
        self.active[concept_id] = self.active.get(concept_id, True) and not obsolete
        if tag:
            self._tag[concept_id] = tag

    def add_name(self, concept_id: str, name: str, language: str = LANGUAGE) -> None:
        """Add a term's name as its fully specified name; only a language's first name counts."""
        if (concept_id, language) in self._named:
            self.skip("term has a second name")
        else:
            self._named.add((concept_id, language))
            self._add_description(concept_id, name, "fsn", language)

    def add_synonym(self, concept_id: str, text: str, scope: str, language: str = LANGUAGE) -> None:
        """Add a synonym if its scope, in lower case, counts."""
        if scope in self.scopes:
            self._add_description(concept_id, text, "synonym", language)
        else:
            self.skip("synonym has another scope")

    def _add_description(self, concept_id: str, text: str, kind: str, language: str) -> None:
        if term := text.strip():
            self._n_names[concept_id] += 1
            own_id = f"{concept_id}/{self._n_names[concept_id]}"
            self.add_description(own_id, concept_id, term, kind, language)
        else:
            self.skip("description is empty")

    def add_description(
        self, description_id: str, concept_id: str, term: str, kind: str, language: str
    ) -> None:
        """Add a name with its identifier; names are packed, as tuples take far more memory."""
        self._names.append((description_id, concept_id, term, kind, True, language))
        if len(self._names) == _BATCH_ROWS:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(pl.DataFrame(self._names, _NAMES, orient="row"))
        self._names.clear()

    def add_code(self, concept_id: str, prefix: str, local: str) -> None:
        """Add the code of a cross-reference, unless it is a web page."""
        if prefix and local and not local.startswith("//"):
            self._code[concept_id, vocabulary_of(prefix), local] = None

    def fill(self, store: Store) -> None:
        """Put the canonical tables into a store."""
        rows: dict[str, Iterable[tuple[object, ...]]] = {
            "concept": (
                (key, active, "", self._tag.get(key, "")) for key, active in self.active.items()
            ),
            "association": self.association,
            "is_a": self.is_a,
            "code": self._code,
        }
        for table, of_table in rows.items():
            dtypes = CANONICAL_TABLES[table].dtypes
            frame = pl.DataFrame(list(of_table), dtypes, orient="row")
            store.put(table, frame.sort(*dtypes))
        self._pack()
        store.put("description", pl.concat(self._packed).sort(*_NAMES))


def day_in(version: str) -> date | None:
    """Return the date in the text of a version; None if it has no valid date."""
    match = _DAY.search(version)
    return day_of(match[0] if match else "", "%Y-%m-%d")
