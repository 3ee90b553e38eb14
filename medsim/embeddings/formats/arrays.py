"""Reads arrays of vectors (.npy, .npz, .safetensors, or text) with a vocabulary of their rows."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from medsim.core.errors import InputError
from medsim.core.progress import Stage
from medsim.core.reading import NPY, ZIP, beginning_of, file_kind, open_file, what_it_is
from medsim.embeddings.formats import TERMS, WORDS, EmbeddingFormat, check_dimensions
from medsim.embeddings.formats.model_folder import ADAPTER, CONFIG, TOKENIZER
from medsim.embeddings.formats.tables import (
    FITTING,
    Keys,
    find_vocabulary,
    look_up,
    read_vocabulary,
    vocabularies_of,
)
from medsim.embeddings.formats.word2vec import parsed_numbers, text_lines, wrong_count
from medsim.kernels.types import Numbers, Rows

if TYPE_CHECKING:
    from medsim.embeddings.formats import Request, TermVectors, WordVectors
    from medsim.embeddings.options import EmbeddingOptions

_DESCRIBES = "array with a vocabulary beside it (.npy, .npz, .safetensors)"
_SUFFIXES = (".npy", ".npz", ".safetensors")
_ACCEPTED = ", ".join(_SUFFIXES)
_WORDS = re.compile("(word|vocab|token|term|key|index).*", re.IGNORECASE)  # arrays of a .npz
_NUMBERS, _TYPES = "vectors.txt", "types.txt"  # the files of a folder of text, as of BioASQ
_BF16 = np.dtype("V2")  # the upper half of float32, as ml_dtypes writes it
_DTYPES: dict[str, Any] = {
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "BF16": _BF16,
}


def _recognises(path: Path) -> bool:
    if path.is_dir():
        if _is_text(path):
            return True
        arrays = _arrays_in(path)
        is_model = any((path / name).exists() for name in (CONFIG, ADAPTER, TOKENIZER))
        return len(arrays) == 1 and not is_model and bool(vocabularies_of(arrays[0]))
    beginning = beginning_of(path)
    if file_kind(beginning) is ZIP:
        with zipfile.ZipFile(path) as archive:
            return all(name.endswith(".npy") for name in archive.namelist())
    return file_kind(beginning) is NPY or _is_safetensors(path, beginning)


def _files(path: Path, options: EmbeddingOptions) -> list[Path]:
    if _is_text(path):
        return [path / _NUMBERS, options.vocabulary or path / _TYPES]
    arrays = _arrays_in(path) if path.is_dir() else [path]
    if len(arrays) != 1:
        names = ", ".join(file.name for file in arrays) or "none"
        raise InputError(f"{path} must have one array ({_ACCEPTED}); it has {names}")
    if options.vocabulary is None and _name_of_words(arrays[0]):
        return arrays
    return [arrays[0], find_vocabulary(arrays[0], options.vocabulary)]


def _name_of_words(file: Path) -> str | None:
    """Return the name of an archive's array of words or terms, if there is one."""
    if file_kind(beginning_of(file)) is not ZIP:
        return None
    with zipfile.ZipFile(file) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    return next((name for name in names if len(names) > 1 and _WORDS.match(name)), None)


def _own_words(file: Path, kind: str | None) -> Keys:
    """Return the words or terms of an archive, which are an array of text."""
    name = str(_name_of_words(file))
    with open_file(file) as packed, np.load(packed) as arrays:
        words = arrays[name]
    if words.ndim != 1 or words.dtype.kind not in "US" or not words.dtype.itemsize:
        raise InputError(f"{file}: {name} is of type {words.dtype}; expected a row of texts")
    words = np.char.decode(words, "utf-8") if words.dtype.kind == "S" else words
    kind = kind or (TERMS if name.lower().startswith("term") else WORDS)
    return Keys(path=file, values=words.tolist(), kind=kind)


def _load(path: Path, request: Request) -> WordVectors | TermVectors:
    """Return the vectors of the wanted words or terms; see ``formats.LoadVectors``.

    Supported are floating-point numbers of 16 (also bfloat16), 32 or 64 bits and integers of 8
    bits; and as text, with a line of numbers for each line of the vocabulary.
    """
    files, kind = _files(path, request.options), request.options.keys
    file = files[0]
    keys = read_vocabulary(files[1], kind) if files[1:] else _own_words(file, kind)
    what = f"{_DESCRIBES}, rows of {keys.kind}"
    request.options.check_fit(what, "vocabulary", *FITTING[keys.kind])
    if file.name == _NUMBERS:
        return look_up(keys, request, lambda rows: _take_lines(file, keys, rows, request.stage))
    return look_up(keys, request, lambda rows: _take_rows(file, keys, rows))


