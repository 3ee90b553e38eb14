"""The types that options are annotated with: which values are of them, and their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from medsim.core.errors import listed

_NOUNS = {
    str: "a text",
    Path: "a path",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    date: "a date",
    NoneType: "None",
    Any: "an object",
}


types_of: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
"""The types of the fields of a class by name."""


@cache
def union_members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or a type alone; a name of some is a text."""
    is_union = isinstance(hint, UnionType) or get_origin(hint) is Union
    members = get_args(hint) if is_union else (hint,)
    return tuple(dict.fromkeys(str if get_origin(one) is Literal else one for one in members))


def names_in(hint: Any) -> tuple[str, ...]:
    """Return the names that a type allows, where it has a ``Literal`` of them; else none."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return next(filter(None, map(names_in, get_args(hint))), ())


def is_several(hint: object) -> bool:
    """Return whether a type is of several values, and never of a single text or path."""
    kinds = {get_origin(one) or one for one in union_members(hint)}
    return bool(kinds & {tuple, Sequence}) and not kinds & {str, Path}


def fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type, and so is all that it holds.

    A text is no sequence, True and False are no numbers, and a whole number is a number.
    """
    if len(members := union_members(hint)) > 1:
        return any(fits(value, one) for one in members)
    kind, held = _kind_and_held(members[0])
    if kind in {Mapping, dict}:
        return (
            isinstance(value, Mapping)
            and isinstance(value, kind)
            and all(fits(name, held[0]) and fits(one, held[1]) for name, one in value.items())
        )
    if kind in {Sequence, list}:
        if isinstance(value, (str, bytes)) or not isinstance(value, kind):
            return False
        return isinstance(value, Sequence) and all(fits(one, held[0]) for one in value)
    if isinstance(value, bool):
        return kind in {bool, Any, object}
    return kind is Any or isinstance(value, {int: Integral, float: Real}.get(kind, kind))


def of_python(value: object) -> object:
    """Return a value as a type of Python's own, such as a number of NumPy, which JSON lacks.

    A list becomes a tuple, and a point in time its day.
    """
    match value:
        case bool():
            return value
        case Integral():
            return int(value)
        case Real():
            return float(value)
        case datetime():
            return value.date()
        case list() | tuple():
            return tuple(map(of_python, value))
        case _:
            return value


def as_json(value: object) -> object:
    """Return a value of an option as JSON has it: days and paths as texts."""
    if isinstance(value, tuple):
        return [as_json(one) for one in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


@cache
def _kind_and_held(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint) or hint, get_args(hint)


def described(hint: Any) -> str:
    """Return the name of a type for a message, such as "a text or a path"."""
    return " or ".join(map(_described, union_members(hint)))


def _described(hint: Any) -> str:
    kind, held = get_origin(hint) or hint, get_args(hint)
    if kind is Mapping:
        return f"a mapping from a name to {described(held[1])}"
    if kind is Sequence:
        nouns = [_described(one).split(" ", 1)[-1] for one in union_members(held[0])]
        return f"several {' or '.join(f'{noun}s' for noun in nouns)}"
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return _NOUNS.get(kind, f"{article} {kind.__name__}")


def type_of(value: object) -> str:
    """Return the name of a value's type with those of what it holds: "list of int and str"."""
    if not isinstance(value, (list, tuple)) or not value:
        return type(value).__name__
    return f"{type(value).__name__} of {listed(sorted({type(one).__name__ for one in value}))}"
