"""What builds know of single words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from medsim.config import POOLS
from medsim.errors import InputError
from medsim.schema import CANONICAL_TABLES
from medsim.store import Store
from medsim.words.frequencies import normalised
from medsim.words.tables import lines_of, read_text
from medsim.words.terminology import names_of, relations
from medsim.workflow.opened import Build
from medsim.workflow.positives import derive_positives
from medsim.workflow.space import join_terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medsim.words.forms import Forms
    from medsim.words.terminology import Relations
    from medsim.workflow.positives import Positives


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
        with _opened(path, threads) as (store, _):
            return frozenset(names_of(store, forms)["word"])
    words = [line.strip() for line in lines_of(read_text(path)) if line.strip()]
    if not words:
        raise InputError(f"{path} is empty; it needs a word a line")
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
    with _opened(folder, threads) as (store, positives):
        space = join_terms(positives, store, pool=POOLS[0])
        component = pl.Series("component", space.components)
        components = positives.terms.select("node_id", component).unique("node_id")
        return relations(store, names_of(store, forms), words, components)


@contextmanager
def _opened(folder: Path, threads: int) -> Iterator[tuple[Store, Positives]]:
    """Give a store with the terminology of a build, its names, and its positives."""
    build = Build(folder)
    try:
        language = str(build.manifest.options["language"])
        rf2_rules = bool(build.manifest.source["rf2_rules"])
    except KeyError as error:
        raise InputError(f"{folder}: the manifest lacks {error}") from error
    with Store(threads=threads) as store:
        for table in CANONICAL_TABLES:
            store.put(table, build.read(f"terminology/{table}.parquet"))
        yield (
            store,
            derive_positives(store, language=language, rf2_rules=rf2_rules, threads=threads),
        )
