"""Reads untrusted text files as lines and cells, and guards cells against spreadsheets."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from textwrap import shorten

import polars as pl

from medsim.core.errors import EmptyFileError, InputError, counted
from medsim.core.files import open_hashed
from medsim.core.parquet import frame_of_parquet
from medsim.core.reading import (
    BEGINNING,
    HTML,
    LARGEST_FILE,
    UTF_16,
    WORKBOOK,
    ZIP,
    Text,
    file_kind,
    json_columns,
    reading,
)
from medsim.core.terms import MAX_NAME, TOO_LONG
from medsim.core.workbooks import Fits, read_sheet

LINE_END = re.compile(r"\r\n|\r|\n")

_STATED_SEPARATOR = re.compile(r'"?sep=(?P<sign>[^"\r\n])"?(?=[\r\n])', re.IGNORECASE)
_NO_WORDS = re.compile(r"\A(#*(\r\n|\r|\n))+")
_NUL = re.compile("\0")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_WRAPPED = re.compile(
    # A page that begins only with tags is a text file wrapped for viewing.
    r"(?P<tags>\s*(<[^<>]*>\s*){0,20}<pre>)(?P<text>.*?)(</pre>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def read_text(path: Path, *, guess: bool = True, fits: Fits | None = None, sheet: str = "") -> Text:
    """Return the text of a file in UTF-8, or UTF-16 with a byte order mark, as from spreadsheets.

    A text wrapped in ``<pre>`` as a web page is unwrapped; lines before it become blank, so that
    line numbers stay the same, and so does a first line such as ``sep=;``. With ``guess``, lines
    that are not UTF-8 are read as Windows-1252, with a warning, unless the file is binary.

    A workbook becomes the CSV text of one sheet; ``fits`` and ``sheet`` choose it, see
    ``read_sheet``.
    """
    data, sha256 = bytes_of(path)
    text = decoded_text(path, data, guess=guess, fits=fits, sheet=sheet)
    return replace(text, sha256=sha256)


def decoded_text(
    path: Path, data: bytes, *, guess: bool = True, fits: Fits | None = None, sheet: str = ""
) -> Text:
    """Return the text of the bytes of a file, see ``read_text``."""
    kind = file_kind(data[:BEGINNING])
    if kind is WORKBOOK or (kind is ZIP and path.suffix.lower() == ".xlsx"):
        with reading(path, "a workbook", "copy it again, or save it as .xlsx or CSV again"):
            return read_sheet(path, data, fits, sheet)
    if kind is not None and kind.is_binary:
        raise InputError(f"{path} {kind}" + ("" if kind.advice else "; expected text"))
    encoding = "UTF-16" if kind is UTF_16 else "UTF-8"
    warnings: tuple[str, ...] = ()
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError as error:
        if not guess or encoding == "UTF-16":
            fault = f"byte {error.start + 1} is 0x{data[error.start]:02x}"
            raise InputError(f"{path} is not in {encoding}: {fault}; save it as UTF-8") from error
        content, encoding, warning = _decoded_by_line(path, data)
        warnings = (warning,)
    content = content.removeprefix("\ufeff")
    if (control := (_CONTROL if warnings else _NUL).search(content)) is not None:
        line = len(LINE_END.findall(content, 0, control.start())) + 1
        raise InputError(f"{path} is not text: line {line} has the character {control[0]!r}")
    if not content.strip():
        raise EmptyFileError(f"{path} is empty")
    if kind is HTML:
        if (page := _WRAPPED.match(content)) is None:
            raise InputError(f"{path} {HTML}")
        content = "\n" * len(LINE_END.findall(page["tags"])) + page["text"]
    text = Text(path=path, content=content, warnings=warnings, encoding=encoding)
    if (stated := _STATED_SEPARATOR.match(content)) is not None:
        text = replace(text, content=content[stated.end() :], separator=stated["sign"])
    return text


def _decoded_by_line(path: Path, data: bytes) -> tuple[str, str, str]:
    """Return a text whose lines are in UTF-8 or Windows-1252, its encoding, and a warning.

    Files that were joined have both.
    """
    texts, encodings = list[str](), list[str]()
    for line in data.splitlines(keepends=True):
        for encoding in ("UTF-8", "Windows-1252"):
            with suppress(UnicodeDecodeError):
                texts.append(line.decode(encoding))
                encodings.append("" if line.isascii() else encoding)
                break
        else:
            at = f"line {len(texts) + 1}"
            raise InputError(f"{path}: {at} is neither UTF-8 nor Windows-1252; save it as UTF-8")
    others = [at for at, encoding in enumerate(encodings, 1) if encoding == "Windows-1252"]
    has = f"{counted(len(others), 'line is', 'lines are')} not UTF-8, the first is line {others[0]}"
    warning = f"{path.name}: {has}; read as Windows-1252"
    return "".join(texts), " and ".join(sorted({*encodings} - {""})), warning


def bytes_of(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file and their SHA-256, in hex."""
    try:
        with open_hashed(path) as stream:
            data = stream.read(LARGEST_FILE + 1)
            is_larger = len(data) > LARGEST_FILE
            sha256 = "" if is_larger else stream.finish()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if is_larger:
        raise InputError(f"{path} is larger than the limit of {LARGEST_FILE >> 20} MiB")
    return data, sha256


