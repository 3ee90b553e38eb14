"""SQL checks: they find nothing in a sound build, and the row of each violation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.stores import empty_store
from fixtures.tables import COLUMNS, put, put_datasets

from medsim.builds.datasets import _COLUMNS, _NUMBERED
from medsim.core import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.core.store import Store

Row = tuple[object, ...]

FAR, NEAR = 9, 1
EASY = {"fsn_syn", "syn_syn"}


def set_of(
    dataset: str, *pairs: tuple[str, str, str, int, str, str], strategy: str = "random"
) -> dict[str, Row]:
    """Return the rows of one set by pair_id: (pair_id, term1, term2, label, concepts)."""
    difficulty = "easy" if dataset in EASY else "hard"
    distance = NEAR if dataset in EASY else FAR
    languages = (0, 1) if dataset == "cross_language" else (None, None)
    return {
        name: (
            *(dataset, difficulty, strategy, name, term1, term2, label),
            *(distance if label else FAR, concept1, concept2, *languages),
        )
        for name, term1, term2, label, concept1, concept2 in pairs
    }


@dataclass(frozen=True, kw_only=True)
class Build:
    """The tables that checks read: two families of terms, with three retired concepts each.

    Attributes:
        pairs: rows of pairs by pair_id.
        concepts: rows of the table concept.
        descriptions: rows of the table description by term.
        pool: terms of the pool that all sets of one language share.
        translations: terms of the pool of the second language.
        associations: rows of the table association.
        parents: rows of the table is_a.
    """

    pairs: dict[str, Row] = field(
        default_factory=lambda: {
            **set_of(
                "fsn_syn",
                ("f1", "Birch ache", "Birch aches", 1, "10", "10"),
                ("f2", "Cedar cough", "Cedar coughs", 1, "20", "20"),
                ("f3", "Birch ache", "Cedar coughs", 0, "10", "20"),
                ("f4", "Cedar cough", "Birch aches", 0, "20", "10"),
            ),
            # syn_syn may repeat the negatives of fsn_syn.
            **set_of(
                "syn_syn",
                ("s1", "Birch ache", "Birch aches", 1, "10", "10"),
                ("s2", "Cedar cough", "Cedar coughs", 1, "20", "20"),
                ("s3", "Birch ache", "Cedar coughs", 0, "10", "20"),
                ("s4", "Cedar cough", "Birch aches", 0, "20", "10"),
            ),
            **_substitutions("same_as", "a", "Old", ("31", "32")),
            **_substitutions("replaced_by", "r", "Past", ("41", "42")),
            # Strategies do not depend on each other.
            **_substitutions("replaced_by", "l", "Past", ("41", "42"), strategy="levenshtein"),
            **_substitutions("possibly_equivalent_to", "p", "Worn", ("51", "52")),
            **set_of(
                "cross_language",
                ("c1", "Birch ache", "Dolor abedul", 1, "10", "10"),
                ("c2", "Cedar cough", "Tos cedro", 1, "20", "20"),
                ("c3", "Birch ache", "Tos cedro", 0, "10", "20"),
                ("c4", "Cedar cough", "Dolor abedul", 0, "20", "10"),
            ),
            **set_of(
                "parent_child",
                ("k1", "Fir itch", "Birch ache", 1, "60", "10"),
                ("k2", "Yew itch", "Cedar cough", 1, "70", "20"),
                ("k3", "Fir itch", "Cedar cough", 0, "60", "20"),
                ("k4", "Yew itch", "Birch ache", 0, "70", "10"),
            ),
        }
    )
    concepts: tuple[Row, ...] = (
        ("10", True, "core", "finding"),
        *((concept, True, "core", "finding") for concept in ("20", "60", "70")),
        *((concept, False, "core", "finding") for concept in ("31", "32", "41", "42", "51", "52")),
    )
    descriptions: dict[str, Row] = field(
        default_factory=lambda: {
            term: (f"d {term}", concept, term, kind, True, *(language or ["en"]))
            for term, concept, kind, *language in [
                ("Dolor abedul", "10", "fsn", "es"),
                ("Tos cedro", "20", "synonym", "es"),
                ("Birch ache", "10", "fsn"),
                ("Birch aches", "10", "synonym"),
                ("Cedar cough", "20", "fsn"),
                ("Cedar coughs", "20", "synonym"),
                *(("Old pain", "31", "fsn"), ("Old chill", "32", "fsn")),
                *(("Past pain", "41", "fsn"), ("Past chill", "42", "fsn")),
                *(("Worn pain", "51", "fsn"), ("Worn chill", "52", "fsn")),
                *(("Fir itch", "60", "fsn"), ("Yew itch", "70", "fsn")),
            ]
        }
    )
    pool: tuple[str, ...] = ()
    translations: tuple[str, ...] = ()
    associations: tuple[Row, ...] = (
        ("31", "10", "same_as", True),
        ("32", "20", "same_as", True),
        ("41", "10", "replaced_by", True),
        ("42", "20", "replaced_by", True),
        ("51", "10", "possibly_equivalent_to", True),
        ("52", "20", "possibly_equivalent_to", True),
    )
    parents: tuple[Row, ...] = (("60", "10"), ("70", "20"))

    def with_pair(self, name: str, **changes: object) -> Build:
        """Return the build with one row of pairs changed, or added under a new name."""
        columns = [column.partition(":")[0] for column in COLUMNS["pair"].split()]
        columns += ["language1", "language2"]
        row = dict(zip(columns, self.pairs.get(name, [None] * len(columns)), strict=True))
        changed = tuple((row | {"pair_id": name} | changes).values())
        return replace(self, pairs={**self.pairs, name: changed})

    def with_description(
        self, term: str, concept: str, kind: str, *, active: bool = True, language: str = "en"
    ) -> Build:
        """Return the build with another description of a term."""
        row = ("d", concept, term, kind, active, language)
        return replace(self, descriptions={**self.descriptions, term: row})

    def with_association(self, at: int, row: Row) -> Build:
        """Return the build with one association changed."""
        rows = [*self.associations]
        rows[at] = row
        return replace(self, associations=tuple(rows))

    def tables(self) -> dict[str, list[Row]]:
        """Return the rows of every table."""
        spellings = sorted({*self.descriptions, "birch ache"})
        families = {"Birch": 10, "birch": 10, "Cedar": 20, "Dolor": 10, "Tos": 20}
        families |= {"Fir": 60, "Yew": 70}
        active = {concept for concept, is_active, *_ in self.concepts if is_active}
        concepts = {term: str(row[1]) for term, row in self.descriptions.items()}
        nodes = sorted({term.lower() for term in spellings})
        return {
            "pair": [*self.pairs.values()],
            "concept": [*self.concepts],
            "description": [*self.descriptions.values()],
            "association": [*self.associations],
            "is_a": [*self.parents],
            "name": [
                (concept, spellings.index(term), nodes.index(term.lower()), kind == "fsn")
                for term, (_, concept, _, kind, *_, language) in self.descriptions.items()
                if language == "en" and concept in active
            ],
            "term": [
                (at, term, term.lower(), nodes.index(term.lower()))
                for at, term in enumerate(spellings)
            ],
            "bearer": [(at, concepts.get(term, "10")) for at, term in enumerate(spellings)],
            "pool": [
                (spellings.index(term), language)
                for language, terms in ((None, self.pool), (1, self.translations))
                for term in terms
            ],
            "build_language": [(0, "en"), (1, "es")],
            "term_component": [
                (at, families.get(term.split()[0], 10 if term.endswith("pain") else 20))
                for at, term in enumerate(spellings)
            ],
        }


class Written:
    """A store with the tables of the last written build.

    Attributes:
        sets: the names of its sets, by number.
        ids: the id of each pair, by the number of the set and the row.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._tables: dict[str, list[Row]] = {}
        self.sets: list[Row] = []
        self.ids: dict[tuple[int, int], object] = {}
        put_datasets(store)

    def write(self, build: Build) -> Store:
        """Return the store with the tables of a build, and the other tables of all checks."""
        tables = build.tables()
        pairs = tables.pop("pair")
        for table, rows in tables.items():
            if self._tables.get(table) != rows:
                put(self.store, table, *rows)
                self._tables[table] = rows
        self.store.run("builds/pairs/described_concept")
        self.store.run("builds/terms/ancestor")
        numbers = {name: at for name, at, _ in self.store.table("described_concept").rows()}
        self._number_bearers(numbers)
        self._number_pairs(pairs, numbers)
        for table in _NUMBERED:
            self.store.run(f"builds/pairs/{table}")
        return self.store

    def _number_bearers(self, numbers: dict[str, int]) -> None:
        bearers = self.store.table("bearer")
        numbered = pl.col("concept_id").replace_strict(numbers, default=None, return_dtype=pl.Int32)
        self.store.put("numbered_bearer", bearers.select("term_id", concept_number=numbered))

    def _number_pairs(self, pairs: list[Row], numbers: dict[str, int]) -> None:
        """Write the tables pair_set and numbered_pair."""
        terms = {row[1]: row for row in self.store.table("term").rows()}
        components = dict(self.store.table("term_component").rows())
        self.sets = sorted({row[:3] for row in pairs})
        self.ids, numbered = {}, []
        for at, (*named, pair_id, text1, text2, label, distance) in enumerate(
            row[:-4] for row in pairs
        ):
            concept1, concept2, *languages = pairs[at][-4:]
            set_id = self.sets.index(tuple(named))
            self.ids[set_id, at] = pair_id
            ends = [terms.get(text) for text in (text1, text2)]
            left, right = ((None, None, None, None) if end is None else end for end in ends)
            is_known = None not in ends
            numbered.append(
                (
                    *(set_id, at, left[0], right[0], label, distance),
                    *(numbers.get(concept) for concept in (concept1, concept2)),
                    *languages,
                    left[3] == right[3] if is_known else None,
                    components[left[0]] == components[right[0]] if is_known else None,
                )
            )
        self.store.put("numbered_pair", pl.DataFrame(numbered, schema=_COLUMNS, orient="row"))
        columns = ["dataset", "difficulty", "negatives"]
        sets = pl.DataFrame(self.sets, schema=columns, orient="row")
        self.store.put("pair_set", sets.with_row_index("set_id"))

    def violations(self, check: str) -> list[Row]:
        """Return the rows that violate a rule, as names of sets and ids of pairs."""
        rows = self.store.frame(f"builds/checks/{check}")
        assert rows.columns == ["set_id", "row"], check
        return sorted((*self.sets[number], self.ids[number, at]) for number, at in rows.rows())


