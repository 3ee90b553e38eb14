"""Prints tables to standard output: laid out for people, or unchanged for programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from medsim.core.console import completed
from medsim.core.errors import CONTROL, OutputError, StatementError, check_known, counted, one_line
from medsim.core.progress import Progress, progress_of

if TYPE_CHECKING:
    import polars as pl

    from medsim.core.checks import Verification
    from medsim.core.table_formats import TableFormat

_MAX_CELLS = 2_000_000  # in a table for people
_PLAIN_WORD = re.compile(r"[\w.,:@%+/=-]+")
_MAX_ROWS = 40  # of a statement's result, on a terminal

_PLAIN = str.maketrans(  # replacements for terminals without these characters
    {"─": "-", "\N{EN DASH}": "-", "\N{MINUS SIGN}": "-", "\N{PLUS-MINUS SIGN}": "+-"}
    | {"\N{DAGGER}": "+"}
)


FORMAT_NAMES = ("csv", "html", "json", "latex", "md", "table")
"""The names of the formats in which tables are printed."""


def _known_format(name: str) -> str:
    """Return the name of a format, if it is one."""
    check_known("format", FORMAT_NAMES, name)
    return name


Format = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        callback=_known_format,
        autocompletion=completed(FORMAT_NAMES),
        help="Print csv, html, json, latex, md or table.",
        rich_help_panel="Output",
    ),
]
"""The parameter of a command that prints a table."""


def print_table(
    frame: pl.DataFrame,
    form: str,
    *,
    readable: Callable[[pl.DataFrame], Sequence[pl.DataFrame]] | None = None,
    opening: Sequence[str] = (),
    note: str = "",
) -> None:
    """Print a table to standard output.

    Formats for people first apply ``readable``; in the format table, sentences open the output.
    A note is printed below the table. Without a form nothing is printed.
    """
    if not form:
        return
    rendering = _format(form)
    frames = readable(frame) if readable and rendering.for_people else [frame]
    if rendering.for_people and frames and not any(table.height for table in frames):
        typer.echo("the table has no rows", err=True)
    width = terminal_width() or sys.maxsize
    wrapper = TextWrapper(width, initial_indent=" ", subsequent_indent=" ")  # as tables have it
    sentences = map(wrapper.fill, opening if form == "table" else ())
    parts = ["\n".join(sentences), *(_rendered(rendering, table) for table in frames)]
    if note and rendering.for_people:
        parts.append(wrapper.fill(note) if form == "table" else rendering.paragraph(note))
    _print(["\n\n".join(filter(None, parts))], form)


def print_frames(frames: Iterator[pl.DataFrame], form: str) -> None:
    """Print the rows of frames as one table: streamed for programs, all at once for people.

    On a terminal, only the first rows of a long table are printed.
    """
    rendering = _format(form)
    if rendering.pieces:
        _print(rendering.pieces(frames), form)
        return
    few = terminal_width() is not None and rendering.fitted is not None
    table = _few(frames, _MAX_ROWS if few else None)
    _print([_rendered(rendering, table.head(_MAX_ROWS) if few else table)], form)
    if few and table.height > _MAX_ROWS:
        typer.echo(f"the first {_MAX_ROWS} rows are shown; --format csv prints all", err=True)


def say_signs(options: Any, form: str, signs: str) -> None:
    """Print what signs and names in a table mean, if it is printed for people.

    Args:
        options: the options of the command.
        form: the format of the table.
        signs: the sentence.
    """
    if form and _format(form).for_people:
        progress_of(options.progress).say(signs)


def say_missing(options: Any, form: str, why: str) -> None:
    """Print why numbers are missing in a table for people, if any are; see ``say_signs``."""
    if why:
        say_signs(options, form, f"\N{EN DASH}: {why}")


def quoted(path: object) -> str:
    """Return a path quoted for the shell."""
    text = str(path)
    return text if _PLAIN_WORD.fullmatch(text) else shlex.quote(text)


def say_next(options: Any, *steps: str) -> None:
    """Print possible next steps, each with a purpose and a command.

    Args:
        options: the options of the command.
        steps: the steps, with ``{out}`` for the output.
    """
    for step in steps:
        named = step.replace("{out}", quoted(getattr(options, "out", "")))
        progress_of(options.progress).say(f"next: {named}")


def print_outcome(result: Verification, location: object, progress: Progress | None) -> None:
    """Print the guarantees that do not hold, or one sentence if all hold.

    Raises:
        BrokenPromiseError: a guarantee does not hold.
    """
    for row in result.findings.filter(result.findings["violations"] > 0).iter_rows(named=True):
        number, example = counted(row["violations"], "violation"), row["example"]
        message = f"{row['check']}: {row['guarantee']} {number}, such as {example}"
        typer.echo(one_line(message), err=True)
    if not result.holds:
        typer.echo(result.outcome, err=True)
    result.require(location)
    progress_of(progress).say(result.outcome)


def terminal_width() -> int | None:
    """Return the width of the terminal of standard output; None if it is not a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def _format(name: str) -> TableFormat:
    from medsim.core.table_formats import TABLE_FORMATS  # noqa: PLC0415 — not needed for help

    return TABLE_FORMATS[name]


def _rendered(rendering: TableFormat, frame: pl.DataFrame) -> str:
    width = terminal_width()
    if width is not None and rendering.fitted:
        text, note = rendering.fitted(frame, width)
        if note:
            typer.echo(note, err=True)
        return text
    return rendering.render(frame)


def _few(frames: Iterator[pl.DataFrame], max_rows: int | None) -> pl.DataFrame:
    """Return frames as one; StatementError if it is too large for a person to read.

    Args:
        frames: frames, read until there are more than ``max_rows`` rows.
        max_rows: maximum number of rows; None for all.
    """
    import polars as pl  # noqa: PLC0415 — not needed for help

    parts, n_rows = [], 0
    for frame in frames:
        parts.append(frame)
        n_rows += frame.height
        if max_rows is not None and n_rows > max_rows:
            break
        if n_rows * frame.width > _MAX_CELLS:
            raise StatementError(f"over {_MAX_CELLS:,} values; add a limit, or print csv or json")
    return pl.concat(parts)


def _print(pieces: Iterable[str], form: str) -> None:
    """Print the text of a table, given in pieces."""
    if sys.stdout is None:
        raise OutputError("cannot write the table: standard output is closed")
    try:
        is_warned, is_shown = False, terminal_width() is not None
        for piece in pieces:
            text = CONTROL.sub(_escaped, piece) if is_shown else piece
            if not _is_encodable(text) and _format(form).for_people:
                text = text.translate(_PLAIN)
            if not is_warned and not _is_encodable(text):
                is_warned = True
                typer.echo(
                    f"warning: standard output is {sys.stdout.encoding}; other characters are "
                    "replaced by '?' (set PYTHONIOENCODING=utf-8 to keep them)",
                    err=True,
                )
            sys.stdout.write(text)  # unchanged, even to a file or a pipe
        sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):  # so that Python does not try to write the rest at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"cannot write the table: {error.strerror}") from error


def _escaped(match: re.Match[str]) -> str:
    """Return a control character with JSON's escape, except for a line feed."""
    return "\n" if match[0] == "\n" else f"\\u{ord(match[0]):04x}"


def _is_encodable(text: str) -> bool:
    """Return whether standard output can encode a text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
