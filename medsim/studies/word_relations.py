"""What builds know of single words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.reload import reload
from medsim.core.opened import Build
from medsim.core.store import Store
from medsim.core.tables.lines import lines_of
from medsim.core.tables.text import read_text
from medsim.studies.words.frequencies import normalised
from medsim.studies.words.terminology import names_of, relations

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.studies.words.forms import Forms
    from medsim.studies.words.terminology import Relations


def listed_words(path: Path, forms: Forms, threads: int) -> frozenset[str]:
    """Return the words of a file, a word a line, or the single-word names of a build.

    Args:
        path: of the file, or the folder of the build.
        forms: in which the words are returned.
        threads: of the database.

    Raises:
        InputError: it cannot be read, or is empty.
    """
    if path.is_dir():
        with Store(threads=threads) as store:
            reload(Build(path), store, threads)
            return frozenset(names_of(store, forms)["word"])
    words = [line.strip() for line in lines_of(read_text(path)) if line.strip()]
    return frozenset(map(forms.of, normalised(words)))


def relations_in(folder: Path, forms: Forms, words: pl.DataFrame, threads: int) -> Relations:
    """Return how the terminology of a build relates words.

    Args:
        folder: of the build.
        forms: of the words.
        words: word and word_id.
        threads: of the database.

    Raises:
        InputError: the folder holds no finished build.
    """
    with Store(threads=threads) as store:
        derived = reload(Build(folder), store, threads)
        component = pl.Series("component", derived.index.components)
        components = derived.positives.terms.select("node_id", component).unique("node_id")
        return relations(store, names_of(store, forms), words, components)
