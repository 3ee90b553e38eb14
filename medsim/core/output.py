"""Outputs: their paths are checked, then a folder is locked, filled beside it and moved there."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl
from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from medsim.core import addresses
from medsim.core.errors import OutputError
from medsim.core.files import (
    digest_of,
    read_own_json,
    remove,
    sync_file,
    sync_folder,
    sync_tree,
    whole_file,
)
from medsim.core.manifest import (
    MANIFEST,
    Output,
    content_of,
    fingerprint,
    library_versions,
    medsim_version,
    output_kind,
)
from medsim.core.parquet import read_parquet, scan_parquet, write_parquet

if TYPE_CHECKING:
    from medsim.core.kinds import Kind
    from medsim.core.progress import Progress


def resolved(out: Path) -> Path:
    """Return the path of ``out`` with links resolved."""
    real_path = Path(os.path.realpath(out))  # Path.resolve raises for a loop of links
    if not real_path.name:
        raise OutputError(f"{real_path} cannot be replaced; give a folder inside it")
    return real_path


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
    addresses.mirror(out, with_content=kind.grows and not overwrite and carried is None)
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
    out_path = resolved(out)
    identity, above = _identity(out_path), set(map(_identity, out_path.parents))
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


_JOB = "job.json"
_PARTIAL = f"{_JOB}.partial"
_SPILL = "spill"
_MAX_TRIED = 1000  # attempts to get a lock that others take and remove


class OutputFolder:
    """The unfinished folder of one output, locked against other processes.

    From the start it has a note that marks it as medsim's. Files and links that medsim did not
    make are neither removed nor followed, whatever their names.

    Attributes:
        folder: path of the folder until it is published.
        spill: folder for rows of the database that do not fit in memory.
        outputs: the files written so far, by path.
    """

    def __init__(self, out: Path, kind: Kind[Any], *, overwrite: bool) -> None:
        self._out, self._kind, self._overwrite = out, kind, overwrite
        self.folder = out.with_name(f".{out.name}.unfinished")
        self.spill = self.folder / _SPILL
        self.outputs: dict[str, Output] = {}
        self._prefix = ""
        self._note: Mapping[str, Any] | None = None  # the note of an interrupted run, once claimed
        self._job: dict[str, object] | None = None  # of this run, if it can be resumed
        self._digests: dict[str, str] = {}  # SHA-256 of every file's bytes, by path
        self._carried: set[str] = set()

    def claim(self) -> None:
        """Make the folder, or take over the folder of an interrupted run.

        Raises:
            OutputError: a folder there is not medsim's, or its note cannot be read; it stays.
        """
        if os.path.lexists(aside := _replaced_name(self._out)):  # it would fail after hours
            raise OutputError(f"cannot write {self._out}: {aside} is in the way; move it away")
        try:
            self.folder.mkdir()
            self._note = {}
        except FileExistsError:
            self._note = self._read_note()
        if not self._note:
            self._note_job()
        if self._kind.resumed_by is None:
            self._clear()
        remove(self.folder / MANIFEST)  # of a run that was killed before its last step
        remove(self.spill)
        self.spill.mkdir()

    def _read_note(self) -> Mapping[str, Any]:
        """Return the note of the interrupted run; empty if that run had only made the folder.

        The note is replaced atomically, so neither a killed run nor a full disk leaves it
        unreadable: an unreadable note means a faulty disk or a manual change.
        """
        path, fault = self.folder / _JOB, f"{self.folder} was not made by medsim; move it away"
        if self.folder.is_symlink() or not self.folder.is_dir():
            raise OutputError(fault)
        try:
            note = read_own_json(path)
            return {"job": note["job"], "digests": dict(note["digests"])}
        except FileNotFoundError as error:
            known_files = own_files(self.folder, self._kind) | {_PARTIAL}
            if next(unknown_files(self.folder, known_files), None) is not None:
                raise OutputError(fault) from error
            return {}  # killed before its first note, or after its last
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"{path} cannot be read ({error}); make it readable, or remove that folder"
            raise OutputError(message) from error

    def discard(self) -> None:
        """Remove the folder, unless it has, or may have, files that took long to make."""
        with suppress(OSError):
            is_kept = self._kind.resumed_by and (self.folder / self._kind.resumed_by).exists()
            if self._note is not None and not is_kept:
                self._clear()
                remove(self.folder)

    def _clear(self, *spared: str) -> None:
        """Remove everything except the note, which marks the folder as medsim's."""
        for path in self.folder.iterdir():
            if path.name not in (_JOB, *spared):
                remove(path)

    def resume(self, job: Mapping[str, object]) -> bool:
        """Return whether an interrupted run of the same job left files to take over.

        Files of another job are removed, but not the spilled rows of this run.
        """
        self._job = dict(job)
        if self._note and self._note["job"] == self._job:
            self._digests = self._note["digests"]
            return True
        self._clear(_SPILL)
        self._note_job()
        return False

    def exists(self, name: str) -> bool:
        """Return whether an interrupted run of the same job wrote a file."""
        return self._prefix + name in self._digests and (self.folder / name).exists()

    def write(
        self,
        name: str,
        rows: pl.DataFrame | pl.LazyFrame,
        metadata: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Write rows as Parquet, atomically; the metadata of the file get medsim's version.

        Lazy rows are computed twice: in batches to write them, and by column for the fingerprint.
        """
        with self._whole(name) as partial:
            write_parquet(rows, partial, {"medsim": medsim_version(), **metadata})
        if self._job is not None:
            self._digests[self._prefix + name] = digest_of(self.folder / name)
            self._note_job()
        self.register_existing(name, rows)

    def write_text(self, name: str, text: str, n_rows: int) -> None:
        """Write a text file, atomically."""
        data = text.encode()
        with self._whole(name) as partial:
            partial.write_bytes(data)
        self.outputs[name] = Output(rows=n_rows, fingerprint=hashlib.sha256(data).hexdigest())

    def write_file(self, name: str, write: Callable[[Path], int]) -> None:
        """Write a file of any size, atomically.

        Args:
            name: path in the folder.
            write: function that writes the file to a path and returns its number of rows.
        """
        with self._whole(name) as partial:
            n_rows = write(partial)
        self.outputs[name] = Output(rows=n_rows, fingerprint=digest_of(self.folder / name))

    @contextmanager
    def _whole(self, name: str) -> Iterator[Path]:
        """Give the body a path to write a file to, which appears atomically."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Always the same name, so a leftover of a killed run is overwritten, not published.
            with whole_file(path, path.with_suffix(".partial"), sync_name=False) as partial:
                yield partial
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"cannot write {path}: {' '.join(str(error).split())}") from error

    def scan(self, name: str) -> pl.LazyFrame | None:
        """Return the rows of an existing file; None if it is missing or damaged."""
        path = self.folder / name
        with suppress(OSError):
            # Check the digest first: Polars may accept a damaged file, or panic.
            if self._digests.get(self._prefix + name) == digest_of(path):
                return scan_parquet(path)
        return None

    def load(self, name: str) -> pl.DataFrame:
        """Return the rows of a file that ``is_complete``, if they match its note."""
        try:
            frame = read_parquet(self.folder / name)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"{self._out / name} cannot be read ({error})") from error
        if fingerprint(frame) != self.outputs[name].fingerprint:
            raise OutputError(f"{self._out / name} was changed; add `overwrite` to make it again")
        return frame

    def register_existing(self, name: str, rows: pl.DataFrame | pl.LazyFrame) -> None:
        """Record the rows of a file that an interrupted run wrote."""
        self.outputs[name] = content_of(rows)

    def is_complete(self, name: str) -> bool:
        """Return whether a complete file exists, from an earlier output or an interrupted run."""
        if name not in self.outputs and (rows := self.scan(name)) is not None:
            self.register_existing(name, rows)
        return name in self.outputs

    def carry_over(self, outputs: Mapping[str, Output], written: Collection[str]) -> None:
        """Take over the files of the earlier output, except those that are written again.

        They are hard-linked if the file system supports it, else copied. ``outputs`` are those of
        its manifest, which is written again too.
        """
        for source in sorted(self._out.rglob("*"), key=Path.as_posix):
            name = source.relative_to(self._out).as_posix()
            if name in {MANIFEST, *written} or not source.is_file():
                continue
            self._carried.add(name)
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)
                sync_file(target)
            if name in outputs:
                self.outputs[name] = outputs[name]

    def run_facts(
        self, options: Mapping[str, object], progress: Progress, threads: int, *libraries: str
    ) -> dict[str, Any]:
        """Return the fields of a ``RunManifest`` of a run that has written all files.

        Args:
            options: the options that affect the output, as they are recorded.
            progress: has the warnings and the stages.
            threads: number of threads used.
            libraries: additional libraries whose versions are recorded.
        """
        return {
            "medsim": medsim_version(),
            "libraries": library_versions(*libraries),
            "options": dict(options),
            "threads": threads,
            "warnings": list(progress.warnings),
            "outputs": dict(sorted(self.outputs.items())),
            "stages": [asdict(record) for record in progress.records],
        }

    def publish(self) -> None:
        """Move the folder to its final path, and remove an earlier output there.

        Its content is synced first, then its new name; only then is the earlier output removed.
        """
        check_free(self._out, self._kind, overwrite=self._overwrite, carried=self._carried)
        remove(self.spill)
        addresses.publish(self.folder, self._out, _JOB)
        (self.folder / _JOB).unlink(missing_ok=True)  # last: from now on only the manifest marks it
        sync_tree(self.folder)
        aside = _replaced_name(self._out)
        try:
            if self._out.exists() and any(self._out.iterdir()):
                self._out.rename(aside)
            self.folder.rename(self._out)
            sync_folder(self._out.parent)
        except BaseException:
            if not self.folder.exists() and self._out.exists():
                self._out.rename(self.folder)  # else a crash could lose its name
            self._note_job()
            if aside.exists():
                aside.rename(self._out)
            raise
        finish_replacing(self._out, self._kind)

    def _note_job(self) -> None:
        """Record the job and its finished files atomically."""
        path = self.folder / _JOB
        text = json.dumps({"job": self._job, "digests": self._digests})
        with whole_file(path, self.folder / _PARTIAL, sync_name=False) as partial:
            partial.write_text(text, encoding="utf-8")


