"""Names systems without vectors, and reads tables of their predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import InputError, OptionError, listed, unknown_name
from medsim.core.manifest import fingerprint
from medsim.core.options import main_option
from medsim.core.reading import expanded, reading
from medsim.core.tables import (
    SEPARATORS,
    TextTable,
    below_title,
    is_json_lines,
    is_missing,
    is_parquet,
    lines_of,
    read_table,
    read_text,
    table_of,
    table_of_frame,
)
from medsim.embeddings.options import check_name, parse_named

ROLES: Mapping[str, Sequence[str]] = {
    role: names.split() for role, names in toml_of(__package__, "columns.toml")["roles"].items()
}
"""The usual names of columns, by what they contain."""

_TEXTS = {"term1", "term2", "text"}  # "none" and "NA" may be names
_MAX_TITLES = 1000  # lines above the header; mappings in SSSOM have many
_EXAMPLE = "ranker=predictions.csv"
_N_OF_PAIR = 2

SystemLike: TypeAlias = str | Path | Any
"""A system: a file of predictions, optionally with the names of columns, as on the command line; a
frame of Polars or pandas; an object with a method ``predict``; or a function."""

Form: TypeAlias = Literal["file", "frame", "predict", "pair", "function"]
"""The form of a system: a file or a frame of predictions, an object with ``predict``, a function of
two texts, or one of one argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A system without vectors.

    Attributes:
        name: its name in results.
        source: path of a file, a frame, an object or a function.
        columns: names of the columns of a table that the user gave, by role.
        form: see ``Form``.
    """

    name: str
    source: Any
    columns: Mapping[str, str]
    form: Form

    @property
    def has_table(self) -> bool:
        """Whether its predictions are in a table."""
        return self.form in {"file", "frame"}

    @property
    def location(self) -> str:
        """The system in a few words, for manifests and messages."""
        if self.form == "file":
            return str(self.source)
        kind = type(self.source)
        named = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        if self.form in {"pair", "function"}:
            named = str(getattr(self.source, "__qualname__", named))
            return f"Python function {named.rpartition('<locals>.')[2]}"
        return f"Python object {named}"

    def table(self, needed: Sequence[str], optional: Sequence[str]) -> TextTable:
        """Return the columns of its predictions by role; see ``read_by_role``."""
        return read_by_role(self.source, self.name, needed, optional, self.columns)

    def provenance(self, table: TextTable) -> dict[str, object]:
        """Return the place, format and fingerprint of its predictions, for manifests."""
        digest = table.sha256 or fingerprint(table.frame)
        form = "predictions" if self.has_table else "python"
        return {"path": self.location, "format": form, "fingerprint": digest}


def system_of(given: SystemLike, name: str) -> System:
    """Return the system that a caller gives.

    Raises:
        OptionError: it has an unsupported type, or names an unknown column.
    """
    check_name(name, f"system {name!r}")
    if isinstance(given, (str, Path)):
        named = parse_named(f"{name}={given}", "`predictions`", _EXAMPLE)
        for role in named.options:
            if role not in ROLES:
                raise OptionError(unknown_name("column of predictions", role, [*ROLES]))
        return System(name=name, source=expanded(named.path), columns=named.options, form="file")
    return System(name=name, source=given, columns={}, form=_form_of(given))


def _form_of(given: Any) -> Form:
    if hasattr(given, "columns") and hasattr(given, "shape"):
        return "frame"
    if callable(getattr(given, "predict", None)):
        return "predict"
    if callable(given) and not isinstance(given, type):
        return "pair" if _n_needed(given) == _N_OF_PAIR else "function"
    shown = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
    raise OptionError(
        f"{shown} is not a system; accepted: paths and frames of predictions, objects with a "
        "method predict, and functions"
    )


def _n_needed(function: Callable[..., object]) -> int:
    """Return the number of positional arguments without a default; 1 if it is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of functions in C
        return 1
    positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return sum(each.kind in positional and each.default is each.empty for each in parameters)


def systems_of(given: Mapping[str, SystemLike] | None) -> list[System]:
    """Return the systems that a caller gives, by name."""
    return [system_of(source, name) for name, source in (given or {}).items()]


