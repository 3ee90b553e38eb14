"""Reads the triples of ontologies and thesauri: RDF in XML or Turtle, and semantic-sql."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing
from typing import IO, TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.queries import query
from medsim.core.reading import BEGINNING, LONGEST_LINE, RDF_XML, SQLITE, TURTLE, Watched, kind_of
from medsim.terminologies.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.terminologies.sources.archive import ReleaseFile

Triple = tuple[str, str, str, str | None]
"""Subject, predicate, object, and the language of a literal, "" if it has none, else None.

Subjects and objects that have no IRI begin with "_:".
"""

READS = frozenset({RDF_XML, TURTLE, SQLITE})
"""The kinds of files that are read."""

_BASE = "file:///ontology"  # relative IRIs do not depend on the folder
_MARK = b"\xef\xbb\xbf"
_ENTITY = b"<!ENTITY"
_PLAIN_ENTITY = re.compile(rb'<!ENTITY\s+[\w.-]+\s+"[^"&]{0,200}"\s*>')


def read_triples(file: ReleaseFile, read: list[SourceFile]) -> Iterator[Triple]:
    """Yield the triples of a file in its order, and record the file.

    Args:
        file: RDF in XML, Turtle or N-Triples, or a database of semantic-sql.
        read: list that the file is added to.

    Raises:
        InputError: the file is malformed or of another kind, or an extra is not installed.
    """
    with file.open(reads=READS) as stream:
        beginning = stream.read(BEGINNING)
    kind = kind_of(beginning)
    if kind not in {None, *READS}:
        raise InputError(f"{file.place} {kind}")
    with file.open(reads=READS) as stream:
        if kind is SQLITE:
            hashed = HashedReader(stream)
            yield from _of_database(file.place, hashed.read())
        elif kind is RDF_XML:
            entities = _Entities(file.place, beginning)
            hashed = HashedReader(io.BufferedReader(Watched(stream, entities.see)))
            yield from _of_rdf(file.place, hashed, entities)
        else:
            hashed = HashedReader(stream)
            if hashed.peek(len(_MARK)).startswith(_MARK):
                hashed.read(len(_MARK))
            yield from _of_rdf(file.place, hashed)
        read.append(SourceFile.read_by(hashed, file.inner))


class _Entities:
    """Checks the declared entities of XML, which could make a small file large.

    Only short values without references are allowed, within the beginning of the file. The lines
    that were read are counted too, since the parser does not know them.
    """

    def __init__(self, place: str, beginning: bytes) -> None:
        self.n_lines = 1
        self._place, self._tail, self._n_seen = place, b"", 0
        self._n_plain = len(_PLAIN_ENTITY.findall(beginning))
        self._check(beginning.count(_ENTITY))

    def see(self, part: bytes) -> None:
        """Check a part of the file."""
        self.n_lines += part.count(b"\n")
        text = self._tail + part
        self._n_seen += text.count(_ENTITY)
        self._tail = text[1 - len(_ENTITY) :]
        self._check(self._n_seen)

    def _check(self, n_declared: int) -> None:
        if n_declared > self._n_plain:
            raise InputError(
                f"{self._place} declares an XML entity that is long, refers to others or is not at "
                "the beginning, like a bomb; if you trust it, replace its entities"
            )


def _of_rdf(place: str, stream: IO[bytes], entities: _Entities | None = None) -> Iterator[Triple]:
    try:
        from pyoxigraph import BlankNode, Literal, RdfFormat, parse  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise InputError(f"{place} is RDF; install medsim with its extra owl") from error
    form = RdfFormat.TURTLE if entities is None else RdfFormat.RDF_XML
    try:
        for quad in parse(stream, format=form, base_iri=_BASE, lenient=True):
            subject, value = quad.subject, quad.object
            yield (
                f"_:{subject.value}" if isinstance(subject, BlankNode) else subject.value,
                quad.predicate.value,
                f"_:{value.value}" if isinstance(value, BlankNode) else value.value,
                (value.language or "") if isinstance(value, Literal) else None,
            )
    except SyntaxError as error:
        line = "" if entities is None else f", in line {entities.n_lines:,} or before"
        raise InputError(f"{place} is not valid RDF: {error.msg}{line}") from error


def _of_database(place: str, content: bytes) -> Iterator[Triple]:
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
            yield from database.execute(query("terminologies/owl/statement").text)
    except sqlite3.Error as error:
        raise InputError(f"{place} is not a database of semantic-sql: {error}") from error
