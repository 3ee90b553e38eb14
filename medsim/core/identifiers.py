"""Identifiers of concepts, which files write as CURIEs, as addresses or with an underscore."""

from __future__ import annotations

import re
from urllib.parse import unquote

from medsim.core.data import toml_of

VOCABULARIES: dict[str, str] = toml_of(__package__, "vocabularies.toml")
"""UMLS's names of vocabularies by prefixes of ontologies and addresses of FHIR, in upper case."""

_RELEASE = re.compile(r"_[0-9]{4}_[0-9]{2}(_[0-9]{2})?$")  # as in SNOMEDCT_US_2023_03_01
_REGISTERED = re.compile(
    r"https?://(?:(?:www\.)?identifiers\.org|bioregistry\.io|n2t\.net|id\.nlm\.nih\.gov|"
    r"purl\.bioontology\.org/ontology)/(\w+)[/:](?:\1:)?(.+)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?(://.+)[/#](.+)")
_UNDERSCORED = re.compile(
    r"(?:obo[.:]|https?://(?:purl\.obolibrary\.org/obo|www\.ebi\.ac\.uk/efo|www\.orpha\.net/ORDO)"
    r"/)?([A-Za-z]\w*)_([A-Z]{0,2}[0-9]+)"
)


def vocabulary_of(prefix: str) -> str:
    """Return UMLS's name of a prefix's vocabulary, or the prefix if it has none here."""
    prefix = _RELEASE.sub("", prefix)
    return VOCABULARIES.get(prefix.upper(), prefix)


def identifier_of(text: str) -> str:
    """Return an identifier as a CURIE, or the text if it is not a known form of one.

    Known are addresses of OBO, EFO, Orphanet, registries and ``VOCABULARIES``, perhaps in angle
    brackets, and an underscore before digits.

    >>> [identifier_of(text) for text in ("http://id.nlm.nih.gov/mesh/D003920", "HP_0002076")]
    ['mesh:D003920', 'HP:0002076']
    """
    text = text.removeprefix("<").removesuffix(">")
    if registered := _REGISTERED.fullmatch(text):
        return f"{registered[1]}:{registered[2]}"
    address = _ADDRESS.fullmatch(text)
    if address and (vocabulary := VOCABULARIES.get(f"HTTP{address[1].upper()}")):
        return f"{vocabulary}:{address[2]}"
    underscored = _UNDERSCORED.fullmatch(text)
    return f"{underscored[1]}:{underscored[2]}" if underscored else text


def curie(iri: str) -> str:
    """Return the OBO identifier of an IRI, by the mapping of OBO to OWL (5.9.2).

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
    if mark and local and ("_" not in prefix or local.isdecimal()):
        return f"{prefix}:{unquote(local)}"
    return iri
