"""The command line and Python take the same options, and messages name them as each does."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pytest
from fixtures.commands import commands

import medsim
from medsim.core.console import _flag, _with_flags
from medsim.core.hints import union_members
from medsim.core.options import declared

FUNCTIONS = {
    "build": "build",
    "compare": "compare",
    "convert": "convert",
    "correlate": "correlate",
    "eval": "evaluate",
    "merge": "merge",
    "report": "write_report",
    "study domains": "domains_study",
    "study grade": "grade_study",
    "study inspect": "inspect_study",
    "study instances": "instances_study",
    "study pairs": "choose_pairs",
    "study sample": "sample_study",
    "study score": "score_study",
    "synth": "synth",
    "verify": "verify",
    "wic build": "build_wic",
    "wic eval": "evaluate_wic",
    "wic stats": "describe_wic",
    "wic verify": "verify_wic",
}
"""The public function of each command that has one."""

OF_THE_COMMAND_LINE = {name: {"form"} for name in commands()} | {
    "report": set(),
    "build": {"shard", "known", "form"},
    "study pairs": {"out", "overwrite", "form"},
    "study score": {"table", "form"},
    "wic eval": {"table", "form"},
    "wic verify": {"list_all", "form"},
}
"""The options that commands have beside those of their functions."""

OF_PYTHON = {"progress"}
"""The parameters that functions have beside the options of their commands."""

UNDECLARED = {"wic stats"}
"""The commands of a folder alone, whose options stand in the command."""

COMMANDS = commands()
DECLARED = {name: one for name, one in COMMANDS.items() if hasattr(one.callback, "options")}
PARAMETERS = [
    pytest.param(command, parameter, id=f"{command} {parameter.name}")
    for command in FUNCTIONS
    if command in DECLARED
    for parameter in COMMANDS[command].params
    if parameter.name not in OF_THE_COMMAND_LINE[command]
]


def function_of(command: str) -> Any:
    return getattr(medsim, FUNCTIONS[command])


def test_every_command_is_made_of_declared_options() -> None:
    assert set(COMMANDS) - set(DECLARED) <= UNDECLARED


@pytest.mark.parametrize("command", DECLARED)
def test_a_command_has_the_options_of_its_declaration_and_those_listed_here(command: str) -> None:
    names = [parameter.name for parameter in COMMANDS[command].params]
    options = list(declared(COMMANDS[command].callback.options))

    assert names[: len(options)] == options
    assert set(names[len(options) :]) <= OF_THE_COMMAND_LINE[command] <= set(names)


@pytest.mark.parametrize("command", [name for name in FUNCTIONS if name in DECLARED])
def test_a_function_takes_the_options_of_its_command(command: str) -> None:
    own = OF_THE_COMMAND_LINE[command]
    names = {parameter.name for parameter in COMMANDS[command].params} - own
    assert set(inspect.signature(function_of(command)).parameters) - OF_PYTHON == names


@pytest.mark.parametrize(("command", "parameter"), PARAMETERS)
def test_an_option_is_the_same_on_the_command_line_and_in_python(
    command: str, parameter: Any
) -> None:
    python = inspect.signature(function_of(command)).parameters[parameter.name]
    hint = get_type_hints(COMMANDS[command].callback.options)[parameter.name]

    assert parameter.required == (python.default is inspect.Parameter.empty)
    assert python.annotation == hint
    kinds = {get_origin(part) or part for part in union_members(hint)}
    several = bool(kinds & {Sequence, Mapping})
    given, default = parameter.default, python.default
    if parameter.multiple or parameter.nargs == -1:
        assert several
        assert not given
        assert parameter.required or not default
    else:
        kind = parameter.type_descriptor.annotation
        assert kinds & {date if kind is datetime else kind, Sequence, Path}
        if isinstance(default, tuple):
            given, default = given or "", ",".join(default)
        if not parameter.required:
            assert given in {default, str(default)}
    long = next((one for one in parameter.opts if one.startswith("--")), None)
    if long is not None:
        flag = long.removeprefix("--").replace("-", "_")
        plurals = {flag, f"{flag}s", f"{flag.removesuffix('y')}ies"} if several else {flag}
        assert parameter.name in plurals


@pytest.mark.parametrize("command", DECLARED)
def test_a_message_of_a_command_names_the_flags_that_it_has(command: str) -> None:
    options = declared(COMMANDS[command].callback.options)
    flags = {name: _flag(name, option) for name, option in options.items()}
    for parameter in COMMANDS[command].params:
        if parameter.name in options:
            shown = _with_flags(f"`{parameter.name}` is wrong", flags)
            assert shown.removesuffix(" is wrong") in {
                *parameter.opts,
                parameter.name.upper(),
                (parameter.metavar or "").removesuffix("..."),
            }


def messages() -> list[tuple[str, str]]:
    """Return every text of the package that is no docstring, with its file."""
    found = []
    for path in sorted(Path(medsim.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [
            (path.as_posix(), node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in alone
        ]
    return found


def test_a_name_between_backticks_is_an_option() -> None:
    known = {parameter.name for one in COMMANDS.values() for parameter in one.params}

    named = [(text, name) for _, text in messages() for name in re.findall(r"`(\w+)`", text)]
    assert {name for _, name in named} <= known
    assert all(f"`{name}`" not in _with_flags(text, {name: "--flag"}) for text, name in named)


@pytest.mark.parametrize(
    "text", ["x.csv: line 2: 'the `seed`\\' is' no", 'a "`seed` it\'s"', "/a/`seed`/b `seed`.d"]
)
def test_what_stands_in_quotes_or_in_a_path_is_no_option(text: str) -> None:
    said = _with_flags(f"it's of {text} (`seed`).", {"seed": "--seed"})

    assert said == f"it's of {text} (--seed)."
