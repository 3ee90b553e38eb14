"""Every regular expression of the package takes time linear in the length of the text.

The patterns are collected from the modules, so new ones are tested automatically. Hard texts for a
pattern are made from its syntax tree: a text that leads to a repetition, then one character that
the repetition accepts, over and over.
"""

from __future__ import annotations

import ast
import pkgutil
import re
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fixtures.sizes import sized

import medsim

METHODS = ("search", "match", "fullmatch", "sub", "split", "findall", "finditer")
PACKAGE = Path(medsim.__file__).parent
CHARACTERS = "0 _/\n\t\"'\\-.,:;|<>([{!é="
ANY_NUMBER = 100  # of repetitions; fewer are never slow
N_SMALL, SECONDS_SMALL = sized(20_000, 2_000), 0.5  # of CPU time; a linear pattern needs little
N_LARGE, SECONDS_LARGE = sized(1_000_000, 40_000), sized(10, 1)

NODES = {
    path.relative_to(PACKAGE).as_posix(): [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call | ast.comprehension)
    ]
    for path in sorted(PACKAGE.rglob("*.py"))
    if re.search(rf"\.\s*(?:{'|'.join(METHODS)})\b", text := path.read_text(encoding="utf-8"))
}
"""The calls and loops of every module that may use a pattern."""

pytestmark = [pytest.mark.slow, pytest.mark.sized]

parser = import_module("re._parser")


class TooSlowError(Exception):
    """A pattern exceeded its time limit."""


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield a pattern, or the patterns in a container."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value, *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from patterns_in(item)


def ways_of_patterns() -> dict[str, set[str]]:
    """Return the methods called on patterns, by the name of the pattern in the code."""
    ways: dict[str, set[str]] = {}
    nodes = [node for of_module in NODES.values() for node in of_module]
    containers: dict[str, list[str]] = {}  # names of loop variables over containers
    for node in nodes:
        match node:
            case ast.comprehension(ast.Tuple(names), ast.Name(container)):
                for name in names:
                    containers.setdefault(ast.unparse(name), []).append(container)
    for node in nodes:
        match node:
            case ast.Call(ast.Attribute(value, way)) if way in METHODS:
                name = ast.unparse(value).partition("[")[0].rpartition(".")[2]
                for alias in (name, *containers.get(name, ())):
                    ways.setdefault(alias, set()).add(way)
    return ways


def collected() -> dict[str, tuple[re.Pattern[Any], str]]:
    """Return every pattern with a method called on it, by module, name and number."""
    named_uses: dict[str, tuple[re.Pattern[Any], str]] = {}
    for stem, nodes in NODES.items():
        for node in nodes:
            match node:
                case ast.Call(ast.Attribute(ast.Name("re"), way), [ast.Constant(text), *_]):
                    if way in METHODS:
                        named_uses[f"{stem} {way} {text!r}"] = (re.compile(text), way)
    ways = ways_of_patterns()
    modules = pkgutil.walk_packages(medsim.__path__, "medsim.")
    for module in [info.name for info in modules if not info.name.endswith("__main__")]:
        for name, value in vars(import_module(module)).items():
            for number, pattern in enumerate(patterns_in(value)):
                for way in ways.get(name, {"search", "fullmatch"}):
                    named_uses[f"{module}.{name} {number} {way}"] = (pattern, way)
    once = {use: name for name, use in reversed(named_uses.items())}
    return {name: use for use, name in sorted(once.items(), key=lambda item: item[1])}


