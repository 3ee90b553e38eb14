"""Codes of other vocabularies: their names, mappings in SSSOM or FHIR, and codes that are cited."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.manifest import Skipped
from medsim.core.tables import Text, table_of

if TYPE_CHECKING:
    from medsim.core.store import Store


FILES = re.compile(r".*\.(tsv|csv|json)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
"""The names of files with mappings."""

_COLUMNS = ("subject_id", "predicate_id", "object_id")
_METADATA = re.compile(r"^#.*", re.MULTILINE)
_LICENCE = re.compile(r'^#\s*license:\s*"?([^\s"]+)|"copyright"\s*:\s*"([^"]+)"', re.MULTILINE)


NAMES = tomllib.loads((files(__package__) / "names.toml").read_text(encoding="utf-8"))
"""The names that terminologies give to the same things."""

VOCABULARIES: dict[str, str] = NAMES["vocabularies"]
"""UMLS's names of vocabularies by prefixes of ontologies and addresses of FHIR, in upper case."""


def put_prefixes(store: Store) -> None:
    """Put ``VOCABULARIES`` into a store as the table ``vocabulary_prefix``."""
    prefixes = {"prefix": list(VOCABULARIES), "vocabulary": list(VOCABULARIES.values())}
    store.put("vocabulary_prefix", pl.DataFrame(prefixes))


def strict_json(value: object) -> str:
    """Return a value as JSON that DuckDB reads too; ValueError if it has NaN or an infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def add_mappings(
    text: str, place: str, store: Store, vocabulary: str | None
) -> tuple[str, list[Skipped]]:
    """Add mappings to the tables association and code; return their licence and skipped rows.

    Args:
        text: the text of a file in SSSOM, or of a ConceptMap in JSON.
        place: its path, for messages.
        store: store with the canonical tables.
        vocabulary: the terminology's own, such as "MSH".

    Raises:
        InputError: a line is malformed, or a column is missing.
    """
    if text.lstrip().startswith("{"):
        if '"ConceptMap"' not in text:
            raise InputError(f"{place}: has no ConceptMap of FHIR")
        store.put("concept_map", pl.DataFrame({"content": [strict_json(json.loads(text))]}))
        store.run("terminologies/mappings/concept_map/mapping")
    else:
        content = _METADATA.sub("", text)  # leaves the numbers of lines
        sssom = Text(path=Path(place), content=content)
        rows = table_of(sssom, _COLUMNS, ("predicate_modifier",), may_be_short=True)
        store.put("sssom", rows.frame)
        store.run("terminologies/mappings/sssom/mapping")
    put_prefixes(store)
    store.run("terminologies/mappings/mapped", vocabulary=vocabulary)
    for table in ("association", "code"):
        store.run(f"terminologies/mappings/{table}")
    skipped = store.frame("terminologies/mappings/skipped", place=place).to_dicts()
    store.drop("concept_map", "sssom", "mapping", "mapped", "vocabulary_prefix")
    licence = _LICENCE.search(text)
    return (licence[1] or licence[2]) if licence else "names no licence", [
        Skipped(**row) for row in skipped
    ]


def cite_codes(store: Store, vocabulary: str | None) -> None:
    """Write the table ``cited_code`` from the canonical tables in the store.

    ``vocabulary`` is the terminology's own, such as "MSH".
    """
    put_prefixes(store)
    store.run("terminologies/cited_code", vocabulary=vocabulary)
    store.drop("vocabulary_prefix")
