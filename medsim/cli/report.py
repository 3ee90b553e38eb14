"""Writes the report of an output: one self-contained HTML page, or a single chart."""

from __future__ import annotations

from io import BytesIO, StringIO
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from medsim.cli.options import ReportOptions
from medsim.core.errors import OptionError, needing
from medsim.core.files import write_file
from medsim.core.opened import OUTPUTS, class_of, open_output, reading_output
from medsim.core.options import folder_of, public
from medsim.core.output import check_file_free
from medsim.core.progress import progress_of
from medsim.evaluations.output import Evaluation
from medsim.pages.markup import write_page

if TYPE_CHECKING:
    from medsim.pages.page import Page

_IMAGES = {".svg": b"<svg", ".png": b"\x89PNG"}  # with their first bytes
_RESOLUTION = 200  # of PNG, in pixels per inch


@public(ReportOptions)
def write_report(options: ReportOptions) -> Path:
    """Write the report of an output, such as a build or an evaluation, and return its path.

    The page has its charts, their numbers and the drawing library in one file. It makes no network
    requests, and the same output gives the same page. An earlier report at that path is replaced.
    If ``out`` ends in .svg or .png, only the chart of an evaluation's ``statistic`` is written; an
    earlier image of that format is replaced.

    Raises:
        InputError: the folder holds no finished output, or a file of it is missing or damaged; or
            the evaluation has no such statistic.
        OptionError: the extra medsim[report] is not installed, ``statistic`` is unknown or given
            for a page, or ``out`` has another ending.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    out = Path(options.out)
    if out.suffix.lower() in _IMAGES:
        return _write_chart(out, options)
    if options.statistic:
        raise OptionError("`statistic` is for a single chart; name `out` .svg or .png")
    kinds = [class_of(name) for name, facts in OUTPUTS.items() if "page" in facts]
    opened = open_output(folder_of(options.output), *filter(None, kinds))

    def page() -> Page:
        with reading_output(opened):
            made: Page = resolve_name(OUTPUTS[opened.kind.name]["page"])(opened)
            return made

    charts = OUTPUTS[opened.kind.name]["charts"]
    charts = getattr(opened, charts) if isinstance(charts, str) else charts
    return write_page(out, opened.folder, page, options.progress, charts=charts)


def _write_chart(out: Path, options: ReportOptions) -> Path:
    """Write the chart of a statistic of an evaluation as SVG or PNG, and return its path."""
    suffix = out.suffix.lower()
    first = _IMAGES[suffix]
    check_file_free(out, overwrite=True, is_own=lambda path: path.read_bytes().startswith(first))
    evaluation = open_output(folder_of(options.output), Evaluation)
    with needing("a chart needs Altair and vl-convert", "report"):
        import vl_convert  # noqa: F401 — Altair uses it to draw
    with progress_of(options.progress).stage(f"write {out}"), reading_output(evaluation):
        chart = evaluation.chart(cast("Any", options.statistic or _first_statistic(evaluation)))
        drawn: StringIO | BytesIO = StringIO() if suffix == ".svg" else BytesIO()
        chart.save(drawn, format=suffix.removeprefix("."), ppi=_RESOLUTION)
        content = drawn.getvalue()
        write_file(out, content.encode() if isinstance(content, str) else content, overwrite=True)
    return out


def _first_statistic(evaluation: Evaluation) -> str:
    from medsim.evaluations.statistic import STATISTICS

    tables = (evaluation.results(), evaluation.retrieval())
    known = {name for table in tables for name in table.drop_nulls("value")["statistic"]}
    return next((name for name in STATISTICS if name in known), "overlap_error")
