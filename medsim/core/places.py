"""Checks of output paths, before anything is written or replaced there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core.errors import OutputError
from medsim.core.files import read_own_json
from medsim.core.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from medsim.core.kinds import Kind


def resolved(out: Path) -> Path:
    """Return the path of ``out`` with links resolved."""
    place = Path(os.path.realpath(out))  # Path.resolve raises for a loop of links
    if not place.name:
        raise OutputError(f"{place} cannot be replaced; give a folder inside it")
    return place


def check_free(
    out: Path, kind: Kind[Any], *, overwrite: bool, carried: Collection[str] | None = None
) -> None:
    """Raise OutputError if ``out`` has content that must not be replaced or added to.

    Args:
        out: path of the folder.
        kind: kind of output to write there.
        overwrite: whether an earlier output of that kind may be replaced.
        carried: files of an earlier output that the new one also has; by default any file, as it is
            taken over if the kind grows.
    """
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise OutputError(f"{out} is a file; give a folder")
    if out.is_mount():
        raise OutputError(f"{out} is the root of a disk; give a folder inside it")
    if not any(out.iterdir()):
        return
    known_files = own_files(out, kind)
    if not known_files:
        raise OutputError(f"{out} holds files, not {kind.with_article}; choose another folder")
    if not (overwrite or kind.grows):
        raise OutputError(f"{out} holds {kind.with_article} already; add `overwrite` to replace it")
    for name in unknown_files(out, known_files):
        path = out / name
        is_kept = kind.grows and not overwrite and path.is_file() and not path.is_symlink()
        if not (is_kept if carried is None else name in carried):
            raise OutputError(f"{out} holds {name}, not part of the {kind.noun}; move it away")


def own_files(folder: Path, kind: Kind[Any]) -> set[str]:
    """Return the paths in the manifest of a kind and the manifest's own; empty if it is missing."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        manifest = read_own_json(folder / MANIFEST)
        if manifest["kind"] == kind.name:
            return {MANIFEST, *map(str, manifest["outputs"])}
    return set()


def unknown_files(folder: Path, known_files: Collection[str]) -> Iterator[str]:
    """Yield the files, links and empty folders in a folder that are not among the known ones."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if name not in known_files and not (is_folder and any(path.iterdir())):
            yield name


def check_file_free(
    out: Path, *, overwrite: bool, is_own: Callable[[Path], bool] | None = None
) -> None:
    """Raise OutputError if no file can be written at ``out``, or an existing one must stay.

    Args:
        out: path of the file.
        overwrite: whether an existing file may be replaced.
        is_own: whether medsim wrote the file; only such a file may be replaced.
    """
    if out.is_dir():
        raise OutputError(f"cannot write {out}: it is a folder; give a file")
    if not out.parent.is_dir():
        raise OutputError(f"cannot write {out}: there is no folder {out.parent}")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write {out}: {out.parent} takes no files")
    if not os.path.lexists(out):
        return
    if not out.is_file():
        raise OutputError(f"{out} is not a file and cannot be replaced; choose another")
    if not overwrite:
        raise OutputError(f"{out} is there already; add `overwrite` to replace it")
    if is_own is not None and not is_own(out):
        raise OutputError(f"{out} was not written by medsim; choose another file")


def check_not_input(out: Path, inputs: Iterable[Path], input_folders: Iterable[Path] = ()) -> None:
    """Raise OutputError if ``out`` is or contains an input, or is inside an input folder.

    Links, hard links, ``..`` and upper and lower case are resolved.

    Args:
        out: path of an output.
        inputs: files and folders that are inputs; all files of an output of medsim are inputs.
        input_folders: folders in which any file may be an input.
    """
    place = resolved(out)
    identity, above = _identity(place), set(map(_identity, place.parents))
    folders = tuple(input_folders)
    for path in (*folders, *inputs):
        source = Path(os.path.realpath(path))
        source_identity = _identity(source)
        is_inside = source_identity in above and (path in folders or (source / MANIFEST).exists())
        if is_inside or identity in map(_identity, (source, *source.parents)):
            how = "is inside" if is_inside else "is" if source_identity == identity else "holds"
            relation = f"{how} {path}," if Path(out) != Path(path) else "is"
            raise OutputError(f"{out} {relation} an input of this command; choose another place")


def _identity(path: Path) -> tuple[int, int] | str:
    """Return the device and inode of a file or folder, or its path if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return str(path)
    return status.st_dev, status.st_ino
