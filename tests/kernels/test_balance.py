"""The sets of wrong names that balance ranks, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.sizes import sized
from oracles.hashing import mixed

from medsim.kernels.balance import MAX_CLASS, N_SETS, balanced_sets

pytestmark = pytest.mark.kernels

N_TIERS, N_NAMES = 3, 14


def deviations_of(values: list[list[float]], last: list[float], n_cells: int) -> np.ndarray:
    """Return the deviations of the first name: a row per rule, and one of classes."""
    n = len(last)
    table = np.zeros((len(values) + 1, n_cells))
    for row, of_rule in zip(table, values, strict=False):
        above = sum(value > of_rule[0] for value in of_rule)
        equal = sum(value == of_rule[0] for value in of_rule)
        row[:n] = [(above <= rank < above + equal) / equal - 1 / n for rank in range(n)]
    for at, value in enumerate(last):
        table[-1, round(max(-MAX_CLASS, min(MAX_CLASS, value))) + MAX_CLASS] += (at == 0) - 1 / n
    return table


def brute_force(names, scores, likeness, draw: int, totals, sizes):
    """Return the best sets, each with its tier and its deviations; none if no set is allowed."""
    n_choices = totals.n_choices
    order = [at for at in range(N_NAMES) if names[at] >= 0]
    found = []
    for _ in range(N_SETS if len(order) >= n_choices else 0):
        for at in range(1, n_choices):
            draw = mixed(draw)
            other = at + draw % (len(order) - at)
            order[at], order[other] = order[other], order[at]
        ids = order[:n_choices]
        values = [[float(of_rule[name]) for name in ids] for of_rule in scores[1:]]
        values.append([sum(float(likeness[name, other]) for other in ids) for name in ids])
        table = deviations_of(values, values[-2], totals.table.shape[2])
        tier = int(min(scores[0][name] for name in ids[1:]))
        after = totals.table[tier] + table
        spread = np.sqrt((sizes[tier] + 1) * (1 / n_choices) * (1 - 1 / n_choices))
        if after[:-1, [0, n_choices - 1]].max() <= 1 + spread:
            cost = (after**2).sum() - (totals.table[tier] ** 2).sum()
            found.append((cost, [names[name] for name in ids[1:]], tier, after))
    least = min((cost for cost, *_ in found), default=0)
    return [(ids, tier, after) for cost, ids, tier, after in found if cost < least + 1e-9]


class Totals:
    """The deviations so far."""

    def __init__(self, n_choices: int) -> None:
        self.n_choices = n_choices
        self.table = np.zeros((N_TIERS, 4, max(n_choices, 2 * MAX_CLASS + 1)))


@pytest.mark.sized
@pytest.mark.parametrize("n_wrong", [1, 3, 5])
def test_the_best_of_the_drawn_sets_is_chosen_as_long_as_a_set_is_allowed(n_wrong: int) -> None:
    rng = np.random.default_rng(n_wrong)
    totals, sizes = Totals(n_wrong + 1), np.zeros(N_TIERS, np.int32)
    outcomes = []
    for number in range(sized(80, 40)):
        names = np.arange(N_NAMES, dtype=np.int32) + 100
        names[rng.permutation(np.arange(1, N_NAMES))[: rng.integers(0, 10)]] = -1
        # Quarters, so that many scores are equal and sums are exact.
        scores = (rng.integers(0, 4, (3, N_NAMES)) / 4).astype(np.float32)
        scores[0] = rng.integers(0, N_TIERS, N_NAMES)
        scores[2] *= 16
        scores[1, 0] += number % 3 > 0  # a rule that often knows the right name
        likeness = rng.integers(0, 4, (N_NAMES, N_NAMES), np.int32)
        expected = brute_force(names, scores, likeness, number, totals, sizes)
        before, n_before = totals.table.copy(), sizes.copy()

        (chosen,) = balanced_sets(
            names[None],
            scores[:, None],
            likeness[None],
            np.array([number], np.uint64),
            totals.table,
            sizes,
            n_wrong + 1,
        )

        outcomes.append(not expected)
        if not expected:
            assert {*chosen.tolist()} == {-1}
            np.testing.assert_array_equal(totals.table, before)
            continue
        tier, after = next(each[1:] for each in expected if each[0] == chosen.tolist())
        before[tier], n_before[tier] = after, n_before[tier] + 1
        np.testing.assert_allclose(totals.table, before, atol=1e-9)
        np.testing.assert_array_equal(sizes, n_before)
    assert 0 < sum(outcomes) < len(outcomes)


def test_questions_at_once_are_chosen_one_after_another() -> None:
    rng = np.random.default_rng(5)
    names = np.tile(np.arange(N_NAMES, dtype=np.int32), (12, 1))
    scores = rng.random((3, 12, N_NAMES), np.float32)
    scores[0] = 0
    likeness = rng.integers(0, 99, (12, N_NAMES, N_NAMES), np.int32)
    draws = rng.integers(0, 1 << 62, 12).astype(np.uint64)

    def chosen(n_at_once: int) -> np.ndarray:
        totals, sizes = Totals(4), np.zeros(N_TIERS, np.int32)
        parts = [slice(at, at + n_at_once) for at in range(0, 12, n_at_once)]
        return np.concatenate(
            [
                balanced_sets(
                    names[part],
                    np.ascontiguousarray(scores[:, part]),  # as in questions, compiled once
                    likeness[part],
                    draws[part],
                    totals.table,
                    sizes,
                    4,
                )
                for part in parts
            ]
        )

    np.testing.assert_array_equal(chosen(12), chosen(5))
