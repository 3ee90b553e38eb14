"""The application that commands belong to, and the options that they share."""

from __future__ import annotations

import csv
import inspect
import io
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Concatenate, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from medsim.core import surroundings
from medsim.core.errors import (
    BrokenPromiseError,
    InputError,
    MedsimError,
    OptionError,
    listed,
    one_line,
    unknown_name,
)
from medsim.core.options import (
    Heading,
    Option,
    Options,
    declared,
    names_in,
    signature_of,
    type_of,
    types_of,
    union_members,
    written,
)
from medsim.core.progress import Progress
from medsim.core.reading import open_file, reading
from medsim.core.registry import RegisteredNames

Declared = TypeVar("Declared", bound=Options)
_CommandBody = Callable[Concatenate[Declared, ...], None]


_QUOTED_OR_NAME = re.compile(
    r"""\\.|(?<!\w)(?P<quote>['"])(?:\\.|(?!(?P=quote))[^\\])*+(?P=quote)"""
    r"""|(?<![^\s(])`(?P<name>\w+)`(?=[,;:.)]*(?:\s|$))"""
)


EXIT_CODES: Mapping[int, str] = {
    0: "done",
    MedsimError.exit_code: "invalid input or option value; one line says what is wrong",
    2: "unknown or missing command or option, or a value that is not a number or date",
    surroundings.INTERRUPTED: "interrupted, by SIGINT or SIGTERM",
}
"""The exit codes of every command."""

MAKING_EXIT_CODES: Mapping[int, str] = {
    **EXIT_CODES,
    BrokenPromiseError.exit_code: "the output breaks a guarantee of medsim; please report this bug",
}
"""The exit codes of a command that checks its own output."""

VERIFYING_EXIT_CODES: Mapping[int, str] = {
    **EXIT_CODES,
    BrokenPromiseError.exit_code: "a guarantee does not hold",
}
"""The exit codes of a command that verifies outputs."""


_NAMED = 3  # commands that a message names at most
_LONGEST_METAVAR = 64  # longer lists of choices go into the help text


class HelpedGroup(TyperGroup):
    """A group of commands whose help lists them in panels, each with its first sentence."""

    panels: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """The commands of each panel, with their packages; other commands are under "Commands"."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the panels of commands."""
        names_in_group = dict.fromkeys(self.list_commands(ctx))
        placed = {name for names in self.panels.values() for name in names}
        others = [name for name in names_in_group if name not in placed]
        width = max(map(len, names_in_group))
        for title, names in [*self.panels.items(), ("Commands", others)]:
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                text = inspect.cleandoc((command and command.help) or "")
                rows.append((name.ljust(width), " ".join(text.partition("\n\n")[0].split())))
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class _HelpedCommand(TyperCommand):
    """A command whose help lists its options under their headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each heading."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        sections |= {heading: [] for heading in get_args(Heading)}
        options = declared(getattr(self.callback, "options", Options))
        parameters: list[Any] = sorted(self.get_params(ctx), key=lambda param: not param.required)
        for parameter in parameters:
            is_argument = parameter.param_type_name == "argument"
            panel = parameter.rich_help_panel or "Main options"
            heading = "Output" if parameter.name == "help" else panel
            option = options.get(parameter.name)
            if option and isinstance(option.choices, RegisteredNames):
                parameter.help = f"{_first_sentence(option)} One of {', '.join(option.choices)}."
            if record := parameter.get_help_record(ctx):
                name = record[0].partition(" <")[0] if is_argument else record[0]
                name = name.replace("<%Y-%m-%d|%Y%m%d>", "<date>").replace("list[str]", "str")
                sections["Arguments" if is_argument else heading].append((name, record[1]))
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Program(HelpedGroup):
    """A group of commands; known errors print one line and set the exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except typer._click.exceptions.NoArgsIsHelpError:  # noqa: SLF001
            raise  # its message is the help of a group
        except typer._click.exceptions.UsageError as error:  # noqa: SLF001
            context: Any = error.ctx
            name, origin = getattr(getattr(error, "param", None), "name", None), ""
            if name and context and _source_of(context, name) == "DEFAULT_MAP":
                origin = f" (from {context.find_object(OptionFile).name})"
            error.message = one_line(f"{error.message}{origin}")
            raise
        except (MedsimError, OSError, MemoryError) as error:
            if surroundings.interrupted() or getattr(error, "filename", "") is None:
                raise
            message = "out of memory" if isinstance(error, MemoryError) else str(error)
            if isinstance(error, OSError):
                message = one_line(f"{error.filename}: {error.strerror}")
            typer.echo(f"error: {message}", err=True)
            raise typer.Exit(getattr(error, "exit_code", MedsimError.exit_code)) from error


