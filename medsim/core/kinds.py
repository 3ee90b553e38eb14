"""Kinds of output: the room that makes a kind declares it once, and all else asks the declaration.

The declaration is a ``Kind``, such as ``medsim.evaluations.output.EVALUATION``, and the class that
opens an output of the kind has it. One line in ``medsim.core.opened`` lets every command find it.
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import polars as pl

from medsim.core.errors import InputError
from medsim.core.files import read_own_json
from medsim.core.manifest import MANIFEST, Manifest, Output, kind_of, medsim_version
from medsim.core.options import fits, type_of, types_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

M = TypeVar("M", bound=Manifest)

_IN_FOLDER = re.compile(r"\b(\w+)=\*")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        dtype: the type of its values.
        about: what the values are, with their unit. If they may be null, it says when.
        in_some_files: whether only some files of the table have the column, after the others.
    """

    dtype: pl.DataType | type[pl.DataType]
    about: str
    in_some_files: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an output, as files have it and SQL statements see it.

    Attributes:
        files: pattern of the files that hold it, below the output's folder; empty if a query
            makes it.
        about: what its rows are, in a sentence or two.
        columns: all columns by name, in their order; those that folders name, as in "input=*",
            are among them. Empty if they depend on what was asked for (see ``variants``).
        key: the columns by which a row of a file differs from all others.
        order: of the rows, in a few words.
        optional: whether outputs of the kind may lack it.
        query: the name of the query that makes it of other tables that no output lacks.
        variants: the table by what was asked for, if its columns depend on that.
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
        """The types of the columns that every file has, in their order."""
        found = self.all_columns()
        return {name: found[name] for name in found if not self.columns[name].in_some_files}

    def all_columns(self) -> Columns:
        """Return the types of the columns of all files, without those that folders name."""
        named = self.folder_columns()
        return {name: one.dtype for name, one in self.columns.items() if name not in named}

    @property
    def notes(self) -> Mapping[str, str]:
        """What the values of each column are, by column."""
        return {name: one.about for name, one in self.columns.items()}

    def folder_columns(self) -> tuple[str, ...]:
        """Return the columns that folders name, as in "input=*", in their order."""
        return tuple(_IN_FOLDER.findall(self.files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[M]):
    """The declaration of a kind of output.

    Attributes:
        noun: by which sentences name it, without an article.
        command: that makes it.
        manifest: the class of its manifests.
        views: its tables by name.
        resumed_by: the folder that takes long to fill, for which an interrupted run is resumed;
            None where every run starts afresh.
        grows: whether a finished output may be added to.
        unseen: tables that SQL statements do not see, by name.
        others: files that are no tables, by pattern: what each is, in a sentence.
        recorded: what manifests keep among their options beside those that have a key, by key.
    """

    noun: str
    command: str
    manifest: type[M]
    views: Mapping[str, Table]
    resumed_by: str | None = None
    grows: bool = False
    unseen: Mapping[str, Table] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name by which manifests call the kind."""
        return self.manifest.kind

    @property
    def with_article(self) -> str:
        """The noun with its article."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"


def read_manifest(folder: Path, kind: Kind[M]) -> M:
    """Return the manifest of a finished output.

    Raises:
        InputError: there is none, it is of another kind, or it is not medsim's.
    """
    path = folder / MANIFEST
    try:
        found = read_own_json(path, _Part)
        if (name := found.pop("kind", kind.name)) != kind.name:
            raise TypeError(f"its kind is {name!r}")  # noqa: TRY301 — one of many faults
        if isinstance(version := found.get("medsim"), str) and version != medsim_version():
            raise InputError(f"{folder} was made by medsim {version}; run {kind.command} again")
        outputs = {name: Output(**output) for name, output in found.pop("outputs").items()}
        manifest = kind.manifest(**found, outputs=outputs)
        for part in (manifest, *outputs.values()):
            for name, hint in types_of(type(part)).items():
                if name != "kind" and not fits(value := getattr(part, name), hint):
                    raise TypeError(f"{name} is a {type_of(value)}")  # noqa: TRY301 — as above
    except (FileNotFoundError, NotADirectoryError) as error:
        fault = f"{folder} is not a finished {kind.noun}: it has no {MANIFEST}"
        if not folder.is_dir():
            fault = f"there is no folder {folder}"
        raise InputError(f"{fault}; {kind.command} makes one") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} cannot be read as a manifest of medsim ({error}); rebuild the {kind.noun} "
            f"with {kind.command}, or copy it again from its source"
        ) from error
    return manifest


