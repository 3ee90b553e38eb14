"""Reads tables of names: delimited text, JSON lines, Parquet, and databases."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, listed, unknown_name
from medsim.core.files import HashedReader
from medsim.core.manifest import Skipped
from medsim.core.parquet import frame_of_parquet
from medsim.core.reading import (
    BEGINNING,
    DUCKDB,
    JSON,
    PARQUET,
    SQLITE,
    UTF_16,
    decoded,
    json_lines,
    kind_of,
)
from medsim.core.store import QueryError, database_table
from medsim.core.tables import SEPARATORS, Text, cells_of_lines, first_lines, text_of
from medsim.terminologies.sources import Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import has_single, is_alone, single_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_NOT_OF_RELEASES = r"(?!(x|mono)?(sct2|der2)_|concept(_\w+)?\.csv)"
_NAME = rf"{_NOT_OF_RELEASES}.*\.(csv|tsv|tab|parquet|jsonl|ndjson|duckdb|db|sqlite3?)"
_NAME_ALONE = rf"{_NAME}|{_NOT_OF_RELEASES}.*\.txt"
_KINDS = {DUCKDB, JSON, PARQUET, SQLITE, UTF_16}
_SAMPLED_ROWS, _SAMPLED_CHARACTERS = 50, 1 << 20  # to find the separator
_UNIT_SEPARATOR = "\x1f"  # between the values of a list, as macros/cell_separator expects

_ROLES = {
    "concept": "conceptid classid subjectid concept cui conceptcode id identifier code iri uri",
    "term": "translationvalue preferredlabel preferredterm preferredname preflabel prefname term "
    "termname conceptname name label str string title description longdescription",
    "synonyms": "synonyms synonym altlabels altlabel alternativenames alternatenames aliases",
    "kind": "kind termtype termkind nametype namekind descriptiontype tty type predicateid",
    "language": "translationlanguage language lang languagecode lat",
    "active": "active isactive",
    "status": "status",
    "obsolete": "obsolete isobsolete deprecated isdeprecated inactive retired",
    "replaced_by": "replacedby replacement mapto newcode newid termreplacedby",
    "parent": "parents parent parentid parentids parentcode parentcodes isa subclassof broader",
    "category": "category semantictag semantictype semantictypes domain chapter",
}
"""The usual names of each column, the best first, in lower case without spaces and signs.