def _checked(given: Mapping[str, SystemLike], where: str) -> Mapping[str, SystemLike]:
    for name, source in given.items():
        try:
            system_of(source, name)
        except OptionError as error:
            raise OptionError(f"{where} {name!r}: {error}") from error
    return given


PREDICTIONS = main_option(
    "Predictions of a system without vectors, as a table; repeatable. Other names of columns "
    "follow the path: ranker=out.csv,concept=TARGET. In Python also a frame, an object with a "
    "method predict, or a function.",
    ("--predictions",),
    metavar="NAME=PATH",
    read=_checked,
)
"""The option by which commands name systems without vectors."""


def read_by_role(
    source: Any,
    label: str,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
) -> TextTable:
    """Return columns of a table as text, named by their roles; missing cells are empty.

    A file is delimited text, a workbook, JSON lines or Parquet. Lines above the header, such as
    the comments of SSSOM, are skipped.

    Args:
        source: path of a file, or a frame of Polars or pandas.
        label: what the table is, for messages about a frame.
        needed: roles that the table must have, names of ``ROLES``.
        optional: roles that are read if the table has them.
        given: names of columns by role, instead of the usual ones.

    Raises:
        InputError: the file cannot be read, or lacks a column that is needed or given.
    """
    given, wanted = given or {}, [*needed, *optional]
    if isinstance(source, Path):
        table = _read_file(source, needed, given)
    else:
        with reading(label, "a table"):
            frame = source if isinstance(source, pl.DataFrame) else pl.from_pandas(source)
        table = table_of_frame(Path(label), frame)
    places = _places(table.frame.columns, wanted, given)
    for role in [*given, *needed]:
        if role in wanted and role not in places:
            lacking, has = given.get(role, role), listed(table.frame.columns, 8)
            hint = "" if role in given else f"; name it after the path: {table.path},{role}=COLUMN"
            raise InputError(f"{table.path} has no column {lacking}, but {has}{hint}")
    cells = table.frame.select(pl.col(name).alias(role) for role, name in places.items())
    values = [name for name in places if name not in _TEXTS]
    missing = pl.col(values).map_elements(is_missing, pl.Boolean)
    kept = pl.when(~missing).then(pl.col(values)).otherwise(pl.lit(""))
    return replace(table, frame=cells.with_columns(kept))


def _read_file(path: Path, needed: Sequence[str], given: Mapping[str, str]) -> TextTable:
    if is_parquet(path) or is_json_lines(path):
        return read_table(path, extra=None)

    def fits(row: Collection[str]) -> bool:
        return bool(needed) and {*needed} <= _places([*row], needed, given).keys()

    def is_header(line: str) -> bool:
        rows = (line.split(separator) for separator in SEPARATORS.values())
        return any(fits([cell.strip(' "\r\n') for cell in row]) for row in rows)

    with reading(path, "a table"):
        text = read_text(path, fits=fits)
        lines = [*enumerate(islice(lines_of(text), _MAX_TITLES), start=1)]
        headers = (at for at, line in lines if is_header(line))
        # Without a header, comments are left out, so that a message has the names of the columns.
        others = (at for at, line in lines if not line.startswith("#"))
        text = below_title(text, next(headers, next(others, 1)))
        return table_of(text, extra=None)


def _places(
    header: Sequence[str], wanted: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of the columns of roles, each of one role at most."""
    known, places = {name.strip().lower(): name for name in header}, dict[str, str]()
    for role in sorted(wanted, key=lambda role: role not in given):
        names = [given[role].strip().lower()] if role in given else ROLES[role]
        free = [known[name] for name in names if known.get(name, "") not in {"", *places.values()}]
        if free:
            places[role] = free[0]
    return places


def numbers_of(table: TextTable, role: str) -> pl.Series:
    """Return a column of numbers, with a decimal point or comma; null where a cell is empty.

    Raises:
        InputError: a cell is not a finite number.
    """
    cells = table.frame[role]
    with_points = cells.str.replace(r"^([+-]?\d+),(\d+)$", "$1.$2")
    numbers = with_points.cast(pl.Float64, strict=False)
    wrong = (cells != "") & ~numbers.cast(pl.Float32).is_finite().fill_null(value=False)
    table.refuse(wrong, role, "is not a finite number such as 0.85")
    return numbers
