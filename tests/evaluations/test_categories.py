"""The categories of a build: their terms, and options that are refused."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.categories import TOPS, categorised_release
from fixtures.tables import put, put_terms

import medsim
from medsim.builds.output import Build
from medsim.core.errors import OptionError
from medsim.evaluations.separation import categories_of

if TYPE_CHECKING:
    from medsim.core.store import Store


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("categories")
    release = categorised_release(1, 120).write_zip(folder / "release.zip", "Snapshot")
    return medsim.build(release, folder / "build", negatives=["random"])


@pytest.fixture
def copy(build: Build, tmp_path: Path) -> Path:
    """The folder of a copy of the build."""
    return Path(shutil.copytree(build.folder, tmp_path / "copy"))


def descendant_terms(build: Build, tops: list[str]) -> tuple[dict[str, list[str]], int, int]:
    """Return the terms of each category, and the numbers of shared concepts and terms."""
    is_a = build.table("is_a").select("parent_id", "child_id").collect()
    children = is_a.rows_by_key("parent_id")
    active = set(build.table("concept").filter("active").collect()["concept_id"])
    names = build.table("description").filter("active", kind="fsn").collect()
    fsn = dict(names.select("concept_id", "term").iter_rows())
    below: dict[str, set[str]] = {}
    for top in tops:
        visited, queue = set(), [top]
        while queue:
            for (child,) in children.get(queue.pop(), []):
                if child not in visited:
                    visited.add(child)
                    queue.append(child)
        below[top] = (visited - {top}) & active
    shared = [c for c, n in Counter(c for group in below.values() for c in group).items() if n > 1]
    terms: dict[str, dict[str, str]] = {}
    for top, concepts in below.items():
        by_lower = terms.setdefault(top, {})
        for term in sorted((fsn[c] for c in concepts if c not in shared), reverse=True):
            by_lower[term.lower()] = term  # the smallest comes last
    n_having = Counter(lower for group in terms.values() for lower in group)
    terms_by_top = {
        top: sorted(t for x, t in group.items() if n_having[x] == 1) for top, group in terms.items()
    }
    return terms_by_top, len(shared), sum(n > 1 for n in n_having.values())


@pytest.mark.parametrize(
    ("named", "tops", "names"),
    [
        (None, [*TOPS], ["Diagnostic velp", "Therapeutic velp", "Organism"]),
        (["410607006", "a = b=103693007"], ["410607006", "103693007"], ["Organism", "a = b"]),
    ],
)
def test_categories_are_the_named_or_default_concepts_with_their_descendants(
    build: Build, named: list[str] | None, tops: list[str], names: list[str]
) -> None:
    result = categories_of(build, named, len(names))
    expected, n_concepts, n_terms = descendant_terms(build, tops)
    assert {c.concept_id: list(c.terms) for c in result.categories} == expected
    assert (result.n_shared_concepts, result.n_shared_terms) == (n_concepts, n_terms)
    assert named or (n_concepts > 0 and n_terms > 0)
    assert [category.name for category in result.categories] == names
    assert result.terms() == sorted(term for terms in expected.values() for term in terms)


def test_provenance_is_plain_json_and_identifies_the_categories(build: Build) -> None:
    provenance, other = (
        categories_of(build, [first, "277132007"], 1).provenance()
        for first in ("410607006", "103693007")
    )
    assert json.loads(json.dumps(provenance)) == provenance
    assert provenance == categories_of(build, ["410607006", "277132007"], 2).provenance()
    assert provenance["fingerprint"] != other["fingerprint"]


@pytest.mark.parametrize(
    ("named", "says"),
    [
        (["410607006", "77"], "the build has no concept '77'; give two CONCEPT_IDs with"),
        (["410607006"], "'Organism' is the only category; give two CONCEPT_IDs with"),
        (["410607006", "x=410607006"], "category 'x' .410607006. has the name or the concept"),
        (["x=410607006", "x=277132007"], "category 'x' .277132007. has the name or the concept"),
        (["410607006", "x="], "a category is CONCEPT_ID or NAME=CONCEPT_ID, not 'x='"),
        (["410607006", "=277132007"], "NAME=CONCEPT_ID, not '=277132007'"),
        (
            ["100", "410607006"],
            r"category 'Organism' \(410607006\) has no terms of its own: of the",
        ),
    ],
)
def test_invalid_categories_are_refused(build: Build, named: list[str], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        categories_of(build, named, 1)


def test_a_release_without_the_default_concepts_asks_for_others(build: Build, copy: Path) -> None:
    concepts = build.table("concept").filter(pl.col("concept_id") != "410607006").collect()
    concepts.write_parquet(copy / "terminology/concept.parquet")
    is_a = build.table("is_a").filter(pl.col("parent_id") != "410607006").collect()
    is_a.write_parquet(copy / "terminology/is_a.parquet")
    with pytest.raises(
        OptionError, match=r"'410607006'.*give two CONCEPT_IDs with `near` and one with `far`"
    ):
        categories_of(Build(copy), None, 1)


def test_other_sources_have_no_default_categories(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["source"]["rf2_rules"] = False
    (copy / "manifest.json").write_text(json.dumps(manifest))
    other = Build(copy)
    with pytest.raises(
        OptionError, match="no default categories; give two CONCEPT_IDs with `near`"
    ):
        categories_of(other, None, 1)
    assert len(categories_of(other, list(TOPS), 1).categories) == 3


def members_of(store: Store) -> list[tuple[object, ...]]:
    store.run("evaluations/category_member")
    return store.table("category_member").rows()


def test_a_category_has_the_active_descendants_of_its_concept(store: Store) -> None:
    put(store, "category", (0, "top"))
    children = [(child, "top") for child in ("left", "right", "retired", "no concept")]
    diamond = [("both", "left"), ("both", "right")]  # there once
    others = [("top", "root"), ("below retired", "retired"), ("other", "root")]
    put(store, "is_a", *children, *diamond, *others)
    names = ["root", "top", "left", "right", "both", "below retired", "other"]
    put(store, "concept", *((name, True, "", "") for name in names), ("retired", False, "", ""))
    expected = ("below retired", "both", "left", "right")
    assert members_of(store) == [(0, name, False) for name in expected]


def test_a_cycle_ends_and_the_concept_is_not_a_member(store: Store) -> None:
    put(store, "category", (0, "a"))
    put(store, "is_a", ("b", "a"), ("c", "b"), ("a", "c"), ("b", "b"))
    put(store, "concept", *((name, True, "", "") for name in "abc"))
    assert members_of(store) == [(0, "b", False), (0, "c", False)]


def test_terms_are_fully_specified_names_without_repeats(store: Store) -> None:
    put_terms(store, "ARM", "Arm", "arm", "eye", "leg", "limb")
    ids = {
        term: (row, node)
        for term, row, node in store.table("term").select("term", "term_id", "node_id").rows()
    }
    put(
        store,
        "name",
        ("1", *ids["arm"], True),
        ("1", *ids["limb"], False),  # a synonym
        ("2", *ids["Arm"], True),  # equal but for case: the smallest by text stays
        ("3", *ids["leg"], True),
        ("4", *ids["eye"], True),
        ("5", *ids["ARM"], True),
    )
    put(
        store,
        "category_member",
        (0, "1", False),
        (0, "2", False),
        (0, "3", False),
        (0, "4", True),  # below several categories
        (1, "4", True),
        (1, "6", False),  # has no name
    )
    expected = [(0, ids["arm"][1], "Arm", False), (0, ids["leg"][1], "leg", False)]
    assert store.frame("evaluations/category_term").rows() == expected