@pytest.fixture(scope="module")
def written() -> Iterator[Written]:
    with empty_store() as store:
        yield Written(store)


def _substitutions(
    dataset: str, letter: str, word: str, concepts: tuple[str, str], *, strategy: str = "random"
) -> dict[str, Row]:
    """Return a set in which two retired concepts are paired with their substitutes."""
    pain, chill = concepts
    return set_of(
        dataset,
        (f"{letter}1", f"{word} pain", "Birch ache", 1, pain, "10"),
        (f"{letter}2", f"{word} chill", "Cedar cough", 1, chill, "20"),
        (f"{letter}3", f"{word} pain", "Cedar cough", 0, pain, "20"),
        (f"{letter}4", f"{word} chill", "Birch ache", 0, chill, "10"),
        strategy=strategy,
    )


SOUND = Build()
ADDED_NEGATIVE = {
    "dataset": "fsn_syn",
    "difficulty": "easy",
    "negatives": "random",
    "label": 0,
    "distance": FAR,
    "concept1": "10",
    "concept2": "20",
}
BIRCH_AND_CEDAR = {"term1": "Birch ache", "term2": "Cedar coughs"}
SET_OF_ITS_OWN = {"dataset": "new", "difficulty": "hard", "negatives": "levenshtein"}
F_TO_S = {"dataset": "syn_syn", "difficulty": "easy", "negatives": "random", "label": 1}

