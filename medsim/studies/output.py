"""The outputs of studies: studies and their scores, with tables and manifests.

``tables.toml`` declares the tables and their statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from medsim.core.data import toml_of
from medsim.core.kinds import Column, Kind, Table, declared_columns, declared_table
from medsim.core.manifest import Manifest
from medsim.core.opened import Opened
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT, SCALES, Scale

ITEMS = "key/items.parquet"
"""The key of a study: its items."""

_DECLARED = toml_of(__package__, "tables.toml")


def texts_of_statistics(use: str) -> dict[str, str]:
    """Return the texts of statistics by name.

    Args:
        use: "name", in sentences; "missing", a clause after "where" on missing values; "line", a
            line below a table; or "meaning", for the report.
    """
    return {name: texts[use] for name, texts in _DECLARED["statistics"].items() if use in texts}


WHY_MISSING: Mapping[str, str] = texts_of_statistics("missing")
"""Reasons for missing values of statistics: a clause after "where"."""


def _plain(entries: Iterable[Any]) -> Iterator[Any]:
    """Yield entries of columns with statistics as numbers, and the ends of their intervals."""
    for entry in entries:
        if isinstance(entry, str) or entry[1] not in {"statistic", "estimate"}:
            yield entry
            continue
        name, dtype, about = entry
        why = f"; null where {WHY_MISSING[name]}" if name in WHY_MISSING else ""
        yield name, "Float64", f"{about}{why}."
        for end, which in {"low": "Lower", "high": "Upper"}.items() if dtype == "estimate" else ():
            text = f"{which} end of {name}'s 95% confidence interval, or null."
            yield f"{name}_{end}", "Float64", text


def _groups(scale: Scale) -> dict[str, dict[str, Column]]:
    """Return the declared groups of columns for a scale, whose answers some columns count."""
    about = "Number of items that at least two of them answered."
    groups = {
        "counts": {f"n_{a}": Column(pl.Int64, f"Number of answers {a}.") for a in scale.answers},
        "n_shared": {f"n_{scale.noun}s": Column(pl.Int64, about)},
    }
    for name, entries in _DECLARED["groups"].items():
        groups[name] = declared_columns(_plain(entries), groups)
    return groups


def _scores(section: str, scale: Scale = JUDGEMENT) -> dict[str, Table]:
    """Return the declared tables of scores of a section by name."""
    groups, tables = _groups(scale), {}
    for name, entry in _DECLARED[section].items():
        plain = entry | {"columns": _plain(entry["columns"])}
        tables[name] = declared_table(plain, groups, files=f"{name}.csv", optional=True)
    return tables


def _compared(scale: Scale) -> dict[str, Table]:
    """Return the tables of a study whose answers are compared, its specific table first."""
    own = _scores(scale.name, scale)
    first = next(iter(own))
    return {first: own[first], **_scores("compared", scale), **own}


_JUDGED = _groups(JUDGEMENT)

ITEM_TABLES: Mapping[str, Table] = {
    name: declared_table(entry, _JUDGED, files=ITEMS, about="A row per item of the study.")
    for name, entry in _DECLARED["items"].items()
}
"""The items of a study by its scale."""

JUDGED_ITEMS, GRADED_ITEMS = ITEM_TABLES["judgement"], ITEM_TABLES["graded"]
CONTEXT_ITEMS, DOMAIN_ITEMS = ITEM_TABLES["context"], ITEM_TABLES["domain"]

ASSIGNED, WORD_PAIRS = (
    declared_table(_DECLARED["files"][name], _JUDGED) for name in ("assignment", "word_pairs")
)
"""The annotators who see the items, in the key of a study; and the file that ``medsim study pairs``
writes, which is not a folder with a manifest."""

SCORE_TABLES: Mapping[str, Mapping[str, Table]] = {
    **{scale.name: _scores(scale.name, scale) for scale in (JUDGEMENT, GRADED)},
    **{scale.name: _compared(scale) for scale in (CONTEXT, DOMAIN, ASSOCIATION)},
}
"""The tables of scores, except ``EVERY``, by the scale of the study and the name of the table.

The first of a scale is shown by default.
"""

EVERY: Mapping[str, Table] = _scores("every")
"""The tables of scores of every scale, after the others."""

MAX_PARTS = 12
"""The maximum number of values of a column that divides items into parts."""

NEXT_STEPS: Mapping[str, str] = _DECLARED["next"]
"""The command that uses a table of scores, by the table's name."""

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
        added: names of those who were added later, in place of others.
        source: source of the pairs, with its fingerprint.
        notice: notice about sharing the study; None without one.
        question: question that annotators see; None for the scale's.
        answer_words: words for the answers; None for the scale's.
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
    answer_words: list[str] | None = None
    added: list[str] = field(default_factory=list)

    @property
    def asked(self) -> Scale:
        """The scale with the question and the words for answers that annotators see."""
        return SCALES[self.scale].asking(self.question, self.answer_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresManifest(Manifest):
    """The manifest of a study's scores.

    Attributes:
        study_id: ``study_id`` of the study.
        answers: name, SHA-256 and annotator of each file of answers.
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
)


def _view(name: str) -> Table:
    """Return a table of scores of several scales."""
    of = {scale: tables[name] for scale, tables in SCORE_TABLES.items() if name in tables}
    about = next(iter(of.values())).about
    return Table(f"{name}.csv", about, optional=True, variants=of)


STUDY_SCORES = Kind(
    noun="set of scores",
    command="medsim study score",
    manifest=ScoresManifest,
    views={**{name: _view(name) for tables in SCORE_TABLES.values() for name in tables}, **EVERY},
)


class ScoresFolder(Opened[ScoresManifest]):
    """The scores of a study, as ``medsim study score`` writes them."""

    kind = STUDY_SCORES
