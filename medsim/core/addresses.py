"""Copies inputs from addresses, such as s3://bucket/release.zip, and outputs to them.

An input is copied to a temporary folder before a command reads it. An output is written to a
folder on this machine, where an interrupted run resumes, and then copied. Object stores cannot
rename, so the object ``_unfinished`` is there before the first file and lists the files of the
output, and the manifest is copied last.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from medsim.core.errors import ADDRESSES, InputError, MedsimError, OptionError, OutputError
from medsim.core.files import digest_of, remove
from medsim.core.progress import Progress
from medsim.core.surroundings import user_cache

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.IGNORECASE | re.DOTALL)  # also as a Path
AtAddress = Literal["", "whole", "resumed"]
"""How an output is written to an address: not at all, in one run, or resumed if interrupted."""

SCHEMES = ("s3", "gs", "gcs", "abfs", "abfss", "http", "https")
"""The schemes of addresses that are read; those of object stores can also be written to."""

_IN_TEXT = re.compile(rf"([^=:/]*=)?((?:{'|'.join(SCHEMES)}):/+[^,]*)(.*)", ADDRESS.flags)

_UNFINISHED = "_unfinished"  # readers of folders skip names that begin with an underscore
_MOST_SECONDS = 60  # without an answer
_LONGEST_REASON = 200
_PART_BYTES = 1 << 20
_REASONS = {
    r"ACCESS_DENIED|INVALID_ACCESS_KEY|SIGNATURE|[Cc]redential|access token|PERMISSION|Authenti|"
    r"Authoriz|UNAUTH|(status|code:|\]) 40[13]": "access is denied; check the credentials in the "
    "environment",
    r"NO_SUCH_BUCKET|ContainerNotFound|NOT_FOUND|(code:|\]) 404": "the bucket does not exist",
    r"NETWORK|onnect|resolve|UNAVAILABLE|[Tt]imed? ?out": "the server does not answer, or the "
    "connection was cut; run the command again",
    r"No space|Quota|QUOTA|(status|code:) 507|InsufficientStorage": "no space is left",
    r"INTERNAL_FAILURE|SLOW_DOWN|(status|code:|\]) 50[03]": "the server failed; run the command "
    "again",
}


@dataclass(frozen=True, slots=True)
class _Place:
    """A file or folder in an object store; ``shown`` is its address without credentials."""

    store: FileSystem
    path: str
    shown: str


_staged: dict[Path, _Place] = {}  # the place of each folder that outputs are written to first


def without_secrets(address: str) -> str:
    """Return an address without the parts that may have credentials: user, password and query."""
    plain = re.split(r"[?#]", address)[0]
    return re.sub(r"(?<=//)[^/]*@" if not plain.startswith("abfs") else r":[^/@]*(?=@)", "", plain)


def with_local_paths(value: Any, name: str, progress: Progress) -> Any:
    """Return a value of an option with the paths of copies in place of addresses of inputs.

    In a text, a name may precede an address, and options follow: "bert=s3://b/m.onnx,case=keep".

    Raises:
        InputError: there is nothing at an address, or it cannot be read.
        OptionError: the scheme of an address is not known, or it has a password.
    """

    def local(text: Any) -> Any:
        if not isinstance(text, (str, Path)):
            return text
        if not (parts := _IN_TEXT.fullmatch(str(text))):
            if address := ADDRESS.fullmatch(str(text)):
                raise _refused(name, address)
            return text
        return f"{parts[1] or ''}{local_path(parts[2], progress)}{parts[3]}"

    if isinstance(value, Mapping):
        return {key: local(each) for key, each in value.items()}
    return tuple(map(local, value)) if isinstance(value, tuple) else local(value)


def local_path(path: str | Path, progress: Progress | None = None) -> Path:
    """Return the path of a copy if a path is the address of an input; else the path.

    Raises:
        InputError: there is nothing at the address, or it cannot be read.
        OptionError: the address has a password.
    """
    match = ADDRESS.fullmatch(str(path))
    if match is None or (scheme := match[1].lower()) not in SCHEMES:
        return Path(path)
    address = f"{scheme}://{match[2].lstrip('/')}"
    with (progress or Progress()).stage(f"copy {without_secrets(address)}"):
        return _downloaded(address) if scheme.startswith("http") else _fetched(address)


def _fetched(address: str) -> Path:
    """Return the path of a copy of a file or folder of an object store."""
    place = _place(address)
    with _reaching(place.shown, InputError):
        info = place.store.get_file_info(place.path)
        files = {"": info} if info.is_file else _files_in(place)
        if not files:
            raise InputError(f"{place.shown} does not exist")
        n_bytes = sum(each.size or 0 for each in files.values())
        copy = _new_copy(place.shown, n_bytes, PurePosixPath(place.path).name)
        _copy(place, copy)
    return copy


def _downloaded(address: str) -> Path:
    """Return the path of a copy of a file of the web."""
    from urllib.request import urlopen  # noqa: PLC0415 — takes long to import

    _check_no_password(address)
    with (
        _reaching(without_secrets(address), InputError),
        urlopen(address, timeout=_MOST_SECONDS) as answer,  # noqa: S310 — http or https
    ):
        n_bytes = int(answer.headers["Content-Length"] or 0)
        name = answer.headers.get_filename() or unquote(urlsplit(answer.url).path)
        copy = _new_copy(without_secrets(address), n_bytes, PurePosixPath(name).name or "input")
        with copy.open("wb") as stream:
            shutil.copyfileobj(answer, stream, _PART_BYTES)
    if copy.stat().st_size < n_bytes:
        raise InputError(f"{without_secrets(address)} was cut by the server; run the command again")
    return copy


def _new_copy(address: str, n_bytes: int, name: str) -> Path:
    """Return the path for the copy of an input, in a new temporary folder."""
    folder = Path(tempfile.mkdtemp(dir=_temporary_folder().name)).resolve()
    if n_bytes > shutil.disk_usage(folder).free:
        raise InputError(f"{address} does not fit in {tempfile.gettempdir()}; set TMPDIR")
    ADDRESSES[str(folder / name)] = address
    return folder / name


@cache
def _temporary_folder() -> TemporaryDirectory[str]:
    """Return a folder that is removed when the process ends."""
    return TemporaryDirectory(prefix="medsim-")


def staged(out: Any, name: str, how: AtAddress) -> Any:
    """Return the path on this machine for an output at an address; other values unchanged.

    Args:
        out: value of an option.
        name: name of the option, for messages.
        how: whether the address is accepted, and whether an interrupted run is resumed, for which
            the path must be the same.

    Raises:
        OptionError: the address is not accepted, is a whole bucket, or has a password.
    """
    match = ADDRESS.fullmatch(str(out))
    if match is None:
        return out
    if not how or match[1].lower() not in SCHEMES[:-2]:
        raise _refused(name, match)
    place = _place(f"{match[1].lower()}://{match[2].rstrip('/')}")
    parent, _, last = place.path.rpartition("/")
    if not parent:
        raise OptionError(f"{place.shown} is a whole bucket; give a folder inside it")
    caches = user_cache("outputs") if how == "resumed" else None
    folder = (
        Path(caches or _temporary_folder().name) / sha256(place.shown.encode()).hexdigest()[:16]
    )
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    ADDRESSES[str(folder)] = place.shown.rpartition("/")[0]
    _staged[folder] = _Place(place.store, parent, ADDRESSES[str(folder)])
    _remove_at_exit(folder / last)
    return folder / last


def _refused(name: str, address: re.Match[str]) -> OptionError:
    url = without_secrets(f"{address[1]}://{address[2]}")
    return OptionError(f"`{name}` takes a local path, not the address {url}")


def mirror(out: Path, *, with_content: bool) -> None:
    """Make what is at the address of an output visible at its path on this machine.

    Files other than the manifest are empty, unless their content is needed.
    Files that an interrupted copy left are not shown, as the next one replaces them.
    """
    from medsim.core.manifest import MANIFEST  # noqa: PLC0415 — imports Polars

    if (place := _place_of(out)) is None:
        return
    with _reaching(place.shown, OutputError):
        if place.store.get_file_info(place.path).is_file:
            out.touch()
            return
        files, noted = _files_in(place), _noted(place)
        _note(place, noted)  # fails now, not after hours, if nothing can be written there
        if _UNFINISHED not in files:
            place.store.delete_file(f"{place.path}/{_UNFINISHED}")
        for name in (_UNFINISHED, *(noted if MANIFEST not in files else ())):
            files.pop(name, None)
        manifest = _content(place, MANIFEST) if MANIFEST in files else b""
        here = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
        is_same = here == files.keys() and (
            not manifest or (out / MANIFEST).read_bytes() == manifest
        )
        if is_same and not with_content:
            return  # this process may have written it, and still read it
        remove(out)
        if files and with_content:
            _copy(place, out)
            remove(out / _UNFINISHED)
            return
        for name in files:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(manifest if name == MANIFEST else b"")


@cache
def _remove_at_exit(out: Path) -> None:
    def remove_both() -> None:
        with suppress(OSError):
            remove(out)
            out.parent.rmdir()  # fails if an interrupted run can be resumed there

    atexit.register(remove_both)


def publish(folder: Path, out: Path, *spared: str) -> None:
    """Copy the files of a folder to the address of ``out``, if it has one, the manifest last.

    Files that an interrupted copy finished are not copied again.
    """
    from medsim.core.manifest import MANIFEST  # noqa: PLC0415 — imports Polars

    if (place := _place_of(out)) is None:
        return
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    digests = {name: digest_of(path) for name, path in paths.items() if path.is_file()}
    digests = {name: digest for name, digest in digests.items() if name not in spared}
    with _reaching(place.shown, OutputError):
        there, noted = _files_in(place), _noted(place)
        done = {name: noted.get(name, "") for name in {**there, **noted, **digests}}
        _note(place, done)
        if MANIFEST in there:
            place.store.delete_file(f"{place.path}/{MANIFEST}")
        for name in sorted(digests.keys() - {MANIFEST}):
            is_there = name in there and there[name].size == paths[name].stat().st_size
            if not (is_there and done[name] == digests[name]):
                _put(paths[name], _inside(place, name))
                done[name] = digests[name]
                _note(place, done)
        for name in there.keys() - digests.keys() - {_UNFINISHED}:
            place.store.delete_file(f"{place.path}/{name}")
        _put(folder / MANIFEST, _inside(place, MANIFEST))
        place.store.delete_file(f"{place.path}/{_UNFINISHED}")


def pull(path: Path) -> None:
    """Copy the file or folder at the address of a path to the path, if it has an address."""
    if (place := _place_of(path)) is not None:
        remove(path)
        with _reaching(place.shown, InputError):
            _copy(place, path)


def push(path: Path) -> None:
    """Copy a file to the address of its path, if it has an address."""
    if (place := _place_of(path)) is not None:
        with _reaching(place.shown, OutputError):
            _put(path, place)


def delete(path: Path) -> None:
    """Remove the file at the address of a path, if it has an address."""
    if (place := _place_of(path)) is not None:
        with _reaching(place.shown, OutputError):
            place.store.delete_file(place.path)


def _check_no_password(address: str) -> None:
    if without_secrets(address) != re.split(r"[?#]", address)[0].replace("//anonymous@", "//"):
        raise OptionError(
            f"{without_secrets(address)} has a password; credentials belong in the environment"
        )


def _place(address: str) -> _Place:
    """Return the place of an address."""
    _check_no_password(address)
    with _reaching(without_secrets(address), OptionError):
        store, path = _store_of(address.rstrip("/"))
    return _Place(store, path.rstrip("/"), without_secrets(address))


def _store_of(address: str) -> tuple[FileSystem, str]:
    """Return the store of an address, with the credentials of the environment, and the path."""
    from pyarrow import fs  # noqa: PLC0415 — few runs need it

    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query))
    if parts.scheme.startswith("abfs"):
        container, _, host = parts.netloc.partition("@")
        account = host.partition(".")[0] or os.environ.get("AZURE_STORAGE_ACCOUNT", "")
        key = os.environ.get("AZURE_STORAGE_KEY")
        store = fs.AzureFileSystem(account, account_key=key, **query)
        return store, container + unquote(parts.path)
    if parts.scheme.startswith("gs") and "retry_limit_seconds" not in query:
        address += f"{'&' if query else '?'}retry_limit_seconds={_MOST_SECONDS}"
    store, path = fs.FileSystem.from_uri(address)
    return store, path


def _place_of(path: Path) -> _Place | None:
    """Return the place of a path that ``staged`` has returned, or of a path beside or below it."""
    for folder, place in _staged.items():
        if path.is_relative_to(folder):
            return _inside(place, path.relative_to(folder).as_posix())
    return None


def _inside(place: _Place, name: str) -> _Place:
    return _Place(place.store, f"{place.path}/{name}", f"{place.shown}/{name}")


def _files_in(place: _Place) -> dict[str, FileInfo]:
    """Return the files in a folder by path; empty if the folder does not exist."""
    from pyarrow.fs import FileSelector  # noqa: PLC0415 — few runs need it

    selector = FileSelector(place.path, allow_not_found=True, recursive=True)
    infos = [info for info in place.store.get_file_info(selector) if info.is_file]
    files = {info.path.removeprefix(f"{place.path}/"): info for info in infos}
    for name in files:
        if {"", ".", ".."} & {*name.split("/")}:
            raise InputError(f"{place.shown} has an object named {name!r}; rename it")
    return files


def _copy(place: _Place, path: Path) -> None:
    """Copy a file or a folder of a store to this machine, if there is one."""
    from pyarrow.fs import LocalFileSystem, copy_files  # noqa: PLC0415 — few runs need it

    info = place.store.get_file_info(place.path)
    if info.type.name != "NotFound":
        files = {"": info} if info.is_file else _files_in(place)
        for name in files:  # of a store without folders, none would be made
            (path / name).parent.mkdir(parents=True, exist_ok=True)
        copy_files(place.path, str(path), place.store, LocalFileSystem())
        if any((path / name).stat().st_size != each.size for name, each in files.items()):
            raise InputError(f"{place.shown} changed while it was copied; run the command again")


def _put(path: Path, place: _Place) -> None:
    """Copy a file of this machine to a store, where it appears complete or not at all.

    Arrow's own function ignores errors when a file is closed, as if everything had been written.
    """
    is_whole = False
    try:
        with path.open("rb") as source, place.store.open_output_stream(place.path) as target:
            shutil.copyfileobj(source, target, _PART_BYTES)
        is_whole = place.store.get_file_info(place.path).size == path.stat().st_size
    finally:
        if not is_whole:
            with suppress(OSError):
                place.store.delete_file(place.path)
    if not is_whole:
        raise OutputError(f"{place.shown} was not written whole; run the command again")


def _note(place: _Place, digests: Mapping[str, str]) -> None:
    """Note the files of an unfinished output, with the SHA-256 of those that are complete."""
    with place.store.open_output_stream(f"{place.path}/{_UNFINISHED}") as stream:
        stream.write(json.dumps(digests).encode())


def _noted(place: _Place) -> dict[str, str]:
    """Return what ``_note`` wrote; empty if there is nothing."""
    with suppress(ValueError, FileNotFoundError):
        return dict(json.loads(_content(place, _UNFINISHED)))
    return {}


def _content(place: _Place, name: str) -> bytes:
    with place.store.open_input_stream(f"{place.path}/{name}") as stream:
        return bytes(stream.read())


@contextmanager
def _reaching(address: str, error_type: type[MedsimError]) -> Iterator[None]:
    """Turn any error of a store into one line without details of requests."""
    from pyarrow import ArrowException  # noqa: PLC0415 — few runs need it

    try:
        yield
    except (OSError, ValueError, ArrowException) as error:
        text = re.sub(r"'[^']*'|\?\S+|\(Request ID.*|\s+", " ", str(error))  # names, secrets
        reasons = (reason for pattern, reason in _REASONS.items() if re.search(pattern, text))
        reason = next(reasons, text.strip()[:_LONGEST_REASON])
        verb = {OutputError: "write", OptionError: "open"}.get(error_type, "read")
        raise error_type(f"cannot {verb} {address}: {reason}") from None
