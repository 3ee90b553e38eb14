"""The pages of the commands, from their options and from the application."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer
from typer.main import get_command

import medsim
from docs.tools.markdown import code, codes, page, with_lines
from medsim.cli import app
from medsim.core.console import _flag, _shown
from medsim.core.options import Heading, Option, Options, declared, signature_of
from medsim.core.printing import FORMAT_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FUNCTIONS: Mapping[str, Sequence[str]] = {
    "build": ("build_shard",),
    "sql": ("Build.sql",),
    "stats": ("Build.stats",),
}
"""Functions that a command covers, besides the function with the same options."""

_NOUNS: Mapping[Any, str] = {
    str: "text",
    Path: "path",
    int: "integer",
    float: "number",
    datetime: "date, such as 2026-01-31 or 20260131",
    list[str]: "text",
}
_SWITCH = "none (a switch)"
_OWN = 3
"""The exit code whose meaning depends on the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An argument or an option of a command.

    Attributes:
        name: name of the argument, or all flags of the option.
        help: its text in the program's help.
        facts: its value, default and other names, by heading.
        heading: heading in the help and on the page; see ``Option``.
        argument: whether it is an argument, given by position.
        shared: whether most commands have it.
    """

    name: Sequence[str]
    help: str
    facts: Mapping[str, str]
    heading: str
    argument: bool = False
    shared: bool = False

    @property
    def line(self) -> str:
        """Its value, its default and its name in Python, in one line."""
        return " ".join(
            f"{what}: {fact}." if fact else f"{what}." for what, fact in self.facts.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPage:
    """The content of a command's page."""

    name: str
    file: str
    usage: str
    paragraphs: Sequence[str]
    example: str
    entries: Sequence[Entry]
    functions: Sequence[str]
    exit_codes: Mapping[int, str]
    then: Sequence[tuple[str, str]]

    @property
    def sections(self) -> dict[str, list[Entry]]:
        """The options that are not shared, by heading."""
        options = [entry for entry in self.entries if not entry.argument and not entry.shared]
        by_heading = {
            heading: [entry for entry in options if entry.heading == heading]
            for heading in get_args(Heading)
        }
        return {heading: entries for heading, entries in by_heading.items() if entries}

    @property
    def sentence(self) -> str:
        """The first sentence of its help."""
        return self.paragraphs[0]

    @property
    def shared(self) -> list[str]:
        """Options that every command has."""
        return [name for entry in self.entries if entry.shared for name in entry.name]

    @property
    def own_failure(self) -> str:
        """The meaning of exit code 3, if the command has it."""
        return f"{_OWN}: {self.exit_codes[_OWN]}" if _OWN in self.exit_codes else ""


def all_commands(group: Any = None, path: str = "") -> dict[str, Any]:
    """Return every command by its name, with the name of its group before it."""
    commands: dict[str, Any] = {}
    for name, command in (group or get_command(app)).commands.items():
        inner = hasattr(command, "commands")
        commands |= all_commands(command, f"{path}{name} ") if inner else {path + name: command}
    return commands


def command_pages() -> dict[str, str]:
    """Return the pages of all commands by their paths below the reference."""
    known = {name: _page_of(name, command) for name, command in all_commands().items()}
    pages = {f"commands/{it.file}": page("command", command=it) for it in known.values()}
    panels = {title: [known[name] for name in names] for title, names in _panels().items()}
    return {"commands/index.md": page("commands", panels=panels), **pages}


def with_commands(navigation: str) -> str:
    """Return the settings of the site with the pages of all commands in its navigation."""
    indent = " " * 12
    lines = (
        f'{indent}{{ "medsim {name}" = "reference/commands/{_file_of(name)}" }},'
        for names in _panels().values()
        for name in names
    )
    index = f'{indent}"reference/commands/index.md",\n'
    return with_lines(navigation, index, lines, f"{indent[:8]}] }},")


def _panels() -> dict[str, list[str]]:
    """Return the names of commands by the panels of ``medsim --help``."""
    root: Any = get_command(app)
    names = list(all_commands())
    return {
        title: [
            name
            for first in group
            for name in names
            if name == first or name.startswith(f"{first} ")
        ]
        for title, group in root.panels.items()
    }


