"""Evaluates embeddings on builds and rated files, from their files to a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import manifest
from medsim.core.errors import OptionError, counted
from medsim.core.options import public
from medsim.core.output import claimed
from medsim.core.progress import Progress, progress_of
from medsim.embeddings import WORDS
from medsim.embeddings.embedded_terms import (
    NamedEmbedding,
    embed_terms,
    identify,
    open_source,
    settled,
)
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.metrics import METRICS, TermPoints, WordBags, Workers, metrics_of
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.output import (
    EVALUATION,
    Evaluation,
    EvaluationFiles,
    coverage_path,
    pairs_path,
    retrieval_path,
    scores_path,
    vocabulary_path,
)
from medsim.evaluations.retrieval import SearchSettings, retrieve
from medsim.evaluations.run_key import earlier_results, run_key_of
from medsim.evaluations.separation import separation_paths, write_separation
from medsim.evaluations.similarities import write_similarities
from medsim.evaluations.summary import TABLES, summarize
from medsim.evaluations.targets import EvaluationTarget, read_targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.evaluations.targets import Categories, LinkedTerms


@public(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> Evaluation:
    """Return the evaluation of embeddings on builds and rated files that it writes to ``out``.

    Where ``out`` is an evaluation already, inputs and embeddings are added to it, and what it has
    is not computed again.

    Raises:
        InputError: an input or an embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit.
        ServiceError: a service cannot be reached, or does not answer as it should.
        OutputError: ``out`` is taken, holds results that cannot be added to, or cannot be written.
    """
    for name in options.metrics or ():
        METRICS.get(name)
    out, progress = Path(options.out), progress_of(options.progress)
    with claimed(out, EVALUATION, overwrite=options.overwrite, read=options.paths_read()) as output:
        earlier = earlier_results(options)
        targets = read_targets(options, progress)
        for spec in options.specs:  # whose format may tell that no metric fits
            if (gives := open_source(spec).gives) is not None:
                _chosen(options, spec.name, WordBags if gives == WORDS else TermPoints)
        embeddings = [identify(spec, progress) for spec in options.specs]
        if not all(named.fingerprint for named in embeddings):
            terms, threads = _terms_of(targets), options.n_threads
            embeddings = [settled(one, terms, progress, threads=threads) for one in embeddings]
        key = run_key_of(options, targets, embeddings, earlier)
        output.resume(key.to_json())
        if earlier is not None:
            every = (path for path in earlier.folder.rglob("*") if path.is_file())
            names = {path.relative_to(earlier.folder).as_posix() for path in every}
            kept = sorted(names - {manifest.MANIFEST, *TABLES})
            output.carry_over({name: earlier.manifest.outputs.get(name) for name in kept})
        files = EvaluationFiles(output=output, metadata=key.metadata)
        for one in targets:
            files.write(pairs_path(one.name), one.pairs.frame)
        run = _Run(options=options, files=files, progress=progress)
        facts = {
            named.spec.name: _measure(run, named, targets, key.embeddings[named.spec.name])
            for named in embeddings
        }
        summarize(key.with_facts(facts), files, options.n_threads, progress)
        output.publish()
    return Evaluation(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The needs of every stage of one run."""

    options: EvaluateOptions
    files: EvaluationFiles
    progress: Progress


def _measure(
    run: _Run,
    named: NamedEmbedding,
    targets: Sequence[EvaluationTarget],
    known: Mapping[str, object],
) -> Mapping[str, object]:
    """Write the similarities, retrieval and separation of all targets that are not there yet.

    Returned are facts on the embedding, for its provenance; none where nothing was missing.
    """
    options, name = run.options, named.spec.name
    missing = [one for one in targets if not _is_complete(run, one, name, known.get("metrics"))]
    if not missing:
        run.progress.say(f"{name} was compared before")
        return {}
    terms = _terms_of(missing)
    cache = cache_folder(options.cache)
    has = embed_terms(
        named,
        terms,
        run.progress,
        threads=options.n_threads,
        cache=cache,
        coverage=options.coverage,
    )
    if has.vocabulary is not None and not run.files.exist(vocabulary_path(name)):
        run.files.write(vocabulary_path(name), has.vocabulary.to_frame())
    for one in missing:
        _compare(run, one.pairs, name, has)
        if one.linked is not None:
            _retrieve(run, one.name, one.linked, name, has)
        if one.categories is not None:
            _separate(run, one.name, one.categories, name, has)
    return {
        "metrics": list(metrics_of(type(has.embedded))),
        "n_dimensions": has.n_dimensions,
        "n_vocabulary": has.n_vocabulary,
    }


