"""Provenance of an output: what was read, asked for, written, skipped, and what it took."""

from __future__ import annotations

import hashlib
import json
import platform
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from medsim.core.errors import InputError
from medsim.core.files import whole_file

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "manifest.json"
"""The file whose presence says that an output is finished."""

BUILD, EVALUATION, STUDY, SCORES = "build", "evaluation", "study", "scores"
WIC, WIC_EVALUATION = "wic", "wic_evaluation"
"""The kinds of output, as manifests name them."""

NAMED = {
    BUILD: "a build",
    EVALUATION: "an evaluation",
    STUDY: "a study",
    SCORES: "scores",
    WIC: "a benchmark",
    WIC_EVALUATION: "an evaluation of words in context",
}
"""The kinds of output as a sentence has them."""

_MADE_WITH = {
    BUILD: "medsim build",
    EVALUATION: "medsim eval",
    STUDY: "medsim study sample",
    SCORES: "medsim study score",
    WIC: "medsim wic build",
}
_ENCODERS = ("model2vec", "onnxruntime", "sentence-transformers", "tokenizers", "torch")
_FITTERS = ("scikit-learn",)
_LANGUAGE = ("pysbd", "simplemma")
_LIBRARIES = ("duckdb", "fastobo", "numba", "numpy", "polars", "pyarrow", "rapidfuzz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Rows that were left out.

    Attributes:
        reason: why.
        n_rows: how many.
    """

    reason: str
    n_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A file that was written.

    Attributes:
        rows: how many it has.
        fingerprint: of its rows, in their order, see ``fingerprint``.
    """

    rows: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """What every manifest can do."""

    def write(self, folder: Path) -> None:
        """Write it to ``folder``; it appears whole or not at all.

        Raises:
            OutputError: it cannot be written.
        """
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        with whole_file(folder / MANIFEST, folder / f"{MANIFEST}.partial") as partial:
            partial.write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(_Written):
    """What a build says of itself; every part is plain JSON.

    Attributes:
        kind: "build".
        medsim: the version that wrote it.
        libraries: versions by name.
        source: see ``medsim.terminologies.sources.Terminology``, without what was skipped.
        options: everything that decides the rows, the seed among them.
        embedding: where the embedding of embedding negatives lay, which does not; None where
            there are none.
        threads: how many computed.
        skipped: reason and rows of what was left out.
        components: how many connected components the positives join terms to, and the largest.
        shortfall: negatives that could not be made, in all sets together.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
        stages: seconds and peak memory of each stage.
    """

    kind: str = BUILD
    medsim: str
    libraries: dict[str, str]
    source: dict[str, object]
    options: dict[str, object]
    embedding: dict[str, str] | None = None
    threads: int
    skipped: list[dict[str, object]]
    components: dict[str, int]
    shortfall: int
    warnings: list[str]
    outputs: dict[str, Output]
    stages: list[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationManifest(_Written):
    """What an evaluation says of itself; every part is plain JSON.

    Attributes:
        kind: "evaluation".
        medsim: the version that wrote it.
        libraries: versions by name.
        inputs: builds and rated files by name: where they lay, a fingerprint of their content,
            what was skipped, whether they may be passed on.
        embeddings: by name: where they lay, the hash of their files, options, sizes.
        options: everything else that decides the results, the seed among them.
        threads: how many computed.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
        stages: seconds and peak memory of each stage.
    """

    kind: str = EVALUATION
    medsim: str
    libraries: dict[str, str]
    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]
    options: dict[str, object]
    threads: int
    warnings: list[str]
    outputs: dict[str, Output]
    stages: list[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyManifest(_Written):
    """What a study says of itself; every part is plain JSON.

    Attributes:
        kind: "study".
        medsim: the version that wrote it.
        study_id: what answers name it by; depends on its pairs and on what is shown to whom.
        scale: the name of its scale.
        title: as annotators see it.
        instructions: paragraphs that annotators read first.
        page_size: how many pairs are shown before a pause; 0 for no pauses.
        annotators: their names.
        source: what its pairs were drawn from: where it lay, its fingerprint.
        options: everything that decides what is shown to whom, the seed among them.
        notice: what must be known before anything is passed on; None where there is nothing.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
    """

    kind: str = STUDY
    medsim: str
    study_id: str
    scale: str
    title: str
    instructions: list[str]
    page_size: int
    annotators: list[str]
    source: dict[str, object]
    options: dict[str, object]
    notice: str | None
    warnings: list[str]
    outputs: dict[str, Output]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresManifest(_Written):
    """What the scores of a study say of themselves; every part is plain JSON.

    Attributes:
        kind: "scores".
        medsim: the version that wrote it.
        study_id: of the study.
        answers: the names of the files of answers, and their SHA-256.
        options: everything else that decides the tables, the seed among them.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
    """

    kind: str = SCORES
    medsim: str
    study_id: str
    answers: list[dict[str, str]]
    options: dict[str, object]
    warnings: list[str]
    outputs: dict[str, Output]


@dataclass(frozen=True, slots=True, kw_only=True)
class WicManifest(_Written):
    """What a benchmark of words in context says of itself; every part is plain JSON.

    Attributes:
        kind: "wic".
        medsim: the version that wrote it.
        libraries: versions by name.
        corpora: of each its name, file, SHA-256, and numbers of documents, sentences and mentions.
        terminology: see ``medsim.terminologies.sources.Terminology``, without what was skipped.
        options: everything that decides the instances, the seed among them.
        quotas: how many instances of either label each group of each split has.
        threads: how many computed.
        skipped: reason and rows of what was left out.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
        stages: seconds and peak memory of each stage.
    """

    kind: str = WIC
    medsim: str
    libraries: dict[str, str]
    corpora: list[dict[str, object]]
    terminology: dict[str, object]
    options: dict[str, object]
    quotas: dict[str, dict[str, int]]
    threads: int
    skipped: list[dict[str, object]]
    warnings: list[str]
    outputs: dict[str, Output]
    stages: list[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WicEvaluationManifest(_Written):
    """What an evaluation of models on words in context says of itself; every part is plain JSON.

    Attributes:
        kind: "wic_evaluation".
        medsim: the version that wrote it.
        libraries: versions by name.
        data: the name of the benchmark.
        fitted: in words, on what models are fitted and thresholds chosen.
        files: where each split lay, and a fingerprint of its instances.
        models: by name: how they answer, where they lay, the hash of their files, options.
        options: everything else that decides the results, the seed among them.
        threads: how many computed.
        warnings: what the user was warned of.
        outputs: rows and fingerprint by path.
        stages: seconds and peak memory of each stage.
    """

    kind: str = WIC_EVALUATION
    medsim: str
    libraries: dict[str, str]
    data: str
    fitted: str
    files: dict[str, dict[str, str]]
    models: dict[str, dict[str, object]]
    options: dict[str, object]
    threads: int
    warnings: list[str]
    outputs: dict[str, Output]
    stages: list[dict[str, object]]


M = TypeVar("M", Manifest, EvaluationManifest, StudyManifest, WicManifest)

_KINDS: dict[type, str] = {
    Manifest: BUILD,
    EvaluationManifest: EVALUATION,
    StudyManifest: STUDY,
    WicManifest: WIC,
}


def read_manifest(folder: Path, of: type[M]) -> M:
    """Return the manifest of a finished output.

    Args:
        folder: of the output.
        of: the class of the kind of manifest that is expected.

    Raises:
        InputError: there is none, it is of another kind, or it is not medsim's.
    """
    kind = _KINDS[of]
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.get("kind", kind) != kind:
            raise InputError(
                f"{path} is a manifest of kind {found['kind']!r}, not of {NAMED[kind]}, as "
                f"{_MADE_WITH[kind]} writes it"
            )
        outputs = {name: Output(**output) for name, output in found.pop("outputs").items()}
        return of(**found, outputs=outputs)
    except FileNotFoundError as error:
        raise InputError(
            f"{folder} has no {MANIFEST}: it is no finished {kind}; make one with "
            f"{_MADE_WITH[kind]}"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be read as a manifest of medsim ({error})") from error


def kind_of(folder: Path) -> str | None:
    """Return the kind of output that a folder holds; None where there is no readable manifest."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["kind"])
    return None


def medsim_version() -> str:
    """Return the version of the installed package."""
    return _version("medsim")


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that decide a build."""
    found = {name: _version(name) for name in _LIBRARIES}
    return {"python": platform.python_version(), **found}


def encoder_versions() -> dict[str, str]:
    """Return the versions of those libraries of encoders that are installed."""
    return _installed(_ENCODERS)


def fitter_versions() -> dict[str, str]:
    """Return the versions of those libraries that fit models that are installed."""
    return _installed(_FITTERS)


def language_versions() -> dict[str, str]:
    """Return the versions of those libraries of sentences and lemmas that are installed."""
    return _installed(_LANGUAGE)


def _installed(names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = _version(name)
    return found


def fingerprint(frame: pl.DataFrame) -> str:
    """Return a SHA-256 of the content of a frame: column names, types and rows in order.

    It depends on values alone: not on how Parquet, Polars or Arrow hold them, or on chunks.
    """
    digest = hashlib.sha256()
    for column in frame.iter_columns():
        digest.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        values = column
        if column.null_count():
            digest.update(column.is_null().to_numpy().tobytes())
            values = column.fill_null(_in_place_of_null(column.dtype))
        else:  # as it mostly is; the frames of a small build take longer to fill than to hash
            digest.update(bytes(len(column)))
        if column.dtype == pl.String:
            digest.update(values.str.len_bytes().to_numpy().tobytes())
            digest.update(values.str.join("").item().encode())
        else:
            digest.update(values.to_numpy().tobytes())
    return digest.hexdigest()


def _in_place_of_null(dtype: pl.DataType) -> str | bool | int:
    if dtype == pl.String:
        return ""
    return False if dtype == pl.Boolean else 0


@cache
def _version(library: str) -> str:
    """Return the version of a library; to read it takes milliseconds, and it stays the same."""
    return version(library)
