"""Models on a hub, fetched by huggingface_hub into its own cache."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from medsim.core.errors import InputError, OptionError
from medsim.core.extras import needing
from medsim.core.reading import reading, reason
from medsim.embeddings.formats.model_folder import (
    CONFIG,
    MODULES,
    PICKLES,
    SETTINGS_SUFFIXES,
    is_of_model,
    onnx_weights,
    read_object,
)
from medsim.embeddings.options import HUB

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from medsim.embeddings.options import EmbeddingOptions

_PLACE = re.compile(
    r"hf:(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>(?!.*\.\.)[^@\s]+))?",  # as git has it
    re.ASCII,
)
_REFUSED = (401, 403)  # statuses of HTTP
_LOGIN = "log in by: hf auth login (or set HF_TOKEN)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedModel:
    """A model of a hub on this machine.

    Attributes:
        path: of its folder, or of its .onnx file.
        location: names the model with the hash of its commit, such as "hf:NAME@HASH".
        format_name: under which it is read; it depends on what the hub has, and not on what else
            of the model is in the cache.
    """

    path: Path
    location: str
    format_name: str


def names_no_revision(place: object) -> bool:
    """Return whether a place is on a hub and leaves open which revision of it."""
    return isinstance(place, str) and place.startswith(HUB) and "@" not in place


def fetch_model(place: str, options: EmbeddingOptions) -> FetchedModel:
    """Return a model of a hub after fetching those of its files that are not in the cache.

    Without a network it is the one in the cache, where that is whole.

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
        import huggingface_hub  # noqa: F401, PLC0415 — an extra
    first = _fetched(place, name, revision, (CONFIG, MODULES))
    location = f"{HUB}{name}@{first.name}"
    with reading(first / CONFIG):
        is_static = read_object(first / CONFIG).get("model_type") == "model2vec"
    names = _names(name, first)
    format_name = options.format or _format(location, names, is_static=is_static)
    chosen = chosen_files(names, format_name)
    _fetch_missing(place, name, first, chosen)
    path = first
    if format_name == "onnx":
        model = _onnx_file(names)
        if model is None:
            listed = ", ".join(one for one in names if one.endswith(".onnx")) or "none"
            raise InputError(f"{location} has no model.onnx; its .onnx files: {listed}")
        path = first / model
        told = {str(PurePosixPath(model).parent / one) for one in onnx_weights(path)}
        _fetch_missing(place, name, first, sorted(told.intersection(names)))
    return FetchedModel(path=path, location=location, format_name=format_name)


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
        except errors.RevisionNotFoundError as error:
            raise InputError(f"{place}: the model has no such revision") from error
        except errors.LocalEntryNotFoundError as error:
            raise InputError(
                f"{place} is not, or not whole, in the cache of huggingface_hub, and cannot be "
                f"fetched ({reason(error.__cause__ or error)})"
            ) from error
        except errors.HfHubHTTPError as error:
            if isinstance(error, errors.GatedRepoError):
                fault = "asks that its terms be accepted on its page; then"
            elif isinstance(error, errors.RepositoryNotFoundError):
                fault = "is not on the hub, or is private; check its name, or"
            elif error.response.status_code in _REFUSED:
                fault = "is refused by the hub;"
            else:
                raise
            raise InputError(f"{place} {fault} {_LOGIN}") from error


def _names(name: str, folder: Path) -> list[str]:
    """Return the names of all files of a model, from the list that came with its first files.

    A cache that another version filled may lack the list; then it is what is in the cache.
    """
    from huggingface_hub import errors, get_cached_repo_tree  # noqa: PLC0415 — an extra

    try:
        return sorted(one.path for one in get_cached_repo_tree(name, revision=folder.name))
    except errors.CachedRepoTreeNotFoundError:
        found = (file for file in folder.rglob("*") if file.is_file())
        return sorted(file.relative_to(folder).as_posix() for file in found)


def _format(location: str, names: Sequence[str], *, is_static: bool) -> str:
    """Return the format in which a model is read that has these files."""
    if is_static:
        return "model2vec"
    if MODULES in names and any(name.endswith(".safetensors") for name in names):
        return "sentence-transformers"
    if any(_is_weights(name) for name in names):
        return "transformers"
    if _onnx_file(names):
        return "onnx"
    if any(PurePosixPath(name).match(pickle) for name in names for pickle in PICKLES):
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
    beside = [name for name in names if "/" not in name]
    settings = [name for name in beside if PurePosixPath(name).suffix in SETTINGS_SUFFIXES]
    if format_name == "onnx":
        model = _onnx_file(names)
        weights = [name for name in names if model and name.startswith(model)]
        steps = [name for name in names if re.fullmatch(r"\d+_\w+/config\.json", name)]
        return [*weights, *settings, *steps]
    if format_name == "transformers":
        return [name for name in beside if name in settings or _is_weights(name)]
    return [name for name in names if is_of_model(PurePosixPath(name))]


def _onnx_file(names: Sequence[str]) -> str | None:
    """Return the .onnx file that has the usual name, or that is the only one; None without."""
    found = [name for name in names if name.endswith(".onnx")]
    usual = [name for name in ("model.onnx", "onnx/model.onnx") if name in found]
    return next(iter(usual or (found if len(found) == 1 else [])), None)


def _is_weights(name: str) -> bool:
    """Return whether a file has weights as the library transformers names them, or some."""
    return re.fullmatch(r"model(-\d+-of-\d+)?\.safetensors", name) is not None
