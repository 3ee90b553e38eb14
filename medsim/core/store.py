"""DuckDB: settings, queries from files, and frames in and out."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Self

import duckdb

from medsim.core import queries
from medsim.core.config import available_memory, thread_pool
from medsim.core.errors import InputError, MedsimError, OutputError, StatementError, listed
from medsim.core.reading import check_file, reading

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from medsim.core.kinds import Table


# DuckDB's messages for an interrupt: during a query, and while reading a frame.
_INTERRUPTED = ("Query interrupted", "failed: KeyboardInterrupt: ")
_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
_SHOWN = 5  # kinds of statements in a message

_AGAIN = "rebuild the output, or copy it again from its source"

_BATCH_ROWS = 8_192
_NO_EXTENSIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

# Memory for rows before they spill; the rest of a build needs about as much again.
_ROOM = 2 << 30
_ROOM_OF_THREAD = 256 << 20
_AT_REST = 64 << 20  # for rows that no query needs for long

Parameter = str | int | float | bool | None


class QueryError(MedsimError):
    """A query of medsim failed; the message has its file and DuckDB's message."""


class Store:
    """An in-memory DuckDB database for one run, closed at the end of a ``with``.

    Attributes:
        parameters: values of the parameters of queries, by name, for those that a call leaves out.
            Options of a build are among them, so a query takes the option ``pool`` as ``$pool``
            once its header declares it.
    """

    def __init__(
        self, *, threads: int, spill: Path | None = None, memory: int | None = None
    ) -> None:
        """Open the database.

        Args:
            threads: threads to use.
            spill: folder for rows that are appended or do not fit in memory; None for none.
            memory: memory for rows in bytes; by default some gigabytes if rows may spill, else most
                of the machine's.
        """
        self.parameters: dict[str, Any] = {}
        self._links, self._linked = ExitStack(), dict[Path, str]()
        self._spill = None if spill is None else self._plain_path(spill)
        if memory is None and spill is not None:
            memory = min(max(_ROOM, threads * _ROOM_OF_THREAD), available_memory() // 2)
        self._room = memory
        limit = {} if memory is None else {"memory_limit": f"{memory}B"}
        settings: dict[str, str | bool | int | float | list[str]] = {
            **limit,
            **_NO_EXTENSIONS,
            "threads": threads,
            "temp_directory": self._spill or "",
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        with suppress(duckdb.InvalidInputException):  # notebooks without ipywidgets have no bar
            self._connection.execute("set enable_progress_bar = false")  # notebooks would show one
        self._macros: set[str] = set()  # those created so far

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._connection.close()
        self._links.close()

    def rest(self) -> None:
        """Move rows from memory to disk, if they may spill; queries read them again."""
        room = self._room or 0
        if self._spill is None or shutil.disk_usage(self._spill).free < 2 * room:
            return
        for n_bytes in (_AT_REST, room):
            with suppress(duckdb.OutOfMemoryException, duckdb.IOException), _interruptible():
                self._connection.execute(f"set memory_limit = '{n_bytes}B'")

    def run(self, name: str, **params: Parameter) -> None:
        """Run the query named ``name``, which creates a table or a macro."""
        with _named_errors(f"sql/{name}.sql"):
            self._connection.execute(self._text(name), self._values(name, params))

    def run_each(self, folder: str, *names: str, **params: Parameter) -> None:
        """Run queries of a folder in order, given their names in it."""
        for name in names:
            self.run(f"{folder}/{name}", **params)

    def frame(self, name: str, **params: Parameter) -> pl.DataFrame:
        """Return the rows of the query named ``name``."""
        with _named_errors(f"sql/{name}.sql"):
            rows = self._connection.sql(self._text(name), params=self._values(name, params))
            frame: pl.DataFrame = rows.pl()
        return frame

    def run_on_stream(self, name: str, chunks: Iterable[bytes], **params: Parameter) -> None:
        """Run a query that reads text from ``$stream`` while a thread writes the text to it.

        The text goes through a pipe, so it is never complete in memory or on disk. A few chunks are
        prepared ahead while DuckDB parses.

        Raises:
            QueryError: the query failed.
            Exception: any error that ``chunks`` raised, which takes precedence over DuckDB's.
        """
        reading, writing = os.pipe()
        failures: list[BaseException] = []
        refused: QueryError | None = None
        pumping = threading.Thread(target=_pump, args=(chunks, writing, failures), daemon=True)
        try:
            pumping.start()
            self.run(name, stream=f"/dev/fd/{reading}", **params)
        except QueryError as error:
            refused = error
        finally:
            os.close(reading)  # ends a pump that still writes with a broken pipe
            if pumping.ident is None:  # an interrupt came before it started
                os.close(writing)
            else:
                pumping.join()
        if failures:
            raise failures[0]
        if refused:
            raise refused

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """Write ``frame`` as the table named ``table``, replacing an existing one."""
        with _named_errors(f"the table {table}"), self.frame_as("incoming_frame", frame):
            self._connection.execute(
                f"create or replace table {identifier(table)} as from incoming_frame"
            )

    @contextmanager
    def frame_as(self, table: str, frame: pl.DataFrame) -> Iterator[None]:
        """Let queries in the body read ``frame`` under a name, without a copy."""
        import polars as pl  # noqa: PLC0415 — a process for one statement does without

        rows = frame.to_arrow(compat_level=pl.CompatLevel.newest())
        with _interruptible():
            self._connection.register(table, rows)
            try:
                yield
            finally:
                self._connection.unregister(table)

    def table(self, table: str) -> pl.DataFrame:
        """Return the table named ``table``."""
        with _interruptible():
            frame: pl.DataFrame = self._connection.table(table).pl()
        return frame

    def n_rows(self, table: str) -> int:
        """Return the number of rows of the table named ``table``."""
        with _interruptible():
            return len(self._connection.table(table))

    def drop(self, *tables: str) -> None:
        """Drop tables that are no longer needed."""
        for table in tables:
            with _interruptible():
                self._connection.execute(f"drop table if exists {identifier(table)}")

    def view_files(
        self, folder: Path, views: Mapping[str, str], derived: Iterable[str] = ()
    ) -> None:
        """Create views over Parquet or CSV files.

        Args:
            folder: folder of the files.
            views: glob of each view's files below the folder, by the view's name. Columns from
                names of folders, as in ``dataset=fsn_syn``, replace those of the files. A column
                that only some files have is null for the others.
            derived: queries that create views of other views.
        """
        for view, pattern in views.items():
            source = _literal(f"{self._plain_path(folder)}/{pattern}")
            hive = "hive_partitioning=true, hive_types_autocast=false, union_by_name=true"
            reader = f"read_parquet({source}, {hive})"
            if pattern.endswith(".csv"):
                reader = f"read_csv({source}, header=true, sample_size=-1)"
            with reading(folder / pattern, hint=_AGAIN), _interruptible():
                for path in folder.glob(pattern):
                    check_file(path)
                self._connection.execute(f"create view {identifier(view)} as from {reader}")

        for name in derived:
            try:
                self.run(name)
            except QueryError as error:
                raise InputError(f"{folder}: {error}; {_AGAIN}") from error

    @contextmanager
    def attached(
        self, path: Path
    ) -> Iterator[Callable[[str, Table, Mapping[str, tuple[str, str]]], int]]:
        """Give the body a function that appends the rows of a view to a database file.

        The function takes the view, its declaration, and additional first columns of the table, by
        name: their constant value and a note. It returns the number of rows. The file is created if
        needed; the declared descriptions become comments of its tables and columns.

        Raises:
            OutputError: the file cannot be written.
        """
        if "?" in str(path.resolve()):  # DuckDB resolves links, and cuts the path there
            raise OutputError(f"cannot write {path}: it has a question mark; choose another path")
        place = f"{self._plain_path(path.parent)}/{path.name}"
        try:
            with _interruptible():
                version = _literal(READ_SINCE)
                attach = f"attach $path as {_NAME} (storage_version {version})"
                self._connection.execute(attach, {"path": place})
                yield self._append_to_file
                self._connection.execute(f"detach {_NAME}")
        except duckdb.OutOfMemoryException as error:
            raise OutputError(f"{path} needs more memory or disk than available") from error
        except duckdb.Error as error:
            full = next((message for message in _FULL if message in str(error)), None)
            if full is None and place not in str(error):  # the error is about an input file
                raise
            raise OutputError(f"cannot write {path}: {full or _message(error)}") from error

    def _append_to_file(
        self, view: str, declared: Table, added: Mapping[str, tuple[str, str]]
    ) -> int:
        execute, table = self._connection.execute, f"{_NAME}.{identifier(view)}"
        values = {name: value for name, (value, _) in added.items()}
        added_columns = "".join(f"${name} as {identifier(name)}, " for name in values)
        rows = f"select {added_columns}* from {identifier(view)}"  # noqa: S608 — quoted
        execute(f"create table if not exists {table} as {rows} limit 0", values)
        ((n_rows,),) = execute(f"insert into {table} by name {rows}", values).fetchall()
        notes = {**declared.notes, **{name: note for name, (_, note) in added.items()}}
        execute(f"comment on table {table} is {_literal(declared.about)}")
        for column, *_ in execute(f"describe {table}").fetchall():
            if column in notes:
                target = f"{table}.{identifier(column)}"
                execute(f"comment on column {target} is {_literal(notes[column])}")
        return int(n_rows)

    @contextmanager
    def schema(self, name: str) -> Iterator[None]:
        """Create the views of the body in a schema."""
        with _interruptible():
            self._connection.execute(f"create schema if not exists {identifier(name)}")
            self._connection.execute(f"set schema = {_literal(identifier(name))}")
        yield
        with _interruptible():
            self._connection.execute("set schema = 'main'")

    def lock_down(self, *folders: Path) -> None:
        """From now on, allow only reading below folders."""
        self._connection.execute("set temp_directory = ''")
        allowed = ", ".join(map(_literal, map(self._plain_path, folders)))  # as in views
        self._connection.execute(f"set allowed_directories = [{allowed}]")
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def select(self, statement: str) -> pl.DataFrame:
        """Return the rows of one read-only statement, all at once."""
        import polars as pl  # noqa: PLC0415 — a process for one statement does without

        with self.batches(statement) as reader:
            return pl.DataFrame(reader.read_all())

    @contextmanager
    def batches(self, statement: str) -> Iterator[pa.RecordBatchReader]:
        """Give the body the rows of one read-only statement of a user, as they arrive.

        Columns of a type that Polars does not have become DuckDB's text, and so do dates and times,
        as DuckDB's range exceeds Python's. Duplicate names of columns become unique.

        Args:
            statement: one select statement.

        Raises:
            StatementError: it is not a single select, or fails.
        """
        try:
            parsed = self._connection.extract_statements(statement)
        except duckdb.Error as error:
            raise StatementError(_message(error)) from error
        kinds = list(map(_kind, parsed[:_SHOWN]))
        if kinds != ["select"]:
            names = ", ".join(kinds) or "no statement"
            raise StatementError(f"expected one select statement, but got: {names}")
        with _interruptible():
            self._connection.execute("begin transaction read only")
            try:
                with _interruptible():
                    relation = _plain_columns(self._connection.sql(statement))
                    with relation.to_arrow_reader(_BATCH_ROWS) as reader:
                        yield reader
            except duckdb.OutOfMemoryException as error:
                raise StatementError(
                    "the statement needs more than its `memory`; select fewer rows or groups, or "
                    "raise `memory`"
                ) from error
            except duckdb.Error as error:
                raise StatementError(_message(error)) from error
            finally:
                self._connection.execute("rollback")

    def _plain_path(self, folder: Path) -> str:
        """Return a path to a folder without characters that DuckDB treats specially.

        DuckDB reads brackets as patterns even if escaped, a backslash as a slash, and ``a=b`` as a
        column. If a path has these, it is replaced by a link in a temporary folder, which exists
        until the database is closed.

        Raises:
            OutputError: the link cannot be created.
        """
        real_path = folder.resolve()
        if _PLAIN.fullmatch(str(real_path)):
            return str(real_path)
        if real_path not in self._linked:
            try:
                link = Path(
                    self._links.enter_context(TemporaryDirectory(prefix="medsim-")), "folder"
                )
                link.symlink_to(real_path, target_is_directory=True)
            except OSError as error:
                raise OutputError(
                    f"{folder} needs a temporary link, which cannot be created "
                    f"({error.strerror}): set TMPDIR"
                ) from error
            if not _PLAIN.fullmatch(str(link)):
                raise OutputError(f"DuckDB cannot read below {link.parent}; set TMPDIR")
            self._linked[real_path] = str(link)
        return self._linked[real_path]

    def _values(self, name: str, params: Mapping[str, Parameter]) -> dict[str, Any]:
        """Return the values of a query's parameters: those of a call, and ``parameters``."""
        left_out = queries.query(name).parameters & self.parameters.keys()
        return {parameter: self.parameters[parameter] for parameter in left_out} | dict(params)

    def _text(self, name: str) -> str:
        """Return the text of a query, after creating the macros that it uses."""
        query = queries.query(name)
        for macro in query.macros - self._macros:
            self._macros.add(macro)
            self.run(f"macros/{macro}")
        return query.text


def database_table(
    path: Path, shown_name: str, name: str = "", *, kind: Literal["sqlite", "duckdb"]
) -> dict[str, list[Any]]:
    """Return the columns of a table of an SQLite or DuckDB file.

    Args:
        path: path of a copy of the file, beside its log: opening it may write there.
        shown_name: its name for messages.
        name: name of the table; empty for the only one.
        kind: kind of the file.

    Raises:
        InputError: it has no such table, or several.
    """
    connection: Any
    if kind == "sqlite":
        connection = sqlite3.connect(path)
    else:
        connection = duckdb.connect(str(path), read_only=True, config=_NO_EXTENSIONS)
    with closing(connection):
        tables = connection.execute(queries.query(f"terminologies/table/{kind}_table").text)
        names = [table for (table,) in tables.fetchall()]
        if name not in names and (name or len(names) != 1):
            has = f"it has {listed(names, most=40) or 'none'}"
            ask = f"no table {name!r}" if name else "not exactly one table"
            raise InputError(f"{shown_name}: {ask}; {has}; give one as table=NAME")
        rows = connection.execute(f"select * from {identifier(name or names[0])}")  # noqa: S608 — quoted
        names, values = [column for column, *_ in rows.description], rows.fetchall()
        return {name: [row[at] for row in values] for at, name in enumerate(names)}


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """Turn errors of DuckDB into errors that name the query's file or a table."""
    try:
        with _interruptible():
            yield
    except duckdb.OutOfMemoryException as error:
        raise OutputError(f"{name} needs more memory or disk than available") from error
    except duckdb.Error as error:
        # Only errors about files: others quote rows of users.
        if isinstance(error, duckdb.IOException) and any(full in str(error) for full in _FULL):
            raise OutputError(f"{name} needs more disk than available") from error
        raise QueryError(f"{name}: {_message(error)}") from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn DuckDB's error for an interrupt back into a KeyboardInterrupt."""
    try:
        yield
    except (RuntimeError, duckdb.InvalidInputException) as error:
        if not str(error).endswith(_INTERRUPTED):
            raise
        raise KeyboardInterrupt from error


def _kind(statement: duckdb.Statement) -> str:
    """Return the kind of a statement, such as "select"."""
    try:
        return str(statement.type).rsplit(".", 1)[-1].lower()
    except ValueError:  # Python's enum lacks some of DuckDB's kinds
        return "another kind of statement"


def _message(error: Exception) -> str:
    """Return DuckDB's message with its suggested names, without advice on settings."""
    first, *rest = str(error).splitlines()
    hints = [line for line in rest[:1] if line.startswith(("Did you mean", "Candidate bindings"))]
    return " ".join([first.partition(' Use "SET ')[0], *hints])


READ_SINCE = "v1.0.0"
"""The oldest version of DuckDB that can read the files."""

_NAME = "database_file"  # name of the attached database


def identifier(name: str) -> str:
    """Return the name of a table or column, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_CHUNKS_AHEAD = 64  # DuckDB reads many megabytes at once and parses them before reading more


def _pump(chunks: Iterable[bytes], writing: int, failures: list[BaseException]) -> None:
    """Write chunks to a pipe until they end or the reader closes it."""
    try:
        with os.fdopen(writing, "wb") as pipe, thread_pool(1) as maker:
            rest = iter(chunks)
            ahead = deque(maker.submit(next, rest, None) for _ in range(_CHUNKS_AHEAD))
            while (chunk := ahead.popleft().result()) is not None:
                ahead.append(maker.submit(next, rest, None))
                pipe.write(chunk)
    except BrokenPipeError:
        return
    except BaseException as error:  # noqa: BLE001 — raised again in the calling thread
        failures.append(error)


_PLAIN = re.compile(r"/[\w/ .,:@+-]*")  # characters without a special meaning in DuckDB


# The types of DuckDB that Polars supports, and prints for all values.
_PLAIN_TYPES = frozenset(
    (
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "decimal", "varchar", "blob", "uuid"),
        *("null", "list", "array", "struct", "tuple"),
    )
)


def _plain_columns(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a relation with unique column names and types that Polars supports."""
    used: set[str] = set()
    chosen = []
    for position, (original, kind) in enumerate(
        zip(relation.columns, relation.types, strict=True), 1
    ):
        names = chain([original], (f"{original}_{number}" for number in count(1)))
        name = next(candidate for candidate in names if candidate.lower() not in used)
        used.add(name.lower())
        column = duckdb.SQLExpression(f"#{position}")
        chosen.append((column if _is_plain(kind) else column.cast("VARCHAR")).alias(name))
    return relation.project(*chosen)


def _is_plain(kind: duckdb.sqltypes.DuckDBPyType) -> bool:
    """Return whether Polars supports a type and its element types."""
    if kind.id not in _PLAIN_TYPES:
        return False
    inner = kind.children if kind.id in {"list", "array", "struct", "tuple"} else ()
    types = (child for _, child in inner if isinstance(child, type(kind)))
    return all(map(_is_plain, types))
