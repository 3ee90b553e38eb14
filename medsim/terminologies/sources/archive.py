"""The files of a release, in a folder, a zip or a tar, checked before reading."""

from __future__ import annotations

import io
import os
import re
import string
import tarfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tarfile import HeaderError, ReadError
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self, cast

from medsim.core.errors import InputError, listed
from medsim.core.files import HashedReader
from medsim.core.reading import (
    BEGINNING,
    DUCKDB,
    PACKED,
    SQLITE,
    TAR,
    ZIP,
    FileKind,
    check_ratio,
    open_file,
    other_kind,
    reading,
    unpacked,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PACKED = r"\.(gz|bz2|xz|zst)"
_PACKED_END = re.compile(rf"{_PACKED}$", re.IGNORECASE)
_PART = re.compile(rf"(?P<whole>.*\.RRF)\.a[a-z]({_PACKED})?", re.IGNORECASE | re.DOTALL)
_HEAD_BYTES = 1 << 16
_MAX_FILES = 10_000  # every source looks at all names
_ZIP = re.compile(r".*\.(zip|nlm)", re.IGNORECASE | re.DOTALL)
_TAR = re.compile(rf".*\.(tar({_PACKED})?|tgz|tbz2?|txz|tzst)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read.

    Attributes:
        name: name of the file, or its path in a zip.
        size: size in bytes.
        sha256: SHA-256 of its bytes, in hexadecimal digits.
    """

    name: str
    size: int
    sha256: str

    @classmethod
    def read_by(cls, reader: HashedReader, name: str) -> SourceFile:
        """Return the facts about a file, after reading the rest of it."""
        return cls(name=name, sha256=reader.finish(), size=reader.n_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseFile:
    """A file inside a release.

    Attributes:
        release: the folder, zip or tar.
        inner: the path of the file inside, with slashes.
        size: its size in bytes, unpacked from a zip.
        entry: the entry of the zip or tar; None in a folder.
        parts: the files that the file was split into, in order; empty if it is whole.
    """

    release: Path
    inner: str
    size: int
    entry: zipfile.ZipInfo | tarfile.TarInfo | None = None
    parts: tuple[ReleaseFile, ...] = ()

    @property
    def name(self) -> str:
        """The file name without folders, and without the ending of a packed file."""
        return _PACKED_END.sub("", self.inner.rpartition("/")[2])

    @property
    def path(self) -> str:
        """The path of the file for messages, after that of its zip or tar."""
        return f"{self.release}: {self.inner}" if self.entry else str(self.release / self.inner)

    @contextmanager
    def open(self, reads: Collection[FileKind] = ()) -> Iterator[io.BufferedReader]:
        """Open the file as a stream of bytes, unpacked if it is packed.

        Nothing is written to the disk. Any error in the body becomes an InputError. If the file is
        neither text nor of a kind in ``reads``, the message names its kind.
        """
        where = self.path
        hint = "download it again, or unpack it first" if self.entry else ""
        parts, beginning = self.parts or (self,), b""
        try:
            with reading(where, hint=hint), ExitStack() as opened:
                streams = [part.stored(opened) for part in parts]
                joint = io.BufferedReader(Joined(streams)) if self.parts else streams[0]
                stream = cast("io.BufferedReader", joint)
                content = unpacked(stream, where, sum(part.stored_size() for part in parts))
                beginning = content.peek(BEGINNING)
                yield content
        except InputError as error:
            other = other_kind(where, beginning, "lines of text", reads)
            raise other or error from error.__cause__

    @contextmanager
    def open_recorded(
        self, records: list[SourceFile], reads: Collection[FileKind] = ()
    ) -> Iterator[HashedReader]:
        """Open the file as ``open`` does; after the body, add it to ``records``."""
        with self.open(reads) as stream:
            hashed = HashedReader(stream)
            yield hashed
            records.append(SourceFile.read_by(hashed, self.inner))

    def stored(self, opened: ExitStack) -> io.BufferedReader:
        """Return the bytes of the file as they are in the release, until ``opened`` is closed."""
        if self.entry is None:
            return opened.enter_context(open_file(self.release / self.inner))
        if isinstance(self.entry, tarfile.TarInfo):
            tar = opened.enter_context(_open_tar(self.release))
            return cast("io.BufferedReader", tar.extractfile(self.entry))
        check_ratio(self.path, self.stored_size(), self.size)
        archive = opened.enter_context(zipfile.ZipFile(self.release))
        return cast("io.BufferedReader", opened.enter_context(archive.open(self.entry)))

    def stored_size(self) -> int:
        """Return the number of bytes of the file in the release."""
        is_zipped = isinstance(self.entry, zipfile.ZipInfo)
        return cast("zipfile.ZipInfo", self.entry).compress_size if is_zipped else self.size


class Joined(io.RawIOBase):
    """The bytes of several streams, one after the other."""

    def __init__(self, streams: Sequence[io.BufferedIOBase]) -> None:
        super().__init__()
        self._streams = streams

    def readable(self) -> bool:
        """Return True: the streams are readable."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read bytes into a buffer, and return their number."""
        return next(filter(None, (stream.readinto(buffer) for stream in self._streams)), 0)


def release_files(path: Path) -> list[ReleaseFile]:
    """Return the files of a folder, zip or tar in order of path, without macOS's, or a single file.

    Raises:
        InputError: the zip or tar is damaged, or has only other archives.
    """
    if is_alone(path):
        return [file_alone(path)]
    if path.is_dir():
        files = _folder_files(path)
    else:
        with reading(path):
            facts, is_tar = path.stat(), _TAR.fullmatch(path.name)
        files = (_tar_files if is_tar else _zip_files)(path, facts.st_size, facts.st_mtime_ns)
    if len(files) > _MAX_FILES:
        raise InputError(f"{path} has {len(files):,} files; a release has at most {_MAX_FILES:,}")
    kept = [
        file
        for file in files
        if "__MACOSX" not in file.inner.split("/") and not file.name.startswith("._")
    ]
    if kept and path.is_file() and all(_is_archive(file.inner) for file in kept):
        raise InputError(f"{path} has only another archive, {kept[0].inner}; unpack it first")
    return sorted(kept, key=lambda file: file.inner)


def _is_archive(name: str) -> bool:
    return bool(_ZIP.fullmatch(name) or _TAR.fullmatch(name))


def joined(files: list[ReleaseFile]) -> list[ReleaseFile]:
    """Return files with those that were split, such as F.aa and F.ab, as one file, such as F.

    Raises:
        InputError: a part is missing before another one.
    """
    whole: list[ReleaseFile] = []
    parts: dict[str, list[ReleaseFile]] = {}  # also of several archives
    for file in sorted(files, key=lambda file: file.inner):
        if named := _PART.fullmatch(file.inner):
            parts.setdefault(named["whole"], []).append(file)
        else:
            whole.append(file)
    for inner, each in parts.items():
        for letter, file in zip(string.ascii_lowercase, each, strict=False):  # in order of name
            if not file.inner.startswith(f"{inner}.a{letter}"):
                raise InputError(f"{file.release} has {file.inner}, but not {inner}.a{letter}")
        size = sum(file.size for file in each)
        first = replace(each[0], inner=inner, size=size, parts=tuple(each))
        whole.append(first)
    return sorted(whole, key=lambda file: file.inner)


def is_alone(path: Path) -> bool:
    """Return whether a path is neither a folder nor a zip or tar of a release's files."""
    return path.is_file() and not _is_archive(path.name)


def file_alone(path: Path) -> ReleaseFile:
    """Return the file at a path as a file of a release."""
    return ReleaseFile(release=path.parent, inner=path.name, size=path.stat().st_size)


def has_file(path: Path, name: str) -> bool:
    """Return whether a folder, zip or tar has a file whose name matches, ignoring case.

    A damaged archive gives False; the source that is asked last raises the error.

    Args:
        path: a file gives False.
        name: pattern of the name, see ``ReleaseFile.name``.
    """
    return not is_alone(path) and has_single(path, name)


def has_single(path: Path, name: str) -> bool:
    """Return whether the name of a file matches, or of a file in a folder, zip or tar."""
    named = re.compile(name, re.IGNORECASE | re.DOTALL)
    with suppress(InputError):
        return any(named.fullmatch(file.name) for file in release_files(path))
    return False


def single_file(path: Path, name: str) -> ReleaseFile:
    """Return the file at a path, or the only file of a folder, zip or tar whose name matches.

    Args:
        path: a file of any name, a folder or an archive.
        name: pattern of the name, see ``ReleaseFile.name``.

    Raises:
        InputError: not exactly one name matches.
    """
    if is_alone(path):
        return file_alone(path)
    named = re.compile(name, re.IGNORECASE | re.DOTALL)
    files = [file for file in release_files(path) if named.fullmatch(file.name)]
    if len(files) != 1:
        found = listed([file.inner for file in files], most=3)
        unpack = "unpack it and " if files and path.is_file() else ""
        raise InputError(f"{path} has {found}; {unpack}give one of them")
    return files[0]


def beside(file: ReleaseFile, ends: Collection[str]) -> dict[str, ReleaseFile]:
    """Return the files whose name is that of a file and one of some endings, by their ending."""
    if file.entry is None:
        paths = {end: Path(f"{file.path}{end}") for end in ends}
        return {end: file_alone(path) for end, path in paths.items() if path.is_file()}
    files = release_files(file.release) if ends else []
    return {end: each for each in files for end in ends if each.inner == f"{file.inner}{end}"}


_LOGS = {SQLITE: ("-wal", "-journal"), DUCKDB: (".wal",)}  # files beside it with the latest rows
_NAMES_OTHER = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"  # the end of a journal that names a file


@contextmanager
def copy_of_database(
    file: ReleaseFile, content: bytes, kind: FileKind, records: list[SourceFile]
) -> Iterator[Path]:
    """Yield the path of a copy of a database and of its logs, since opening it may write there.

    Args:
        file: the database; its logs are the files beside it.
        content: its bytes.
        kind: SQLITE or DUCKDB.
        records: list that the logs are added to.

    Raises:
        InputError: a journal names another file, which SQLite would delete.
    """
    with TemporaryDirectory(prefix="medsim-") as folder:
        path = Path(folder, "table.db")
        path.write_bytes(content)
        for end, log in beside(file, _LOGS[kind]).items():
            with log.open_recorded(records) as stream:
                log_content = stream.read()
            if log_content.endswith(_NAMES_OTHER):
                raise InputError(f"{log.path} is of several databases; open them in SQLite first")
            Path(f"{path}{end}").write_bytes(log_content)
        yield path


def begins(path: Path, name: str, head: re.Pattern[bytes]) -> bool:
    """Return whether a file, or the only one of a name in a folder or archive, begins so.

    Args:
        path: a file of any name, a folder or an archive.
        name: pattern of the name, see ``ReleaseFile.name``.
        head: pattern of the first 64 KiB.

    Raises:
        InputError: several names match.
    """
    if not (is_alone(path) or has_file(path, name)):
        return False
    with single_file(path, name).open() as stream:
        return bool(head.match(stream.read(_HEAD_BYTES)))


def is_named(file: ReleaseFile, name: str) -> bool:
    """Return whether a file has a name, packed or not, ignoring case."""
    return file.name.lower() == name.lower()


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


class _TarEntry(tarfile.TarInfo):
    """An entry of a tar, which otherwise would seem to end before a damaged entry."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except HeaderError as error:
            if type(error).__name__ == "EOFHeaderError":  # the end
                raise
            raise ReadError(f"it is cut short or damaged: {error}") from error


@contextmanager
def _open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar as a stream, which only goes forward, unpacked if it is packed."""
    with open_file(path) as packed:
        content = unpacked(packed, path, path.stat().st_size)
        with tarfile.open(
            fileobj=content, mode="r|", tarinfo=_TarEntry, errors="replace"
        ) as archive:
            yield archive


@lru_cache(maxsize=8)  # every source asks for the files
def _tar_files(path: Path, _size: int, _changed: int) -> list[ReleaseFile]:
    """Return the files of a tar, without links and devices."""
    reads = {TAR, *PACKED}
    with reading(path, "a tar", "download it again", reads), _open_tar(path) as archive:
        return [
            ReleaseFile(release=path, inner=entry.name, size=entry.size, entry=entry)
            for entry in archive
            if entry.isreg()
        ]


@lru_cache(maxsize=8)
def _zip_files(path: Path, size: int, _changed: int) -> list[ReleaseFile]:
    with (
        reading(path, "a zip", "download it again", reads={ZIP}),
        open_file(path) as stream,
        zipfile.ZipFile(stream) as archive,
    ):
        entries = archive.infolist()
    if sum(entry.compress_size for entry in entries) > size:
        raise InputError(f"{path}: its entries claim more bytes than it has; unpack it yourself")
    return [
        ReleaseFile(  # some programs on Windows write backslashes instead of slashes
            release=path, inner=entry.filename.replace("\\", "/"), size=entry.file_size, entry=entry
        )
        for entry in entries
        if not entry.is_dir()
    ]
