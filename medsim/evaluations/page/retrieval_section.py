"""The section on whether embeddings find terms of the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.shown import number
from medsim.evaluations.conclusions import retrieval_at_best_metric
from medsim.evaluations.retrieval_ranks import LENGTHS
from medsim.evaluations.statistic import statistics_of
from medsim.evaluations.tables.labels import headed, in_order_of, p_text, with_contenders
from medsim.pages import charts
from medsim.pages.page import Chart, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

_RETRIEVED = {one.name: one.label for one in statistics_of("retrieval")}
_ENDS = ("low", "high")


def retrieval(
    rows: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return how often embeddings find a term that means the same."""
    parts: list[Chart | PageTable] = []
    for (name,), of_input in rows.drop_nulls("value").group_by("input", maintain_order=True):
        at_best = retrieval_at_best_metric(of_input.filter(subset="common"))
        common = with_contenders(in_order_of(at_best, embeddings))
        if common.height:
            parts.append(_by_difficulty(str(name), common, of_input))
            parts += _by_length(str(name), common)
            compared = comparisons.filter(input=name, dataset="retrieval")
            parts += _differences(str(name), compared)
    if not parts:
        return None
    return Section(
        title="Retrieval",
        prose="For each term that has others of the same meaning, whether one of them is among "
        "those that the embedding finds nearest, of all terms that the build draws from and that "
        "have a vector. A term without a vector counts as not found; of terms that are equally "
        "near, those of another meaning come first.",
        parts=parts,
    )


def _by_difficulty(name: str, common: pl.DataFrame, rows: pl.DataFrame) -> Chart:
    every = rows.with_columns(pl.col("difficulty", "length").fill_null("all"))
    drawn = charts.points(
        common.filter(pl.col("length").is_null(), pl.col("statistic").is_in(list(_RETRIEVED))),
        panel=pl.col("statistic").replace_strict(_RETRIEVED),
        y=pl.col("difficulty").fill_null("all"),
        ends=_ENDS,
    )
    return Chart(
        title=f"What is found on {name}",
        says="Share of the terms for which a term of the same meaning is among the first 1, 5 or "
        "10, and the mean of 1 / rank, with 95% intervals. A term is easy if one of the same "
        f"meaning differs by at most 5 edits.{_recall(common)}",
        spec=charts.dots(
            distinct(drawn["contender"]),
            x=charts.ValueAxis(title="share of terms, or mean of 1 / rank", scale={"zero": True}),
            y=_in_order(("all", "easy", "hard"), drawn["y"]),
            panels=_in_order(list(_RETRIEVED.values()), drawn["panel"]),
            names=("embedding", "terms"),
        ),
        rows=drawn,
        table=PageTable(
            caption=f"Retrieval on {name}, with 95% intervals",
            frame=headed(every, pl.exclude("input", "signature")),
            view="retrieval",
        ),
    )


def _recall(common: pl.DataFrame) -> str:
    """Return a sentence on how exact the indexes were that are not."""
    lowest = common.group_by("index").agg(pl.min("recall")).drop_nulls().sort("index")
    return "".join(
        f" The index {index} finds {number(100 * recall, '.1f')}% of the true nearest terms, "
        "or more."
        for index, recall in lowest.iter_rows()
    )


def _by_length(name: str, common: pl.DataFrame) -> list[Chart]:
    first = common.filter(
        pl.col("difficulty").is_null(), pl.col("statistic") == "accuracy_at_1"
    ).drop_nulls("length")
    if first.is_empty():
        return []
    words = {length: f"{length} word{'' if length == '1' else 's'}" for length in LENGTHS}
    drawn = charts.points(first, y=pl.col("length").replace_strict(words), ends=_ENDS)
    columns = ("contender", "length", "value", "low", "high", "n_terms")
    table = headed(first, columns, contender="embedding", value="found first")
    return [
        Chart(
            title=f"What is found first on {name}, by length",
            says="Share of the terms of so many words whose nearest term means the same, with 95% "
            "intervals.",
            spec=charts.dots(
                distinct(drawn["contender"]),
                x=charts.ValueAxis(title="share of terms", scale={"zero": True}),
                y=_in_order(list(words.values()), drawn["y"]),
                names=("embedding", "length"),
            ),
            rows=drawn,
            table=PageTable(caption=f"Found first on {name}, by length", frame=table),
        )
    ]


def _differences(name: str, compared: pl.DataFrame) -> list[PageTable]:
    """Return which embeddings find more than others, on all terms by the exact index."""
    if compared.is_empty():
        return []
    columns = ("score", "embeddings", "difference", "low", "high", "p_bonferroni", "n_pairs")
    frame = headed(
        compared.with_columns(
            score=pl.col("of").replace(_RETRIEVED),
            embeddings=pl.format("{} \N{MINUS SIGN} {}", "embedding1", "embedding2"),
            p_bonferroni=pl.col("p_bonferroni").map_elements(p_text, pl.String),
        ),
        columns,
        p_bonferroni="p after Bonferroni",
        n_pairs="terms",
    )
    caption = (
        f"Differences on {name} with 95% intervals, on all terms by the exact index; terms that "
        "are linked to each other count as one cluster"
    )
    return [PageTable(caption=caption, frame=frame)]


def _in_order(order: Sequence[str], values: pl.Series) -> list[str]:
    present = set(values)
    return [one for one in order if one in present]
