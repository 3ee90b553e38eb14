"""Sources of an embedding's vectors: files of this machine or of a hub, services, and objects."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError, needing
from medsim.core.reading import reading, reason
from medsim.embeddings import VectorSource, find_format, fingerprint
from medsim.embeddings.formats.model_folder import (
    CONFIG,
    MODULES,
    PICKLES,
    SETTINGS_SUFFIXES,
    is_of_model,
    onnx_weights,
    read_object,
)
from medsim.embeddings.objects import object_source
from medsim.embeddings.options import HUB, is_service
from medsim.embeddings.services import service_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from medsim.embeddings import Format, Request, TermVectors, WordVectors
    from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec

_PLACE = re.compile(
    r"hf:(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>(?!.*\.\.)[^@\s]+))?",  # as git has it
    re.ASCII,
)
_WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")  # as transformers names them


@dataclass(frozen=True, kw_only=True)
class FileSource(VectorSource):
    """A file or folder."""

    path: Path
    options: EmbeddingOptions
    format: Format

    def fingerprint(self) -> str:
        """Return a SHA-256 of the files that decide the vectors."""
        return fingerprint(self.path, self.format, self.options)

    def read(self, request: Request) -> WordVectors | TermVectors:
        """Return the vectors for a request; see ``medsim.embeddings.Load``."""
        return self.format.read(self.path, request)


def open_source(spec: EmbeddingSpec) -> VectorSource:
    """Return the source of an embedding's vectors; cheap, as no vector is read.

    A model of a hub is fetched, unless it is in the cache.

    Raises:
        InputError: there is nothing, or nothing in a known format.
        OptionError: no format has the name that the options give, or a service is not named as it
            must be.
    """
    if isinstance(spec.place, Path):
        return _file_source(spec.place, spec.options, str(spec.place))
    if not isinstance(spec.place, str):
        return object_source(spec)
    if is_service(spec.place):
        return service_source(spec.place, spec.options)
    return _model_of_hub(spec.place, spec.options)


def _file_source(path: Path, options: EmbeddingOptions, location: str) -> FileSource:
    name, found = find_format(path, options)
    return FileSource(
        location=location,
        format_name=name,
        describes=found.describes,
        gives=found.gives,
        path=path,
        options=options,
        format=found,
    )


def path_of(source: VectorSource) -> Path:
    """Return the file or folder of a source; OptionError where it is no file."""
    if not isinstance(source, FileSource):
        raise OptionError(f"{source.location} is {source.describes}, and no file or folder")
    return source.path


def names_no_revision(place: object) -> bool:
    """Return whether a place is on a hub and leaves open which revision of it."""
    return isinstance(place, str) and place.startswith(HUB) and "@" not in place


def _model_of_hub(place: str, options: EmbeddingOptions) -> FileSource:
    """Return a model of a hub after fetching those of its files that are not in the cache.

    Its location names the hash of its commit, such as "hf:NAME@HASH". Its format depends on what
    the hub has, and not on what else of the model is in the cache. Without a network it is the
    one in the cache, where that is whole.

    Args:
        place: such as "hf:NAME@REVISION"; without a revision it is the newest of the branch main.
        options: may say which format is fetched where a model has several.

    Raises:
        InputError: there is no such model, or it cannot be fetched.
        OptionError: the text is of another form, or huggingface_hub is missing.
    """
    found = _PLACE.fullmatch(place)
    if found is None:
        raise OptionError(f"{place!r} is not hf:NAME@REVISION, such as hf:organisation/model@main")
    name, revision = found["name"], found["revision"]
    with needing("models on a hub need huggingface_hub", "hub"):
        from huggingface_hub import get_cached_repo_tree  # noqa: PLC0415 — an extra
    folder = _fetched(place, name, revision, (CONFIG, MODULES))
    location = f"{HUB}{name}@{folder.name}"
    is_static = read_object(folder / CONFIG).get("model_type") == "model2vec"
    with reading(place):
        names = sorted(one.path for one in get_cached_repo_tree(name, revision=folder.name))
    format_name = options.format or _format(location, names, is_static=is_static)
    _fetch_missing(place, name, folder, chosen_files(names, format_name))
    path = folder
    if format_name == "onnx":
        model = _onnx_file(names)
        if model is None:
            listed = ", ".join(one for one in names if one.endswith(".onnx")) or "none"
            raise InputError(f"{location} has no model.onnx; its .onnx files: {listed}")
        path = folder / model
        told = {str(PurePosixPath(model).parent / one) for one in onnx_weights(path)}
        _fetch_missing(place, name, folder, sorted(told.intersection(names)))
    return _file_source(path, replace(options, format=format_name), location)


def _fetch_missing(place: str, name: str, folder: Path, files: Sequence[str]) -> None:
    if not all((folder / file).is_file() for file in files):
        _fetched(place, name, folder.name, files)


def _fetched(place: str, name: str, revision: str | None, files: Iterable[str]) -> Path:
    """Return the folder of a model's commit, with these files of those that the model has."""
    import huggingface_hub as hub  # noqa: PLC0415 — an extra
    from huggingface_hub import errors  # noqa: PLC0415 — comes with it

    patterns = [glob.escape(file) for file in files]
    with reading(place, hint="what was fetched is kept; run it again"):
        try:
            return Path(hub.snapshot_download(name, revision=revision, allow_patterns=patterns))
        except errors.LocalEntryNotFoundError as error:
            raise InputError(
                f"{place} is not, or not whole, in the cache of huggingface_hub, and cannot be "
                f"fetched ({reason(error.__cause__ or error)})"
            ) from error
        except errors.HfHubHTTPError as error:
            raise InputError(
                f"{place} cannot be fetched ({type(error).__name__}, HTTP "
                f"{error.response.status_code}); check its name, revision and terms of use, or log "
                "in by: hf auth login (or set HF_TOKEN)"
            ) from error


