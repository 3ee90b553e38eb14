"""Writes a report as a single file, with the library that draws its charts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, needing
from medsim.core.files import write_file
from medsim.core.output import check_file_free
from medsim.core.progress import progress_of
from medsim.pages.markup import GENERATOR, rendered

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.core.progress import Progress
    from medsim.pages.page import Page

_ENDINGS = (".html", ".htm")
_HEAD = 512  # the bytes that identify a report


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
        page_of: computes the page, after the place and the library of charts are checked.
        progress: receives every stage.
        charts: whether the page may have charts, which need an extra.

    Raises:
        OptionError: the extra medsim[report] is not installed, or ``out`` has another ending.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    path, progress = Path(out), progress_of(progress)
    check_file_free(path, overwrite=True, is_own=_is_report)
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


def _is_report(path: Path) -> bool:
    with path.open("rb") as stream:
        return GENERATOR.encode() in stream.read(_HEAD)
