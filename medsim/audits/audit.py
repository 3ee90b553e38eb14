"""Audits the names of a terminology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from medsim.audits import KINDS, QUERIES, SEVERITIES
from medsim.audits.near import Audited, near_names
from medsim.audits.options import AuditOptions
from medsim.audits.output import AUDIT, CONFLICT, FINDING, FINDINGS_CSV, SSSOM, Audit, AuditManifest
from medsim.builds.build import BuildRun, check_no_options, derive, is_output, paths_of
from medsim.builds.options import SearchOptions
from medsim.builds.output import Build
from medsim.builds.positives import named_concepts, reload
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, counted
from medsim.core.manifest import fingerprint, output_kind
from medsim.core.opened import reading_output
from medsim.core.options import PathOrOutput, folder_of, public
from medsim.core.output import claimed_by
from medsim.core.parquet import scan_parquet, write_batches
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.tables import write_csv
from medsim.decisions import DECIDED_ON
from medsim.decisions.files import mappings_of, read_decisions, settled, write_sssom
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import curie_prefix, prefixes_of

_JUSTIFICATIONS = {
    "names": "semapv:LexicalMatching",
    "near": "semapv:LexicalSimilarityThresholdMatching",
    "model": "semapv:SemanticSimilarityThresholdMatching",
}
_BETWEEN = ("subject_id", "predicate_id", "object_id")
_AT_ONCE = 1 << 17  # findings
_SCHEMA = pl.Schema(FINDING.dtypes)

_Found: TypeAlias = tuple[pl.LazyFrame, dict[str, object]]
"""The findings on a release, and the facts about its source."""


@public(AuditOptions)
def audit(options: AuditOptions) -> Audit:
    """Write an audit of the names of a terminology, and return it.

    Raises:
        InputError: a source or the model is missing, damaged or in an unknown format.
        OptionError: an option does not fit the source.
        OutputError: ``out`` exists or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    decisions = read_decisions(options.decisions)
    given, since = options.values_for(ReadingOptions), options.since
    reading = {name: value for name, value in given.items() if value}
    folders = [path for release in (since, options.source) if release for path in paths_of(release)]
    with claimed_by(options, AUDIT, folders) as output:

        def found_in(release: PathOrOutput, reading: Mapping[str, Any], name: str) -> _Found:
            with Store(threads=threads, spill=output.spill) as store:
                audited = read_audited(release, store, threads, progress, reading)
                write_batches(output.spill / name, _SCHEMA, findings_of(audited, options))
                return scan_parquet(output.spill / name), dict(audited.source)

        known = None
        if since is not None:
            earlier_reading = {} if is_output(since) else reading | {"extensions": ()}
            known = _audited_before(since, options, progress)
            known = known or found_in(since, earlier_reading, "earlier")
        findings, source = found_in(options.source, reading, "found")
        if known is not None:
            findings = findings.with_columns(new=~_is_in(known[0]))
            if known[1].get("vocabulary") != source.get("vocabulary"):
                progress.warn("`since` is another terminology, so most findings are new")
        held, conflicts = settled(decisions)
        findings, decided = _divided(findings, held)
        applied = None
        if options.decisions:
            applied = _applied(held, conflicts, decided, progress)
            applied["fingerprint"] = fingerprint(decisions)
        redistributable = {"redistributable": str(source["redistributable"])}
        with progress.stage("write the findings") as stage:
            output.write(FINDING.files, findings, redistributable)
            output.write(CONFLICT.files, conflicts, redistributable)
            output.write_file(FINDINGS_CSV, partial(write_csv, findings))
            candidates = findings.filter(pl.lit(options.candidate_mappings), severity="warning")
            output.write_file(SSSOM, partial(write_mappings, candidates.collect(), decided, source))
            stage.note(counted(output.outputs[FINDING.files].rows, "finding"))
        AuditManifest(
            source=source,
            since=known[1] if known else None,
            decisions=applied,
            **output.run_facts(options.recorded(), progress, threads),
        ).write(output.folder)
    return Audit(options.out)


