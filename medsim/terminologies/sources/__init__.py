"""Sources: each reads one format of terminology into the canonical tables."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date, datetime
from pathlib import Path

import polars as pl

from medsim.core.errors import InputError, OptionError, check_unique, counted, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, SEMANTIC_TYPE_COLUMNS
from medsim.core.manifest import Skipped
from medsim.core.progress import Progress
from medsim.core.reading import JSON, FileKind, beginning_of, decoded, file_kind, reading
from medsim.core.registry import Registry
from medsim.core.store import Store
from medsim.core.terms import MAX_NAME, TOO_LONG
from medsim.terminologies.mappings import MAPPING_FILES, add_mappings
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources.archive import ReleaseFile, SourceFile, file_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminology:
    """The facts about a terminology whose canonical tables are filled.

    Attributes:
        source: name of the source that read it.
        name: name of the file, folder or built-in that was read.
        vocabulary: name of the vocabulary of its ids in UMLS, or its address in FHIR; None if it
            has neither.
        release_date: date of the release, or the earlier date that was selected; None if unknown.
        files: files that were read.
        rf2_rules: whether RF2's rules on "[D]" and on namespaces apply to its names.
        redistributable: whether its content may be passed on; None if unknown.
        terms_of_use: terms of use, in words or as an address.
        layout: how a table was read: the column of each role, the other columns, its encoding and
            separator of cells or the sheet of a workbook, and the separator of values in a cell;
            empty for other formats.
        skipped: rows left out of the canonical tables, or rows of unknown concepts.
        warnings: warnings for the user, a sentence each.
    """

    source: str = ""
    name: str = ""
    vocabulary: str | None = None
    release_date: date | None = None
    files: tuple[SourceFile, ...]
    rf2_rules: bool = False
    redistributable: bool | None = None
    terms_of_use: str
    layout: dict[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return everything except ``skipped`` and warnings as JSON values, for manifests."""
        known = asdict(self)
        del known["skipped"], known["warnings"]
        return {**known, "release_date": self.release_date and self.release_date.isoformat()}

    def noting(self, skipped: Iterable[Skipped] = (), warnings: Iterable[str] = ()) -> Terminology:
        """Return the facts with further skipped rows and warnings."""
        return replace(
            self, skipped=(*self.skipped, *skipped), warnings=(*self.warnings, *warnings)
        )


