"""A report as one page of HTML that needs nothing else."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from medsim.core.manifest import medsim_version
from medsim.pages.offline import asset, document, embedded_json
from medsim.pages.page import NUMBER, Chart, Code, Folded, PageTable
from medsim.pages.provenance import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.pages.page import Page, Part

GENERATOR = '<meta name="generator" content="medsim '
"""The beginning of an element by which a report of medsim is recognised."""

_SIGNIFICANT = 4  # digits of the numbers that charts draw


def rendered(page: Page, library: str) -> str:
    """Return a page as HTML; the same page always gives the same text."""
    return document(
        title=page.title,
        style=asset("medsim.pages", "page.css"),
        body="".join(_body(page)),
        scripts=(library, asset("medsim.pages", "page.js")),
        meta=f'{GENERATOR}{escape(medsim_version())}">\n',
    )


def _body(page: Page) -> Iterator[str]:
    yield '<a class="skip" href="#main">Skip to the content</a>\n<header>\n'
    yield f"<h1>{escape(page.title)}</h1>\n<p>{escape(page.lead)}</p>\n"
    if page.notice:
        yield f'<p class="notice" role="note">{escape(page.notice)}</p>\n'
    yield '</header>\n<nav aria-label="Sections"><ul>\n'
    for at, section in enumerate(page.sections, 1):
        yield f'<li><a href="#section-{at}">{escape(section.title)}</a></li>\n'
    yield '</ul></nav>\n<main id="main">\n'
    for at, section in enumerate(page.sections, 1):
        yield f'<section id="section-{at}" aria-labelledby="heading-{at}">\n'
        yield f'<h2 id="heading-{at}">{escape(section.title)}</h2>\n'
        yield f"<p>{escape(section.prose)}</p>\n"
        for number, part in enumerate(section.parts, 1):
            yield _part(part, f"{at}-{number}", page.signature)
        yield "</section>\n"
    yield "</main>\n"


def _part(part: Part, name: str, signature: str) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>\n"
    if isinstance(part, Code):
        return f"<pre><code>{escape(part.text)}</code></pre>\n"
    if isinstance(part, PageTable):
        return _table(part, name)
    if isinstance(part, Folded):
        tables = (_table(table, f"{name}-{at}") for at, table in enumerate(part.tables, 1))
        opened = " open" if part.opened else ""
        summary = f"<summary>{escape(part.summary)}</summary>"
        return f"<details{opened}>{summary}\n{''.join(tables)}</details>\n"
    return _figure(part, name, signature)


def _figure(chart: Chart, name: str, signature: str) -> str:
    spec = {**chart.spec, "description": f"{chart.title}. {chart.says}"}
    rows = [[_short(value) for value in row] for row in chart.rows.iter_rows()]
    content = embedded_json({"spec": spec, "columns": chart.rows.columns, "rows": rows})
    kind = ' class="narrow"' if chart.narrow else ""
    return (
        f'<figure{kind} aria-labelledby="title-{name}">\n<figcaption>\n'
        f'<h3 id="title-{name}">{escape(chart.title)}</h3>\n<p>{escape(chart.says)}</p>\n'
        f'</figcaption>\n<div class="choice"></div>\n<div class="chart" data-chart="chart-{name}" '
        f'data-least="{chart.least}">'
        "The chart needs JavaScript; its numbers are in the table below.</div>\n"
        f'<script type="application/json" id="chart-{name}">{content}</script>\n'
        f'<p class="signature">{escape(signature)}</p>\n'
        f"<details><summary>Numbers: {escape(chart.title)}</summary>\n"
        f"{_table(chart.table, name)}</details>\n</figure>\n"
    )


def _short(value: object) -> object:
    """Return a value as a chart draws it."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{_SIGNIFICANT}g}") if math.isfinite(value) else None


def _table(table: PageTable, name: str) -> str:
    frame = table.frame
    kinds = ["number" if kind.is_numeric() else "text" for kind in frame.dtypes]
    heads = "".join(
        f'<th scope="col" class="{kind}">{escape(column)}</th>'
        for column, kind in zip(frame.columns, kinds, strict=True)
    )
    head = f"<thead><tr>{heads}</tr></thead>\n" if table.headed else ""
    formats = [table.formats.get(column, NUMBER) for column in frame.columns]
    rows = "".join(
        "<tr>" + "".join(map(_cell, row, range(len(row)), kinds, formats)) + "</tr>\n"
        for row in frame.iter_rows()
    )
    caption = f'<caption id="caption-{name}"><span>{escape(table.caption)}</span></caption>'
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-labelledby="caption-{name}">'
        f"<table>{caption}\n{head}"
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _cell(value: object, at: int, kind: str, form: str) -> str:
    tag, scope = ("td", "") if at else ("th", ' scope="row"')
    sorts = ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        sorts = f' data-value="{value!r}"'
    return f'<{tag}{scope} class="{kind}"{sorts}>{escape(format_value(value, form))}</{tag}>'
