"""The results of a study's scores: in sentences, and as a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import counted, listed
from medsim.core.manifest import medsim_version
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
    with_interval,
)
from medsim.studies.output import ScoresFolder, texts_of_statistics

if TYPE_CHECKING:
    from medsim.statistics.options import Resampling
    from medsim.studies.sheets import Scale

_METHODS = toml_of(__package__, "methods.toml")
ENDS = ("_low", "_high")
"""What the names of columns with the ends of an interval end with."""

_ALPHA = "Krippendorff's alpha"


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
        Section(title="Result", result=score_sentences(tables)),
        Section(title="Methods", prose=(opened.folder / "methods.txt").read_text("utf-8").rstrip()),
        *(_section(key, rows, tables[key]) for key, rows in estimates.items()),
        Section(
            title="Tables",
            prose="All answers, and missing ones.",
            parts=[
                Folded(
                    summary=f"{_spaced(key)}, {counted(table.height, 'row')}",
                    tables=[PageTable(caption=_spaced(key), frame=_headed(table))],
                )
                for key, table in others.items()
            ],
        ),
    ]
    answers = [(file.get("name", ""), file.get("sha256")) for file in manifest.answers]
    meanings = {_spaced(name): text for name, text in texts_of_statistics("meaning").items()}
    words = {
        name.partition(" without ")[0] for rows in estimates.values() for name in rows["contender"]
    }
    return report(
        manifest,
        opened.folder.name,
        title="Annotation results",
        lead=f"Study {manifest.study_id}, {counted(len(answers), 'file')} of answers to the "
        f"question “{manifest.question}”",
        sections=[each for each in sections if each.parts or each.result or each.prose],
        notice=license_notice({str(manifest.source.get("name")): manifest.source}),
        words={key: meaning for key, meaning in meanings.items() if key in words},
        parts=[
            facts("Answers, by their SHA-256", answers),
            facts("Source of the study", manifest.source.items()),
        ],
        commands="medsim sql SCORES                # lists the views",
    )


def _estimates(table: pl.DataFrame) -> pl.DataFrame:
    """Return the estimates of a table for ``charts.dots``; empty if it has none."""
    columns = table.columns
    names = [name for name in columns if all(name + end in columns for end in ENDS)]
    keys = [name for name in columns if table[name].dtype == pl.String and name != "dont_know"]
    of = pl.lit("")
    if "dont_know" in columns:
        without = pl.col("dont_know") == "left out"
        of = pl.when(without).then(pl.lit(" without don't know")).otherwise(of)
    row = pl.concat_str(keys, separator=", ", ignore_nulls=True) if keys else pl.lit("all")
    parts = [
        charts.points(
            table,
            y=row,
            contender=pl.lit(_spaced(name)) + of,
            value=name,
            ends=(name + ENDS[0], name + ENDS[1]),
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
        table=PageTable(caption=title, frame=_headed(table)),
    )
    return Section(title=title, parts=[chart])


def _spaced(name: str) -> str:
    return name.removeprefix("n_").replace("_", " ")


def _headed(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table under its headings; a count says so if another column has its name."""
    counts = {f"n_{name}": f"number of {name}" for name in table.columns}
    return table.rename(lambda name: counts.get(name, _spaced(name)))


