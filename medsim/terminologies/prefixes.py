"""Gives concepts their addresses on the web, and their identifiers a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from medsim.terminologies.sources import vocabularies

if TYPE_CHECKING:
    import polars as pl

_OBO = "http://purl.obolibrary.org/obo/"
_OBO_ID = r"^([A-Za-z][A-Za-z0-9_]*):([A-Za-z0-9_]+)$"


def prefixes_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the address that each prefix of an identifier stands for."""
    if known := vocabularies().get(str(source.get("vocabulary"))):
        return {known.prefix: known.address}
    names = concepts.str.extract(_OBO_ID, 1).drop_nulls().unique().sort()
    return {name: f"{_OBO}{name}_" for name in names}


def curie_prefix(source: Mapping[str, object]) -> str:
    """Return what precedes the identifiers of concepts in mappings; empty if they have a prefix."""
    known = vocabularies().get(str(source.get("vocabulary")))
    return f"{known.prefix}:" if known else ""


def links_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the beginnings of addresses by the beginning of the concepts that they are for."""
    prefixes, has_prefix = prefixes_of(source, concepts), not curie_prefix(source)
    return {f"{name}:" if has_prefix else "": address for name, address in prefixes.items()}
