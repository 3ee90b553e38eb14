"""Cuts the lines of a rated file into cells: between separators, or of JSON objects."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.tables import (
    SEPARATORS,
    Text,
    cells_of_lines,
    first_lines,
    is_parquet,
    lines_of,
    read_table,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

JSON = "json"
"""Stands for the separator of a file whose lines are JSON objects."""

TAB = SEPARATORS["tab"]

_SPREAD_JSON = re.compile(r"\s*(\[\s*(\{.*)?|\{\s*)", re.DOTALL)
"""The first line of JSON whose objects stand on several lines, or in a list."""

_plain_json = partial(json.loads, parse_float=str, parse_int=str, parse_constant=str)


def rated_text(path: Path) -> Text:
    """Return the text of a rated file; of Parquet a JSON object for each row."""
    if not is_parquet(path):
        return read_text(path)
    table = read_table(path, known=None)
    return Text(path=path, content=table.frame.write_ndjson(), sha256=table.sha256)


def first_cells(text: Text, separators: Iterable[str]) -> dict[str, list[str]]:
    """Return the cells of the first line by separator; of JSON lines the names of its values."""
    first = next((line for line in lines_of(text) if line.strip()), "")
    if _SPREAD_JSON.fullmatch(first):
        raise InputError(
            f"{text.path} is JSON over several lines or a list; write each object on a line of its "
            "own, without brackets around all and commas between them"
        )
    names = _object_in(first)
    return first_lines(text, separators) if names is None else {JSON: list(names)}


def unquoted_cells(text: Text) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line, between tabs, where quotes are of the text."""
    for number, line in enumerate(lines_of(text), start=1):
        if line.strip():
            yield number, [cell.strip() for cell in line.split(TAB)]


def cells_of(
    text: Text, separator: str, used: Iterable[int], *, sentences: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank, the first one included.

    Args:
        text: of the file.
        separator: of its cells, or ``JSON``.
        used: the positions of the cells that are read.
        sentences: whether cells between tabs may have quotes that enclose nothing.
    """
    if separator == JSON:
        return _json_cells(text, set(used))
    if sentences and separator == TAB and not _is_quoted(text):
        return unquoted_cells(text)
    return cells_of_lines(text, separator)


def _is_quoted(text: Text) -> bool:
    """Return whether quotes enclose cells: then every line is a row of its own, as without them."""
    try:
        n_rows = sum(1 for _ in cells_of_lines(text, TAB))
    except InputError:
        return False
    return n_rows == sum(1 for _ in unquoted_cells(text))


def _json_cells(text: Text, used: set[int]) -> Iterator[tuple[int, list[str]]]:
    names: list[str] = []
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip():
            continue
        found = _object_in(line)
        if found is None:
            raise InputError(f"{text.path}: line {number} is no JSON object, as the first line is")
        if not names:
            names = list(found)
            yield number, names
        for at in used:
            if isinstance(found.get(names[at]), (bool, list, dict)):
                raise InputError(
                    f"{text.path}: line {number}: {names[at]!r} is neither a text nor a number"
                )
        values = (found.get(name) for name in names)
        yield number, ["" if value is None else str(value).strip() for value in values]


def _object_in(line: str) -> dict[str, object] | None:
    """Return the JSON object that a line holds, its numbers as text; None where it holds none."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = _plain_json(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