LoadTables = Callable[[Path, Store, ReadingOptions], Terminology]
"""Fills the tables concept, description, association and is_a of a store from a path.

The contract of the tables: columns are those of ``core.kinds.CANONICAL_TABLES``; ids and texts are
never null; a term is trimmed and not empty; a concept has at most one active fully specified name
per language; rows are distinct by their key (``description_id``, ``concept_id``, ...) and sorted by
it. The tables code and semantic_type exist and are empty; a source that knows codes of other
vocabularies, or types of UMLS's Semantic Network, fills them. If a dialect is given, description
has one more column, preferred. RF2 alone adds effective_time. ``OntologyRows`` fills tables so.

Raises InputError if the file is damaged or in another format, and OptionError if an option does not
fit. Any other error is reported as an unreadable file.
"""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of concepts, and how they are named on the web.

    Attributes:
        name: its name in UMLS, such as "MSH".
        prefix: prefix of their identifiers in mappings, without the colon.
        address: beginning of their addresses, before the identifier.
    """

    name: str
    prefix: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A format of terminology, or a built-in terminology.

    Packages add sources by entry points in the group ``medsim.sources``.

    Attributes:
        name: name of the source; for a built-in, the name that users type.
        about: description of the format or the built-in terminology, in a few words.
        files: files that identify the format, or the package with the built-in.
        address: page to download such files or the package from.
        example: name of such a file, for an example; empty for a built-in.
        load: function that reads it.
        vocabulary: vocabulary of its concepts, if always the same, and if ids have no prefix.
        recognises: function that returns whether a path looks like this format.
        locate: for a built-in, function that finds its file.
        accepts: the attributes of ``ReadingOptions`` that it accepts besides the language: any of
            as_of, columns, dialect, extensions, standard_concepts, synonyms and vocabularies.
        turn: 0, or higher if it also recognises files of other formats, which are asked first.
        if_lacking: advice or question if many rows refer to missing concepts.
    """

    name: str
    about: str
    files: str
    address: str
    load: LoadTables
    vocabulary: Vocabulary | None = None
    example: str = ""
    recognises: Callable[[Path], bool] = lambda _path: False
    locate: Callable[[], Path] | None = None
    accepts: frozenset[str] = frozenset()
    turn: int = 0
    if_lacking: str = "is it only part of a terminology?"

    def read(self, path: Path, store: Store, options: ReadingOptions) -> Terminology:
        """Fill all canonical tables of a store; see ``LoadTables``, and ``accepts`` for options.

        For every source, mappings among the extensions are added, marks of obsolescence are removed
        from names of inactive concepts, and rows that refer to missing concepts are counted. The
        facts get the names of the source and of the path, followed by the names of extensions.
        """
        paths = [Path(extension) for extension in options.extensions]
        check_unique("releases", [str(each) for each in (path, *paths)])
        mappings = [each for each in paths if MAPPING_FILES.fullmatch(each.name)]
        others = tuple(each for each in paths if each not in mappings)
        options = replace(options, extensions=others)
        for option in fields(ReadingOptions):
            accepted = option.name in {"language", *self.accepts}
            if others and option.name == "extensions" and not accepted:
                raise OptionError(
                    f"`extensions` {others[0]}: {path}, which is read as {self.name}, takes only "
                    "mappings: SSSOM (.tsv or .csv) or a ConceptMap of FHIR (.json)"
                )
            if not accepted and getattr(options, option.name) != option.default:
                raise OptionError(
                    f"`{option.name}` does not apply to {path}, which is read as {self.name}; "
                    "leave it out"
                )
        for each in paths:
            if not os.path.exists(each):  # noqa: PTH110 — Path's raises where a name is too long
                raise InputError(f"no file or folder {str(each)!r}")
        store.put("code", pl.DataFrame(schema=CANONICAL_TABLES["code"].dtypes))
        store.put("semantic_type", pl.DataFrame(schema=SEMANTIC_TYPE_COLUMNS))
        store.put("dialect_name", pl.DataFrame(schema=_DIALECT_NAME))
        store.put("local_row", pl.DataFrame(schema=_LOCAL_ROW))
        with reading(path, self.name):
            terminology = self.load(path, store, options)
        if self.vocabulary:
            terminology = replace(terminology, vocabulary=self.vocabulary.name)
        for each in mappings:
            with reading(each):
                terminology = with_mappings(terminology, file_alone(each), store)
        for term in store.frame("terminologies/quoted")["term"]:
            raise InputError(f"{path}: all names are in quotes, such as {term}; remove the quotes")
        terminology = _without_long_names(terminology, store)
        if not terminology.rf2_rules:  # SNOMED CT has its own mark, "[D]"
            store.run("terminologies/description")
        absent = store.frame("terminologies/absent").filter(pl.col("n_rows") > 0).to_dicts()
        return replace(
            terminology.noting(Skipped(**row) for row in absent),
            source=terminology.source or self.name,
            name=self.name if self.locate else " + ".join(each.name for each in (path, *paths)),
        )

    def register(self) -> None:
        """Add the source to those that medsim reads."""
        SOURCES.register(self.name, self)


def read_release_text(
    file: ReleaseFile, reads: Collection[FileKind] = ()
) -> tuple[str, SourceFile]:
    """Return the text of a file in UTF-8 and the facts about the file."""
    records: list[SourceFile] = []
    with file.open_recorded(records, reads) as stream:
        text = decoded(stream.read(), file.path)
    return text, records[0]


def _without_long_names(terminology: Terminology, store: Store) -> Terminology:
    """Return the facts about a terminology after removing names that are too long."""
    concepts = store.frame("terminologies/long_name", longest=MAX_NAME)["concept_id"]
    if concepts.is_empty():
        return terminology
    names = store.table("description")
    store.put("description", names.filter(pl.col("term").str.len_chars() <= MAX_NAME))
    reason = f"name {TOO_LONG}"
    warning = f"{reason}, so it is left out: {len(concepts):,}, first of {concepts[0]}"
    return terminology.noting([Skipped(reason=reason, n_rows=len(concepts))], [warning])


