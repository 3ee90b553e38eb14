"""The report of an evaluation of models on words in context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import counted, listed
from medsim.core.shown import number
from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    Page,
    PageTable,
    Section,
    closing,
    content_digest,
    facts,
    warnings_of,
)
from medsim.wic.page import PAPER
from medsim.wic.readable import readable_accuracies, readable_comparisons
from medsim.wic.worst_errors import worst_errors

if TYPE_CHECKING:
    from medsim.wic.output import WicEvaluation

_CHANCE = 0.5
_ALPHA = 0.05
_NAMED = 3  # models that a sentence names at most
_WORDS = {
    "any seen": "Instances of which at least one target term occurs in what models are fitted on.",
    "both seen": "Instances of which both target terms occur in what models are fitted on.",
    "unseen": "Instances of which no target term occurs in what models are fitted on.",
    "p (Holm)": "The p of McNemar's test, corrected for the number of comparisons by Holm's "
    "procedure; below 0.05 two models differ significantly.",
}


def wic_scores_page(opened: WicEvaluation) -> Page:
    """Return the report of models on words in context: accuracies, and which models differ."""
    manifest = opened.manifest
    name = f"{opened.folder.name}@{content_digest(manifest)}"
    results = opened.read("results.parquet")
    comparisons = opened.read("comparisons.parquet")
    whole = results.filter(statistic="accuracy", subset="all")
    best_first = whole.sort("value", "model", descending=[True, False])["model"].to_list()
    sections = [
        _result(results, comparisons),
        worst_errors(opened, best_first),
        _parts(results),
        _differences(comparisons),
    ]
    return Page(
        title=f"Models on words in context of {manifest.data}",
        lead=f"{counted(len(manifest.models), 'model')}, scored by medsim {manifest.medsim}. "
        f"{manifest.fitted[:1].upper()}{manifest.fitted[1:]}.",
        notice=None,
        signature=f"medsim {manifest.medsim}, {name}, seed {manifest.options.get('seed')}",
        sections=[
            *(section for section in sections if section is not None),
            closing(
                manifest,
                [
                    *(facts(f"Model {one}", own.items()) for one, own in manifest.models.items()),
                    *(facts(f"File {one}", own.items()) for one, own in manifest.files.items()),
                    facts("Options", manifest.options.items()),
                    *warnings_of(manifest.warnings),
                ],
                f"{name}, scored by medsim {manifest.medsim}",
                "medsim sql SCORES                # lists the views\n"
                'medsim sql SCORES "select * from predictions where label <> prediction"',
                PAPER,
            ),
        ],
        words=_WORDS,
    )


def _result(results: pl.DataFrame, comparisons: pl.DataFrame) -> Section:
    whole = results.filter(statistic="accuracy", subset="all").sort(
        "value", "model", descending=[True, False]
    )
    first = whole.row(0, named=True)
    low, high = (
        "not known" if first[end] is None else number(first[end], ".3f") for end in ("low", "high")
    )
    said = (
        f"Of {counted(first['n_instances'], 'instance')}, {first['model']} answers "
        f"{number(100 * first['value'], '.1f')}% rightly (95% interval of the accuracy "
        f"{low} to {high}){_beside(first['model'], whole, comparisons)}."
    )
    at_chance = whole.filter(pl.col("low") <= _CHANCE)["model"].to_list()
    sentences = [said]
    if at_chance:
        sentences.append(f"Not better than a coin, 0.5: {listed(at_chance, 2 * _NAMED)}.")
    names = whole["model"].to_list()
    chart = Chart(
        title="Accuracy of each model",
        says="Points are the shares of instances that are answered rightly, lines 95% intervals: "
        "a bootstrap's, or Wilson's where all are right or none. The dashed line at 0.5 is a coin.",
        spec=charts.ranking(names, charts.ValueAxis(title="accuracy", line=_CHANCE)),
        rows=charts.points(
            whole.with_columns(contender=pl.lit("")), y="model", ends=("low", "high")
        ),
        table=PageTable(
            caption="Accuracy of each model",
            frame=whole.select(
                "model", "value", "low", "high", "n_instances", "n_uncovered"
            ).rename(
                {
                    "value": "accuracy",
                    "low": "from",
                    "high": "to",
                    "n_instances": "instances",
                    "n_uncovered": "not covered",
                }
            ),
        ),
    )
    return Section(title="Result", prose="", parts=[chart], result=sentences)


def _beside(best: str, whole: pl.DataFrame, comparisons: pl.DataFrame) -> str:
    """Return which models the best cannot be told from."""
    between = comparisons.filter(
        pl.col("between") == "models", pl.any_horizontal(pl.col("model1", "model2") == best)
    )
    near = between.filter(pl.col("p_holm") >= _ALPHA)
    others = {*near["model1"], *near["model2"]} - {best}
    tied = [name for name in whole["model"] if name in others]
    if tied:
        return f" and cannot be told from {listed(tied, _NAMED)}"
    return ", significantly more than any other" if between.height else ""


def _parts(results: pl.DataFrame) -> Section:
    return Section(
        title="Parts",
        prose="Accuracies on the parts of the benchmark: kinds of instances, and those whose "
        "target terms occur in what models are fitted on, or not.",
        parts=[
            PageTable(caption="Accuracies by part", frame=readable_accuracies(results)),
        ],
    )


def _differences(comparisons: pl.DataFrame) -> Section | None:
    frame = readable_comparisons(comparisons)
    if frame.is_empty():
        return None
    return Section(
        title="Differences",
        prose="Every two models by McNemar's test, on the same instances.",
        parts=[PageTable(caption="Differences of accuracies", frame=frame)],
    )
