"""Checks every guarantee on any benchmark of words in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from medsim.core.checks import Verification, findings_table
from medsim.core.config import available_threads
from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.manifest import fingerprint
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.terms import lowered, lowered_column
from medsim.corpora import CORPUS_SPLITS, ENGLISH
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import read_terminology
from medsim.wic import MAX_REPEATS, SIMILARITY
from medsim.wic.benchmark import read_benchmark
from medsim.wic.candidates import forms_with_relations
from medsim.wic.checks import (
    Breach,
    breaches_table,
    check_each,
    check_instances,
    check_splits,
    finding,
    instances_of,
)
from medsim.wic.options import WicVerifyOptions
from medsim.wic.output import CHOSEN_MENTION, INSTANCE, NAME, RELATED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from medsim.core.manifest import Output
    from medsim.wic.benchmark import Benchmark, BenchmarkFiles
    from medsim.wic.checks import ConceptsByName, Instance, SplitFinding

_Provenance: TypeAlias = Mapping[str, pl.DataFrame]
"""The tables of a benchmark with the provenance of its instances, by their files."""

_TABLES = (INSTANCE, CHOSEN_MENTION, NAME, RELATED)
"""The tables of a folder with the provenance of its instances."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verified(Verification):
    """The outcome of a verification of words in context.

    Attributes:
        findings: a row per split and check: its guarantee, the numbers of checked items and of
            violations, and the first of these or a note.
        breaches: a row per violation.
    """

    breaches: pl.DataFrame


@public(WicVerifyOptions)
def verify_wic(options: WicVerifyOptions) -> Verified:
    """Return the checks of a benchmark by the rules of Rouhizadeh et al. (2024).

    Each instance, each split, and all splits together are checked. A folder of ``medsim wic build``
    has the provenance of its instances; with it, labels, concepts and synonyms are checked as well.

    Raises:
        InputError: a file cannot be read or has another layout.
        OptionError: the split of a file is unclear, or the extra wic is missing.
    """
    progress = progress_of(options.progress)
    source = None if options.terminology is None else str(options.terminology)
    with progress.stage("read instances"):
        benchmark = read_benchmark(options)
    findings: list[SplitFinding] = []
    build, provenance, names = benchmark.build, None, None
    with benchmark.reading():
        with progress.stage("compare files with the manifest"):
            if build is not None:
                findings, provenance = _check_folder(build)
        if build is not None and provenance is not None:
            names = provenance[NAME.files]
            if source is not None:
                findings += check_terminology(
                    source, build, provenance, progress, options.extensions
                )
        elif source is not None:
            reading = ReadingOptions.from_record(benchmark.options, extensions=options.extensions)
            with Store(threads=available_threads()) as store:
                read_terminology(source, store, reading, progress)
                names = store.frame("terminologies/concept_name", language=reading.language)
        with progress.stage("check the guarantees"):
            findings += _check_all(benchmark, provenance, names)
    return Verified(findings=findings_table(findings), breaches=breaches_table(findings))


def _check_folder(build: Benchmark) -> tuple[list[SplitFinding], _Provenance | None]:
    """Return the findings on the files of a folder, and their provenance if they are intact."""
    outputs = check_outputs(build)
    try:
        provenance = {
            table.files: build.read(table.files).select(list(table.dtypes)) for table in _TABLES
        }
    except (InputError, pl.exceptions.ColumnNotFoundError):
        if not outputs.violations:
            raise
        return [outputs], None
    counts = Counter(provenance[CHOSEN_MENTION.files]["sentence"].to_list())
    breaches = [Breach(fault=f"{n} mentions in {text!r}") for text, n in counts.items() if n > 1]
    return [outputs, finding("", "one_row", len(counts), breaches)], provenance


def _check_all(
    benchmark: BenchmarkFiles, provenance: _Provenance | None, names: pl.DataFrame | None
) -> list[SplitFinding]:
    """Return the findings on the instances, split by split; ``names`` are names of concepts."""
    splits = {split: instances_of(frame) for split, frame in benchmark.splits.items()}
    language = str(benchmark.options.get("language", ENGLISH))
    similarity = float(str(benchmark.options.get("label_similarity", SIMILARITY)))
    terms = {term for part in splits.values() for instance in part for term in instance.terms}
    concepts = None if names is None else concepts_by_name(terms, names)
    together = check_splits(
        splits,
        benchmark.build.manifest.quotas if benchmark.build else None,
        language=language,
        max_repeats=int(str(benchmark.options.get("max_repeats", MAX_REPEATS))),
    )
    findings = []
    for split, instances in splits.items():
        findings += check_instances(split, instances, concepts, language, similarity)
        findings += together[split]
        if provenance is not None:
            findings += check_provenance(split, benchmark.splits[split], provenance)
    return findings


def check_outputs(build: Benchmark) -> SplitFinding:
    """Return the check of the files of a folder against its manifest."""
    outputs = build.manifest.outputs
    paths = {
        *outputs,
        *(table.files for table in _TABLES),
        *(f"{split}.json" for split in CORPUS_SPLITS),
    }
    faults = [_fault(build, path, outputs.get(path)) for path in sorted(paths)]
    return finding("", "outputs", len(paths), [Breach(fault=words) for words in faults if words])


