"""A run of an evaluation: its options, the signature of its results, and its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core import manifest
from medsim.core.errors import InputError, OutputError
from medsim.core.progress import Progress
from medsim.core.reading import read_json
from medsim.embeddings.metrics import METRICS
from medsim.embeddings.options import VECTORS_USED
from medsim.evaluations.output import RESULT, RESULT_VALUES, SUBMITTED, SUMMARIES, Evaluation
from medsim.statistics.options import RESAMPLES, Resampling
from medsim.systems.scorers import PREDICTED

if TYPE_CHECKING:
    import polars as pl

    from medsim.core.kinds import Table
    from medsim.core.output import OutputFolder
    from medsim.evaluations.options import EvaluateOptions

Provenance = dict[str, dict[str, Any]]
"""Plain JSON on inputs or embeddings, by name."""

_HOW_TO_REPLACE = "add `overwrite` to replace it, or choose another folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRun:
    """A run of an evaluation, with the inputs and embeddings of earlier runs that it adds to.

    Attributes:
        options: options of this run; the recorded ones are the same in earlier runs.
        inputs: provenance by name.
        embeddings: provenance by name; sizes and metrics are added when an embedding is read.
        submitted: submitter and date of the result, if they are given now or were earlier.
        metadata: written into every file.
        output: the folder that is written.
        progress: receives every stage.
    """

    options: EvaluateOptions
    inputs: Provenance
    embeddings: Provenance
    submitted: dict[str, str]
    metadata: dict[str, str]
    output: OutputFolder
    progress: Progress

    def is_complete(self, *paths: str) -> bool:
        """Return whether files exist and are complete, from this run or an earlier one."""
        return all(map(self.output.is_complete, paths))

    def write(self, path: str, frame: pl.DataFrame) -> None:
        """Write a file."""
        self.output.write(path, frame, self.metadata)

    def files(
        self, table: Table, name: str, *further: Iterable[str]
    ) -> Iterator[tuple[dict[str, Any], str, pl.DataFrame]]:
        """Yield the folder columns, the signature and the rows of an input's files of a table.

        Args:
            table: a table by input, embedding and metric.
            name: the name of the input.
            further: the values of further columns, in order.
        """
        for names in product([name], self.embeddings, (*METRICS.all(), PREDICTED), *further):
            if (path := table.path(*names)) in self.output.outputs:
                where = dict(zip(table.folder_columns(), names, strict=True))
                yield where, self.signature(*names[:3]), self.output.load(path)

    def signature(self, name: str, embedding: str, metric: str) -> str:
        """Return a line with everything that determines a score, for use in a paper."""
        source, options = self.inputs[name], self.options
        model = self.embeddings.get(embedding, {})  # empty for the baselines
        parts, choices = source.get("parts") or {}, model.get("options") or {}
        digest = f"@{str(model['fingerprint'])[:12]}" if model else ""
        words, bins, topics = (parts.get(key) for key in ("words", "bins", "topic_bins"))
        return ", ".join(
            [
                f"medsim {self.metadata['medsim']}",
                f"{name}@{str(source['fingerprint'])[:12]}",
                *([f"{words['name']}@{words['sha256'][:12]}"] if words else []),
                *([f"bins {' '.join(map(str, bins))}"] if bins else []),
                *([f"topic bins {' '.join(map(str, topics))}"] if topics else []),
                *([f"{parts['equal_parts']} equal parts"] if "equal_parts" in parts else []),
                f"{embedding}{digest}",
                *(f"{option}={value}" for option, value in choices.items()),
                metric,
                *(["coverage of all words"] if options.coverage == "all" else []),
                *([f"sample of {options.sample} positives"] if options.sample else []),
                *(["independent pairs"] if options.independent_pairs else []),
                *(f"{name} pairs only" for name in options.difficulty),
                f"seed {options.seed}",
                f"{options.resamples or RESAMPLES} resamples",
            ]
        )


def earlier_results(options: EvaluateOptions) -> Evaluation | None:
    """Return the evaluation that a run adds to; None if there is none.

    Raises:
        OutputError: it was made by another version or with other options, or cannot be read.
    """
    out = Path(options.out)
    if options.overwrite or not (out / manifest.MANIFEST).exists():
        return None
    try:
        earlier = Evaluation(out)
    except InputError as error:
        raise OutputError(f"{error}; {_HOW_TO_REPLACE}") from error
    for name, now in options.recorded().items():
        then = earlier.manifest.options[name]
        if then != now and not (name == "resamples" and now is None):
            before, after = map(_option_text, (then, now))
            raise OutputError(
                f"{out} was made with `{name}` {before}, not {after}; use {before} to add to it, "
                f"{_HOW_TO_REPLACE}"
            )
    return earlier


def _option_text(value: object) -> object:
    """Return the value of an option as users write it."""
    default = "the default" if value in (None, []) else value
    return ",".join(default) if isinstance(default, list) else default


def begin_run(
    options: EvaluateOptions,
    output: OutputFolder,
    progress: Progress,
    inputs: Provenance,
    embeddings: Provenance,
    earlier: Evaluation | None,
) -> EvaluationRun:
    """Return a run that reuses the files of an interrupted run and of the earlier evaluation.

    Inputs and embeddings, and systems among these, are their provenance by name.

    Raises:
        OutputError: an earlier input or embedding has the same name and other content.
    """
    before: tuple[Provenance, Provenance] = ({}, {})
    submitted = {name: str(value) for name in SUBMITTED if (value := getattr(options, name))}
    if earlier is not None:
        before = earlier.manifest.inputs, earlier.manifest.embeddings
        if RESULT in earlier.manifest.outputs:
            known = read_json(earlier.folder / RESULT)
            submitted = {name: known[name] for name in SUBMITTED if name in known} | submitted
    all_inputs = _joined(options.out, "input", before[0], inputs)
    redistributable = [record.get("redistributable") for record in all_inputs.values()]
    run = EvaluationRun(
        options=options,
        inputs=all_inputs,
        embeddings=_joined(options.out, "embedding", before[1], embeddings),
        submitted=submitted,
        metadata={
            "medsim": manifest.medsim_version(),
            "libraries": json.dumps(manifest.library_versions(*manifest.ENCODERS)),
            "redistributable": json.dumps(
                False if False in redistributable else None if None in redistributable else True
            ),
        },
        output=output,
        progress=progress,
    )
    output.resume(
        {
            "metadata": run.metadata,
            "options": options.recorded(),
            "inputs": {
                name: [record["fingerprint"], record.get("categories")]
                for name, record in run.inputs.items()
            },
            "embeddings": {
                name: [record["fingerprint"], record["options"]]
                for name, record in run.embeddings.items()
            },
        }
    )
    if earlier is not None:
        written = {RESULT, RESULT_VALUES, *(table.files for table in SUMMARIES)}
        output.carry_over(earlier.manifest.outputs, written)
    return run


def _joined(out: str | Path, kind: str, earlier: Provenance, new: Provenance) -> Provenance:
    """Return the provenance of earlier runs and of this one, in order of name."""
    for name, record in new.items():
        before = earlier.get(name, {})
        for part in ("fingerprint", "options", "categories"):
            if part in before and part in record and before[part] != record[part]:
                about = f"other {'content' if part == 'fingerprint' else part}"
                if record.get("identity") == before.get("identity") == VECTORS_USED:
                    about = (
                        "other vectors; to add inputs, give models a version: "
                        "medsim.Embedding(model, version=...)"
                    )
                raise OutputError(
                    f"{out} has another {kind} named {name} ({about}); choose another name or "
                    "another folder, or add `overwrite` to replace all results"
                )
    new = {name: {**earlier.get(name, {}), **record} for name, record in new.items()}
    return dict(sorted({**earlier, **new}.items()))


def is_same(earlier: Evaluation, inputs: Provenance, embeddings: Provenance) -> bool:
    """Return whether an earlier evaluation has the same inputs and embeddings among others.

    Raises:
        OutputError: one has the same name and other content.
    """
    about, folder = earlier.manifest, earlier.folder
    joined = [
        _joined(folder, "input", about.inputs, inputs),
        _joined(folder, "embedding", about.embeddings, embeddings),
    ]
    return bool(json.loads(json.dumps(joined)) == [about.inputs, about.embeddings])


def resampling_of(options: Mapping[str, Any], threads: int) -> Resampling:
    """Return the bootstrap resampling of a run; resamples grow unless their number is given."""
    seed, number = options["seed"], options["resamples"]
    return Resampling(
        seed=seed, resamples=number or RESAMPLES, threads=threads, grows=number is None
    )
