"""Reads tables of names: delimited text, JSON lines, Parquet, and databases."""

from __future__ import annotations

import codecs
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq

from medsim.core.errors import InputError, OptionError, counted, listed, unknown_name
from medsim.core.files import HashedReader
from medsim.core.manifest import Skipped
from medsim.core.parquet import checked_frame
from medsim.core.reading import (
    DUCKDB,
    JSON,
    LONGEST_LINE,
    PARQUET,
    SQLITE,
    UTF_16,
    kind_of,
    parsed_json,
    too_long,
)
from medsim.core.store import QueryError, database_table
from medsim.core.tables import SEPARATORS, Text, cells_of_lines, first_lines
from medsim.terminologies.sources import Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import has_single, is_alone, single_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions
    from medsim.terminologies.sources.archive import ReleaseFile

_NOT_OF_RELEASES = r"(?!(x|mono)?(sct2|der2)_|concept(_\w+)?\.csv)"
_NAME = rf"{_NOT_OF_RELEASES}.*\.(csv|tsv|tab|parquet|jsonl|ndjson|duckdb|db|sqlite3?)"
_NAME_ALONE = rf"{_NAME}|{_NOT_OF_RELEASES}.*\.txt"
_KINDS = {DUCKDB, JSON, PARQUET, SQLITE, UTF_16}
_MAGIC_BYTES = 300  # that identify a kind of file
_CHUNK_BYTES = 1 << 20  # the header ends within the first
_SAMPLED_ROWS = 50  # to find the separator
_NUL = re.compile("\0")
_CONTROL = re.compile("[\0-\x08\x0e-\x1b]")
_UNIT_SEPARATOR = "\x1f"  # between the values of a list, as macros/cell_separator expects

_ROLES = {
    "concept": "conceptid classid concept cui conceptcode id identifier code iri uri",
    "term": "preferredlabel preferredterm preferredname preflabel prefname term termname "
    "conceptname name label str string title description longdescription",
    "synonyms": "synonyms synonym altlabels altlabel alternativenames alternatenames aliases",
    "kind": "kind termtype termkind nametype namekind descriptiontype tty type",
    "language": "language lang languagecode lat",
    "active": "active isactive status",
    "obsolete": "obsolete isobsolete deprecated isdeprecated inactive retired",
    "replaced_by": "replacedby replacement mapto newcode newid termreplacedby",
    "parent": "parents parent parentid parentids parentcode parentcodes isa subclassof broader",
    "category": "category semantictag semantictype semantictypes domain chapter",
}
"""The usual names of each column, the best first, in lower case without spaces and signs."""

_USUAL = {name for names in _ROLES.values() for name in names.split()}
_SETTINGS = ("separator", "table")


