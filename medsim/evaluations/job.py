"""What an evaluation is asked to do, and the earlier results that it adds to."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from medsim.core import manifest
from medsim.core.config import check_seed
from medsim.core.errors import OptionError, OutputError, unknown_name
from medsim.core.opened import Evaluation
from medsim.embeddings.lookup import INDEXES
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.parts import check_bins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.embeddings.options import EmbeddingSpec
    from medsim.evaluations.subjects import Subject

_DECISIVE = {
    "fingerprint": "other content",
    "options": "other options",
    "categories": "other categories",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationConfig:
    """Everything that decides what an evaluation does.

    Attributes:
        inputs: folders of builds and files of rated pairs.
        embeddings: what is evaluated.
        out: the folder to write, or to add to.
        metrics: names of the metrics; None takes all that an embedding can have.
        seed: of the bootstrap and of the held-out half.
        resamples: of the bootstrap.
        threads: how many compute; they never change the result.
        overwrite: whether earlier results at ``out`` are replaced instead of added to.
        cache: the folder that keeps what encoders made; None keeps nothing.
        retrieval: whether linked terms of builds are looked up among all.
        index: in which they are looked up, one of ``medsim.embeddings.lookup.INDEXES``.
        separation: whether categories of concepts are held apart.
        categories: the concept of each, as "CONCEPT_ID" or "NAME=CONCEPT_ID"; none takes those of
            the paper.
        words: the file of a table of words by which rated sets are cut into parts; None leaves it
            to the rated files.
        bins: the counts at which bins of word frequency begin; none takes powers of ten.
    """

    inputs: tuple[str | Path, ...]
    embeddings: tuple[EmbeddingSpec, ...]
    out: Path
    metrics: tuple[str, ...] | None
    seed: int
    resamples: int
    threads: int
    overwrite: bool
    cache: Path | None
    retrieval: bool = False
    index: str = INDEXES[0]
    separation: bool = False
    categories: tuple[str, ...] = ()
    words: Path | None = None
    bins: tuple[int, ...] = ()

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
        if self.index not in INDEXES:
            raise OptionError(unknown_name("index", self.index, list(INDEXES)))
        if self.index != INDEXES[0] and not self.retrieval:
            raise OptionError(f"--index {self.index} is for retrieval; add --retrieval")
        check_bins(self.bins)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJob:
    """Inputs and embeddings of an evaluation, those of earlier runs among them.

    Attributes:
        inputs: provenance by name.
        embeddings: provenance by name; ``with_facts`` adds what is known once they have been read.
        options: everything else that decides the results.
        metadata: of every file.
    """

    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]
    options: dict[str, object]
    metadata: dict[str, str]

    def with_facts(self, facts: Mapping[str, Mapping[str, object]]) -> EvaluationJob:
        """Return the same job with more facts in the provenance of embeddings.

        Args:
            facts: by the embedding's name.
        """
        embeddings = {
            name: {**about, **facts.get(name, {})} for name, about in self.embeddings.items()
        }
        return replace(self, embeddings=embeddings)

    def signature(self, name: str, embedding: str, metric: str) -> str:
        """Return in a line what decides a score, to be pasted into a paper."""
        has = self.embeddings[embedding]
        options = has["options"] if isinstance(has["options"], dict) else {}
        return ", ".join(
            [
                f"medsim {self.metadata['medsim']}",
                f"{name}@{str(self.inputs[name]['fingerprint'])[:12]}",
                *_cut_by(self.inputs[name].get("parts")),
                f"{embedding}@{str(has['fingerprint'])[:12]}",
                *(f"{option}={value}" for option, value in options.items()),
                metric,
                f"seed {self.options['seed']}",
                f"{self.options['resamples']} resamples",
            ]
        )

    def content(self) -> dict[str, object]:
        """Return what decides the files of this run: no clock, no path."""
        return {
            "metadata": self.metadata,
            "options": self.options,
            "inputs": {
                name: [one["fingerprint"], one.get("categories")]
                for name, one in self.inputs.items()
            },
            "embeddings": {
                name: [one["fingerprint"], one["options"]] for name, one in self.embeddings.items()
            },
        }


def _cut_by(parts: object) -> list[str]:
    """Return what decides the parts of a rated file, for a signature."""
    told = parts if isinstance(parts, dict) else {}
    words, bins = told.get("words"), told.get("bins")
    return [
        *([f"{words['name']}@{words['sha256'][:12]}"] if words else []),
        *([f"bins {' '.join(map(str, bins))}"] if bins else []),
    ]


def earlier_results(config: EvaluationConfig) -> Evaluation | None:
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


def job_of(
    config: EvaluationConfig,
    subjects: Sequence[Subject],
    embeddings: Sequence[NamedEmbedding],
    earlier: Evaluation | None,
) -> EvaluationJob:
    """Return the job of a config, with the inputs and embeddings of earlier runs.

    Raises:
        OutputError: an earlier one of the same name is another.
    """
    there = earlier.manifest if earlier else None
    known = there.inputs if there else {}
    own_inputs = {one.name: one.provenance_beside(known.get(one.name, {})) for one in subjects}
    own_embeddings: dict[str, dict[str, object]] = {
        named.spec.name: {
            "path": str(named.spec.path),
            "format": named.format_name,
            "fingerprint": named.fingerprint,
            "options": replace(named.spec.options, format=None).chosen(),
        }
        for named in embeddings
    }
    every_input = _joined(config.out, "input", known, own_inputs)
    every_embedding = _joined(
        config.out, "embedding", there.embeddings if there else {}, own_embeddings
    )
    return EvaluationJob(
        inputs=every_input,
        embeddings=every_embedding,
        options=_options(config),
        metadata={
            "medsim": manifest.medsim_version(),
            "libraries": json.dumps({**manifest.library_versions(), **manifest.encoder_versions()}),
            "redistributable": json.dumps(_redistributable(every_input)),
        },
    )


def _joined(
    out: Path,
    kind: str,
    there: Mapping[str, dict[str, object]],
    own: Mapping[str, dict[str, object]],
) -> dict[str, dict[str, object]]:
    for name, one in own.items():
        for part, differs in _DECISIVE.items():
            known = there.get(name, {})
            if part in known and part in one and known[part] != one[part]:
                if part == "categories":
                    raise OutputError(
                        f"{out} has results of other categories of {name}; write those of these to "
                        "another folder, or add --overwrite to replace all results"
                    )
                raise OutputError(
                    f"{out} has another {kind} named {name} ({differs}); choose another name, or "
                    "add --overwrite to replace all results"
                )
    every = {**there, **{name: {**there.get(name, {}), **one} for name, one in own.items()}}
    return dict(sorted(every.items()))


def _redistributable(inputs: Mapping[str, dict[str, object]]) -> bool | None:
    """Return whether the inputs' terms may be passed on; None where nobody said."""
    said = [one.get("redistributable") for one in inputs.values()]
    return False if False in said else None if None in said else True
