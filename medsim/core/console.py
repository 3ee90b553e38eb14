"""The application that commands belong to, the options that they share, and how they print."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperGroup

from medsim.core import interrupts
from medsim.core.errors import MedsimError, OptionError, OutputError
from medsim.core.formats import table_format, table_format_name, table_formats
from medsim.core.options import Option, Options, declared
from medsim.core.progress import Progress

if TYPE_CHECKING:
    import polars as pl

Declared = TypeVar("Declared", bound=Options)


class _Commands(TyperGroup):
    """Commands whose known failures end in one line and their exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except MedsimError as error:
            if interrupts.came():
                raise
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(error.exit_code) from error


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Term-similarity datasets from medical terminologies.",
)


def _known_format(name: str) -> str:
    try:
        return table_format_name(name)
    except OptionError as error:
        raise typer.BadParameter(str(error)) from error


Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar=f"<{'|'.join(table_formats())}>",
        callback=_known_format,
        help="How to print the table.",
    ),
]
"""The parameter of a command that prints a table."""


def print_table(
    frame: pl.DataFrame,
    form: str,
    *,
    readable: Callable[[pl.DataFrame], Sequence[pl.DataFrame]] | None = None,
) -> None:
    """Print a table to standard output.

    Args:
        frame: the table, with a row per value.
        form: the name of a format; see ``medsim.core.formats``.
        readable: makes the tables that are printed instead in a format for people.
    """
    rendering = table_format(form)
    frames = readable(frame) if readable and rendering.FOR_PEOPLE else [frame]
    text = "\n\n".join(map(rendering.render, frames))
    if sys.stdout is None:
        raise OutputError("cannot write the table: standard output is closed")
    try:
        typer.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write the table: {error.strerror}") from error


def command(
    group: typer.Typer, options: type[Declared], *, name: str | None = None
) -> Callable[
    [Callable[Concatenate[Declared, ...], None]], Callable[Concatenate[Declared, ...], None]
]:
    """Return a decorator that makes a command of a function of options.

    The command's arguments and options are the fields of ``options``, and after them the
    function's own keyword parameters, which belong to the command line alone. Its help is the
    function's docstring. It reports to the standard error stream.

    Args:
        group: the commands that it belongs to.
        options: the class of its options; see ``medsim.core.options``.
        name: of the command; by default that of the function.
    """

    def decorated(
        run: Callable[Concatenate[Declared, ...], None],
    ) -> Callable[Concatenate[Declared, ...], None]:
        own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
        known = declared(options)
        flags = {field: _flag(field, option) for field, option in known.items()}

        def call(**values: Any) -> None:
            others = {one.name: values.pop(one.name) for one in own}
            try:
                run(_from_command_line(options, values), **others)
            except MedsimError as error:
                text = _with_flags(str(error), flags)
                raise error if text == str(error) else type(error)(text) from error

        parameters = [_parameter(options, field) for field in known]
        call.__dict__["__signature__"] = inspect.Signature([*parameters, *own])
        call.__dict__["options"] = options
        call.__doc__ = run.__doc__
        group.command(name or run.__name__)(call)
        return run

    return decorated


def _from_command_line(options: type[Declared], values: dict[str, Any]) -> Declared:
    hints = get_type_hints(options)
    for name, option in declared(options).items():
        value = values[name]
        if isinstance(value, datetime):
            value = value.date()
        if isinstance(value, str) and option.lower:
            value = value.lower()
        if isinstance(value, str) and option.listed:
            value = tuple(part.strip() for part in value.split(",")) if value.strip() else ()
        if isinstance(value, list) and _is(hints[name], Mapping):
            value = _named(value, _flag(name, option))
        values[name] = tuple(value) if isinstance(value, list) else value
    given = {name: value for name, value in values.items() if value is not None}
    reporting = {"progress": Progress.to_stderr()} if "progress" in hints else {}
    return options(**given, **reporting)


def _named(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Return values by name, of texts such as "NAME=VALUE"."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise OptionError(f"{flag} {text!r} is not NAME=PATH")
        if name in found:
            raise OptionError(f"{flag} names {name!r} twice")
        found[name] = value
    return found


def _parameter(options: type[Options], field: str) -> inspect.Parameter:
    """Return one option as Typer takes it: a parameter with an annotation."""
    option, hint = declared(options)[field], get_type_hints(options)[field]
    signature = inspect.signature(options).parameters[field]
    optional = type(None) in get_args(hint)
    shown: Any
    if option.listed or option.or_name:
        shown = str
    elif _is(hint, Path):
        shown = Path
    elif _is(hint, Mapping) or _is(hint, Sequence):
        of_paths = any(Path in get_args(one) or _is(one, Path) for one in get_args(hint))
        shown = list[Path] if of_paths and not _is(hint, Mapping) else list[str]
    elif _is(hint, date):
        shown = datetime
    else:
        shown = next(one for one in (bool, int, float, str) if _is(hint, one))
    default = signature.default
    if option.listed and default is not inspect.Parameter.empty:
        default = ",".join(default)
    elif isinstance(default, (tuple, Mapping)):
        default = None  # Typer's own empty list
    if option.argument:
        info: Any = typer.Argument(metavar=option.metavar or field.upper(), help=option.help)
    else:
        formats = ["%Y-%m-%d", "%Y%m%d"] if shown is datetime else None
        flags = option.flags or ((_flag(field, option),) if shown is bool else ())
        info = typer.Option(*flags, metavar=option.metavar, help=option.help, formats=formats)
    wide = shown | None if optional or default is None else shown
    return inspect.Parameter(
        field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wide, info]
    )


def _is(hint: Any, kind: type) -> bool:
    """Return whether a type, or a part of a union, is a kind of type."""
    parts = get_args(hint) if isinstance(hint, UnionType) or get_origin(hint) is Union else (hint,)
    return any((get_origin(one) or one) is kind for one in parts)


def _flag(field: str, option: Option) -> str:
    """Return how a user names an option: "--out", or "OUT" where it is taken by its place."""
    if option.argument:
        return (option.metavar or field.upper()).removesuffix("...")
    return option.flags[0] if option.flags else f"--{field.replace('_', '-')}"


def _with_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message that names options as the command line does."""
    return re.sub(r"`(\w+)`", lambda found: flags.get(found[1], found[0]), message)
