"""Every command line, option and call in the documentation is valid.

Command lines are parsed as the program parses them, and are not run.
"""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fixtures.commands import commands
from typer.main import get_command

import medsim
from medsim.cli import app
from medsim.core import addresses
from medsim.core.console import _from_command_line
from medsim.core.options import declared

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = commands()
GROUPS = {name.split()[0] for name in COMMANDS if " " in name}
PROGRAM = ("medsim", ".venv/bin/medsim")
BETWEEN_STATEMENTS = "();<>|&\n"


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a page in one language."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"))


def spans(page: Path) -> list[str]:
    """Return the text between backticks in a page."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]


def statements(script: str) -> Iterator[list[str]]:
    """Yield the words of every simple statement of a shell script; 1 stands for a variable."""
    script = re.sub(r"\$\w+", "1", script.replace("\\\n", " "))
    words = shlex.shlex(script, posix=True, punctuation_chars=BETWEEN_STATEMENTS)
    words.whitespace, words.whitespace_split = " \t", True
    statement: list[str] = []
    for word in [*words, "\n"]:
        if set(word) <= set(BETWEEN_STATEMENTS):
            yield statement
            statement = []
        else:
            statement.append(word)


def command_lines(script: str) -> Iterator[list[str]]:
    """Yield the arguments of every run of the program in a shell script."""
    for statement in statements(script):
        words = statement[1:] if statement[:1] == ["do"] else statement
        if words and words[0] in PROGRAM:
            yield words[1:]
        for word in words:
            if word.startswith("medsim "):  # a script in quotes
                yield from command_lines(word)


def split(arguments: list[str]) -> tuple[str, list[str]]:
    """Return the name of a command and its own arguments."""
    for length in (2, 1):
        name = " ".join(arguments[:length])
        if name in COMMANDS:
            return name, arguments[length:]
    message = f"medsim {' '.join(arguments)}: there is no such command"
    raise AssertionError(message)


OF_PLUG_INS = "extend-medsim.md"
"""The page whose commands need the plug-ins that it writes; its examples run them."""

IN_BLOCKS = [
    (page.name, line)
    for page in PAGES
    if page.name != OF_PLUG_INS
    for script in blocks(page, "sh")
    for line in command_lines(script)
]
IN_HELP = [
    (name, line)
    for name, command in COMMANDS.items()
    for example in re.findall(r"Example: (.*?)(?:\n\n|\Z)", command.help, re.DOTALL)
    for line in command_lines(example.replace("\n", " "))
]


def test_every_command_line_of_pages_and_help_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in ("staged", "with_local_paths"):  # nothing is copied from or to addresses
        monkeypatch.setattr(addresses, function, lambda value, *_: value)
    for place, arguments in (*IN_BLOCKS, *IN_HELP):
        if arguments == ["--version"]:
            continue
        name, options = split(arguments)
        command = COMMANDS[name]
        try:
            context = command.make_context(
                name, [*options]
            )  # refuses the same values as the program
            if known := getattr(command.callback, "options", None):
                names = declared(known)
                _from_command_line(known, {key: context.params[key] for key in names})
        except BaseException as error:
            error.add_note(f"{place}: medsim {' '.join(arguments)}")
            raise
    assert len(IN_BLOCKS) > 40


def test_every_command_has_an_example() -> None:
    assert {name for name, _ in IN_HELP} == set(COMMANDS)


def test_every_option_between_backticks_exists() -> None:
    flags = {
        name: {flag for option in command.params for flag in option.opts} | {"--help"}
        for name, command in COMMANDS.items()
    }
    flags[""] = {flag for option in get_command(app).params for flag in option.opts} | {"--version"}
    of_any = set.union(*flags.values())
    for span in (span for page in PAGES for span in spans(page)):
        words = span.removeprefix("medsim ").split()
        if not span.startswith(("--", "medsim ")) or " ".join(words) in GROUPS:
            continue
        accepted = of_any
        if words[0].islower() and not words[0].startswith("-"):
            name, words = split(words)
            accepted = flags[name]
        assert {word for word in words if word.startswith("-")} <= accepted, span


def test_every_call_of_a_page_binds() -> None:
    for code in (code for page in PAGES for code in blocks(page, "python")):
        for call in ast.walk(ast.parse(code)):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            if isinstance(call.func.value, ast.Name) and call.func.value.id == "medsim":
                function = getattr(medsim, call.func.attr)
                names = {keyword.arg: None for keyword in call.keywords if keyword.arg}
                inspect.signature(function).bind(*call.args, **names)
