"""A run of an evaluation: its options, the signature of its results, and its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core import manifest
from medsim.core.errors import InputError, OutputError
from medsim.embeddings.given import VECTORS_USED
from medsim.evaluations.output import TABLES, Evaluation
from medsim.statistics.resampling import RESAMPLES, Resampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from medsim.core.output import OutputFolder
    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.evaluations.options import EvaluateOptions

Provenance = dict[str, dict[str, Any]]
"""Plain JSON on inputs or embeddings, by name."""

_REPLACED = "add `overwrite` to replace it, or choose another folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of an evaluation, with the inputs and embeddings of earlier runs that it adds to.

    Attributes:
        options: of this run; the recorded ones are the same in earlier runs.
        inputs: provenance by name.
        embeddings: provenance by name; facts are added once an embedding has been read.
        metadata: of every file.
        output: the folder that is written.
        progress: receives every stage.
    """

    options: EvaluateOptions
    inputs: Provenance
    embeddings: Provenance
    metadata: dict[str, str]
    output: OutputFolder
    progress: Progress

    def has(self, *paths: str) -> bool:
        """Return whether complete files exist, of this run or an earlier one."""
        return all(map(self.output.is_complete, paths))

    def write(self, path: str, frame: pl.DataFrame) -> None:
        """Write a file."""
        self.output.write(path, frame, self.metadata)

    def signature(self, name: str, embedding: str, metric: str) -> str:
        """Return a line with everything that decides a score, for use in a paper."""
        one, has, options = self.inputs[name], self.embeddings[embedding], self.options
        parts, choices = _mapping(one.get("parts")), _mapping(has["options"])
        words, bins, topics = (parts.get(of) for of in ("words", "bins", "topic_bins"))
        return ", ".join(
            [
                f"medsim {self.metadata['medsim']}",
                f"{name}@{str(one['fingerprint'])[:12]}",
                *([f"{words['name']}@{words['sha256'][:12]}"] if words else []),
                *([f"bins {' '.join(map(str, bins))}"] if bins else []),
                *([f"topic bins {' '.join(map(str, topics))}"] if topics else []),
                *([f"{parts['equal_parts']} equal parts"] if "equal_parts" in parts else []),
                f"{embedding}@{str(has['fingerprint'])[:12]}",
                *(f"{option}={value}" for option, value in choices.items()),
                metric,
                *(["coverage of all words"] if options.coverage == "all" else []),
                *(["independent pairs"] if options.independent_pairs else []),
                f"seed {options.seed}",
                f"{options.resamples or RESAMPLES} resamples",
            ]
        )


def earlier_results(options: EvaluateOptions) -> Evaluation | None:
    """Return the evaluation that a run adds to.

    Raises:
        OutputError: it was made by another version or with other options, or cannot be read.
    """
    out = Path(options.out)
    if options.overwrite or not (out / manifest.MANIFEST).exists():
        return None
    try:
        earlier = Evaluation(out)
    except InputError as error:
        raise OutputError(f"{error}; {_REPLACED}") from error
    for name, now in options.recorded().items():
        then = earlier.manifest.options[name]
        if then != now and not (name == "resamples" and now is None):
            before, wanted = ("the default" if one is None else one for one in (then, now))
            raise OutputError(
                f"{out} was made with `{name}` {before}, not {wanted}; use {before} to add to it, "
                f"{_REPLACED}"
            )
    return earlier


def begin_run(
    options: EvaluateOptions,
    output: OutputFolder,
    progress: Progress,
    inputs: Sequence[EvaluationInput],
    embeddings: Sequence[NamedEmbedding],
    earlier: Evaluation | None,
) -> Run:
    """Return a run whose folder has the files of an interrupted one, and of the earlier evaluation.

    Raises:
        OutputError: an earlier input or embedding has the same name and other content.
    """
    before: tuple[Provenance, Provenance] = ({}, {})
    if earlier is not None:
        before = earlier.manifest.inputs, earlier.manifest.embeddings
    every = _joined(options.out, "input", before[0], {one.name: one.provenance for one in inputs})
    now = {named.spec.name: named.provenance() for named in embeddings}
    redistributable = [one.get("redistributable") for one in every.values()]
    run = Run(
        options=options,
        inputs=every,
        embeddings=_joined(options.out, "embedding", before[1], now),
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
                name: [one["fingerprint"], one.get("categories")]
                for name, one in run.inputs.items()
            },
            "embeddings": {
                name: [one["fingerprint"], one["options"]] for name, one in run.embeddings.items()
            },
        }
    )
    if earlier is not None:
        files = (path for path in earlier.folder.rglob("*") if path.is_file())
        names = {path.relative_to(earlier.folder).as_posix() for path in files}
        kept = sorted(names - {manifest.MANIFEST, *(table.files for table in TABLES)})
        output.carry_over({name: earlier.manifest.outputs.get(name) for name in kept})
    return run


def _mapping(value: object) -> Mapping[str, Any]:
    """Return a part of a manifest, empty if it was changed to another type."""
    return value if isinstance(value, dict) else {}


def _joined(out: str | Path, kind: str, known: Provenance, own: Provenance) -> Provenance:
    """Return the provenance of earlier runs and of this one, in order of name."""
    for name, one in own.items():
        before = known.get(name, {})
        for part in ("fingerprint", "options", "categories"):
            if part in before and part in one and before[part] != one[part]:
                about = f"other {'content' if part == 'fingerprint' else part}"
                if one.get("identity") == before.get("identity") == VECTORS_USED:
                    about = (
                        "other vectors; to add inputs, give models a version: "
                        "medsim.Embedding(model, version=...)"
                    )
                raise OutputError(
                    f"{out} has another {kind} named {name} ({about}); choose another name or "
                    "another folder, or add `overwrite` to replace all results"
                )
    every = {**known, **{name: {**known.get(name, {}), **one} for name, one in own.items()}}
    return dict(sorted(every.items()))


def resampling_of(options: Mapping[str, Any], threads: int) -> Resampling:
    """Return the bootstrap resampling of a run; resamples grow unless their number is given."""
    given = options["resamples"]
    return Resampling(
        seed=options["seed"], resamples=given or RESAMPLES, threads=threads, grows=given is None
    )
