"""The statistics of an evaluation, declared in ``statistics.toml``.

Results, comparisons, the tables of ``medsim compare`` with their help, and the report read these
declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from medsim.core.data import toml_of

if TYPE_CHECKING:
    from medsim.statistics.estimates import Estimate
    from medsim.statistics.significance import Test

Sample = TypeVar("Sample")

BASELINE = "baseline"
"""The name of the scores without a model, among the embeddings of results."""

_InStrata = Literal["matched", "beyond", "of_kind", "own_negative", "rung"]
SampleKind = Literal[_InStrata, "labelled", "rated", "retrieval", "separation"]
"""The data of a statistic: pairs with labels in strata of equal spelling (matched), or of equal
scores by a spelling classifier (beyond), or there with negatives of one kind only (of_kind), or
these in a stratum for each first term (own_negative); pairs of two rungs in strata of equal first
terms (rung); pairs with labels, pairs with ratings, ranks
of linked terms, or triples of terms of categories."""


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
            table, where it comes first, and the table NAME have it; "single" if only the table NAME
            has it; None if no table does.
        chance: its value by chance; None if there is no single value.
        higher_is_better: None if it does not measure quality.
    """

    name: str
    label: str
    help: str
    kind: SampleKind
    compute: Callable[[Sample], Estimate]
    test: Callable[[Sample, Sample], Test] | None = None
    table: Literal["headline", "best", "own", "single"] | None = None
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


def _computed(sample: Any, path: str, depth: Sequence[int]) -> Any:
    value = attrgetter(path)(sample)
    return value(*depth) if callable(value) else value


def _tested(sample: Any, other: Any, method: str, depth: Sequence[int]) -> Any:
    return getattr(sample, method)(other, *depth)


def _declared() -> Iterator[Statistic[Any]]:
    for facts in toml_of(__package__, "statistics.toml")["statistic"]:
        depth = [facts.pop("depth")] if "depth" in facts else []
        if not facts.pop("measures_quality", True):
            facts["higher_is_better"] = None
        if "test" in facts:
            facts["test"] = partial(_tested, method=facts["test"], depth=depth)
        yield Statistic(
            **facts | {"compute": partial(_computed, path=facts["compute"], depth=depth)}
        )


STATISTICS = {statistic.name: statistic for statistic in _declared()}
"""All statistics by name, in the order in which results and tables have them."""