def with_mappings(terminology: Terminology, file: ReleaseFile, store: Store) -> Terminology:
    """Return the facts about a terminology after adding a file of mappings to its tables."""
    with reading(file.path, "mappings"):
        text, source_file = read_release_text(file, {JSON})
        licence, skipped, warnings = add_mappings(text, file.path, store, terminology.vocabulary)
    return replace(
        terminology.noting(skipped, warnings),
        files=(*terminology.files, source_file),
        redistributable=terminology.redistributable and None,  # the licence may not allow it
        terms_of_use=f"{terminology.terms_of_use}; {file.inner}: {licence}",
    )


def with_main_names(terminology: Terminology, store: Store, language: str) -> Terminology:
    """Return the facts about a terminology after giving its concepts main names in a language.

    Extensions with translated synonyms have no fully specified names in their language.
    """
    store.run_each("terminologies/main_name", "main_name", "description", language=language)
    counts = store.table("main_name")["origin"].value_counts().sort("origin").rows()
    taken = " and ".join(f"{n:,} {names}" for names, n in counts)
    warning = f"no concept has a fully specified name in {language!r}; main names are {taken}"
    skipped = [Skipped(reason=f"main names are {names}", n_rows=n) for names, n in counts]
    return terminology.noting(skipped, [warning] if counts else [])


LISTED = "`medsim build --list` shows the formats"
"""A hint in messages."""

_ADDED = [
    (
        *("extension", "supplement", "RF2 extensions and Delta files"),
        "medsim build edition.zip --with extension.zip -o rf2",
        *("a folder or archive with sct2_*.txt, by --with", "https://mlds.ihtsdotools.org"),
    ),
    (
        *("mappings", "supplement", "mappings in SSSOM, or a ConceptMap of FHIR"),
        "medsim build hpo --with hp.sssom.tsv -o hpo",
        *(".tsv, .csv or .json, by --with", "https://mapping-commons.github.io/sssom"),
    ),
]
_LOCAL_ROW = {"concept_id": pl.String, "frequency": pl.Int64, "kept": pl.String}
_DIALECT_NAME = {"description_id": pl.String, "preferred": pl.Boolean}
_MANY_ABSENT = 0.25  # of a table's rows; in ontologies up to a fifth name terms of others

SOURCES = Registry("source", __name__, group="medsim.sources", entry_type=Source)
"""The sources by name."""


def vocabularies() -> dict[str, Vocabulary]:
    """Return the vocabularies that sources declare, by name."""
    declared = (source.vocabulary for source in SOURCES.all().values())
    return {vocabulary.name: vocabulary for vocabulary in declared if vocabulary}


_OBO = "http://purl.obolibrary.org/obo/"
_OBO_ID = r"^([A-Za-z][A-Za-z0-9_]*):([A-Za-z0-9_]+)$"


def prefixes_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the address that each prefix of an identifier stands for."""
    if known := vocabularies().get(str(source.get("vocabulary"))):
        return {known.prefix: known.address}
    names = concepts.str.extract(_OBO_ID, 1).drop_nulls().unique().sort()
    return {name: f"{_OBO}{name}_" for name in names}


def curie_prefix(source: Mapping[str, object]) -> str:
    """Return what precedes the identifiers of concepts in mappings; empty if they have a prefix."""
    known = vocabularies().get(str(source.get("vocabulary")))
    return f"{known.prefix}:" if known else ""


def links_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the beginnings of addresses by the beginning of the concepts that they are for."""
    prefixes, has_prefix = prefixes_of(source, concepts), not curie_prefix(source)
    return {f"{name}:" if has_prefix else "": address for name, address in prefixes.items()}


def package_folder(package: str, built_in: str) -> Path:
    """Return the folder of the package that contains a built-in terminology.

    Raises:
        InputError: it is not installed; the message says how to install it.
    """
    # Importing the package would parse all its data.
    spec = importlib.util.find_spec(package.replace("-", "_"))
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise InputError(f"{package} is not installed; install medsim with its extra {built_in}")
    return Path(folders[0])


def skipped_rows(store: Store, source: str) -> tuple[Skipped, ...]:
    """Return the rows that a source's query ``skipped`` counts, by reason."""
    rows = store.frame(f"terminologies/{source}/skipped").iter_rows(named=True)
    return tuple(Skipped(**row) for row in rows)


