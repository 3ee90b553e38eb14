"""The oracle gives results worked out by hand, in cases that builds do not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from fixtures.release import edge_release
from oracles.pairs import (
    Pair,
    SetKey,
    cosine,
    farness,
    faults_of_random,
    greedy_nearest,
    positives,
    read_release,
)
from oracles.ranks import average_ranks, spearman
from scipy import stats

if TYPE_CHECKING:
    from pathlib import Path


KEY: SetKey = ("fsn_syn", "easy")
BATS = [Pair(name, f"{name}s", "1", "1") for name in ("bat", "cat", "cot")]


def test_readings_of_ambiguous_rules(tmp_path: Path) -> None:
    sets = positives(read_release(edge_release().write_folder(tmp_path)))
    assert sets["fsn_syn"] == {
        # Ids are compared as text.
        ("Ullage", "Ull", "1000010", "1000010"),
        ("Tenth prawl", "Prawl", "110000", "110000"),
        # An empty FSN gives way to an older one.
        ("Older skell", "Skell", "110001", "110001"),
        # What is before the bracket is looked at as it stands.
        ("Mab or", "Mab", "110002", "110002"),
        ("Thorn bleck", "Bleck of thorn", "110011", "110011"),
    }
    assert sets["same_as"] == {
        # Only the association's own module counts, and a name suffices.
        ("Model varn", "Active varn", "110003", "110004"),
        # "[D]" is dropped once at each end; a name that nothing is left of is none.
        ("Both gorm", "Active varn", "110006", "110004"),
        ("[D]Twice gorm", "Active varn", "110007", "110004"),
        # syn_syn has it in other case only.
        ("bleck of thorn", "Thorn bleck", "110012", "110011"),
    }
    assert sets["replaced_by"] == {
        ("Active varn", "Model varn", "110004", "110003"),
        # "Namespace" is not "namespace"; a tag counts.
        ("Both gorm", "Namespace quorl", "110006", "110009"),
    }
    assert sets["possibly_equivalent_to"] == {("Rowless varn", "Active varn", "110005", "110004")}


def test_greedy_takes_the_nearest_available_and_breaks_ties_by_hash() -> None:
    # bat: cat 1. cat: bat is taken, cot 1. cot: cat is taken, bat and cats tie at 2.
    nearest = [("bat", "cat"), ("cat", "cot"), ("cot", "bat")]
    assert greedy_nearest({KEY: BATS}, lambda *_: 0) == {KEY: nearest}
    assert greedy_nearest({KEY: BATS}, lambda *pair: int(pair != ("cot", "cats"))) == {
        KEY: [*nearest[:2], ("cot", "cats")]
    }
    vectors = {"bat": [1, 0], "bats": None, "cat": [1, 1], "cats": [-1, 0], "cot": [0, 1]}
    assert greedy_nearest({KEY: BATS}, lambda *_: 0, None, farness(vectors)) == {KEY: nearest}


def test_greedy_remembers_earlier_sets_but_syn_syn_passes_over_fsn_syn() -> None:
    sets = {(name, "easy"): BATS for name in ("syn_syn", "fsn_syn", "same_as")}
    taken = greedy_nearest(sets, lambda *_: 0)
    assert taken["same_as", "easy"] == [("bat", "cat"), ("cat", "cot"), ("cot", "bat")]
    # bat: cat and cot were taken, cats 2. cat: bat and cot were, bats and cots tie at 2.
    assert taken["fsn_syn", "easy"] == [("bat", "cats"), ("cat", "bats"), ("cot", "cats")]
    assert taken["syn_syn", "easy"] == taken["fsn_syn", "easy"]


@pytest.mark.parametrize(
    ("negatives", "faults"),
    [
        ("bat-cots cat-bats cot-bats", []),
        ("bat-cots cat-bats", ["'cot' has 0 negatives for 1 positives, with 4 left"]),
        ("bat-cots cat-cats cot-bats", ["'cat' and 'cats' must not be paired"]),
        ("bat-cots cat-cat cot-bats", ["'cat' and 'cat' must not be paired"]),
        ("bat-cots cat-dog cot-bats", ["'cat' and 'dog' must not be paired"]),
        ("bat-cat cat-bat cot-bats", ["'cat' and 'bat' are repeated"]),
        (
            "bat-cots bat-cats cat-bats cot-bats",
            ["'bat' has 2 negatives for 1 positives, with 2 left"],
        ),
        (
            "bat-cots cats-bats cat-bats cot-bats",
            ["'cats' has 1 negatives for 0 positives, with 3 left"],
        ),
    ],
)
def test_faults_of_random_negatives_are_found(negatives: str, faults: list[str]) -> None:
    pairs = [tuple(pair.split("-")) for pair in negatives.split()]
    assert faults_of_random({KEY: BATS}, {KEY: pairs}) == faults


def test_cosines_are_what_can_be_worked_out_by_hand() -> None:
    assert cosine([3, 4], [4, 3]) == pytest.approx(0.96, abs=1e-7)
    assert cosine([3, 4], [4, 3]) == cosine([0.3, 0.4], [40, 30]) != 0.96
    assert cosine([0, 0], [1, 0]) == 0


def test_ranks_and_their_correlation_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    for n_values in range(2, 30):
        left, right = rng.integers(0, 4, (2, n_values)).astype(np.float64)
        left[0], right[-1] = 4, 5  # neither is constant
        assert (average_ranks(left) + 1).tolist() == stats.rankdata(left).tolist()
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right).statistic)


def test_constant_values_and_none_have_no_correlation() -> None:
    for n_values in (0, 1, 3):
        assert np.isnan(spearman(np.ones(n_values), np.arange(n_values)))
        assert np.isnan(spearman(np.arange(n_values), np.ones(n_values)))
