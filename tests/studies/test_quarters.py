"""Quarters of word pairs, and how pairs are drawn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from oracles.hashing import tie_hash

from medsim.studies.word_pairs import WORD_IDS, Quarters

WORDS = sorted(f"{a}{b}" for a in "abcdef" for b in "xyz")
ALL = list(combinations(range(len(WORDS)), 2))
SOME_PAIRS = st.lists(st.sampled_from(ALL), unique=True, max_size=60)


def frame(pairs: list[tuple[int, int]]) -> pl.DataFrame:
    return pl.DataFrame(pairs, dict.fromkeys(WORD_IDS, pl.Int32), orient="row")


def greedy(pairs: list[tuple[int, int]], n_pairs: int, per_word: int, seed: int) -> list[tuple]:
    """Return the pairs that a greedy choice takes."""
    uses: Counter[int] = Counter()
    chosen = []
    for pair in sorted(pairs, key=lambda pair: tie_hash(seed, *(WORDS[word] for word in pair))):
        if len(chosen) < n_pairs and all(uses[word] < per_word for word in pair):
            chosen.append(pair)
            uses.update(pair)
    return chosen


def quarters(pairs: list[tuple[int, int]], **options: int) -> Quarters:
    """Return quarters of only biomedical words, with some associated pairs."""
    words = pl.DataFrame({"word": WORDS, "domain": "biomedical"})
    return Quarters(words, {"biomedical": frame(pairs)}, frame(pairs), **options)


@given(SOME_PAIRS, st.integers(0, 20), st.integers(1, 3), st.integers(0, 2**63 - 1))
def test_pairs_are_chosen_in_order_of_hashes_with_limited_uses_per_word(
    pairs: list[tuple[int, int]], n_pairs: int, per_word: int, seed: int
) -> None:
    by_quarter = quarters(pairs, seed=seed, per_word=per_word).draw(n_pairs)
    assert by_quarter["biomedical", True].rows() == greedy(pairs, n_pairs, per_word, seed)


@given(SOME_PAIRS, st.sets(st.integers(0, len(WORDS) - 1)))
def test_unassociated_pairs_are_all_other_pairs_of_the_words(
    pairs: list[tuple[int, int]], words: set[int]
) -> None:
    result = quarters(pairs, seed=1, per_word=1).unassociated(np.array(sorted(words), np.int32), 3)

    expected = set(combinations(sorted(words), 2)) - set(pairs)
    assert sorted(result.rows()) == sorted(expected)


def test_seed_draws_a_sample_of_many_words_to_pair(monkeypatch) -> None:
    monkeypatch.setattr("medsim.studies.word_pairs._FEWEST_PAIRED", 200)
    words = [f"{number:04d}" for number in range(300)]
    sampled = []
    for seed in (1, 1, 2):
        many = Quarters(
            pl.DataFrame({"word": words, "domain": "general"}), {}, frame([]), seed=seed, per_word=1
        )
        result = many.unassociated(np.arange(300, dtype=np.int32), 5)
        sampled.append({*result["word1_id"], *result["word2_id"]})
        assert len(result) == 200 * 199 // 2
    assert sampled[0] == sampled[1] != sampled[2]


@given(
    st.lists(st.sampled_from(["biomedical", "general"]), min_size=18, max_size=18),
    SOME_PAIRS,
    SOME_PAIRS,
    st.integers(1, 3),
)
def test_largest_size_works(
    domains: list[str], terminology: list[tuple], norms: list[tuple], per_word: int
) -> None:
    words = pl.DataFrame({"word": WORDS, "domain": domains})
    frames = [frame(rows) for rows in (terminology, norms)]
    reasoned = [pairs.with_columns(reason=pl.lit("why")) for pairs in frames]
    result = dict(zip(("biomedical", "general"), reasoned, strict=True))
    quarters_of = Quarters(words, result, pl.concat(frames).unique(), seed=3, per_word=per_word)

    most = quarters_of.largest(10)

    drawn_then = quarters_of.draw(most)
    assert {quarter.height for quarter in drawn_then.values()} == {most}
    for (domain, associated), found_then in drawn_then.items():
        for first, second, reason in found_then.iter_rows():
            assert domains[first] == domains[second] == domain
            related = terminology if domain == "biomedical" else norms
            assert ((first, second) in related) if associated else reason == "random"
    uses = Counter(
        word for quarter in drawn_then.values() for pair in quarter[:, :2].rows() for word in pair
    )
    assert max(uses.values(), default=0) <= per_word
