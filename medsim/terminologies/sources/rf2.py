"""Reads SNOMED CT's release format RF2, from a folder or a zip."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from medsim.core.errors import InputError, OptionError, listed, unknown_name
from medsim.core.manifest import Skipped
from medsim.core.reading import JSON, MAX_LINE_BYTES, parsed_json
from medsim.core.store import Store
from medsim.terminologies.mappings import NAMES
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.rf2_writer import COLUMNS, ORIGIN_FILE
from medsim.terminologies.sources import LISTED, Source, Terminology, Vocabulary, day_of
from medsim.terminologies.sources.archive import ReleaseFile, SourceFile, is_alone, release_files
from medsim.terminologies.sources.text_rows import RowFormat, load_rows

_LICENCE = (
    "SNOMED CT content is licensed by SNOMED International and its members; without their "
    "permission neither the terms nor datasets made of them may be passed on"
)


def read_rf2(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from an RF2 release; see ``sources.LoadTables``."""
    releases = {each: release_files(each) for each in (path, *map(Path, options.extensions))}
    dialect = options.dialect
    refset_id = None if dialect is None else reference_set(dialect)
    kinds = RF2_FILES if dialect is None else (LANGUAGE_REFSETS, *RF2_FILES)
    full = "`as_of`" if options.as_of else "the published rule history" * options.by_concepts
    files_of = find_files(releases, kinds, full=full)
    as_of = None if options.as_of is None else options.as_of.isoformat()  # None means the newest
    records: list[SourceFile] = []
    n_repeated = 0
    for kind in kinds:
        n_repeated += _load(kind, files_of[kind.name], store, records)
        if refset_id is not None and kind is LANGUAGE_REFSETS:
            _find_names(path, store, refset_id, as_of)
    if options.as_of is not None:
        oldest = store.frame("terminologies/rf2/oldest_description")["effective_time"].item()
        if oldest is None or options.as_of < oldest:
            raise OptionError(
                f"`as_of` {as_of} is before the oldest description of {path} ({oldest or 'none'})"
            )
    skipped = _fill_tables(store, as_of, options)
    n_main_names = {row[0]: row[1] for row in store.frame("terminologies/language").iter_rows()}
    if not n_main_names.get(options.languages[0], True):
        if options.dialect is None:
            records += _find_preferred(releases, store, options.as_of)
        for language in [language for language, number in n_main_names.items() if number][:1]:
            store.run("terminologies/rf2/concept", as_of=as_of, language=language)
    store.drop("rf2_concept", "description_as_of")
    allowed, terms_of_use = zip(*map(_origin, releases.values()), strict=True)
    released = latest_date(file.name for files in files_of.values() for file in files)
    return Terminology(
        release_date=min(filter(None, (options.as_of, released)), default=None),
        files=tuple(records),
        rf2_rules=True,
        redistributable=False if False in allowed else None if None in allowed else True,
        terms_of_use="; ".join(dict.fromkeys(terms_of_use)),
        skipped=(*skipped, Skipped(reason="row occurs in several files", n_rows=n_repeated)),
    )


def latest_date(names: Iterable[str]) -> date | None:
    """Return the latest date in the names of a release's files; None if they have none."""
    days = (day_of(text, "%Y%m%d") for text in _DATE.findall("\n".join(names)))
    return max(filter(None, days), default=None)


def _load(kind: RF2File, files: list[ReleaseFile], store: Store, records: list[SourceFile]) -> int:
    """Fill the table of a kind of file, add the files to ``records``, and count repeated rows."""
    table = f"rf2_{kind.name}"
    query = f"dialect/{table}" if kind is LANGUAGE_REFSETS else table
    rows = RowFormat(
        separator=b"\t",
        n_separators=len(COLUMNS[kind.name]) - 1,
        last_digits=kind.last_digits,
        check_header=partial(_check_header, kind),
    )
    records += load_rows(f"terminologies/rf2/{query}", rows, files, store)
    repeated = store.frame("terminologies/rf2/repeated_row", rows=table)
    for id_, effective_time, *_ in repeated.filter("differ").iter_rows():
        names = ", ".join(file.inner for file in files)
        raise InputError(
            f"{names}: rows with id {id_} and effectiveTime {effective_time} differ from each other"
        )
    return int(repeated["n_repeated"].sum())  # editions in one folder share rows


def _find_preferred(
    releases: Mapping[Path, list[ReleaseFile]], store: Store, day: date | None
) -> list[SourceFile]:
    """Fill dialect_name from all language reference sets; return the files."""
    records: list[SourceFile] = []
    optional = replace(LANGUAGE_REFSETS, required=False)
    if files := find_files(releases, [optional], full="`as_of`" * bool(day))[optional.name]:
        _load(LANGUAGE_REFSETS, files, store, records)
        as_of = day.isoformat() if day else None
        store.run("terminologies/rf2/dialect/dialect_name", as_of=as_of, refset_id=None)
        store.drop("rf2_language")
    return records