class Hard:
    """The texts that lead to each repetition of a pattern, with a text that it repeats."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
        tree = parser.parse(text, pattern.flags & (re.DOTALL | re.MULTILINE | re.VERBOSE))
        self.alphabet = [*dict.fromkeys(["a", *literals(tree), *CHARACTERS])]
        self.repetitions = {("", character) for character in self.alphabet[:30]}
        self.repetitions |= {("", whole) for whole in self.after(tree, [""]) if whole}

    def after(self, tree: Iterable[Any], before: list[str]) -> list[str]:
        """Return some texts that a tree accepts, each appended to one of the given prefixes."""
        for kind, value in tree:
            before = [*dict.fromkeys(self.step(str(kind), value, before))][:6]
        return before

    def step(self, kind: str, value: Any, before: list[str]) -> list[str]:
        """Return some texts that one part of a tree accepts, each appended to a prefix."""
        match kind:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return [text + self.units([(kind, value)])[0] for text in before]
            case "BRANCH":
                return [text for branch in value[1] for text in self.after(branch, before)]
            case "SUBPATTERN" | "ATOMIC_GROUP":
                return self.after(value[3] if kind == "SUBPATTERN" else value, before)
            case "ASSERT":
                self.after(value[1], before)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, tree = value
                if most > ANY_NUMBER:
                    self.repetitions |= {
                        (text, unit) for text in before for unit in self.units(tree)
                    }
                    self.repetitions |= {("", text) for text in before if text}
                texts = before
                for _ in range(max(least, 1)):
                    texts = self.after(tree, texts)
                return texts if least else [*texts, *before]
        return before

    def units(self, tree: Any) -> list[str]:
        """Return texts that a tree accepts: several characters if it is a character class."""
        (kind, value), *others = tree
        kind = str(kind)
        if others or kind not in {"LITERAL", "NOT_LITERAL", "ANY", "IN"}:
            return [text for text in self.after(tree, [""]) if text]
        if kind == "LITERAL":
            return [chr(value)]
        fits = [sign for sign in self.alphabet if kind != "IN" or is_in(sign, value)]
        return [sign for sign in fits if kind != "NOT_LITERAL" or ord(sign) != value][:12]


@cache
def hard_repetitions(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Return the texts before repetitions of a pattern, each with a text that it repeats."""
    return sorted(Hard(pattern).repetitions)


def literals(tree: Any) -> Iterator[str]:
    """Yield the literal characters of a tree."""
    if isinstance(tree, tuple) and len(tree) == 2 and str(tree[0]) in {"LITERAL", "NOT_LITERAL"}:
        yield chr(tree[1])
    elif isinstance(tree, tuple) and len(tree) == 2 and str(tree[0]) == "RANGE":
        yield chr(tree[1][0])
    elif not isinstance(tree, str | int | None):
        for part in tree:
            yield from literals(part)


def is_in(character: str, members: Iterable[Any]) -> bool:
    """Return whether a character class contains a character."""
    kinds = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
    negated = matches = False
    for kind, value in members:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                matches |= ord(character) == value
            case "RANGE":
                matches |= value[0] <= ord(character) <= value[1]
            case "CATEGORY":
                _, *is_not, name = str(value).split("_")
                matches |= kinds[name](character) != bool(is_not)
    return matches != negated


def seconds(pattern: re.Pattern[Any], way: str, text: str, most: float) -> float:
    """Return the CPU time of a pattern in seconds; TooSlowError after the limit."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"{pattern.pattern!r} by {way}: {text[:30]!r}, {text[-30:]!r}")

    whole = text.encode("utf-8", "replace") if isinstance(pattern.pattern, bytes) else text
    before = signal.signal(signal.SIGVTALRM, stop)
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        arguments = (lambda match: match[0], whole) if way == "sub" else (whole,)
        match = getattr(pattern, way)(*arguments)
        if way == "finditer":
            deque(match, 0)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - began


def check(pattern: re.Pattern[Any], way: str) -> None:
    """Raise TooSlowError unless a pattern reads its hardest text in linear time."""
    durations = {
        (start, unit, end): seconds(
            pattern, way, start + unit * (N_SMALL // len(unit)) + end, SECONDS_SMALL
        )
        for start, unit in hard_repetitions(pattern)
        for end in ("", "\0")
    }
    start, unit, end = max(durations, key=durations.__getitem__)
    seconds(pattern, way, start + unit * (N_LARGE // len(unit)) + end, SECONDS_LARGE)


COLLECTED = collected()


@pytest.mark.some(80)
@pytest.mark.parametrize("name", COLLECTED)
def test_patterns_read_their_hardest_text_in_linear_time(name: str) -> None:
    check(*COLLECTED[name])


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("text", "way"),
    [
        (r"\btrue\W*(?:or\b|/)\W*false", "search"),
        (r"\d+\.?\d*", "fullmatch"),
        (r"'(?:\\.|.)*'", "search"),
        (r"<!--.*?-->", "search"),
    ],
)
def test_pattern_that_is_not_linear_is_detected(text: str, way: str) -> None:
    with pytest.raises(TooSlowError):
        check(re.compile(text, re.DOTALL), way)
