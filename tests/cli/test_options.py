"""The command line and Python take the same options, and messages name them as each does."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pytest
from fixtures.commands import commands

import medsim
from medsim.core.console import _flag, _with_flags
from medsim.core.options import declared, union_members

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
    "warm": "warm",
    "wic build": "build_wic",
    "wic eval": "evaluate_wic",
    "wic stats": "describe_wic",
    "wic verify": "verify_wic",
}
"""The public function of each command that has one."""

OF_ALL_COMMANDS = {"quiet", "verbose"}

_OF_SOME = {
    "report": set(),
    "warm": set(),
    "build": {"shard", "known", "form"},
    "study pairs": {"out", "overwrite", "form"},
    "study score": {"table", "form"},
    "wic eval": {"table", "form"},
    "wic verify": {"list_all", "form"},
}

OF_THE_COMMAND_LINE = {name: _OF_SOME.get(name, {"form"}) | OF_ALL_COMMANDS for name in commands()}
"""The options that commands have beside those of their functions."""

OF_PYTHON = {"progress"}
"""The parameters that functions have beside the options of their commands."""

UNDECLARED = {"wic stats"}
"""The commands of a folder alone, whose options stand in the command."""

COMMANDS = commands()
DECLARED = {name: one for name, one in COMMANDS.items() if hasattr(one.callback, "options")}


def function_of(command: str) -> Any:
    return getattr(medsim, FUNCTIONS[command])


def test_every_command_is_made_of_declared_options() -> None:
    assert set(COMMANDS) - set(DECLARED) <= UNDECLARED


def test_commands_have_the_options_of_their_declarations_and_those_listed_here() -> None:
    for command, one in DECLARED.items():
        names = [parameter.name for parameter in one.params]
        options = list(declared(one.callback.options))

        assert names[: len(options)] == options, command
        assert set(names[len(options) :]) <= OF_THE_COMMAND_LINE[command] <= set(names), command


@pytest.mark.parametrize("command", [name for name in FUNCTIONS if name in DECLARED])
def test_options_are_the_same_on_the_command_line_and_in_python(command: str) -> None:
    signature = inspect.signature(function_of(command)).parameters
    hints = get_type_hints(COMMANDS[command].callback.options)
    names = {parameter.name for parameter in COMMANDS[command].params}
    assert {*signature} - OF_PYTHON == names - OF_THE_COMMAND_LINE[command]
    for parameter in COMMANDS[command].params:
        if parameter.name not in OF_THE_COMMAND_LINE[command]:
            check_option(parameter, signature[parameter.name], hints[parameter.name])


def check_option(parameter: Any, python: inspect.Parameter, hint: object) -> None:
    assert parameter.required == (python.default is inspect.Parameter.empty), parameter.name
    assert python.annotation == hint, parameter.name
    kinds = {get_origin(part) or part for part in union_members(hint)}
    several = bool(kinds & {Sequence, Mapping})
    given, default = parameter.default, python.default
    if parameter.multiple or parameter.nargs == -1:
        assert several, parameter.name
        assert not given, parameter.name
        assert parameter.required or not default, parameter.name
    else:
        kind = parameter.type_descriptor.annotation
        assert kinds & {date if kind is datetime else kind, Sequence, Path}, parameter.name
        if isinstance(default, tuple):
            given, default = given or "", ",".join(default)
        if not parameter.required:
            assert given in {default, str(default)}, parameter.name
    long = next((one for one in parameter.opts if one.startswith("--")), None)
    if long is not None:
        flag = long.removeprefix("--").replace("-", "_")
        plurals = {flag, f"{flag}s", f"{flag.removesuffix('y')}ies"} if several else {flag}
        assert parameter.name in plurals


def test_help_begins_with_the_required_options() -> None:
    for command in commands().values():
        for parameter in command.params:
            if parameter.required and parameter.param_type_name == "option":
                assert parameter.rich_help_panel == "Main options"


@pytest.mark.parametrize("name", ["seed", "threads", "cache", "as_of", "dialect", "synonyms"])
def test_an_option_has_the_same_help_in_every_command(name: str) -> None:
    texts = {
        (parameter.help, parameter.rich_help_panel)
        for command in commands().values()
        for parameter in command.params
        if parameter.name == name
    }

    assert len(texts) == 1


def test_a_message_of_a_command_names_the_flags_that_it_has() -> None:
    for one in DECLARED.values():
        options = declared(one.callback.options)
        flags = {name: _flag(name, option) for name, option in options.items()}
        for parameter in one.params:
            if parameter.name in options:
                shown = _with_flags(f"`{parameter.name}` is wrong", flags)
                assert shown.removesuffix(" is wrong") in {
                    *parameter.opts,
                    parameter.name.upper(),
                    (parameter.metavar or "").removesuffix("..."),
                }


@pytest.mark.parametrize(
    "text", ["x.csv: line 2: 'the `seed`\\' is' no", 'a "`seed` it\'s"', "/a/`seed`/b `seed`.d"]
)
def test_what_stands_in_quotes_or_in_a_path_is_no_option(text: str) -> None:
    said = _with_flags(f"it's of {text} (`seed`).", {"seed": "--seed"})

    assert said == f"it's of {text} (--seed)."