@contextmanager
def claimed(out: Path, kind: Kind[Any], *, overwrite: bool) -> Iterator[OutputFolder]:
    """Give the body an exclusive lock on ``out`` and a folder to write the output to.

    Files of an interrupted run are kept if the kind can be resumed, else removed. The folder is
    published after the body, which writes its manifest last; without a manifest it is not.

    Args:
        out: final path of the folder.
        kind: kind of output.
        overwrite: whether an earlier output may be replaced.
    """
    out = resolved(out)
    output = OutputFolder(out, kind, overwrite=overwrite)
    with _exclusive_lock(out, kind):
        try:
            finish_replacing(out, kind)
            check_free(out, kind, overwrite=overwrite)
            output.claim()
            yield output
            if (output.folder / MANIFEST).exists():
                output.publish()
        except OSError as error:
            raise OutputError(f"cannot write {out}: {error}") from error
        finally:
            output.discard()


def claimed_by(
    options: Any, kind: Kind[Any], input_folders: Iterable[Path] = ()
) -> AbstractContextManager[OutputFolder]:
    """Return the context in which a command writes its output; see ``claimed``.

    Args:
        options: the options of the command, with ``out``, which must not be an input, and
            ``overwrite``.
        kind: kind of output.
        input_folders: folders in which the command may read any file.
    """
    check_not_input(Path(options.out), options.paths_read(), input_folders)
    return claimed(Path(options.out), kind, overwrite=options.overwrite)


