"""The rules by which groups are shared out: by chance, by category, by release."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.output import Build
from medsim.builds.term_index import reload_names
from medsim.core.errors import InputError, OptionError, counted, unknown_name
from medsim.core.options import folder_of
from medsim.core.store import Store
from medsim.splits.groups import ASSIGNED_COLUMNS, number_concepts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from medsim.splits.options import SplitOptions

_TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The outcome of a rule: groups whose split it names, and shares for the others.

    Attributes:
        shares: of the splits that groups are shared out to by their hashes.
        assigned: the groups whose split the rule names: ``ASSIGNED_COLUMNS``.
        facts: about the rule, for the manifest.
        about: the same in a few words.
    """

    shares: Mapping[str, Fraction]
    assigned: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ASSIGNED_COLUMNS))
    facts: Mapping[str, object] = field(default_factory=dict)
    about: str = ""


def apply_rule(
    store: Store,
    build: Build,
    options: SplitOptions,
    shares: Mapping[str, Fraction],
    threads: int,
) -> Assignment:
    """Return the outcome of the rule for the groups of a build.

    Args:
        store: with what ``find_groups`` leaves there.
        build: that is split.
        options: of the run.
        shares: of the splits.
        threads: to use.

    Raises:
        InputError: the earlier build cannot be read.
        OptionError: the rule does not fit the build.
    """
    if options.by == "category":
        return _by_category(store, build, options, shares)
    if options.by == "release":
        return _by_release(store, build, options, shares, threads)
    return Assignment(shares=shares)


def _by_category(
    store: Store, build: Build, options: SplitOptions, shares: Mapping[str, Fraction]
) -> Assignment:
    groups = store.frame("splits/group_category")
    sizes = groups.group_by("category").agg(pl.col("n_concepts").sum())
    if sizes.filter(pl.col("category") != "").is_empty():
        raise OptionError(
            f"{build.folder} has no categories: its concepts have no semantic tags, as those of "
            "RF2, UMLS and OMOP have; leave out `by` category"
        )
    dealt = deal_categories(
        dict(sizes.iter_rows()), shares, options.test_categories, seed=options.seed
    )
    splits = pl.DataFrame(
        [(category, name) for name, categories in dealt.items() for category in categories],
        schema={"category": pl.String, "split": pl.String},
        orient="row",
    )
    return Assignment(
        shares=shares,
        assigned=groups.join(splits, on="category").select(*ASSIGNED_COLUMNS),
        facts={"categories": dealt},
        about=f"of {counted(sizes.height, 'category', 'categories')}",
    )


def deal_categories(
    sizes: Mapping[str, int],
    shares: Mapping[str, Fraction],
    of_test: Sequence[str],
    *,
    seed: int,
) -> dict[str, list[str]]:
    """Return the categories of each split, in order of name.

    The largest comes first, of equally large ones the smaller by the hash of seed and name; each
    goes to the split that lacks most concepts of its share; of several, to the smallest.

    Args:
        sizes: how many concepts each category has.
        shares: of the splits.
        of_test: the categories of the test split; if there are any, the others are dealt to the
            other splits.
        seed: of the hash.

    Raises:
        OptionError: a category is unknown.
    """
    for category in of_test:
        if category not in sizes:
            raise OptionError(unknown_name("category", category, sorted(filter(None, sizes))))
    dealt: dict[str, list[str]] = {name: [] for name in shares}
    dealt[_TEST] += set(of_test)
    rest = {name: size for name, size in sizes.items() if name not in of_test}
    open_to = {name: share for name, share in shares.items() if name != _TEST or not of_test}
    total = sum(rest.values())
    lacks = {name: total * share / sum(open_to.values()) for name, share in open_to.items()}
    for category in sorted(rest, key=lambda one: (-rest[one], _hash(seed, one), one)):
        neediest = max(lacks, key=lambda name: (lacks[name], lacks[name] / open_to[name]))
        dealt[neediest].append(category)
        lacks[neediest] -= rest[category]
    return {name: sorted(categories) for name, categories in dealt.items()}


def _hash(seed: int, text: str) -> str:
    return hashlib.md5(f"{seed} {text}".encode(), usedforsecurity=False).hexdigest()


def _by_release(
    store: Store,
    build: Build,
    options: SplitOptions,
    shares: Mapping[str, Fraction],
    threads: int,
) -> Assignment:
    if options.since is None:  # which the options' check refuses
        raise OptionError("`by` release needs a build of an earlier release; add `since`")
    earlier = Build(folder_of(options.since))
    _check_earlier(earlier, build)
    with Store(threads=threads) as own:
        terms = reload_names(earlier, own)
        number_concepts(own, earlier)
        store.put("earlier_concept", own.table("numbered_concept").select("concept_id"))
        store.put("earlier_term", terms.select("lower_term").unique(maintain_order=True))
    ages = store.frame("splits/group_age")
    store.drop("earlier_concept", "earlier_term")
    new = ages.filter("is_new").select("group_id", split=pl.lit(_TEST))
    n_mixed = int(ages["is_mixed"].sum())
    return Assignment(
        shares={name: share for name, share in shares.items() if name != _TEST},
        assigned=new,
        facts={
            "since": str(earlier.folder.absolute()),
            "release_date": earlier.manifest.source.get("release_date"),
            "n_new_groups": new.height,
            "n_mixed_groups": n_mixed,
        },
        about=f"{new.height:,} of them new, {n_mixed:,} with both old and new",
    )


def _check_earlier(earlier: Build, build: Build) -> None:
    """Raise OptionError unless a build is of an earlier release of the same terminology."""
    ours, theirs = build.manifest, earlier.manifest
    facts: dict[str, tuple[Any, Any]] = {
        "vocabulary": (ours.source.get("vocabulary"), theirs.source.get("vocabulary")),
        "language": (ours.options.get("language"), theirs.options.get("language")),
    }
    for noun, (own, other) in facts.items():
        if own is not None and other is not None and own != other:
            raise OptionError(
                f"`since` {earlier.folder} is of {noun} {other!r}, {build.folder} of {own!r}; name "
                "an earlier build of the same terminology and language"
            )
    day, before = (one.source.get("release_date") for one in (ours, theirs))
    if day is not None and before is not None and str(before) >= str(day):
        raise OptionError(
            f"`since` {earlier.folder} is of {before}, {build.folder} of {day}; name a build of an "
            "earlier release"
        )
    if earlier.folder.samefile(build.folder):
        raise InputError(
            f"`since` {earlier.folder} is the build that is split; name an earlier one"
        )