def score_sentences(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return how far annotators agree and what they found, from the tables of ``Scores``."""
    said = _judged if "judged" in tables else _graded if "raters" in tables else _compared
    n_missing = tables["missing"].height if "missing" in tables else 0
    return [*said(tables), *([f"Missing answers: {n_missing:,}."] if n_missing else [])]


def _estimate(row: Mapping[str, Any], name: str) -> str:
    """Return an estimate with its confidence interval."""
    return with_interval(
        {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
    )


def methods_of(
    scale: Scale, asked: pl.DataFrame, tables: Mapping[str, pl.DataFrame], resampling: Resampling
) -> str:
    """Return a paragraph for a paper on how a study was done and what it found.

    Args:
        scale: scale of the study, with its question and words.
        asked: ``StudyAnswers.entries`` of all annotators who are not left out.
        tables: the tables of ``Scores``.
        resampling: settings of the confidence intervals.
    """
    given = asked.drop_nulls("value")
    by_item = asked.group_by("item_id").agg(pl.col("annotator").n_unique())
    votes = by_item["annotator"].unique().sort().to_list()
    ((seconds,),) = given.select(pl.col("seconds").median()).rows()
    whole = next(tables["agreement"].iter_rows(named=True), {})
    agreement = [
        f"{text} {_estimate(whole, name)}"
        for name, text in texts_of_statistics("name").items()
        if whole.get(name) is not None
    ]
    facts = asdict(resampling) | {
        "people": counted(asked["annotator"].n_unique(), "annotator"),
        "items": counted(by_item.height, scale.noun),
        "votes": " to ".join(map(str, sorted({votes[0], votes[-1]}))),
        "question": scale.question,
        "allowed": listed(scale.allowed),
        "noun": scale.noun,
        "given": given.height,
        "answers": counted(asked.height, "answer"),
        "seconds": seconds,
        "has_majority": "judged" in tables,
        "found": " ".join(score_sentences(tables)),
        "agreement": listed(agreement),
        "version": medsim_version(),
    }
    texts = [text for name, text in _METHODS.items() if facts.get(name, True)]
    return " ".join(" ".join(texts).format(**facts).split())


def _judged(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    whole, annotators = tables["agreement"].row(0, named=True), tables["annotators"]
    pairs, n_pairs = tables["judged"], tables["judged"].height
    judged = f"{counted(annotators.height, 'annotator')} judged {counted(n_pairs, 'pair')}"
    votes = pairs.select(pl.sum_horizontal("n_same", "n_not_same", "n_dont_know"))
    ends = sorted({*votes.min().row(0), *votes.max().row(0)})
    if ends[-1] < annotators.height:
        judged += f", each pair by {' to '.join(map(str, ends))} of them"
    agreed = "; their agreement cannot be measured"
    if whole["alpha"] is not None:
        agreed = f": {_ALPHA} is {_estimate(whole, 'alpha')}"
    sentences = [f"{judged}{agreed}."]
    decided = pairs.drop_nulls("judged")
    n_decided, is_same = decided.height, decided["judged"] == "same"
    had = f"{n_decided:,} of {counted(n_pairs, 'pair')} had a majority"
    if not n_decided:
        return [*sentences, f"{had}."]
    whole = tables["quality"].row(0, named=True) if "quality" in tables else {"accuracy": None}
    if whole["accuracy"] is None:
        n_same = int(is_same.sum())
        sentences.append(f"{had}: {n_same:,} same and {n_decided - n_same:,} not same.")
    else:
        n_right = int((is_same == (decided["label"] == 1)).sum())
        n_labelled = decided["label"].count()
        known = "" if n_labelled == n_decided else f" of the {n_labelled:,} with a label"
        sentences.append(
            f"{had}, which matched the label of {n_right:,}{known}: the accuracy of labels is "
            f"{_estimate(whole, 'accuracy')}."
        )
    ranked = annotators.drop_nulls("with_majority").sort("with_majority", "annotator").to_dicts()
    least, most = (_estimate(row, "with_majority") for row in (ranked[0], ranked[-1]))
    if least != most:
        sentences.append(f"Annotators agreed with the majority in {least} to {most} of answers.")
    return sentences


def _graded(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    agreement, raters = tables["agreement"], tables["raters"]
    whole = agreement.filter(pairs="all").row(-1, named=True)  # of accepted raters, if some are not
    rated = f"{counted(whole['n_raters'], 'rater')} rated {counted(whole['n_pairs'], 'pair')}"
    agreed = "; their agreement cannot be measured"
    if whole["iaa1"] is not None:
        agreed = (
            f": the mean of Spearman's correlations is {_estimate(whole, 'iaa1')} between two "
            f"raters (IAA-1), and {_estimate(whole, 'iaa2')} between a rater and the mean of the "
            "others (IAA-2)"
        )
    sentences = [f"{rated}{agreed}."]
    of_groups = agreement.filter(pl.col("pairs").str.starts_with("group ")).drop_nulls("iaa1")
    of_groups = of_groups.unique("pairs", keep="last", maintain_order=True)
    if of_groups.height > 1:
        least, *_, most = of_groups.sort("iaa1", "pairs").to_dicts()
        sentences.append(
            f"IAA-1 is lowest in {least['pairs']}, {_estimate(least, 'iaa1')}, and highest in "
            f"{most['pairs']}, {_estimate(most, 'iaa1')}."
        )
    n_outliers = int(raters["outlier"].sum())
    are = counted(n_outliers, "rater is an outlier", "raters are outliers")
    return [*sentences, f"{are}." if n_outliers else "No rater is an outlier."]


def _compared(tables: Mapping[str, pl.DataFrame]) -> list[str]:
    agreement = tables["agreement"]
    sentences = []
    if agreement.height:
        whole = agreement.row(0, named=True)
        items = next(name for name in agreement.columns if name.startswith("n_"))
        noun = items.removeprefix("n_").removesuffix("s")
        names = texts_of_statistics("name")
        known = [
            f"{names[key]} is {_estimate(whole, key)}"
            for key in ("kappa", "alpha")
            if whole[key] is not None
        ]
        agreed = listed(known) or "agreement cannot be measured"
        sentences.append(
            f"On the {counted(whole[items], noun)} with at least two answers, {agreed}."
        )
    if "accuracy" in tables:
        mean = tables["accuracy"].row(-1, named=True)
        accuracy = _estimate(mean, "accuracy")
        sentences.append(f"Their mean accuracy against the labels is {accuracy}.")
    if "domains" in tables:
        by_domain = dict(tables["domains"].group_by("domain").len().sort("domain").iter_rows())
        domains = listed([f"{n:,} {domain}" for domain, n in by_domain.items()])
        n_words = counted(tables["domains"].height, "word")
        sentences.append(f"All put {n_words} into the same domain{domains and f': {domains}'}.")
    if "confirmed" in tables:
        n_pairs = counted(tables["confirmed"].height, "pair")
        sentences.append(f"All call {n_pairs} associated.")
    return sentences
