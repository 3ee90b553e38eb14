"""All terms of a terminology as arrays, joined by the positives; those of a finished build too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.corrections import corrections_in
from medsim.builds.negatives import TermIndex
from medsim.builds.output import BUILD, TERM_COLUMNS, TERM_FILE
from medsim.builds.positives import derive_names, derive_positives
from medsim.core.config import EASY_DISTANCE, POOLS
from medsim.core.errors import InputError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import fingerprint
from medsim.core.store import Store
from medsim.core.terms import pack
from medsim.kernels.components import components
from medsim.kernels.packing import term_hashes

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.builds.positives import Positives
    from medsim.kernels.types import Hashes, Ids


_DIFFICULTY_BY_PLACE = (None, "hard", "easy")
_HARD, _EASY = 1, 2

_HASHED_TERMS = 1 << 20  # packed at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """The positives of a terminology and the terms that they join."""

    positives: Positives
    index: TermIndex

    def paired(self) -> Ids:
        """Return the terms that may be in a pair, in order of text: int32[n_terms]."""
        if self.index.pool is not None:
            return self.index.pool
        is_paired = np.zeros(self.positives.terms.height, np.bool_)
        for side in ("term1_id", "term2_id"):
            is_paired[self.positives.pairs[side].to_numpy()] = True
        return np.flatnonzero(is_paired).astype(np.int32)

    def terms(self) -> pl.DataFrame:
        """Return the rows of ``TERM_FILE``: ``TERM_COLUMNS``."""
        terms = self.positives.terms.with_columns(pl.Series("component", self.index.components))
        pairs, node = self.positives.pairs, terms["node_id"].to_numpy()
        is_easy = (pairs["distance"] <= EASY_DISTANCE).to_numpy()
        ends = [node[pairs[side].to_numpy()] for side in ("term1_id", "term2_id")]
        of_node = np.zeros(int(node.max(initial=-1)) + 1, np.int8)
        for place, chosen in ((_HARD, slice(None)), (_EASY, is_easy)):
            for end in ends:
                of_node[end[chosen]] = place
        paired = self.paired()
        names = pl.Series("difficulty", _DIFFICULTY_BY_PLACE, dtype=pl.String)
        difficulty = names.gather(of_node[node[paired]])
        return terms[paired].with_columns(difficulty).select(*TERM_COLUMNS)


def index_terms(positives: Positives, store: Store, *, pool: str) -> TermIndex:
    """Return all terms as arrays, with the connected components that the positives make.

    Terms that people judged to mean the same are joined, too. The tables term_component (term_id,
    component_id) and pool (term_id) are left in the store.
    """
    terms, pairs = positives.terms, positives.pairs
    node = terms["node_id"].to_numpy()
    same = positives.corrected.filter("same")
    ends = [
        np.concatenate([node[pairs[of_pairs].to_numpy()], same[of_same].to_numpy()])
        for of_pairs, of_same in (("term1_id", "node1_id"), ("term2_id", "node2_id"))
    ]
    n_nodes = int(node.max(initial=-1)) + 1
    component = components(n_nodes, *ends)[node]
    component_ids = pl.Series("component_id", component, dtype=pl.Int32)
    store.put("term_component", terms.select("term_id", component_ids))
    usable = pairs if pool == "terminology" else pairs.clear()
    store.put("positive", usable.select("term1_id", "term2_id"))
    store.run("builds/terms/pool", pool=pool)
    store.drop("positive")
    shared = store.table("pool").sort("term_id")["term_id"].to_numpy()
    return TermIndex(
        lower=terms["lower_term"],
        hashes=content_hashes(terms["term"]),
        components=component,
        pool=shared if pool == "terminology" else None,
    )


def content_hashes(terms: pl.Series) -> Hashes:
    """Return ``term_hashes`` of a column of terms."""
    parts = [np.empty(0, np.uint64)]
    for first in range(0, len(terms), _HASHED_TERMS):
        exact = pack(terms.slice(first, _HASHED_TERMS))
        parts.append(term_hashes(exact.codes, exact.starts))
    return np.concatenate(parts)


def reload(build: Build, store: Store, threads: int) -> Derived:
    """Return the positives and terms that a build was made of, derived anew."""
    options = build.manifest.options
    language, rf2_rules = _view_terminology(build, store)
    positives = derive_positives(
        store,
        language=language,
        rf2_rules=rf2_rules,
        threads=threads,
        corrections=corrections_in(options),
    )
    pool = str(options.get("pool", POOLS[0]))
    return Derived(positives=positives, index=index_terms(positives, store, pool=pool))


def reload_names(build: Build, store: Store) -> pl.DataFrame:
    """Return all terms of a build, as ``Positives.terms``; the store has its tables and names."""
    language, rf2_rules = _view_terminology(build, store)
    return derive_names(store, language=language, rf2_rules=rf2_rules)


def node_components(build: Build, store: Store, threads: int) -> pl.DataFrame:
    """Return which terms positives join: node_id and component, without those that none has.

    The store has what ``reload_names`` leaves there. Corrections join terms that are in no pair, so
    a build with corrections is derived anew, like one of an earlier version.
    """
    if corrections_in(build.manifest.options) or TERM_FILE not in build.manifest.outputs:
        derived = reload(build, store, threads)
        terms = derived.positives.terms.with_columns(
            pl.Series("component", derived.index.components)
        )
    else:
        terms = reload_names(build, store).join(terms_of(build, threads), on="term")
    return terms.select("node_id", "component").unique("node_id")


def _view_terminology(build: Build, store: Store) -> tuple[str, bool]:
    """Show the canonical tables of a build; return the language and whether RF2's rules hold."""
    try:
        language = str(build.manifest.options["language"])
        rf2_rules = bool(build.manifest.source["rf2_rules"])
    except KeyError as error:
        raise InputError(f"{build.folder}: the manifest lacks {error}") from error
    views = BUILD.views_in(build.folder)
    store.view_files(
        build.folder, {view: views[view] for view in views if view in CANONICAL_TABLES}
    )
    return language, rf2_rules


def terms_of(build: Build, threads: int) -> pl.DataFrame:
    """Return the terms that the pairs of a build may have: ``TERM_COLUMNS``.

    They are read from the build; one of an earlier version, which lacks them, is derived anew.
    """
    known = build.manifest.outputs.get(TERM_FILE)
    if known is None:
        with Store(threads=threads) as store:
            return reload(build, store, threads).terms()
    terms = build.read(TERM_FILE)
    if fingerprint(terms) != known.fingerprint:
        raise InputError(
            f"{build.folder / TERM_FILE} does not hold the rows of the manifest; see medsim verify"
        )
    return terms