def _format(location: str, names: Sequence[str], *, is_static: bool) -> str:
    """Return the format in which a model is read that has these files."""
    if is_static:
        return "model2vec"
    if MODULES in names and any(name.endswith(".safetensors") for name in names):
        return "sentence-transformers"
    if any(map(_WEIGHTS.fullmatch, names)):
        return "transformers"
    if _onnx_file(names):
        return "onnx"
    if any(PurePosixPath(name).match(PICKLES) for name in names):
        raise InputError(
            f"{location} has its weights in a pickle, which could run any code, and is not read; "
            "if you trust it, convert it to safetensors in Python: "
            f"SentenceTransformer({location.removeprefix(HUB).partition('@')[0]!r}).save(FOLDER)"
        )
    raise InputError(f"{location} has no weights that can be read (model.safetensors, .onnx)")


def chosen_files(names: Sequence[str], format_name: str) -> list[str]:
    """Return those files of a model that reading it needs, of ONNX the model itself first.

    Args:
        names: of all files, with a slash after each folder.
        format_name: the format in which the model will be read.
    """
    settings = [
        name for name in names if "/" not in name and Path(name).suffix in SETTINGS_SUFFIXES
    ]
    if format_name == "onnx":
        model = _onnx_file(names)
        weights = [name for name in names if model and name.startswith(model)]
        steps = [name for name in names if re.fullmatch(r"\d+_\w+/config\.json", name)]
        return [*weights, *settings, *steps]
    if format_name == "transformers":
        return [name for name in names if name in settings or _WEIGHTS.fullmatch(name)]
    return [name for name in names if is_of_model(PurePosixPath(name))]


def _onnx_file(names: Sequence[str]) -> str | None:
    """Return the .onnx file that has the usual name, or that is the only one; None without."""
    found = [name for name in names if name.endswith(".onnx")]
    usual = [name for name in ("model.onnx", "onnx/model.onnx") if name in found]
    return next(iter(usual or (found if len(found) == 1 else [])), None)
