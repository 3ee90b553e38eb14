"""Sources: each reads one format of terminology into the canonical tables."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, listed, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, SEMANTIC_TYPE_COLUMNS
from medsim.core.manifest import Skipped
from medsim.core.reading import beginning_of, kind_of, reading
from medsim.core.registry import Registry
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from medsim.core.files import HashedReader
    from medsim.core.progress import Progress
    from medsim.core.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read.

    Attributes:
        name: of the file; of one in a zip, its path there.
        size: in bytes.
        sha256: of its bytes, in hexadecimal digits.
    """

    name: str
    size: int
    sha256: str

    @classmethod
    def read_by(cls, reader: HashedReader, name: str) -> SourceFile:
        """Return a file of a name, after reading what is left of it."""
        return cls(name=name, sha256=reader.finish(), size=reader.n_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminology:
    """The facts about a terminology whose canonical tables are filled.

    Attributes:
        source: the name of the source that read it.
        name: of the file, folder or built-in that was read.
        vocabulary: under which name, as UMLS names vocabularies, its ids are cited elsewhere; None
            where they are not.
        release_date: of the release, or the earlier day whose state was taken; None where neither
            is known.
        files: those that were read.
        rf2_rules: whether RF2's rules on "[D]" and on namespaces apply to its names.
        redistributable: whether its content may be passed on; None where that is not known.
        terms_of_use: the terms in words or as an address.
        skipped: rows that did not enter the canonical tables, or are of concepts that these lack.
    """

    source: str
    name: str
    vocabulary: str | None = None
    release_date: date | None = None
    files: tuple[SourceFile, ...]
    rf2_rules: bool = False
    redistributable: bool | None = None
    terms_of_use: str
    skipped: tuple[Skipped, ...]

    def to_json(self) -> dict[str, object]:
        """Return all but the rows that were skipped as plain JSON values, as manifests have it."""
        known = asdict(self)
        del known["skipped"]
        return {**known, "release_date": self.release_date and self.release_date.isoformat()}


class Load(Protocol):
    """Reads a terminology."""

    def __call__(self, path: Path, store: Store, options: ReadingOptions) -> Terminology:
        """Fill the tables concept, description, association and is_a of ``store``.

        The contract of the tables: ids and texts are never null; a term is trimmed and not empty;
        a concept has at most one active fully specified name in a language; rows are distinct by
        their key (``description_id``, ``concept_id``, ...). The table code is there, empty, and a
        source that knows codes of other vocabularies fills it; and so is semantic_type, for those
        that know types of UMLS's Semantic Network. Of a dialect, description has a column more,
        preferred.

        Raises:
            InputError: the file is damaged or is not what it should be.
            OptionError: an option does not fit the source.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A format of terminology, or a built-in terminology.

    Attributes:
        name: of the source; for a built-in, what the user types.
        about: the format or the built-in terminology, in a few words.
        files: the files by which the format is known, or the package that ships the built-in.
        address: the page from which such files or the package are to be had.
        load: reads it.
        recognises: whether a path looks like this format; by default none does.
        locate: for a built-in, finds its file.
        accepts: the attributes of ``ReadingOptions`` that only some sources know and it does, of
            as_of, dialect, standard_concepts, synonyms and vocabularies.
        asked_last: whether it recognises more than its own, and others are asked before it.
        if_lacking: the likely cause where many rows are of concepts that are not there.
    """

    name: str
    about: str
    load: Load
    recognises: Callable[[Path], bool] = lambda _path: False
    locate: Callable[[], Path] | None = None
    accepts: frozenset[str] = frozenset()
    asked_last: bool = False
    files: str = ""
    address: str = ""
    if_lacking: str = "is it only a part of a terminology, or are they concepts of others?"

    def __str__(self) -> str:
        return f"{self.about} ({self.files})" if self.files else self.about

    def read(self, path: Path, store: Store, options: ReadingOptions) -> Terminology:
        """Fill all canonical tables of a store; see ``Load``, and ``accepts`` for its options.

        Of every source, names of inactive concepts lose marks of obsolescence, and rows of concepts
        that it lacks are counted.
        """
        usual = ReadingOptions()
        sources = SOURCES.all()
        for option in sorted(frozenset().union(*(one.accepts for one in sources.values()))):
            if option not in self.accepts and getattr(options, option) != getattr(usual, option):
                owners = [name for name, one in sources.items() if option in one.accepts]
                raise OptionError(
                    f"`{option}` is an option of {listed(owners)}, and {path} is read as "
                    f"{self.name}"
                )
        store.put("code", pl.DataFrame(schema=CANONICAL_TABLES["code"].dtypes))
        store.put("semantic_type", pl.DataFrame(schema=SEMANTIC_TYPE_COLUMNS))
        with reading(path, self.name):
            terminology = self.load(path, store, options)
        for term in store.frame("terminologies/quoted")["term"]:
            raise InputError(
                f"{path}: all names are in quotes, such as {term}; write the file again without "
                "quotes"
            )
        if not terminology.rf2_rules:  # SNOMED CT has a mark of its own, "[D]"
            store.run("terminologies/description")
        absent = store.frame("terminologies/absent").to_dicts()
        return replace(
            terminology,
            skipped=(*terminology.skipped, *(Skipped(**row) for row in absent if row["n_rows"])),
        )

    def has_part(self, name: str) -> bool:
        """Return whether ``files`` names a file of this name, in any case, or packed by gzip."""
        plain = name.lower().removesuffix(".gz")
        named = (word for word in self.files.lower().split() if "." in word)
        return any(fnmatchcase(plain, word) for word in named)

    def knows(self, path: Path) -> bool:
        """Return whether a path looks like this format; what cannot be read does not."""
        try:
            with reading(path):
                return self.recognises(path)
        except InputError:
            return False


_MANY_ABSENT = 0.25  # of the rows of a table; ontologies name terms of others in up to a fifth

SOURCES: Registry[Source] = Registry("source", "medsim.terminologies.sources")


def package_folder(package: str, built_in: str) -> Path:
    """Return the folder of the package that a built-in terminology is in.

    Raises:
        InputError: it is not installed; the message says how to install it.
    """
    # Found, not imported: importing parses all that it has.
    found = importlib.util.find_spec(package.replace("-", "_"))
    folders = found.submodule_search_locations if found else None
    if not folders:
        raise InputError(
            f"the built-in {built_in} needs the package {package}; install medsim with its extra "
            f"{built_in}"
        )
    return Path(folders[0])


def known_sources() -> pl.DataFrame:
    """Return a row per source, built-in terminologies first.

    Returns:
        source, its name; kind, built-in or format; reads, the terminology or format; known_by, the
        files by which it is known, or the package that has it; address, from which those are to be
        had.
    """
    rows = [
        (name, "format" if one.locate is None else "built-in", one.about, one.files, one.address)
        for name, one in SOURCES.all().items()
    ]
    schema = ["source", "kind", "reads", "known_by", "address"]
    return pl.DataFrame(rows, schema, orient="row").sort("kind", "source")


def find_source(location: str) -> tuple[Source, Path]:
    """Return the source that reads a built-in name or a path, and the path to read.

    A path wins if it contains a separator.
    """
    sources = SOURCES.all()
    built_in = sources.get(location)
    if built_in is not None and built_in.locate is not None:
        return built_in, built_in.locate()
    path = Path(location)
    path = path if path.name not in {"", ".."} else path.resolve()  # which has a name
    try:
        exists = bool(location) and path.exists()
    except OSError:  # a name that is too long, a folder that may not be entered
        exists = False
    if not exists:
        names = [name for name, source in sources.items() if source.locate]
        hint = unknown_name("built-in name", location, names)
        raise InputError(f"no file or folder {location!r} ({hint})")
    for source in sorted(sources.values(), key=lambda source: source.asked_last):
        if source.knows(path):
            return source, path
    if not path.is_dir():
        kind = kind_of(beginning_of(path))
        for source in sources.values():
            if source.has_part(path.name):
                raise InputError(
                    f"{location!r} is one of several files of {source.about}; name the folder that "
                    "has them all"
                )
        if kind is not None and kind.advice:
            raise InputError(f"{path} {kind}")
    formats = "; ".join(str(source) for source in sources.values() if source.locate is None)
    raise InputError(f"{location!r} is in no format that medsim reads; it reads {formats}")


def check_language(path: Path, store: Store, reading: ReadingOptions) -> None:
    """Raise InputError if a terminology that was read has no names in the language asked for."""
    found = store.frame("terminologies/language")["language"].to_list()
    if reading.language not in found:
        raise InputError(
            f"{path}: no active descriptions in language {reading.language!r}; "
            f"languages found: {', '.join(found) or 'none'}"
        )


def source_paths(location: str | Path) -> list[Path]:
    """Return the path that a location is; none of a built-in name."""
    built_in = SOURCES.all().get(str(location))
    return [] if built_in is not None and built_in.locate is not None else [Path(location)]


def read_terminology(
    location: str, store: Store, reading: ReadingOptions, progress: Progress
) -> Terminology:
    """Fill the canonical tables and return the facts about the terminology.

    Raises:
        InputError: the source is missing, damaged, in no known format, or has no names in the
            language.
        OptionError: an option does not fit the source.
    """
    source, path = find_source(location)
    with progress.stage(f"read {path.name}") as stage:
        terminology = source.read(path, store, reading)
        check_language(path, store, reading)
        stage.found(
            f"{store.n_rows('concept'):,} concepts, {store.n_rows('description'):,} descriptions"
        )
    n_absent = {one.reason: one.n_rows for one in terminology.skipped}
    for table in ("description", "association"):
        n_rows = n_absent.get(f"{table} is of an absent concept", 0)
        if n_rows > _MANY_ABSENT * store.n_rows(table):
            progress.warn(
                f"{path.name} lacks the concepts of {counted(n_rows, table)}; {source.if_lacking}"
            )
    return terminology