def one_within(folder: Path, *kinds: str) -> str:
    """Return the end of a message that names one of the outputs of some kinds in a folder, if any.

    A set of splits, for one, holds builds.
    """
    found = (path.parent for path in sorted(folder.glob(f"*/{MANIFEST}")))
    inner = next((place for place in found if kind_of(place) in kinds), None)
    return "" if inner is None else f"; name one of those in it, such as {inner}"


class _Part(dict[str, Any]):
    """A part of a manifest, which says what it lacks."""

    def __missing__(self, key: str) -> Any:
        raise InputError(f"{MANIFEST} has no {key!r} where it belongs; rebuild the output")


Columns: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]
"""The columns of a table in their order."""


def columns(dtype: type[pl.DataType], *names: str) -> Columns:
    """Return columns of one type, to be joined with others by ``|``."""
    return dict.fromkeys(names, dtype)


CanonicalTable = Literal["concept", "description", "association", "is_a", "code"]

CANONICAL_TABLES: Mapping[str, Table] = {
    "concept": Table(
        "terminology/concept.parquet",
        "A row per concept of the terminology, active or not.",
        {
            "concept_id": Column(pl.String, "Identifier of the concept in its terminology."),
            "active": Column(pl.Boolean, "Whether the concept is in use; false if retired."),
            "module_id": Column(pl.String, "The concept's module in SNOMED CT; empty elsewhere."),
            "semantic_tag": Column(
                pl.String, "Semantic tag or type, such as disorder; empty if there is none."
            ),
        },
        key=("concept_id",),
        order="By concept_id.",
    ),
    "description": Table(
        "terminology/description.parquet",
        "A row per name of a concept, active or not, in any language.",
        {
            "description_id": Column(pl.String, "Identifier of the name."),
            "concept_id": Column(pl.String, "Concept that the name is of."),
            "term": Column(pl.String, "The name, without its semantic tag."),
            "kind": Column(
                pl.String, "fsn for the fully specified or main name, synonym for any other."
            ),
            "active": Column(pl.Boolean, "Whether the name is in use."),
            "language": Column(pl.String, "Language of the name as a code such as en."),
            "preferred": Column(
                pl.Boolean,
                "Whether the dialect prefers the name; only in builds for a dialect.",
                in_some_files=True,
            ),
        },
        key=("description_id",),
        order="By description_id.",
    ),
    "association": Table(
        "terminology/association.parquet",
        "A row per association from one concept, most often a retired one, to another.",
        {
            "source_id": Column(pl.String, "Concept that the association starts from."),
            "target_id": Column(pl.String, "Concept that stands in for it."),
            "kind": Column(
                pl.String,
                "same_as, replaced_by or possibly_equivalent_to, which have datasets; in UMLS also "
                "synonymous; in SNOMED CT also moved_to, moved_from, was_a, similar_to, "
                "alternative, refers_to, possibly_replaced_by, partially_equivalent_to, or the "
                "identifier of another reference set.",
            ),
            "active": Column(pl.Boolean, "Whether the association is in use."),
        },
        key=("source_id", "target_id", "kind"),
        order="By source_id, target_id and kind.",
    ),
    "is_a": Table(
        "terminology/is_a.parquet",
        "A row per is-a relationship of a concept and a parent of it.",
        {
            "child_id": Column(pl.String, "The more specific concept."),
            "parent_id": Column(pl.String, "The more general concept, a direct parent."),
        },
        key=("child_id", "parent_id"),
        order="By child_id and parent_id.",
    ),
    "code": Table(
        "terminology/code.parquet",
        "A row per code that another vocabulary has for a concept.",
        {
            "concept_id": Column(pl.String, "Concept that the code is for."),
            "vocabulary": Column(pl.String, "Name of the vocabulary, such as SNOMEDCT_US."),
            "code": Column(pl.String, "The code in that vocabulary."),
        },
        key=("concept_id", "vocabulary", "code"),
        order="By concept_id, vocabulary and code.",
        optional=True,
    ),
}
"""The tables that every source fills, as builds keep them."""

TERM_COLUMNS: Columns = {
    "term": pl.String,
    "covered": pl.Boolean,
    "n_words": pl.Int32,
    "n_unknown_words": pl.Int32,
}
"""The columns of the terms of an input, and whether an embedding covers them."""

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
"""The columns of the types that concepts have in the Semantic Network of UMLS, such as T047."""
