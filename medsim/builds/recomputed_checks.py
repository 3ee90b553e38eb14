"""Checks of a build against what its canonical tables and its seed give once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.builds.checks import finding
from medsim.builds.datasets import (
    SetKey,
    SetMaker,
    positive_rows,
    set_keys,
    with_term_ids,
)
from medsim.builds.positives import pair_distances
from medsim.builds.reload import reload
from medsim.builds.stats import stats_row
from medsim.builds.term_index import TERM_FILE
from medsim.core.errors import InputError
from medsim.kernels.hashing import tie_hashes

if TYPE_CHECKING:
    from medsim.builds.negatives import UsedPairs
    from medsim.builds.term_index import Derived
    from medsim.core.opened import Build
    from medsim.core.progress import Stage
    from medsim.core.store import Store
    from medsim.kernels.types import Ids

Rows: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]

_ROUNDING = 1e-5  # relative, of means that were added up in another order
_NEAR_ZERO = 1e-8  # absolute, of means near zero
_QUERIES_AT_ONCE = 16  # of brute force, so that their distances to all terms fit in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """A build, and the same derived anew from its canonical tables.

    Attributes:
        build: the build.
        store: with its tables and the view pair.
        derived: positives and terms.
        pairs: the rows on disk of each set, with term1_id and term2_id added; the ids are null
            where a term is none of the terminology's.
        seed: of the build.
        threads: how many to use.
    """

    build: Build
    store: Store
    derived: Derived
    pairs: dict[SetKey, pl.DataFrame]
    seed: int
    threads: int

    def maker(self, strategy: str) -> SetMaker:
        """Return what makes the sets of one strategy anew."""
        derived, store = self.derived, self.store
        return SetMaker(strategy, derived, store, seed=self.seed, threads=self.threads)

    def pool(self, pairs: pl.DataFrame) -> Ids:
        """Return the terms that the negatives of a set are drawn from, in order of text."""
        if self.derived.index.pool is not None:
            return self.derived.index.pool
        positive = pairs.filter(pl.col("label") == 1)
        both = pl.concat([positive["term1_id"], positive["term2_id"]])
        return both.unique().sort().to_numpy()


def recompute(build: Build, store: Store, threads: int) -> Recomputed:
    """Return a build with all that its canonical tables give.

    Raises:
        InputError: the manifest lacks the options that this needs.
    """
    try:
        seed = int(str(build.manifest.options["seed"]))
    except (KeyError, ValueError) as error:
        raise InputError(f"{build.folder}: the manifest lacks {error}") from error
    derived = reload(build, store, threads)
    keys = [key for strategy in build.strategies for key in set_keys(strategy)]
    return Recomputed(
        build=build,
        store=store,
        derived=derived,
        pairs={key: with_term_ids(build.read(key.path), derived.positives.terms) for key in keys},
        seed=seed,
        threads=threads,
    )


def check_positives(recomputed: Recomputed) -> pl.DataFrame:
    """Return whether every set has the positives that the rules give, and no others."""
    columns = ["term1_id", "term2_id", "concept1", "concept2", "distance"]
    wrong = []
    for key, pairs in recomputed.pairs.items():
        expected = positive_rows(recomputed.derived.positives, key).select(columns)
        found = pairs.filter(pl.col("label") == 1).select(columns)
        n_missing = expected.join(found, on=columns, how="anti").height
        n_surplus = found.join(expected, on=columns, how="anti", nulls_equal=True).height
        wrong += [str(key)] * (n_missing + n_surplus)
    return counted_finding("positives", "The positives are those that the rules give.", wrong)


def check_terms(recomputed: Recomputed) -> pl.DataFrame:
    """Return whether the terms of pairs have the components and difficulties of the positives."""
    found, expected = recomputed.build.read(TERM_FILE), recomputed.derived.terms()
    wrong = [] if found.equals(expected) else [TERM_FILE]
    return counted_finding("terms", "Terms that positives link have one component.", wrong)


def check_rows(recomputed: Recomputed) -> pl.DataFrame:
    """Return whether ids, distances and the order of rows are what the texts and the seed give."""
    lower = recomputed.derived.positives.terms["lower_term"].to_list()
    wrong = []
    for key, pairs in recomputed.pairs.items():
        known = pairs.drop_nulls(["term1_id", "term2_id"])
        wrong += [str(key)] * (pairs.height - known.height)
        distance = pair_distances(lower, known["term1_id"], known["term2_id"], recomputed.threads)
        draft = known.with_columns(distance)
        recomputed.store.put("pair_draft", draft)
        expected = recomputed.store.frame("builds/pairs/pair", seed=str(recomputed.seed))
        recomputed.store.drop("pair_draft")
        found = known.select(expected.columns)
        if not expected.equals(found):
            differs = [expected[name] != found[name] for name in expected.columns]
            wrong += [str(key)] * int(pl.select(pl.any_horizontal(differs)).to_series().sum())
    return counted_finding(
        "rows", "Ids, distances and the order of rows follow from the texts.", wrong
    )


def check_stats(recomputed: Recomputed) -> pl.DataFrame:
    """Return whether the statistics are those of the rows."""
    rows = [stats_row(key.columns(), pairs) for key, pairs in recomputed.pairs.items()]
    expected = pl.concat(rows).sort("dataset", "difficulty", "negatives")
    wrong = [] if statistics_agree(recomputed.build.stats(), expected) else ["stats.parquet"]
    return counted_finding("stats", "The statistics are those of the rows.", wrong)


def statistics_agree(found: pl.DataFrame, expected: pl.DataFrame) -> bool:
    """Return whether two tables have one schema and equal rows, means but for rounding.

    A missing value is equal to a missing one alone, so that a lost mean is found.
    """
    if found.schema != expected.schema or found.height != expected.height:
        return False
    for name, dtype in expected.schema.items():
        ours, theirs = expected[name], found[name]
        if dtype.is_float():
            close = {"rel_tol": _ROUNDING, "abs_tol": _NEAR_ZERO}
            same = ours.is_close(theirs, **close, nans_equal=True)
            if not (ours.is_null() == theirs.is_null()).all() or not same.all():
                return False
        elif not ours.equals(theirs):
            return False
    return True


def check_random(recomputed: Recomputed, stage: Stage) -> pl.DataFrame:
    """Return whether drawing the random negatives again gives the same."""
    maker = recomputed.maker("random")
    wrong = []
    for key in set_keys("random"):
        found = recomputed.pairs[key].drop("term1_id", "term2_id")
        if not maker.make(key, stage).equals(found):
            wrong.append(str(key))
    return counted_finding("random", "The seed gives the random negatives again.", wrong)


def check_nearest(recomputed: Recomputed, sample: int, stage: Stage) -> pl.DataFrame:
    """Return whether sampled first terms have their nearest allowed terms, by brute force."""
    maker = recomputed.maker("levenshtein")
    keys = set_keys("levenshtein")
    stage.total(sample * len(keys))
    wrong, n_compared = [], 0
    for key in keys:
        pairs = recomputed.pairs[key].drop_nulls(["term1_id", "term2_id"])
        used = maker.used_before(key)
        firsts = sampled(pairs, sample)
        for first, expected in _greedy(recomputed, pairs, used, firsts):
            found = pairs.filter((pl.col("term1_id") == first) & (pl.col("label") == 0))
            n_compared += 1
            stage.advance()
            if set(found["term2_id"]) != set(expected.tolist()):
                wrong.append(str(key))
        maker.take_over(key, pairs.drop("term1_id", "term2_id"))
    stage.found(f"{n_compared:,} first terms")
    promise = f"{n_compared:,} first terms have the nearest terms that brute force finds."
    return counted_finding("nearest", promise, wrong)


def sampled(pairs: pl.DataFrame, sample: int) -> Ids:
    """Return first terms spread evenly over a set, in order of text."""
    firsts = pairs.filter(pl.col("label") == 1)["term1_id"].unique().sort().to_numpy()
    n_sampled = min(sample, len(firsts))
    return firsts[np.linspace(0, len(firsts) - 1, n_sampled).astype(np.int64)]


def _greedy(
    recomputed: Recomputed, pairs: pl.DataFrame, used: UsedPairs, firsts: Ids
) -> list[tuple[int, Ids]]:
    """Return for each first term what the greedy rule gives it, by comparing it with all terms."""
    positive = pairs.filter(pl.col("label") == 1)
    negative = pairs.filter(pl.col("label") == 0)
    pool = recomputed.pool(pairs)
    lower = recomputed.derived.positives.terms["lower_term"]
    texts = lower[pool].to_list()
    served = []
    for begin in range(0, len(firsts), _QUERIES_AT_ONCE):
        batch = firsts[begin : begin + _QUERIES_AT_ONCE]
        distances = cdist(
            lower[batch].to_list(),
            texts,
            scorer=Levenshtein.distance,
            dtype=np.int32,
            workers=recomputed.threads,
        )
        for first, distance in zip(batch.tolist(), distances, strict=True):
            refused = refused_terms(recomputed, first, pool, negative, used)
            wanted = positive.filter(pl.col("term1_id") == first).height
            near = _not_farther(distance, np.flatnonzero(~refused), wanted)
            hashes = recomputed.derived.index.hashes
            ties = tie_hashes(np.uint64(recomputed.seed), hashes[first], hashes[pool[near]])
            order = np.lexsort((near, ties, distance[near]))
            served.append((first, pool[near[order]][:wanted]))
    return served


def _not_farther(distance: Ids, allowed: Rows, wanted: int) -> Rows:
    """Return the allowed rows that are no farther than the last that is wanted."""
    if wanted >= len(allowed):
        return allowed
    bound = np.partition(distance[allowed], wanted - 1)[wanted - 1]
    return allowed[np.asarray(distance[allowed] <= bound, np.bool_)]


def refused_terms(
    recomputed: Recomputed, first: int, pool: Ids, negative: pl.DataFrame, used: UsedPairs
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which terms of the pool the first term must not be paired with: bool[n_pool].

    They are those linked to it, those of its pairs in earlier sets, and the first terms served
    before it in this set that took it.
    """
    linked = recomputed.derived.index.components[pool] == recomputed.derived.index.components[first]
    earlier = [used.term2_ids[used.term1_ids == first], used.term1_ids[used.term2_ids == first]]
    took_it = negative.filter((pl.col("term2_id") == first) & (pl.col("term1_id") < first))
    taken = np.concatenate([*earlier, took_it["term1_id"].to_numpy()])
    return np.asarray(linked | np.isin(pool, taken), np.bool_)


def counted_finding(check: str, promise: str, wrong: list[str]) -> pl.DataFrame:
    """Return one row of findings from a place for each violation."""
    return finding(check, promise, len(wrong), wrong[0] if wrong else "")
