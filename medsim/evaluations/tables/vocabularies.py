"""Tables of what embeddings cover, and have in common (tables A.1 and A.2 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.shown import number
from medsim.evaluations.sets import whole_sets
from medsim.evaluations.tables.labels import apart

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation


def covered_sets(evaluation: Evaluation) -> pl.DataFrame:
    """Return ``COVERAGE_COLUMNS`` of whole sets, and the size of each embedding.

    That is n_vocabulary, how many words or terms it has in all, null where it can embed any; and
    n_dimensions, of its vectors.
    """
    about = evaluation.manifest.embeddings
    sizes = pl.DataFrame(
        [
            {
                "embedding": name,
                **{size: one.get(size) for size in ("n_vocabulary", "n_dimensions")},
            }
            for name, one in about.items()
        ],
        schema={"embedding": pl.String, "n_vocabulary": pl.Int64, "n_dimensions": pl.Int64},
    )
    rows = whole_sets(evaluation.coverage())
    if "n_pairs_oov" not in rows.columns:  # of earlier versions
        rows = rows.with_columns(pl.lit(None, pl.Int64).alias("n_pairs_oov"))
    return rows.join(sizes, on="embedding", how="left", maintain_order="left")


def readable_coverage(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the size and the coverage of each embedding, a row each: table A.1 of the paper.

    Coverage is the share of pairs without any word that lacks a vector, the least and the most of
    all rated sets, and of all datasets of builds, where there are such.
    """
    share = 1 - pl.col("n_pairs_oov") / pl.col("n_pairs")
    ranges = {
        f"{name} covered": pl.concat_str(
            _cents(share.filter(of).min(), ".1f"),
            pl.lit("\N{EN DASH}"),
            _cents(share.filter(of).max(), ".1f"),
            pl.lit("%"),
        )
        for name, of in (
            ("rated sets", pl.col("difficulty").is_null()),
            ("datasets", pl.col("difficulty").is_not_null()),
        )
    }
    sizes = pl.col("n_vocabulary", "n_dimensions").first()
    found = rows.group_by("embedding").agg(sizes, **ranges).sort("embedding")
    return found.drop(name for name in ranges if found[name].null_count() == found.height)


def readable_vocabularies(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each column's vocabulary that a row's has: table A.2 of the paper.

    Args:
        rows: ``OVERLAP_COLUMNS`` of whole vocabularies.

    Returns:
        A row per embedding, in per cent; the last column is the mean of its row.
    """
    both = pl.concat(
        rows.select(
            pl.col(f"embedding{own}").alias("embedding"),
            pl.col(f"embedding{other}").alias("of"),
            pl.col(f"share{other}").alias("share"),
        )
        for own, other in ((1, 2), (2, 1))
    ).sort("embedding", "of")
    own = apart("of", ["embedding", "average"])
    names = both.select(of="embedding").select(own).to_series().unique(maintain_order=True)
    means = both.group_by("embedding").agg(_cents(pl.col("share").mean(), ".2f").alias("average"))
    table = both.with_columns(own, _cents(pl.col("share"), ".2f")).pivot(
        "of", index="embedding", values="share"
    )
    return table.select("embedding", *names).join(means, on="embedding", maintain_order="left")


def _cents(share: pl.Expr, form: str) -> pl.Expr:
    """Return shares as texts in per cent."""
    return (share * 100).map_elements(lambda value: number(value, form), pl.String)