def _fill_tables(store: Store, as_of: str | None, options: ReadingOptions) -> list[Skipped]:
    """Fill the canonical tables with the state of a day, and return the skipped rows."""
    skipped: list[dict[str, Any]] = []
    if options.dialect is not None:
        skipped += store.frame("terminologies/rf2/dialect/skipped", as_of=as_of).to_dicts()
        store.run("terminologies/rf2/dialect/rf2_description")
    store.run("terminologies/rf2/description_as_of", as_of=as_of)
    store.drop("rf2_description")
    store.run("terminologies/rf2/is_a", as_of=as_of)
    store.drop("rf2_relationship")
    store.run("terminologies/rf2/concept", as_of=as_of, language=options.languages[0])
    store.run("terminologies/rf2/description")
    if options.dialect is not None:
        store.run("terminologies/rf2/dialect/description")
    association = "published/association" if options.by_concepts else "association"
    store.run(f"terminologies/rf2/{association}", as_of=as_of)
    skipped += store.frame("terminologies/rf2/skipped", as_of=as_of).to_dicts()
    store.drop("rf2_association")
    return [Skipped(**row) for row in skipped]


def _origin(files: list[ReleaseFile]) -> tuple[bool | None, str]:
    """Return whether the content may be passed on, and the terms of use."""
    for file in files:
        if file.name == ORIGIN_FILE:
            with file.open(reads={JSON}) as stream:
                origin = parsed_json(file.inner, stream.read(MAX_LINE_BYTES))
                redistributable, terms = origin["redistributable"], origin["terms"]
            return None if redistributable is None else redistributable is True, str(terms)
    return False, _LICENCE


