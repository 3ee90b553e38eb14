"""Reads OBO graphs: ontologies as JSON, as they are published beside OBO and OWL."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from medsim.core.errors import InputError
from medsim.core.files import HashedReader
from medsim.core.reading import JSON, decoded
from medsim.terminologies.sources import SOURCES, Source, SourceFile, Terminology
from medsim.terminologies.sources.archive import file_alone
from medsim.terminologies.sources.ontology_rows import (
    LICENCE_PROPERTY,
    NO_LICENCE,
    OntologyRows,
    day_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

MAX_BYTES = 2 << 30
"""Of a file: it is read as a whole, and takes about six times as much memory."""

_HEAD_BYTES = 1 << 16
_HEAD = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{.*?"graphs"\s*:', re.DOTALL)
_SCOPE = re.compile(r"has(Exact|Narrow|Broad|Related)Synonym$")
_DIGITS = re.compile(r"[0-9]*")
_IAO = "http://purl.obolibrary.org/obo/IAO_"
_REASON, _MERGED = f"{_IAO}0000231", f"{_IAO}0000227"
_OBO = "http://www.geneontology.org/formats/oboInOwl#"
_ASSOCIATIONS = {f"{_IAO}0100001": "replaced_by", f"{_OBO}consider": "possibly_equivalent_to"}
_XREFS = {f"{_OBO}hasDbXref", f"{_OBO}xref"}
_DEPRECATED = ("http://www.w3.org/2002/07/owl#deprecated", "true")
_PART_BYTES = 1 << 20
_CODE = re.compile(r"([^\s:]+):(\S+)")

_Object = dict[str, Any]


class _MalformedError(Exception):
    """A part of the document is of another type than it should be."""


def read_obographs(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from OBO graphs; see ``medsim.terminologies.sources.Load``."""
    rows = OntologyRows(frozenset(options.synonyms))
    with file_alone(path).open(reads={JSON}) as stream:
        hashed = HashedReader(stream)
        content = bytearray()
        while part := hashed.read(_PART_BYTES):  # all at once would take the most at once
            content += part
            if len(content) > MAX_BYTES:
                raise InputError(
                    f"{path}: more than {MAX_BYTES:,} bytes; read the ontology's OBO file instead"
                )
        read = SourceFile.read_by(hashed, path.name)
    try:
        graphs = _graphs(path, content)
        for graph in graphs:
            _read_graph(graph, rows)
        released, licence = _release_date(graphs), _licence(graphs)
    except _MalformedError as error:
        raise InputError(f"{path}: not OBO graphs: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path}: not OBO graphs: nested too deeply") from error
    if rows.is_empty:
        raise InputError(f"{path}: has no node that is a class, so it is no ontology")
    rows.fill(store)
    return Terminology(
        source="obographs",
        name=path.name,
        release_date=released,
        files=(read,),
        terms_of_use=licence,
        skipped=rows.skipped,
    )


def recognises(path: Path) -> bool:
    """Return whether a file begins as OBO graphs do."""
    if not path.is_file():
        return False
    with file_alone(path).open() as stream:
        return bool(_HEAD.match(stream.read(_HEAD_BYTES)))


def curie(iri: str) -> str:
    """Return the identifier by which OBO knows an IRI, as its mapping to OWL says (5.9.2).

    >>> curie("http://purl.obolibrary.org/obo/HP_0000001")
    'HP:0000001'
    """
    if "://" not in iri:
        return iri
    last = iri.rpartition("/")[2]
    prefix, mark, local = last.partition("#_")
    if mark and local:
        return f"{prefix}:{local}"
    prefix, mark, local = last.partition("#")
    if mark and local:
        return f"{prefix}:{local}" if prefix in {"owl", "rdf", "rdfs"} else local
    prefix, mark, local = last.rpartition("_")
    if mark and local and ("_" not in prefix or _DIGITS.fullmatch(local)):
        return f"{prefix}:{unquote(local)}"
    return iri


