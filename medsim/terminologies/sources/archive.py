"""The files of a release, in a folder or a zip, checked before anything is read."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from medsim.core.errors import InputError, MedsimError
from medsim.core.reading import (
    BEGINNING,
    ZIP,
    beginning_of,
    check_ratio,
    kind_of,
    open_file,
    other_kind,
    reason,
    unpacked,
)

if TYPE_CHECKING:
    import io
    from collections.abc import Collection, Iterator

    from medsim.core.reading import FileKind

MAX_ENTRIES = 100_000
"""More entries than any release has."""

MAX_ENTRY_BYTES = 64 << 30
"""More than any file of a release has, uncompressed."""

_ENCRYPTED = 0x1
_UNREAD_METHODS = {9: "Deflate64", 93: "Zstandard", 95: "xz", 98: "PPMd"}  # of entries of zips


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFile:
    """A file inside a release.

    Attributes:
        release: the folder or zip.
        inner: its path there, with slashes.
        size: in bytes, as it lies in the folder or as the zip unpacks it.
        entry: of the zip; None in a folder.
    """

    release: Path
    inner: str
    size: int
    entry: zipfile.ZipInfo | None = None

    @property
    def name(self) -> str:
        """Its file name without folders."""
        return PurePosixPath(self.inner).name

    @contextmanager
    def open(self, reads: Collection[FileKind] = ()) -> Iterator[io.BufferedReader]:
        """Open it as a stream of bytes; what gzip packed is unpacked on the way.

        Whatever the body raises is an InputError; of a file of another kind than text and ``reads``
        it says what the file is.
        """
        where = f"{self.release}: {self.inner}" if self.entry else str(self.release / self.inner)
        beginning = None
        try:
            with self._packed(where) as stream:
                size = self.entry.compress_size if self.entry else self.size
                content = unpacked(stream, where, size)
                beginning = content.peek(BEGINNING)
                yield content
        except InputError as error:
            found = beginning is not None and other_kind(where, beginning, "lines of text", reads)
            raise found or error from error.__cause__
        except MedsimError:
            raise
        except OSError as error:
            raise InputError(f"{self.release}: cannot read {self.inner} ({error})") from error
        except NotImplementedError as error:
            method = self.entry and _UNREAD_METHODS.get(self.entry.compress_type)
            by = f" by {method}" if method else f" in a way that is not read ({error})"
            raise InputError(f"{where} is packed{by}; unpack the zip to a folder first") from error
        except Exception as error:
            raise InputError(
                f"{where} is damaged ({reason(error)}); is the download complete?"
            ) from error

    @contextmanager
    def _packed(self, where: str) -> Iterator[io.BufferedReader]:
        """Open it as it lies in the folder, or as the zip unpacks it."""
        if self.entry is None:
            with open_file(self.release / self.inner) as stream:
                yield stream
            return
        check_ratio(where, self.entry.compress_size, self.size)
        with (
            open_file(self.release) as file,
            zipfile.ZipFile(file) as archive,
            archive.open(self.entry) as entry,
        ):
            yield cast("io.BufferedReader", entry)


def release_files(path: Path) -> list[ReleaseFile]:
    """Return the files of a release, in order of path, without those that macOS adds."""
    found = _folder_files(path) if path.is_dir() else _zip_files(path)
    kept = (
        file
        for file in found
        if "__MACOSX" not in PurePosixPath(file.inner).parts and not file.name.startswith("._")
    )
    return sorted(kept, key=lambda file: file.inner)


def is_alone(path: Path) -> bool:
    """Return whether a path is a file that is no release of several files, as a zip is."""
    return path.is_file() and path.suffix.lower() != ".zip"


def file_alone(path: Path) -> ReleaseFile:
    """Return the file at a path as one of a release."""
    return ReleaseFile(release=path.parent, inner=path.name, size=path.stat().st_size)


def has_file(path: Path, name: str) -> bool:
    """Return whether a path is a folder or a zip that has a file of this name.

    The name is a regular expression that ignores case. A damaged zip gives False: the source that
    is asked last raises the error.
    """
    if not (path.is_dir() or path.suffix.lower() == ".zip"):
        return False
    try:
        files = release_files(path)
        return any(re.fullmatch(name, file.name, re.IGNORECASE) for file in files)
    except InputError:
        return False


def is_named(file: ReleaseFile, name: str) -> bool:
    """Return whether a file has a name, in any case, or that name and ".gz"."""
    return file.name.lower() in {name.lower(), f"{name.lower()}.gz"}


def file_named(
    release: Path, files: list[ReleaseFile], name: str, *, missing: str | None = None
) -> list[ReleaseFile]:
    """Return the one file of a name, in any folder of a release; none where it has none.

    Args:
        release: whose files they are, for messages.
        files: all of them.
        name: of the file; see ``is_named``.
        missing: the rest of the message where a file that is required is not there; None where
            it is optional.
    """
    found = [file for file in files if is_named(file, name)]
    if len(found) > 1:
        raise InputError(
            f"{release}: {found[0].inner} and {found[1].inner}; one {name} is expected, so name "
            f"the folder of one of them, such as {PurePosixPath(found[0].inner).parent}"
        )
    if missing is not None and not found:
        raise InputError(f"{release}: no {name}; {missing}")
    return found


def _folder_files(folder: Path) -> list[ReleaseFile]:
    def refuse(error: OSError) -> None:  # os.walk would pass over a folder that cannot be read
        raise error

    try:
        found = os.walk(folder, onerror=refuse)
        paths = [Path(parent, name) for parent, _, names in found for name in names]
        return [
            ReleaseFile(
                release=folder, inner=p.relative_to(folder).as_posix(), size=p.stat().st_size
            )
            for p in paths
            if p.is_file()
        ]
    except OSError as error:
        raise InputError(f"{folder}: cannot be listed ({error})") from error


def _zip_files(path: Path) -> list[ReleaseFile]:
    try:
        with open_file(path) as stream, zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
    except MedsimError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    except Exception as error:
        kind = kind_of(beginning_of(path))
        fault = f"not a readable zip ({error}); is the download complete?"
        fault = f"{path}: {fault}" if kind in {None, ZIP} else f"{path} {kind}"
        raise InputError(fault) from error
    if len(entries) > MAX_ENTRIES:
        raise InputError(f"{path}: {len(entries):,} entries, more than {MAX_ENTRIES:,}")
    for entry in entries:
        _check_entry(path, entry)
    if sum(entry.compress_size for entry in entries) > path.stat().st_size:
        raise InputError(
            f"{path}: its entries claim more bytes than it has; such a zip is not read"
        )
    # Some programs of Windows write backslashes where the format has slashes.
    named = [(entry.filename.replace("\\", "/"), entry) for entry in entries]
    files = [
        ReleaseFile(release=path, inner=name, size=entry.file_size, entry=entry)
        for name, entry in named
        if not name.endswith("/")
    ]
    for name, n_times in Counter(file.inner for file in files).items():
        if n_times > 1:
            raise InputError(f"{path}: {n_times} entries {name!r}; such a zip is not read")
    return files


def _check_entry(path: Path, entry: zipfile.ZipInfo) -> None:
    """Raise InputError for an entry that no honest release has."""
    name = entry.filename
    if not name or min(name) < " ":
        raise InputError(f"{path}: entry {name!r} has no proper name; such a zip is not read")
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if name.startswith(("/", "\\")) or ".." in parts or (parts and ":" in parts[0]):
        raise InputError(f"{path}: entry {name!r} points outside the zip; such a zip is not read")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(f"{path}: entry {name!r} is a link; such a zip is not read")
    if entry.flag_bits & _ENCRYPTED:
        raise InputError(f"{path}: entry {name!r} is encrypted; unpack it to a folder first")
    if entry.file_size > MAX_ENTRY_BYTES:
        raise InputError(
            f"{path}: entry {name!r} claims {entry.file_size:,} bytes, more than any file of a "
            "release has; such a zip is not read"
        )