_RELEASE_TYPE = re.compile(r"(Full|Snapshot|Delta)(?=$|[-_.])", re.IGNORECASE)
_METADATA_DIGITS = 18  # of concepts of the model, such as 900000000000074008
_MIN_DIGITS = 6  # of any SNOMED CT identifier
_EARLIER_NAMES = {"targetComponentId": "targetComponent"}  # of columns, in older releases
_DATE = re.compile(r"(?<!\d)((?:19|20)\d{6})(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RF2File:
    """A kind of RF2 file.

    Attributes:
        name: name of the table for its rows, without "rf2_".
        stem: pattern of the beginning of its file names.
        last_digits: minimum number of digits of the identifier in the last column.
        required: whether a release must have it.
    """

    name: str
    stem: str
    last_digits: int = _METADATA_DIGITS
    required: bool = True

    @property
    def pattern(self) -> str:
        """The pattern of its file names."""
        return rf"(?:x|MONO)?{self.stem}[^_]*(_.*)?\.txt"


RF2_FILES = (
    RF2File(name="concept", stem="sct2_Concept_"),
    RF2File(name="description", stem="sct2_Description_"),
    RF2File(
        name="association",
        stem="der2_(?:cRefset_)?Association",
        last_digits=_MIN_DIGITS,
        required=False,
    ),
    RF2File(name="relationship", stem="sct2_Relationship_", required=False),
)
"""The files that medsim reads. Associations and is-a are optional."""

LANGUAGE_REFSETS = RF2File(name="language", stem="der2_(?:cRefset_)?Language")
"""The language reference sets, read for a dialect or if a language has no main names."""


def find_files(
    releases: Mapping[Path, list[ReleaseFile]], kinds: Sequence[RF2File], *, full: str
) -> dict[str, list[ReleaseFile]]:
    """Return the files of each kind, in order of the releases and their names.

    If a release has a file as Full and as Snapshot, the Snapshot is read, or the Full form if
    ``full`` names what needs it. Delta files are read only if a release after the first has no
    others.
    """
    chosen: dict[str, list[ReleaseFile]] = {kind.name: [] for kind in kinds}
    for number, (release, files) in enumerate(releases.items()):
        matching = {
            kind: [file for file in files if re.fullmatch(kind.pattern, file.name, re.IGNORECASE)]
            for kind in kinds
        }
        is_delta = {_release_type(file) for each in matching.values() for file in each} == {"delta"}
        for kind, each in matching.items():
            found = _choose(release, each, full, deltas=is_delta and number > 0)
            chosen[kind.name] += found
            if found or not kind.required or (number and any(matching.values())):
                continue
            if each:
                raise InputError(
                    f"{release} has only Delta files, which lack most rows; give the edition that "
                    "they change as the source, and them with `extensions`"
                )
            if not files:
                raise InputError(f"{release} is empty")
            if not any(matching.values()):
                raise InputError(f"{release} has no file that medsim reads; {LISTED}")
            stem = kind.stem.replace("(?:cRefset_)?", "cRefset_")
            raise InputError(
                f"{release} is not an RF2 release: it has no {kind.name} file {stem}*.txt; {LISTED}"
            )
    return chosen


def _choose(
    release: Path, files: list[ReleaseFile], full: str, *, deltas: bool
) -> list[ReleaseFile]:
    """Return one form of each file: Snapshot, Full or unmarked, or else Delta if ``deltas``.

    Files with the same name in several folders are all read; rows that they share count once.
    """
    forms: dict[str, dict[str, list[ReleaseFile]]] = {}
    for file in files:
        by_type = forms.setdefault(_RELEASE_TYPE.sub("", file.name).lower(), {})
        by_type.setdefault(_release_type(file), []).append(file)
    preference = ["full", "", "snapshot"] if full else ["snapshot", "", "full"]
    preference += ["delta"] if deltas else []
    chosen: list[ReleaseFile] = []
    for by_type in forms.values():
        chosen += next((by_type[form] for form in preference if form in by_type), [])
    chosen.sort(key=lambda file: file.inner)
    for file in chosen:
        if full and _release_type(file) == "snapshot":
            raise OptionError(
                f"{full} needs full history, and {release} has {file.name} as a Snapshot only"
            )
    return chosen


def _release_type(file: ReleaseFile) -> str:
    match = _RELEASE_TYPE.search(file.name)
    return match[1].lower() if match else ""


def _check_header(kind: RF2File, file: ReleaseFile, line: bytes) -> None:
    """Raise InputError if a line is not the header of a kind of file."""
    if not line:
        raise InputError(f"{file.inner} is empty; an RF2 file has at least a line of column names")
    text = line.removeprefix(BOM_UTF8).decode("utf-8", "replace")
    header = text.rstrip("\r\n").lower().split("\t")
    columns = COLUMNS[kind.name]
    expected = [{name.lower(), _EARLIER_NAMES.get(name, name).lower()} for name in columns]
    fits = (name in names for name, names in zip(header, expected, strict=False))
    if len(header) != len(expected) or not all(fits):
        raise InputError(
            f"{file.inner}: line 1 is not the header of an RF2 {kind.name} file; expected the "
            f"tab-separated columns {' '.join(columns)}"
        )


DIALECTS: dict[str, str] = NAMES["dialects"]
"""The language reference sets of dialects, by SNOMED International's names.

Source: Expression Constraint Language, Appendix C, Dialect Aliases.
"""

_MAX_SHOWN = 20


def reference_set(dialect: str) -> str:
    """Return the identifier of the language reference set of a dialect.

    Raises:
        OptionError: it is neither an identifier nor the name of a known dialect.
    """
    if dialect.isascii() and dialect.isdecimal():
        return dialect
    known = DIALECTS.get(dialect.strip().lower())
    if known is None:
        near = unknown_name("dialect", dialect.lower(), list(DIALECTS))
        raise OptionError(f"`dialect` needs a name or the identifier of a reference set; {near}")
    return known


def _find_names(path: Path, store: Store, refset_id: str, as_of: str | None) -> None:
    """Fill the table dialect_name from the rows of language reference sets, then drop these rows.

    Raises:
        OptionError: the release lacks the reference set; the message lists the ones it has.
    """
    refset_ids = store.frame("terminologies/rf2/dialect/reference_set", as_of=as_of)["refset_id"]
    if refset_id not in refset_ids.to_list():
        name_of = {identifier: name for name, identifier in DIALECTS.items()}
        there = [f"{name_of[id_]} ({id_})" if id_ in name_of else id_ for id_ in refset_ids]
        raise OptionError(
            f"`dialect`: {path} has no members of the language reference set {refset_id}; it has "
            f"those of {listed(there, _MAX_SHOWN) or 'none'}"
        )
    store.run("terminologies/rf2/dialect/dialect_name", as_of=as_of, refset_id=refset_id)
    store.drop("rf2_language")


Source(
    name="rf2",
    about="RF2 releases",
    files="a folder or archive with sct2_Concept_*.txt",
    example="SnomedCT.zip",
    address="https://mlds.ihtsdotools.org",
    recognises=lambda path: path.exists() and not is_alone(path),
    load=read_rf2,
    vocabulary=Vocabulary("SNOMEDCT_US", "SCTID", "http://snomed.info/id/"),
    accepts=frozenset({"as_of", "dialect", "extensions"}),
    turn=2,
    if_lacking="if it is an extension, give its edition as the source, and it with `extensions`",
).register()
