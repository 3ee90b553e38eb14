"""Makes multiple-choice questions: another name of a term, among names without a link to it.

Wrong names are balanced, so that no rule of spelling finds the right one more often than by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.positives import pair_distances, relations_in, reload_names
from medsim.builds.spelling import Fragments
from medsim.core.progress import Progress
from medsim.core.store import Store
from medsim.core.terms import content_hashes, lowered_column, numbers_of
from medsim.kernels.balance import MAX_CLASS, balanced_sets
from medsim.kernels.components import components
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Ids, Ranks, Rows, starts_of
from medsim.neighbours.difference import DifferenceClassifier, folded
from medsim.neighbours.rankers import largest_dot_products, term_counts
from medsim.neighbours.search import NearestSearch, Terms
from medsim.questions.output import QUESTION, TIERS
from medsim.questions.question import LETTERS
from medsim.questions.rules import N_SCORES, NameScores, likeness_of

if TYPE_CHECKING:
    from medsim.builds.output import Build

_ENDS = ("term1_id", "term2_id")


def make_questions(
    terms: pl.DataFrame,
    positives: pl.DataFrame,
    labelled: pl.DataFrame,
    choose_wrong: Callable[[pl.DataFrame, pl.DataFrame, NameScores], tuple[Rows, Ranks]],
    *,
    seed: int,
    threads: int,
    progress: Progress,
) -> pl.DataFrame:
    """Return a question for each positive, in the order of the positives.

    Positives between equal names are left out, and repeated ones. The right name is equally often
    at each position, in each tier and in all tiers together.

    Args:
        terms: terms of a build, ``medsim.builds.output.TERM``.
        positives: pair_id, term1_id, term2_id, concept1, concept2 and negatives, the strategy of
            wrong names; ids are rows of ``terms``.
        labelled: term1, term2 and label of pairs that a spelling classifier learns from.
        choose_wrong: takes distinct names, with the columns of ``terms``, positives whose ids are
            rows of these names, and the scores of names. Returns the rows of the positives that
            have wrong names, int64[n_questions], and the rows of the wrong names,
            int32[n_questions, n_wrong].
        seed: random seed; it decides the order of choices.
        threads: number of threads.
        progress: receives the stage.

    Returns:
        The columns of ``QUESTION`` but for those of ``with_relations``.
    """
    names, numbers = _distinct(terms)
    either = pl.min_horizontal(_ENDS), pl.max_horizontal(_ENDS)
    pairs = positives.with_columns(pl.Series(end, numbers[positives[end]]) for end in _ENDS).filter(
        pl.col(_ENDS[0]) != pl.col(_ENDS[1]),
        pl.col("pair_id") == pl.min("pair_id").over(either),
    )
    with progress.stage(f"learn the spelling of {labelled.height:,} pairs"):
        first, second = (
            numbers[numbers_of(labelled[side], terms["term"])] for side in ("term1", "term2")
        )
        scores = NameScores(names, first, second, labelled["label"].to_numpy() == 1)
    if not scores.is_learned:
        progress.warn(
            "too few pairs for a spelling classifier; the rule spelling is that of rare trigrams"
        )
    rows, wrong = choose_wrong(names, pairs, scores)
    with progress.stage(f"write {len(rows):,} questions"):
        return _with_choices(pairs[rows], wrong, names, scores, seed, threads)


def _with_choices(
    pairs: pl.DataFrame,
    wrong: Ranks,
    names: pl.DataFrame,
    scores: NameScores,
    seed: int,
    threads: int,
) -> pl.DataFrame:
    """Return the questions of positives.

    Args:
        pairs: positives whose ids are rows of ``names``.
        wrong: int32[n_questions, n_wrong], rows of the wrong names.
        names: distinct names.
        scores: the scores of names.
        seed: random seed.
        threads: number of threads.
    """
    n_wrong, shape = wrong.shape[1], (len(pairs), wrong.shape[1] + 1)
    asked, right = (pairs[end].to_numpy() for end in _ENDS)
    hashes, each = content_hashes(names["term"]), np.repeat(asked, n_wrong)
    drawn = tie_hashes(np.uint64(seed), hashes[each], hashes[wrong.ravel()]).reshape(wrong.shape)
    wrong = np.take_along_axis(wrong, drawn.argsort(axis=1), axis=1)
    lower = names["lower_term"]
    distances = pair_distances(lower, pl.Series(each), pl.Series(wrong.ravel()), threads)
    smallest = distances.to_numpy().reshape(wrong.shape).min(axis=1)
    tiers = np.searchsorted([*filter(None, TIERS.values())], smallest)
    answer = np.empty(len(pairs), np.int64)
    by_tier = np.lexsort((tie_hashes(np.uint64(seed), hashes[asked], hashes[right]), tiers))
    answer[by_tier] = np.arange(len(pairs)) % shape[1]
    is_right = np.arange(shape[1]) == answer[:, None]
    ids = np.empty(shape, np.int32)
    ids[is_right], ids[~is_right] = right, wrong.ravel()
    both_ids = np.repeat(asked, shape[1]), ids.ravel()
    compared = (lower.gather(of_side) for of_side in both_ids)
    kinds = DifferenceClassifier(lower).kinds(*compared)
    learned = scores.of(*both_ids)[-1].astype(np.float64)
    term = names["term"].gather(asked)
    questions = pairs.with_columns(
        id="pair_id",
        question='Which of these names means the same as "' + term + '"?',
        term=term,
        choices=names["term"].gather(ids.ravel()).reshape(shape).arr.to_list(),
        answer=answer,
        label=pl.Series([*LETTERS]).gather(answer),
        distance=pair_distances(lower, pl.Series(asked), pl.Series(right), threads),
        tier=pl.Series([*TIERS]).gather(tiers),
        differences=kinds.reshape(shape).arr.to_list(),
        spelling=pl.Series(learned.round(4)).reshape(shape).arr.to_list(),
    )
    return questions.select(name for name in QUESTION.columns if name in questions.columns)


def with_relations(questions: pl.DataFrame, build: Build) -> pl.DataFrame:
    """Return questions with the concept of each choice and its relation to the term: ``QUESTION``.

    A relation is null for the right name and without a hierarchy, and both for a choice that is not
    a name of an active concept.
    """
    choices = questions.select("id", "answer", "term", "choices").explode("choices")
    choices = choices.select(
        "id",
        is_right=pl.int_range(pl.len()).over("id") == pl.col("answer"),
        lower1=lowered_column(choices["term"]),
        lower2=lowered_column(choices["choices"]),
        pair_id=pl.int_range(pl.len()),
    )
    with Store(threads=1) as store:
        terms = reload_names(build, store)
        relations = relations_in(store, choices.filter(~pl.col("is_right")))
        names = store.table("name").join(terms, on="term_id").group_by(lower2="lower_term")
    for known in (names.agg(pl.col("concept_id").min()), relations):
        choices = choices.join(known, on=known.columns[0], how="left", maintain_order="left")
    of_questions = choices.group_by("id", maintain_order=True)
    columns = of_questions.agg(concepts="concept_id", relations="relation").drop("id")
    return questions.hstack(columns).select(*QUESTION.columns)


def _distinct(terms: pl.DataFrame) -> tuple[pl.DataFrame, Ids]:
    """Return each name once: names that are equal without case, accents, hyphens and spaces.

    Returns:
        The first term of equal names, in order of text, with the component of all linked names; and
        the row of each term's name in it: int32[n_terms].
    """
    folds = pl.Series([folded(name) for name in terms["lower_term"]])
    _, rows, numbers = np.unique(folds.rank("dense"), return_index=True, return_inverse=True)
    component = terms["component"].to_numpy()
    ends = component, component[rows[numbers]]
    linked = components(int(component.max(initial=-1)) + 1, *ends)[component]
    in_order = np.argsort(rows)
    names = terms.with_columns(component=pl.Series(linked))[rows[in_order]]
    return names, np.argsort(in_order).astype(np.int32)[numbers]


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
        names: distinct names, see ``make_questions``.
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
    nearest = np.full((len(anchors), n_each), -1, np.int32)
    nearest[np.arange(n_each) < np.diff(near.starts)[:, None]] = near.ids
    table = np.column_stack([nearest[of_anchor], similar[asked], similar[right], alike])
    table.sort(axis=1)
    is_left_out = component[table] == component[asked, None]
    is_left_out[:, 1:] |= np.diff(table, axis=1) == 0
    table[is_left_out] = -1
    return np.column_stack([right, table])


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