INACTIVE_BIRCH = replace(SOUND, concepts=(("10", False, "core", ""), *SOUND.concepts[1:]))

VIOLATIONS: list[tuple[str, Build, list[str]]] = [
    # A negative with a concept that does not belong to its first or to its second term.
    ("concepts", SOUND.with_pair("f3", concept1="20"), ["f3"]),
    ("concepts", SOUND.with_pair("f3", concept1=None), ["f3"]),
    ("concepts", SOUND.with_pair("f3", concept2="10"), ["f3"]),
    ("concepts", SOUND.with_pair("a4", concept2=None), ["a4"]),
    ("concepts", SOUND.with_pair("f3", term2="Unheard of"), ["f3"]),
    # An easy positive with a large distance, a hard one with a small one, a negative with zero.
    ("difficulty", SOUND.with_pair("f1", distance=6), ["f1"]),
    ("difficulty", SOUND.with_pair("a1", distance=5), ["a1"]),
    ("difficulty", SOUND.with_pair("f3", distance=0), ["f3"]),
    # Terms that are equal when case is ignored, or unknown.
    ("equal_terms", SOUND.with_pair("f3", term2="birch ache"), ["f3"]),
    ("equal_terms", SOUND.with_pair("f1", term1="Unheard of"), ["f1"]),
    ("equal_terms", SOUND.with_pair("f3", term2="Unheard of"), ["f3"]),
    # A second term that is in another set, only in a negative, or in no set and not in the pool.
    ("foreign_term", SOUND.with_pair("f3", term2="Old chill"), ["f3"]),
    (
        "foreign_term",
        SOUND.with_pair("f3", term2="Worn chill").with_pair("f4", term2="Worn chill"),
        ["f3", "f4"],
    ),
    (
        "foreign_term",
        SOUND.with_pair("f3", term1="Old pain").with_pair("f4", term2="Old pain"),
        ["f4"],
    ),
    (
        "foreign_term",
        replace(
            SOUND.with_pair("f3", term2="Old chill").with_pair("f4", term2="Old pain"),
            pool=("Birch ache", "Old chill"),
        ),
        ["f4"],
    ),
    # Across languages, a term in the first language, or outside the pool of the second one.
    ("foreign_term", SOUND.with_pair("c3", term2="Cedar cough"), ["c3"]),
    ("foreign_term", replace(SOUND.with_pair("c2", label=0), pool=("Tos cedro",)), ["c2", "c3"]),
    (
        "foreign_term",
        replace(SOUND.with_pair("c1", label=0), translations=("Tos cedro",)),
        ["c1", "c4"],
    ),
    # Other languages than those of the names, or than those of the positive; a name of another
    # concept; an inactive name.
    ("cross_language", SOUND.with_pair("c1", language2=0), ["c1", "c3"]),
    ("cross_language", SOUND.with_pair("c1", term1="Dolor abedul", language1=1), ["c1", "c3"]),
    ("cross_language", SOUND.with_pair("c1", language1=None), ["c1", "c3"]),
    ("cross_language", SOUND.with_pair("c3", language1=1), ["c3"]),
    ("cross_language", SOUND.with_pair("c3", term2="Cedar coughs"), ["c3"]),
    ("cross_language", SOUND.with_pair("c2", term2="Dolor abedul"), ["c2"]),
    ("cross_language", SOUND.with_pair("c2", concept2="10"), ["c2"]),
    (
        "cross_language",
        SOUND.with_description("Tos cedro", "20", "fsn", active=False, language="es"),
        ["c2", "c3"],
    ),
    # A synonym as first term, a name of another concept, and concepts that lack the names.
    ("fsn_syn", SOUND.with_pair("f1", term1="Birch aches", term2="Birch ache"), ["f1"]),
    ("fsn_syn", SOUND.with_pair("f1", term2="Cedar coughs"), ["f1"]),
    ("fsn_syn", SOUND.with_pair("f1", concept2="20"), ["f1"]),
    ("syn_syn", SOUND.with_pair("s1", term1="Old pain"), ["s1"]),
    # An inactive concept, an inactive name, a name in another language.
    ("fsn_syn", INACTIVE_BIRCH, ["f1"]),
    ("syn_syn", INACTIVE_BIRCH, ["s1"]),
    ("fsn_syn", SOUND.with_description("Birch aches", "10", "synonym", active=False), ["f1"]),
    ("fsn_syn", SOUND.with_description("Birch aches", "10", "synonym", language="sv"), ["f1"]),
    ("syn_syn", SOUND.with_description("Cedar cough", "20", "fsn", active=False), ["s2"]),
    ("linked_negative", SOUND.with_pair("f3", term2="Birch aches"), ["f3"]),
    # Names of a parent and its child; a synonym; a child without this parent.
    (
        "parent_child",
        SOUND.with_pair("k1", term1="Birch ache", concept1="10", term2="Fir itch"),
        ["k1"],
    ),
    ("parent_child", SOUND.with_pair("k1", term2="Birch aches"), ["k1"]),
    ("parent_child", replace(SOUND, parents=(("60", "10"),)), ["k2"]),
    # A negative of a name, in any case, of a parent or a child, or of one further away.
    ("parent_child", SOUND.with_pair("k3", term2="birch ache"), ["k3"]),
    (
        "parent_child",
        SOUND.with_pair("k3", term1="Birch aches", concept1="10", term2="Fir itch", concept2="60"),
        ["k3"],
    ),
    ("parent_child", replace(SOUND, parents=(*SOUND.parents, ("10", "9"), ("9", "20"))), ["k3"]),
    (
        "parent_child",
        replace(SOUND, parents=(*SOUND.parents, ("10", "20"), ("20", "10"))),
        ["k3", "k4"],
    ),
    # An association of another kind, and one in the other direction.
    ("same_as", SOUND.with_association(1, ("32", "20", "was_a", True)), ["a2"]),
    ("same_as", SOUND.with_pair("a1", concept1="10", concept2="31"), ["a1"]),
    # A negative in two sets, mirrored in another, or in both difficulties. The later one in order
    # of set names is found: syn_syn repeats same_as.
    ("repeated_negative", SOUND.with_pair("a3", **BIRCH_AND_CEDAR), ["a3", "s3"]),
    (
        "repeated_negative",
        SOUND.with_pair("r3", term1="Birch aches", term2="Cedar cough"),
        ["r3", "s4"],
    ),
    (
        "repeated_negative",
        SOUND.with_pair(
            "a9", **ADDED_NEGATIVE | {"dataset": "same_as"}, term1="Old pain", term2="Cedar cough"
        ),
        ["a3"],
    ),
    # A pair that occurs twice, in both directions, or also as a positive.
    ("repeated_pair", SOUND.with_pair("f9", **ADDED_NEGATIVE, **BIRCH_AND_CEDAR), ["f3", "f9"]),
    (
        "repeated_pair",
        SOUND.with_pair("f9", **ADDED_NEGATIVE, term1="Cedar coughs", term2="Birch ache"),
        ["f3", "f9"],
    ),
    (
        "repeated_pair",
        SOUND.with_pair("f9", **ADDED_NEGATIVE, term1="Birch aches", term2="Birch ache"),
        ["f1", "f9"],
    ),
    # A first term with more negatives than positives, and one without positives.
    (
        "unbalanced",
        SOUND.with_pair("f9", **ADDED_NEGATIVE, term1="Birch ache", term2="Cedar cough"),
        ["f3", "f9"],
    ),
    ("unbalanced", SOUND.with_pair("f3", term1="Birch aches"), ["f3"]),
    # A first concept or a second term that only another set has.
    *(
        (check, SOUND.with_pair("f9", **ADDED_NEGATIVE | {column: value} | BIRCH_AND_CEDAR), ["f9"])
        for check in ("concepts", "foreign_term")
        for column, value in SET_OF_ITS_OWN.items()
    ),
]
for at, (kind, old, pair_ids) in enumerate(
    (
        ("same_as", "Old", ["a1"]),
        ("replaced_by", "Past", ["l1", "r1"]),
        ("possibly_equivalent_to", "Worn", ["p1"]),
    )
):
    # An inactive association, and a pair that is also in syn_syn.
    inactive = (*SOUND.associations[2 * at][:3], False)
    known = SOUND.with_pair("s9", **F_TO_S, term1="Birch ache", term2=f"{old} pain")
    VIOLATIONS += [
        (kind, SOUND.with_association(2 * at, inactive), pair_ids),
        (kind, known, pair_ids[-1:]),
    ]


