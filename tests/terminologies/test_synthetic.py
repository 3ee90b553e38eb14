"""Invented releases: form, history, and difficulty like real releases."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.terminologies import synthetic
from medsim.terminologies.synthetic import write_synthetic

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, str]
Files = dict[str, list[Row]]

MODEL_MODULE = "900000000000012004"
FSN, SYNONYM, DEFINITION = "900000000000003001", "900000000000013009", "900000000000550004"
IS_A = "116680003"
SAME_AS, REPLACED_BY = "900000000000527005", "900000000000526001"
POSSIBLY_EQUIVALENT_TO, MOVED_TO = "900000000000523009", "900000000000524003"
CATEGORIES = {"103693007": "procedure", "277132007": "procedure", "410607006": "organism"}
TABLES = {
    "concept": "sct2_Concept_",
    "description": "sct2_Description_",
    "relationship": "sct2_Relationship_",
    "association": "der2_cRefset_Association",
}


class Release:
    """An invented release, read with the standard library only."""

    def __init__(self, path: Path, **options: object) -> None:
        self.n_rows = write_synthetic(path, **({"seed": 7} | options))
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            self.origin = json.loads(archive.read(archive.namelist()[0]))
            self.full, self.snapshot = (_read(archive, kind) for kind in ("Full", "Snapshot"))
        self.concept = {row["id"]: row for row in self.snapshot["concept"]}

    def is_active_clinical(self, concept: str) -> bool:
        """Return whether a concept is active and not the model's."""
        row = self.concept[concept]
        return row["active"] == "1" and row["moduleId"] != MODEL_MODULE

    def active_names(self) -> list[Row]:
        """Return the active names of active clinical concepts."""
        return [
            row
            for row in self.snapshot["description"]
            if row["active"] == "1"
            and row["typeId"] != DEFINITION
            and self.is_active_clinical(row["conceptId"])
        ]

    def fsns(self) -> dict[str, str]:
        """Return the active FSN of each concept, retired ones too."""
        return {
            row["conceptId"]: row["term"]
            for row in self.snapshot["description"]
            if (row["active"], row["typeId"]) == ("1", FSN)
        }


def _read(archive: zipfile.ZipFile, release_type: str) -> Files:
    files = {}
    for table, part in TABLES.items():
        name = next(name for name in archive.namelist() if f"{part}{release_type}" in name)
        text = io.StringIO(archive.read(name).decode(), newline="")
        header, *rows = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)
        files[table] = [dict(zip(header, row, strict=True)) for row in rows]
    return files


def untagged(term: str) -> str:
    return re.sub(r" \([^()&]*\)$", "", term)


def histories(rows: list[Row]) -> dict[str, list[Row]]:
    by_id: dict[str, list[Row]] = {row["id"]: [] for row in rows}
    for row in sorted(rows, key=lambda row: row["effectiveTime"]):
        by_id[row["id"]].append(row)
    return by_id


def newest(history: dict[str, list[Row]]) -> dict[str, Row]:
    return {key: rows[-1] for key, rows in history.items()}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return Release(tmp_path_factory.mktemp("synthetic") / "r.zip", concepts=3000)


def test_the_counts_equal_the_rows_in_the_files(release: Release) -> None:
    active = sum(map(release.is_active_clinical, release.concept))
    inactive = sum(row["active"] == "0" for row in release.concept.values())

    assert (active, inactive) == (3000, 750)
    assert (release.origin["origin"], release.origin["redistributable"]) == ("synthetic", True)
    for release_type, files in (("Full", release.full), ("Snapshot", release.snapshot)):
        assert release.n_rows[release_type] == {name: len(rows) for name, rows in files.items()}


@pytest.mark.parametrize("table", TABLES)
def test_the_snapshot_has_the_last_rows_of_histories(release: Release, table: str) -> None:
    history = histories(release.full[table])
    times = Counter((row["id"], row["effectiveTime"]) for row in release.full[table])
    courses = {"".join(row["active"] for row in rows) for rows in history.values()}

    assert newest(history) == {row["id"]: row for row in release.snapshot[table]}
    assert max(times.values()) == 1
    assert max(time for _, time in times) <= "20260101"
    assert {"1", "11", "10", "110", "101"} <= courses


