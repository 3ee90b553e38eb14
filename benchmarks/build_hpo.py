"""The whole build of the Human Phenotype Ontology with default options."""

from __future__ import annotations

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import build, measured


def measure(settings: Settings) -> Measured:
    """Return the time and memory of the build; see ``Measure``."""
    return measured("hpo", apart(build, "hpo", settings.threads))


BENCHMARKS.register("build_hpo", measure)
