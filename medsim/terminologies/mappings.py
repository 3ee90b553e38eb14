"""Codes of other vocabularies: their names, mappings in SSSOM or FHIR, and codes that are cited."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import InputError
from medsim.core.identifiers import VOCABULARIES, identifier_of
from medsim.core.manifest import Skipped
from medsim.core.reading import Text
from medsim.core.store import Store
from medsim.core.tables import table_of

MAPPING_FILES = re.compile(r".*\.(tsv|csv|json)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
"""The names of files with mappings."""

_FORMS = ("vocabulary_prefix", "concept_identifier")
_COLUMNS = ("subject_id", "predicate_id", "object_id")
_METADATA = re.compile(r'(?<![^\t,\n])("(?:[^"]|"")*")|^#.*', re.MULTILINE)
_COMMENT = re.compile(r"^#.*", re.MULTILINE)
_PREFIX = re.compile(r"""(?<![\w.-])([\w.-]++)["']?: *+["']?(https?:[^\s"',}]+)""")
_LICENCE = re.compile(r'^#\s*license:\s*"?([^\s"]+)|"copyright"\s*:\s*"([^"]+)"', re.MULTILINE)


NAMES = toml_of(__package__, "names.toml")
"""The names that terminologies give to the same things."""


def put_prefixes(store: Store) -> None:
    """Put ``VOCABULARIES`` and other forms of identifiers into a store.

    The tables are ``vocabulary_prefix``, and ``concept_identifier`` with the concepts whose
    ``identifier_of`` differs, such as addresses.
    """
    ids = store.table("concept")["concept_id"]
    ids = ids.filter(ids.str.contains("[/_]"))
    short = {each: identifier for each in ids if (identifier := identifier_of(each)) != each}
    concepts = {"concept_id": list(short), "identifier": list(short.values())}
    store.put("concept_identifier", pl.DataFrame(concepts, dict.fromkeys(concepts, pl.String)))
    prefixes = {"prefix": list(VOCABULARIES), "vocabulary": list(VOCABULARIES.values())}
    store.put("vocabulary_prefix", pl.DataFrame(prefixes))


def strict_json(value: object) -> str:
    """Return a value as JSON that DuckDB reads too; ValueError if it has NaN or an infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def add_mappings(
    text: str, place: str, store: Store, vocabulary: str | None
) -> tuple[str, list[Skipped], list[str]]:
    """Add mappings to the tables association and code; return their licence and what is left out.

    Args:
        text: the text of a file in SSSOM, or of a ConceptMap in JSON.
        place: its path, for messages.
        store: store with the canonical tables.
        vocabulary: the terminology's own, such as "MSH".

    Returns:
        The licence, the mappings that are left out, and warnings.

    Raises:
        InputError: a line is malformed, or a column is missing.
    """
    if text.lstrip().startswith("{"):
        if '"ConceptMap"' not in text:
            raise InputError(f"{place}: has no ConceptMap of FHIR")
        store.put("concept_map", pl.DataFrame({"content": [strict_json(json.loads(text))]}))
        store.run("terminologies/mappings/concept_map/mapping")
    else:
        # A quoted cell may have lines that begin with #. The numbers of lines stay the same.
        content = _METADATA.sub(lambda match: match[1] or "", text)
        sssom = Text(path=Path(place), content=content)
        rows = table_of(sssom, _COLUMNS, ("predicate_modifier",), may_be_short=True).frame
        addresses = _addresses({*rows["subject_id"], *rows["object_id"]}, text)
        ids = store.table("concept")["concept_id"]
        known = {*ids.filter(ids.is_in([*addresses, *addresses.values()]))}
        whole = {name: _identifier(name, at, known) for name, at in addresses.items()}
        store.put("sssom", rows.with_columns(pl.col("subject_id", "object_id").replace(whole)))
        store.run("terminologies/mappings/sssom/mapping")
    put_prefixes(store)
    store.run("terminologies/mappings/mapped", vocabulary=vocabulary)
    store.run_each("terminologies/mappings", "association", "code")
    skipped = store.frame("terminologies/mappings/skipped", place=place).to_dicts()
    warnings = store.frame("terminologies/mappings/unused", place=place)["warning"].to_list()
    store.drop("concept_map", "sssom", "mapping", "mapped", *_FORMS)
    licence = _LICENCE.search(text)
    terms = (licence[1] or licence[2]) if licence else "names no licence"
    return terms, [Skipped(**row) for row in skipped], warnings


def _addresses(names: set[str], text: str) -> dict[str, str]:
    """Return identifiers of SSSOM with their prefixes expanded by the file's ``curie_map``."""
    bases = dict(_PREFIX.findall("\n".join(_COMMENT.findall(text))))
    parts = {name: name.partition(":") for name in names}
    return {
        name: bases.get(prefix, prefix + colon) + local
        for name, (prefix, colon, local) in parts.items()
    }


def _identifier(text: str, address: str, known: set[str]) -> str:
    """Return an identifier of SSSOM as a concept's own, or with the usual prefix."""
    short = identifier_of(address)
    return next(
        (form for form in (text, address) if form in known), text if "//" in short else short
    )


def cite_codes(store: Store, vocabulary: str | None) -> None:
    """Write the table ``cited_code`` from the canonical tables in the store.

    ``vocabulary`` is the terminology's own, such as "MSH".
    """
    put_prefixes(store)
    store.run("terminologies/cited_code", vocabulary=vocabulary)
    store.drop(*_FORMS)
