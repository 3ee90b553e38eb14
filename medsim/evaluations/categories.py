"""The categories of concepts whose separation is measured, and their terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.positives import reload_names
from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, OptionError
from medsim.core.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.builds.output import Build

RF2_CATEGORIES = ("103693007", "277132007", "410607006")
"""SNOMED CT's diagnostic and therapeutic procedure, near, and organism, far, as in the paper."""

_FEWEST = 2
_HOW = "name two by `near` and one by `far`, or at least two by `categories`, CONCEPT_ID each"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A concept whose descendants belong together.

    Attributes:
        terms: of its descendants, in order of code points; no two are equal ignoring case, and no
            other category has any of them.
    """

    name: str
    concept_id: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The categories of a build.

    Attributes:
        categories: at least two, in the order in which they were named.
        n_far: how many of them, the last ones, are far from the first two, which are near to each
            other; 0 where none are nearer than others.
        n_shared_concepts: left out because they are below several of the categories.
        n_shared_terms: of the other concepts, left out because several of the categories have them.
    """

    categories: tuple[Category, ...]
    n_far: int = 0
    n_shared_concepts: int
    n_shared_terms: int

    def terms(self) -> list[str]:
        """Return the terms of all categories, in order of code points."""
        return sorted(term for category in self.categories for term in category.terms)

    def provenance(self) -> dict[str, object]:
        """Return the categories for a manifest: plain JSON, with a ``fingerprint`` of the terms."""
        return {
            "categories": [
                {"name": one.name, "concept_id": one.concept_id, "n_terms": len(one.terms)}
                for one in self.categories
            ],
            "n_shared_concepts": self.n_shared_concepts,
            "n_shared_terms": self.n_shared_terms,
            "fingerprint": canonical_digest(
                [(one.name, one.concept_id, one.terms) for one in self.categories]
            ),
            **({"n_far": self.n_far} if self.n_far else {}),
        }


def categories_of(
    build: Build, named: Sequence[str], threads: int, *, n_far: int = 0
) -> Categories:
    """Return the categories of a build and their terms.

    Args:
        build: of a terminology with is-a relationships.
        named: the concept of each category, as "CONCEPT_ID" or "NAME=CONCEPT_ID"; none takes those
            of the paper where the build is of an RF2 release.
        threads: how many the database may use.
        n_far: see ``Categories``; by default 1 of those of the paper.

    Raises:
        InputError: the manifest is incomplete; or by default, a category cannot be had.
        OptionError: fewer than two categories are named, or one of them twice, or one whose concept
            is unknown or has no terms; or none for a build that has no default.
    """
    if not named and not build.manifest.source.get("rf2_rules"):
        raise OptionError(f"{build.folder} has no default categories; {_HOW}")
    parsed = [_parsed(text) for text in named or RF2_CATEGORIES]
    try:
        with Store(threads=threads) as store:
            reload_names(build, store)
            wanted = _wanted(store, parsed)
            store.put("category", wanted.select("category", "concept_id"))
            store.run("evaluations/category_member")
            members, terms = (
                store.table("category_member"),
                store.frame("evaluations/category_term"),
            )
            return Categories(
                categories=tuple(_with_terms(wanted, members, terms)),
                n_far=n_far if named else 1,
                n_shared_concepts=members.filter("is_shared")["concept_id"].n_unique(),
                n_shared_terms=terms.filter("is_shared")["node_id"].n_unique(),
            )
    except OptionError as error:
        if named:
            raise
        raise InputError(f"{build.folder}: {error}; {_HOW}") from error


def _parsed(text: str) -> tuple[str | None, str]:
    """Return the name, if one is given, and the concept of a category."""
    name, equals, concept_id = (part.strip() for part in text.rpartition("="))
    if not concept_id or (equals and not name) or not text.isprintable():
        raise OptionError(f"a category is CONCEPT_ID or NAME=CONCEPT_ID, not {text!r}")
    return name or None, concept_id


def _wanted(store: Store, parsed: Sequence[tuple[str | None, str]]) -> pl.DataFrame:
    """Return a row per category: its number, name and concept_id."""
    concept_ids = [concept_id for _, concept_id in parsed]
    if len(parsed) < _FEWEST:
        raise OptionError(
            f"one category, {concept_ids[0]!r}, has no other to be apart from; {_HOW}"
        )
    # A split has the relationships of the whole terminology, but not every concept.
    known = {*store.table("concept")["concept_id"], *store.table("is_a")["parent_id"]}
    fsns = store.table("name").filter("is_fsn").join(store.table("term"), on="term_id")
    term_of = dict(fsns.select("concept_id", "term").iter_rows())
    names = [name or term_of.get(concept_id, concept_id) for name, concept_id in parsed]
    for name, concept_id in zip(names, concept_ids, strict=True):
        if concept_id not in known:
            raise OptionError(
                f"no concept has the id {concept_id!r}; a category is named by the concept_id of "
                "one of the build's concepts"
            )
        if name == "all":
            raise OptionError(
                f"a category cannot be named {name!r}, which stands for all far ones together; "
                "give it another name, NAME=CONCEPT_ID"
            )
        if concept_ids.count(concept_id) > 1:
            raise OptionError(f"category {concept_id!r} is named twice")
        if names.count(name) > 1:
            raise OptionError(
                f"two categories are named {name!r}; add other names, NAME=CONCEPT_ID"
            )
    return pl.DataFrame(
        {"category": range(len(names)), "name": names, "concept_id": concept_ids},
        schema={"category": pl.Int32, "name": pl.String, "concept_id": pl.String},
    )


def _with_terms(
    wanted: pl.DataFrame, members: pl.DataFrame, terms: pl.DataFrame
) -> Iterator[Category]:
    """Yield the wanted categories with the terms that are theirs alone."""
    own = terms.filter(~pl.col("is_shared")).partition_by("category", as_dict=True)
    for category, name, concept_id in wanted.iter_rows():
        if (category,) not in own:
            below = members.filter(category=category)
            raise OptionError(
                f"category {name!r} ({concept_id}) has no terms of its own: active concepts below "
                f"it: {below.height:,}; of them below others, too: {below['is_shared'].sum():,}"
            )
        of_category = tuple(own[category,]["term"].sort())
        yield Category(name=name, concept_id=concept_id, terms=of_category)
