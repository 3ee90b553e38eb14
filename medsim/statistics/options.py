"""What users choose about statistics: bootstraps, and bins that divide pairs by their words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from medsim.core.errors import OptionError
from medsim.core.options import Option

BINS = Option(
    "Lower bounds of bins of counts in a corpus; default: powers of ten.", (), "N,N,…", listed=True
)
TOPIC_BINS = Option(
    "Lower bounds of bins by the number of topics in which a word occurs; default: 1,2,5.",
    (),
    "N,N,…",
    listed=True,
)
EQUAL_PARTS = Option(
    "Use this many bins of equal size, instead of --bins and --topic-bins. Each has about equally "
    "many pairs; Chiu et al. (2018) use three.",
    least=2,
    most=20,
)

_COUNT = re.compile(r"[1-9][0-9]{0,17}")


def check_bins(options: Any) -> None:
    """Make the bins of options integers; the command line gives them as text.

    Raises:
        OptionError: bins are not ascending counts, or are combined with equal parts.
    """
    if options.equal_parts is not None and (options.bins or options.topic_bins):
        raise OptionError("`equal_parts` replaces `bins` and `topic_bins`; give one or the other")
    for name in ("bins", "topic_bins"):
        texts = ",".join(map(str, getattr(options, name)))
        bins = tuple(sorted({int(text) for text in texts.split(",") if _COUNT.fullmatch(text)}))
        if ",".join(map(str, bins)) != texts:
            raise OptionError(f"`{name}` {texts} must be ascending counts from 1, such as 5,50,500")
        object.__setattr__(options, name, bins)


RESAMPLES = 10_000
"""The default number of resamples; the smallest p-value is 0.0002."""

RESAMPLES_A_COMPARISON = 200
"""Resamples per comparison of a family, if that gives more than ``RESAMPLES``.

A bootstrap of R resamples gives no p-value below 2 / (R + 1). With this number, the smallest
p-value after Bonferroni's correction is 0.01 for any number of comparisons.
"""

MIN_RESAMPLES = 100
MAX_RESAMPLES = 10_000_000

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """The bootstrap settings of an evaluation.

    Attributes:
        threads: number of threads, which does not change results.
        grows: whether to draw more than ``resamples`` if the number of comparisons requires it.
    """

    seed: int
    resamples: int
    threads: int
    grows: bool = False

    def for_comparisons(self, n_comparisons: int) -> Resampling:
        """Return the settings for a family of ``n_comparisons``."""
        if not self.grows:
            return self
        n_resamples = min(RESAMPLES_A_COMPARISON * n_comparisons, MAX_RESAMPLES)
        return replace(self, resamples=max(self.resamples, n_resamples))

    def least_p(self, n_comparisons: int) -> float:
        """Return the smallest possible p-value after Bonferroni's correction."""
        resamples = self.for_comparisons(n_comparisons).resamples
        return min(1.0, 2 * n_comparisons / (resamples + 1))


def fewest_for(n_comparisons: int, alpha: float) -> int:
    """Return the number of resamples that any comparison needs to pass Bonferroni's correction."""
    return math.floor(2 * n_comparisons / alpha + _ROUNDING)
