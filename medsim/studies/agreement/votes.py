"""The ground truth by majority vote, and the quality of labels against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.core.errors import OptionError
from medsim.statistics.estimates import Estimate, share_of
from medsim.studies.sheets import NOT_SAME, SAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from medsim.studies.agreement.alpha import Judgements

NO_TRUTH = -1
"""The value of pairs that have no ground truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The quality of labels against a ground truth, with Wilson's intervals.

    Attributes:
        accuracy: of pairs with a ground truth, the share that is labelled as it says.
        recall: of pairs that are the same, the share that is labelled positive.
        precision: of pairs that are labelled positive, the share that is the same.
        n_with_truth: how many have a ground truth; the others count in none of the shares.
    """

    accuracy: Estimate
    recall: Estimate
    precision: Estimate
    n_pairs: int
    n_with_truth: int


def majority(table: Judgements) -> NDArray[np.int8]:
    """Return the judgement that more than half of the annotators gave of each unit.

    Ground truth is a majority vote (Schulz and Juric 2020, section 3.3): here of more than half of
    those who took part in the study, whether they judged the unit or not. "Don't know" and no
    answer, -1, are votes for neither.

    Returns:
        int8[n_units], SAME or NOT_SAME, or ``NO_TRUTH``.
    """
    n_annotators = table.shape[1]
    truth = np.full(len(table), NO_TRUTH, np.int8)
    for judgement in (NOT_SAME, SAME):
        truth[2 * (table == judgement).sum(axis=1) > n_annotators] = judgement
    return truth


def quality(labels: NDArray[np.int8], truth: NDArray[np.int8]) -> Quality:
    """Return the quality of labels over the pairs that have a ground truth; NaN of no pairs.

    Args:
        labels: int8[n_pairs], 1 for positives and 0 for negatives.
        truth: int8[n_pairs], of ``majority``.

    Raises:
        OptionError: the arrays are not of one length, or a label is neither.
    """
    if len(labels) != len(truth):
        raise OptionError(f"there are {len(labels):,} labels for {len(truth):,} pairs")
    wrong = labels[(labels != 0) & (labels != 1)]
    if len(wrong):
        raise OptionError(f"label {wrong[0]} is neither 1 nor 0")
    known = truth != NO_TRUTH
    positive, same = labels[known] == 1, truth[known] == SAME
    n_found = int((positive & same).sum())
    return Quality(
        accuracy=share_of(int((positive == same).sum()), int(known.sum())),
        recall=share_of(n_found, int(same.sum())),
        precision=share_of(n_found, int(positive.sum())),
        n_pairs=len(labels),
        n_with_truth=int(known.sum()),
    )
