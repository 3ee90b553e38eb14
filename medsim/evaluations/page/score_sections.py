"""Sections on similarities themselves: distributions, ROC curves, the worst errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.evaluations.sets import SET
from medsim.evaluations.tables.labels import hardest_first, headed, in_order_of, set_name
from medsim.pages import charts
from medsim.pages.page import Chart, Folded, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = ("positives", "negatives")
_AT_ONCE = 5  # embeddings whose worst errors are opened; of one more it is worth no click


def distributions(
    rows: pl.DataFrame, quartiles: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return how similarities of positives and of negatives lie on every set."""
    if rows.is_empty():
        return None
    rows = in_order_of(rows, embeddings)
    drawn = rows.select(
        "kind",
        "x",
        "share",
        choice=set_name(rows, with_kind=True),
        panel=pl.format("{}, {}", "embedding", "metric"),
    )
    chart = Chart(
        title="Similarities of positives and of negatives",
        says="Share of the pairs in each of 40 bins, of every embedding at the metric under which "
        "its AUC is highest, on the pairs that all embeddings cover. The less the two overlap, the "
        "better; scales differ, since metrics do.",
        spec=charts.histograms(
            _KINDS,
            x="similarity",
            panels=distinct(drawn["panel"]),
            columns=2,
            choices=hardest_first(drawn["choice"]),
            independent=True,
        ),
        rows=drawn,
        table=PageTable(
            caption="Quartiles of similarities",
            frame=quartiles.rename({"kind": "of", "n": "pairs", "q1": "25%", "q3": "75%"}),
        ),
    )
    return Section(
        title="Distributions",
        prose="How similar each embedding finds the terms of positives and of negatives.",
        parts=[chart],
    )


def roc_curves(
    rows: pl.DataFrame, results: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return the ROC curves of embeddings on every set."""
    if rows.is_empty():
        return None
    drawn = rows.select(
        "at",
        "false_positives",
        "true_positives",
        choice=set_name(rows, with_kind=True),
        contender="embedding",
    )
    key, areas = [*SET, "embedding", "metric"], ["auc", "average_precision"]
    scores = results.filter(pl.col("subset") == "common", pl.col("statistic").is_in(areas))
    table = (
        rows.select(key)
        .unique(maintain_order=True)
        .join(
            scores.pivot("statistic", index=key, values="value"),
            on=key,
            how="left",
            maintain_order="left",
        )
    )
    chart = Chart(
        title="Positives found, and negatives taken for them",
        says="For every threshold, the share of positives that are at least as similar, against "
        "that of negatives; nearer the upper left is better, and the dashed diagonal is a coin. "
        "Every embedding at the metric under which its AUC is highest.",
        spec=charts.curves(embeddings, hardest_first(drawn["choice"])),
        rows=drawn,
        table=PageTable(
            caption="Areas under the curves", frame=headed(table, [*key, *areas]), view="results"
        ),
        narrow=True,
    )
    return Section(
        title="ROC curves",
        prose="How many positives each embedding finds at the price of how many false ones.",
        parts=[chart],
    )


def errors(
    pairs: pl.DataFrame, retrieved: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return the worst errors as examples."""
    parts = [
        *_pair_errors(in_order_of(pairs, embeddings)),
        *_retrieval_errors(in_order_of(retrieved, embeddings)),
    ]
    if not parts:
        return None
    return Section(
        title="Worst errors",
        prose="Where each embedding is most wrong at its best metric, on hard positives and the "
        "nearest negatives, among pairs of which it knows every word: negatives that it finds most "
        "similar, positives that it finds least similar; and terms whose nearest term means "
        "something else.",
        parts=parts,
    )


def _pair_errors(pairs: pl.DataFrame) -> list[Folded]:
    folded: list[Folded] = []
    for of_set in pairs.partition_by(*SET, maintain_order=True):
        name = set_name(of_set, with_kind=True)[0]
        embeddings = of_set["embedding"].unique(maintain_order=True)
        shown = len(embeddings) if len(embeddings) <= _AT_ONCE + 1 else _AT_ONCE
        of_first = of_set.filter(pl.col("embedding").is_in(embeddings[:shown].implode()))
        tables = _error_tables(of_first)
        folded.append(Folded(summary=f"Pairs of {name}", tables=tables, opened=not folded))
        if len(embeddings) > shown:
            of_others = of_set.filter(pl.col("embedding").is_in(embeddings[shown:].implode()))
            others = f"Pairs of {name}: {len(embeddings) - shown} further embeddings"
            folded.append(Folded(summary=others, tables=_error_tables(of_others)))
    return folded


def _error_tables(pairs: pl.DataFrame) -> list[PageTable]:
    """Return a table for each embedding and label."""
    groups = pairs.group_by("embedding", "metric", "label", maintain_order=True)
    return [
        PageTable(
            caption=f"{'Positives' if label else 'Negatives'} found "
            f"{'least' if label else 'most'} similar by {embedding} ({metric})",
            frame=group.select("term1", "term2", "similarity"),
        )
        for (embedding, metric, label), group in groups
    ]


def _retrieval_errors(retrieved: pl.DataFrame) -> list[Folded]:
    columns = (
        "term",
        "nearest_term",
        "nearest_similarity",
        "linked_term",
        "linked_similarity",
        "rank",
    )
    titles = {
        f"Terms of {name} whose nearest term means something else, by {embedding} ({index})": group
        for (name, embedding, index), group in retrieved.group_by(
            "input", "embedding", "index", maintain_order=True
        )
    }
    return [
        Folded(summary=title, tables=[PageTable(caption=title, frame=headed(group, columns))])
        for title, group in titles.items()
    ]
