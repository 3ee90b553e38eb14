"""The terms of builds for retrieval, and their categories for separation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.positives import named_concepts, reload_names
from medsim.core.canonical import canonical_digest
from medsim.core.errors import OptionError
from medsim.core.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.output import Build


RF2_CATEGORIES = ("103693007", "277132007", "410607006")
"""SNOMED CT's diagnostic and therapeutic procedure, near, and organism, far, as in the paper."""

_ADVICE = "give two CONCEPT_IDs with `near` and one with `far`, or at least two with `categories`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A category: a concept and its descendants.

    Attributes:
        terms: the terms of its descendants, in order of code points; no two are equal ignoring
            case, and no other category has any of them.
    """

    name: str
    concept_id: str
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """The categories of a build.

    Attributes:
        categories: at least two, in the order in which they were named.
        n_far: the number of far categories, the last ones; the first two are near to each other. 0
            if no categories are near.
        n_shared_concepts: concepts left out because they are below several of the categories.
        n_shared_terms: terms of the other concepts, left out because several categories have them.
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
                {"name": c.name, "concept_id": c.concept_id, "n_terms": len(c.terms)}
                for c in self.categories
            ],
            "n_shared_concepts": self.n_shared_concepts,
            "n_shared_terms": self.n_shared_terms,
            "fingerprint": canonical_digest(
                [(c.name, c.concept_id, c.terms) for c in self.categories]
            ),
            **({"n_far": self.n_far} if self.n_far else {}),
        }


def categories_of(
    build: Build, named: Sequence[str], threads: int, *, n_far: int = 0
) -> Categories:
    """Return the categories of a build and their terms.

    Args:
        build: a build of a terminology with is-a relationships.
        named: the concept of each category, as "CONCEPT_ID" or "NAME=CONCEPT_ID"; empty for the
            paper's categories, if the build is of an RF2 release.
        threads: threads of the database.
        n_far: see ``Categories``; 1 for the paper's categories.

    Raises:
        InputError: the manifest is incomplete.
        OptionError: fewer than two categories are named, or one twice, or one whose concept is
            unknown or has no terms; or none is named and the build has no default.
    """
    if not named and not build.manifest.source["rf2_rules"]:
        raise OptionError(f"{build.folder} has no default categories; {_ADVICE}")
    with Store(threads=threads) as store:
        reload_names(build, store)
        chosen = named_concepts(store, named or RF2_CATEGORIES, f"; {_ADVICE}")
        if len(chosen) == 1:
            raise OptionError(f"{chosen[0][0]!r} is the only category; {_ADVICE}")
        rows = [(at, concept_id) for at, (_, concept_id) in enumerate(chosen)]
        schema = {"category": pl.Int32, "concept_id": pl.String}
        store.put("category", pl.DataFrame(rows, schema, orient="row"))
        store.run("evaluations/category_member")
        members = store.table("category_member")
        terms = store.frame("evaluations/category_term")
    categories = []
    for at, (name, concept_id) in enumerate(chosen):
        category_terms = terms.filter(~pl.col("is_shared"), category=at)["term"].sort()
        if category_terms.is_empty():
            below = members.filter(category=at)
            raise OptionError(
                f"category {name!r} ({concept_id}) has no terms of its own: of the "
                f"{below.height:,} active concepts below it, {below['is_shared'].sum():,} are "
                "below other categories too"
            )
        categories.append(Category(name=name, concept_id=concept_id, terms=tuple(category_terms)))
    return Categories(
        categories=tuple(categories),
        n_far=n_far if named else 1,
        n_shared_concepts=members.filter("is_shared")["concept_id"].n_unique(),
        n_shared_terms=terms.filter("is_shared")["node_id"].n_unique(),
    )