def test_a_sound_build_has_no_violations(written: Written) -> None:
    written.write(SOUND)
    for check in queries.names("builds/checks"):
        assert written.violations(check.removeprefix("builds/checks/")) == [], check


@pytest.mark.parametrize(("check", "build", "pair_ids"), VIOLATIONS)
def test_a_violation_is_found_by_its_row(
    written: Written, check: str, build: Build, pair_ids: list[str]
) -> None:
    written.write(build)
    assert written.violations(check) == sorted(build.pairs[name][:4] for name in pair_ids)


def test_every_check_has_a_violation_here() -> None:
    planted = {f"builds/checks/{check}" for check, _, _ in VIOLATIONS}
    assert planted == set(queries.names("builds/checks"))


def test_every_dataset_has_a_check() -> None:
    datasets = {dataset.name for dataset in queries.datasets()}
    assert datasets <= {
        name.removeprefix("builds/checks/") for name in queries.names("builds/checks")
    }


def test_a_dataset_may_repeat_negatives_of_the_datasets_it_contains(
    written: Written,
) -> None:
    store = written.write(SOUND)
    alone = store.table("dataset").with_columns(contains=pl.lit([], pl.List(pl.String)))
    store.put("dataset", alone)
    ids = [row[-1] for row in written.violations("repeated_negative")]
    put_datasets(store)
    assert ids == ["s3", "s4"]
