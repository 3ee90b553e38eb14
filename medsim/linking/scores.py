"""Scores of ranks by stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.shown import MISSING
from medsim.linking.output import LINK_SCORES
from medsim.statistics.estimates import interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample

if TYPE_CHECKING:
    from collections.abc import Sequence

_ALL = "all"
"""The type of all mentions, and the stratum of all mentions of one known concept."""

_IS_KNOWN = pl.col("status") == "known"
_STRATA = {
    _ALL: _IS_KNOWN,
    "name": _IS_KNOWN & (pl.col("n_named") > 0),
    "not_name": _IS_KNOWN & (pl.col("n_named") == 0),
    "homonym": _IS_KNOWN & (pl.col("n_named") > 1),
    "abbreviation": _IS_KNOWN & pl.col("is_abbreviation"),
    **{name: pl.col("status") == name for name in ("composite", "unknown_concept", "no_concept")},
}
_STATISTICS = {
    "accuracy_at_1": lambda sample: sample.accuracy_at(1),
    "accuracy_at_5": lambda sample: sample.accuracy_at(5),
    "mrr": RankSample.mean_reciprocal_rank,
}


def link_scores(mentions: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of all models, the rows of ``LINK_SCORES``."""
    rows = []
    every = pl.concat([mentions.with_columns(type=pl.lit(_ALL)), mentions.sort("type")])
    for (corpus, kind), of_type in every.group_by("corpus", "type", maintain_order=True):
        for stratum, chosen in _STRATA.items():
            counted = of_type.filter(chosen)
            for (model,), of_model in links.group_by("model", maintain_order=True):
                scored = counted.join(of_model, on="mention_id")
                sample = RankSample(
                    ranks=scored["rank"].fill_null(NOT_FOUND).cast(pl.Int64).to_numpy(),
                    clusters=scored["document_id"].rank("dense").cast(pl.Int64).to_numpy() - 1,
                )
                where = (corpus, kind, stratum, model)
                n_counted = counted.height, counted["document_id"].n_unique()
                for statistic, compute in _STATISTICS.items():
                    values = interval_of(compute(sample)).values()
                    rows.append((*where, statistic, *values, *n_counted))
    return pl.DataFrame(rows, LINK_SCORES.dtypes, orient="row")


def readable_link_scores(results: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Return the scores of all mentions in percent, and accuracy@1 of the strata."""
    value, low, high = (
        (100 * pl.col(name)).round(1).cast(pl.String) for name in ("value", "low", "high")
    )
    cell = pl.coalesce(pl.format("{} [{}, {}]", value, low, high), value, pl.lit(MISSING))
    shown = results.rename({"n_mentions": "mentions"}).with_columns(cell=cell)
    total, strata = shown.filter(stratum=_ALL), shown.filter(type=_ALL, statistic="accuracy_at_1")
    return [
        total.pivot("statistic", index=["corpus", "type", "mentions", "model"], values="cell"),
        strata.pivot("model", index=["corpus", "mentions", "stratum"], values="cell"),
    ]
