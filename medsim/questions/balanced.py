"""Chooses wrong names so that no rule of spelling finds the right one more often than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.spelling import Fragments
from medsim.core.progress import Progress
from medsim.core.terms import content_hashes
from medsim.kernels.balance import MAX_CLASS, balanced_sets
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Ids, Ranks, Starts, starts_of
from medsim.neighbours.rankers import largest_dot_products, term_counts
from medsim.neighbours.search import NearestSearch, Terms
from medsim.questions.output import TIERS
from medsim.questions.rules import N_SCORES, NameScores, likeness_of

if TYPE_CHECKING:
    import polars as pl

_N_EACH = 6  # candidates of a kind
_N_SIMILAR = 24  # names with similar trigrams; linked names are among them
_MAX_NAMES = 1_000  # that have a trigram; others are not compared
_N_AT_ONCE = 1 << 12  # questions


def choose_balanced(
    names: pl.DataFrame,
    positives: pl.DataFrame,
    n_wrong: int,
    scores: NameScores,
    seed: int,
    threads: int,
    progress: Progress,
) -> Ranks:
    """Return wrong names that keep the rank of the right name uniform by every rule, in every tier.

    Questions are balanced in their order, by ``medsim.kernels.balance.balanced_sets``.

    Args:
        names: distinct names, see ``medsim.questions.making.make_questions``.
        positives: positives whose ids are rows of ``names``, in an order drawn from the seed.
        n_wrong: number of wrong names.
        scores: the scores of names.
        seed: random seed.
        threads: number of threads; the result does not depend on it.
        progress: receives the stages.

    Returns:
        int32[n_questions, n_wrong], rows of names; -1 for a question that a rule would answer too
        often, or with too few names.
    """
    asked, right = (positives[end].to_numpy() for end in ("term1_id", "term2_id"))
    hashes = content_hashes(names["term"])
    draws = tie_hashes(np.uint64(seed), hashes[asked], hashes[right])
    with progress.stage(f"find similar names for {len(asked):,} questions"):
        candidates = _candidates(names, asked, right, max(_N_EACH, n_wrong), threads)
    sizes, n_cells = np.zeros(len(TIERS), np.int32), max(n_wrong, 2 * MAX_CLASS) + 1
    totals = np.zeros((len(TIERS), N_SCORES + 1, n_cells))
    wrong = np.empty((len(asked), n_wrong), np.int32)
    with progress.stage(f"balance the wrong names of {len(asked):,} questions") as stage:
        stage.total(len(asked))
        for begin in range(0, len(asked), _N_AT_ONCE):
            part = slice(begin, begin + _N_AT_ONCE)
            ids, firsts = candidates[part], np.repeat(asked[part, None], candidates.shape[1], 1)
            scored = np.zeros((N_SCORES, *ids.shape), np.float32)
            scored[:, ids >= 0] = scores.of(firsts[ids >= 0], ids[ids >= 0])
            scored[0] = np.searchsorted([*filter(None, TIERS.values())], scored[0])
            texts = names["lower_term"].gather(ids.clip(0).ravel()).reshape(ids.shape).to_list()
            likeness = np.array([*map(likeness_of, texts)])
            table = ids, scored, likeness, draws[part]
            wrong[part] = balanced_sets(*table, totals, sizes, n_wrong + 1)
            stage.advance(len(ids))
    return wrong


def _candidates(names: pl.DataFrame, asked: Ids, right: Ids, n_each: int, threads: int) -> Ranks:
    """Return for each question its right name, and then candidates for wrong names; -1 for none.

    Candidates are the names nearest to the term by edit distance, names with trigrams like those of
    the term or of the right name, and names about as long and with as many words as the right name.
    """
    lower, component = names["lower_term"], names["component"].to_numpy()
    hashes = content_hashes(names["term"])
    anchors, of_anchor = np.unique(asked, return_inverse=True)
    pool = Terms(terms=lower, components=component, hashes=hashes)
    search = NearestSearch(pool, seed=0, threads=threads)
    near = search.nearest(anchors, np.full(len(anchors), n_each, np.int32))
    similar = _similar(lower, component)
    lengths, n_words = lower.str.len_chars(), lower.str.count_matches(" ")
    in_order = np.lexsort((hashes, lengths, n_words)).astype(np.int32)
    # Steps from a name in this order become longer; the last are a hundredth of all names.
    steps = np.arange(1, n_each // 2 + 2)
    steps = np.maximum(steps, steps**2 * len(lower) // (100 * steps[-1] ** 2))
    alike = in_order[(np.argsort(in_order)[right, None] + [*steps, *-steps]) % len(lower)]
    nearest = _table(near.ids, near.starts, n_each)[of_anchor]
    table = np.column_stack([nearest, similar[asked], similar[right], alike])
    table.sort(axis=1)
    is_left_out = component[table] == component[asked, None]
    is_left_out[:, 1:] |= np.diff(table, axis=1) == 0
    table[is_left_out] = -1
    return np.column_stack([right, table])


def _table(ids: Ids, starts: Starts, width: int) -> Ranks:
    """Return lists as rows of a table, which end with -1."""
    table = np.full((len(starts) - 1, width), -1, np.int32)
    table[np.arange(width) < np.diff(starts)[:, None]] = ids
    return table


def _similar(lower: pl.Series, component: Ids) -> Ranks:
    """Return unlinked names with similar trigrams for each name, by the cosine of rarities."""
    trigrams = Fragments.trigrams(lower)
    rows = np.repeat(np.arange(len(lower), dtype=np.int32), np.diff(trigrams.starts))
    is_kept = np.bincount(trigrams.items)[trigrams.items] <= _MAX_NAMES
    items, rows = trigrams.items[is_kept], rows[is_kept]
    lengths = np.sqrt(np.bincount(rows, trigrams.rarity[items] ** 2, minlength=len(lower)))
    bags = term_counts(items, starts_of(np.bincount(rows, minlength=len(lower))))
    names = bags._replace(values=bags.values * trigrams.rarity[bags.terms])
    weights = names.values / np.repeat(lengths, np.diff(names.starts))
    table, _ = largest_dot_products(names, names._replace(values=weights), _N_SIMILAR, 1)
    unlinked_first = (component[table] == component[:, None]).argsort(axis=1, kind="stable")
    return np.take_along_axis(table, unlinked_first[:, :_N_EACH], axis=1)
