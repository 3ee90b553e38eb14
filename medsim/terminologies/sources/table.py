"""Reads tables of names: delimited text, workbooks, JSON lines, Parquet, and databases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, listed, unknown_name
from medsim.core.parquet import frame_of_parquet
from medsim.core.reading import (
    BEGINNING,
    DUCKDB,
    JSON,
    PARQUET,
    SQLITE,
    UTF_16,
    WORKBOOK,
    Text,
    decoded,
    file_kind,
    json_columns,
)
from medsim.core.store import QueryError, Store, database_table
from medsim.core.tables import (
    SEPARATORS,
    below_title,
    cells_of_lines,
    decoded_text,
    first_lines,
    is_missing,
)
from medsim.terminologies.mappings import NAMES
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, skipped_rows
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    SourceFile,
    copy_of_database,
    file_alone,
    has_single,
    is_alone,
    single_file,
)

_Rows = Sequence[Sequence[object]]
_Given = Mapping[str, str]  # names of columns that the user gave, by role
_Values = Mapping[str, Sequence[object]]  # of columns, by name

_NOT_OF_RELEASES = r"(?!(x|mono)?(sct2|der2)_|concept(_\w+)?\.csv)"
_NAME = rf"{_NOT_OF_RELEASES}.*\.(csv|tsv|tab|xls[xm]|parquet|jsonl|ndjson|duckdb|db|sqlite3?)"
_NAME_ALONE = rf"{_NAME}|{_NOT_OF_RELEASES}.*\.txt"
_KINDS = {DUCKDB, JSON, PARQUET, SQLITE, UTF_16, WORKBOOK}
_SAMPLED_ROWS, _SAMPLED_CHARACTERS = 5_000, 1 << 20  # to find the separator and the columns
_MAX_TITLES = 50  # rows below comments in which the header is
_UNIT_SEPARATOR = "\x1f"  # between the values of a list, as macros/cell_values expects

_ROLES: Mapping[str, str] = NAMES["table_columns"]
_SETTINGS = ("separator", "table", "missing")
_WHOLE = re.compile(r"\.0$")
_ROW_NUMBER = re.compile("[0-9]{1,18}")
_COUNT = re.compile(r"[0-9]{1,15}(\.0+)?|[0-9]{1,3}([, '\u2019][0-9]{3}){1,4}")  # see table_count
_MAX_COLUMNS = 10_000
_TABLES = "name concept description reference association is_a unlike"
_LOST = ("row has no concept", "description is empty")  # which lists of codes must not lose
_KEPT_ROW: dict[str, Any] = {"place": pl.Int64, "kept": pl.List(pl.String)}


def read_table_of_names(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a table of names; see ``sources.LoadTables``.

    With ``options.keeps_columns``, also fill the table ``local_row``, which ``ReadingOptions``
    describes. Without it, a column of frequencies is not used.
    """
    given = _given(options)
    separator, table, missing = (given.pop(setting, None) for setting in _SETTINGS)
    if not (keeps := options.keeps_columns):
        given.setdefault("frequency", "")
    file = single_file(path, _NAME)
    store.put("no_row", pl.DataFrame(schema=dict.fromkeys(_ROLES, pl.String)))
    separator = SEPARATORS.get(separator or "", separator or "")
    setting = {"separator": separator, "missing": missing, "lang": options.languages[0]}
    store.put("setting", pl.DataFrame(setting, dict.fromkeys(setting, pl.String)))
    records: list[SourceFile] = []
    with file.open_recorded(records, _KINDS) as stream:
        data = stream.read()
    warnings: tuple[str, ...] = ()
    if (values := _values(data, file, table or "", records)) is not None:
        layout = _load_values(values, file.path, given, store, keeps=keeps)
    else:
        place, sheet = Path(file.path), table or ""
        text = decoded_text(
            place, data, fits=lambda row: _is_whole(_found(row, given)), sheet=sheet
        )
        layout, warnings = _load_text(text, given, store, keeps=keeps)
    store.run_each("terminologies/table", "marker", "given", "word", "separator")
    layout |= dict(store.frame("terminologies/table/layout").iter_rows())
    for row, role, value, known in store.frame("terminologies/table/unknown_value").iter_rows():
        raise InputError(
            f"{file.path}: row {row:,}: {layout[role]} {value!r} is not known as a value of "
            f"{role}; write {known}, or add {role}= to `columns` to leave the column out"
        )
    store.run_each("terminologies/table", *_TABLES.split())
    if not store.n_rows("description"):
        raise InputError(
            f"{file.path}: no row has a concept in {layout['concept']!r} and a name; give other "
            "columns as `columns` concept=NAME,term=NAME"
        )
    skipped = skipped_rows(store, "table")
    if keeps:
        store.run("terminologies/table/local_row")
        if "unused" in layout:
            layout["kept"] = layout.pop("unused")
        lost = [each for each in skipped if each.n_rows and each.reason in _LOST]
        says = (f"left out {counted(each.n_rows, 'row')}: {each.reason}" for each in lost)
        warnings = (*warnings, *(f"{file.name}: {each}" for each in says))
    found = store.frame("terminologies/table/warning")["warning"]
    store.drop("no_row", "setting", "raw_row", "marker", "given", "word", "separator", "name")
    store.drop("reference", "unlike")
    return Terminology(
        files=tuple(records),
        terms_of_use="the table names no licence",
        layout=layout,
        skipped=skipped,
        warnings=(*warnings, *(f"{file.name}: {warning}" for warning in found)),
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
    names = list(filter(None, given.values()))
    return not names or not all(map(str.isdecimal, names))


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


def _of_concepts(header: Sequence[str], found: Mapping[str, int], rows: _Rows) -> int:
    """Return the position of the column of concepts: the usual one, or the next if it counts rows.

    It counts them from any number on. The next must be filled, and a column to which parents refer
    has concepts, even if it counts rows.
    """
    usual, first = _ROLES["concept"].split(), found["concept"]
    plain = [_plain(name) for name in header]
    others = [plain.index(name) for name in usual if name in plain and name != plain[first]]
    numbers = [_WHOLE.sub("", str(row[first])) for row in rows]
    start = int(numbers[0]) if rows and _ROW_NUMBER.fullmatch(numbers[0]) else 0
    if not others or numbers != list(map(str, range(start, start + len(rows)))):
        return first
    values = ["" if row[others[0]] is None else str(row[others[0]]).strip() for row in rows]
    referring = [found[role] for role in ("parent", "replaced_by") if role in found]
    cells = [str(row[at] or "") for row in rows for at in referring]
    targets = {part for cell in cells for part in re.split(r"[\s|;,\[\]'\"]+|\.0\b", cell) if part}
    refers = len(targets.intersection(numbers)) > len(targets.intersection(values))
    return others[0] if all(values) and not refers else first


def _are_counts(rows: _Rows, at: int | None) -> bool:
    """Return whether a column has no other values than whole numbers; True for no column."""
    cells = [(cell_text(row[at]) or "").strip() for row in rows if at is not None]
    return all(is_missing(cell) or _COUNT.fullmatch(cell) for cell in cells)


def _is_whole(roles: Collection[str]) -> bool:
    return "concept" in roles and ("term" in roles or "synonyms" in roles)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _places(
    place: str, header: Sequence[str], given: Mapping[str, str], rows: _Rows
) -> dict[str, int]:
    """Return the position of the column of each role.

    Args:
        place: path of the file, for messages.
        header: names of the columns.
        given: names of columns that the user gave, by role.
        rows: the first rows.

    Raises:
        InputError: a given column is missing, there is none for concepts or terms, several have the
            same name, or there are too many.
        OptionError: a column is given twice.
    """
    if len(header) > _MAX_COLUMNS:
        raise InputError(f"{place} has more than {_MAX_COLUMNS:,} columns; remove some")
    places = _found(header, given)
    if "concept" in places and "concept" not in given:
        places["concept"] = _of_concepts(header, places, rows)
    if "frequency" not in given and not _are_counts(rows, places.get("frequency")):
        del places["frequency"]
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
    if not _is_whole(places):
        missing = [f"a {role}" for role in ("concept", "term") if role not in places]
        raise InputError(
            f"{place} has no column with the usual name of {listed(missing)}; {has}; give them "
            "as `columns` concept=NAME,term=NAME"
        )
    return places


def _layout(header: Sequence[str], places: Mapping[str, int], **others: str) -> dict[str, str]:
    """Return which column has which role, and which have none."""
    layout = {role: header[at] for role, at in places.items()}
    if unused := [name for at, name in enumerate(header) if name and at not in places.values()]:
        layout["unused"] = listed(unused, most=12)
    return layout | others


def _put_kept(header: Sequence[str], places: Mapping[str, int], store: Store) -> list[int]:
    """Return the positions of the columns without a role, whose names ``kept_column`` gets.

    The table ``kept_row`` is empty until their cells are put there.
    """
    names: list[str] = []
    kept = [at for at in range(len(header)) if at not in places.values()]
    for at in kept:
        name = header[at] or f"column{at + 1}"
        names.append(name if name not in names else f"{name} ({at + 1})")
    store.put("kept_column", pl.DataFrame({"name": names}, {"name": pl.String}))
    store.put("kept_row", pl.DataFrame(schema=_KEPT_ROW))
    return kept


def _load_text(
    text: Text, given: _Given, store: Store, *, keeps: bool
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Fill the table ``raw_row`` from delimited text, and return its layout and warnings.

    With ``keeps``, fill ``kept_column`` and ``kept_row`` too.

    Raises:
        InputError: a line is not a row.
    """
    separator, rows, n_above = _first_rows(text, given)
    number, header = rows[0]
    header = header if _has_header(given) else [str(at + 1) for at in range(len(header))]
    alike = [cells for _, cells in rows[1:] if len(cells) == len(header)]
    places = _places(str(text.path), header, given, alike)
    role_at = {at: role for role, at in places.items()}
    below = below_title(text, number)
    queries = ["raw_row", "kept_row"] if keeps and _put_kept(header, places, store) else ["raw_row"]
    for quote in ['"', ""] if separator == "\t" else ['"']:  # with tabs, many programs use none
        try:
            for query in queries:
                store.run_on_stream(
                    f"terminologies/table/{query}",
                    [below.content.lstrip("\r\n").encode()],
                    columns=" ".join(role_at.get(at, f"other_{at}") for at in range(len(header))),
                    separator=separator,
                    header=_has_header(given),
                    quote=quote,
                )
        except QueryError as error:
            fault = error
        else:
            text_form = {"cell_separator": separator, "encoding": text.encoding}
            form = {"sheet": text.sheet} if text.sheet else text_form
            layout = _layout(header, places, **form)
            lines = f"{text.path.name}: {counted(n_above, 'line')} above the rows left out"
            return layout, (*text.warnings, *[lines][:n_above])
    for number, cells in cells_of_lines(below, separator):
        if len(cells) != len(header):
            has = f"line {number:,} has {counted(len(cells), 'cell')}, the first {len(header)}"
            at = min(len(cells), len(header))
            odd = f"no {header[at]!r}" if at < len(header) else f"an extra {cells[at]!r}"
            raise InputError(f"{text.path}: {has}: {odd}") from fault
    raise InputError(f"{text.path}: a line cannot be cut into cells") from fault


def _first_rows(
    text: Text, given: Mapping[str, str]
) -> tuple[str, list[tuple[int, list[str]]], int]:
    """Return the separator of cells, the first rows with their lines, and how many are above them.

    The first row has columns of concepts and names. Above it may be titles and comments; the header
    itself may be a comment.
    """
    sample = replace(text, content=text.content[:_SAMPLED_CHARACTERS])
    ranked = []
    for separator in first_lines(sample):
        rows: list[tuple[int, list[str]]] = []
        with suppress(InputError):  # what comes before the error is enough
            rows.extend(islice(cells_of_lines(sample, separator), _SAMPLED_ROWS))
        comments = range(len(list(takewhile(lambda row: row[1][0].startswith("#"), rows))))
        first = rows[: len(comments) + _MAX_TITLES]
        heads = [at for at, (_, cells) in enumerate(first) if _is_whole(_found(cells, given))]
        if not _has_header(given):
            heads = [at for at in heads if at not in comments] or heads
        at = next(iter(heads), max(comments, key=lambda at: len(rows[at][1]), default=0))
        number, header = rows[at]
        header = [re.sub(r"^#+\s*", "", header[0]), *header[1:]]
        n_alike = sum(len(cells) == len(header) > 1 for _, cells in rows[at:])
        rank = (len(_found(header, given)), n_alike, len(header))
        ranked.append((rank, separator, [(number, header), *rows[at + 1 :]], at))
    _, separator, rows, n_above = max(ranked, key=itemgetter(0))
    return separator, rows, n_above


def _load_values(
    values: _Values, place: str, given: _Given, store: Store, *, keeps: bool
) -> dict[str, str]:
    """Fill the table ``raw_row`` from columns of values, and return its layout.

    With ``keeps``, fill ``kept_column`` and ``kept_row`` too.
    """
    header = list(values)
    first_rows = list(zip(*(values[name][:_SAMPLED_ROWS] for name in header), strict=True))
    places = _places(place, header, given, first_rows)
    names = {role: header[at] for role, at in places.items()}
    for name in names.values():
        for row, value in enumerate(values[name], start=1):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    raise InputError(f"{place}: row {row:,}: {name} is an object; expected text")
                if isinstance(each, bytes):
                    decoded(each, f"{place}: row {row:,}: {name}")
    texts = {role: list(map(cell_text, values[name])) for role, name in names.items()}
    frame = pl.DataFrame(texts, dict.fromkeys(texts, pl.String)).with_columns(
        pl.col("concept").str.strip_chars(),
        **{role: pl.lit(None, pl.String) for role in _ROLES.keys() - texts.keys()},
    )
    store.put("raw_row", frame.with_row_index("place", 1))
    if keeps:
        columns = [map(cell_text, values[header[at]]) for at in _put_kept(header, places, store)]
        rows = enumerate(zip(*columns, strict=True), start=1)
        store.put("kept_row", pl.DataFrame(list(rows), _KEPT_ROW, orient="row"))
    return _layout(header, places)


def table_values(path: Path, table: str = "") -> dict[str, list[Any]] | None:
    """Return the columns of a Parquet file, a table of a database, or JSON lines; None for text."""
    file = file_alone(path)
    with file.open(_KINDS) as stream:
        return _values(stream.read(), file, table, [])


def _values(
    data: bytes, file: ReleaseFile, table: str, records: list[SourceFile]
) -> dict[str, list[Any]] | None:
    """Return the columns of Parquet, a database or JSON lines; None for another kind."""
    kind, place = file_kind(data[:BEGINNING]), file.path
    if kind is PARQUET:
        return frame_of_parquet(place, data).to_dict(as_series=False)
    if kind in {DUCKDB, SQLITE}:
        with copy_of_database(file, data, kind, records) as path:
            return database_table(path, place, table, kind="sqlite" if kind is SQLITE else "duckdb")
    return json_columns(place, data) if kind is JSON else None


def cell_text(value: object) -> str | None:
    """Return a value as text; None if there is none."""
    if isinstance(value, list):
        return _UNIT_SEPARATOR.join(filter(None, map(cell_text, value))) or None
    if isinstance(value, bytes):  # Parquet files and SQLite may mark text as binary
        return value.decode() or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():  # pandas, where some are missing
        return f"{value:.0f}"
    return None if value is None or value != value else str(value) or None  # noqa: PLR0124 — NaN


Source(
    name="table",
    about="a table of names",
    files="a .csv, .tsv, .txt, .xlsx, .jsonl, .parquet, .duckdb or .sqlite with columns of "
    "concepts and terms",
    example="signs.csv",
    address="https://bioportal.bioontology.org",
    recognises=recognises,
    load=read_table_of_names,
    accepts=frozenset({"columns"}),
    turn=1,
).register()
