"""The files of a release, in a folder or a zip, checked before reading."""

from __future__ import annotations

import os
import re
import zipfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from medsim.core.errors import InputError
from medsim.core.reading import (
    BEGINNING,
    ZIP,
    check_ratio,
    open_file,
    other_kind,
    reading,
    unpacked,
)

if TYPE_CHECKING:
    import io
    from collections.abc import Collection, Iterator

    from medsim.core.reading import FileKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFile:
    """A file inside a release.

    Attributes:
        release: the folder or zip.
        inner: the path of the file inside, with slashes.
        size: its size in bytes, unpacked from a zip.
        entry: the entry of the zip; None in a folder.
    """

    release: Path
    inner: str
    size: int
    entry: zipfile.ZipInfo | None = None

    @property
    def name(self) -> str:
        """The file name without folders."""
        return PurePosixPath(self.inner).name

    @contextmanager
    def open(self, reads: Collection[FileKind] = ()) -> Iterator[io.BufferedReader]:
        """Open the file as a stream of bytes, unpacked if it is compressed with gzip.

        Any error in the body becomes an InputError. If the file is neither text nor of a kind in
        ``reads``, the message names its kind.
        """
        where = f"{self.release}: {self.inner}" if self.entry else str(self.release / self.inner)
        hint = "download it again, or unpack it first" if self.entry else ""
        size, beginning = self.size, b""
        try:
            with reading(where, hint=hint), ExitStack() as opened:
                if self.entry is None:
                    stream = opened.enter_context(open_file(self.release / self.inner))
                else:
                    size = self.entry.compress_size
                    check_ratio(where, size, self.size)
                    archive = opened.enter_context(zipfile.ZipFile(self.release))
                    entry = opened.enter_context(archive.open(self.entry))
                    stream = cast("io.BufferedReader", entry)
                content = unpacked(stream, where, size)
                beginning = content.peek(BEGINNING)
                yield content
        except InputError as error:
            other = other_kind(where, beginning, "lines of text", reads)
            raise other or error from error.__cause__


def release_files(path: Path) -> list[ReleaseFile]:
    """Return the files of a folder or zip in order of path, without macOS's, or a single file."""
    if is_alone(path):
        return [file_alone(path)]
    files = _folder_files(path) if path.is_dir() else _zip_files(path)
    kept = (
        file
        for file in files
        if "__MACOSX" not in PurePosixPath(file.inner).parts and not file.name.startswith("._")
    )
    return sorted(kept, key=lambda file: file.inner)


def is_alone(path: Path) -> bool:
    """Return whether a path is neither a folder nor a zip of a release's files."""
    return path.is_file() and path.suffix.lower() != ".zip"


def file_alone(path: Path) -> ReleaseFile:
    """Return the file at a path as a file of a release."""
    return ReleaseFile(release=path.parent, inner=path.name, size=path.stat().st_size)


def has_file(path: Path, name: str) -> bool:
    """Return whether a folder or zip has a file whose name matches, ignoring case.

    A damaged zip gives False; the source that is asked last raises the error.
    """
    if is_alone(path):
        return False
    with suppress(InputError):
        files = release_files(path)
        return any(re.fullmatch(name, file.name, re.IGNORECASE) for file in files)
    return False


def is_named(file: ReleaseFile, name: str) -> bool:
    """Return whether a file has a name, with or without ".gz", ignoring case."""
    return file.name.lower() in {name.lower(), f"{name.lower()}.gz"}


def file_named(
    release: Path, files: list[ReleaseFile], name: str, *, missing: str | None = None
) -> list[ReleaseFile]:
    """Return the only file of a name in any folder of a release, as a list, or an empty list.

    Args:
        release: the release, for messages.
        files: all files of the release.
        name: the name of the file; see ``is_named``.
        missing: end of the message if a required file is missing; None if it is optional.
    """
    matches = [file for file in files if is_named(file, name)]
    if len(matches) > 1:
        raise InputError(
            f"{release} has {matches[0].inner} and {matches[1].inner}; name the folder of one of "
            f"them, such as {PurePosixPath(matches[0].inner).parent}"
        )
    if missing is not None and not matches:
        raise InputError(f"{release}: no {name}; {missing}")
    return matches


def _folder_files(folder: Path) -> list[ReleaseFile]:
    def refuse(error: OSError) -> None:  # os.walk would skip an unreadable folder
        raise error

    with reading(folder):
        folders = os.walk(folder, onerror=refuse)
        paths = [Path(parent, name) for parent, _, names in folders for name in names]
        return [
            ReleaseFile(
                release=folder, inner=p.relative_to(folder).as_posix(), size=p.stat().st_size
            )
            for p in paths
            if p.is_file()
        ]


def _zip_files(path: Path) -> list[ReleaseFile]:
    with (
        reading(path, "a zip", "download it again", reads={ZIP}),
        open_file(path) as stream,
        zipfile.ZipFile(stream) as archive,
    ):
        entries = archive.infolist()
    if sum(entry.compress_size for entry in entries) > path.stat().st_size:
        raise InputError(f"{path}: its entries claim more bytes than it has; unpack it yourself")
    return [
        ReleaseFile(  # some programs on Windows write backslashes instead of slashes
            release=path,
            inner=entry.filename.replace("\\", "/"),
            size=entry.file_size,
            entry=entry,
        )
        for entry in entries
        if not entry.is_dir()
    ]
