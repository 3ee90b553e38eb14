"""Finished outputs, opened for reading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from traceback import walk_tb
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import polars as pl

from medsim.core.addresses import local_path
from medsim.core.config import TIMEOUT
from medsim.core.data import toml_of
from medsim.core.errors import InputError, OptionError, counted, listed, with_addresses
from medsim.core.files import check_own_file, digest_of
from medsim.core.kinds import Kind, M, read_manifest
from medsim.core.manifest import MANIFEST, combined, fingerprint, output_kind
from medsim.core.parquet import read_parquet, scan_files, scan_of_users, scan_parquet
from medsim.core.reading import reading
from medsim.core.shown import Shown, Summary

if TYPE_CHECKING:
    from medsim.core.statements import Outputs
    from medsim.core.store import Store

O = TypeVar("O", bound="Opened[Any]")  # noqa: E741 — an opened output


_AGAIN = "it is damaged or was changed; rebuild the output, or copy it again from its source"

_FAULTS_OF_CODE = (AssertionError, AttributeError, IndexError, NameError, TypeError)

_SCHEMA = re.compile(r"[A-Za-z_]\w{0,62}", re.ASCII)
_KNOWN_SCHEMAS = ("main", "temp", "system", "pg_catalog", "information_schema")  # of DuckDB

OUTPUTS = toml_of(__package__, "outputs.toml")
"""The facts about each kind of output by name."""


class Opened(Shown, Generic[M]):
    """A finished output; its content is read when needed."""

    kind: ClassVar[Kind[Any]]

    def __init__(self, folder: str | Path) -> None:
        self.folder = local_path(folder)
        check_output(self.folder, type(self))
        self.manifest: M = read_manifest(self.folder, self.kind)
        self._views = {
            name: view.files
            for name, view in self.kind.views.items()
            if view.files and not (view.optional and not any(self.folder.glob(view.files)))
        }

    def _summary(self) -> Summary:
        """Return the summary; subclasses add their own facts, calls and table."""
        files = counted(len(self.manifest.outputs), "file")
        return Summary([files], [".views()", '.sql("select …")'])

    @property
    def _name(self) -> str:
        return f"{type(self).__name__}({with_addresses(str(self.folder))!r})"

    def _rows_below(self, path: str) -> int:
        """Return the number of rows in the files whose paths begin with a prefix."""
        return combined(self.manifest.outputs, path).rows

    def read(self, path: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows of one file, without columns from names of folders.

        Args:
            path: path inside the folder, as in the manifest.
            columns: columns to read; all by default.
        """
        with reading(self.folder / path, hint=_AGAIN):
            check_own_file(self.folder / path)  # else Polars would read the files of a folder
            return read_parquet(self.folder / path, columns)

    def sql(
        self,
        statement: str,
        *,
        others: Mapping[str, Opened[Any]] = MappingProxyType({}),
        threads: int | None = None,
        memory: str | None = None,
        timeout: float = TIMEOUT,
    ) -> pl.DataFrame:
        """Return the rows of one read-only SQL statement.

        It can read the views that ``views`` lists, but no file outside the folders of the outputs
        and no network.

        Args:
            statement: one select statement.
            others: other outputs by name; their views are NAME.VIEW, such as new.pair.
            threads: threads to use; all by default.
            memory: memory limit, such as "4GB"; half of the machine's by default.
            timeout: time limit in seconds.

        Raises:
            InputError: a file of the output cannot be read.
            StatementError: it is not a single select, fails, or exceeds its limits.
        """
        from medsim.core.statements import StatementOptions, rows_of  # noqa: PLC0415 — only for SQL

        options = StatementOptions(threads=threads, memory=memory, timeout=timeout)
        return rows_of(statement, outputs_of(self, others), options)

    def _files_of_views(self) -> tuple[Path, Mapping[str, str], tuple[str, ...]]:
        """Return the arguments of ``view_files``: the folder, files of views, and derived views.

        Raises:
            InputError: a file of a view in the manifest is missing.
        """
        self._promised(*(view.files for view in self.kind.views.values() if view.files))
        derived = tuple(filter(None, (view.query for view in self.kind.views.values())))
        return self.folder.resolve(), self._views, derived

    def views(self) -> pl.DataFrame:
        """Return the views for SQL statements, with their columns and numbers of rows."""
        from medsim.core.store import Store  # noqa: PLC0415 — imports DuckDB

        rows = []
        with Store(threads=1) as store:
            for view in show_views(self, store):
                described = store.select(f"describe {view}")
                columns = described.select("column_name", "column_type").iter_rows()
                n_rows = store.select(f"from {view} select count(*)").item()
                rows.append(
                    (view, n_rows, ", ".join(f"{name} {kind.lower()}" for name, kind in columns))
                )
        return pl.DataFrame(rows, schema=["view", "rows", "columns"], orient="row")

    def _scan(self, *patterns: str) -> pl.LazyFrame:
        for path in self._promised(*patterns):
            with reading(path, hint=_AGAIN):
                scan_parquet(path).collect_schema()
        with reading(self.folder / patterns[0], hint=_AGAIN):
            return scan_files(self.folder, *patterns)

    def _promised(self, *patterns: str) -> list[Path]:
        """Return the files of the manifest that match patterns; InputError if one is missing.

        A glob pattern alone would silently skip missing files.
        """
        names = [
            name
            for name in self.manifest.outputs
            if any(PurePosixPath(name).match(pattern) for pattern in patterns)
        ]
        for path in (paths := [self.folder / name for name in names]):
            with reading(path, hint=_AGAIN):
                check_own_file(path)
        return paths

    def read_checked(self, path: str) -> pl.DataFrame:
        """Return the rows of a file after comparing them with the manifest's fingerprint."""
        frame = self.read(path)
        if fingerprint(frame) != self.manifest.outputs[path].fingerprint:
            raise InputError(f"{self.folder / path} was changed; run {self.kind.command} again")
        return frame


