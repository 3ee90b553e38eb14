"""Shows pairs of words to people, who say which are associated in a biomedical sense."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.evaluations.ratings.properties import property_in
from medsim.studies.asking import write_asked
from medsim.studies.asking_options import InspectOptions
from medsim.studies.inputs import read_pairs
from medsim.studies.presentations import draw_id
from medsim.studies.sheets import ASSOCIATION
from medsim.studies.words.domains import BIOMEDICAL

if TYPE_CHECKING:
    from medsim.studies.folder import Study

_SHOWN = {"domain": BIOMEDICAL, "associated": "yes"}
"""The values of pairs that are shown, where a file tells them."""


@public(InspectOptions)
def inspect_study(options: InspectOptions) -> Study:
    """Return the study of pairs to inspect that it writes to ``out``.

    All annotators see all pairs that are said to be associated, and confirm which of them are in a
    biomedical sense (Chiu et al. 2018). Only what lies in ``annotators`` is for them.

    Raises:
        InputError: the file cannot be read, holds a pair twice, or has no associated pair.
        OptionError: an option is out of range.
        OutputError: ``out`` is taken or cannot be written.
    """
    path, progress = Path(options.pairs), progress_of(options.progress)
    with progress.stage(f"read {path.name}") as stage:
        table = read_pairs(path, progress)
        pairs = _associated(table.frame)
        if pairs.is_empty():
            raise InputError(f"{path} has no associated biomedical pair")
        stage.found(f"{pairs.height:,} of {table.frame.height:,} pairs to inspect")
    ids = [
        draw_id(options.seed, "item", *pair) for pair in pairs.select("term1", "term2").iter_rows()
    ]
    items = pairs.select(pl.Series("item_id", ids, pl.String), pl.all()).sort("item_id")
    source: dict[str, object] = {"kind": "pairs", "path": str(path), "fingerprint": table.sha256}
    return write_asked(ASSOCIATION, items, ("term1", "term2"), source, options, progress)


def _associated(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that are associated biomedical ones, as far as their columns tell."""
    for column, value in _SHOWN.items():
        if column in pairs.columns:
            told = [property_in(column, cell) for cell in pairs[column]]
            pairs = pairs.filter(
                pl.Series([one in {None, value} for one in told], dtype=pl.Boolean)
            )
    return pairs
