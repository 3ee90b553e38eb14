"""Audits the names of a terminology."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.audits.audited import read_audited
from medsim.audits.files import write_csv, write_sssom
from medsim.audits.kinds import KINDS, SEVERITIES
from medsim.audits.names import malformed_names, retired_names, shared_names
from medsim.audits.near import near_names
from medsim.audits.options import AuditOptions
from medsim.audits.output import AUDIT, CSV, FINDING, SSSOM, Audit, AuditManifest
from medsim.builds.build import paths_of
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import counted
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.store import Store
from medsim.evaluations.targets import named_concepts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from medsim.audits.audited import Audited
    from medsim.audits.kinds import Group

_FINDERS: Mapping[Group, Callable[[Audited, AuditOptions], pl.DataFrame]] = {
    "same": lambda audited, _: shared_names(audited),
    "retired": lambda audited, _: retired_names(audited),
    "near": lambda audited, options: near_names(audited, options.distance),
    "malformed": lambda audited, _: malformed_names(audited),
}
_FOUND = pl.DataFrame(
    schema=dict.fromkeys(("kind", "term1", "term2", "concept1", "concept2"), pl.String)
    | {"part1": pl.String, "part2": pl.String, "distance": pl.Int32}
    | {"detail": pl.String, "similarity": pl.Float32}
)


@public(AuditOptions)
def audit(options: AuditOptions) -> Audit:
    """Write an audit of the names of a terminology, and return it.

    Raises:
        InputError: the source is missing, damaged or in an unknown format.
        OptionError: an option does not fit the source.
        OutputError: ``out`` exists or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    places = [place for place in (options.source, options.since) if place is not None]
    read = [path for place in places for path in paths_of(place)]
    with claimed(
        Path(options.out), AUDIT, overwrite=options.overwrite, input_folders=read
    ) as output:
        earlier, earlier_source = pl.Series("finding_id", [], pl.String), None
        if options.since is not None:
            with Store(threads=threads, spill=output.spill) as store:
                old = read_audited(options.since, store, threads, progress)
                earlier, earlier_source = findings_of(old, options)["finding_id"], dict(old.source)
        with Store(threads=threads, spill=output.spill) as store:
            audited = read_audited(options.source, store, threads, progress)
            findings = findings_of(audited, options)
        is_new = ~pl.col("finding_id").is_in(earlier.implode()) if earlier_source else None
        findings = findings.with_columns(new=pl.lit(is_new) if is_new is None else is_new)
        findings = findings.select(pl.col(name).cast(kind) for name, kind in FINDING.dtypes.items())
        source = dict(audited.source)
        key = {
            "medsim": manifest.medsim_version(),
            "redistributable": str(source["redistributable"]),
        }
        with progress.stage("write the findings") as stage:
            output.write(FINDING.files, findings, key)
            output.write_file(CSV, partial(write_csv, findings))
            output.write_file(SSSOM, partial(write_sssom, findings, source))
            stage.note(counted(findings.height, "finding"))
        AuditManifest(
            source=source,
            since=earlier_source,
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, threads),
        ).write(output.folder)
        output.publish()
    return Audit(options.out)


def findings_of(audited: Audited, options: AuditOptions) -> pl.DataFrame:
    """Return the findings on a release without novelty, in the order of ``FINDING``."""
    chosen = {
        name: kind
        for name, kind in KINDS.items()
        if not options.only or {name, kind.severity} & {*options.only}
    }
    parts = [_FOUND]
    for group in dict.fromkeys(kind.group for kind in chosen.values()):
        if group not in _FINDERS:
            continue
        with audited.progress.stage(f"find {group}") as stage:
            found = _FINDERS[group](audited, options)
            stage.note(counted(found.height, "finding"))
        parts.append(found.select(name for name in _FOUND.columns if name in found.columns))
    found = pl.concat(parts, how="diagonal_relaxed")
    severities = list(SEVERITIES)
    kinds = pl.DataFrame(
        {
            "kind": list(chosen),
            "severity": [kind.severity for kind in chosen.values()],
            "severity_rank": [severities.index(kind.severity) for kind in chosen.values()],
        }
    ).with_row_index("kind_rank")
    store = audited.store
    named = named_concepts(store, options.categories)
    categories = pl.DataFrame(named, {"name": pl.String, "concept_id": pl.String}, orient="row")
    store.put("category", categories.with_row_index("category"))
    store.run("evaluations/category_member")
    store.run("audits/concept_category")
    with store.frame_as("found", found), store.frame_as("kind", kinds):
        return store.frame("audits/finding")
