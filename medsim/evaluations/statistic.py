"""The statistics of an evaluation, one declaration each.

Results, comparisons, the tables of ``medsim compare`` with their help, and the report read these
declarations. A new statistic needs only one more ``Statistic`` in a tuple below.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.statistics.estimates import Estimate
    from medsim.statistics.significance import Test

Sample = TypeVar("Sample")

BASELINE = "baseline"
"""The name of the scores without a model, among the embeddings of results."""

SampleKind = Literal["matched", "labelled", "rated", "retrieval", "separation"]
"""The data of a statistic: pairs with labels in strata of equal spelling, pairs with labels, pairs
with ratings, ranks of linked terms, or triples of terms of categories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(Generic[Sample]):
    """A measure of an embedding's quality, with the facts that tables and reports show.

    Attributes:
        name: in the columns ``statistic`` of results and ``of`` of comparisons.
        help: what it means, in sentences for the report.
        interval: how its confidence interval is computed, in sentences; empty if it has none.
        kind: the data that it is computed from.
        compute: computes it with its confidence interval from a ``MatchedSample``,
            ``LabelledSample``, ``RatedSample``, ``RankSample`` or ``TripleCounts``; NaN without an
            interval if the sample is empty.
        test: tests its difference between two samples of the same pairs or terms; None if
            differences are not tested.
        table: "own" if ``medsim compare`` has tables for it: NAME, all-NAME, standings-NAME and
            spread-NAME; "best" if the default table also has it; "headline" if only the default
            table, where it comes first, and the table NAME have it; None if no table does.
        chance: its value by chance; None if there is no single value.
        higher_is_better: None if it does not measure quality.
    """

    name: str
    label: str
    help: str
    kind: SampleKind
    compute: Callable[[Sample], Estimate]
    test: Callable[[Sample, Sample], Test] | None = None
    table: Literal["headline", "best", "own"] | None = None
    chance: float | None = None
    higher_is_better: bool | None = True
    interval: str = ""


def statistics_of(kind: SampleKind, *, tested: bool = False) -> list[Statistic[Any]]:
    """Return the statistics of one kind of data: all, or those whose differences are tested."""
    statistics = [statistic for statistic in STATISTICS.values() if statistic.kind == kind]
    return [statistic for statistic in statistics if statistic.test or not tested]


def tabulated_names(*, best: bool = False) -> tuple[str, ...]:
    """Return the statistics with tables of metrics, or those of the default table."""
    tables = ("headline", "best") if best else ("best", "own")
    return tuple(name for name, statistic in STATISTICS.items() if statistic.table in tables)


_WILSON = "Its 95% confidence interval is computed as for AUC."

