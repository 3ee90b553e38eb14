"""The settings in a model's folder: its format, pooling and limits."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from medsim.core.errors import InputError
from medsim.core.reading import open_file, read_json, reading

MODULES = "modules.json"
"""The file of a folder of sentence-transformers that lists the steps of a model."""

CONFIG = "config.json"
"""The file of a folder of transformers that says what kind of model it is."""

ADAPTER = "adapter_config.json"
"""The file of a folder of PEFT that names the model to which its weights are added."""

TOKENIZER = "tokenizer.json"
"""The file of a tokenizer, as the library tokenizers writes it."""

SETTINGS_SUFFIXES = frozenset({".json", ".jsonl", ".model", ".txt"})
"""Suffixes of the files of settings and of tokenizers."""

MAX_TOKENS = 512
"""The maximum number of tokens of a text if a model does not give its limit."""

PICKLES = "pytorch_model*.bin"
"""Names of files of weights that are pickles."""

_LOCATION = b"\n\x08location\x12"  # the key as Protocol Buffers write it before its value
_LONGEST_LOCATION = 1 << 12
_ONE_BYTE = 127  # the maximum of a length in one byte

_PROMPTS = "config_sentence_transformers.json"
_TRANSFORMER = "sentence_bert_config.json"
_TOKENIZER_SETTINGS = "tokenizer_config.json"

_AFTER_PADDING = {
    "camembert",
    "data2vec-text",
    "ibert",
    "longformer",
    "mpnet",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
}  # types of models whose positions start at the number of the padding token
_NO_LIMIT = 1 << 31  # transformers writes 10**30 without a limit
_OWN_STEPS = {"Transformer", "Pooling", "Normalize"}
_OTHER_BACKENDS = {"onnx", "openvino"}
_POOLINGS = {"cls_token": "cls", "max_tokens": "max", "mean_tokens": "mean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a model in the files of sentence-transformers and transformers.

    Attributes:
        pooling: the pooling of token vectors; None if no file says so.
        normalize: whether vectors are scaled to length 1.
        other_steps: steps besides the transformer, pooling and scaling, such as "Dense".
        prompt: text that is put before every text by default.
        max_tokens: the maximum number of tokens of a text; None if no file says so.
        n_positions: the maximum number of tokens of the transformer; None if no file says so.
    """

    pooling: str | None
    normalize: bool
    other_steps: tuple[str, ...]
    prompt: str
    max_tokens: int | None
    n_positions: int | None


def kind(path: Path) -> str | None:
    """Return the format of a model, by the name under which it is registered, or None.

    A folder with an .onnx file and files of other formats is "onnx", which needs the fewest
    libraries. Model2vec is an exception, since its .onnx files are not encoders of tokens.
    """
    if not path.is_dir():
        return "onnx" if path.suffix.lower() == ".onnx" else None
    with suppress(InputError):  # a damaged file is reported when the format reads it
        if read_object(path / CONFIG).get("model_type") == "model2vec":
            return "model2vec"
    if onnx_files(path):
        return "onnx"
    if (path / MODULES).is_file():
        return "sentence-transformers"
    names = ("*.safetensors", "*.safetensors.index.json", PICKLES)
    has_config = (path / CONFIG).is_file() or (path / ADAPTER).is_file()
    return "transformers" if has_config and any(any(path.glob(name)) for name in names) else None


def onnx_files(folder: Path) -> list[Path]:
    """Return the .onnx files of a folder, or of its subfolder onnx if it has none."""
    return sorted(folder.glob("*.onnx")) or sorted(folder.glob("onnx/*.onnx"))


def find_all(path: Path, text: bytes, n_after: int = 0) -> Iterator[bytes]:
    """Yield the bytes that follow each occurrence of a text in a file."""
    with open_file(path) as file:
        if not path.stat().st_size:  # an empty file cannot be mapped
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for match in re.finditer(re.escape(text), content):
                yield content[match.end() : match.end() + n_after]


def onnx_weights(model: Path) -> list[str]:
    """Return the paths, relative to its folder, of the files with an .onnx file's weights.

    They are the values of "location" in its ``external_data`` (ONNX's ``TensorProto``). Paths
    outside the folder are left out.
    """
    paths = set()
    for after in find_all(model, _LOCATION, _LONGEST_LOCATION):
        first, second = after[:2].ljust(2, b"\0")  # a truncated file has fewer bytes
        is_long = first > _ONE_BYTE
        size, begin = ((first & _ONE_BYTE) + (second << 7), 2) if is_long else (first, 1)
        with suppress(UnicodeDecodeError):
            paths.add(PurePosixPath(after[begin : begin + size].decode()))
    inner = (path for path in paths if path.name and ".." not in path.parts)
    return sorted(str(path) for path in inner if not path.is_absolute())


