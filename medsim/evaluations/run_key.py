"""The inputs, embeddings and options that decide the results of an evaluation."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core import manifest
from medsim.core.errors import InputError, OutputError
from medsim.embeddings.objects import VECTORS_USED
from medsim.evaluations.output import Evaluation
from medsim.statistics.resampling import RESAMPLES, Resampling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.evaluations.options import EvaluateOptions
    from medsim.evaluations.targets import EvaluationTarget

Provenance = dict[str, dict[str, object]]
"""Plain JSON on inputs or embeddings, by name."""

_OTHER_VECTORS = (
    "other vectors, by which alone it is known without a version; inputs can be added where it is "
    "medsim.Embedding(model, version=...)"
)
_DECISIVE = {
    "fingerprint": "other content",
    "options": "other options",
    "categories": "other categories",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """The inputs, embeddings and options that decide results, those of earlier runs included.

    Attributes:
        inputs: provenance by name.
        embeddings: provenance by name; ``with_facts`` adds what is known once they have been read.
        options: everything else that decides the results.
        metadata: of every file.
    """

    inputs: Provenance
    embeddings: Provenance
    options: dict[str, object]
    metadata: dict[str, str]

    def with_facts(self, facts: Mapping[str, Mapping[str, object]]) -> RunKey:
        """Return the same key with further facts, by name, in the provenance of embeddings."""
        embeddings = {
            name: {**about, **facts.get(name, {})} for name, about in self.embeddings.items()
        }
        return replace(self, embeddings=embeddings)

    def signature(self, name: str, embedding: str, metric: str) -> str:
        """Return a line with all that decides a score, to be pasted into a paper."""
        one, has = self.inputs[name], self.embeddings[embedding]
        options = has["options"] if isinstance(has["options"], dict) else {}
        parts: Any = one.get("parts") or {}
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
                *(f"{option}={value}" for option, value in options.items()),
                metric,
                *(["coverage of all words"] if self.options["coverage"] == "all" else []),
                *(["independent pairs"] if self.options["independent_pairs"] else []),
                f"seed {self.options['seed']}",
                f"{self.options['resamples'] or RESAMPLES} resamples",
            ]
        )

    def to_json(self) -> dict[str, object]:
        """Return the content that decides the files of this run, without clock or path."""
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


def resampling_of(options: Mapping[str, Any], threads: int) -> Resampling:
    """Return the randomness of a run with such options; it grows where no resamples are given."""
    given = options["resamples"]
    return Resampling(
        seed=options["seed"],
        resamples=given or RESAMPLES,
        threads=threads,
        grows=given is None,
    )


def earlier_results(options: EvaluateOptions) -> Evaluation | None:
    """Return the evaluation that this run adds to.

    Raises:
        OutputError: it was made by another version or with other options, or cannot be read.
    """
    out = Path(options.out)
    if options.overwrite or not (out / manifest.MANIFEST).exists():
        return None
    try:
        earlier = Evaluation(out)
    except InputError as error:
        raise OutputError(
            f"{error}; add `overwrite` to replace it, or choose another folder"
        ) from error
    for name, now in options.recorded().items():
        then = earlier.manifest.options[name]
        if then == now or (name == "resamples" and now is None):
            continue
        if isinstance(then, bool):
            known, due = ("with", "add it") if then else ("without", "leave it out")
            raise OutputError(
                f"{out} was made {known} `{name}`; {due} to add to it, add `overwrite` to replace "
                "it, or choose another folder"
            )
        if name == "coverage":
            raise OutputError(
                f"{out} was made with `{name}` {then}, not {now}; give {then} to add to it, add "
                "`overwrite` to replace it, or choose another folder"
            )
        before, wanted = ("by default" if one is None else one for one in (then, now))
        raise OutputError(
            f"{out} was made with {name} {before}, not {wanted}; add `overwrite` to replace it, or "
            "choose another folder"
        )
    return earlier


def run_key_of(
    options: EvaluateOptions,
    targets: Sequence[EvaluationTarget],
    embeddings: Sequence[NamedEmbedding],
    earlier: Evaluation | None,
) -> RunKey:
    """Return the key of a run, with the inputs and embeddings of earlier runs.

    Raises:
        OutputError: an earlier one of the same name is another.
    """
    known = earlier.manifest.inputs if earlier else {}
    own_inputs = {one.name: one.provenance() for one in targets}
    inputs = _joined(options.out, "input", known, own_inputs)
    known = earlier.manifest.embeddings if earlier else {}
    own_embeddings: Provenance = {named.spec.name: named.provenance() for named in embeddings}
    redistributable = [one.get("redistributable") for one in inputs.values()]
    return RunKey(
        inputs=inputs,
        embeddings=_joined(options.out, "embedding", known, own_embeddings),
        options=options.recorded(),
        metadata={
            "medsim": manifest.medsim_version(),
            "libraries": json.dumps(manifest.library_versions(*manifest.ENCODERS)),
            "redistributable": json.dumps(
                False if False in redistributable else None if None in redistributable else True
            ),
        },
    )


def _joined(out: str | Path, kind: str, known: Provenance, own: Provenance) -> Provenance:
    """Return the provenance of earlier runs and of this one, in order of name."""
    for name, one in own.items():
        before = known.get(name, {})
        for part, said in _DECISIVE.items():
            if part not in before or part not in one or before[part] == one[part]:
                continue
            if part == "categories":
                raise OutputError(
                    f"{out} has results of other categories of {name}; write those of these to "
                    "another folder, or add `overwrite` to replace all results"
                )
            is_versionless = one.get("identity") == before.get("identity") == VECTORS_USED
            differs = _OTHER_VECTORS if is_versionless else said
            raise OutputError(
                f"{out} has another {kind} named {name} ({differs}); choose another name, or add "
                "`overwrite` to replace all results"
            )
    every = {**known, **{name: {**known.get(name, {}), **one} for name, one in own.items()}}
    return dict(sorted(every.items()))