def _fault(build: Benchmark, path: str, output: Output | None) -> str:
    """Return the fault of a file: Parquet is compared by rows, all else by bytes."""
    if output is None:
        return f"{path} is not in the manifest"
    try:
        is_table = path.endswith(".parquet")
        actual = fingerprint(build.read(path)) if is_table else digest_of(build.folder / path)
    except (InputError, OSError) as error:
        return f"{path} cannot be read ({error})"
    return "" if actual == output.fingerprint else f"{path} differs from the manifest"


def check_provenance(
    split: str, instances: pl.DataFrame, provenance: _Provenance
) -> list[SplitFinding]:
    """Return the checks of a split's JSON file against the provenance."""
    rows = provenance[INSTANCE.files].filter(split=split)
    pairs = zip(instances_of(instances), instances_of(rows), strict=False)
    breaches = [
        Breach(instance=instance, fault="it differs in instances.parquet")
        for instance, other in pairs
        if instance != other
    ]
    if instances.height != rows.height:
        text = f"{instances.height:,} instances, but {rows.height:,} in instances.parquet"
        breaches.append(Breach(fault=text))
    return [
        finding(split, "rows", instances.height, breaches),
        _mentions(split, rows, provenance),
        *_concepts(split, rows, provenance),
    ]


def _concepts(split: str, rows: pl.DataFrame, provenance: _Provenance) -> list[SplitFinding]:
    """Return the check of labels against concepts."""
    concepts = rows.select("concept1", "concept2").rows()
    related = {frozenset(pair): relation for *pair, relation in provenance[RELATED.files].rows()}

    def wrong_label(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        if instance.label == (concept1 == concept2):
            return ""
        return f"{instance.label}, but the concepts are {concept1} and {concept2}"

    def left_out(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        relation = related.get(frozenset((concept1, concept2)))
        return f"{concept1} and {concept2} are related: {relation}" if relation else ""

    instances = instances_of(rows)
    return [
        check_each(split, "label", instances, wrong_label),
        check_each(split, "excluded", instances, left_out),
    ]


def _mentions(split: str, rows: pl.DataFrame, provenance: _Provenance) -> SplitFinding:
    """Return the check that mentions.parquet has all mentions of a split."""
    mentions = set(provenance[CHOSEN_MENTION.files].rows())
    names = [name.removesuffix("_id") for name in CHOSEN_MENTION.dtypes]
    sides = [rows.select(f"{name}{side}" for name in names).rows() for side in (1, 2)]

    def unknown(instance: Instance) -> str:
        wrong = [n for n, side in enumerate(sides, 1) if side[instance.number - 1] not in mentions]
        return f"mention {wrong[0]} is not in {CHOSEN_MENTION.files}" if wrong else ""

    return check_each(split, "mention", instances_of(rows), unknown)


def concepts_by_name(terms: Collection[str], names: pl.DataFrame) -> ConceptsByName:
    """Return the concepts of terms that are names, ignoring case."""
    lower_terms = pl.DataFrame({"lower_term": lowered(list(terms))}, {"lower_term": pl.String})
    matches = names.with_columns(lowered_column(names["term"])).join(
        lower_terms, on="lower_term", how="semi"
    )
    grouped = matches.group_by("lower_term").agg("concept_id")
    return {name: frozenset(concepts) for name, concepts in grouped.iter_rows()}


def check_terminology(
    location: str,
    build: Benchmark,
    provenance: _Provenance,
    progress: Progress,
    extensions: Sequence[str | Path] = (),
) -> list[SplitFinding]:
    """Return the checks of names, related and mentioned concepts against the terminology."""
    mentions, options = provenance[CHOSEN_MENTION.files], build.manifest.options
    with Store(threads=available_threads()) as store:
        reading = ReadingOptions.from_record(options, extensions=extensions)
        terminology = read_terminology(location, store, reading, progress)
        vocabulary, broader = terminology.vocabulary, str(options["broader"])
        forms = forms_with_relations(store, mentions, reading.language, vocabulary, broader)
        store.put("form", forms)
        active = store.table("concept").filter("active").select("concept_id")
        return [
            _compare("names", provenance[NAME.files], store.frame("wic/benchmark_name")),
            _compare("related", provenance[RELATED.files], store.table("related_concept")),
            _compare("concepts", mentions.join(active, on="concept_id", how="semi"), mentions),
        ]


def _compare(check: str, benchmark: pl.DataFrame, terminology: pl.DataFrame) -> SplitFinding:
    """Return the rows that differ between a benchmark and its terminology."""
    columns = [name for name in terminology.columns if name in benchmark.columns]
    actual, expected = (set(table.select(columns).rows()) for table in (benchmark, terminology))
    faults = [f"{row} is not in the terminology" for row in sorted(actual - expected)]
    faults += [f"{row} is missing" for row in sorted(expected - actual)]
    return finding("", check, terminology.height, [Breach(fault=fault) for fault in faults])