def read_table(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from a table of names; see ``sources.Load``."""
    columns = _Columns.of(options)
    file = single_file(path, _NAME)
    store.put("no_row", pl.DataFrame(schema=dict.fromkeys(_ROLES, pl.String)))
    store.put(
        "setting", pl.DataFrame({"separator": columns.separator, "lang": options.languages[0]})
    )
    read, names, n_header, warnings = _load_values(file, columns, store) or _load_text(
        file, columns, store
    )
    for row, role, value in store.frame("terminologies/table/unknown_value").iter_rows():
        raise InputError(
            f"{file.place}: row {row + n_header:,}: {names[role]} {value!r} is not a "
            f"known {role}; add {role}= to `columns` to leave the column out"
        )
    for table in ("name", "concept", "description", "association", "is_a"):
        store.run(f"terminologies/table/{table}")
    skipped = store.frame("terminologies/table/skipped").to_dicts()
    store.drop("no_row", "setting", "given", "name")
    return Terminology(
        files=(read,),
        terms_of_use="the table names no licence",
        skipped=tuple(Skipped(**row) for row in skipped),
        warnings=warnings,
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` can be a table, or a folder or archive with one, judging by names."""
    return has_single(path, _NAME_ALONE if is_alone(path) else _NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The columns to read, as the user gave them or by their usual names.

    Attributes:
        given: names or numbers of columns that the user gave, by role; empty for none.
        separator: separator of several values in a cell; empty to guess it.
        table: name of the table of a database; empty for the only one.
    """

    given: dict[str, str]
    separator: str
    table: str

    @classmethod
    def of(cls, options: ReadingOptions) -> _Columns:
        """Return the columns that the option states; OptionError if it is malformed."""
        given: dict[str, str] = {}
        for item in options.columns:
            role, equals, name = (part.strip() for part in item.partition("="))
            if not equals or role not in {*_ROLES, *_SETTINGS}:
                known = unknown_name("column", role, [*_ROLES, *_SETTINGS])
                raise OptionError(f"`columns` takes values such as concept=ID; {known}")
            given[role] = name
        separator, table = (given.pop(setting, "") for setting in _SETTINGS)
        return cls(given=given, separator=SEPARATORS.get(separator, separator), table=table)

    @property
    def are_numbers(self) -> bool:
        """Whether the user gave only numbers, as for a text without a header."""
        return bool(self.given) and all(name.isdecimal() for name in self.given.values())

    def is_known(self, name: str) -> bool:
        """Return whether the name of a column is a given or a usual one."""
        return _plain(name) in _USUAL or _plain(name) in map(_plain, self.given.values())

    def places(self, place: str, header: list[str]) -> dict[str, int]:
        """Return the position of the column of each role.

        Raises:
            InputError: a given column is missing, or there is none for concepts or terms.
        """
        plain = [_plain(name) for name in header]
        has = f"its columns are {listed(header, most=40)}"
        places: dict[str, int] = {}
        for role, name in self.given.items():
            if name in header:
                places[role] = header.index(name)
            elif name.isdecimal() and 0 < int(name) <= len(header):
                places[role] = int(name) - 1
            elif name and _plain(name) in plain:
                places[role] = plain.index(_plain(name))
            elif name:
                raise InputError(f"{place} has no column {name!r}; {has}")
        guessed = {} if self.are_numbers else _ROLES
        for role, names in guessed.items():
            usual = next((plain.index(name) for name in names.split() if name in plain), None)
            if role not in self.given and usual is not None and usual not in places.values():
                places[role] = usual
        missing = [f"a {role}" for role in ("concept", "term") if role not in places]
        if missing and ("synonyms" not in places or "concept" not in places):
            raise InputError(
                f"{place} has no column with the usual name of {listed(missing)}; {has}; give them "
                "as `columns` concept=NAME,term=NAME"
            )
        return places


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


_Given = tuple[SourceFile, dict[str, str], int, tuple[str, ...]]
"""A file, the names of its columns by role, the number of its header's rows, and warnings."""


def _load_text(file: ReleaseFile, columns: _Columns, store: Store) -> _Given:
    """Fill the table ``given`` from delimited text.

    Raises:
        InputError: a line is not text, or not a row.
    """
    encoding, beginning, warnings = _encoding_of(file)
    with file.open(reads={UTF_16}):
        text = Text(path=Path(file.place), content=beginning)
        separator, header = max(
            first_lines(text).items(),
            key=lambda item: (
                sum(map(columns.is_known, item[1])),
                _n_alike(text, *item),
                len(item[1]),
            ),
        )
        places = columns.places(file.place, header)
    role_at = {at: role for role, at in places.items()}
    roles = " ".join(role_at.get(at, f"other_{at}") for at in range(len(header)))
    load = partial(
        store.run_on_stream,
        "terminologies/table/given",
        columns=roles,
        separator=separator,
        header=not columns.are_numbers,
    )
    quotes = ['"', ""] if separator == "\t" else ['"']  # with tabs, many programs use none
    for quote in quotes:
        with file.open(reads={UTF_16}) as stream:
            hashed = HashedReader(stream)
            try:
                load(chunks=_utf8(hashed, encoding), quote=quote)
            except QueryError as error:
                if quote == quotes[-1]:
                    raise _fault(file, encoding, separator, len(header)) from error
                continue
            read = SourceFile.read_by(hashed, file.inner)
            break
    names = {role: header[at] for role, at in places.items()}
    return read, names, int(not columns.are_numbers), warnings


def _n_alike(text: Text, separator: str, first: list[str]) -> int:
    """Return how many of the first rows have as many cells as the first one; 0 if it has one."""
    n_alike = 0
    with suppress(InputError):  # as with another separator
        for _, cells in islice(cells_of_lines(text, separator), _SAMPLED_ROWS):
            n_alike += len(first) == len(cells) > 1
    return n_alike


def _encoding_of(file: ReleaseFile) -> tuple[str, str, tuple[str, ...]]:
    """Return the encoding of a text, its beginning, and warnings about the encoding.

    Raises:
        InputError: it is not text, in UTF-8, latin-1, or UTF-16 with a byte order mark.
    """
    warnings: tuple[str, ...] = ()
    with file.open(reads={UTF_16}) as stream:
        head = stream.read(_CHUNK_BYTES)
        kind = kind_of(head)
        if kind is not None and kind.is_binary:
            raise InputError(f"{file.place} {kind}; expected a table")
        encoding = "utf-16" if kind is UTF_16 else "utf-8"
        decoder, n_lines = codecs.getincrementaldecoder(encoding)(), 0
        for chunk in chain([head], iter(partial(stream.read, _CHUNK_BYTES), b""), [b""]):
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line = n_lines + error.object.count(b"\n", 0, error.start) + 1
                at = f"line {line:,} is not {encoding.upper()}"
                if encoding == "utf-16":
                    raise InputError(f"{file.place}: {at}; save it as UTF-8") from error
                encoding, warnings = "latin-1", (f"{file.place}: {at}; it was read as latin-1",)
                decoder = codecs.getincrementaldecoder(encoding)()
                text = decoder.decode(chunk)
            if control := (_CONTROL if warnings else _NUL).search(text):
                line = n_lines + text.count("\n", 0, control.start()) + 1
                raise InputError(f"{file.place}: line {line:,} has the character {control[0]!r}")
            n_lines += text.count("\n")
    return encoding, head.decode(encoding, "replace").removeprefix("\ufeff"), warnings


def _utf8(stream: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a text in UTF-8, without a byte order mark and blank lines before the first row."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")  # it was checked
    is_first = True
    while chunk := stream.read(_CHUNK_BYTES):
        text = decoder.decode(chunk)
        yield (text.lstrip("\ufeff\r\n") if is_first else text).encode()
        is_first = False


def _fault(file: ReleaseFile, encoding: str, separator: str, n_cells: int) -> InputError:
    """Return the error for the first line that is not a row."""
    with file.open(reads={UTF_16}) as stream:
        content = stream.read().decode(encoding, "replace")
    for number, cells in cells_of_lines(Text(path=Path(file.place), content=content), separator):
        if len(cells) != n_cells:
            n_found = counted(len(cells), "cell")
            return InputError(f"{file.place}: line {number:,} has {n_found}, the first {n_cells}")
    return InputError(f"{file.place}: a line cannot be cut into {counted(n_cells, 'cell')}")


def _load_values(file: ReleaseFile, columns: _Columns, store: Store) -> _Given | None:
    """Fill the table ``given`` from JSON lines, Parquet or a database; None for another kind."""
    with file.open(reads=_KINDS) as stream:
        hashed = HashedReader(stream)
        kind = kind_of(hashed.peek(_MAGIC_BYTES))
        if kind not in _READERS:
            return None
        values = _READERS[kind](hashed, file.place, columns)
        read = SourceFile.read_by(hashed, file.inner)
        header = list(values)
        places = columns.places(file.place, header)
        names = {role: header[at] for role, at in places.items()}
        texts = {role: [_text(value) for value in values[name]] for role, name in names.items()}
    frame = pl.DataFrame(texts, dict.fromkeys(texts, pl.String)).with_columns(
        pl.col("concept").str.strip_chars(),
        **{role: pl.lit(None, pl.String) for role in _ROLES.keys() - texts.keys()},
    )
    store.put("given", frame.with_row_index("place", 1))
    return read, names, 0, ()


def _parquet(stream: HashedReader, place: str, _columns: _Columns) -> Mapping[str, Iterable[Any]]:
    data = stream.read()
    file = pq.ParquetFile(BytesIO(data))
    n_rows = file.metadata.num_rows
    if n_rows > len(data):  # a few bytes can claim any number of empty rows
        raise InputError(f"{place} has {n_rows:,} rows in {len(data):,} bytes; it is damaged")
    return checked_frame(file.read()).to_dict()


def _json_lines(stream: HashedReader, place: str, columns: _Columns) -> Mapping[str, Iterable[Any]]:
    rows: list[dict[str, Any]] = []
    known: dict[str, bool] = {}
    for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
        at = f"{place}: line {number:,}"
        if len(line) > LONGEST_LINE:
            raise too_long(at)
        if line.strip():
            row = parsed_json(at, line.removeprefix(codecs.BOM_UTF8))
            if not isinstance(row, dict):
                raise InputError(f'{at} is not an object; a row has names, as in {{"id": 1}}')
            known |= {name: columns.is_known(name) for name in row.keys() - known.keys()}
            rows.append({name: value for name, value in row.items() if known[name]})
    return {name: [row.get(name) for row in rows] for name in known}


def _database(stream: HashedReader, place: str, columns: _Columns) -> Mapping[str, Iterable[Any]]:
    with TemporaryDirectory(prefix="medsim-") as folder:  # a copy, as opening may write beside it
        path = Path(folder, "table.db")
        with path.open("xb") as copy:
            shutil.copyfileobj(stream, copy)
        return database_table(path, place, columns.table)


def _text(value: object) -> str | None:
    """Return a value as text; None if there is none."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, (list, pl.Series)):
        return _UNIT_SEPARATOR.join(filter(None, map(_text, value))) or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():  # pandas, where some are missing
        return f"{value:.0f}"
    return None if value is None or str(value) == "nan" else str(value)


_READERS = {JSON: _json_lines, PARQUET: _parquet, DUCKDB: _database, SQLITE: _database}

Source(
    name="table",
    about="a table of names",
    files="a .csv, .tsv, .txt, .jsonl, .parquet, .duckdb or .sqlite with columns of concepts and "
    "terms",
    address="https://bioportal.bioontology.org",
    recognises=recognises,
    load=read_table,
    accepts=frozenset({"columns"}),
    turn=1,
).register()
