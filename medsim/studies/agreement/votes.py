"""The ground truth by majority vote, and the quality of labels against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medsim.statistics.estimates import Estimate, share_of
from medsim.studies.sheets import NOT_SAME, SAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from medsim.studies.agreement.alpha import Judgements

NO_TRUTH = -1
"""The value of pairs that have no ground truth."""


class Quality(NamedTuple):
    """The quality of labels against a ground truth, with Wilson's intervals; NaN of no pairs.

    Attributes:
        no_ground_truth: the share of pairs that have none, and count in none of the others.
        accuracy: of pairs with a ground truth, the share that is labelled as it says.
        recall: of pairs that are the same, the share that is labelled positive.
        precision: of pairs that are labelled positive, the share that is the same.
    """

    no_ground_truth: Estimate
    accuracy: Estimate
    recall: Estimate
    precision: Estimate


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
    """Return the quality of labels, 1 for positives and 0 for negatives, beside ``majority``."""
    known = truth != NO_TRUTH
    positive, same = labels[known] == 1, truth[known] == SAME
    n_found = int((positive & same).sum())
    return Quality(
        no_ground_truth=share_of(int((~known).sum()), len(labels)),
        accuracy=share_of(int((positive == same).sum()), int(known.sum())),
        recall=share_of(n_found, int(same.sum())),
        precision=share_of(n_found, int(positive.sum())),
    )