_BUILT_IN: tuple[Statistic[Any], ...] = (
    Statistic(
        name="auc_matched",
        label="matched AUC",
        help="The matched AUC is the probability that a pair of synonyms is more similar than a "
        "negative that is matched by spelling: a pair with the same edit distance, whose terms are "
        "about as long and differ equally in length. 1 is perfect, and 0.5 is chance; edit "
        "distance alone has 0.5. A comparison with a pair that has no vector counts as one half.",
        interval="Its 95% confidence interval is from a jackknife of clusters of pairs that share "
        "terms.",
        kind="matched",
        compute=lambda pairs: pairs.auc,
        test=lambda pairs, other: pairs.difference(other),
        table="headline",
        chance=0.5,
    ),
    Statistic(
        name="matched_share",
        label="matched share",
        help="The matched share is the share of positives that the matched AUC can compare: those "
        "with a negative that is matched by spelling.",
        kind="matched",
        compute=lambda pairs: pairs.share,
        higher_is_better=None,
    ),
    Statistic(
        name="auc",
        label="AUC",
        help="AUC is the probability that a random positive is more similar than a random "
        "negative: 1 is perfect, 0.5 is chance.",
        interval="Its 95% confidence interval is computed like Wilson's interval of a proportion, "
        "with the effective number of pairs: the number of independent pairs that would have the "
        "same standard error. The standard error "
        "is from a jackknife over clusters of pairs that share terms. With independent_pairs the "
        "interval is DeLong's, or Newcombe's near 0 and 1.",
        kind="labelled",
        compute=lambda pairs: pairs.area.auc,
        test=lambda pairs, other: pairs.auc_difference(other),
        table="best",
        chance=0.5,
    ),
    Statistic(
        name="average_precision",
        label="average precision",
        help="For each positive, take the share of positives among all pairs that are at least as "
        "similar; average precision is the mean of these shares.",
        kind="labelled",
        compute=lambda pairs: pairs.average_precision,
    ),
    Statistic(
        name="accuracy",
        label="accuracy",
        help="Accuracy is the share of pairs classified correctly with the threshold that is best "
        "for the same pairs.",
        interval=_WILSON,
        kind="labelled",
        compute=lambda pairs: pairs.accuracy,
        test=lambda pairs, other: pairs.accuracy_difference(other),
        table="own",
        chance=0.5,
    ),
    Statistic(
        name="accuracy_heldout",
        label="held-out accuracy",
        help="Held-out accuracy is the share of pairs classified correctly in one half of the "
        "pairs, with the threshold that is best for the other half.",
        interval=_WILSON,
        kind="labelled",
        compute=lambda pairs: pairs.accuracy_heldout,
        chance=0.5,
    ),
    Statistic(
        name="threshold",
        label="threshold",
        help="Pairs at least as similar as the threshold are classified as positives.",
        kind="labelled",
        compute=lambda pairs: pairs.threshold,
        higher_is_better=None,
    ),
    Statistic(
        name="spearman",
        label="Spearman's correlation",
        help="Spearman's rank correlation of similarities and ratings.",
        interval="Its 95% confidence interval is the BCa interval of a bootstrap over pairs.",
        kind="rated",
        compute=lambda pairs: pairs.spearman,
        test=lambda pairs, other: pairs.spearman_difference(other),
        table="best",
    ),
    Statistic(
        name="pearson",
        label="Pearson's correlation",
        help="Pearson's correlation of similarities and ratings.",
        interval="Its 95% confidence interval is Fisher's.",
        kind="rated",
        compute=lambda pairs: pairs.pearson,
    ),
    Statistic(
        name="kendall",
        label="Kendall's correlation",
        help="Kendall's tau-b of similarities and ratings.",
        kind="rated",
        compute=lambda pairs: pairs.kendall,
    ),
    Statistic(
        name="accuracy_at_1",
        label="found first",
        help="Accuracy at 1 is the share of terms whose nearest term is a synonym.",
        kind="retrieval",
        compute=lambda terms: terms.accuracy_at(1),
        test=lambda terms, other: terms.accuracy_difference(other, 1),
    ),
    *(
        Statistic(
            name=f"accuracy_at_{depth}",
            label=f"among the first {depth}",
            help=f"Accuracy at {depth}: share of terms with a synonym among the {depth} nearest.",
            kind="retrieval",
            compute=methodcaller("accuracy_at", depth),
        )
        for depth in (5, 10)
    ),
    Statistic(
        name="mrr",
        label="mean reciprocal rank",
        help="The mean reciprocal rank of the nearest synonym, 0 where none was found.",
        kind="retrieval",
        compute=lambda terms: terms.mean_reciprocal_rank(),
        test=lambda terms, other: terms.reciprocal_difference(other),
    ),
    Statistic(
        name="overlap_error",
        label="overlap error",
        help="The overlap error is the share of triples whose third term is at least as similar to "
        "the first as the second is. The first two are of two near categories, the third of a far "
        "one.",
        kind="separation",
        compute=lambda triples: triples.error,
        higher_is_better=False,
    ),
    Statistic(
        name="category_error",
        label="category error",
        help="The category error is the share of triples whose third term is at least as similar "
        "to the first as the second is. The first two are of one category, the third of another.",
        kind="separation",
        compute=lambda triples: triples.error,
        higher_is_better=False,
    ),
)

STATISTICS = {statistic.name: statistic for statistic in _BUILT_IN}
"""All statistics by name, in the order in which results and tables have them."""
