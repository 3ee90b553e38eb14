"""RF2 releases that medsim writes: invented ones, and terminologies of other formats."""

from __future__ import annotations

from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from medsim.core.config import available_threads
from medsim.core.options import public
from medsim.core.output import check_not_input, resolved
from medsim.core.progress import progress_of
from medsim.core.store import Store
from medsim.terminologies.options import ConvertOptions, SynthOptions
from medsim.terminologies.rf2_writer import Component, check_release_place, release_writer, sctids
from medsim.terminologies.sources import Terminology, find_source, read_terminology, source_paths
from medsim.terminologies.synthetic import LATER_DATE, write_synthetic

_FIRST_ITEM = 10_000_000  # all have eight digits, so identifiers sort as text in order of items
_UNDATED = date(2000, 1, 1)
_ROWS_SCHEMA = {"table": pl.String, "release_type": pl.String, "rows": pl.Int64}
_TABLES = ("concept", "description", "association", "simple_map", "relationship")


@public(SynthOptions)
def synth(options: SynthOptions) -> pl.DataFrame:
    """Write an invented RF2 release, and return the number of rows of each file.

    Returns:
        table, release_type, rows; with ``then``, first release, the name of the zip.

    Raises:
        OptionError: the number of concepts is out of range.
        OutputError: the zip cannot be written, or ``out`` exists and must stay.
    """
    places = [Path(place) for place in (options.out, options.then) if place is not None]
    for place in places:
        check_release_place(place, overwrite=options.overwrite)
    rows, write = [], partial(write_synthetic, concepts=options.concepts, seed=options.seed)
    for place, later in zip(places, (None, LATER_DATE), strict=False):
        out = resolved(place)
        with progress_of(options.progress).stage(f"invent {out.name}"):
            n_rows = write(out, later=later, overwrite=options.overwrite)
        for release_type, counts in n_rows.items():
            rows += [(out.name, table, release_type, n) for table, n in counts.items()]
    frame = pl.DataFrame(rows, schema={"release": pl.String, **_ROWS_SCHEMA}, orient="row")
    return frame if options.then is not None else frame.drop("release")


@public(ConvertOptions)
def convert(options: ConvertOptions) -> pl.DataFrame:
    """Write any terminology as an RF2 release, and return the number of rows of each file.

    The release has the names of one language. Identifiers of other formats become SNOMED CT
    identifiers of an invented namespace, in the order of the old ones; a simple map in the release
    maps them to the old identifiers.

    Returns:
        table, release_type, rows.

    Raises:
        InputError: the source is missing, damaged, in no known format, or has no names in the
            language.
        OptionError: an option does not fit the source.
        OutputError: the zip cannot be written, or ``out`` exists and must stay.
    """
    progress = progress_of(options.progress)
    find_source(str(options.source))  # before the output path is checked
    check_not_input(Path(options.out), options.paths_read(), source_paths(options.source))
    check_release_place(Path(options.out), overwrite=options.overwrite)
    out = resolved(Path(options.out))
    with Store(threads=available_threads()) as store:
        terminology = read_terminology(str(options.source), store, options, progress)
        with progress.stage(f"write {out.name}"):
            return _write(terminology, store, out, options)


def _write(
    terminology: Terminology, store: Store, out: Path, options: ConvertOptions
) -> pl.DataFrame:
    day = terminology.release_date or _UNDATED
    origin = {
        "origin": f"converted from {terminology.source} {terminology.name}",
        "redistributable": terminology.redistributable,
        "terms": terminology.terms_of_use,
    }
    components: tuple[Component, ...] = ("concept", "description")
    for component in components:  # RF2 identifiers are kept
        old = store.table(component)[f"{component}_id"].sort()
        kept = old.str.extract(r"^([0-9]+)( as \S+)?$")  # also those of copies in another language
        is_kept = terminology.rf2_rules and not kept.has_nulls()
        new = kept if is_kept else _made_ids(len(old), component)
        store.put(f"{component}_sctid", pl.DataFrame({f"{component}_id": old, "sctid": new}))
    time = f"{day:%Y%m%d}"
    rows: list[tuple[str, str, int]] = []
    with release_writer(
        out, release_date=day, origin=origin, edition="Converted", overwrite=options.overwrite
    ) as writer:
        for table in _TABLES:
            of_names = {"tag": "concept", "language": options.language}
            params = of_names if table == "description" else {}
            frame = store.frame(f"terminologies/convert/{table}", effective_time=time, **params)
            if table == "relationship":
                frame = frame.with_columns(id=_made_ids(frame.height, "relationship"))
            rows.append((table, "Snapshot", writer.write(table, "Snapshot", [frame])))
    return pl.DataFrame(rows, schema=_ROWS_SCHEMA, orient="row")


def _made_ids(number: int, component: Component) -> pl.Series:
    ids = sctids(np.arange(_FIRST_ITEM, _FIRST_ITEM + number), component)
    return pl.Series(ids, dtype=pl.Int64).cast(pl.String)