def _arrays_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in _SUFFIXES)


def _is_text(path: Path) -> bool:
    names = (_NUMBERS, _TYPES)
    return path.is_dir() and not _arrays_in(path) and all((path / n).is_file() for n in names)


def _take_lines(file: Path, keys: Keys, rows: Rows, stage: Stage) -> Numbers:
    """Return rows of a text, given in ascending order; only these are parsed."""
    wanted, parts, n_rows, n_dimensions = frozenset(rows.tolist()), [], 0, 0
    for number, line in enumerate(text_lines(file, stage), start=1):
        if not (fields := line.split()):
            continue
        n_dimensions = n_dimensions or len(fields)
        if n_rows in wanted:
            if len(fields) != n_dimensions:
                raise wrong_count(file, number, len(fields), n_dimensions)
            parts.append(parsed_numbers(file, number, fields))
        n_rows += 1
    _check(file, (n_rows, n_dimensions), np.float32, keys)
    return np.frombuffer(b"".join(parts), "<f4").reshape(-1, n_dimensions)


def _is_safetensors(file: Path, beginning: bytes) -> bool:
    """Return whether a file begins with the size of a header and a header."""
    n_header = int.from_bytes(beginning[:8], "little")
    return beginning[8:9] == b"{" and n_header < file.stat().st_size


def _take_rows(file: Path, keys: Keys, rows: Rows) -> Numbers:
    """Return rows of an array with the value type of the file, or float32 for bfloat16."""
    beginning = beginning_of(file)
    if (kind := file_kind(beginning)) is NPY:
        with np.errstate(over="raise"):  # a header may claim any size
            array = np.load(file, mmap_mode="r")
    elif kind is ZIP:
        with open_file(file) as packed, np.load(packed) as arrays:
            names = [name for name in arrays.files if keys.path != file or not _WORDS.match(name)]
            array = arrays[_only(file, names)]
    elif _is_safetensors(file, beginning):
        array = _tensor(file, keys)
    else:
        raise InputError(f"{file} is not an array ({_ACCEPTED}): it {what_it_is(beginning)}")
    _check(file, array.shape, array.dtype.newbyteorder("="), keys)
    taken = np.asarray(array[rows])
    return (taken.view("<u2").astype("<u4") << 16).view("<f4") if taken.dtype == _BF16 else taken


def _tensor(file: Path, keys: Keys) -> NDArray[Any]:
    """Return the only tensor of a file, mapped from it; safetensors checks the header."""
    with safe_open(file, "numpy") as tensors:
        name = _only(file, list(tensors.keys()))
        tensor = tensors.get_slice(name)
        shape, dtype = tensor.get_shape(), tensor.get_dtype()
    _check(file, shape, numpy_type := _DTYPES.get(dtype, dtype), keys)
    with open_file(file) as stream:
        n_header = int.from_bytes(stream.read(8), "little")
        begin = 8 + n_header + json.loads(stream.read(n_header))[name]["data_offsets"][0]
    array: NDArray[Any] = np.memmap(file, numpy_type, "r", begin, tuple(shape))
    return array


def _check(file: Path, shape: Sequence[int], dtype: object, keys: Keys) -> None:
    """Raise InputError if an array does not have a vector of numbers for each key."""
    if len(shape) != 2 or min(shape) < 1:  # noqa: PLR2004 — rows and columns
        raise InputError(f"{file} has an array of shape {tuple(shape)}; expected rows of numbers")
    if dtype not in _DTYPES.values():
        known = "float16, bfloat16, float32, float64 or int8"
        raise InputError(f"{file} has values of type {dtype}; expected {known}")
    check_dimensions(file, shape[1])
    if shape[0] != len(keys.values):
        raise InputError(f"{file} has {shape[0]:,} rows and {keys.path} names {len(keys.values):,}")


def _only(file: Path, names: list[str]) -> str:
    if len(names) != 1:
        raise InputError(f"{file} has {len(names)} arrays ({', '.join(names)}); expected one")
    return names[0]


EmbeddingFormat(describes=_DESCRIBES, recognises=_recognises, load=_load, files=_files).register(
    "array"
)
