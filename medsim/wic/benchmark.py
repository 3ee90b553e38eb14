"""The folder of a benchmark of words in context."""

from __future__ import annotations

import polars as pl

from medsim.core.errors import OptionError, unknown_name
from medsim.core.opened import Opened
from medsim.wic import SPLITS
from medsim.wic.output import WIC, WicManifest

INSTANCES, MENTIONS, NAMES, RELATED, STATISTICS = (view.files for view in WIC.views.values())
"""Its Parquet files: instances of all splits and where they come from; the one mention of every
sentence; which concepts bear the terms of mentions; pairs of concepts that no instance has; and
what ``medsim wic stats`` shows."""


class Benchmark(Opened[WicManifest]):
    """A finished benchmark of words in context; what it holds is read when it is asked for.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds none.

    Attributes:
        folder: where it lies.
        manifest: the account that it gives of itself.
    """

    kind = WIC

    def instances(self, split: str | None = None) -> pl.DataFrame:
        """Return the instances of one split or of all: ``WIC_INSTANCE_COLUMNS``.

        Raises:
            OptionError: there is no such split.
        """
        if split is not None and split not in SPLITS:
            raise OptionError(unknown_name("split", split, list(SPLITS)))
        found = self.read(INSTANCES)
        return found if split is None else found.filter(pl.col("split") == split)

    def mentions(self) -> pl.DataFrame:
        """Return the one mention of every sentence: ``WIC_MENTION_COLUMNS``."""
        return self.read(MENTIONS)

    def statistics(self) -> pl.DataFrame:
        """Return numbers of instances, terms, sentences and corpora: ``WIC_STATISTIC_COLUMNS``."""
        return self.read(STATISTICS)