@contextmanager
def _exclusive_lock(out: Path, kind: Kind[Any]) -> Iterator[None]:
    """Give the body a lock on ``out``."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        lock = _locked(out.with_name(f".{out.name}.lock"))
    except Timeout as error:
        message = f"another {kind.noun} is writing {out}; wait or choose another folder"
        raise OutputError(message) from error
    except FileNotFoundError as error:
        raise OutputError(f"cannot write {out}: {out.parent} takes no files") from error
    except OSError as error:
        place = error.filename or out.parent
        raise OutputError(f"cannot write {out}: {place}: {error.strerror}") from error
    try:
        yield
    finally:
        if not isinstance(lock, SoftFileLock):  # its file is the lock itself
            with suppress(OSError):  # a waiting process notices and locks a new file
                Path(lock.lock_file).unlink()
        lock.release()


def _locked(path: Path) -> BaseFileLock:
    """Acquire a lock on a lock file, and return it."""
    with suppress(FileNotFoundError):  # checked once: its owner may remove it at any time
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size:
            raise FileExistsError(errno.EEXIST, "is not a lock of medsim; move it away", str(path))
    lock = FileLock(path, timeout=0)
    for _ in range(_MAX_TRIED):
        try:
            return lock.acquire().lock
        except Timeout:  # or its owner has just removed it, or no file can be made there
            if os.path.lexists(path):
                raise
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


# Earlier outputs, renamed while the new one is moved to their path


def _replaced_name(out: Path) -> Path:
    """Return a temporary name for an earlier output."""
    return out.with_name(f".{out.name}.replaced")


def finish_replacing(out: Path, kind: Kind[Any]) -> None:
    """Undo a publication that was interrupted between its two renames; remove replaced outputs.

    The manifest, which marks a folder as an output of medsim, is removed last.
    """
    replaced = _replaced_name(out)
    if replaced.is_symlink():
        return
    is_free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if is_free and own_files(replaced, kind):
        replaced.rename(out)
    with suppress(OSError):
        if output_kind(out) == kind.name and own_files(replaced, kind):
            for path in replaced.iterdir():
                if path.name != MANIFEST:
                    remove(path)
            remove(replaced)
        replaced.rmdir()  # fails if not empty, so files of the user stay