def _terms_of(targets: Sequence[EvaluationTarget]) -> list[str]:
    """Return the terms of all targets, distinct and in order."""
    return pl.concat([one.terms() for one in targets]).unique().sort().to_list()


def _compare(run: _Run, one: EvaluationInput, name: str, has: EmbeddedTerms) -> None:
    metrics = _chosen(run.options, name, type(has.embedded))
    paths = [scores_path(one.name, name, metric) for metric in metrics]
    paths += [coverage_path(one.name, name, of) for of in ("terms", "words")]
    if run.files.exist(*paths):
        return
    with run.progress.stage(f"compare {one.name} by {name}") as stage:
        costs = sum(metric.cost(has.n_dimensions) for metric in metrics.values())
        stage.total(one.pairs.height * costs)
        workers = Workers(threads=run.options.n_threads, advance=stage.advance)
        write_similarities(one, name, has, metrics, run.files, workers)
        n_metrics = counted(len(metrics), "metric")
        stage.found(f"{counted(one.pairs.height, 'pair')} under {n_metrics}")


def _retrieve(run: _Run, one: str, linked: LinkedTerms, name: str, has: EmbeddedTerms) -> None:
    options = run.options
    path = retrieval_path(one, name, COSINES[type(has.embedded)], options.index)
    if run.files.exist(path):
        return
    search = SearchSettings(
        index=options.index, device=options.device, seed=options.seed, threads=options.n_threads
    )
    with run.progress.stage(f"look up {one} in {name}") as stage:
        found = retrieve(linked, has, stage, search)
        run.files.write(path, found)
        n_first = found.filter(pl.col("rank") == 1).height
        stage.found(f"{n_first:,} of {found.height:,} terms have a linked term nearest")


def _separate(run: _Run, one: str, categories: Categories, name: str, has: EmbeddedTerms) -> None:
    metrics = _chosen(run.options, name, type(has.embedded))
    with run.progress.stage(f"separate categories of {one} by {name}") as stage:
        n_terms = len(categories.terms())
        stage.total(n_terms * len(metrics))
        workers = Workers(threads=run.options.n_threads, advance=stage.advance)
        n_uncovered = write_separation(one, name, has, categories, metrics, run.files, workers)
        stage.found(f"{n_terms:,} terms, {n_uncovered:,} without a vector")
    for category in categories.categories:
        if not has.terms.filter(pl.col("term").is_in(category.terms), "covered").height:
            run.progress.warn(f"{name} has no vector for any term of category {category.name!r}")


def _chosen(
    options: EvaluateOptions, name: str, kind: type[WordBags | TermPoints]
) -> dict[str, Metric]:
    """Return the metrics by which an embedding is compared."""
    fitting = metrics_of(kind)
    chosen = {
        metric: one
        for metric, one in fitting.items()
        if not options.metrics or metric in options.metrics
    }
    if not chosen:
        raise OptionError(
            f"no metric fits {name}; those that do: {', '.join(fitting)}; give `metrics` one of "
            "each kind"
        )
    return chosen


def _is_complete(run: _Run, one: EvaluationTarget, embedding: str, known: object) -> bool:
    """Return whether all that is asked of a target under an embedding is there already."""
    names = known if isinstance(known, list) else []
    asked = run.options.metrics
    chosen = [metric for metric in names if not asked or metric in asked]
    paths = [scores_path(one.name, embedding, metric) for metric in chosen]
    if one.linked is not None:
        paths += [
            retrieval_path(one.name, embedding, metric, run.options.index)
            for metric in COSINES.values()
            if metric in names
        ]
    if one.categories is not None:
        paths += chain.from_iterable(
            separation_paths(one.name, embedding, metric, one.categories) for metric in chosen
        )
    return bool(chosen) and run.files.exist(*paths)
