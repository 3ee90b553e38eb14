"""Pages of HTML that are one file and load nothing, made by the templates of this package."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, needing
from medsim.core.files import write_file
from medsim.core.manifest import medsim_version
from medsim.core.output import check_file_free
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import beginning_of
from medsim.pages.page import NUMBER, Chart, Page, PageTable, any_of, format_value

if TYPE_CHECKING:
    import polars as pl
    from jinja2 import Environment


GENERATOR = '<meta name="generator" content="medsim '
"""The beginning of an element by which a report of medsim is recognised."""

_DIGITS = 7  # significant ones of the numbers that tables are sorted by
_HERE = "medsim.pages"
_SCRIPTS = ("candidates.js", "decisions.js", "page.js")


def rendered(page: Page, library: str) -> str:
    """Return a page as HTML; the same page always gives the same text."""
    return document(
        "report.html",
        title=page.title,
        style=asset(_HERE, "page.css"),
        scripts=tuple(filter(None, (library, "".join(asset(_HERE, name) for name in _SCRIPTS)))),
        version=medsim_version(),
        page=page,
    )


def document(template: str, *, style: str, scripts: Sequence[str], **shown: object) -> str:
    """Return a page of a template; the same arguments always give the same text.

    A content security policy names the scripts by their hashes and permits no other source of
    anything, so that nothing else is ever run and nothing is loaded, whatever the page shows.

    Args:
        template: the file.
        style: rules that follow those of all pages, see ``palette.css``.
        scripts: run in this order, after the body.
        shown: what the template shows: a title as plain text, and a body in which everything is
            escaped already, or a page.
    """
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    style = asset(_HERE, "palette.css") + style
    shown = {"version": None, "language": "en", "style": style, **shown}
    return _templates().get_template(template).render(policy=policy, scripts=scripts, **shown)


@cache
def _templates() -> Environment:
    """Return the templates, which escape everything that is not marked as markup."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 — 70 ms

    environment = Environment(
        loader=PackageLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "kind": lambda part: type(part).__name__,
        "drawn": _drawn,
        "breakable": _breakable,
        "linked": _linked,
        "rows": _rows,
        "packed": lambda rows: embedded_json(packed_columns(rows)),
        "json": embedded_json,
    }
    return environment


def _drawn(chart: Chart) -> str:
    """Return the JSON from which the page draws a chart."""
    spec = {**chart.spec, "description": f"{chart.title}. {chart.says}"}
    return embedded_json({"spec": spec, "columns": packed_columns(chart.rows)})


def _breakable(text: str) -> str:
    """Return a text as markup with line breaks allowed after underscores."""
    from markupsafe import Markup, escape  # noqa: PLC0415 — comes with Jinja2

    return Markup("_<wbr>").join(map(escape, text.split("_")))


def _linked(sentences: Iterable[str], terms: Sequence[str]) -> Iterator[str]:
    """Yield sentences as markup, with a link from the first use of each term to its meaning."""
    from markupsafe import Markup, escape  # noqa: PLC0415 — comes with Jinja2

    numbers = {term.lower(): number for number, term in enumerate(terms, 1)}
    pattern = any_of(terms)
    for sentence in sentences:
        pieces = [
            Markup('<a href="#word-{}">{}</a>').format(number, piece)
            if (number := numbers.pop(piece.lower(), None))
            else escape(piece)
            for piece in (pattern.split(sentence) if terms else [sentence])
        ]
        yield Markup().join(pieces)


def _rows(table: PageTable) -> Iterator[dict[str, object]]:
    """Yield the rows of a table, those of few pairs with a mark."""
    frame = table.frame
    formats = [table.formats.get(column, NUMBER) for column in frame.columns]
    for row in frame.head(table.max_rows).iter_rows():
        few = table.few and row[frame.get_column_index("pairs")] < table.few
        yield {"cells": list(map(_cell, row, formats)), "few": few}


def _cell(value: object, form: str) -> dict[str, str | None]:
    """Return the text of a cell, and the number by which the page sorts where it is another."""
    text, number = format_value(value, form), None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        number = str(value) if isinstance(value, int) else f"{value:.{_DIGITS}g}"
    return {"text": text, "value": None if number == text else number}


def asset(package: str, name: str) -> str:
    """Return the text of a file that lies in a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def embedded_json(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_LEVEL = 6  # of compression; higher ones take three times as long for 1%


def compressed_json(value: object) -> str:
    """Return JSON as compressed text, for values that the page reads only when needed."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode()


_SIGNIFICANT = 4  # digits of the numbers that charts draw


def packed_columns(rows: pl.DataFrame) -> dict[str, object]:
    """Return the columns of a chart, each as ``unpacked`` of the page's script reads it.

    That is the list of its values; or ``of``, its different values, with ``at``, which of them each
    row has, or with ``runs``, pairs of such a number and the number of consecutive rows with it.
    The shortest form is used.
    """
    return {name: _packed(rows[name]) for name in rows.columns}


def _packed(column: pl.Series) -> object:
    values = [_short(value) for value in column]
    numbers: dict[tuple[type, object], int] = {}
    at = [numbers.setdefault((type(value), value), len(numbers)) for value in values]
    distinct_values = [value for _, value in numbers]
    runs = list(chain.from_iterable((number, len(list(same))) for number, same in groupby(at)))
    forms = (values, {"of": distinct_values, "at": at}, {"of": distinct_values, "runs": runs})
    return min(
        forms, key=lambda form: len(json.dumps(form, ensure_ascii=False, separators=(",", ":")))
    )


def _short(value: object) -> object:
    """Return a value as a chart draws it."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{_SIGNIFICANT}g}")
    return int(short) if short.is_integer() else short


_ENDINGS = (".html", ".htm")


def write_page(
    out: str | Path,
    subject: object,
    page_of: Callable[[], Page],
    progress: Progress | None,
    *,
    charts: bool = True,
) -> Path:
    """Write a page and return its path; an earlier report at that path is replaced.

    Args:
        out: the .html file.
        subject: what the page is about, for the progress.
        page_of: computes the page, after ``out`` and the library of charts are checked.
        progress: receives every stage.
        charts: whether the page may have charts, which need an extra.

    Raises:
        OptionError: the extra medsim[report] is not installed, or ``out`` has another ending.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    path, progress = Path(out), progress_of(progress)
    check_file_free(path, overwrite=True, is_own=lambda at: GENERATOR.encode() in beginning_of(at))
    if path.suffix.lower() not in _ENDINGS:
        raise OptionError(f"{path.name} must end in .html; .svg and .png are for charts of results")
    library = ""
    if charts:
        with progress.stage("load the library of charts"):  # first, as an extra may be missing
            library = _library()
    with progress.stage(f"compute the page of {subject}"):
        page = page_of()
    with progress.stage(f"write {path}") as stage:
        content = rendered(page, library).encode()
        write_file(path, content, overwrite=True)
        stage.note(f"{len(content) / 1e6:.1f} MB")
    return path


@cache
def _library() -> str:
    """Return Vega and its embedding code as one script, in the version that Altair targets."""
    with needing("a report needs Altair and vl-convert", "report"):
        import altair as alt  # noqa: PLC0415 — an extra
        import vl_convert  # noqa: PLC0415 — an extra
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    return script.replace("</script", "<\\/script")
