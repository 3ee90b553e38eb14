"""The addresses of concepts on the web, and their identifiers in mappings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_OBO = "http://purl.obolibrary.org/obo/"
_PREFIXES: Mapping[str, tuple[str, str]] = {
    "SNOMEDCT_US": ("SCTID", "http://snomed.info/id/"),
    "MSH": ("MESH", "http://id.nlm.nih.gov/mesh/"),
    "UMLS": ("UMLS", "https://uts.nlm.nih.gov/uts/umls/concept/"),
    "RXNORM": ("RXNORM", "https://mor.nlm.nih.gov/RxNav/search?searchBy=RXCUI&searchTerm="),
    "LNC": ("LOINC", "https://loinc.org/"),
}
_OBO_ID = r"^([A-Za-z][A-Za-z0-9_]*):([A-Za-z0-9_]+)$"


def prefixes_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the address that each prefix of an identifier stands for."""
    if known := _PREFIXES.get(str(source.get("vocabulary"))):
        return {known[0]: known[1]}
    names = concepts.str.extract(_OBO_ID, 1).drop_nulls().unique().sort()
    return {name: f"{_OBO}{name}_" for name in names}


def curie_prefix(source: Mapping[str, object]) -> str:
    """Return what precedes the identifiers of concepts in mappings; empty if they have a prefix."""
    known = _PREFIXES.get(str(source.get("vocabulary")))
    return f"{known[0]}:" if known else ""


def links_of(source: Mapping[str, object], concepts: pl.Series) -> dict[str, str]:
    """Return the beginnings of addresses by the beginning of the concepts that they are for."""
    prefixes, has_prefix = prefixes_of(source, concepts), not curie_prefix(source)
    return {f"{name}:" if has_prefix else "": address for name, address in prefixes.items()}
