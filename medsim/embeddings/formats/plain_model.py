"""Plain folders of transformers: their files, and whether they hold an encoder of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.reading import reading
from medsim.embeddings.formats.model_folder import (
    ADAPTER,
    CONFIG,
    MODULES,
    PICKLES,
    SETTINGS_SUFFIXES,
    TOKENIZER,
    is_file,
    read_object,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_VOCABULARIES = (TOKENIZER, "vocab.txt", "vocab.json", "*.model")
_ENCODER = re.compile(r".*(?<!LMHead)Model|.*ForMaskedLM|.*ForPreTraining")
_OF_IMAGES = ("image_size", "vision_config")


def plain_files(folder: Path) -> list[Path]:
    """Return the files that decide the vectors of a plain folder of transformers.

    They are its weights, and its settings and tokenizer, which lie beside them.

    Raises:
        InputError: a file is missing, or the folder holds another kind of model.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; a model of transformers is one with {CONFIG}")
    if (folder / MODULES).exists():
        raise InputError(f"{folder} has {MODULES}; read it with ,format=sentence-transformers")
    _check_is_whole_model(folder)
    _check_encodes_text(folder, read_object(folder / CONFIG))
    if not any(is_file(file) for name in _VOCABULARIES for file in sorted(folder.glob(name))):
        raise InputError(f"{folder} has no tokenizer; put the model's {TOKENIZER} there")
    beside = sorted(folder.iterdir())
    settings = [file for file in beside if file.suffix in SETTINGS_SUFFIXES and is_file(file)]
    return [*_weights(folder), *settings]


def _check_is_whole_model(folder: Path) -> None:
    if (folder / ADAPTER).exists():
        raise InputError(
            f"{folder} holds adapters (PEFT), which are no model by themselves; merge them into "
            "their model in Python: model.merge_and_unload().save_pretrained(FOLDER)"
        )
    if not (folder / CONFIG).exists():
        raise InputError(f"{folder} has no {CONFIG}, which says what kind of model it is")


def _check_encodes_text(folder: Path, config: Mapping[str, object]) -> None:
    """Raise InputError for a model that gives no vectors of the tokens of a text."""
    if not isinstance(config.get("model_type"), str):
        raise InputError(
            f'{folder / CONFIG} has no model_type; add it, such as "model_type": "bert" for a BERT'
        )
    if any(name in config for name in _OF_IMAGES):
        raise InputError(f"{folder} is a model of images ({config['model_type']}), and not of text")
    named = config.get("architectures")
    names = [str(name) for name in named] if isinstance(named, list) else []
    name = names[0] if names else f"{config['model_type']}Model"
    encodes = _ENCODER.fullmatch(name) is not None
    if config.get("is_encoder_decoder") is True:
        encodes = name.endswith("EncoderModel")
    if not encodes:
        raise InputError(
            f"{folder} is a model of type {name}, and no encoder of text; if vectors of the "
            "transformer in it are wanted, save that by AutoModel, and its tokenizer, to a folder"
        )


def _weights(folder: Path) -> list[Path]:
    """Return the files of weights that the library reads, each of them seen to be there."""
    files = [folder / _WEIGHTS]
    if not files[0].exists():
        index = folder / _INDEX
        files = [index, *_shards(index)] if index.exists() else []
    if not files:
        pickles = sorted(file for name in PICKLES for file in folder.glob(name))
        if pickles:
            raise InputError(pickled(pickles[0], folder))
        raise InputError(f"{folder} has no weights; put {_WEIGHTS} there")
    return files


def _shards(index: Path) -> list[Path]:
    with reading(index, "an index of weights"):
        names = set(dict(read_object(index)["weight_map"]).values())  # type: ignore[call-overload]  # another form raises
    for name in sorted(names, key=str):
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+\.safetensors", name):
            raise InputError(f"{index} names {name!r}, which is no file of weights beside it")
        if not (index.parent / name).exists():
            raise InputError(f"{index.parent / name} does not exist, and {index.name} names it")
    return [index.parent / name for name in sorted(names)]


def pickled(weights: Path, folder: Path) -> str:
    """Return a message about weights in a pickle, which says how to convert their folder."""
    return (
        f"{weights} is a pickle, which could run any code, and is not read; if you trust it, "
        "convert the folder to safetensors in Python: "
        f"SentenceTransformer({str(folder)!r}).save({f'{folder}-safe'!r})"
    )
