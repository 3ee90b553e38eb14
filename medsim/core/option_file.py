"""Reads options of commands from a file: medsim.toml, or [tool.medsim] of pyproject.toml."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.hints import type_of
from medsim.core.reading import decoded, open_file, reading

_OWN, _SHARED = "medsim.toml", "pyproject.toml"


@dataclass(frozen=True, kw_only=True)
class OptionFile:
    """Options that a file gives to commands.

    Attributes:
        name: of the file, with the table where it has others as well; empty where there is none.
        values: by command, then by parameter as the command line reads it.
    """

    name: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def read_option_file(program: Any, folder: Path = Path()) -> OptionFile:
    """Return the options that a file in a folder gives to the commands of a program.

    The file medsim.toml goes first. A table is named by its command, its keys by options without
    their dashes.

    Raises:
        InputError: the file is no TOML in UTF-8.
        OptionError: it names a command or an option that there is not.
    """
    for path, keys in ((folder / _OWN, ()), (folder / _SHARED, ("tool", "medsim"))):
        if not path.exists():
            continue
        name = f"{path} [{'.'.join(keys)}]" if keys else str(path)
        table: Any = _read(path) if not keys or _has_own(path) else {}
        for key in keys:
            table = table.get(key, {})
            if not isinstance(table, Mapping):
                raise OptionError(f"{name} takes a table of commands, not {type_of(table)}")
        if table:
            return OptionFile(name=name, values=_of_group(program, table, name))
    return OptionFile()


def _has_own(path: Path) -> bool:
    """Return whether a file of others has a table of medsim's; of a damaged one, if it seems so."""
    content = _bytes(path)
    if b"tool.medsim" in content:
        return True
    try:
        return "medsim" in tomllib.loads(content.decode())["tool"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return False


def _bytes(path: Path) -> bytes:
    with reading(path), open_file(path) as stream:
        return stream.read()


def _read(path: Path) -> dict[str, Any]:
    text = decoded(_bytes(path), path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no TOML ({error})") from error


def _of_group(group: Any, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of the commands of a group."""
    found = {}
    for name, value in table.items():
        command = group.commands.get(name)
        if command is None:
            raise OptionError(f"{where}: {unknown_name('command', name, [*group.commands])}")
        if not isinstance(value, Mapping):
            raise OptionError(f"{where}: {name} takes a table of options, not {type_of(value)}")
        of_name = _of_group if hasattr(command, "commands") else _of_command
        found[name] = of_name(command, value, f"{where}: {name}")
    return found


def _of_command(command: Any, table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values of the options of a command."""
    known = {
        flag.removeprefix("--"): option
        for option in command.params
        for flag in option.opts
        if flag.startswith("--") and not option.is_eager
    }
    found = {}
    for name, value in table.items():
        option = known.get(name.replace("_", "-"))
        if option is None:
            raise OptionError(f"{where}: {unknown_name('option', name, [*known])}")
        found[option.name] = _as_given(option, value, f"{where}: {name}")
    return found


def _as_given(option: Any, value: object, where: str) -> object:
    """Return a value as the command line would give it, for the same checks."""
    if isinstance(value, bool) != option.is_flag:
        expected = "true or false" if option.is_flag else "a value"
        raise OptionError(f"{where} takes {expected}, not {type_of(value)}")
    if isinstance(value, bool):
        return value
    several = isinstance(value, list)
    if isinstance(value, Mapping):
        texts = [f"{name}={_text(one, where)}" for name, one in value.items()]
    else:
        texts = [_text(one, where) for one in (value if isinstance(value, list) else [value])]
    if option.multiple:
        return texts
    if isinstance(value, Mapping):
        raise OptionError(f"{where} takes a value, not {type_of(value)}")
    return comma_joined(texts) if several else texts[0]


def between_commas(text: str) -> tuple[str, ...]:
    """Return the values that stand in one text between commas, in double quotes if they have any.

    None of a text of white space.
    """
    (values,) = csv.reader([" ".join(text.splitlines())], skipinitialspace=True)
    return tuple(value.strip() for value in values) if text.strip() else ()


def comma_joined(values: Sequence[str]) -> str:
    """Return the text of which ``between_commas`` makes values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _text(value: object, where: str) -> str:
    if isinstance(value, (bool, list, Mapping)):
        raise OptionError(f"{where} takes a text or a number, not {type_of(value)}")
    return value.isoformat() if isinstance(value, date) else str(value)
