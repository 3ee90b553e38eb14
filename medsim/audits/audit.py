"""Audits the names of a terminology."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from medsim.audits import QUERIES, SEVERITIES
from medsim.audits.files import write_mappings
from medsim.audits.near import Audited, near_names
from medsim.audits.options import AuditOptions
from medsim.audits.output import AUDIT, FINDING, FINDINGS_CSV, SSSOM, Audit, AuditManifest
from medsim.builds.build import BuildRun, check_no_extensions, derive, is_output, paths_of
from medsim.builds.options import SearchOptions
from medsim.builds.output import Build
from medsim.builds.positives import named_concepts, reload
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, counted
from medsim.core.opened import reading_output
from medsim.core.options import OpenedFolder, folder_of, public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.tables import write_csv


@public(AuditOptions)
def audit(options: AuditOptions) -> Audit:
    """Write an audit of the names of a terminology, and return it.

    Raises:
        InputError: a source or the model is missing, damaged or in an unknown format.
        OptionError: an option does not fit the source.
        OutputError: ``out`` exists or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    releases = [(options.source, options.extensions)]
    if options.since is not None:
        releases.insert(0, (options.since, ()))
    found, sources = [], []
    folders = [path for release, _ in releases for path in paths_of(release)]
    with claimed_by(options, AUDIT, folders) as output:
        for release, extensions in releases:
            with Store(threads=threads, spill=output.spill) as store:
                audited = read_audited(release, store, threads, progress, extensions)
                found.append(findings_of(audited, options))
                sources.append(dict(audited.source))
        *earlier, findings = found
        *since, source = sources
        if earlier:
            is_known = pl.col("finding_id").is_in(earlier[0]["finding_id"].implode())
            findings = findings.with_columns(new=~is_known)
            if since[0].get("vocabulary") != source.get("vocabulary"):
                progress.warn("`since` is another terminology, so most findings are new")
        findings = findings.select(pl.col(name).cast(kind) for name, kind in FINDING.dtypes.items())
        redistributable = {"redistributable": str(source["redistributable"])}
        with progress.stage("write the findings") as stage:
            output.write(FINDING.files, findings, redistributable)
            output.write_file(FINDINGS_CSV, partial(write_csv, findings))
            output.write_file(SSSOM, partial(write_mappings, findings, source))
            stage.note(counted(findings.height, "finding"))
        AuditManifest(
            source=source,
            since=since[0] if since else None,
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, threads),
        ).write(output.folder)
        output.publish()
    return Audit(options.out)


def read_audited(
    release: str | Path | OpenedFolder,
    store: Store,
    threads: int,
    progress: Progress,
    extensions: Sequence[str | Path] = (),
) -> Audited:
    """Return a release from the folder of a build, or from a source with default options.

    The folder of an output comes before a built-in source of the same name. Both ways derive the
    same positives; only negatives are left out.
    """
    if is_output(release):
        check_no_extensions(release, extensions)
        build = Build(folder_of(release))
        with reading_output(build), progress.stage("derive positives"):
            derived = reload(build, store, threads, in_first_language=True)
        source = build.manifest.source
    else:
        options = SearchOptions(
            source=str(release), extensions=extensions, threads=threads, progress=progress
        )
        run = BuildRun.from_options(options, store)
        source, derived = run.terminology.to_json(), derive(run)
    return Audited(source=source, store=store, derived=derived, threads=threads, progress=progress)


def findings_of(audited: Audited, options: AuditOptions) -> pl.DataFrame:
    """Return the findings on a release in their order; ``new`` is null."""
    chosen, store, parts = options.kinds, audited.store, [pl.DataFrame(schema=FINDING.dtypes)]
    if not store.n_rows("name"):
        raise InputError(f"{audited.source['name']} has no names of active concepts to compare")
    named = named_concepts(store, options.categories)
    categories = pl.DataFrame(named, {"name": pl.String, "concept_id": pl.String}, orient="row")
    store.put("category", categories.with_row_index("category"))
    for query in ("evaluations/category_member", "audits/concept_category"):
        store.run(query)
    store.run("audits/active_name", rf2_rules=bool(audited.source["rf2_rules"]))
    for group in dict.fromkeys(kind.group for kind in chosen.values()):
        with audited.progress.stage(f"find {group}") as stage:
            found = _found(group, audited, options)
            stage.note(counted(sum(part.height for part in found), "finding"))
        parts += [part.select(name for name in parts[0].columns if name in part) for part in found]
    severities = list(SEVERITIES)
    kinds = pl.DataFrame(
        {
            "kind": list(chosen),
            "kind_group": [kind.group for kind in chosen.values()],
            "severity": [kind.severity for kind in chosen.values()],
            "severity_rank": [severities.index(kind.severity) for kind in chosen.values()],
        }
    ).with_row_index("kind_rank")
    every = pl.concat(parts, how="diagonal_relaxed")
    with store.frame_as("found", every), store.frame_as("kind", kinds):
        return store.frame("audits/finding")


def _found(group: str, audited: Audited, options: AuditOptions) -> list[pl.DataFrame]:
    """Return the findings of a group of kinds."""
    if group == "near":
        return [near_names(audited, options.distance)]
    if options.embedding is not None and group == "model":
        from medsim.audits.model import model_names  # noqa: PLC0415 — encoders

        return [model_names(audited, options.embedding, options.cache)]
    return [audited.store.frame(f"audits/{query}") for query in QUERIES[group]]
