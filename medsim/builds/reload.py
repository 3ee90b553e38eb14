"""Positives and terms of a finished build, from its canonical tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.builds.corrections import corrections_in
from medsim.builds.output import BUILD
from medsim.builds.positives import derive_positives
from medsim.builds.term_index import TERM_FILE, Derived, index_terms
from medsim.core.config import POOLS
from medsim.core.errors import InputError
from medsim.core.manifest import fingerprint
from medsim.core.schema import CANONICAL_TABLES
from medsim.core.store import Store

if TYPE_CHECKING:
    import polars as pl

    from medsim.builds.output import Build


def reload(build: Build, store: Store, threads: int) -> Derived:
    """Return the positives and terms that a build was made of, derived anew."""
    options = build.manifest.options
    try:
        language, pool = str(options["language"]), str(options.get("pool", POOLS[0]))
        rf2_rules = bool(build.manifest.source["rf2_rules"])
    except KeyError as error:
        raise InputError(f"{build.folder}: the manifest lacks {error}") from error
    views = BUILD.views_in(build.folder)
    store.view_files(
        build.folder, {view: views[view] for view in views if view in CANONICAL_TABLES}
    )
    positives = derive_positives(
        store,
        language=language,
        rf2_rules=rf2_rules,
        threads=threads,
        corrections=corrections_in(options),
    )
    return Derived(positives=positives, index=index_terms(positives, store, pool=pool))


def terms_of(build: Build, threads: int) -> pl.DataFrame:
    """Return the terms that the pairs of a build may have: ``TERM_COLUMNS``.

    They are read from the build; one of an earlier version, which lacks them, is derived anew.
    """
    known = build.manifest.outputs.get(TERM_FILE)
    if known is None:
        with Store(threads=threads) as store:
            return reload(build, store, threads).terms()
    terms = build.read(TERM_FILE)
    if fingerprint(terms) != known.fingerprint:
        raise InputError(
            f"{build.folder / TERM_FILE} does not hold the rows of the manifest; see medsim verify"
        )
    return terms
