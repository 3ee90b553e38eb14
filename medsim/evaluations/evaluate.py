"""Evaluates embeddings on builds and rated files, from their files to a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import EVALUATION
from medsim.core.opened import Evaluation
from medsim.core.output import OutputFolder, claimed
from medsim.core.progress import Progress
from medsim.embeddings import WORDS, find_format
from medsim.embeddings.embedded_terms import NamedEmbedding, embed_terms, identify
from medsim.embeddings.lookup import INDEXES
from medsim.embeddings.metrics import TermPoints, WordBags, metrics_of
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.metrics.workers import Workers
from medsim.embeddings.options import parse_embedding
from medsim.evaluations.retrieval import Lookup, retrieval_path, retrieve
from medsim.evaluations.run_key import (
    EvaluationConfig,
    RunKey,
    earlier_results,
    run_key_of,
)
from medsim.evaluations.separation import separation_path, write_separation
from medsim.evaluations.similarities import (
    coverage_path,
    pairs_path,
    scores_path,
    write_similarities,
)
from medsim.evaluations.summary import TABLES, summarize
from medsim.evaluations.targets import EvaluationTarget, read_targets
from medsim.statistics.resampling import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.embeddings.metrics import Metric
    from medsim.evaluations.categories import Categories
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.evaluations.linked import LinkedTerms


def evaluate(  # noqa: PLR0913 — an argument an option
    inputs: str | Path | Sequence[str | Path],
    embeddings: Mapping[str, str | Path],
    out: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    threads: int | None = None,
    overwrite: bool = False,
    cache: str | Path | None = None,
    retrieval: bool = False,
    index: str = INDEXES[0],
    separation: bool = False,
    categories: Sequence[str] = (),
    words: str | Path | None = None,
    bins: Sequence[int] = (),
    progress: Progress | None = None,
) -> Evaluation:
    """Return the evaluation that it writes to ``out``: embeddings scored on builds and rated files.

    Where ``out`` is an evaluation already, inputs and embeddings are added to it, and what it has
    is not computed again.

    Args:
        inputs: folders of builds and files of rated pairs; columns of a file that is in no known
            layout stand behind its path as in "rated.csv,term1=A,term2=B,rating=score".
        embeddings: paths by name; options stand behind a path as in "model.onnx,pooling=cls".
        out: the folder to write; it changes whole or not at all.
        metrics: names of the metrics; all that an embedding can have by default.
        seed: of the bootstrap and of the held-out half, from 0 to 2**63 - 1.
        resamples: of the bootstrap, at least 100.
        threads: how many to use, all available ones by default; never changes the result.
        overwrite: whether earlier results at ``out`` are replaced instead of added to.
        cache: the folder that keeps what encoders made of terms; by default nothing is kept.
        retrieval: whether the linked terms of every term of a build are looked up among all.
        index: in which they are looked up: "flat" compares with all terms, "ivf" with those of the
            nearest cells, faster, and tells what part of the nearest it finds.
        separation: whether it is measured how far categories of a build's concepts are apart.
        categories: the concept whose descendants make each, as "CONCEPT_ID" or "NAME=CONCEPT_ID",
            at least two; by default those of the paper, which RF2 releases have.
        words: a table of words (CSV, TSV or Parquet with word, count, topics, domain) by which
            rated sets are cut into parts; rated files may have such columns of their own.
        bins: the counts at which bins of word frequency begin, powers of ten by default.
        progress: told of every stage; silent by default.

    Raises:
        InputError: an input or an embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken, holds results that cannot be added to, or cannot be written.
    """
    config = EvaluationConfig(
        inputs=(inputs,) if isinstance(inputs, (str, Path)) else tuple(inputs),
        embeddings=tuple(parse_embedding(f"{name}={path}") for name, path in embeddings.items()),
        out=Path(out),
        metrics=None if metrics is None else tuple(metrics),
        seed=seed,
        resamples=resamples,
        threads=checked_threads(threads),
        overwrite=overwrite,
        cache=None if cache is None else Path(cache),
        retrieval=retrieval,
        index=index,
        separation=separation or bool(categories),
        categories=tuple(categories),
        words=None if words is None else Path(words),
        bins=tuple(bins),
    )
    return run_evaluation(config, progress or Progress())


def run_evaluation(config: EvaluationConfig, progress: Progress) -> Evaluation:
    """Return the evaluation that a config asks for; see ``evaluate``."""
    config.check()
    with claimed(config.out, overwrite=config.overwrite, kind=EVALUATION) as output:
        earlier = earlier_results(config)
        targets = read_targets(config, progress)
        _check_metrics(config)
        embeddings = [identify(spec, progress) for spec in config.embeddings]
        key = run_key_of(config, targets, embeddings, earlier)
        output.resume(key.content())
        _carry_over(output, earlier)
        for one in targets:
            output.write(pairs_path(one.name), one.pairs.frame, key.metadata)
        run = _Run(config=config, output=output, key=key, progress=progress)
        measured = {named.spec.name: _measure(run, named, targets) for named in embeddings}
        summarize(config, output, key.with_facts(measured), progress)
        output.publish()
    return Evaluation(config.out)


def _check_metrics(config: EvaluationConfig) -> None:
    """Raise OptionError if an embedding's format tells that no metric asked for fits it."""
    for spec in config.embeddings:
        _, found = find_format(spec.path, spec.options)
        if found.gives is not None:
            _chosen(config, spec.name, WordBags if found.gives == WORDS else TermPoints)