def _file_of(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def _page_of(name: str, command: Any) -> CommandPage:
    context = typer.Context(command, info_name=name)
    paragraphs, example = _help_of(command)
    options: type[Options] = command.callback.options
    return CommandPage(
        name=name,
        file=_file_of(name),
        usage=f"medsim {name} {' '.join(command.collect_usage_pieces(context))}",
        paragraphs=paragraphs,
        example=example,
        entries=[*_declared_entries(options), *_own_entries(command, options)],
        functions=_functions_of(name, options),
        exit_codes=dict(sorted(command.callback.exit_codes.items())),
        then=[(following, _file_of(following)) for following in command.callback.then],
    )


def _help_of(command: Any) -> tuple[list[str], str]:
    """Return the paragraphs of a command's help, and its example."""
    text = inspect.cleandoc(command.help)
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    (example,) = (part for part in paragraphs if part.startswith("Example: "))
    return [part for part in paragraphs if part != example], example.removeprefix("Example: ")


def _functions_of(name: str, options: type[Options]) -> list[str]:
    """Return the public functions that share options with a command."""
    functions = [
        public
        for public in medsim.__all__
        if (kind := getattr(getattr(medsim, public), "options", None))
        and isinstance(kind, type)
        and (issubclass(options, kind) or issubclass(kind, options))
    ]
    return [*functions, *FUNCTIONS.get(name, ())]


def _declared_entries(options: type[Options]) -> Iterator[Entry]:
    parameters = signature_of(options).parameters
    for name, option in declared(options).items():
        parameter = parameters[name]
        flags = option.flags or (_flag(name, option),)
        yield Entry(
            name=(option.metavar or name.upper(),) if option.argument else flags,
            help=option.help,
            facts=_facts(option, parameter),
            heading=option.heading,
            argument=option.argument,
        )


def _facts(option: Option, parameter: inspect.Parameter) -> dict[str, str]:
    default = _default(parameter.default) if option.needed else ""
    facts = {"Value": _value(option, parameter), "Default": default}
    if facts["Value"] == _SWITCH or all(choice in option.help for choice in option.choices or [""]):
        facts["Value"] = ""
    if _flag(parameter.name, option) not in (option.flags or (_flag(parameter.name, option),)):
        facts["In Python"] = code(parameter.name)
    return {what: fact for what, fact in facts.items() if fact}


def _value(option: Option, parameter: inspect.Parameter) -> str:
    """Return the value of an option on the command line, in words."""
    shown = _shown(parameter.annotation, option)
    if shown is bool:
        return _SWITCH
    noun = _NOUNS[shown]
    if option.choices:
        noun = f"one of {codes(option.choices)}"
    elif shown == list[str] and "Path" in str(parameter.annotation):
        noun = _NOUNS[Path]
    if option.metavar and not option.argument:
        noun = f"{code(option.metavar)}, {noun}" if option.choices else code(option.metavar)
    if option.least is not None:
        noun += f", {_bound(option.least)} to {_bound(option.most)}"
    if option.listed and "," not in (option.metavar or ""):
        return f"{noun}; several separated by commas"
    return f"{noun}; any number of times" if shown == list[str] else noun


def _bound(value: float | None) -> str:
    return "any" if value is None else f"{value:,}"


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return "none (required)"
    if value is None or value is False or value in ((), "", {}):
        return ""
    if isinstance(value, tuple):
        return code(",".join(map(str, value)))
    return code(value)


def _own_entries(command: Any, options: type[Options]) -> Iterator[Entry]:
    """Yield the options that only the command line has."""
    known = declared(options)
    shared = {"quiet", "verbose", "help"}
    for parameter in command.params:
        if parameter.name not in known:
            facts = {"Value": _SWITCH if parameter.is_flag else _own_value(parameter)}
            if default := "" if parameter.is_flag else _default(parameter.default):
                facts["Default"] = default
            yield Entry(
                name=parameter.opts,
                help=parameter.help or "",
                facts=facts,
                heading=parameter.rich_help_panel or "Main options",
                shared=parameter.name in shared,
            )


def _own_value(parameter: Any) -> str:
    if parameter.name == "form":
        return f"one of {codes(FORMAT_NAMES)}"
    return code(parameter.metavar) if parameter.metavar else _NOUNS[str]
