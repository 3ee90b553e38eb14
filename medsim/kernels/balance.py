"""Chooses the wrong names of questions so that no rule finds the right ones."""

from __future__ import annotations

import numpy as np

from medsim.kernels.compiler import inner_kernel, kernel
from medsim.kernels.packing import mixed
from medsim.kernels.types import FloatTable, FloatTables, Hashes, Ids, Ranks, Rows, Vectors

N_SETS = 300
"""The number of sets of wrong names that are drawn for a question."""

MAX_CLASS = 6
"""The last score of a name, rounded and at most so far from 0, is its class."""


@inner_kernel
def _set_deviations(scores: Vectors, likeness: Ranks, chosen: Rows, deviations: FloatTable) -> None:
    """Write how a right name, the first chosen, deviates from the mean of its question.

    Each rule has a row with the rank of the right name; equal values have all their ranks in equal
    parts. The last row has its class.
    """
    n_choices, n_rules = len(chosen), len(scores) + 1
    deviations[:], deviations[:n_rules, :n_choices] = 0, -1 / n_choices
    for rule in range(n_rules):
        n_above, n_equal, right = 0, 0, 0.0
        for at in range(n_choices):
            value = scores[rule, chosen[at]] if rule < len(scores) else 0.0
            for other in chosen if rule == len(scores) else chosen[:0]:
                value += likeness[chosen[at], other]
            right = value if at == 0 else right
            n_above += int(value > right)
            n_equal += int(value == right)
        for rank in range(n_above, n_above + n_equal):
            deviations[rule, rank] += 1 / n_equal
    for at in range(n_choices):
        of_name = round(min(max(scores[-1, chosen[at]], -MAX_CLASS), MAX_CLASS)) + MAX_CLASS
        deviations[-1, of_name] += (at == 0) - 1 / n_choices


@kernel
def balanced_sets(
    names: Ranks,
    scores: Vectors,
    likeness: Ranks,
    draws: Hashes,
    totals: FloatTables,
    sizes: Ids,
    n_choices: int,
) -> Ranks:
    """Return wrong names with which right names are most like names chosen at random.

    The tier of a question is the lowest of its wrong names. Sets of wrong names are drawn, and the
    first of those is taken that make the squares of deviations in their tier least. In no tier may
    a rule, or its opposite, find the right name in more questions than by chance, plus one, plus a
    standard deviation of chance. Time O(questions * sets * rules * choices).

    Args:
        names: int32[n_questions, n_names], the right name and then candidates, -1 for none.
        scores: float32[n_rules, n_questions, n_names], the tiers of names, and then the scores by
            rules. A further rule is how alike a name is to the other choices.
        likeness: int32[n_questions, n_names, n_names], how alike names are.
        draws: uint64[n_questions], hashes from which sets are drawn.
        totals: float64[n_tiers, n_rules + 1, n_cells], deviations of the earlier questions; these
            are added.
        sizes: int32[n_tiers], the numbers of these questions.
        n_choices: number of names of a question.

    Returns:
        int32[n_questions, n_wrong], -1 if there are too few candidates or no set is allowed.
    """
    wrong = np.full((len(names), n_choices - 1), -1, np.int32)
    deviations, best = np.empty((2, *totals.shape[1:]))
    for question in range(len(names)):
        order, draw = np.flatnonzero(names[question] >= 0), draws[question]
        least, best_tier = np.inf, 0
        for _ in range(N_SETS if len(order) >= n_choices else 0):
            for at in range(1, n_choices):
                draw = mixed(draw)
                other = at + np.int64(draw % np.uint64(len(order) - at))
                order[at], order[other] = order[other], order[at]
            chosen = order[:n_choices]
            _set_deviations(scores[1:, question], likeness[question], chosen, deviations)
            tier = int(scores[0, question][chosen[1:]].min())
            limit = 1 + np.sqrt((sizes[tier] + 1) * (1 - 1 / n_choices) / n_choices)
            cost = (deviations * (2 * totals[tier] + deviations)).sum()
            after = totals[tier, :-1, : n_choices : n_choices - 1]
            after = after + deviations[:-1, : n_choices : n_choices - 1]
            if cost < least and after.max() <= limit:
                least, best_tier, best[:] = cost, tier, deviations
                wrong[question] = names[question][chosen[1:]]
        if least < np.inf:
            totals[best_tier] += best
            sizes[best_tier] += 1
    return wrong