def _audited_before(
    since: PathOrOutput, options: AuditOptions, progress: Progress
) -> _Found | None:
    """Return the findings of an earlier audit, and its source; None if it is not an audit."""
    if not is_output(since) or output_kind(folder_of(since)) != AUDIT.name:
        return None
    earlier = Audit(folder_of(since))
    if earlier.manifest.options != options.recorded():
        progress.warn("`since` is an audit with other options, so more findings may be new")
    return earlier.read(FINDING.files, ["finding_id"]).lazy(), earlier.manifest.source


def _is_in(findings: pl.LazyFrame) -> pl.Expr:
    """Return whether a finding is one of these."""
    ids = findings.select("finding_id").collect().to_series()
    return pl.col("finding_id").is_in(ids.implode())


def _divided(findings: pl.LazyFrame, held: pl.DataFrame) -> tuple[pl.LazyFrame, pl.DataFrame]:
    """Return the findings that nobody decided on, and the others with their decisions."""
    key = dict(zip(DECIDED_ON, ("concept1", "term1", "concept2", "term2"), strict=True))
    parts = {name: pl.col(column).fill_null("").str.strip_chars() for name, column in key.items()}
    is_named = parts["subject_id"].is_in(held["subject_id"].implode())
    named = findings.filter(is_named).collect().with_columns(**parts)
    decided = named.join(held, on=DECIDED_ON, maintain_order="left")
    return findings.filter(~_is_in(decided.lazy())), decided


def _applied(
    held: pl.DataFrame, conflicts: pl.DataFrame, decided: pl.DataFrame, progress: Progress
) -> dict[str, object]:
    """Return what became of the decisions, for the manifest, and report it."""
    n_conflicts = conflicts.n_unique(DECIDED_ON)
    n_unused = held.join(decided, on=DECIDED_ON, how="anti").height
    progress.say(
        f"{counted(decided.height, 'finding')} dropped as decided; "
        f"{counted(n_unused, 'decision is', 'decisions are')} on no finding"
    )
    if n_conflicts:
        of = counted(n_conflicts, "name or pair", "names or pairs")
        progress.warn(f"reviewers disagree on {of}; see the view conflict")
    numbers = {"dropped": decided.height, "conflicts": n_conflicts, "without_finding": n_unused}
    return {"held": held.height, **numbers}


def read_audited(
    release: PathOrOutput,
    store: Store,
    threads: int,
    progress: Progress,
    reading: Mapping[str, Any],
) -> Audited:
    """Return a release from the folder of a build, or from a source.

    The folder of an output comes before a built-in source of the same name. Both ways derive the
    same positives; only negatives are left out.

    Args:
        release: the folder or the source.
        store: receives the tables.
        threads: threads to use.
        progress: receives the stages.
        reading: options of ``ReadingOptions``, for a source.

    Raises:
        OptionError: there are such options, although a build is given.
    """
    if is_output(release):
        check_no_options(release, **reading)
        build = Build(folder_of(release))
        with reading_output(build), progress.stage("derive positives"):
            derived = reload(build, store, threads, in_first_language=True)
        source = build.manifest.source
    else:
        options = SearchOptions(source=str(release), threads=threads, progress=progress, **reading)
        run = BuildRun.from_options(options, store)
        source, derived = run.terminology.to_json(), derive(run)
    return Audited(source=source, store=store, derived=derived, threads=threads, progress=progress)