def test_a_changed_row_differs_from_the_one_before(release: Release) -> None:
    changing = {
        "concept": {"definitionStatusId", "moduleId"},
        "description": {"term", "caseSignificanceId"},
        "relationship": {"relationshipGroup", "characteristicTypeId"},
        "association": {"targetComponentId"},
    }
    for table, columns in changing.items():
        changed = {
            column
            for rows in histories(release.full[table]).values()
            for earlier, later in pairwise(rows)
            for column in earlier
            if earlier[column] != later[column]
        }
        assert changed == columns | {"active", "effectiveTime"}


def test_every_active_concept_has_one_fsn_with_a_tag_and_a_few_retired_ones_have_none(
    release: Release,
) -> None:
    fsns = [row for row in release.active_names() if row["typeId"] == FSN]
    tags = {re.search(r" \(([a-z ]+)\)$", row["term"])[1] for row in fsns}
    lacking = set(release.concept) - set(release.fsns())

    assert len(fsns) == len({row["conceptId"] for row in fsns}) == 3000
    assert tags == {"disorder", "procedure", "body structure", "organism", "substance"}
    assert 0 < len(lacking) < 50
    assert all(release.concept[concept]["active"] == "0" for concept in lacking)


def test_an_fsn_is_replaced_by_a_new_description(release: Release) -> None:
    fsns = release.fsns()
    replaced = [
        row
        for row in release.snapshot["description"]
        if (row["typeId"], row["active"]) == (FSN, "0")
        and release.is_active_clinical(row["conceptId"])
    ]

    assert len(replaced) > 100
    assert all(fsns[row["conceptId"]] != row["term"] for row in replaced)


def test_some_descriptions_are_definitions_and_every_name_is_english(release: Release) -> None:
    names = release.full["description"]

    assert DEFINITION in {row["typeId"] for row in release.snapshot["description"]}
    assert {row["languageCode"] for row in names} == {"en"}


@pytest.mark.some(2)
@pytest.mark.parametrize(("concepts", "fewest"), [(192, 30), (1000, 60), (3000, 150)])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_categories_of_the_paper_have_concepts_of_a_branch_each(
    tmp_path: Path, concepts: int, fewest: int, seed: int
) -> None:
    made = Release(tmp_path / "r.zip", concepts=concepts, seed=seed)
    fsns, children = made.fsns(), defaultdict(set)
    for row in made.snapshot["relationship"]:
        if (row["typeId"], row["active"]) == (IS_A, "1"):
            children[row["destinationId"]].add(row["sourceId"])
    seen: set[str] = set()
    for category, tag in CATEGORIES.items():
        below, rising = set(), {category}
        while rising:
            rising = {child for concept in rising for child in children[concept]} - below
            below |= rising
        assert len(below) >= fewest
        assert {fsns[concept].rpartition(" (")[2] for concept in {category, *below}} == {f"{tag})"}
        assert seen.isdisjoint(below)
        seen |= below
    assert len(seen) < 0.8 * concepts


def test_is_a_leads_every_active_concept_to_the_root_without_cycles(release: Release) -> None:
    parents, children = defaultdict(set), defaultdict(set)
    for row in release.snapshot["relationship"]:
        if row["typeId"] == IS_A and row["active"] == "1":
            parents[row["sourceId"]].add(row["destinationId"])
            children[row["destinationId"]].add(row["sourceId"])
    root = release.snapshot["concept"][0]["id"]
    reached, rising = set(), {root}
    while rising:
        reached |= rising
        rising = {child for concept in rising for child in children[concept]}
        assert root not in rising

    active = set(filter(release.is_active_clinical, release.concept))
    assert reached == active
    order = {row["id"]: place for place, row in enumerate(release.snapshot["concept"])}
    assert all(order[parent] < order[child] for child in parents for parent in parents[child])
    assert {1, 2, 3} <= {len(above) for above in parents.values()}