_MAX_CHARACTERS = 1 << 20
"""The maximum number of characters in a line."""

SEPARATORS = {"tab": "\t", "bar": "|", "semicolon": ";", "comma": ","}
"""The separators of cells; the rarest in terms comes first."""


def lines_of(text: Text) -> Iterator[str]:
    """Yield the lines of a text with their ends, which are CR, LF or both."""
    # newline="" knows all three line ends and leaves them as they are.
    return checked_lines(text.path, io.StringIO(text.content, newline=""))


def checked_lines(path: Path, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines unchanged; InputError if one is too long."""
    for number, line in enumerate(lines, start=1):
        if len(line) > _MAX_CHARACTERS:
            raise InputError(f"{path}: line {number} has more than {_MAX_CHARACTERS:,} characters")
        yield line


def cells_of_lines(
    text: Text, separator: str, *, trimmed: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number, from 1, and the cells of each line that is not blank.

    A quoted cell may contain line ends; then the number is of its first line.
    """
    reader = csv.reader(lines_of(text), delimiter=separator, skipinitialspace=trimmed, strict=True)
    number = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield number, cells if trimmed else row
            number = reader.line_num + 1
    except csv.Error as error:
        message = f"{text.path}: line {number} cannot be cut into cells ({error})"
        raise InputError(message) from error


def first_lines(
    text: Text, separators: Iterable[str] = tuple(SEPARATORS.values())
) -> dict[str, list[str]]:
    """Return the cells of the first line that is not blank, for each possible separator."""
    first: dict[str, list[str]] = {}
    failure = InputError(f"{text.path} is empty")
    for separator in text.separator or separators:
        try:
            _, first[separator] = next(cells_of_lines(text, separator), (0, []))
        except InputError as error:
            failure = error
    if not any(first.values()):
        raise failure
    return first


def below_title(text: Text, number: int) -> Text:
    """Return a text in which the lines above a header are blank, and comments without a word below.

    The numbers of the lines of rows stay the same.

    Args:
        text: the text.
        number: number of the line of the header, from 1.
    """
    lines = list(islice(lines_of(text), number))
    rest = text.content[sum(map(len, lines)) :]
    rows = _NO_WORDS.sub("", rest)
    n_blank = number - 1 + len(LINE_END.findall(rest[: len(rest) - len(rows)]))
    return replace(text, content="\n" * n_blank + lines[-1] + rows)


_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
# A formula, in any form that spreadsheets support; it could run commands.
_FORMULA = "\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20].*|[\t\r\n].*"
_NUMBER_OR_SIGN = r"[+-]?(\.?[0-9][0-9.,]*(e[+-]?[0-9]+)?%?)?\Z"
_RUN_AS_FORMULA = re.compile(rf"'*+(?!{_NUMBER_OR_SIGN})({_FORMULA})", re.IGNORECASE | re.DOTALL)
_LIKE_FORMULA = "^'*[\\s\x1c-\x1f]*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
"""Polars's expression for a beginning that all formulas have, and few other texts."""
_TAKEN_FOR_MORE_THAN_TEXT = re.compile(
    # Possessive, so that a malicious cell of many apostrophes takes no longer.
    rf"'*+({_FORMULA}|"
    # A number, a date or a truth value; MARCH1 would come back as 1-Mar, an id as 1.2E+15.
    rf"(?=.*[0-9])[\W\d_]*(({_MONTH}|[de]|[ap]m?)[\W\d_]*)?|true|false"
    r")",
    re.IGNORECASE | re.DOTALL,
)


def guarded(cell: str) -> str:
    """Return a cell that spreadsheets keep as text, with an apostrophe before it if needed."""
    return f"'{cell}" if _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell) else cell


