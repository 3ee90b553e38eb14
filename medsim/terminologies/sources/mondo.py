"""The built-in terminology mondo: diseases, as the package cellxgene-ontology-guide ships them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from medsim.core.errors import InputError
from medsim.core.files import open_hashed
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.terminologies.sources import (
    SOURCES,
    Source,
    SourceFile,
    Terminology,
    package_folder,
)

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

LANGUAGE = "en"

_PACKAGE = "cellxgene-ontology-guide"
_FILES = "MONDO-ontology-*.json.zst"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OBSOLETE = re.compile(r"^obsolete ", re.IGNORECASE)
_ID = re.compile(r"(?:.*[./])?(?P<prefix>[A-Za-z]+)[:_](?P<local>\w+)")
_TERMS_OF_USE = (
    "Mondo Disease Ontology: CC BY 4.0, may be passed on with attribution; "
    "https://mondo.monarchinitiative.org"
)

_Terms = dict[str, dict[str, Any]]


def locate() -> Path:
    """Return the path at which the package keeps the newest release of the ontology."""
    folder = package_folder(_PACKAGE, "mondo") / "data"
    found = sorted(folder.glob(_FILES))
    if not found:
        raise InputError(f"{folder} has no {_FILES}; medsim knows version 1 of {_PACKAGE}")
    return found[-1]


def read_mondo(path: Path, store: Store, options: ReadingOptions) -> Terminology:  # noqa: ARG001 — sources are called alike
    """Fill the canonical tables from the ontology; see ``medsim.terminologies.sources.Load``.

    Of each term the package has the name, the exact synonyms, the ancestors with their distance,
    and what replaces it or may do so.
    """
    try:
        with open_hashed(path) as stream:
            packed = pa.BufferReader(stream.read())
            file = SourceFile(name=path.name, sha256=stream.finish(), size=stream.n_bytes)
        terms: _Terms = json.loads(pa.input_stream(packed, compression="zstd").read())
        names = _names(terms)
        tables: dict[str, list[Any]] = {
            "concept": [(one, not _retired(term), "", "") for one, term in terms.items()],
            "description": [name for name in names if name[2]],
            "association": _associations(terms),
            "is_a": _parents(terms),
        }
        for table, rows in tables.items():
            columns = CANONICAL_TABLES[table]
            store.put(table, pl.DataFrame(rows, columns, orient="row").unique().sort(list(columns)))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: is not the ontology as {_PACKAGE} keeps it") from error
    return Terminology(
        source="mondo",
        name="mondo",
        vocabulary=None,
        release_date=_release_date(path.name),
        files=(file,),
        rf2_rules=False,
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
        skipped=(
            Skipped(reason="description is empty", n_rows=sum(not name[2] for name in names)),
        ),
    )


def _retired(term: dict[str, Any]) -> bool:
    return bool(term.get("deprecated"))


def _names(terms: _Terms) -> list[tuple[str, str, str, str, bool, str]]:
    """Return the rows of descriptions, those without a text too."""
    rows = []
    for concept_id, term in terms.items():
        own = (term.get("label") or "").strip()
        own = _OBSOLETE.sub("", own) if _retired(term) else own
        texts = [(own, "fsn"), *((name.strip(), "synonym") for name in term.get("synonyms") or ())]
        rows += [
            (f"{concept_id}/{number}", concept_id, text, kind, True, LANGUAGE)
            for number, (text, kind) in enumerate(texts, start=1)
        ]
    return rows


def _associations(terms: _Terms) -> list[tuple[str, str, str, bool]]:
    rows = []
    for concept_id, term in terms.items():
        replaced_by = [term["replaced_by"]] if term.get("replaced_by") else []
        for kind, targets in (
            ("replaced_by", replaced_by),
            ("possibly_equivalent_to", term.get("consider") or []),
        ):
            rows += [(concept_id, _identifier(target), kind, True) for target in targets]
    return rows


def _parents(terms: _Terms) -> list[tuple[str, str]]:
    return [
        (concept_id, ancestor)
        for concept_id, term in terms.items()
        for ancestor, distance in (term.get("ancestors") or {}).items()
        if distance == 1
    ]


def _identifier(text: str) -> str:
    """Return an identifier such as MONDO:0018037, which may be written as obo.MONDO_0018037."""
    found = _ID.fullmatch(text)
    return f"{found['prefix']}:{found['local']}" if found else text


def _release_date(name: str) -> date | None:
    if found := _DAY.search(name):
        with suppress(ValueError):
            return date.fromisoformat(found[0])
    return None


SOURCES.register(
    "mondo",
    Source(
        name="mondo",
        about="Mondo Disease Ontology",
        files=f"the package {_PACKAGE}",
        address="https://github.com/chanzuckerberg/cellxgene-ontology-guide",
        load=read_mondo,
        locate=locate,
    ),
)