def missing_part(folder: Path) -> str:
    """Return what a folder lacks to be a model, for a message."""
    folders = sorted(path.name for path in folder.iterdir() if path.is_dir() and kind(path))
    if folders:
        return f"; a model is in its folder {folders[0]}"
    if (folder / "snapshots").is_dir():
        return "; it is in the cache of huggingface_hub: name the model as hf:NAME"
    return f": it needs {CONFIG} and model.safetensors, or an .onnx file"


def read_settings(folder: Path) -> Settings:
    """Return the settings in the files of a folder that exist."""
    modules = read_modules(folder)
    steps = [module.rpartition(".")[2] for _, module in modules]
    prompts = read_object(folder / _PROMPTS)
    known, chosen = prompts.get("prompts"), prompts.get("default_prompt_name")
    of_tokenizer = _count(folder / _TOKENIZER_SETTINGS, "model_max_length")
    config = read_object(folder / CONFIG)
    n_positions = _count(folder / CONFIG, "max_position_embeddings")
    if n_positions is not None and config.get("model_type") in _AFTER_PADDING:
        padding = config.get("pad_token_id")
        n_positions = max(1, n_positions - 1 - (padding if isinstance(padding, int) else 1))
    return Settings(
        pooling=_pooling(folder, modules),
        normalize="Normalize" in steps,
        other_steps=tuple(step for step in steps if step not in _OWN_STEPS),
        prompt=str(known.get(chosen, "")) if isinstance(known, dict) else "",
        max_tokens=_count(folder / _TRANSFORMER, "max_seq_length"),
        n_positions=min(filter(None, (n_positions, of_tokenizer)), default=None),
    )


def read_modules(folder: Path) -> list[tuple[str, str]]:
    """Return the subfolder and the class of each step of a model; empty if no file lists them."""
    path = folder / MODULES
    with reading(path, "a list of modules"):
        modules = read_json(path) if path.exists() else []
        return [(str(module["path"]), str(module["type"])) for module in modules]


def settings_files(folder: Path) -> list[Path]:
    """Return the existing files that ``read_settings`` reads."""
    names = [MODULES, CONFIG, _PROMPTS, _TRANSFORMER, _TOKENIZER_SETTINGS]
    names += [f"{subfolder}/{CONFIG}" for subfolder, _ in read_modules(folder) if subfolder]
    return [folder / name for name in names if (folder / name).is_file()]


def model_files(folder: Path, _options: object) -> list[Path]:
    """Return the weights, tokenizer and settings in a folder and in those of its modules.

    See ``formats.EmbeddingFormat.files``; no option decides them.
    """
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in {*SETTINGS_SUFFIXES, ".safetensors"}
        and _OTHER_BACKENDS.isdisjoint(file.relative_to(folder).parts)
        and file.is_file()
    ]


def _pooling(folder: Path, modules: list[tuple[str, str]]) -> str | None:
    for subfolder, module in modules:
        if module.endswith(".Pooling"):
            settings = read_object(folder / subfolder / CONFIG)
            flags = [flag for flag in settings if flag.startswith("pooling_mode_")]
            names = [flag.removeprefix("pooling_mode_") for flag in flags if settings[flag] is True]
            flagged = [_POOLINGS.get(name, name) for name in names]
            mode = settings.get("pooling_mode", flagged or "mean")
            return "+".join(map(str, mode)) if isinstance(mode, list) else str(mode)
    return None


def _count(path: Path, name: str) -> int | None:
    """Return a number in a file, None if it is missing."""
    number = read_object(path).get(name)
    if number is None:
        return None
    if not isinstance(number, int | float) or number < 1:
        raise InputError(f"{path}: {name} is {number!r}; expected a number above 0")
    return int(number) if number < _NO_LIMIT else None


def read_object(path: Path) -> dict[str, object]:
    """Return the JSON object in a file; an empty one if there is no file."""
    with reading(path):
        content = read_json(path) if path.exists() else {}
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a JSON object")
    return content
