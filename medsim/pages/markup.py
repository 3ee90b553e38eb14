"""Pages of HTML that are one file and load nothing, and reports as such pages."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from medsim.core.manifest import medsim_version
from medsim.pages.page import NUMBER, Chart, Code, Folded, PageTable, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def document(*, title: str, style: str, body: str, scripts: Sequence[str], meta: str = "") -> str:
    """Return a whole page; the same arguments always give the same text.

    A content security policy names the scripts by their hashes and permits no other source of
    anything, so that nothing else is ever run and nothing is loaded, whatever the page shows.

    Args:
        title: as plain text.
        style: rules that follow those of all pages, see ``palette.css``.
        body: markup; what it shows is escaped already.
        scripts: run in this order, after the body.
        meta: markup that stands near the beginning.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    foot = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{meta}'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{asset('medsim.pages', 'palette.css')}{style}</style>\n</head>\n"
        f"<body>\n{body}{foot}</body>\n</html>\n"
    )


def asset(package: str, name: str) -> str:
    """Return the text of a file that lies in a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def embedded_json(value: object) -> str:
    """Return JSON that can stand in a script element, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
