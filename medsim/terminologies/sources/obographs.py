"""Reads OBO graphs, the JSON format in which ontologies are published besides OBO and OWL."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from medsim.core.errors import InputError
from medsim.core.identifiers import curie
from medsim.core.reading import JSON
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, read_release_text
from medsim.terminologies.sources.archive import begins, single_file
from medsim.terminologies.sources.ontology_rows import (
    LICENCE_PROPERTY,
    NO_LICENCE,
    OntologyRows,
    day_in,
)

_NAME = r".*\.json"
_HEAD = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{.*?"graphs"\s*:', re.DOTALL)
_SCOPE = re.compile(r"has(Exact|Narrow|Broad|Related)Synonym$")
_IAO = "http://purl.obolibrary.org/obo/IAO_"
_REASON, _MERGED = f"{_IAO}0000231", f"{_IAO}0000227"
_OBO = "http://www.geneontology.org/formats/oboInOwl#"
_ASSOCIATIONS = dict.fromkeys((f"{_IAO}0100001", f"{_OBO}replacedBy"), "replaced_by")
_ASSOCIATIONS[f"{_OBO}consider"] = "possibly_equivalent_to"
_XREFS = {f"{_OBO}hasDbXref", f"{_OBO}xref"}
_DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"
CODE = re.compile(r"([^\s:]+):(\S+)")
"""The form of a cross-reference: prefix and code."""


def read_obographs(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from OBO graphs; see ``sources.LoadTables``."""
    rows = OntologyRows(frozenset(options.synonyms))
    file = single_file(path, _NAME)
    text, source_file = read_release_text(file, {JSON})
    graphs = json.loads(text)["graphs"]
    for graph in graphs:
        _read_graph(graph, rows)
    if not rows.active:
        raise InputError(f"{file.path}: has no node that is a class, so it is not an ontology")
    rows.fill(store)
    metas = [graph.get("meta") or {} for graph in graphs]
    licences = [
        f"as stated by the ontology: {item['val']}"
        for meta in metas
        for item in meta.get("basicPropertyValues") or ()
        if LICENCE_PROPERTY.search(item["pred"]) and item.get("val") is not None
    ]
    versions = (meta.get("version") for meta in metas)
    return Terminology(
        release_date=day_in(next(filter(None, versions), "")),
        files=(source_file,),
        terms_of_use=next(iter(licences), NO_LICENCE),
        skipped=rows.skipped,
    )


def _read_graph(graph: Any, rows: OntologyRows) -> None:
    """Add the rows of a graph.

    A class that is only mentioned, without data in its node or edges, is not a term, just as it has
    no stanza in OBO. A node without a type is a class if it is in an is_a edge.
    """
    classes: set[str] = set()
    related: set[str] = set()
    axioms = graph.get("domainRangeAxioms") or ()
    edges = list(graph.get("edges") or ())
    for axiom in axioms:
        edges += axiom.get("allValuesFromEdges") or ()
    for edge in edges:
        if edge["pred"] == "is_a":
            related |= {edge["sub"], edge["obj"]}
            rows.is_a[curie(edge["sub"]), curie(edge["obj"])] = None
    for node in graph.get("nodes") or ():
        kind = node.get("type")
        if kind == "CLASS" or (not kind and node["id"] in related):
            classes.add(node["id"])
            if "lbl" in node or "meta" in node:
                _read_class(node, rows)
    for edge in edges:
        if edge["pred"] == "is_a" or edge["sub"] in classes:
            rows.add_term(curie(edge["sub"]), obsolete=False)


def _read_class(node: Any, rows: OntologyRows) -> None:
    """Add the rows of a node that is a class."""
    concept_id = curie(node["id"])
    meta = node.get("meta") or {}
    properties = [
        (item["pred"], item.get("val") or "") for item in meta.get("basicPropertyValues") or ()
    ]
    marks = (value for pred, value in properties if pred == _DEPRECATED)
    obsolete = meta.get("deprecated") is True or rows.is_deprecated(concept_id, marks)
    associated = [
        (curie(value), _ASSOCIATIONS[pred]) for pred, value in properties if pred in _ASSOCIATIONS
    ]
    into = next((target for target, kind in associated if kind == "replaced_by"), None)
    if obsolete and into and (_REASON, _MERGED) in properties:
        rows.add_term(into, obsolete=False)  # OBO lists the id as alt_id there
        rows.skip("id of a term that was merged into another")
        return
    rows.add_term(concept_id, obsolete=obsolete)
    if "lbl" in node:
        rows.add_name(concept_id, node["lbl"] or "")
    in_order = sorted(_synonyms(meta), key=lambda item: (item[0].upper().lower(), item))
    for text, scope in in_order:  # the order of OBO files
        rows.add_synonym(concept_id, text, scope)
    for target, kind in associated:
        rows.association[concept_id, target, kind, True] = None
    xrefs = [item["val"] for item in meta.get("xrefs") or ()]
    for xref in (*xrefs, *(curie(value) for pred, value in properties if pred in _XREFS)):
        if match := CODE.fullmatch(xref):
            rows.add_code(concept_id, match[1], match[2])
        else:
            rows.skip("malformed xref")


def _synonyms(meta: Any) -> Iterator[tuple[str, str]]:
    """Yield text and scope of the distinct synonyms of a node, as in OBO."""
    distinct = {json.dumps(item, sort_keys=True): item for item in meta.get("synonyms") or ()}
    for synonym in distinct.values():
        match = _SCOPE.search(synonym["pred"])
        if not match:
            raise ValueError(f"a synonym with the 'pred' {synonym['pred']!r}")
        yield synonym["val"], match[1].lower()


Source(
    name="obographs",
    about="OBO graphs",
    files=".json that begins with graphs, or a folder or archive with one",
    example="hp.json",
    address="https://obofoundry.org",
    recognises=lambda path: begins(path, _NAME, _HEAD),
    load=read_obographs,
    accepts=frozenset({"synonyms"}),
).register()
