"""What the canonical tables of a finished build give when they are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.config import POOLS
from medsim.errors import InputError
from medsim.schema import CANONICAL_TABLES
from medsim.workflow.builds.corrections import corrections_in
from medsim.workflow.builds.positives import Positives, derive_positives
from medsim.workflow.builds.space import join_terms
from medsim.workflow.opened import views_of

if TYPE_CHECKING:
    from medsim.negatives import TermSpace
    from medsim.store import Store
    from medsim.workflow.opened import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Rederived:
    """Positives and terms of a build, derived anew.

    Attributes:
        positives: of all sets.
        space: all terms as arrays, joined by them.
    """

    positives: Positives
    space: TermSpace


def rederive(build: Build, store: Store, threads: int) -> Rederived:
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
    return Rederived(positives=positives, space=join_terms(positives, store, pool=pool))
