"""Reads MeSH in the XML of the National Library of Medicine, headings and supplementary records."""

from __future__ import annotations

import io
import re
from datetime import date
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree as ET

from defusedxml import ElementTree as strict  # noqa: N813 — beside the one that is not
from defusedxml import EntitiesForbidden

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.manifest import Skipped
from medsim.core.reading import LONGEST_LINE, XML, too_long
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import (
    ReleaseFile,
    file_alone,
    has_file,
    is_alone,
    release_files,
)
from medsim.terminologies.sources.mesh_records import MeshRows, read_descriptor, read_supplement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_TERMS_OF_USE = (
    "MeSH, courtesy of the U.S. National Library of Medicine: may be passed on with these words, "
    "saying whether it is the current version; "
    "https://www.nlm.nih.gov/databases/download/terms_and_conditions.html"
)
_NAME = re.compile(r"(?P<kind>desc|supp)(?P<year>[0-9]{4})[^.]*(\.xml)?(\.gz)?", re.IGNORECASE)
_ANY_XML = re.compile(r".*\.xml(\.gz)?", re.IGNORECASE)
_ENGLISH = "eng"
_CHUNK_BYTES = 1 << 18
_BEGINNING_BYTES = 1 << 20  # within which the outermost element begins
_RECORDS = {
    "DescriptorRecordSet": ("DescriptorRecord", read_descriptor),
    "SupplementalRecordSet": ("SupplementalRecord", read_supplement),
}


def read_mesh(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from MeSH's XML; see ``medsim.terminologies.sources.Load``."""
    files = _files(path)
    rows = MeshRows(scopes=frozenset(options.synonyms))
    read = tuple(_read_file(file, rows) for file in files)
    for table, buffer in rows.tables.items():
        store.put(table, buffer.frame())
    store.run("terminologies/mesh/is_a")
    (below_absent,) = store.frame("terminologies/mesh/skipped").to_dicts()
    store.drop("mesh_tree", "mesh_heading")
    return Terminology(
        source="mesh",
        name=path.name,
        vocabulary="MSH",
        release_date=_release_date(files),
        files=read,
        rf2_rules=False,
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
        skipped=(
            Skipped(reason="description is empty", n_rows=rows.n_empty),
            Skipped(reason="synonym has another scope", n_rows=rows.n_other_scope),
            Skipped(reason="term repeats a name of its record", n_rows=rows.n_repeated),
            Skipped(**below_absent),
        ),
    )


def recognises(path: Path) -> bool:
    """Return whether ``path`` is an XML file, or a folder or a zip that has one of MeSH's."""
    if is_alone(path):
        return bool(_ANY_XML.fullmatch(path.name) or _NAME.fullmatch(path.name))
    return has_file(path, lambda file: bool(_NAME.fullmatch(file.name)))


def _files(path: Path) -> list[ReleaseFile]:
    if is_alone(path):
        return [file_alone(path)]
    chosen: dict[str, ReleaseFile] = {}
    for file in release_files(path):
        if named := _NAME.fullmatch(file.name):
            other = chosen.setdefault(named["kind"].lower(), file)
            if other is not file:
                raise InputError(
                    f"{path}: {other.inner} and {file.inner} are the same part of MeSH; name the "
                    "one to read"
                )
    return [chosen[kind] for kind in sorted(chosen)]


def _read_file(file: ReleaseFile, rows: MeshRows) -> SourceFile:
    with file.open(reads={XML}) as head:
        outermost = _outermost(file, head)
        if outermost not in _RECORDS:
            raise InputError(
                f"{file.inner}: its outermost element is {outermost!r}; in MeSH's XML it is "
                f"{' or '.join(map(repr, _RECORDS))}"
            )
    tag, read = _RECORDS[outermost]
    with file.open(reads={XML}) as stream:
        hashed = HashedReader(stream)
        for number, record in enumerate(_children(file, hashed), start=1):
            if record.tag == tag and (fault := read(record, rows)):
                raise InputError(f"{file.inner}: {tag} {number:,} {fault}")
        return SourceFile.read_by(hashed, file.inner)


def _outermost(file: ReleaseFile, stream: IO[bytes]) -> str:
    """Return the tag of the outermost element; what stands before it declares no entities."""
    parser = strict.DefusedXMLParser()
    try:
        beginning = io.BytesIO(stream.read(_BEGINNING_BYTES))
        _, root = next(strict.iterparse(beginning, events=("start",), parser=parser))
    except strict.ParseError as error:
        raise _no_xml(file, error) from error
    except EntitiesForbidden as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(
            f"{file.inner}: line {line} declares the entity {error.name!r}; MeSH's files declare "
            "none, and none is read"
        ) from error
    except (ValueError, LookupError) as error:
        line = parser.parser.CurrentLineNumber
        raise InputError(f"{file.inner}: line {line}: not read ({error})") from error
    language = root.get("LanguageCode", _ENGLISH)
    if language != _ENGLISH:
        raise InputError(f"{file.inner} is in {language!r}; MeSH is read in English, {_ENGLISH!r}")
    return str(root.tag)


def _children(file: ReleaseFile, stream: IO[bytes]) -> Iterator[ET.Element]:
    """Yield the children of the outermost element, each gone when the next chunk is read.

    The standard library's parser takes half the time of defusedxml's, which has seen that
    there are no entities: they are declared before the outermost element.
    """
    builder = ET.TreeBuilder()
    holder = builder.start("file", {})  # an element of our own gives access to what is not whole
    parser = ET.XMLParser(target=builder)  # noqa: S314 — there are no entities
    n_whole = n_bytes = 0
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            parser.feed(chunk)
            n_bytes += len(chunk)  # since the last record
            for outermost in holder:
                whole = outermost[:-1]  # what follows the last child shows that it is whole
                yield from whole
                del outermost[: len(whole)]
                n_whole += len(whole)
                n_bytes = 0 if whole else n_bytes
            if n_bytes > LONGEST_LINE:
                raise too_long(f"{file.inner}: record {n_whole + 1:,}")
        parser.close()
    except ET.ParseError as error:
        raise _no_xml(file, error) from error
    yield from holder[0]


def _no_xml(file: ReleaseFile, error: ET.ParseError) -> InputError:
    reason = str(error).partition(":")[0]
    return InputError(f"{file.inner}: line {error.position[0]}: no XML ({reason})")


def _release_date(files: list[ReleaseFile]) -> date | None:
    """Return the first day of the year in the names of the files, from which MeSH is in force."""
    years = [int(named["year"]) for file in files if (named := _NAME.fullmatch(file.name))]
    year = max(years, default=0)
    return date(year, 1, 1) if year else None


SOURCES.register(
    "mesh",
    Source(
        name="mesh",
        about="MeSH as XML",
        files="desc2026.xml, supp2026.xml, or a folder or .zip of both",
        address="https://www.nlm.nih.gov/databases/download/mesh.html",
        recognises=recognises,
        load=read_mesh,
        accepts=frozenset({"synonyms"}),
    ),
)
