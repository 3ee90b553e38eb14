"""Tables of similarities: every value equals the kernel of single pairs, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from medsim.kernels import vectors as tables
from medsim.kernels.bags import (
    Bags,
    bag_means,
    dynamax_overlaps,
    dynamax_table,
    overlaps,
    own_memberships,
)
from medsim.kernels.vectors import (
    centred_cosines,
    kendall_table,
    kendalls,
    mean_ranks,
    means,
    untied_pairs,
)

pytestmark = pytest.mark.kernels

DRAW = np.random.default_rng(8)


def drawn(n_rows: int, width: int, steps: int) -> np.ndarray:
    """Rows of whole numbers, with many ties if there are few steps; the first ones are constant."""
    rows = DRAW.integers(-steps, steps + 1, (n_rows, width)).astype(np.float32)
    rows[0], rows[1] = 0, 2
    return rows


VECTORS = [
    drawn(6, 1, 2),
    drawn(5, 2, 1),
    drawn(7, 9, 2),
    drawn(5, 10, 9),
    drawn(4, 131, 10**6),
    drawn(131, 3, 10),  # more columns than are transposed at a time
    drawn(139, 6, 10**6),  # more rows than get bits at a time
]


def pairwise(compare, vectors: np.ndarray, weights: np.ndarray, n_left: int) -> np.ndarray:
    first, second = np.divmod(np.arange(n_left * len(vectors)), len(vectors))
    values = compare(vectors, weights, first.astype(np.int32), second.astype(np.int32))
    return values.reshape(n_left, len(vectors))


@pytest.mark.parametrize("vectors", VECTORS)
def test_tables_of_vectors_are_what_single_pairs_are(vectors: np.ndarray) -> None:
    ranks, origin = mean_ranks(vectors), np.zeros(len(vectors))
    for compare, tabulate, rows, weights in (
        (centred_cosines, tables.cosine_table, vectors, origin),
        (centred_cosines, tables.cosine_table, vectors, means(vectors)),
        (centred_cosines, tables.cosine_table, ranks, means(ranks)),
        (kendalls, kendall_table, ranks, untied_pairs(ranks)),
    ):
        table = tabulate(rows[:3], weights[:3], rows, weights)
        assert (table == pairwise(compare, rows, weights, 3)).all()


@pytest.mark.parametrize("width", [1, 2, 3, 128, 131])
def test_rows_that_do_not_tie_have_the_tau_of_single_pairs(width: int) -> None:
    vectors = DRAW.normal(size=(12, width)).astype(np.float32)
    vectors[11, 0] = vectors[11, -1]  # only one row has a tie
    ranks = mean_ranks(vectors)
    untied = untied_pairs(ranks)
    table = kendall_table(ranks, untied, ranks, untied)
    assert (table == pairwise(kendalls, ranks, untied, 12)).all()


@pytest.mark.parametrize("vectors", VECTORS)
def test_tables_of_fuzzy_sets_are_what_single_pairs_are(vectors: np.ndarray) -> None:
    sets = vectors.clip(0)
    table = tables.overlap_table(sets[:3], sets)
    expected = pairwise(lambda x, _, a, b: overlaps(x, a, b), sets, np.zeros(0), 3)
    assert (table == expected).all()


WORDS = np.array([0, 3, 3, 2, 5, 4, 1, 0, 2, 2, 1], np.int32)
STARTS = np.array([0, 2, 2, 5, 6, 8, 11], np.int64)  # the second bag is empty
LEFT = [1, 3, 0, 4, 2, 5]  # in ascending size: none, one, two and two, three and three words
TOKENS = np.array([5, 0, 6, 1, 7, 2, 8, 3, 9, 4, 10])  # their first ones, their second ones, …
BAGS = Bags(sizes=np.diff(STARTS)[LEFT], columns=WORDS[TOKENS], rows=WORDS, starts=STARTS)


def test_a_table_of_bags_has_the_mean_of_every_word_with_every_other() -> None:
    of_words = DRAW.normal(size=(6, 6))
    table = bag_means(of_words, BAGS)
    for row, column in np.ndindex(6, 6):
        first, other = (WORDS[STARTS[b] : STARTS[b + 1]] for b in (LEFT[column], row))
        values = of_words[np.ix_(other, first)]
        assert table[row, column] == pytest.approx(values.mean() if values.size else 0)


def test_a_bag_of_many_words_has_the_mean_of_all() -> None:
    of_words = DRAW.normal(size=(9, 2))
    rows = np.arange(9, dtype=np.int32)
    bags = Bags(
        sizes=np.array([2]),
        columns=np.array([0, 1], np.int32),
        rows=rows,
        starts=np.array([0, 0, 9]),
    )
    assert bag_means(of_words, bags).tolist() == [[0], [pytest.approx(of_words.mean())]]


def test_a_table_of_dynamax_is_what_single_pairs_are() -> None:
    vectors = np.vstack([DRAW.normal(size=(4, 7)), [[-1.0] * 7, [0.0] * 7]]).astype(np.float32)
    origin = np.zeros(6)
    products = tables.centred_products(vectors, origin, vectors, origin)
    memberships = own_memberships(vectors, WORDS, STARTS)
    table = dynamax_table(memberships[TOKENS], memberships, products, BAGS)
    first, second = (ids.astype(np.int32) for ids in np.divmod(np.arange(36), 6))
    expected = dynamax_overlaps(vectors, WORDS, STARTS, np.array(LEFT, np.int32)[first], second)
    assert table.T.ravel().tolist() == expected.astype(np.float32).tolist()
