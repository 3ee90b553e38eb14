"""The report of a study's scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import counted
from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    Folded,
    Page,
    PageTable,
    Section,
    distinct,
    facts,
    license_notice,
    report,
)
from medsim.studies.sentences import score_sentences

if TYPE_CHECKING:
    from medsim.studies.output import ScoresFolder

_ENDS = ("_low", "_high")
_WORDS = {
    "alpha": "Krippendorff's alpha: agreement beyond chance; 1 is perfect.",
    "kappa": "Cohen's kappa: agreement of two beyond chance; 1 is perfect.",
    "iaa1": "The mean of Spearman's correlations of every two raters.",
    "iaa2": "The mean of Spearman's correlations of each rater with the mean of the others.",
    "no ground truth": "The share of pairs without a majority.",
    "accuracy": "The share of pairs on which labels and ground truth agree.",
    "recall": "The share of pairs judged the same that are labelled the same.",
    "precision": "The share of pairs labelled the same that are judged the same.",
}


def scores_page(opened: ScoresFolder) -> Page:
    """Return the report of a study's scores: each estimate with its interval, and all tables."""
    manifest = opened.manifest
    tables = {}
    for table_name in opened.kind.views:
        path = opened.folder / f"{table_name}.csv"
        if path.name in manifest.outputs:
            tables[table_name] = pl.read_csv(path.read_bytes(), infer_schema_length=None)
    estimates = {key: rows for key, table in tables.items() if (rows := _estimates(table)).height}
    others = {key: table for key, table in tables.items() if key not in estimates}
    sections = [
        Section(title="Result", parts=[], result=score_sentences(tables)),
        *(_section(key, rows, tables[key]) for key, rows in estimates.items()),
        Section(
            title="Tables",
            prose="All answers, and missing ones.",
            parts=[
                Folded(
                    summary=f"{_spaced(key)}, {counted(table.height, 'row')}",
                    tables=[PageTable(caption=_spaced(key), frame=table.rename(_spaced))],
                )
                for key, table in others.items()
            ],
        ),
    ]
    answers = [(file.get("name", ""), file.get("sha256")) for file in manifest.answers]
    words = {
        name.partition(" without ")[0] for rows in estimates.values() for name in rows["contender"]
    }
    return report(
        Page(
            title="Annotation results",
            lead=f"Study {manifest.study_id}, {counted(len(answers), 'file')} of answers to the "
            f"question “{manifest.question}”",
            sections=[section for section in sections if section.parts or section.result],
            notice=license_notice({str(manifest.source.get("name")): manifest.source}),
            words={key: meaning for key, meaning in _WORDS.items() if key in words},
        ),
        manifest,
        opened.folder.name,
        parts=[
            facts("Answers, by their SHA-256", answers),
            facts("Source of the study", manifest.source.items()),
        ],
        commands="medsim sql SCORES                # lists the views",
    )


def _estimates(table: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of a table for ``charts.dots``; empty if it has none."""
    columns = table.columns
    names = [name for name in columns if all(name + end in columns for end in _ENDS)]
    keys = [name for name in columns if table[name].dtype == pl.String and name != "dont_know"]
    of = pl.lit("")
    if "dont_know" in columns:
        without = pl.col("dont_know") == "left out"
        of = pl.when(without).then(pl.lit(" without don't know")).otherwise(of)
    row = pl.concat_str(keys, separator=", ", ignore_nulls=True) if keys else pl.lit("all")
    parts = [
        charts.points(
            table.with_columns(contender=pl.lit(_spaced(name)) + of, row=row),
            y="row",
            value=name,
            ends=(name + _ENDS[0], name + _ENDS[1]),
        ).cast({"value": pl.Float64, "low": pl.Float64, "high": pl.Float64})
        for name in names
    ]
    return pl.concat(parts).drop_nulls("value") if parts else pl.DataFrame()


def _section(name: str, estimates: pl.DataFrame, table: pl.DataFrame) -> Section:
    """Return a chart of the estimates of a table."""
    title = _spaced(name).capitalize()
    rows = distinct(estimates["y"])
    chart = Chart(
        title=f"{title}, with 95% confidence intervals",
        says="Points are estimates and lines their 95% confidence intervals.",
        spec=charts.dots(
            distinct(estimates["contender"]),
            x=charts.ValueAxis(title="estimate"),
            y=rows,
            names=("estimate", "of"),
        ),
        rows=estimates,
        table=PageTable(caption=title, frame=table.rename(_spaced)),
    )
    return Section(title=title, parts=[chart])


def _spaced(name: str) -> str:
    return name.removeprefix("n_").replace("_", " ")