def findings_of(audited: Audited, options: AuditOptions) -> Iterator[pl.DataFrame]:
    """Yield the findings on a release in their order, in batches; ``new`` is null."""
    chosen, store, parts = options.kinds, audited.store, [pl.DataFrame(schema=_SCHEMA)]
    if not store.n_rows("name"):
        raise InputError(f"{audited.source['name']} has no names of active concepts to compare")
    named = named_concepts(store, options.categories)
    categories = pl.DataFrame(named, {"name": pl.String, "concept_id": pl.String}, orient="row")
    store.put("category", categories.with_row_index("category"))
    for query in ("evaluations/category_member", "audits/concept_category"):
        store.run(query)
    store.run("audits/active_name", rf2_rules=bool(audited.source["rf2_rules"]))
    for group in dict.fromkeys(kind["group"] for kind in chosen.values()):
        with audited.progress.stage(f"find {group}") as stage:
            found = _found(group, audited, options)
            stage.note(counted(sum(part.height for part in found), "finding"))
        parts += [part.select(name for name in parts[0].columns if name in part) for part in found]
    rows = [(name, kind["group"], kind["severity"]) for name, kind in chosen.items()]
    store.put("kind", pl.DataFrame(rows, ["kind", "kind_group", "severity"], orient="row"))
    parts = [part.cast({pl.String: pl.Categorical}) for part in parts]
    every = pl.concat(parts, how="diagonal_relaxed", rechunk=True)
    parts.clear()
    ordered = sorted(chosen, key=lambda name: [*SEVERITIES].index(chosen[name]["severity"]))
    every = every.with_columns(pl.col("kind").cast(pl.Enum(ordered), strict=False))
    order = every.select(pl.arg_sort_by("kind", maintain_order=True)).to_series()
    for begin in range(0, len(order), _AT_ONCE):
        batch = every[order.slice(begin, _AT_ONCE)].cast({pl.Categorical: pl.String})
        with store.frame_as("found", batch.with_row_index("place")):
            yield store.frame("audits/finding")


def _found(group: str, audited: Audited, options: AuditOptions) -> list[pl.DataFrame]:
    """Return the findings of a group of kinds."""
    if group == "near":
        return [near_names(audited, options.distance, options.kinds)]
    if options.embedding is not None and group == "model":
        from medsim.audits.model import model_names  # noqa: PLC0415 — encoders

        return [model_names(audited, options.embedding, options.cache)]
    return [audited.store.frame(f"audits/{query}") for query in QUERIES[group]]


def write_mappings(
    candidates: pl.DataFrame, decided: pl.DataFrame, source: Mapping[str, object], path: Path
) -> int:
    """Write pairs of concepts as mappings; return the number of rows.

    Args:
        candidates: undecided findings, whose pairs of severity "warning" are written too. Those of
            severity "note" usually mean different things, and so do concepts with the same name,
            which is often an abbreviation.
        decided: findings with the columns of the decision on each.
        source: facts about the terminology.
        path: the file.
    """
    is_pair = pl.col("concept1") != pl.col("concept2")
    pairs = decided.filter(is_pair).with_columns(
        subject_label="main_name1", object_label="main_name2"
    )
    mappings = mappings_of(pairs).unique(_BETWEEN, maintain_order=True)
    probable = _probable(candidates.filter(is_pair, severity="warning"))
    mappings = pl.concat([mappings, probable], how="diagonal")
    ids, prefix = pl.col("subject_id", "object_id"), curie_prefix(source)
    prefixes = prefixes_of(source, pl.concat([mappings["subject_id"], mappings["object_id"]]))
    mappings = mappings.with_columns(ids.str.replace("^", prefix))
    return write_sssom(mappings, prefixes, "medsim-audit", path)


def _probable(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return undecided pairs as mappings of names that probably mean the same."""
    by_kind = {name: _JUSTIFICATIONS.get(kind["group"]) for name, kind in KINDS.items()}
    means = {name: kind["means"] for name, kind in KINDS.items()}
    kind, longer = pl.col("kind"), pl.max_horizontal(pl.col("term1", "term2").str.len_chars())
    return pairs.select(
        subject_id="concept1",
        subject_label="main_name1",
        predicate_id=pl.lit("skos:closeMatch"),
        object_id="concept2",
        object_label="main_name2",
        mapping_justification=kind.replace_strict(by_kind, return_dtype=pl.String),
        comment=pl.format("{} ({} / {})", kind.replace_strict(means), "term1", "term2"),
        similarity_score=pl.coalesce("similarity", 1 - pl.col("distance") / longer).round(3),
    )
