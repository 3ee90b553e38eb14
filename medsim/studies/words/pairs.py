"""Pairs of words to rate, and the file that has them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OutputError, counted
from medsim.core.files import write_file
from medsim.core.places import check_file_free
from medsim.core.shown import Shown, Summary

if TYPE_CHECKING:
    from medsim.core.manifest import Skipped


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WordPairs(Shown):
    """Pairs of words to rate.

    Attributes:
        frame: ``medsim.studies.output.WORD_PAIR_COLUMNS``, in an order drawn from the seed.
        left_out: how many words were left out, and why, in the order of the filters.
        warnings: what a reader should know, a sentence each.
        frequency_correlation: Spearman's, of how often the words that the filters left are used in
            the biomedical corpus and in the general one; None where that is not known.
    """

    frame: pl.DataFrame
    left_out: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    frequency_correlation: float | None = None

    def _summary(self) -> Summary:
        facts = [counted(self.frame.height, "pair"), counted(len(self.warnings), "warning")]
        calls = [".frame", '.write("pairs.csv")', 'medsim.grade_study("pairs.csv", …)']
        return Summary(what="WordPairs", facts=facts, calls=calls, table=self.quarters)

    def quarters(self) -> pl.DataFrame:
        """Return a row per quarter: domain, associated, and how many pairs and words it has."""
        words = pl.concat_list("term1", "term2").list.explode().n_unique()
        return (
            self.frame.group_by("domain", "associated")
            .agg(pl.len().cast(pl.Int64).alias("pairs"), words.cast(pl.Int64).alias("words"))
            .sort("domain", "associated", descending=[False, True])
        )

    def write(self, out: str | Path, *, overwrite: bool = False) -> None:
        """Write the pairs as CSV, or as Parquet where the file's name ends in .parquet.

        Raises:
            OutputError: ``out`` is there and must not be replaced, or it cannot be written.
        """
        out = Path(out).absolute()
        check_pairs_place(out, overwrite=overwrite)
        is_parquet, content = out.suffix.lower() == ".parquet", io.BytesIO()
        (self.frame.write_parquet if is_parquet else self.frame.write_csv)(content)
        write_file(out, content.getvalue(), overwrite=overwrite)


def check_pairs_place(out: Path, *, overwrite: bool) -> None:
    """Raise OutputError if no pairs can be written at ``out``, or a file there must stay."""
    check_file_free(out, overwrite=overwrite)
    if out.suffix.lower() not in {".csv", ".parquet"}:
        raise OutputError(f"{out} is neither .csv nor .parquet; pairs are written as one of them")
