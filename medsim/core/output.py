"""The folder of an output: claimed by one process, filled beside its place, then moved there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OutputError
from medsim.core.files import digest_of, read_json, sync_file, sync_folder, sync_tree, whole_file
from medsim.core.manifest import MANIFEST, Output, fingerprint
from medsim.core.path_lock import path_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from medsim.core.kinds import Kind

_JOB = "job.json"
_SPILL = "spill"


class OutputFolder:
    """The unfinished folder of one output, which no other process writes to.

    Attributes:
        folder: where it lies until it is published.
        outputs: what has been written, by path.
        is_unreadable: whether the note of an interrupted run in the folder cannot be read.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._replaced = out.with_name(f".{out.name}.replaced")
        self.folder = out.with_name(f".{out.name}.unfinished")
        self.outputs: dict[str, Output] = {}
        self.is_unreadable = False
        self._job: dict[str, object] | None = None  # noted where a run can be resumed
        self._digests: dict[str, str] = {}  # SHA-256 of every file's bytes, by path

    @property
    def spill(self) -> Path:
        """The folder for rows of the database that do not fit in memory."""
        return self.folder / _SPILL

    def resume(self, job: Mapping[str, object]) -> bool:
        """Return whether files of an interrupted run of the same job are there to be taken over.

        Files of another job are removed, and so are those beside which no job is noted.

        Raises:
            OutputError: the note of their job cannot be read; they stay as they are.
        """
        self._job = dict(job)
        if self._take_digests():
            return True
        for entry in self.folder.iterdir():
            if entry != self.spill:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        self._note_job()
        return False

    def _take_digests(self) -> bool:
        """Return whether the note is of the same job; then take what it tells of files.

        The note is replaced whole, so that no killed run and no full disk leaves one that cannot
        be read: the disk is at fault, or somebody's hand.
        """
        path = self.folder / _JOB
        try:
            found = read_json(path)
            job, digests = found["job"], dict(found["digests"])
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.is_unreadable = True
            raise OutputError(
                f"{path} cannot be read ({error}), so what an interrupted run left in "
                f"{self.folder} is neither taken over nor removed; make it readable, or remove "
                "that folder to make all anew"
            ) from error
        if job != self._job:
            return False
        self._digests = digests
        return True

    def exists(self, name: str) -> bool:
        """Return whether an interrupted run of the same job wrote a file."""
        return name in self._digests and (self.folder / name).exists()

    def write(self, name: str, frame: pl.DataFrame, metadata: Mapping[str, str]) -> None:
        """Write a frame as Parquet; the file appears whole or not at all."""
        with self._whole(name) as partial:
            frame.write_parquet(partial, metadata=dict(metadata))
        self._digests[name] = digest_of(self.folder / name)
        self._note_job()
        self.register_existing(name, frame)

    def write_text(self, name: str, text: str, n_rows: int) -> None:
        """Write a text file, which appears whole or not at all."""
        data = text.encode()
        with self._whole(name) as partial:
            partial.write_bytes(data)
        self.outputs[name] = Output(rows=n_rows, fingerprint=hashlib.sha256(data).hexdigest())

    @contextmanager
    def _whole(self, name: str) -> Iterator[Path]:
        """Give the body a path to write a file to, which appears whole or not at all."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # One name: what a killed run left is written over, and never published.
            with whole_file(path, path.with_suffix(".partial"), sync_name=False) as partial:
                yield partial
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"cannot write {path}: {' '.join(str(error).split())}") from error

    def read(self, name: str) -> pl.DataFrame | None:
        """Return the rows of a file that is there already, None if it is not or is damaged."""
        path = self.folder / name
        try:
            if self._digests.get(name) != digest_of(path):
                return None  # Polars may read a damaged file without a complaint, or panic
            return pl.read_parquet(path, hive_partitioning=False, glob=False)
        except (OSError, pl.exceptions.PolarsError):
            return None

    def load(self, name: str) -> pl.DataFrame:
        """Return the rows of a file that ``is_complete``, if they are those noted of it."""
        try:
            frame = pl.read_parquet(self.folder / name, hive_partitioning=False, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"{self._out / name} cannot be read ({error})") from error
        if fingerprint(frame) != self.outputs[name].fingerprint:
            raise OutputError(
                f"{self._out / name} does not hold the rows that its manifest tells of; add "
                "`overwrite` to make all anew"
            )
        return frame

    def register_existing(self, name: str, frame: pl.DataFrame) -> None:
        """Note the rows of a file that an interrupted run wrote."""
        self.outputs[name] = Output(rows=frame.height, fingerprint=fingerprint(frame))

    def is_complete(self, name: str) -> bool:
        """Return whether a file is there, whole: from an earlier output or an interrupted run."""
        if name not in self.outputs and (frame := self.read(name)) is not None:
            self.register_existing(name, frame)
        return name in self.outputs

    def carry_over(self, files: Mapping[str, Output | None]) -> None:
        """Take files of an earlier output at the same place over as they are.

        They are linked where the file system can, else copied.
        """
        for name, known in files.items():
            source, target = self._out / name, self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)
                sync_file(target)
            if known is not None:
                self.outputs[name] = known

    def publish(self) -> None:
        """Move the folder to its place; an earlier output there is removed.

        All that it holds is on the disk before, and its new name before the earlier one goes.
        """
        (self.folder / _JOB).unlink(missing_ok=True)
        shutil.rmtree(self.spill, ignore_errors=True)
        sync_tree(self.folder)
        try:
            if self._out.exists():
                self._out.rename(self._replaced)
            self.folder.rename(self._out)
            sync_folder(self._out.parent)
        except BaseException:
            if not self.folder.exists() and self._out.exists():
                self._out.rename(self.folder)  # its name may not outlast a crash
            self.recover()
            raise
        shutil.rmtree(self._replaced, ignore_errors=True)

    def recover(self) -> None:
        """Undo a publishing that was interrupted between its two renames."""
        if self._replaced.exists() and not self._out.exists():
            self._replaced.rename(self._out)
        shutil.rmtree(self._replaced, ignore_errors=True)

    def _note_job(self) -> None:
        """Note the job and its finished files; the note changes whole or not at all."""
        if self._job is None:
            return
        path = self.folder / _JOB
        text = json.dumps({"job": self._job, "digests": self._digests})
        with whole_file(path, path.with_name(f"{_JOB}.partial"), sync_name=False) as partial:
            partial.write_text(text, encoding="utf-8")


@contextmanager
def claimed(out: Path, kind: Kind[Any], *, overwrite: bool) -> Iterator[OutputFolder]:
    """Give the body the only right to write an output to ``out``.

    What an interrupted run left is there where the kind can be resumed, else it is removed.
    """
    out = resolved(out)
    output = OutputFolder(out)
    with _sole_right(out, kind):
        try:
            output.recover()
            check_free(out, kind, overwrite=overwrite)
            if out.exists() and not any(out.iterdir()):
                out.rmdir()
            leftovers = output.folder if kind.resumed_by is None else output.spill
            shutil.rmtree(leftovers, ignore_errors=True)
            output.spill.mkdir(parents=True, exist_ok=True)
            yield output
        except OSError as error:
            raise OutputError(f"cannot write {out}: {error}") from error
        finally:
            if not output.is_unreadable and not _is_worth_resuming(output.folder, kind):
                shutil.rmtree(output.folder, ignore_errors=True)


def _is_worth_resuming(folder: Path, kind: Kind[Any]) -> bool:
    """Return whether an unfinished folder has files that took long to make, or may have."""
    if kind.resumed_by is None:
        return False
    try:
        (folder / kind.resumed_by).stat()
    except OSError as error:
        return not isinstance(error, (FileNotFoundError, NotADirectoryError))
    return True


@contextmanager
def _sole_right(out: Path, kind: Kind[Any]) -> Iterator[None]:
    """Give the body a lock on ``out``."""
    with ExitStack() as stack:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(path_lock(out.with_name(f".{out.name}.lock")))
        except BlockingIOError as error:
            raise OutputError(
                f"another {kind.noun} is writing {out}; wait or choose another folder"
            ) from error
        except FileNotFoundError as error:
            raise OutputError(f"cannot write {out}: {out.parent} takes no files") from error
        except OSError as error:
            place = error.filename or out.parent
            raise OutputError(f"cannot write {out}: {place}: {error.strerror}") from error
        yield


def resolved(out: Path) -> Path:
    """Return the path of ``out``, links followed."""
    try:
        place = out.resolve()
    except (OSError, RuntimeError) as error:  # Python 3.11 raises the latter for links in a circle
        raise OutputError(f"cannot write {out}: {error}") from error
    if not place.name:
        raise OutputError(f"{place} cannot be replaced; name a folder in it")
    return place


def check_free(out: Path, kind: Kind[Any], *, overwrite: bool) -> None:
    """Raise OutputError if ``out`` holds something that must not be replaced or added to."""
    if not out.exists():
        return
    if not out.is_dir():
        raise OutputError(f"{out} is a file; name a folder")
    if not any(out.iterdir()):
        return
    own = _own_files(out, kind)
    if not own:
        raise OutputError(
            f"{out} holds files that are no {kind.noun} of medsim; choose another folder"
        )
    if not overwrite and kind.grows:
        return
    if not overwrite:
        raise OutputError(f"{out} holds {kind.with_article} already; add `overwrite` to replace it")
    for path in out.rglob("*"):
        name = path.relative_to(out).as_posix()
        if name not in own and (path.is_symlink() or not path.is_dir()):
            raise OutputError(
                f"{out} holds {name}, which is no part of the {kind.noun}; move it away, or choose "
                "another folder"
            )


def _own_files(folder: Path, kind: Kind[Any]) -> set[str]:
    """Return the paths that a manifest of one kind names and its own, none if there is none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = read_json(folder / MANIFEST)
        if found["kind"] == kind.name:
            return {MANIFEST, *map(str, found["outputs"])}
    return set()
