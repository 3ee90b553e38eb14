"""The outputs of studies: studies and their scores, with tables and manifests.

``tables.toml`` declares the tables and their statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import polars as pl

from medsim.core.data import toml_of
from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT, SCALES, Scale

ITEMS, ASSIGNMENT = "key/items.parquet", "key/assignment.parquet"
"""The key of a study: the pairs, and the annotators who see them."""

_DECLARED = toml_of(__package__, "tables.toml")


def texts_of_statistics(use: str) -> dict[str, str]:
    """Return the texts of statistics by name.

    Args:
        use: "missing", a clause after "where" on missing values; "line", a line below a table; or
            "meaning", for the report.
    """
    return {name: texts[use] for name, texts in _DECLARED["statistics"].items() if use in texts}


WHY_MISSING: Mapping[str, str] = texts_of_statistics("missing")
"""Reasons for missing values of statistics: a clause after "where"."""


def _columns(declared: Iterable[Any], scale: Scale = JUDGEMENT) -> dict[str, Column]:
    """Return declared columns by name; see ``tables.toml``."""
    columns: dict[str, Column] = {}
    for entry in declared:
        if entry == "counts":
            counts = {f"n_{name}": f"Number of answers {name}." for name in scale.answers}
            columns |= {name: Column(pl.Int64, about) for name, about in counts.items()}
        elif isinstance(entry, str):
            group = _columns(_DECLARED["groups"][entry.rstrip("?")], scale)
            optional = {name: replace(one, in_some_files=True) for name, one in group.items()}
            columns |= optional if entry.endswith("?") else group
        else:
            columns |= _column(*entry, noun=scale.noun)
    return columns


def _column(name: str, dtype: str, about: str, *, noun: str) -> dict[str, Column]:
    """Return a declared column, with the ends of the interval of an estimate."""
    if dtype in {"statistic", "estimate"}:
        why, ends = WHY_MISSING.get(name), {"low": "Lower", "high": "Upper"}
        about = f"{about}; null where {why}." if why else f"{about}."
        intervals = {
            f"{name}_{end}": f"{which} end of {name}'s 95% confidence interval, or null."
            for end, which in (ends.items() if dtype == "estimate" else ())
        }
        texts = {name: about, **intervals}
        return {column: Column(pl.Float64, text) for column, text in texts.items()}
    in_some_files, dtype = dtype.endswith("?"), dtype.rstrip("?")
    return {name.format(noun=noun): Column(getattr(pl, dtype), about, in_some_files)}


def _table(path: str, declared: Mapping[str, Any], scale: Scale = JUDGEMENT) -> Table:
    """Return a declared table; by default it is in order of its key."""
    key = tuple(declared["key"])
    order = declared.get("order", f"By {' and '.join(key)}.")
    return Table(
        path, declared["about"], _columns(declared["columns"], scale), key=key, order=order
    )


def _scores(section: str, scale: Scale = JUDGEMENT) -> dict[str, Table]:
    """Return the declared tables of scores of a section by name."""
    tables = {name: _table(f"{name}.csv", one, scale) for name, one in _DECLARED[section].items()}
    return {name: replace(table, optional=True) for name, table in tables.items()}


def _compared(scale: Scale) -> dict[str, Table]:
    """Return the tables of a study whose answers are compared, its specific table first."""
    own = _scores(scale.name, scale)
    first = next(iter(own))
    return {first: own[first], **_scores("compared", scale), **own}


ITEM_TABLES: Mapping[str, Table] = {
    name: Table(
        ITEMS,
        "A row per item of the study.",
        {
            "item_id": Column(
                pl.String, "Identifier of the item in this study; annotators never see it."
            ),
            **_columns(_DECLARED["items"][name]),
        },
        key=("item_id",),
        order="By item_id.",
    )
    for name in SCALES
}
"""The items of a study by its scale."""

JUDGED_ITEMS, GRADED_ITEMS, CONTEXT_ITEMS, DOMAIN_ITEMS, _ = ITEM_TABLES.values()

ASSIGNED = _table(ASSIGNMENT, _DECLARED["files"]["assignment"])

WORD_PAIRS = _table("PAIRS.csv", _DECLARED["files"]["word_pairs"])
"""The file that ``medsim study pairs`` writes; it is not a folder with a manifest."""

SCORE_TABLES: Mapping[str, Mapping[str, Table]] = {
    **{scale.name: _scores(scale.name, scale) for scale in (JUDGEMENT, GRADED)},
    **{scale.name: _compared(scale) for scale in (CONTEXT, DOMAIN, ASSOCIATION)},
}
"""The tables of scores, except "missing", by the scale of the study and the name of the table.

The first of a scale is shown by default.
"""

RATING_COLUMNS = SCORE_TABLES[GRADED.name]["rated"].dtypes
"""The first columns of a rated set; the others are columns of the file of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyManifest(Manifest):
    """The manifest of a study.

    Attributes:
        study_id: identifier of the study in answers; it depends on the pairs and who sees them.
        scale: name of the scale of answers: judgement, graded, context, domain or association.
        title: title of the page that annotators see.
        instructions: paragraphs that annotators read first.
        page_size: the number of pairs before a pause; 0 for no pauses.
        annotators: names of the annotators.
        source: source of the pairs, with its fingerprint.
        notice: notice about sharing the study; None without one.
        question: question that annotators see; None for the scale's.
    """

    kind: ClassVar[str] = "study"
    study_id: str
    scale: str
    title: str
    instructions: list[str]
    annotators: list[str]
    source: dict[str, object]
    notice: str | None
    page_size: int = 0
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresManifest(Manifest):
    """The manifest of a study's scores.

    Attributes:
        study_id: ``study_id`` of the study.
        answers: name and SHA-256 of each file of answers.
        source: ``source`` of the study.
        question: the question that annotators answered.
    """

    kind: ClassVar[str] = "scores"
    study_id: str
    question: str
    answers: list[dict[str, str]]
    source: dict[str, object]


STUDY = Kind(
    noun="study",
    command="medsim study sample",
    manifest=StudyManifest,
    views={
        "items": Table(
            ITEMS,
            "A row per item of the study, with columns that annotators must not see.",
            variants=ITEM_TABLES,
        ),
        "assignment": ASSIGNED,
    },
    others={
        "annotators/*/annotate.html": "Page on which the annotator answers; it needs no network.",
        "annotators/*/sheet-*.csv": "The same as a sheet, with a column answer to fill in.",
        "annotators/*/instructions.txt": "The instructions, also for filling in a sheet.",
        "annotators/*/label_studio-*.json": "The same as tasks for Label Studio.",
        "annotators/*/label_studio.xml": "The labelling interface of Label Studio.",
    },
)

STUDY_SCORES = Kind(
    noun="set of scores",
    command="medsim study score",
    manifest=ScoresManifest,
    views={
        **{
            name: Table(
                f"{name}.csv",
                next(tables[name].about for tables in SCORE_TABLES.values() if name in tables),
                optional=True,
                variants={
                    scale: tables[name] for scale, tables in SCORE_TABLES.items() if name in tables
                },
            )
            for tables in SCORE_TABLES.values()
            for name in tables
        },
        **_scores("every"),
    },
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = STUDY_SCORES