def harmless(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with an apostrophe before texts that spreadsheets would run as formulas.

    Numbers and codes stay as they are, for programs.
    """
    texts = [name for name, kind in rows.schema.items() if kind == pl.String]
    cells = {c for name in texts for c in rows[name].filter(rows[name].str.contains(_LIKE_FORMULA))}
    formulas = {cell: f"'{cell}" for cell in cells if _RUN_AS_FORMULA.fullmatch(cell)}
    return rows.with_columns(pl.col(texts).replace(formulas))


def write_csv(rows: pl.DataFrame | pl.LazyFrame, path: Path) -> int:
    """Write ``harmless`` rows as CSV, lazy ones in batches; return the number of rows."""
    n_rows = 0
    with path.open("wb") as file:
        file.write(rows.lazy().clear().collect().write_csv().encode())
        for part in rows.lazy().collect_batches(chunk_size=_WRITTEN_AT_ONCE, maintain_order=True):
            file.write(harmless(part).write_csv(include_header=False).encode())
            n_rows += part.height
    return n_rows


def unguarded(cell: str) -> str:
    """Undo ``guarded``, even if a spreadsheet removed the apostrophe."""
    guarded = cell.startswith("'") and _TAKEN_FOR_MORE_THAN_TEXT.fullmatch(cell)
    return cell[1:] if guarded else cell


_LONGEST_SHOWN = 80
_WRITTEN_AT_ONCE = 1 << 16  # rows
_DECIMAL = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "-", "na", "n/a", "nan", "none", "null"})
_NAMES = frozenset({"term1", "term2", "word", "query", "match"})  # columns of names


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table as text.

    Attributes:
        path: path of the file.
        unit: unit of ``at``, "line" or "row".
        at: number of each row of the frame in the file, from 1.
        frame: the requested columns, trimmed; missing cells are empty.
        warnings: warnings for readers of results, a sentence each.
        sha256: SHA-256 of the file's bytes, in hex.
    """

    path: Path
    unit: str
    at: pl.Series
    frame: pl.DataFrame
    warnings: tuple[str, ...] = ()
    sha256: str = ""

    def __post_init__(self) -> None:
        """Raise InputError if a name is too long."""
        for column in _NAMES.intersection(self.frame.columns):
            for row in (self.frame[column].str.len_chars() > MAX_NAME).arg_true().head(1):
                raise InputError(f"{self.path}: {self.unit} {self.at[row]}: {column} {TOO_LONG}")

    def rows(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the location of each row, such as "line 12", and its cells."""
        for at, cells in zip(self.at, self.frame.iter_rows(), strict=True):
            yield f"{self.unit} {at}", cells

    def refuse(self, wrong: pl.Series, column: str, expected: str) -> None:
        """Raise InputError for the first row where ``wrong`` is true, quoting its cell."""
        if wrong.any():
            first = wrong.arg_true()[0]
            value = self.frame[column][first]
            at = f"{self.unit} {self.at[first]}"
            raise InputError(f"{self.path}: {at}: {column} {value!r} {expected}")


def read_table(
    path: Path, needed: Sequence[str] = (), extra: Sequence[str] | None = ()
) -> TextTable:
    """Return columns of a Parquet file, JSON lines, a workbook or a delimited text file.

    Names of columns are not case-sensitive. The separator is the one that gives the most needed
    names in the header, then the most names.

    Args:
        path: path of the file; Parquet if it ends in .parquet, and JSON lines, with an object each,
            if it ends in .jsonl, .ndjson or .json. Their lists are joined by ";".
        needed: required columns.
        extra: optional columns; None reads all other columns under their own names.

    Raises:
        InputError: the file cannot be read, a column is missing or duplicated, or a line has a
            different number of cells than the header.
    """
    if not is_parquet(path) and not is_json_lines(path):
        with reading(path, "a table"):
            text = read_text(path, fits=lambda row: set() < {*needed} <= {*map(_plain, row)})
            return table_of(text, needed, extra)
    with reading(path, "Parquet" if is_parquet(path) else "JSON lines"):
        data, sha256 = bytes_of(path)
        if is_parquet(path):
            frame = frame_of_parquet(path, data)
        else:
            values = json_columns(path, data).items()
            columns = {name: [*map(_json_text, column)] for name, column in values}
            frame = pl.DataFrame(columns, dict.fromkeys(columns, pl.String))
    return replace(table_of_frame(path, frame, needed, extra), sha256=sha256)


def table_of_frame(
    path: Path, frame: pl.DataFrame, needed: Sequence[str] = (), extra: Sequence[str] | None = None
) -> TextTable:
    """Return columns of a frame as text, see ``read_table``; the path is for messages."""
    places = _places(path, frame.columns, needed, extra)
    with reading(path, "a table"):
        cells = pl.DataFrame([_as_text(frame.to_series(places[name]), name) for name in places])
    at = pl.int_range(1, frame.height + 1, dtype=pl.Int64, eager=True)
    return TextTable(path=path, unit="row", at=at, frame=cells)


def table_of(
    text: Text,
    needed: Sequence[str] = (),
    extra: Sequence[str] | None = (),
    *,
    filled_in: bool = False,
    may_be_short: bool = False,
) -> TextTable:
    """Return columns of a delimited text, see ``read_table``.

    In a sheet that annotators filled in, a row may lack empty cells at its end, and cells are not
    trimmed. With ``may_be_short``, it may lack those after the needed ones.
    """
    first = first_lines(text)
    separator = max(
        first, key=lambda sign: (len({*needed} & {*map(_plain, first[sign])}), len(first[sign]))
    )
    lines = cells_of_lines(text, separator, trimmed=not filled_in)
    _, header = next(lines)
    places = _places(text.path, header, needed, extra)
    least = 1 + max(places[name] for name in needed) if may_be_short else len(header)
    at, rows = [], []
    for number, cells in lines:
        if filled_in or least <= len(cells) < len(header):
            cells.extend([""] * (len(header) - len(cells)))
        elif len(cells) != len(header):
            raise InputError(
                f"{text.path}: line {number} has {len(cells)} cells, the header {len(header)}"
            )
        at.append(number)
        rows.append([cells[index] for index in places.values()])
    return TextTable(
        path=text.path,
        unit=text.unit,
        at=pl.Series(at, dtype=pl.Int64),
        frame=pl.DataFrame(rows, dict.fromkeys(places, pl.String), orient="row"),
        warnings=text.warnings,
        sha256=text.sha256,
    )


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, by its name."""
    return path.suffix.lower() == ".parquet"


def is_json_lines(path: Path) -> bool:
    """Return whether a file has JSON lines, by its name."""
    return path.suffix.lower() in {".jsonl", ".ndjson", ".json"}


def is_missing(cell: str) -> bool:
    """Return whether a cell is a missing value."""
    return cell.lower() in _MISSING


def number_in(cell: str) -> float | None:
    """Return the number in a cell, with a decimal point; None if it is not finite."""
    if _DECIMAL.fullmatch(cell) is None:
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def _as_text(column: pl.Series, name: str) -> pl.Series:
    if column.dtype == pl.List:
        column = column.cast(pl.List(pl.String)).list.join(";")
    return column.cast(pl.String).fill_null("").str.strip_chars().alias(name)


def _json_text(value: object) -> str | None:
    if isinstance(value, list):
        return ";".join(map(str, value))
    return None if value is None else str(value)


def _plain(name: str) -> str:
    return name.strip().lower()


def _places(
    path: Path, header: Sequence[str], needed: Sequence[str], extra: Sequence[str] | None
) -> dict[str, int]:
    """Return the columns to read, by name; InputError if one is missing or duplicated."""
    plain = [_plain(name) for name in header]
    for name in needed:
        if name not in plain:
            has = shorten(", ".join(plain), _LONGEST_SHOWN, placeholder=" …")
            raise InputError(
                f"{path} has no column {name!r}; it needs {', '.join(needed)} and has {has!r}"
            )
    to_read = [*needed, *(name for name in extra or () if name in plain)]
    places = {name: plain.index(name) for name in to_read}
    others = {
        at: name.strip() or f"column{at + 1}"
        for at, name in enumerate(header)
        if extra is None and at not in places.values()
    }
    counts = Counter([column for column in plain if column in to_read] + list(others.values()))
    for name, number in counts.items():
        if number > 1:
            raise InputError(f"{path} has two columns {name!r}; names must be unique")
    return places | {name: at for at, name in others.items()}
