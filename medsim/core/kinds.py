"""Kinds of output and their tables, each declared once in the package that makes it.

A kind is a ``Kind``, such as ``medsim.evaluations.output.EVALUATION``. The class that opens outputs
of the kind refers to it, and ``outputs.toml`` lists the class for all commands. The tables are in
the ``tables.toml`` of each package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import InputError, listed
from medsim.core.files import read_own_json
from medsim.core.manifest import MANIFEST, Manifest, Output, medsim_version
from medsim.core.reading import reason

M = TypeVar("M", bound=Manifest)

_IN_FOLDER = re.compile(r"\b(\w+)=\*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        dtype: type of the values.
        about: description of the values, with their unit, and when they are null.
        in_some_files: whether only some files of the table have the column, as one of the last.
    """

    dtype: pl.DataType | type[pl.DataType]
    about: str
    in_some_files: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an output, in files and as a view for SQL statements.

    Attributes:
        files: pattern of its files below the output's folder; empty if a query makes the table.
        about: description of a row, in a sentence or two.
        columns: all columns by name, in order, including those in names of folders, as in
            "input=*". Empty if they depend on the options (see ``variants``).
        key: columns that identify a row of a file.
        order: order of the rows, in a few words.
        optional: whether outputs of the kind may lack the table.
        query: name of the query that makes it from other tables, which all outputs have.
        variants: tables by scale or tool, if the columns depend on that.
    """

    files: str = ""
    about: str = ""
    columns: Mapping[str, Column] = field(default_factory=dict)
    _: KW_ONLY
    key: tuple[str, ...] = ()
    order: str = ""
    optional: bool = False
    query: str = ""
    variants: Mapping[str, Table] = field(default_factory=dict)

    @property
    def dtypes(self) -> Columns:
        """The types of the columns that every file has, in order."""
        dtypes = self.all_columns()
        return {name: dtypes[name] for name in dtypes if not self.columns[name].in_some_files}

    def all_columns(self) -> Columns:
        """Return the types of the columns of all files, without those in names of folders."""
        excluded = self.folder_columns()
        return {name: column.dtype for name, column in self.columns.items() if name not in excluded}

    @property
    def notes(self) -> Mapping[str, str]:
        """The descriptions of the columns, by name."""
        return {name: column.about for name, column in self.columns.items()}

    def path(self, *names: str) -> str:
        """Return the path of a file of the table; the names replace the stars of the pattern."""
        return self.files.replace("*", "{}").format(*names)

    def folder_columns(self) -> tuple[str, ...]:
        """Return the columns in names of folders, as in "input=*", in order."""
        return tuple(_IN_FOLDER.findall(self.files))


def declared_tables(
    package: str, file: str = "tables.toml", /, **groups: Mapping[str, Column]
) -> dict[str, Table]:
    """Return the tables that a TOML file of a package declares, by name.

    An entry under ``tables`` is a ``declared_table``. An entry under ``groups`` has columns that
    several tables share; it may name earlier ones.

    Args:
        package: name of the package.
        file: name of the file.
        groups: further groups of columns, which are declared elsewhere, by name.
    """
    declared = toml_of(package, file)
    for name, entries in declared.get("groups", {}).items():
        groups[name] = declared_columns(entries, groups)
    return {name: declared_table(entry, groups) for name, entry in declared["tables"].items()}


def declared_table(
    entry: Mapping[str, Any], groups: Mapping[str, Mapping[str, Column]], **others: Any
) -> Table:
    """Return the table of an entry in a TOML file.

    Args:
        entry: fields of ``Table``, with columns as in ``declared_columns``; without an order, the
            table is in order of its key.
        groups: groups of columns by name.
        others: fields that the entry must lack.
    """
    key = tuple(entry.get("key", ()))
    columns = declared_columns(entry["columns"], groups)
    fields = {"order": f"By {listed(key)}.", **entry, "key": key, "columns": columns}
    return Table(**fields, **others)


def declared_columns(
    entries: Iterable[Any], groups: Mapping[str, Mapping[str, Column]]
) -> dict[str, Column]:
    """Return the columns of entries in a TOML file, by name.

    Args:
        entries: a column is its name, its type in Polars and its description; a text names a group
            of columns. Only some files have a column whose type, or whose group, ends in "?".
        groups: groups of columns by name.
    """
    columns: dict[str, Column] = {}
    for entry in entries:
        if isinstance(entry, str):
            group = groups[entry.rstrip("?")]
            optional = {name: replace(one, in_some_files=True) for name, one in group.items()}
            columns |= optional if entry.endswith("?") else group
        else:
            name, dtype, about = entry
            columns[name] = Column(_dtype(dtype.rstrip("?")), about, dtype.endswith("?"))
    return columns


def _dtype(name: str) -> pl.DataType | type[pl.DataType]:
    """Return the type of a name such as "Int64" or "List[String]"."""
    dtype: type[pl.DataType] = getattr(pl, name.removeprefix("List[").removesuffix("]"))
    return pl.List(dtype) if name.startswith("List[") else dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[M]):
    """The declaration of a kind of output.

    Attributes:
        noun: noun for it in sentences, without an article.
        command: command that makes it.
        manifest: class of its manifests.
        views: tables that are views in SQL, by name.
        resumed_by: folder that takes long to fill, so that an interrupted run can be resumed;
            None if every run starts from the beginning.
        grows: whether a command may add to a finished output.
        unseen: tables that are not views in SQL, by name.
    """

    noun: str
    command: str
    manifest: type[M]
    views: Mapping[str, Table]
    resumed_by: str | None = None
    grows: bool = False
    unseen: Mapping[str, Table] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the kind in manifests."""
        return self.manifest.kind

    @property
    def with_article(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"

    @property
    def others(self) -> Mapping[str, str]:
        """The descriptions of the files that are not tables, by pattern."""
        return self._described("others")

    @property
    def recorded(self) -> Mapping[str, str]:
        """The descriptions of further entries of the manifest's options, by key."""
        return self._described("recorded")

    def _described(self, section: str) -> Mapping[str, str]:
        """Return the texts on the kind in a section of its package's ``tables.toml``."""
        declared = toml_of(self.manifest.__module__.rpartition(".")[0], "tables.toml")
        texts: Mapping[str, str] = declared.get(section, {}).get(self.name, {})
        return texts


def read_manifest(folder: Path, kind: Kind[M]) -> M:
    """Return the manifest of a finished output.

    Raises:
        InputError: the manifest is missing, of another kind, or not written by medsim.
    """
    path = folder / MANIFEST
    try:
        content = read_own_json(path)
        if (name := content.pop("kind", kind.name)) != kind.name:
            raise ValueError(f"its kind is {name!r}")  # noqa: TRY301 — one of several faults
        if isinstance(version := content.get("medsim"), str) and version != medsim_version():
            raise InputError(f"{folder} was made by medsim {version}; run {kind.command} again")
        outputs = {name: Output(**output) for name, output in content.pop("outputs").items()}
        manifest = kind.manifest(**content, outputs=outputs)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} cannot be read as a manifest of medsim ({reason(error)}); rebuild the "
            f"{kind.noun} with {kind.command}, or copy it again from its source"
        ) from error
    return manifest


