"""The whole build of an RF2 release with the names of MeSH."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import fastobo

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import build, measured
from benchmarks.harness.corpora import mesh_concepts

if TYPE_CHECKING:
    from benchmarks.harness.corpora import Concept

_ALL = 1_000_000


def measure(settings: Settings) -> Measured:
    """Return the time and memory of the build; see ``Measure``."""
    concepts = settings.size(_ALL, 5_000)
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "mesh.zip"
        n_concepts = apart(_write_release, release, concepts, settings.cache)
        return measured(
            f"RF2 release of {n_concepts:,} concepts of MeSH",
            apart(build, str(release), settings.threads),
        )


def _write_release(release: Path, n_most: int, cache: Path) -> int:
    """Write concepts of MeSH as OBO, convert them to RF2, and return their number."""
    ontology = release.with_suffix(".obo")
    n_concepts = 0
    with ontology.open("w", encoding="utf-8") as lines:
        lines.write("format-version: 1.4\n")
        for concept in islice(mesh_concepts(cache), n_most):
            lines.write(f"\n{_frame(concept)}")
            n_concepts += 1
    medsim.convert(ontology, release)
    return n_concepts


def _frame(concept: Concept) -> str:
    label, *synonyms = concept.names
    frame = fastobo.term.TermFrame(fastobo.id.PrefixedIdent("MESH", concept.concept_id))
    frame.append(fastobo.term.NameClause(label))
    for synonym in synonyms:
        frame.append(fastobo.term.SynonymClause(fastobo.syn.Synonym(synonym, "EXACT")))
    return str(frame)


BENCHMARKS.register("build_mesh", measure)
