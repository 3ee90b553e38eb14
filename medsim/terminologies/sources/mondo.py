"""The built-in terminology mondo: diseases, from the package cellxgene-ontology-guide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from medsim.core.errors import InputError
from medsim.core.files import open_hashed
from medsim.core.identifiers import curie, identifier_of
from medsim.core.reading import unpacked
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import Source, Terminology, package_folder
from medsim.terminologies.sources.archive import SourceFile
from medsim.terminologies.sources.ontology_rows import OntologyRows, day_in

_PACKAGE = "cellxgene-ontology-guide"
_FILES = "MONDO-ontology-*.json.zst"
_TERMS_OF_USE = (
    "Mondo Disease Ontology: CC BY 4.0, may be passed on with attribution; "
    "https://mondo.monarchinitiative.org"
)


def locate() -> Path:
    """Return the path of the package's newest release of the ontology."""
    folder = package_folder(_PACKAGE, "mondo") / "data"
    if not (paths := sorted(folder.glob(_FILES))):
        raise InputError(f"{folder} has no {_FILES}; install version 1 of {_PACKAGE}")
    return paths[-1]


def read_mondo(path: Path, store: Store, options: ReadingOptions) -> Terminology:  # noqa: ARG001 — sources are called alike
    """Fill the canonical tables from the ontology; see ``sources.LoadTables``.

    For each term the package has the name, the exact synonyms, the ancestors with their distance,
    and the terms that replace it or may replace it.
    """
    rows = OntologyRows(frozenset({"exact"}))
    with open_hashed(path) as stream:
        terms: dict[str, Any] = json.load(unpacked(stream, path, path.stat().st_size))
        file = SourceFile.read_by(stream, path.name)
    for concept_id, term in terms.items():
        rows.add_term(concept_id, obsolete=bool(term.get("deprecated")))
        rows.add_name(concept_id, term.get("label") or "")
        for synonym in term.get("synonyms") or ():
            rows.add_synonym(concept_id, synonym, "exact")
        if replaced_by := term.get("replaced_by"):
            rows.association[concept_id, curie(identifier_of(replaced_by)), "replaced_by", True] = (
                None
            )
        for target in term.get("consider") or ():
            target_id = curie(identifier_of(target))
            rows.association[concept_id, target_id, "possibly_equivalent_to", True] = None
        for ancestor, distance in (term.get("ancestors") or {}).items():
            if distance == 1:
                rows.is_a[concept_id, ancestor] = None
    rows.fill(store)
    return Terminology(
        release_date=day_in(path.name),
        files=(file,),
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
        skipped=rows.skipped,
    )


Source(
    name="mondo",
    about="Mondo Disease Ontology",
    files=f"the package {_PACKAGE}",
    address="https://github.com/chanzuckerberg/cellxgene-ontology-guide",
    load=read_mondo,
    locate=locate,
).register()