def _carry_over(output: OutputFolder, earlier: Evaluation | None) -> None:
    """Take what an earlier run found, and what else lies in its folder, over as it is."""
    if earlier is None:
        return
    rewritten = {manifest.MANIFEST, *TABLES}
    names = [
        path.relative_to(earlier.folder).as_posix()
        for path in earlier.folder.rglob("*")
        if path.is_file()
    ]
    output.carry_over(
        {
            name: earlier.manifest.outputs.get(name)
            for name in sorted(names)
            if name not in rewritten
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What every stage of one run needs."""

    config: EvaluationConfig
    output: OutputFolder
    key: RunKey
    progress: Progress


def _measure(
    run: _Run, named: NamedEmbedding, targets: Sequence[EvaluationTarget]
) -> Mapping[str, object]:
    """Write what an embedding makes of all targets, where it is not there.

    Returns:
        metrics and sizes of the embedding, for its provenance; empty where nothing was missing.
    """
    config, name, about = run.config, named.spec.name, run.key.embeddings[named.spec.name]
    missing = [one for one in targets if not _is_done(run, one, name, about.get("metrics"))]
    if not missing:
        run.progress.say(f"{name} was compared before")
        return {}
    terms = pl.concat([one.terms() for one in missing]).unique().sort().to_list()
    has = embed_terms(named, terms, run.progress, threads=config.threads, cache=config.cache)
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


def _compare(run: _Run, one: EvaluationInput, name: str, has: EmbeddedTerms) -> None:
    metrics = _chosen(run.config, name, type(has.embedded))
    paths = [scores_path(one.name, name, metric) for metric in metrics]
    paths += [coverage_path(one.name, name, of) for of in ("terms", "words")]
    if all(map(run.output.done, paths)):
        return
    with run.progress.stage(f"compare {one.name} by {name}") as stage:
        n_pairs = one.frame["pair_id"].n_unique()
        stage.total(n_pairs * len(metrics))
        workers = Workers(threads=run.config.threads, advance=stage.advance)
        write_similarities(one, name, has, metrics, run.output, run.key.metadata, workers)
        stage.found(f"{n_pairs:,} pairs under {len(metrics)} metrics")


def _retrieve(run: _Run, one: str, linked: LinkedTerms, name: str, has: EmbeddedTerms) -> None:
    config = run.config
    path = retrieval_path(one, name, COSINES[type(has.embedded)], config.index)
    if run.output.done(path):
        return
    lookup = Lookup(index=config.index, seed=config.seed, threads=config.threads)
    with run.progress.stage(f"look up {one} in {name}") as stage:
        found = retrieve(linked, has, lookup, stage)
        run.output.write(path, found, run.key.metadata)
        n_first = found.filter(pl.col("rank") == 1).height
        stage.found(f"{n_first:,} of {found.height:,} terms have a linked term nearest")


def _separate(run: _Run, one: str, categories: Categories, name: str, has: EmbeddedTerms) -> None:
    metrics = _chosen(run.config, name, type(has.embedded))
    with run.progress.stage(f"separate categories of {one} by {name}") as stage:
        n_terms = len(categories.terms())
        stage.total(n_terms * len(metrics))
        workers = Workers(threads=run.config.threads, advance=stage.advance)
        n_uncovered = write_separation(
            one,
            name,
            has,
            categories,
            metrics,
            output=run.output,
            metadata=run.key.metadata,
            workers=workers,
        )
        stage.found(f"{n_terms:,} terms, {n_uncovered:,} without a vector")
    for category in categories.categories:
        if not has.terms.filter(pl.col("term").is_in(category.terms), "covered").height:
            run.progress.warn(f"{name} has no vector for any term of category {category.name!r}")


def _chosen(
    config: EvaluationConfig, name: str, kind: type[WordBags | TermPoints]
) -> dict[str, Metric]:
    """Return the metrics by which an embedding is compared.

    Raises:
        OptionError: none of those that are asked for is for such embeddings.
    """
    fitting = metrics_of(kind)
    chosen = {
        metric: one
        for metric, one in fitting.items()
        if config.metrics is None or metric in config.metrics
    }
    if not chosen:
        raise OptionError(
            f"no metric fits {name}; those that do: {', '.join(fitting)}; give --metric one of "
            "each kind"
        )
    return chosen


def _is_done(run: _Run, one: EvaluationTarget, embedding: str, known: object) -> bool:
    """Return whether all that is asked of a target under an embedding is there already.

    Args:
        run: what is asked for.
        one: the target.
        embedding: its name.
        known: its metrics, where an earlier run found out.
    """
    names = known if isinstance(known, list) else []
    asked = run.config.metrics
    chosen = [metric for metric in names if asked is None or metric in asked]
    paths = [scores_path(one.name, embedding, metric) for metric in chosen]
    if one.linked is not None:
        paths += [
            retrieval_path(one.name, embedding, metric, run.config.index)
            for metric in COSINES.values()
            if metric in names
        ]
    if one.categories is not None:
        paths += [separation_path(one.name, embedding, metric) for metric in chosen]
    return bool(names) and all(map(run.output.done, paths))
