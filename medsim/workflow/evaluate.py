"""Evaluates embeddings on builds and rated files, from their files to a folder of results."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim import manifest
from medsim.config import check_seed, checked_threads
from medsim.embeddings import find_format, fingerprint
from medsim.embeddings.options import parse_embedding
from medsim.errors import OptionError, OutputError
from medsim.manifest import EVALUATION, EvaluationManifest
from medsim.metrics import METRICS, metrics_of
from medsim.metrics.workers import Workers
from medsim.progress import Progress
from medsim.workflow.coverage import coverage_of, overlap_of
from medsim.workflow.findings import Contender, Drawing, find
from medsim.workflow.inputs import SET_COLUMNS, EvaluationInput, read_inputs
from medsim.workflow.opened import Evaluation
from medsim.workflow.output import OutputFolder, claimed
from medsim.workflow.similarities import (
    NamedEmbedding,
    coverage_path,
    embed_terms,
    scores_path,
    write_similarities,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.embeddings.options import EmbeddingSpec
    from medsim.ratings.columns import RatedColumns

DEFAULT_RESAMPLES = 10_000
"""Of the bootstrap: enough to tell 0.05 apart among a hundred comparisons."""

_TABLES = ("results.parquet", "comparisons.parquet", "coverage.parquet", "overlap.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """Everything that decides what an evaluation does.

    Attributes:
        inputs: folders of builds and files of rated pairs.
        embeddings: what is evaluated.
        out: the folder to write, or to add to.
        metrics: names of the metrics; None takes all that an embedding can have.
        columns: of rated files in no known layout.
        seed: of the bootstrap and of the held-out half.
        resamples: of the bootstrap.
        threads: how many compute; they never change the result.
        overwrite: whether earlier results at ``out`` are replaced instead of added to.
        cache: the folder that keeps what encoders made; None keeps nothing.
    """

    inputs: tuple[str | Path, ...]
    embeddings: tuple[EmbeddingSpec, ...]
    out: Path
    metrics: tuple[str, ...] | None
    columns: RatedColumns | None
    seed: int
    resamples: int
    threads: int
    overwrite: bool
    cache: Path | None

    def check(self) -> None:
        """Raise OptionError for an option that is out of range."""
        check_seed(self.seed)
        if not self.embeddings:
            raise OptionError("name at least one embedding, such as --embedding glove=vectors.txt")
        names = [spec.name for spec in self.embeddings]
        for name in names:
            if names.count(name) > 1:
                raise OptionError(f"two embeddings are named {name!r}; a name is for one")
        for name in self.metrics or ():
            METRICS.get(name)


def evaluate(  # noqa: PLR0913 — an argument an option
    inputs: str | Path | Sequence[str | Path],
    embeddings: Mapping[str, str | Path],
    out: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    columns: RatedColumns | None = None,
    seed: int = 0,
    resamples: int = DEFAULT_RESAMPLES,
    threads: int | None = None,
    overwrite: bool = False,
    cache: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Return the evaluation that it writes to ``out``: embeddings scored on builds and rated files.

    Where ``out`` is an evaluation already, inputs and embeddings are added to it, and what it has
    is not computed again.

    Args:
        inputs: folders of builds and files of rated pairs.
        embeddings: paths by name; options stand behind a path as in "model.onnx,pooling=cls".
        out: the folder to write; it changes whole or not at all.
        metrics: names of the metrics; all that an embedding can have by default.
        columns: which columns of rated files hold what, where no known layout fits.
        seed: of the bootstrap and of the held-out half, from 0 to 2**63 - 1.
        resamples: of the bootstrap, at least 100.
        threads: how many to use, all available ones by default; never changes the result.
        overwrite: whether earlier results at ``out`` are replaced instead of added to.
        cache: the folder that keeps what encoders made of terms; by default nothing is kept.
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
        columns=columns,
        seed=seed,
        resamples=resamples,
        threads=checked_threads(threads),
        overwrite=overwrite,
        cache=None if cache is None else Path(cache),
    )
    return run_evaluation(config, progress or Progress())


def users_cache() -> Path | None:
    """Return where a user's caches keep what encoders made; None for a user without a home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "medsim", "vectors")
    except RuntimeError:
        return None