def _graphs(path: Path, content: bytes | bytearray) -> list[_Object]:
    """Return the graphs of a document."""
    try:
        document = json.loads(decoded(content, path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: line {error.lineno}: no JSON ({error.msg})") from error
    except ValueError as error:  # a number of thousands of digits
        raise _MalformedError(str(error)) from error
    return _objects(_object({"the document": document}, "the document"), "graphs")


def _read_graph(graph: _Object, rows: OntologyRows) -> None:
    """Add the rows of a graph.

    A class of which neither node nor edges say anything is only mentioned: it is no term here, and
    has no stanza in OBO. A node without a type is a class where an is_a edge has it.
    """
    classes: set[str] = set()
    related: set[str] = set()
    place = ""
    try:
        edges = _objects(graph, "edges")
        for axiom in _objects(graph, "domainRangeAxioms"):
            edges = edges + _objects(axiom, "allValuesFromEdges")
        for number, edge in enumerate(edges, start=1):
            place = f"edge {number:,}: "
            child, kind = _needed(edge, "sub"), _text(edge, "pred")
            if kind == "is_a":
                parent = _needed(edge, "obj")
                related |= {child, parent}
                rows.add_is_a(curie(child), curie(parent))
        for number, node in enumerate(_objects(graph, "nodes"), start=1):
            place = f"node {number:,}: "
            kind = _text(node, "type")
            if kind == "CLASS" or (not kind and _text(node, "id") in related):
                classes.add(_needed(node, "id"))
                if "lbl" in node or "meta" in node:
                    _read_class(node, rows)
        for edge in edges:
            if edge.get("pred") == "is_a" or edge["sub"] in classes:
                rows.add_term(curie(edge["sub"]), obsolete=False)
    except _MalformedError as error:
        raise _MalformedError(f"{place}{error}") from error


def _read_class(node: _Object, rows: OntologyRows) -> None:
    """Add the rows of a node that is a class."""
    concept_id = curie(_needed(node, "id"))
    meta = _object(node, "meta")
    properties = [
        (_text(one, "pred"), _text(one, "val")) for one in _objects(meta, "basicPropertyValues")
    ]
    if any(pred in _ASSOCIATIONS and not value for pred, value in properties):
        raise _MalformedError("a term that stands for it has no id")
    obsolete = meta.get("deprecated") is True or _DEPRECATED in properties
    associated = [
        (curie(value), _ASSOCIATIONS[pred]) for pred, value in properties if pred in _ASSOCIATIONS
    ]
    into = next((target for target, kind in associated if kind == "replaced_by"), None)
    if obsolete and into and (_REASON, _MERGED) in properties:
        rows.add_term(into, obsolete=False)  # which has it as alt_id in OBO
        rows.skip("id of a term that was merged into another")
        return
    rows.add_term(concept_id, obsolete=obsolete)
    if "lbl" in node:
        rows.add_name(concept_id, _text(node, "lbl"))
    for text, scope in sorted(
        _synonyms(meta), key=lambda one: (one[0].upper().lower(), one)
    ):  # as OBO files
        rows.add_synonym(concept_id, text, scope)
    for target, kind in associated:
        rows.add_association(concept_id, target, kind)
    xrefs = [_text(one, "val") for one in _objects(meta, "xrefs")]
    for xref in (*xrefs, *(curie(value) for pred, value in properties if pred in _XREFS)):
        if found := _CODE.fullmatch(xref):
            rows.add_code(concept_id, found[1], found[2])
        else:
            rows.skip("malformed xref")


def _synonyms(meta: _Object) -> Iterator[tuple[str, str]]:
    """Yield text and scope of the synonyms of a node, the same one once, as OBO has it."""
    distinct = {json.dumps(one, sort_keys=True): one for one in _objects(meta, "synonyms")}
    for synonym in distinct.values():
        found = _SCOPE.search(_text(synonym, "pred"))
        if not found:
            raise _MalformedError(f"a synonym with the 'pred' {_text(synonym, 'pred')!r}")
        yield _text(synonym, "val"), found[1].lower()


def _object(holder: _Object, key: str) -> _Object:
    value = holder.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _MalformedError(f"{key!r} is no object")
    return value


def _objects(holder: _Object, key: str) -> list[_Object]:
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise _MalformedError(f"{key!r} is no list of objects")
    return value


def _text(holder: _Object, key: str) -> str:
    value = holder.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _MalformedError(f"{key!r} is no text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _MalformedError(f"{key!r} has an unpaired surrogate") from error
    return value


def _needed(holder: _Object, key: str) -> str:
    value = _text(holder, key)
    if not value:
        raise _MalformedError(f"no {key!r}")
    return value


def _release_date(graphs: list[_Object]) -> date | None:
    """Return the day in the first graph's version that is given."""
    versions = [_text(_object(graph, "meta"), "version") for graph in graphs]
    return day_in(next(filter(None, versions), ""))


def _licence(graphs: list[_Object]) -> str:
    """Return the licence that the graphs name, or that they name none."""
    for graph in graphs:
        for one in _objects(_object(graph, "meta"), "basicPropertyValues"):
            if LICENCE_PROPERTY.search(_text(one, "pred")):
                return f"as stated by the ontology: {_text(one, 'val')}"
    return NO_LICENCE


SOURCES.register(
    "obographs",
    Source(
        name="obographs",
        about="OBO graphs",
        files=".json, or .json.gz, that begins with graphs",
        address="https://obofoundry.org",
        recognises=recognises,
        load=read_obographs,
        accepts=frozenset({"synonyms"}),
    ),
)
