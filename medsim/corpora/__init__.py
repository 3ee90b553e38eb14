"""Corpora whose mentions are linked to concepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Literal, get_args

from medsim.core.errors import OptionError

ENGLISH = "en"
"""The language of BioWiC, and of corpora and benchmarks that do not name one."""

CorpusSplit = Literal["train", "dev", "test"]

CORPUS_SPLITS: tuple[str, ...] = get_args(CorpusSplit)
"""The splits of a corpus or benchmark: to fit, to choose epochs or thresholds, to test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A stretch of a document that names a concept.

    Attributes:
        start: its first code point, counted in title, a space, abstract.
        end: one past its last.
        text: of the document at these offsets.
        kind: its type as named in the corpus, such as "Disease" or "T047".
        codes: of its concepts, as (vocabulary, code), with vocabularies named as in UMLS, such as
            ("MSH", "D003920"), ("OMIM", "217000"), ("UMLS", "C0011849"); empty if it is not linked,
            several if it stands for several concepts, with ("", "") for an unlinked part.
    """

    start: int
    end: int
    text: str
    kind: str
    codes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A title and an abstract with their annotations.

    Attributes:
        document_id: such as a PubMed id.
        annotations: in order of start and end; their offsets were checked against the text.
    """

    document_id: str
    title: str
    abstract: str
    annotations: tuple[Annotation, ...]


def corpus_names(paths: Sequence[Path]) -> list[str]:
    """Return a name per file: the file name without .gz and .txt, or NAME-2 if NAME is in use."""
    if not paths:
        raise OptionError("name at least one corpus")
    names: list[str] = []
    for number, path in enumerate(paths):
        if path.resolve() in {other.resolve() for other in paths[:number]}:
            raise OptionError(f"the corpus {path} is named twice; name it once")
        stem = path.name.removesuffix(".gz").removesuffix(".txt")
        candidates = chain([stem], (f"{stem}-{copy}" for copy in count(2)))
        names.append(next(name for name in candidates if name not in names))
    return names
