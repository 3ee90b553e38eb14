"""DuckDB: its settings, queries run from files, frames in and out."""

from __future__ import annotations

import errno
import os
import re
import threading
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self
from uuid import uuid4

import duckdb

from medsim.core import queries
from medsim.core.config import available_memory, thread_pool
from medsim.core.errors import InputError, MedsimError, OutputError, StatementError
from medsim.core.files import check_own_file
from medsim.core.reading import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl
    import pyarrow as pa

    from medsim.core.kinds import Table


# How DuckDB tells of an interrupt: while a query runs, and while it looks at a frame.
_INTERRUPTED = ("Query interrupted", "failed: KeyboardInterrupt: ")
_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
_SHOWN = 5  # kinds of statements in a message

_AGAIN = "rebuild the output, or copy it again from its source"

_BATCH_ROWS = 8_192

# Memory for rows before they spill; what is made of a terminology needs as much again beside it.
_ROOM = 2 << 30
_ROOM_OF_THREAD = 256 << 20

Parameter = str | int | float | bool | None


class QueryError(MedsimError):
    """A query of medsim's own failed; the message names its file and what DuckDB said."""


class Store:
    """An in-memory DuckDB database for one run, closed at the end of a ``with``."""

    def __init__(
        self, *, threads: int, spill: Path | None = None, memory: int | None = None
    ) -> None:
        """Open it.

        Args:
            threads: to use.
            spill: the folder for rows that are appended or do not fit in memory; None for none.
            memory: bytes of memory for rows; by default some gigabytes where rows may spill, else
                most of the machine's.
        """
        self._links, self._linked = ExitStack(), dict[Path, str]()
        self._spill = None if spill is None else self._plain_path(spill)
        self._parts: dict[str, list[str]] = {}  # the files of each table that is appended to
        if memory is None and spill is not None:
            memory = min(max(_ROOM, threads * _ROOM_OF_THREAD), available_memory() // 2)
        limit = {} if memory is None else {"memory_limit": f"{memory}B"}
        settings: dict[str, str | bool | int | float | list[str]] = {
            **limit,
            "threads": threads,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": self._spill or "",
        }
        self._connection = duckdb.connect(":memory:", config=settings)
        with suppress(duckdb.InvalidInputException):  # notebooks without ipywidgets, and so no bar
            self._connection.execute("set enable_progress_bar = false")  # as notebooks show one
        self._macros: set[str] = set()  # those that are made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._connection.close()
        for table in list(self._parts):
            self._remove_files(table)
        self._links.close()

    def run(self, name: str, **params: Parameter) -> None:
        """Run the query named ``name``, which writes a table or a macro."""
        with _named_errors(f"sql/{name}.sql"):
            self._connection.execute(self._text(name), dict(params))

    def frame(self, name: str, **params: Parameter) -> pl.DataFrame:
        """Return the rows of the query named ``name``."""
        with _named_errors(f"sql/{name}.sql"):
            frame: pl.DataFrame = self._connection.sql(self._text(name), params=dict(params)).pl()
        return frame

    def run_on_stream(self, name: str, chunks: Iterable[bytes], **params: Parameter) -> None:
        """Run a query that reads text from ``$stream`` while a thread writes the text there.

        The text goes through a pipe, so it is never held whole, in memory or on disk. A few chunks
        are made ahead, while DuckDB parses what it has read.

        Raises:
            QueryError: the query failed.
            Exception: whatever ``chunks`` raised; it comes before what it made DuckDB say.
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
            os.close(reading)  # a pump that still writes now ends with a broken pipe
            if pumping.ident is None:  # an interrupt came before it ran
                os.close(writing)
            else:
                pumping.join()
        if failures:
            raise failures[0]
        if refused:
            raise refused

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """Write ``frame`` as the table named ``table``, replacing an earlier one."""
        if table in self._parts:
            self.drop(table)
        with _named_errors(f"the table {table}"), self.lent("incoming_frame", frame):
            self._connection.execute(
                f"create or replace table {identifier(table)} as from incoming_frame"
            )

    def append(self, table: str, frame: pl.DataFrame) -> None:
        """Add rows to a table, made where there is none; they lie in files where rows may spill.

        All frames of a table have the same columns and types.
        """
        target, parts = identifier(table), self._parts.get(table)
        if self._spill is None:
            into = f"create table {target} as" if parts is None else f"insert into {target} by name"
            steps, parts = [f"{into} from incoming_frame"], []
        else:
            parts = [*(parts or []), f"{self._spill}/{uuid4().hex}.parquet"]
            quoted = [part.replace("'", "''") for part in parts]
            files = ", ".join(f"'{part}'" for part in quoted)
            view = f"create or replace view {target} as from read_parquet([{files}])"
            steps = [f"copy incoming_frame to '{quoted[-1]}'", view]
        with _named_errors(f"the table {table}"), self.lent("incoming_frame", frame):
            for step in steps:
                self._connection.execute(step)
        self._parts[table] = parts

    @contextmanager
    def lent(self, table: str, frame: pl.DataFrame) -> Iterator[None]:
        """Let the queries of the body read ``frame`` under a name, without a copy."""
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
        """Return how many rows the table named ``table`` has."""
        with _interruptible():
            return len(self._connection.table(table))

    def drop(self, *tables: str) -> None:
        """Drop tables that no later query reads."""
        for table in tables:
            kind = "view" if self._parts.get(table) else "table"
            with _interruptible():
                self._connection.execute(f"drop {kind} if exists {identifier(table)}")
            self._remove_files(table)

    def _remove_files(self, table: str) -> None:
        for part in self._parts.pop(table, []):
            with suppress(OSError):
                Path(part).unlink(missing_ok=True)

    def view_files(
        self, folder: Path, views: Mapping[str, str], derived: Iterable[str] = ()
    ) -> None:
        """Make views over files of Parquet or CSV.

        Pipes and devices are refused: DuckDB would wait for them, and could not be interrupted.

        Args:
            folder: where they lie.
            views: the glob below the folder of the files of each view, by its name; columns that
                folders name as in ``dataset=fsn_syn`` are columns of the view, instead of those
                that the files have under these names, and one that only some files have is null
                in the others.
            derived: queries that make views of those.
        """
        for view, pattern in views.items():
            for path in folder.glob(pattern):
                with reading(path, hint=_AGAIN):
                    check_own_file(path)
            source = _literal(f"{self._plain_path(folder)}/{pattern}")
            hive = "hive_partitioning=true, hive_types_autocast=false, union_by_name=true"
            reader = f"read_parquet({source}, {hive})"
            if pattern.endswith(".csv"):
                reader = f"read_csv({source}, header=true, sample_size=-1)"
            with reading(folder / pattern, hint=_AGAIN), _interruptible():
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

        It takes the view, its declaration, and columns that the table has before those of the view,
        by name: the value of every row, and a note. It returns the number of rows. The file is made
        where there is none; its tables and columns have what is declared of them as comments.

        Raises:
            OutputError: it cannot be written.
        """
        if "?" in str(path.resolve()):  # DuckDB follows links, and cuts the path there
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
            raise OutputError(f"{path} needs more memory or disk than there is") from error
        except duckdb.Error as error:
            full = next((one for one in _FULL if one in str(error)), None)
            if full is None and place not in str(error):  # it is of a file that is read
                raise
            raise OutputError(f"cannot write {path}: {full or _message(error)}") from error

    def _append_to_file(
        self, view: str, declared: Table, added: Mapping[str, tuple[str, str]]
    ) -> int:
        execute, table = self._connection.execute, f"{_NAME}.{identifier(view)}"
        values = {name: value for name, (value, _) in added.items()}
        named = "".join(f"${name} as {identifier(name)}, " for name in values)
        rows = f"select {named}* from {identifier(view)}"  # noqa: S608 — quoted
        execute(f"create table if not exists {table} as {rows} limit 0", values)
        ((n_rows,),) = execute(f"insert into {table} by name {rows}", values).fetchall()
        notes = {**declared.notes, **{name: note for name, (_, note) in added.items()}}
        execute(f"comment on table {table} is {_literal(declared.about)}")
        for column, *_ in execute(f"describe {table}").fetchall():
            if column in notes:
                place = f"{table}.{identifier(column)}"
                execute(f"comment on column {place} is {_literal(notes[column])}")
        return int(n_rows)

    def lock_down(self, folder: Path) -> None:
        """Allow nothing from now on but reading below ``folder``."""
        self._connection.execute("set temp_directory = ''")
        allowed = {"folder": self._plain_path(folder)}  # as views have it
        self._connection.execute("set allowed_directories = [$folder]", allowed)
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def select(self, statement: str) -> pl.DataFrame:
        """Return the rows of one read-only statement, all at once."""
        import polars as pl  # noqa: PLC0415 — a process for one statement does without

        with self.batches(statement) as reader:
            return pl.DataFrame(reader.read_all())

    @contextmanager
    def batches(self, statement: str, *, as_text: bool = False) -> Iterator[pa.RecordBatchReader]:
        """Give the body the rows of one read-only statement that a user wrote, as they come.

        Columns of a type that Polars lacks are text, as DuckDB writes it; equal names are told
        apart.

        Args:
            statement: one select.
            as_text: whether days and times are text as well: DuckDB has some before and after all
                that Python has.

        Raises:
            StatementError: it is no single select, or cannot be run.
        """
        try:
            parsed = self._connection.extract_statements(statement)
        except duckdb.Error as error:
            raise StatementError(_message(error)) from error
        kinds = list(map(_kind, parsed[:_SHOWN]))
        if kinds != ["select"]:
            found = ", ".join(kinds) or "no statement"
            raise StatementError(f"one select is accepted; this is: {found}")
        with _interruptible():
            self._connection.execute("begin transaction read only")
            try:
                with _interruptible():
                    relation = told_apart(self._connection.sql(statement), as_text=as_text)
                    with relation.to_arrow_reader(_BATCH_ROWS) as reader:
                        yield reader
            except duckdb.OutOfMemoryException as error:
                raise StatementError(
                    "the statement needs more than its `memory`; take fewer rows or groups, or "
                    "give it more"
                ) from error
            except duckdb.Error as error:
                raise StatementError(_message(error)) from error
            finally:
                self._connection.execute("rollback")

    def _plain_path(self, folder: Path) -> str:
        """Return a path to a folder in which DuckDB finds no pattern and no column.

        It takes brackets for patterns even where they are escaped, a backslash for a slash, and
        ``a=b`` for a column of every row. Where the path of a folder has such, a link in a
        temporary folder leads there until the database is closed.

        Raises:
            OutputError: no link can be made.
        """
        place = folder.resolve()
        if _PLAIN.fullmatch(str(place)):
            return str(place)
        if place not in self._linked:
            try:
                link = Path(
                    self._links.enter_context(TemporaryDirectory(prefix="medsim-")), "folder"
                )
                link.symlink_to(place, target_is_directory=True)
            except OSError as error:
                raise OutputError(
                    f"{folder} is read by a link; none can be made ({error.strerror}): set TMPDIR"
                ) from error
            if not _PLAIN.fullmatch(str(link)):
                raise OutputError(f"DuckDB cannot read below {link.parent}; set TMPDIR")
            self._linked[place] = str(link)
        return self._linked[place]

    def _text(self, name: str) -> str:
        """Return the text of a query after making the macros that it uses, each when first used."""
        query = queries.query(name)
        for macro in query.macros - self._macros:
            self._macros.add(macro)
            self.run(f"macros/{macro}")
        return query.text


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    """Turn what DuckDB raises into an error that names a query's file or a table."""
    try:
        with _interruptible():
            yield
    except duckdb.OutOfMemoryException as error:
        raise OutputError(f"{name} needs more memory or disk than there is") from error
    except duckdb.Error as error:
        # Only errors of files: others quote rows of users.
        if isinstance(error, duckdb.IOException) and any(full in str(error) for full in _FULL):
            raise OutputError(f"{name} needs more disk than there is") from error
        raise QueryError(f"{name}: {_message(error)}") from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turn what DuckDB makes of an interrupt back into a KeyboardInterrupt."""
    try:
        yield
    except (RuntimeError, duckdb.InvalidInputException) as error:
        if not str(error).endswith(_INTERRUPTED):
            raise
        raise KeyboardInterrupt from error


def _kind(statement: duckdb.Statement) -> str:
    """Return the kind of a statement, as in "select"."""
    try:
        return str(statement.type).rsplit(".", 1)[-1].lower()
    except ValueError:  # Python's library lacks some of the kinds that DuckDB has
        return "another kind of statement"


def _message(error: Exception) -> str:
    """Return DuckDB's message, with names that it proposes, but no settings, which are locked."""
    first, *rest = str(error).splitlines()
    hints = [line for line in rest[:1] if line.startswith(("Did you mean", "Candidate bindings"))]
    return " ".join([first.partition(' Use "SET ')[0], *hints])


READ_SINCE = "v1.0.0"
"""The oldest version of DuckDB that reads the files."""

_NAME = "database_file"  # under which it is attached


def identifier(name: str) -> str:
    """Return a name of a table or column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_CHUNKS_AHEAD = 64  # DuckDB reads many megabytes at once and parses them before it reads on


def _pump(chunks: Iterable[bytes], writing: int, failures: list[BaseException]) -> None:
    """Write chunks to a pipe until they end or nobody reads."""
    try:
        with os.fdopen(writing, "wb") as pipe, thread_pool(1) as maker:
            rest = iter(chunks)
            ahead = deque(maker.submit(next, rest, None) for _ in range(_CHUNKS_AHEAD))
            while (chunk := ahead.popleft().result()) is not None:
                ahead.append(maker.submit(next, rest, None))
                pipe.write(chunk)
    except BrokenPipeError:
        return
    except BaseException as error:  # noqa: BLE001 — raised again in the thread that asked
        failures.append(error)


_PLAIN = re.compile(r"/[\w/ .,:@+-]*")  # nothing that DuckDB takes for a pattern or a column


# The types of DuckDB that Polars has as well, and prints whatever their values.
_PLAIN_TYPES = frozenset(
    (
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double"),
        *("utinyint", "usmallint", "uinteger", "ubigint", "decimal", "varchar", "blob", "uuid"),
        *("null", "list", "array", "struct", "tuple"),
    )
)
_TEMPORAL = frozenset(
    ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone")
)


def told_apart(relation: duckdb.DuckDBPyRelation, *, as_text: bool) -> duckdb.DuckDBPyRelation:
    """Return a relation whose columns have names of their own and types that Polars has."""
    taken: set[str] = set()
    chosen = []
    for place, (given, kind) in enumerate(zip(relation.columns, relation.types, strict=True), 1):
        names = chain([given], (f"{given}_{number}" for number in count(1)))
        name = next(one for one in names if one.lower() not in taken)
        taken.add(name.lower())
        column = duckdb.SQLExpression(f"#{place}")
        plain = _is_plain(kind, _PLAIN_TYPES if as_text else _PLAIN_TYPES | _TEMPORAL)
        chosen.append((column if plain else column.cast("VARCHAR")).alias(name))
    return relation.project(*chosen)


def _is_plain(kind: duckdb.sqltypes.DuckDBPyType, accepted: frozenset[str]) -> bool:
    """Return whether a type is accepted, and so are those of what it holds."""
    if kind.id not in accepted:
        return False
    inner = kind.children if kind.id in {"list", "array", "struct", "tuple"} else ()
    types = (one for _, one in inner if isinstance(one, type(kind)))
    return all(_is_plain(one, accepted) for one in types)
