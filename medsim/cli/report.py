"""Writes the report of a build or an evaluation: one page that needs nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, OutputError
from medsim.core.files import whole_file
from medsim.core.opened import Build, Evaluation, open_output
from medsim.pages.markup import GENERATOR, rendered

if TYPE_CHECKING:
    from medsim.pages.page import Page

_HEAD = 512  # bytes in which a report says that it is one


def write_report(output: str | Path | Build | Evaluation, out: str | Path) -> Path:
    """Return where the report of a build or an evaluation was written.

    The page has its charts, their numbers and what draws them in one file, asks the network for
    nothing, and is the same for the same output. An earlier report there is replaced.

    Args:
        output: opened, or its folder.
        out: the .html file to write.

    Raises:
        InputError: the folder holds no finished output, or a file of it is missing or damaged.
        OptionError: the extra medsim[report] is not installed.
        OutputError: ``out`` is there and is no report of medsim, or cannot be written.
    """
    out = Path(out)
    _check_free(out)
    opened = output if isinstance(output, (Build, Evaluation)) else open_output(output)
    library = _library()  # first: it tells what is not installed
    _write(rendered(_page(opened), library), out)
    return out


def _page(opened: Build | Evaluation) -> Page:
    if isinstance(opened, Evaluation):
        from medsim.evaluations.page.evaluation_page import evaluation_page
        from medsim.evaluations.profile import profile_of as of_evaluation

        return evaluation_page(opened.manifest, of_evaluation(opened))
    from medsim.builds.page import build_page
    from medsim.builds.report_data import report_data_of

    return build_page(opened.manifest, report_data_of(opened))


@cache
def _library() -> str:
    """Return Vega with what embeds it, as one script, in the version that Altair writes for.

    Raises:
        OptionError: the extra medsim[report] is not installed.
    """
    try:
        import altair as alt
        import vl_convert
    except ImportError as error:
        raise OptionError(
            "a report needs Altair and vl-convert: pip install 'medsim[report]'"
        ) from error
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    return script.replace("</script", "<\\/script")


def _check_free(out: Path) -> None:
    """Raise OutputError if a report cannot be at ``out``."""
    if out.exists() and not out.is_file() and not out.is_dir():
        raise OutputError(f"{out} is no file that can be replaced; name another")
    if out.is_dir():
        raise OutputError(f"{out} is a folder; name a file, such as {out / 'report.html'}")
    if not out.parent.is_dir():
        raise OutputError(f"cannot write {out}: there is no folder {out.parent}")
    try:
        with out.open("rb") as stream:
            head = stream.read(_HEAD)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"{out} cannot be replaced: {error.strerror}") from error
    if GENERATOR.encode() not in head:
        raise OutputError(f"{out} is no report of medsim; name another file")


def _write(text: str, out: Path) -> None:
    with whole_file(out) as partial:
        partial.write_text(text, encoding="utf-8")