def day_of(text: str, form: str) -> date | None:
    """Return the date in a text of the form, as in ``strptime``; None if it is not a date."""
    with suppress(ValueError):
        return datetime.strptime(text, form).date()  # noqa: DTZ007 — a day has no zone
    return None


def known_sources() -> pl.DataFrame:
    """Return a row per source, built-in terminologies first.

    Returns:
        source, its name; kind, built-in, format or supplement; reads, the terminology or
        format; example, a command; known_by, the files that identify it, or the package with it;
        address, the page to download them from.
    """
    rows = [
        (
            *(name, "built-in" if source.locate else "format", source.about),
            *(f"medsim build {source.example or name} -o {name}", source.files, source.address),
        )
        for name, source in SOURCES.all().items()
    ]
    rows += _ADDED
    schema = ["source", "kind", "reads", "example", "known_by", "address"]
    return pl.DataFrame(rows, schema, orient="row").sort("kind", "source")


def find_source(location: str) -> tuple[Source, Path]:
    """Return the source that reads a built-in name or a path, and the path to read.

    A path wins if it contains a separator.
    """
    sources = SOURCES.all()
    built_in = sources.get(location)
    if built_in and built_in.locate:
        return built_in, built_in.locate()
    if not os.path.exists(location):  # noqa: PTH110 — Path's raises where a name is too long
        names = [name for name, source in sources.items() if source.locate]
        is_name = Path(location).name == location and "." not in location
        hint = f" ({unknown_name('built-in name', location, names)})" if is_name else ""
        raise InputError(f"no file or folder {location!r}{hint}")
    path = Path(location)
    path = path if path.name not in {"", ".."} else path.resolve()  # the resolved path has a name
    for source in sorted(sources.values(), key=lambda source: source.turn):
        with suppress(InputError), reading(path):  # an unreadable file is in no format
            if source.recognises(path):
                return source, path
    kind = file_kind(beginning_of(path))
    if kind is not None and kind.advice:
        raise InputError(f"{path} {kind}")
    reads = [
        f"{source.about} ({source.files})"
        for source in sources.values()
        if any(end in source.files for end in path.suffixes)
    ]
    near = f", such as {'; '.join(reads)}" if reads else ""
    raise InputError(f"{location!r} is in no format that medsim reads{near}; {LISTED}")


def source_paths(location: str | Path) -> list[Path]:
    """Return the path of a location, as a list; empty for a built-in name."""
    source = SOURCES.all().get(str(location))
    return [] if source and source.locate else [Path(location)]


def read_terminology(
    location: str, store: Store, reading: ReadingOptions, progress: Progress
) -> Terminology:
    """Fill the canonical tables and return the facts about the terminology.

    Raises:
        InputError: the source is missing, damaged, in an unknown format, or has no names in the
            language.
        OptionError: an option does not fit the source.
    """
    source, path = find_source(location)
    with progress.stage(f"read {path.name}") as stage:
        terminology = source.read(path, store, reading)
        counts = {name: of_name for name, *of_name in store.frame("terminologies/language").rows()}
        for language in reading.languages:
            if language not in counts:
                raise InputError(
                    f"{path}: no active descriptions in language {language!r}; "
                    f"languages found: {', '.join(counts) or 'none'}"
                )
        language = reading.languages[0]
        n_main_names, n_concepts = counts[language]
        if not n_main_names:
            terminology = with_main_names(terminology, store, language)
        elif 2 * n_main_names < n_concepts:
            few = f"only {n_main_names:,} of {n_concepts:,} concepts with names in {language!r}"
            lost = f"{few} have a fully specified name in it; the others are left out"
            terminology = terminology.noting(warnings=[lost])
        stage.note(
            f"{store.n_rows('concept'):,} concepts, {store.n_rows('description'):,} descriptions"
        )
    if layout := terminology.layout:
        roles = ", ".join(f"{role}={name!r}" for role, name in layout.items())
        progress.say(f"{path.name} is read with {roles}")
    for warning in terminology.warnings:
        progress.warn(warning)
    n_absent = {reason.reason: reason.n_rows for reason in terminology.skipped}
    for table in ("description", "association"):
        n_rows = n_absent.get(f"{table} is of an absent concept", 0)
        if n_rows > _MANY_ABSENT * store.n_rows(table):
            progress.warn(
                f"{path.name} lacks the concepts of {counted(n_rows, table)}; {source.if_lacking}"
            )
    return terminology
