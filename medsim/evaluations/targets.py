"""The targets of an evaluation: pairs of inputs, and of builds the terms and categories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.positives import reload_names
from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, OptionError, counted
from medsim.core.store import Store
from medsim.core.terms import pack
from medsim.evaluations.inputs import EvaluationInput, read_inputs
from medsim.evaluations.sets import parts_of_sets, whole_sets, with_parts
from medsim.evaluations.strata import Stratification, read_words
from medsim.kernels.packing import term_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.builds.output import Build
    from medsim.core.progress import Progress
    from medsim.evaluations.options import EvaluateOptions
    from medsim.kernels.types import Hashes, Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTerms:
    """The terms of a build, each once however its case is written.

    Attributes:
        terms: a row per term in order of text: term, component (equal for terms that positives
            link), difficulty ("easy" where the nearest positive is, null where there is none),
            n_words, is_linked (whether another term has the same component).
    """

    terms: pl.DataFrame

    @property
    def components(self) -> Ids:
        """The component of each term: int32[n_terms]."""
        return self.terms["component"].to_numpy()

    @property
    def hashes(self) -> Hashes:
        """A hash of each term's content: uint64[n_terms]."""
        packed = pack(self.terms["term"].to_list())
        return np.asarray(term_hashes(packed.codes, packed.starts), np.uint64)


def linked_terms(build: Build) -> LinkedTerms:
    """Return the terms that a build draws negatives from, with what positives link.

    They are the terms of all positives, or with ``pool=terminology`` those of the terminology. Of
    terms that are equal when case is ignored the first in order of text stands for all.
    """
    terms = (
        build.terms()
        .unique("lower_term", keep="first", maintain_order=True)
        .select(
            "term",
            "component",
            "difficulty",
            pl.col("term").map_elements(lambda term: len(term.split()), pl.Int32).alias("n_words"),
            (pl.len().over("component") > 1).alias("is_linked"),
        )
    )
    return LinkedTerms(terms=terms)


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
    if not named and not build.manifest.source["rf2_rules"]:
        raise OptionError(f"{build.folder} has no default categories; {_HOW}")
    parsed: list[tuple[str | None, str]] = []
    for text in named or RF2_CATEGORIES:
        name, equals, concept_id = (part.strip() for part in text.rpartition("="))
        if not concept_id or (equals and not name) or not text.isprintable():
            raise OptionError(f"a category is CONCEPT_ID or NAME=CONCEPT_ID, not {text!r}")
        parsed.append((name or None, concept_id))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTarget:
    """An input, with the terms for retrieval and the categories for separation.

    Attributes:
        pairs: the input.
        linked: the terms among which linked ones are looked for; None where that is not asked for.
        categories: those that are to be kept apart; None where that is not asked for.
    """

    pairs: EvaluationInput
    linked: LinkedTerms | None
    categories: Categories | None

    @property
    def name(self) -> str:
        """The name of the input."""
        return self.pairs.name

    def provenance(self) -> dict[str, object]:
        """Return the provenance of the input, its categories included."""
        if self.categories is None:
            return self.pairs.provenance
        return {**self.pairs.provenance, "categories": self.categories.provenance()}

    def terms(self) -> pl.Series:
        """Return the terms that need vectors, distinct, in any order."""
        parts = [self.pairs.frame["term1"], self.pairs.frame["term2"]]
        if self.linked is not None:
            parts.append(self.linked.terms["term"])
        if self.categories is not None:
            parts.append(pl.Series(self.categories.terms(), dtype=pl.String))
        return pl.concat([part.rename("term") for part in parts]).unique()


def read_targets(options: EvaluateOptions, progress: Progress) -> list[EvaluationTarget]:
    """Return the targets of an evaluation; OptionError if no input is what an option needs."""
    with progress.stage("read inputs") as stage:
        words = None if options.words is None else read_words(Path(options.words))
        stratification = Stratification(
            words=words,
            bins=tuple(options.bins),
            topic_bins=tuple(options.topic_bins),
            equal_parts=options.equal_parts,
        )
        inputs = read_inputs(options.input_paths, stratification)
        sizes = []
        for one in inputs:
            n_parts = parts_of_sets(one.frame)["dataset"].n_unique() if one.rated else 0
            n_pairs = whole_sets(one.frame).height if one.rated else one.frame.height
            parts = f", {counted(n_parts, 'part')}" if n_parts else ""
            sizes.append(f"{one.name}: {counted(n_pairs, 'pair')}{parts}")
        stage.found(", ".join(sizes))
    for warnings in (words.warnings if words else (), *(one.warnings for one in inputs)):
        for warning in warnings:
            progress.warn(warning)
    _check(options, inputs)
    return [_target(one, options, progress) for one in inputs]


def _check(options: EvaluateOptions, inputs: list[EvaluationInput]) -> None:
    """Raise OptionError if no input is of the kind that an option is for."""
    rated = [one for one in inputs if one.rated]
    if len(rated) == len(inputs):
        for what, asked in (("retrieval", options.retrieval), ("separation", options.separates)):
            if asked:
                raise OptionError(f"{what} needs a build among the inputs, not only rated files")
    if options.words is not None and not rated:
        raise OptionError("`words` divide rated files into parts, and no input is one")
    named = [with_parts(one.frame)["part"].drop_nulls() for one in rated]
    there = {part for parts in named for part in parts.unique()}
    for option, given, part, what in (
        ("bins", options.bins, "count", "counts of words"),
        ("topic_bins", options.topic_bins, "topics", "numbers of topics"),
    ):
        if given and part not in there:
            raise OptionError(
                f"`{option}` are of {what}, and no pair has both of its words counted in one of "
                "them; say by `words` where the counts stand"
            )
    if options.equal_parts is not None and not there & {"count", "topics"}:
        raise OptionError(
            "`equal_parts` cuts by counts of words and numbers of topics, and none are known; say "
            "by `words` where they stand"
        )


def _target(one: EvaluationInput, options: EvaluateOptions, progress: Progress) -> EvaluationTarget:
    linked = categories = None
    if options.retrieval and one.build is not None:
        with progress.stage(f"link terms of {one.name}") as stage:
            linked = linked_terms(one.build)
            n_linked = int(linked.terms["is_linked"].sum())
            stage.found(f"{n_linked:,} of {linked.terms.height:,} terms have a linked term")
    if options.separates and one.build is not None:
        with progress.stage(f"find categories of {one.name}") as stage:
            named = options.categories or (*options.near, *options.far)
            categories = categories_of(one.build, named, options.n_threads, n_far=len(options.far))
            of_each = (f"{c.name}: {len(c.terms):,} terms" for c in categories.categories)
            stage.found(", ".join(of_each))
    return EvaluationTarget(pairs=one, linked=linked, categories=categories)
