"""The options of commands that divide pairs into bins by numbers of their words."""

from __future__ import annotations

import re
from typing import Any

from medsim.core.errors import OptionError
from medsim.core.options import Option

BINS = Option(
    "Lower bounds of bins of counts in a corpus; default: powers of ten.", (), "N,N,…", listed=True
)
TOPIC_BINS = Option(
    "Lower bounds of bins of topic counts; default: 1,2,5.", (), "N,N,…", listed=True
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