def test_other_relationships_and_inactive_ones_occur(release: Release) -> None:
    kinds = Counter((row["typeId"], row["active"]) for row in release.snapshot["relationship"])
    others = {kind for kind, _ in kinds} - {IS_A}

    assert [release.concept[kind]["moduleId"] for kind in others] == [MODEL_MODULE] * 2
    assert all(kinds[kind, active] > 20 for kind in (*others, IS_A) for active in "01")


def test_associations_are_of_all_kinds_some_inactive_and_some_in_the_model(
    release: Release,
) -> None:
    rows, fsns = release.snapshot["association"], release.fsns()
    active = [row for row in rows if row["active"] == "1"]
    moved = [row["targetComponentId"] for row in active if row["refsetId"] == MOVED_TO]
    sources = Counter(row["referencedComponentId"] for row in active)
    targets = {release.concept[row["targetComponentId"]]["active"] for row in active}
    kinds = Counter((row["refsetId"], row["active"]) for row in rows)
    models = sum(row["moduleId"] == MODEL_MODULE for row in rows)

    assert {kind for kind, _ in kinds} == {SAME_AS, REPLACED_BY, POSSIBLY_EQUIVALENT_TO, MOVED_TO}
    for kind in (SAME_AS, REPLACED_BY, POSSIBLY_EQUIVALENT_TO):
        assert kinds[kind, "1"] > kinds[kind, "0"] > 0
    assert 0 < models < 50
    assert {release.concept[row["referencedComponentId"]]["active"] for row in rows} == {"0"}
    assert moved
    assert all("namespace" in fsns[target] for target in moved)
    assert 2 in sources.values()  # some have two substitutes
    assert targets == {"0", "1"}  # or a retired one


def test_model_concepts_were_clinical_once_and_have_names(release: Release) -> None:
    models = [row["id"] for row in release.concept.values() if row["moduleId"] == MODEL_MODULE]
    rows = histories(release.full["concept"])

    assert len(models) == len(release.concept) - 3750
    assert all(rows[model][0]["moduleId"] != MODEL_MODULE for model in models)
    assert set(models) <= set(release.fsns())


def test_names_contain_difficult_characters(release: Release) -> None:
    terms = "\n".join(row["term"] for row in release.full["description"])
    for part in ('\n"', "'", "[", "(", "&", "é", "ö", "ø", "µ", "ß", "β", "Ω", "İ", "ΛΟΙΜΟΣ"):
        assert part in terms, part
    retired = "\n".join(
        fsn for concept, fsn in release.fsns().items() if release.concept[concept]["active"] == "0"
    )
    for pattern in (r"^\[D\]", r"\[D\] \([^()&]*\)$", r" or \([^()]*\)$", r" \(& [^()]*\)$"):
        assert re.search(pattern, retired, re.MULTILINE), pattern


def test_names_are_as_many_and_as_long_as_in_a_clinical_terminology(release: Release) -> None:
    names = release.active_names()
    lengths = [len(untagged(row["term"])) for row in names]

    assert 2.4 < len(names) / 3000 < 3.0
    assert 34 < sum(lengths) / len(lengths) < 43
    assert 230 < max(len(row["term"]) for row in names) <= 255
    assert all(row["term"] == row["term"].strip() for row in names)


def test_names_of_concepts_resemble_those_of_others(release: Release) -> None:
    names = [(row["conceptId"], untagged(row["term"]).lower()) for row in release.active_names()]
    concepts = np.array([concept for concept, _ in names])
    terms = [term for _, term in names]
    distances = cdist(terms[::40], terms, scorer=Levenshtein.distance, dtype=np.uint16)

    same = concepts[::40, None] == concepts
    nearest = np.where(same, 999, distances).min(axis=1)

    assert 6 < nearest.mean() < 12
    assert np.mean(nearest == 0) < 0.02


@pytest.mark.parametrize(
    ("one", "other"), [("left", "right"), ("upper", "lower"), (r"\d+", "1"), ("no ", "")]
)
def test_names_differ_by_a_side_an_opposite_a_number_or_a_negation(
    release: Release, one: str, other: str
) -> None:
    names = {untagged(row["term"]).lower() for row in release.active_names()}
    changed = {name: re.sub(rf"\b{one}", other, name) for name in names}
    assert sum(name != new and new in names for name, new in changed.items()) >= 5