def show_views(opened: Opened[Any], store: Store) -> list[str]:
    """Create the views of an output in a store, and return their names in order.

    Raises:
        InputError: a file of the output cannot be read.
    """
    folder, views, derived = opened._files_of_views()  # noqa: SLF001 — same module
    store.view_files(folder, views, derived)
    return [name for name, view in opened.kind.views.items() if name in views or view.query]


def outputs_of(opened: Opened[Any], others: Mapping[str, Opened[Any]]) -> Outputs:
    """Return what a statement can read: an output, and others by their names."""
    taken = set(_KNOWN_SCHEMAS)
    for name in others:
        if not _SCHEMA.fullmatch(name) or name.lower() in taken:
            raise OptionError(f"{name!r} cannot name an output; give another word, such as new")
        taken.add(name.lower())
    outputs = {"main": opened, **others}
    return {name: each._files_of_views() for name, each in outputs.items()}  # noqa: SLF001 — same module


def read_damaged_rows(path: Path) -> pl.DataFrame:
    """Return the rows of a Parquet file that may be damaged, which could make Polars crash.

    Raises:
        InputError: the file is damaged.
    """
    with reading(path, hint=_AGAIN):
        check_own_file(path)
        return scan_of_users(path).collect()


def file_fingerprint(path: Path) -> str:
    """Return the fingerprint of a file of an output: Parquet by rows, all else by bytes.

    Raises:
        InputError: the file is damaged.
        OSError: it cannot be read.
    """
    is_table = path.suffix == ".parquet"
    return fingerprint(read_damaged_rows(path)) if is_table else digest_of(path)


@contextmanager
def reading_output(opened: O) -> Iterator[O]:
    """Give the body an output; turn errors from damaged files into an InputError of one line.

    A file, or a part of the manifest, may be damaged or changed in ways that no check foresees.
    Errors that only a bug in medsim can raise pass unchanged.

    Raises:
        InputError: the output is not as medsim wrote it. Other errors of medsim pass unchanged.
    """
    kind = opened.kind
    hint = (
        f"a file in it is damaged or was changed; rebuild it with {kind.command}, or copy it again "
        "from its source"
    )
    try:
        with reading(opened.folder, kind.with_article, hint):
            yield opened
    except InputError as error:
        if isinstance(cause := error.__cause__, _FAULTS_OF_CODE):
            *_, (innermost, _) = walk_tb(cause.__traceback__)
            if str(innermost.f_globals.get("__name__")).startswith("medsim."):
                raise cause from None
        raise


def open_output(folder: str | Path, *accepted: type[O]) -> O:
    """Return the finished output in a folder."""
    path = local_path(folder)
    output_class: type[Any] = check_output(path, *accepted)
    opened: O = output_class(path)
    return opened


def check_output(path: Path, *accepted: type[Opened[Any]]) -> type[Opened[Any]]:
    """Return the class of the finished output in a folder; InputError if it is not accepted."""
    kinds = [cls.kind for cls in accepted]
    expected = listed([kind.with_article for kind in kinds], word="or") or "an output of medsim"
    commands = listed([kind.command for kind in kinds], word="or")
    remedy = f"; {commands} makes one" if commands else ""
    if not path.exists():
        raise InputError(f"there is no folder {path}{remedy}")
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give the folder of {expected}")
    if not (path / MANIFEST).exists():
        nouns = listed([kind.noun for kind in kinds], word="or") or "output of medsim"
        raise InputError(f"{path} is not a finished {nouns}: it has no {MANIFEST}{remedy}")
    actual = class_of(output_kind(path)) or next(iter(accepted), None)
    if actual is None:
        raise InputError(f"{path / MANIFEST} cannot be read as a manifest of medsim; {_AGAIN}")
    if kinds and actual.kind.name not in (names := [kind.name for kind in kinds]):
        folders = (place.parent for place in sorted(path.glob(f"*/{MANIFEST}")))  # such as splits
        inner = next((folder for folder in folders if output_kind(folder) in names), None)
        such_as = "" if inner is None else f"; give one inside it, such as {inner}"
        raise InputError(f"{path} is {actual.kind.with_article}, not {expected}{remedy}{such_as}")
    return actual


def class_of(name: str | None) -> type[Opened[Any]] | None:
    """Return the class that opens outputs of a kind; None for an unknown kind."""
    if name not in OUTPUTS:
        return None
    output_class: type[Opened[Any]] = resolve_name(OUTPUTS[name]["class"])
    return output_class
