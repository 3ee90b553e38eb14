"""Reads code systems in FHIR (R4 and R5, JSON), with the concept maps beside them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError, listed
from medsim.core.identifiers import vocabulary_of
from medsim.core.reading import JSON
from medsim.core.store import Store
from medsim.terminologies.mappings import strict_json
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import (
    Source,
    Terminology,
    read_release_text,
    skipped_rows,
    with_mappings,
)
from medsim.terminologies.sources.archive import begins, has_file, release_files, single_file
from medsim.terminologies.sources.ontology_rows import NO_LICENCE, day_in

_NAMED, _ANY = r".*codesystem.*\.json", r".*\.json"
_HEAD = re.compile(
    rb'\A(?:\xef\xbb\xbf)?\s*\{.*?"resourceType"\s*:\s*"(CodeSystem|Bundle)"', re.DOTALL
)
_TABLES = "fhir_concept fhir_name fhir_property concept description is_a association"


def read_fhir(path: Path, store: Store, options: ReadingOptions) -> Terminology:  # noqa: ARG001 — sources are called alike
    """Fill the canonical tables from a code system; see ``sources.LoadTables``."""
    file = single_file(path, _NAMED if has_file(path, _NAMED) else _ANY)
    text, source_file = read_release_text(file, {JSON})
    system = _code_system(file.path, json.loads(text))
    url, content, terms = (str(system.get(key) or "") for key in ("url", "content", "copyright"))
    name = f"the code system {url or system.get('name') or 'without url'}"
    store.put("fhir_code_system", pl.DataFrame({"system": [strict_json(system)]}))
    store.run_each("terminologies/fhir", *_TABLES.split())
    if content == "supplement" or not store.n_rows("concept"):
        raise InputError(
            f"{file.path}: {name} has no concepts of its own (its content is "
            f"{content or 'not stated'}); give a file that has them"
        )
    skipped = skipped_rows(store, "fhir")
    store.drop("fhir_code_system", "fhir_concept", "fhir_name", "fhir_property")
    part = f"{path.name} has only a part of {name} (its content is {content})"
    terminology = Terminology(
        vocabulary=vocabulary_of(url) or None,
        release_date=day_in(str(system.get("date") or system.get("version"))),
        files=(source_file,),
        terms_of_use=f"as stated by the code system: {terms}" if terms else NO_LICENCE,
        skipped=skipped,
        warnings=() if content in {"complete", ""} else (part,),
    )
    for other in release_files(path):
        name = other.name.lower()
        if "conceptmap" in name and name.endswith(".json") and other != file:
            terminology = with_mappings(terminology, other, store)
    return terminology


def _code_system(place: str, content: Any) -> Any:
    """Return the only code system of a bundle, or a resource alone.

    Raises:
        InputError: there is none, or there are several.
    """
    resources = [content, *(entry.get("resource") or {} for entry in content.get("entry") or ())]
    systems = [each for each in resources if each.get("resourceType") == "CodeSystem"]
    if len(systems) != 1:
        names = listed([each.get("url") or "one without url" for each in systems], most=3) or "none"
        raise InputError(f"{place}: needs one code system, but has {names}")
    return systems[0]


Source(
    name="fhir",
    about="FHIR code systems",
    files=".json with a CodeSystem or a Bundle, or a folder or archive with one CodeSystem-*.json",
    example="CodeSystem-a.json",
    address="https://terminology.hl7.org",
    recognises=lambda path: has_file(path, _NAMED) or begins(path, _ANY, _HEAD),
    load=read_fhir,
).register()
