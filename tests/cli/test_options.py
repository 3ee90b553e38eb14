"""The command line and Python have the same options, and messages name them accordingly."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_origin, get_type_hints

import pytest
from fixtures.commands import commands
from typer.main import get_command
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.console import _flag, _flags_of, _with_flags
from medsim.core.options import declared, union_members

ROOT = Path(__file__).parents[2]
PROGRAM = get_command(app)
COMMANDS = commands()
KEYWORDS = {"with": "extension", "for": "to"}
"""The Python names of flags that are keywords of Python."""

PUBLIC = {
    options: name
    for name in medsim.__all__
    if isinstance(options := getattr(getattr(medsim, name), "options", None), type)
}
FUNCTIONS = {
    name: PUBLIC[options]
    for name, command in COMMANDS.items()
    for options in command.callback.options.__mro__
    if options in PUBLIC
}
"""The public function of each command that has one; it has the same options or some of them."""

OF_PYTHON = {"progress"}
"""The parameters of functions that their commands do not have."""

MAY_BE_EMPTY = {"embeddings"}
"""The required parameters of functions whose options commands may lack."""


def function_of(command: str) -> Any:
    return getattr(medsim, FUNCTIONS[command])


def of_the_command_line(command: str) -> set[str]:
    """Return the options of a command that its function does not have."""
    of_function = {*declared(function_of(command).options)}
    return {parameter.name for parameter in COMMANDS[command].params} - of_function


def test_commands_have_the_declared_options_then_their_own() -> None:
    for name, command in COMMANDS.items():
        names = [parameter.name for parameter in command.params]
        options = list(declared(command.callback.options))
        assert names[: len(options)] == options, name
        assert names[-2:] == ["quiet", "verbose"], name


@pytest.mark.parametrize("command", FUNCTIONS)
def test_options_are_the_same_on_the_command_line_and_in_python(command: str) -> None:
    signature = inspect.signature(function_of(command)).parameters
    hints = get_type_hints(COMMANDS[command].callback.options)
    own = of_the_command_line(command)
    assert {*signature} - OF_PYTHON == {param.name for param in COMMANDS[command].params} - own
    for parameter in COMMANDS[command].params:
        if parameter.name not in own:
            check_option(parameter, signature[parameter.name], hints[parameter.name])


def check_option(parameter: Any, python: inspect.Parameter, hint: object) -> None:
    is_required = python.default is inspect.Parameter.empty and parameter.name not in MAY_BE_EMPTY
    assert parameter.required == is_required, parameter.name
    assert python.annotation == hint, parameter.name
    kinds = {get_origin(part) or part for part in union_members(hint)}
    several = bool(kinds & {Sequence, Mapping})
    cli_default, default = parameter.default, python.default
    if parameter.multiple or parameter.nargs == -1:
        assert several, parameter.name
        assert not cli_default, parameter.name
        assert default is inspect.Parameter.empty or not default, parameter.name
    else:
        kind = parameter.type_descriptor.annotation
        assert kinds & {date if kind is datetime else kind, Sequence, Path}, parameter.name
        if isinstance(default, tuple):
            cli_default, default = cli_default or "", ",".join(default)
        if not parameter.required:
            assert cli_default in {default, str(default)}, parameter.name
    long = next((option for option in parameter.opts if option.startswith("--")), None)
    if long is not None:
        flag = long.removeprefix("--").replace("-", "_")
        flag = KEYWORDS.get(flag, flag)
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


def test_messages_of_a_command_name_its_flags() -> None:
    for declared_command in COMMANDS.values():
        options = declared(declared_command.callback.options)
        flags = {name: _flag(name, option) for name, option in options.items()}
        for parameter in declared_command.params:
            if parameter.name in options:
                shown = _with_flags(f"`{parameter.name}` is wrong", flags)
                assert shown.removesuffix(" is wrong") in {
                    *parameter.opts,
                    parameter.name.upper(),
                    (parameter.metavar or "").removesuffix("..."),
                }


@cache
def messages() -> set[str]:
    """Return the texts of the package that name options, with … for every value."""
    texts = set()
    for path in (ROOT / "medsim").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in (node for node in ast.walk(tree) if id(node) not in docstrings):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            values = [getattr(part, "value", None) for part in parts]
            text = "".join(each if isinstance(each, str) else "…" for each in values)
            if re.search(r"(?<!`)`\w+`(?!`)", text) and "``" not in text:
                texts.add(text)
    return texts


@pytest.mark.some(8)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_message_names_the_commands_that_have_an_option_which_a_command_lacks(
    command: str,
) -> None:
    flags = {name: _flags_of(entry) for name, entry in COMMANDS.items()}
    own, n_lacking = flags[command], 0
    for text in messages():
        names = {*re.findall(r"(?<![^\s(])`(\w+)`(?=[,;:.)]*(?:\s|$))", text)}
        shown = _with_flags(text, own, PROGRAM)
        if names <= {*own}:
            assert shown == _with_flags(text, own), text
            continue
        n_lacking += 1
        message, _, end = shown.rpartition(" (")
        others = [name for name in flags if re.search(rf"medsim {name}\b", end)]
        assert re.fullmatch(r"(an option|options) of medsim .*\)", end), text
        assert others, text
        assert all(names - {*own} <= {*flags[name]} for name in others), text
        assert all((own.get(name) or flags[others[0]][name]) in message for name in names), text
        assert not re.search(r"`\w+`", re.sub("'.*'", "", shown)), text
    assert n_lacking > 50


def test_a_command_without_the_option_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\nx,y\n", encoding="utf-8")
    table, out = f"{tmp_path}/table.csv", ["-o", f"{tmp_path}/out"]

    lacking = CliRunner().invoke(app, ["diff", table, table, *out])
    having = CliRunner().invoke(app, ["build", table, *out])

    assert having.output.endswith("give them as --columns concept=NAME,term=NAME\n")
    assert "--columns concept=NAME,term=NAME (an option of medsim build, " in lacking.output


@pytest.mark.parametrize(
    "text", ["x.csv: line 2: 'the `seed`\\' is' no", 'a "`seed` it\'s"', "/a/`seed`/b `seed`.d"]
)
def test_text_in_quotes_or_paths_is_not_an_option(text: str) -> None:
    message = _with_flags(f"it's of {text} (`seed`).", {"seed": "--seed"})

    assert message == f"it's of {text} (--seed)."


@pytest.mark.full
def test_quiet_prints_the_table_of_a_command_that_writes_an_output_only_on_request(
    tmp_path: Path,
) -> None:
    names = tmp_path / "names.csv"
    names.write_text("concept,term\nA:1,stone\nA:2,stones\n", encoding="utf-8")
    audit = ["audit", str(names), "-o", f"{tmp_path}/audit", "--overwrite", "-q"]
    built = medsim.build(str(names), tmp_path / "built").folder

    def printed(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert printed(*audit) == printed("verify", str(built), "-q") == ""
    assert printed(*audit, "--format", "csv").startswith("severity,kind")
    assert printed("stats", str(built), "-q")
    assert printed("sql", str(built), "select 7 as seven", "-q").split()[0] == "seven"
