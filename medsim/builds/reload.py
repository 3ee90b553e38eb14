"""What the canonical tables of a finished build give when they are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.builds.corrections import corrections_in
from medsim.builds.positives import Positives, derive_positives
from medsim.builds.term_index import index_terms
from medsim.core.config import POOLS
from medsim.core.errors import InputError
from medsim.core.opened import views_of
from medsim.core.schema import CANONICAL_TABLES

if TYPE_CHECKING:
    from medsim.builds.negatives import TermIndex
    from medsim.core.opened import Build
    from medsim.core.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """Positives and terms of a build, derived anew.

    Attributes:
        positives: of all sets.
        index: all terms as arrays, joined by them.
    """

    positives: Positives
    index: TermIndex


def reload(build: Build, store: Store, threads: int) -> Reloaded:
    """Return what a build was made of; its canonical tables are left in the store as views.

    Args:
        build: finished.
        store: without tables of those names.
        threads: how many to use.

    Raises:
        InputError: the manifest lacks the options that this needs.
    """
    options = build.manifest.options
    try:
        language, pool = str(options["language"]), str(options.get("pool", POOLS[0]))
        rf2_rules = bool(build.manifest.source["rf2_rules"])
    except KeyError as error:
        raise InputError(f"{build.folder}: the manifest lacks {error}") from error
    views = views_of(build.folder)
    store.view_parquet(
        build.folder, {view: views[view] for view in views if view in CANONICAL_TABLES}
    )
    positives = derive_positives(
        store,
        language=language,
        rf2_rules=rf2_rules,
        threads=threads,
        corrections=corrections_in(options),
    )
    return Reloaded(positives=positives, index=index_terms(positives, store, pool=pool))