app = typer.Typer(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def subcommands(name: str, sentence: str) -> typer.Typer:
    """Return a group of commands of the application, with its help."""
    group = typer.Typer(cls=HelpedGroup, no_args_is_help=True, rich_markup_mode=None, help=sentence)
    app.add_typer(group, name=name)
    return group


def command(
    group: typer.Typer,
    options: type[Declared],
    *,
    name: str | None = None,
    then: Sequence[str] = (),
    exit_codes: Mapping[int, str] = EXIT_CODES,
) -> Callable[[_CommandBody[Declared]], _CommandBody[Declared]]:
    """Return a decorator that turns a function of options into a command.

    The command's arguments and options are the fields of ``options``, then the keyword parameters
    of the function, which only the command line has, then --quiet and --verbose. Its help is the
    function's docstring, its name by default the function's. Progress goes to standard error.
    For the reference, ``then`` names the commands that read its output, and ``exit_codes`` has its
    exit codes.
    """

    def decorated(run: _CommandBody[Declared]) -> _CommandBody[Declared]:
        extra = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
        fields = signature_of(options).parameters

        def call(
            context: typer.Context,
            *,
            quiet: _Quiet = False,
            verbose: _Verbose = False,
            **values: Any,
        ) -> None:
            file = context.find_object(OptionFile) or OptionFile()
            flags, program = _flags_of(context.command), context.find_root().command
            in_file = [flags[n] for n in context.params if _source_of(context, n) == "DEFAULT_MAP"]
            from_file = f"{listed(in_file)} from {file.name}" if in_file else ""
            # Values of the user between backticks, such as a file name, stay unchanged.
            flags |= {name: f"`{name}`" for name in re.findall(r"`(\w+)`", str(values))}
            extra_values = {param.name: values.pop(param.name) for param in extra}
            is_made = exit_codes is VERIFYING_EXIT_CODES or _writes(options, values)
            if quiet and is_made and _source_of(context, "form") == "DEFAULT":
                extra_values["form"] = ""
            wording = partial(_with_flags, flags=flags, program=program)
            progress = Progress(sys.stderr, wording, quiet=quiet, verbose=verbose)
            values |= {"progress": progress} if "progress" in fields else {}
            if from_file:
                progress.detail(f"options: {from_file}")
            try:
                run(_from_command_line(options, values), **extra_values)
            except MedsimError as error:
                end = f" ({from_file})" if from_file and isinstance(error, OptionError) else ""
                error.args = (f"{_with_flags(str(error), flags, program)}{end}",)
                raise

        context, *shared, _ = inspect.signature(call, eval_str=True).parameters.values()
        parameters = [_parameter(fields[name], opt) for name, opt in declared(options).items()]
        parameters = [context.replace(kind=context.KEYWORD_ONLY), *parameters, *extra, *shared]
        call.__dict__["__signature__"] = inspect.Signature(parameters)
        call.__dict__ |= {"options": options, "then": then, "exit_codes": exit_codes}
        call.__doc__ = run.__doc__
        group.command(name or run.__name__, cls=_HelpedCommand)(call)
        return run

    return decorated


def _writes(options: type[Options], values: Mapping[str, Any]) -> bool:
    """Return whether a command writes ``out``."""
    return "out" in written(options) and bool(values.get("out"))


_OUTPUT: Heading = "Output"
_Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Print only warnings and errors. Tables are still printed with --format, or if the "
        "command writes no files.",
        rich_help_panel=_OUTPUT,
    ),
]
_Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Also print memory use, and which options came from the configuration file.",
        rich_help_panel=_OUTPUT,
    ),
]


def _source_of(context: Any, name: str) -> str:
    """Return where the value of a parameter is from, such as "DEFAULT"; empty without one."""
    return getattr(context.get_parameter_source(name), "name", "")


