"""A database file of DuckDB: views copied to its tables, with comments on them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from medsim.core.kinds import Table, View

READ_SINCE = "v1.0.0"
"""The oldest version of DuckDB that reads the files."""

_NAME = "database_file"  # under which it is attached


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    """A database file that is attached to the database whose views are copied.

    Attributes:
        execute: runs a statement there.
    """

    execute: Callable[..., Any]

    def append(
        self, view: str, declared: View | Table, added: Mapping[str, tuple[str, str]]
    ) -> int:
        """Append the rows of a view to the table of its name; return their number.

        The table and its columns have what the view declares of them as comments.

        Args:
            view: its name.
            declared: its description.
            added: columns that the table has before those of the view, by name: the value of
                every row, and a note.
        """
        table = f"{_NAME}.{identifier(view)}"
        values = {name: value for name, (value, _) in added.items()}
        named = "".join(f"${name} as {identifier(name)}, " for name in values)
        rows = f"select {named}* from {identifier(view)}"  # noqa: S608 — quoted
        self.execute(f"create table if not exists {table} as {rows} limit 0", values)
        (n_rows,) = self.execute(f"insert into {table} by name {rows}", values).fetchone()
        notes = {**declared.notes, **{name: note for name, (_, note) in added.items()}}
        self.execute(f"comment on table {table} is {_literal(declared.about)}")
        for column, *_ in self.execute(f"describe {table}").fetchall():
            if column in notes:
                place = f"{table}.{identifier(column)}"
                self.execute(f"comment on column {place} is {_literal(notes[column])}")
        return int(n_rows)


@contextmanager
def attached_file(execute: Callable[..., Any], path: str) -> Iterator[DatabaseFile]:
    """Give the body a database file, which is made where there is none and is whole at its end."""
    version = _literal(READ_SINCE)
    execute(f"attach $path as {_NAME} (storage_version {version})", {"path": path})
    yield DatabaseFile(execute)
    execute(f"detach {_NAME}")


def identifier(name: str) -> str:
    """Return a name of a table or column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
