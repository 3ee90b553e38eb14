"""The pages of the tables of all kinds of output, from their declarations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from docs.tools.markdown import page
from medsim.core.opened import OUTPUTS, class_of
from medsim.exports.formats import EXPORT_FORMATS, SPLIT_NOTE
from medsim.studies.output import WORD_PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from medsim.core import kinds as declared
    from medsim.core.kinds import Kind

COMMANDS_OF_SCALES: Mapping[str, str] = {
    "judgement": "study sample",
    "graded": "study grade",
    "context": "study instances",
    "domain": "study domains",
    "association": "study inspect",
}
"""The command that makes the studies of each scale."""

TITLES: Mapping[str, str] = {
    "build": "Builds",
    "evaluation": "Evaluations",
    "splits": "Splits",
    "study": "Studies",
    "scores": "Scores of studies",
    "export": "Exports",
    "diff": "Comparisons of releases",
    "audit": "Audits",
    "reproduction": "Reproductions",
    "answers": "Answers to questions",
    "linking": "Entity linking",
    "mapping": "Mapping local codes",
    "tagging": "Taggings",
    "wic": "Words in context",
    "wic_evaluation": "Scores on words in context",
}
"""The headings of the kinds of output, in the plural."""

PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "build": {"terminology": ("concept", "description", "association", "is_a", "code", "term")},
    "evaluation": {
        "coverage": ("coverage", "overlap", "term", "word", "vocabulary"),
        "retrieval": ("retrieval", "retrieved", "robustness", "noisy"),
        "separation": ("separation", "separated"),
    },
    "scores": {
        "ratings": ("Scale graded",),
        "labels": ("Scale context", "Scale domain", "Scale association"),
    },
}
"""The tables and groups that have separate pages, by kind of output and page."""

_MANY = 3
"""If this many tables of a page have a column, the page describes it once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column on a page, or both ends of a confidence interval."""

    names: tuple[str, ...]
    type: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table on a page.

    Attributes:
        seen_as: its name in SQL statements; empty if they cannot use it.
    """

    name: str
    view: declared.Table
    columns: list[Column]
    seen_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tables under a separate heading, such as the tables of one scale or tool."""

    name: str
    command: str
    tables: list[Table]
    others: Mapping[str, str]


def kinds() -> dict[str, Kind[Any]]:
    """Return all kinds of output by name."""
    classes = {name: class_of(name) for name in OUTPUTS}
    return {name: output.kind for name, output in classes.items() if output is not None}


def file_of(name: str) -> str:
    """Return the file name of a kind's page."""
    return f"{name.replace('_', '-')}.md"


def table_pages() -> dict[str, str]:
    """Return the pages of tables by their paths below the reference."""
    made, listed = {}, {}
    for name, kind in ((name, kinds()[name]) for name in TITLES):
        tables = [*_tables(kind), *_extra(name)]
        groups = list(_groups(kind))
        parts = PARTS.get(name, {})
        elsewhere = {part_name for names in parts.values() for part_name in names}
        shown = {
            (TITLES[name], file_of(name)): (
                [table for table in tables if table.name not in elsewhere],
                [group for group in groups if group.name not in elsewhere],
            )
        } | {
            (f"{TITLES[name]}: {part}", file_of(f"{name}_{part}")): (
                [table for table in tables if table.name in names],
                [group for group in groups if group.name in names],
            )
            for part, names in parts.items()
        }
        for number, ((title, file), (of_page, groups_of_page)) in enumerate(shown.items()):
            others = {} if number else _other_files(kind)
            made[f"tables/{file}"] = _table_page(
                title, kind, of_page, groups_of_page, others, [*shown][1:] if not number else []
            )
            listed[title] = (file, [*of_page, *_of_groups(kind, groups_of_page)])
    return {"tables/index.md": page("tables", pages=listed), **made}


def _table_page(
    title: str,
    kind: Kind[Any],
    tables: list[Table],
    groups: list[Group],
    others: Mapping[str, str],
    parts: list[tuple[str, str]],
) -> str:
    shown = [*tables, *(table for group in groups for table in group.tables)]
    counts = Counter(column for table in shown for column in table.columns)
    often = {
        column.names: column
        for column, n_tables in reversed(counts.most_common())
        if n_tables >= _MANY
    }
    return page(
        "table",
        title=title,
        kind=kind,
        kind_title=TITLES[kind.name],
        split_note=SPLIT_NOTE,
        tables=tables,
        groups=groups,
        common=[column for column in counts if often.get(column.names) == column],
        optional=all(table.view.optional for table in shown),
        others=others,
        parts=parts,
    )


def _extra(name: str) -> list[Table]:
    """Return tables that commands of a kind write outside its folders."""
    return [_table("pairs of words", WORD_PAIRS)] if name == "study" else []


def _tables(kind: Kind[Any]) -> Iterator[Table]:
    for name, view in kind.views.items():
        if not view.variants:
            yield _table(name, view, name)


def _other_files(kind: Kind[Any]) -> dict[str, str]:
    """Return the files of a kind that SQL does not see, with their contents."""
    return {view.files: view.about for view in kind.unseen.values()} | dict(kind.others)


def _of_groups(kind: Kind[Any], groups: list[Group]) -> Iterator[Table]:
    """Yield one table for each name of tables in groups."""
    by_name: dict[str, Table] = {}
    for group in groups:
        for table in group.tables:
            name = f"{table.name} ({group.name.lower()})" if kind.name == "export" else table.name
            by_name.setdefault(name, replace(table, name=name))
    yield from by_name.values()


def _groups(kind: Kind[Any]) -> Iterator[Group]:
    """Yield the tables that depend on the scale of a study or the tool of an export."""
    for scale, command in COMMANDS_OF_SCALES.items():
        of_scale = [
            _table(name, view.variants[scale], name)
            for name, view in kind.views.items()
            if scale in view.variants
        ]
        if of_scale:
            yield Group(name=f"Scale {scale}", command=command, tables=of_scale, others={})
    if kind.name == "export":
        for name, form in EXPORT_FORMATS.all().items():
            tables = [_table(table, view) for table, view in form.tables.items()]
            yield Group(name=f"For {name}", command="export", tables=tables, others=form.others)
            if form.questions:
                tables = [_table(table, view) for table, view in form.questions.tables.items()]
                others = form.questions.others
                yield Group(
                    name=f"For {name}, with --choices",
                    command="export",
                    tables=tables,
                    others=others,
                )


def _table(name: str, view: declared.Table, seen_as: str = "") -> Table:
    return Table(name=name, view=view, columns=list(_columns(view)), seen_as=seen_as)


def _columns(view: declared.Table) -> Iterator[Column]:
    """Yield the columns of a table, with the columns that folders name at the end."""
    types = {name: type_name(dtype) for name, dtype in view.all_columns().items()}
    types |= {name: "string" for name in view.folder_columns() if name not in types}
    notes = view.notes
    for name, kind in types.items():
        other_end = notes[name].replace("Upper end", "Lower end", 1)
        high = f"{name.removesuffix('low')}high"
        if notes.get(high, "").replace("Upper end", "Lower end", 1) == notes[name]:
            note = notes[name].replace("Lower end", "Ends", 1)
            yield Column(names=(name, high), type=kind, note=note)
        elif other_end == notes[name] or other_end not in notes.values():
            yield Column(names=(name,), type=kind, note=notes[name])


def type_name(dtype: Any) -> str:
    """Return the name of a column's type."""
    if isinstance(dtype, pl.List):
        return f"list of {type_name(dtype.inner)}"
    return str(dtype).lower()