def _from_command_line(options: type[Declared], values: dict[str, Any]) -> Declared:
    hints = types_of(options)
    for name, option in declared(options).items():
        value, kinds = values[name], _kinds(hints[name])
        match value:
            case datetime():
                value = value.date()
            case str() if int in kinds and value.removeprefix("-").isdecimal():
                value = int(value)
            case str():
                value = value.lower() if option.lower else value
                value = between_commas(value) if option.listed else value
            case () if Mapping in kinds:
                value = {}
            case list():
                value = _named(value, _flag(name, option)) if kinds == [Mapping] else tuple(value)
            case None if not option.needed:
                value = {}
        values[name] = value
    return options(**{name: value for name, value in values.items() if value is not None})


def _named(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Parse texts such as "NAME=VALUE" and return the values by name."""
    by_name: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise OptionError(f"{flag} {text!r} is not NAME=PATH; put a name and = before the path")
        if name in by_name:
            raise OptionError(f"{flag} names {name!r} twice")
        by_name[name] = value
    return by_name


def _parameter(field: inspect.Parameter, option: Option) -> inspect.Parameter:
    """Return an option in the form that Typer expects: a parameter with an annotation."""
    hint, default = field.annotation, field.default
    value_type = _shown(hint, option)
    if value_type is str and isinstance(default, int):
        default = str(default)
    if option.listed and default is not inspect.Parameter.empty:
        default = ",".join(default)
    elif isinstance(default, (tuple, Mapping)) or not option.needed:
        default = None  # Typer's own empty list
    metavar = field.name.upper() if option.argument else None
    text = option.help if option.argument else _first_sentence(option)
    if option.choices and not isinstance(option.choices, RegisteredNames):
        repeat = ",..." if option.listed or value_type == list[str] else ""
        metavar = f"<{'|'.join(option.choices)}>{repeat}"
        if len(metavar) > _LONGEST_METAVAR:
            metavar, text = None, f"{text} One of {', '.join(option.choices)}."
    shared: dict[str, Any] = {
        "metavar": option.metavar or metavar,
        "help": text,
        "autocompletion": completed(option.choices or option.suggested or names_in(hint)),
    }
    if option.argument:
        info: Any = typer.Argument(**shared)
    else:
        formats = ["%Y-%m-%d", "%Y%m%d"] if value_type is datetime else None
        flags = option.flags or ((_flag(field.name, option),) if value_type is bool else ())
        info = typer.Option(*flags, formats=formats, rich_help_panel=option.heading, **shared)
    wide = value_type | None if default is None or type(None) in union_members(hint) else value_type
    kind, annotation = inspect.Parameter.KEYWORD_ONLY, Annotated[wide, info]
    return inspect.Parameter(field.name, kind, default=default, annotation=annotation)


def _first_sentence(option: Option) -> str:
    return f"{option.help.partition('. ')[0].rstrip('.')}."


def _kinds(hint: Any) -> list[Any]:
    """Return the types that a value may have, such as Sequence, without None."""
    return [get_origin(part) or part for part in union_members(hint) if part is not type(None)]


def _shown(hint: Any, option: Option) -> Any:
    """Return the type that Typer reads an option as."""
    if option.listed or option.or_name:
        return str
    parts = _kinds(hint)
    if (option.argument and Sequence in parts) or set(parts) <= {Sequence, Mapping}:
        return list[str]
    if date in parts:
        return datetime
    return next(kind for kind in (Path, str, bool, int, float) if kind in parts)


def _flag(field: str, option: Option) -> str:
    """Return the name that users see: "--out", or "OUT" for a positional argument."""
    if option.argument:
        return (option.metavar or field.upper()).removesuffix("...")
    return option.flags[0] if option.flags else f"--{field.replace('_', '-')}"


def _flags_of(command: Any) -> dict[str, str]:
    """Return the names that users see of a command's options."""
    flags = {str(param.name): param.opts[0] for param in command.params}
    options = declared(getattr(command.callback, "options", Options))
    return flags | {name: _flag(name, option) for name, option in options.items()}


def _with_flags(message: str, flags: Mapping[str, str], program: Any = None) -> str:
    """Return a message, in one line, that names options as the command line does.

    Of an option that the command lacks, the message says which commands have it. Text in quotes or
    in a path comes from the user and is never an option's name.
    """
    names = {match["name"] for match in _QUOTED_OR_NAME.finditer(message)}
    if lacking := names - {None, *flags}:
        others = {path: _flags_of(command) for path, command in _commands(program)}
        having = {path: of_other for path, of_other in others.items() if lacking <= of_other.keys()}
        if having:
            flags = {**next(iter(having.values())), **flags}
            noun = "an option" if len(lacking) == 1 else "options"
            message = f"{message} ({noun} of {listed([*having], _NAMED)})"
    return one_line(_QUOTED_OR_NAME.sub(lambda match: flags.get(match["name"], match[0]), message))


def _commands(group: Any, path: str = "medsim") -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group and its groups, by their full names."""
    for name, entry in group.commands.items() if group else ():
        inner = hasattr(entry, "commands")
        yield from _commands(entry, f"{path} {name}") if inner else [(f"{path} {name}", entry)]


def completed(choices: Iterable[str]) -> Callable[[str], list[str]] | None:
    """Return the shell completion of an option's choices; None if it has no choices."""
    if not choices:
        return None
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


_OWN, _SHARED = "medsim.toml", "pyproject.toml"


@dataclass(frozen=True, kw_only=True)
class OptionFile:
    """Options of commands from a file.

    Attributes:
        name: the file, with the table in pyproject.toml; empty if there is no file.
        values: by command, then by parameter, as the command line parses them.
    """

    name: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def read_option_file(program: Any, folder: Path = Path()) -> OptionFile:
    """Return the options of commands from the option file of a folder.

    medsim.toml takes precedence over pyproject.toml. A table has the name of its command, and a key
    the name of an option without the dashes.

    Raises:
        InputError: the file is not TOML in UTF-8.
        OptionError: it names an unknown command or option.
    """
    for path, keys in ((folder / _OWN, ()), (folder / _SHARED, ("tool", "medsim"))):
        if not path.exists():
            continue
        name = f"{path} [{'.'.join(keys)}]" if keys else str(path)
        with reading(path), open_file(path) as stream:
            content = stream.read()
        table: Any = {}
        try:
            table = tomllib.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            if not keys or b"tool.medsim" in content:  # else not for medsim
                raise InputError(f"{path} is not TOML ({error})") from error
        for key in keys:
            table = table.get(key, {}) if isinstance(table, Mapping) else {}
        if not isinstance(table, Mapping):
            raise OptionError(f"{name} takes a table of commands, not {type_of(table)}")
        if table:
            return OptionFile(name=name, values=_group_values(program, table, name))
    return OptionFile()


def _group_values(group: Any, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of the commands of a group."""
    values = {}
    for name, value in table.items():
        command = group.commands.get(name)
        if command is None:
            raise OptionError(f"{where}: {unknown_name('command', name, [*group.commands])}")
        if not isinstance(value, Mapping):
            raise OptionError(f"{where}: {name} takes a table of options, not {type_of(value)}")
        parse = _group_values if hasattr(command, "commands") else _command_values
        values[name] = parse(command, value, f"{where}: {name}")
    return values


def _command_values(command: Any, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of the options of a command."""
    options = {
        flag.removeprefix("--"): option
        for option in command.params
        for flag in option.opts
        if flag.startswith("--") and not option.is_eager
    }
    values = {}
    for name, value in table.items():
        option = options.get(name.replace("_", "-"))
        if option is None:
            raise OptionError(f"{where}: {unknown_name('option', name, [*options])}")
        values[option.name] = _as_on_command_line(option, value, f"{where}: {name}")
    return values


def _as_on_command_line(option: Any, value: object, where: str) -> object:
    """Return a value in the form of the command line, so that the same checks apply."""
    is_table = isinstance(value, Mapping)
    if isinstance(value, bool) != option.is_flag or (is_table and not option.multiple):
        expected = "true or false" if option.is_flag else "a value"
        raise OptionError(f"{where} takes {expected}, not {type_of(value)}")
    match value:
        case bool():
            return value
        case Mapping():
            return [f"{name}={_text(item, where)}" for name, item in value.items()]
        case list():
            texts = [_text(item, where) for item in value]
            return texts if option.multiple else comma_joined(texts)
    text = _text(value, where)
    return [text] if option.multiple else text


def between_commas(text: str) -> tuple[str, ...]:
    """Return the comma-separated values of a text; a value with commas is in double quotes.

    A text of white space has no values.
    """
    (values,) = csv.reader([" ".join(text.splitlines())], skipinitialspace=True)
    return tuple(value.strip() for value in values) if text.strip() else ()


def comma_joined(values: Sequence[str]) -> str:
    """Return the text that ``between_commas`` parses into the values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _text(value: object, where: str) -> str:
    if isinstance(value, (bool, list, Mapping)):
        raise OptionError(f"{where} takes a text or a number, not {type_of(value)}")
    return value.isoformat() if isinstance(value, date) else str(value)