def run_evaluation(config: EvaluationConfig, progress: Progress) -> Evaluation:
    """Return the evaluation that a config asks for; see ``evaluate``."""
    config.check()
    with claimed(config.out, overwrite=config.overwrite, kind=EVALUATION) as output:
        earlier = _earlier(config)
        inputs = _read(config, progress)
        embeddings = [_identified(spec) for spec in config.embeddings]
        said = _said(config, inputs, embeddings, earlier)
        output.resume(_job(said))
        _carry_over(output, earlier)
        for one in inputs:
            output.write(_pairs_path(one.name), one.frame, said.metadata)
        for named in embeddings:
            _compare(config, named, inputs, output, said, progress)
        _conclude(config, output, said, progress)
        output.publish()
    return Evaluation(config.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What the manifest will say of inputs and embeddings, those of earlier runs among them.

    Attributes:
        inputs: provenance by name.
        embeddings: provenance by name; sizes are added when an embedding has been read.
        options: everything else that decides the results.
        metadata: of every file.
    """

    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]
    options: dict[str, object]
    metadata: dict[str, str]

    def signature(self, name: str, embedding: str, metric: str) -> str:
        """Return in a line what decides a score, to be pasted into a paper."""
        has = self.embeddings[embedding]
        options = has["options"] if isinstance(has["options"], dict) else {}
        return ", ".join(
            [
                f"medsim {self.metadata['medsim']}",
                f"{name}@{str(self.inputs[name]['fingerprint'])[:12]}",
                f"{embedding}@{str(has['fingerprint'])[:12]}",
                *(f"{option}={value}" for option, value in options.items()),
                metric,
                f"seed {self.options['seed']}",
            ]
        )


def _earlier(config: EvaluationConfig) -> Evaluation | None:
    """Return the evaluation that this run adds to.

    Raises:
        OutputError: it was made by another version, or with other options.
    """
    if config.overwrite or not (config.out / manifest.MANIFEST).exists():
        return None
    earlier = Evaluation(config.out)
    ours = {"medsim": manifest.medsim_version(), **_options(config)}
    theirs = {"medsim": earlier.manifest.medsim, **earlier.manifest.options}
    for name, value in ours.items():
        if theirs.get(name) != value:
            raise OutputError(
                f"{config.out} was made with {name} {theirs.get(name)}, not {value}; add "
                "--overwrite to replace it, or choose another folder"
            )
    return earlier


def _options(config: EvaluationConfig) -> dict[str, object]:
    return {"seed": config.seed, "resamples": config.resamples}


def _read(config: EvaluationConfig, progress: Progress) -> list[EvaluationInput]:
    with progress.stage("read inputs") as stage:
        inputs = read_inputs(config.inputs, config.columns)
        stage.found(", ".join(f"{one.name}: {one.frame.height:,} pairs" for one in inputs))
    for one in inputs:
        for warning in one.warnings:
            progress.warn(warning)
    return inputs


def _identified(spec: EmbeddingSpec) -> NamedEmbedding:
    name, found = find_format(spec.path, spec.options)
    return NamedEmbedding(
        spec=spec,
        format_name=name,
        format=found,
        fingerprint=fingerprint(spec.path, found, spec.options),
    )


def _said(
    config: EvaluationConfig,
    inputs: Sequence[EvaluationInput],
    embeddings: Sequence[NamedEmbedding],
    earlier: Evaluation | None,
) -> _Said:
    """Return what inputs and embeddings there are, with those of earlier runs.

    Raises:
        OutputError: an earlier one of the same name is another.
    """
    own_inputs = {one.name: one.provenance for one in inputs}
    own_embeddings: dict[str, dict[str, object]] = {
        named.spec.name: {
            "path": str(named.spec.path),
            "format": named.format_name,
            "fingerprint": named.fingerprint,
            "options": named.spec.options.given(),
        }
        for named in embeddings
    }
    there = earlier.manifest if earlier else None
    return _Said(
        inputs=_joined(config.out, "input", there.inputs if there else {}, own_inputs),
        embeddings=_joined(
            config.out, "embedding", there.embeddings if there else {}, own_embeddings
        ),
        options=_options(config),
        metadata={
            "medsim": manifest.medsim_version(),
            "libraries": json.dumps(manifest.library_versions()),
        },
    )


def _joined(
    out: Path,
    kind: str,
    there: Mapping[str, dict[str, object]],
    own: Mapping[str, dict[str, object]],
) -> dict[str, dict[str, object]]:
    for name, one in own.items():
        for part in ("fingerprint", "options"):
            if name in there and there[name].get(part) != one.get(part):
                raise OutputError(
                    f"{out} has another {kind} named {name} (its {part} differs); choose another "
                    "name, or add --overwrite to replace all results"
                )
    every = {**there, **{name: {**there.get(name, {}), **one} for name, one in own.items()}}
    return dict(sorted(every.items()))


def _job(said: _Said) -> dict[str, object]:
    """Return what decides the files of this run: no clock, no path."""
    return {
        "metadata": said.metadata,
        "options": said.options,
        "inputs": {name: one["fingerprint"] for name, one in said.inputs.items()},
        "embeddings": {
            name: [one["fingerprint"], one["options"]] for name, one in said.embeddings.items()
        },
    }


def _carry_over(output: OutputFolder, earlier: Evaluation | None) -> None:
    """Take what an earlier run found, and what else lies in its folder, over as it is."""
    if earlier is None:
        return
    rewritten = {manifest.MANIFEST, *_TABLES}
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


def _compare(
    config: EvaluationConfig,
    named: NamedEmbedding,
    inputs: Sequence[EvaluationInput],
    output: OutputFolder,
    said: _Said,
    progress: Progress,
) -> None:
    """Write the similarities of all inputs' pairs under an embedding, where they are not there."""
    name = named.spec.name
    about = said.embeddings[name]
    known = about.get("metrics", [])
    missing = [one for one in inputs if not _is_done(one.name, name, known, config, output)]
    if not missing:
        progress.say(f"{name} was compared before")
        return
    sides = [one.frame[side] for one in missing for side in ("term1", "term2")]
    terms = pl.concat(sides).unique().sort().to_list()
    has = embed_terms(named, terms, progress, threads=config.threads, cache=config.cache)
    metrics = {
        metric: one
        for metric, one in metrics_of(has.embedded).items()
        if config.metrics is None or metric in config.metrics
    }
    if not metrics:
        raise OptionError(
            f"no metric fits {name}; those that do: {', '.join(metrics_of(has.embedded))}"
        )
    about |= {
        "metrics": list(metrics_of(has.embedded)),
        "n_dimensions": has.n_dimensions,
        "n_vocabulary": has.n_vocabulary,
    }
    for one in missing:
        with progress.stage(f"compare {one.name} by {name}") as stage:
            n_pairs = one.frame["pair_id"].n_unique()
            stage.total(n_pairs * len(metrics))
            workers = Workers(threads=config.threads, advance=stage.advance)
            write_similarities(one, name, has, metrics, output, said.metadata, workers)
            stage.found(f"{n_pairs:,} pairs under {len(metrics)} metrics")


def _is_done(
    name: str, embedding: str, known: object, config: EvaluationConfig, output: OutputFolder
) -> bool:
    """Return whether all similarities of an input under an embedding are there already."""
    metrics = [
        metric
        for metric in (known if isinstance(known, list) else [])
        if config.metrics is None or metric in config.metrics
    ]
    return bool(metrics) and all(
        output.done(scores_path(name, embedding, metric)) for metric in metrics
    )


def _conclude(
    config: EvaluationConfig, output: OutputFolder, said: _Said, progress: Progress
) -> None:
    """Write what the similarities of all inputs show, and the manifest."""
    drawing = Drawing(seed=config.seed, resamples=config.resamples, threads=config.threads)
    tables: dict[str, list[pl.DataFrame]] = {table: [] for table in _TABLES}
    for name in sorted(said.inputs):
        frame = output.taken(_pairs_path(name))
        one = EvaluationInput(
            name=name,
            rated=said.inputs[name]["kind"] == "rated",
            frame=frame,
            provenance=said.inputs[name],
        )
        pair_ids = one.pairs()["pair_id"]
        contenders = _contenders(name, output, said)
        with progress.stage(f"score {name}") as stage:
            found = find(one, pair_ids, contenders, drawing, stage)
            stage.found(
                f"{found.results.height:,} results, {found.comparisons.height:,} comparisons"
            )
        _warn_of_empty(name, found.results, progress)
        has = {c.embedding: ~np.isnan(c.similarities) for c in contenders}
        terms = {e: output.taken(coverage_path(name, e, "terms")) for e in has}
        words = {e: output.taken(coverage_path(name, e, "words")) for e in has}
        tables["results.parquet"].append(found.results)
        tables["comparisons.parquet"].append(found.comparisons)
        tables["coverage.parquet"].append(coverage_of(one, pair_ids, has, terms))
        tables["overlap.parquet"].append(overlap_of(name, terms, words))
    for table, frames in tables.items():
        output.write(table, pl.concat(frames), said.metadata)
    EvaluationManifest(
        medsim=manifest.medsim_version(),
        libraries=manifest.library_versions(),
        inputs=said.inputs,
        embeddings=said.embeddings,
        options=said.options,
        threads=config.threads,
        warnings=list(progress.warnings),
        outputs=dict(sorted(output.outputs.items())),
        stages=[asdict(record) for record in progress.records],
    ).write(output.folder)


def _warn_of_empty(name: str, results: pl.DataFrame, progress: Progress) -> None:
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    sets = empty.select(SET_COLUMNS).unique(maintain_order=True)
    for key in sets.iter_rows():
        where = "/".join(part for part in key if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")


def _contenders(name: str, output: OutputFolder, said: _Said) -> list[Contender]:
    """Return all embeddings under all metrics by which an input's pairs were compared."""
    return [
        Contender(
            embedding=embedding,
            metric=metric,
            similarities=output.taken(path)["similarity"].fill_null(np.nan).to_numpy(),
            signature=said.signature(name, embedding, metric),
        )
        for embedding in said.embeddings
        for metric in METRICS.all()
        if (path := scores_path(name, embedding, metric)) in output.outputs
    ]


def _pairs_path(name: str) -> str:
    return f"pairs/input={name}/data.parquet"