Columns: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]
"""The columns of a table, in order."""


def columns(dtype: type[pl.DataType], *names: str) -> Columns:
    """Return columns of one type, to be joined with others using ``|``."""
    return dict.fromkeys(names, dtype)


CanonicalTable = Literal["concept", "description", "association", "is_a", "code"]

CANONICAL_TABLES = declared_tables(__package__)
"""The tables that every source fills, as builds keep them."""

TERM_COLUMNS: Columns = {
    "term": pl.String,
    "covered": pl.Boolean,
    "n_words": pl.Int32,
    "n_unknown_words": pl.Int32,
}
"""The columns of a table of terms with the coverage of an embedding."""

WIC_COLUMNS: Columns = (
    columns(pl.String, "term1", "term2", "sentence1", "sentence2")
    | columns(pl.Int32, "start1", "start2", "end1", "end2")
    | columns(pl.String, "cat")
    | columns(pl.Int8, "label")
)
"""The columns of instances of words in context, in the order of BioWiC's files.

Starts and ends are code points of the sentence, ends exclusive; cat is one of
``medsim.wic.GROUPS``; label is 1 where both terms have the same meaning, else 0.
"""

SEMANTIC_TYPE_COLUMNS: Columns = columns(pl.String, "concept_id", "type_id", "semantic_type")
"""The columns of the UMLS semantic types of concepts, such as T047."""
