"""Writes the report of an output: one self-contained HTML page."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from medsim.builds.output import Build
from medsim.cli.options import ReportOptions
from medsim.core.errors import needing
from medsim.core.files import write_file
from medsim.core.opened import open_output, reading_output
from medsim.core.options import folder_of, public
from medsim.core.places import check_file_free
from medsim.core.progress import progress_of
from medsim.evaluations.output import Evaluation
from medsim.pages.markup import GENERATOR, rendered
from medsim.studies.output import ScoresFolder
from medsim.tagging.output import Tagging
from medsim.wic.benchmark import Benchmark
from medsim.wic.output import WicEvaluation

if TYPE_CHECKING:
    from medsim.core.opened import Opened
    from medsim.pages.page import Page

_HEAD = 512  # the bytes that identify a report


@public(ReportOptions)
def write_report(options: ReportOptions) -> Path:
    """Write the report of an output, such as a build or an evaluation, and return its path.

    The page has its charts, their numbers and the drawing library in one file. It makes no network
    requests, and the same output gives the same page. An earlier report at that path is replaced.

    Raises:
        InputError: the folder holds no finished output, or a file of it is missing or damaged.
        OptionError: the extra medsim[report] is not installed.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    out = Path(options.out)
    check_file_free(out, overwrite=True, is_own=_is_report)
    opened = open_output(folder_of(options.output), *_KINDS)
    progress = progress_of(options.progress)
    with progress.stage("load the library of charts"):  # first, as it fails if an extra is missing
        library = _library()
    with progress.stage(f"compute the page of {opened.folder}"), reading_output(opened):
        page = _page_of(opened)
    with progress.stage(f"write {out}") as stage:
        content = rendered(page, library).encode()
        write_file(out, content, overwrite=True)
        stage.note(f"{len(content) / 1e6:.1f} MB")
    return out


_KINDS: tuple[type[Opened[Any]], ...] = (
    *(Build, Evaluation, Benchmark, Tagging, ScoresFolder, WicEvaluation),
)
"""The kinds of output that have a report."""


def _page_of(opened: Opened[Any]) -> Page:
    """Return the page of an output; only the modules of its kind are imported."""
    match opened:
        case Build():
            from medsim.builds import page

            return page.build_page(opened.manifest, page.report_data_of(opened))
        case Evaluation():
            from medsim.evaluations.page import evaluation_page
            from medsim.evaluations.report_data import report_data_of

            return evaluation_page(opened.manifest, report_data_of(opened))
        case Tagging():
            from medsim.tagging.page import tagging_page

            return tagging_page(opened)
        case ScoresFolder():
            from medsim.studies.page import scores_page

            return scores_page(opened)
    from medsim.wic.page import benchmark_page, wic_scores_page

    if isinstance(opened, WicEvaluation):
        return wic_scores_page(opened)
    return benchmark_page(cast("Benchmark", opened))


@cache
def _library() -> str:
    """Return Vega and its embedding code as one script, in the version that Altair targets."""
    with needing("a report needs Altair and vl-convert", "report"):
        import altair as alt
        import vl_convert
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    return script.replace("</script", "<\\/script")


def _is_report(path: Path) -> bool:
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(_HEAD)