A status is not used if none of its values is known.
"""

_SETTINGS = ("separator", "table")
_MOST_COLUMNS = 10_000


def read_table(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a table of names; see ``sources.Load``."""
    given = _given(options)
    separator, table = (given.pop(setting, "") for setting in _SETTINGS)
    file = single_file(path, _NAME)
    store.put("no_row", pl.DataFrame(schema=dict.fromkeys(_ROLES, pl.String)))
    setting = {"separator": SEPARATORS.get(separator, separator), "lang": options.languages[0]}
    store.put("setting", pl.DataFrame(setting))
    with file.open(reads=_KINDS) as stream:
        hashed = HashedReader(stream)
        names, warnings = _load(hashed.read(), file.place, given, table, store)
        read = SourceFile.read_by(hashed, file.inner)
    store.run("terminologies/table/word")
    for row, role, value in store.frame("terminologies/table/unknown_value").iter_rows():
        raise InputError(
            f"{file.place}: row {row:,}: {names[role]} {value!r} is not known as a value of "
            f"{role}; add {role}= to `columns` to leave the column out"
        )
    for query in ("name", "concept", "description", "association", "is_a"):
        store.run(f"terminologies/table/{query}")
    if not store.n_rows("description"):
        raise InputError(f"{file.place}: no row has a concept and a name")
    skipped = store.frame("terminologies/table/skipped").to_dicts()
    store.drop("no_row", "setting", "given", "word", "name")
    return Terminology(
        files=(read,),
        terms_of_use="the table names no licence",
        skipped=tuple(Skipped(**row) for row in skipped),
        warnings=warnings,
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be a table, or a folder or archive with one, judging by names."""
    return has_single(path, _NAME_ALONE if is_alone(path) else _NAME)


def _given(options: ReadingOptions) -> dict[str, str]:
    """Return the values of the option ``columns`` by name; OptionError if it is malformed."""
    given: dict[str, str] = {}
    for item in options.columns:
        role, equals, name = (part.strip() for part in item.partition("="))
        if not equals or role not in {*_ROLES, *_SETTINGS}:
            known = unknown_name("column", role, [*_ROLES, *_SETTINGS])
            raise OptionError(f"`columns` takes values such as concept=ID; {known}")
        given[role] = name
    return given


def _has_header(given: Mapping[str, str]) -> bool:
    """Return whether a text has a header: the user gave not only numbers of columns."""
    return not given or not all(name.isdecimal() for name in given.values())


def _found(header: Sequence[str], given: Mapping[str, str]) -> dict[str, int]:
    """Return the position of the column of each role, by its given or its usual names."""
    names = {role: [_plain(name)] if name else [] for role, name in given.items()}
    if _has_header(given):
        names |= {role: usual.split() for role, usual in _ROLES.items() if role not in given}
    plain = [_plain(name) for name in header]
    found: dict[str, int] = {}
    for role, candidates in names.items():
        places = [plain.index(name) for name in candidates if name in plain]
        if role in given and not places:
            places = [int(n) - 1 for n in candidates if n.isdecimal() and 0 < int(n) <= len(plain)]
        if places and (role in given or places[0] not in found.values()):
            found[role] = places[0]
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _places(place: str, header: Sequence[str], given: Mapping[str, str]) -> dict[str, int]:
    """Return the position of the column of each role.

    Raises:
        InputError: a given column is missing, there is none for concepts or terms, several have the
            same name, or there are too many.
        OptionError: a column is given twice.
    """
    if len(header) > _MOST_COLUMNS:
        raise InputError(f"{place} has more than {_MOST_COLUMNS:,} columns; remove some")
    places = _found(header, given)
    has = f"its columns are {listed(list(map(repr, header)), most=12)}"
    n_named, n_used = Counter(map(_plain, header)), Counter(places.values())
    for role, at in places.items():
        if n_used[at] > 1:
            raise OptionError(f"`columns` gives {given[role]!r} twice; give each column once")
        if n_named[_plain(header[at])] > 1 and not given.get(role, "").isdecimal():
            raise InputError(f"{place} has several columns named {header[at]!r}; rename them")
    for role, name in given.items():
        if name and role not in places:
            raise InputError(f"{place} has no column {name!r}; {has}")
    missing = [f"a {role}" for role in ("concept", "term") if role not in places]
    if missing and not {"concept", "synonyms"} <= places.keys():
        raise InputError(
            f"{place} has no column with the usual name of {listed(missing)}; {has}; give them "
            "as `columns` concept=NAME,term=NAME"
        )
    return places


def _load(
    data: bytes, place: str, given: Mapping[str, str], table: str, store: Store
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Fill the table ``given``, and return the column of each role, and warnings."""
    if (values := _values(data, place, table)) is not None:
        return _load_values(values, place, given, store), ()
    text = text_of(Path(place), data)
    return _load_text(text, given, store), text.warnings


def _load_text(text: Text, given: Mapping[str, str], store: Store) -> dict[str, str]:
    """Fill the table ``given`` from delimited text, and return the column of each role.

    Raises:
        InputError: a line is not a row.
    """
    sample = replace(text, content=text.content[:_SAMPLED_CHARACTERS])
    separator, header = max(
        first_lines(sample).items(),
        key=lambda item: (len(_found(item[1], given)), _n_alike(sample, *item), len(item[1])),
    )
    places = _places(str(text.path), header, given)
    role_at = {at: role for role, at in places.items()}
    for quote in ['"', ""] if separator == "\t" else ['"']:  # with tabs, many programs use none
        try:
            store.run_on_stream(
                "terminologies/table/given",
                [text.content.lstrip("\r\n").encode()],
                columns=" ".join(role_at.get(at, f"other_{at}") for at in range(len(header))),
                separator=separator,
                header=_has_header(given),
                quote=quote,
            )
        except QueryError as error:
            fault = error
        else:
            return {role: header[at] for role, at in places.items()}
    for number, cells in cells_of_lines(text, separator):
        if len(cells) != len(header):
            has = f"line {number:,} has {counted(len(cells), 'cell')}, the first {len(header)}"
            at = min(len(cells), len(header))
            odd = f"no {header[at]!r}" if at < len(header) else f"an extra {cells[at]!r}"
            raise InputError(f"{text.path}: {has}: {odd}") from fault
    raise InputError(f"{text.path}: a line cannot be cut into cells") from fault


def _n_alike(text: Text, separator: str, first: list[str]) -> int:
    """Return how many of the first rows have as many cells as the first one; 0 if it has one."""
    n_alike = 0
    with suppress(InputError):  # as with another separator
        for _, cells in islice(cells_of_lines(text, separator), _SAMPLED_ROWS):
            n_alike += len(first) == len(cells) > 1
    return n_alike


def _load_values(
    values: Mapping[str, Sequence[object]], place: str, given: Mapping[str, str], store: Store
) -> dict[str, str]:
    """Fill the table ``given`` from columns of values, and return the column of each role."""
    header = list(values)
    names = {role: header[at] for role, at in _places(place, header, given).items()}
    for name in names.values():
        for row, value in enumerate(values[name], start=1):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    raise InputError(f"{place}: row {row:,}: {name} is an object; expected text")
                if isinstance(each, bytes):
                    decoded(each, f"{place}: row {row:,}: {name}")
    texts = {role: list(map(_text, values[name])) for role, name in names.items()}
    frame = pl.DataFrame(texts, dict.fromkeys(texts, pl.String)).with_columns(
        pl.col("concept").str.strip_chars(),
        **{role: pl.lit(None, pl.String) for role in _ROLES.keys() - texts.keys()},
    )
    store.put("given", frame.with_row_index("place", 1))
    return names


def _values(data: bytes, place: str, table: str) -> dict[str, list[Any]] | None:
    """Return the columns of Parquet, a database or JSON lines; None for another kind."""
    kind = kind_of(data[:BEGINNING])
    if kind is PARQUET:
        return frame_of_parquet(place, data).to_dict(as_series=False)
    if kind in {DUCKDB, SQLITE}:
        with TemporaryDirectory(prefix="medsim-") as folder:  # as opening may write beside it
            path = Path(folder, "table.db")
            path.write_bytes(data)
            return database_table(path, place, table, kind="sqlite" if kind is SQLITE else "duckdb")
    if kind is not JSON:
        return None
    rows = json_lines(place, data)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f'{place}: row {number:,} is not an object, as in {{"id": 1}}')
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _text(value: object) -> str | None:
    """Return a value as text; None if there is none."""
    if isinstance(value, list):
        return _UNIT_SEPARATOR.join(filter(None, map(_text, value))) or None
    if isinstance(value, bytes):  # Parquet files and SQLite may mark text as binary
        return value.decode() or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():  # pandas, where some are missing
        return f"{value:.0f}"
    return None if value is None or str(value) in {"", "nan"} else str(value)


Source(
    name="table",
    about="a table of names",
    files="a .csv, .tsv, .txt, .jsonl, .parquet, .duckdb or .sqlite with columns of concepts and "
    "terms",
    example="signs.csv",
    address="https://bioportal.bioontology.org",
    recognises=recognises,
    load=read_table,
    accepts=frozenset({"columns"}),
    turn=1,
).register()