def test_positives_of_every_kind_are_easy_and_hard(release: Release) -> None:
    fsns = {concept: untagged(term).lower() for concept, term in release.fsns().items()}
    pairs = defaultdict(list)
    for row in release.active_names():
        if row["typeId"] == SYNONYM:
            pairs[SYNONYM].append((fsns[row["conceptId"]], row["term"].lower()))
    for row in release.snapshot["association"]:
        ends = fsns.get(row["referencedComponentId"]), fsns.get(row["targetComponentId"])
        if row["active"] == "1" and row["refsetId"] != MOVED_TO and all(ends):
            pairs[row["refsetId"]].append(ends)

    assert pairs.keys() == {SYNONYM, SAME_AS, REPLACED_BY, POSSIBLY_EQUIVALENT_TO}
    for difficulties in pairs.values():
        distances = np.array([Levenshtein.distance(*pair) for pair in difficulties])
        easy, hard = np.sum((distances > 0) & (distances <= 5)), np.sum(distances > 5)
        assert min(easy, hard) > len(difficulties) / 10


def test_the_same_arguments_give_the_same_bytes_and_chunks_of_any_size_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, chunk in (("a", 20_000), ("b", 20_000), ("c", 37)):
        monkeypatch.setattr(synthetic, "_CHUNK", chunk)
        write_synthetic(tmp_path / name, concepts=100, seed=3)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as first, zipfile.ZipFile(tmp_path / "c") as other:
        assert first.namelist() == other.namelist()
        assert all(first.read(name) == other.read(name) for name in first.namelist())


def test_another_seed_gives_other_names(tmp_path: Path) -> None:
    releases = [Release(tmp_path / f"{seed}", concepts=50, seed=seed) for seed in (1, 2)]

    names = [{row["term"] for row in made.active_names()} for made in releases]
    assert not names[0] & names[1]


@pytest.mark.parametrize("concepts", [1, 2, 10])
def test_a_tiny_release_is_complete(tmp_path: Path, concepts: int) -> None:
    tiny = Release(tmp_path / "r.zip", concepts=concepts)

    fsns = [row for row in tiny.active_names() if row["typeId"] == FSN]
    assert len(fsns) == sum(map(tiny.is_active_clinical, tiny.concept)) == concepts
    for table in TABLES:
        assert [*newest(histories(tiny.full[table])).values()] == tiny.snapshot[table]


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Release:
    path = tmp_path_factory.mktemp("later") / "r.zip"
    return Release(path, concepts=3000, later=date(2026, 7, 1))


@pytest.mark.parametrize("table", TABLES)
def test_a_later_release_adds_rows_of_its_day_to_the_earlier_one(
    release: Release, later: Release, table: str
) -> None:
    added = [row for row in later.full[table] if row["effectiveTime"] == "20260701"]

    assert [row for row in later.full[table] if row["effectiveTime"] < "20260701"] == (
        release.full[table]
    )
    assert added
    assert max(Counter(row["id"] for row in added).values(), default=1) == 1
    assert newest(histories(later.full[table])) == {row["id"]: row for row in later.snapshot[table]}
    assert len(later.snapshot[table]) == len({row["id"] for row in later.snapshot[table]})


def test_a_later_release_is_sound(release: Release, later: Release) -> None:
    fsns = [row for row in later.active_names() if row["typeId"] == FSN]
    active = set(filter(later.is_active_clinical, later.concept))
    assert sorted(row["conceptId"] for row in fsns) == sorted(active)
    assert all(re.search(r" \([a-z ]+\)$", row["term"]) for row in fsns)
    is_a = [
        (row["sourceId"], row["destinationId"])
        for row in later.snapshot["relationship"]
        if (row["typeId"], row["active"]) == (IS_A, "1")
    ]
    assert {end for link in is_a for end in link} <= active | {
        concept for concept, row in later.concept.items() if row["moduleId"] == MODEL_MODULE
    }
    root = release.snapshot["concept"][0]["id"]
    assert active - {child for child, _ in is_a} == {root}
    assert all(
        row["id"] in release.concept or row["active"] == "1" for row in later.concept.values()
    )
