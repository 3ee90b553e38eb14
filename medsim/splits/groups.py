"""The groups of concepts that must not be parted, and the splits that they go to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.output import BUILD
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.terms import lowered
from medsim.kernels.components import components

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.builds.output import Build
    from medsim.core.store import Store

_NUMBERS = 1 << 32  # of hashes of 8 hexadecimal digits

ASSIGNED_COLUMNS = {"group_id": pl.String, "split": pl.String}
"""The columns of groups whose split a rule names."""


def find_groups(store: Store, build: Build, language: str) -> pl.DataFrame:
    """Return the group of each concept: concept_id, group_id, in order of concept_id.

    A group is all concepts that chains of shared terms (ignoring case), positives, corrections and
    synonymy link; it is named by its smallest concept. The table concept_group is left in the
    store, and numbered_concept and concept_term.

    Args:
        store: with the canonical tables and what ``index_terms`` leaves there.
        build: whose they are.
        language: of the names.
    """
    number_concepts(store, build)
    store.run("splits/concept_term", language=language)
    links = store.frame("splits/link")
    concept_ids = store.table("numbered_concept").sort("concept_number")["concept_id"]
    n_nodes = store.n_rows("term")
    roots = components(
        len(concept_ids) + n_nodes, links["left_id"].to_numpy(), links["right_id"].to_numpy()
    )
    group_ids = concept_ids.gather(roots[: len(concept_ids)])  # concepts come before components
    groups = pl.DataFrame({"concept_id": concept_ids, "group_id": group_ids})
    store.put("concept_group", groups)
    return groups


def number_concepts(store: Store, build: Build) -> None:
    """Leave the table numbered_concept in a store with the canonical tables of a build."""
    if "code" not in BUILD.views_in(build.folder):  # as in builds of earlier versions
        store.put("code", pl.DataFrame(schema=CANONICAL_TABLES["code"]))
    store.run("splits/numbered_concept")


def place_groups(
    store: Store, shares: Mapping[str, Fraction], assigned: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Return the split of each concept, ``CONCEPT_SPLIT_COLUMNS``; the table concept_split is left.

    Args:
        store: with the table concept_group.
        shares: of the splits that groups are shared out to by their hashes; 1 together.
        assigned: groups whose split a rule names, ``ASSIGNED_COLUMNS``.
        seed: of the hash.
    """
    store.put("split_bound", _bounds(shares))
    store.put("assigned_group", assigned)
    store.run("splits/concept_split", seed=str(seed))
    return store.table("concept_split").sort("concept_id")


def _bounds(shares: Mapping[str, Fraction]) -> pl.DataFrame:
    """Return the numbers of each split: from ``low`` to less than ``high``."""
    rows, low, reached, total = [], 0, Fraction(0), sum(shares.values())
    for name, share in shares.items():
        reached += share
        high = math.ceil(_NUMBERS * reached / total)
        rows.append((name, low, high))
        low = high
    schema = {"split": pl.String, "low": pl.Int64, "high": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def find_left_out(store: Store, language: str) -> pl.DataFrame:
    """Return the descriptions that would show a term of one split in another.

    They make no term: they are inactive, or in another language.

    Args:
        store: with the tables description, term, numbered_concept, concept_term and concept_split;
            the table term_split is left there.
        language: of the names.

    Returns:
        description_id, concept_id, split.
    """
    texts = store.frame("splits/other_text", language=language)["term"]
    lower = pl.Series("lower_term", lowered(texts.to_list()), dtype=pl.String)
    store.put("other_text", pl.DataFrame([texts, lower]))
    store.run("splits/term_split")
    store.run("splits/left_out", language=language)
    store.drop("other_text")
    return store.table("left_out")
