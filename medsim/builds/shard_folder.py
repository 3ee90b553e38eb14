"""The folder of shards beside a build: the run that they are of, and their findings."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

from medsim.builds.negatives import SearchResult
from medsim.builds.options import Shard
from medsim.core.errors import InputError, OutputError, listed
from medsim.core.files import (
    check_own_file,
    first_file,
    read_own_json,
    remove,
    whole_file,
)
from medsim.core.reading import reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST_LISTED = 5  # values of an option in a message
_JOB = "job.json"
_SPILL = "spill-"
_SIGNATURE, _POOLS = "signature", "pools"
_ARRAYS = ("term1_ids", "sizes", "starts", "term2_ids")
_DIGEST_BYTES = 64
_MOST_NAMED = 20
_OWN = re.compile(  # with names under which files are written
    rf"({_JOB}|shard-\d+-of-\d+\.shard)(\.[0-9a-f]{{32}}\.partial)?|{_SPILL}[a-z0-9_]{{8}}"
)
_MOST_TRIED = 100  # times that the folder was removed before anything lay in it


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedRun:
    """The run that the shards of a folder share out.

    Attributes:
        key: all that decides the rows of the build, see ``medsim.builds.stages``.
        total: how many shards there are.
        source: where the terminology was read; another place with the same files will do.
    """

    key: Mapping[str, str]
    total: int
    source: str

    def signature(self) -> str:
        """Return a hash of all that the shards have in common."""
        text = json.dumps([self.key, self.total], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class ShardFolder:
    """The shards of one build; several processes may work on them at the same time.

    Attributes:
        folder: where the shards lie.
    """

    def __init__(self, out: Path) -> None:
        self.folder = out.with_name(f"{out.name}.shards")

    def path(self, shard: Shard) -> Path:
        """Return the file of a shard."""
        return self.folder / f"shard-{shard.number}-of-{shard.total}.shard"

    def claim(self, own: ShardedRun) -> None:
        """Note the run that the folder is for, unless one is noted; one process of several does."""
        path = self.folder / _JOB
        if not path.exists():  # in most cases there is no need to try
            noted = {"job": own.key, "total": own.total, "source": own.source}
            first_file(path, _partial(path), json.dumps(noted, indent=2).encode())
        self.check(own.key, own.total)

    def check(self, key: Mapping[str, str], total: int) -> None:
        """Raise OutputError if the folder is for another run."""
        if differences := _differences(self.claimed_for(), key, total):
            raise OutputError(
                f"{self.folder} holds shards of another job ({', '.join(differences)}); "
                "remove it, or choose another OUT"
            )

    def claimed_for(self) -> ShardedRun:
        """Return the run that the folder is for."""
        path = self.folder / _JOB
        try:
            noted = read_own_json(path)
            found = ShardedRun(key=noted["job"], total=noted["total"], source=noted["source"])
            found.signature()
        except FileNotFoundError as error:
            raise InputError(
                f"{self.folder} has no {_JOB}: there are no shards; make them with medsim "
                "build, as shard 1/2 and so on"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} cannot be read as a job of medsim ({error})") from error
        return found

    def write(self, own: ShardedRun, shard: Shard, found: Sequence[SearchResult]) -> None:
        """Write the results of a shard; the file appears whole or not at all."""
        self.check(own.key, own.total)
        arrays = {
            _SIGNATURE: np.array(own.signature(), np.str_),
            _POOLS: np.array([one.pool for one in found], np.str_),
        }
        for at, one in enumerate(found):
            arrays |= {f"{name}_{at}": getattr(one, name) for name in _ARRAYS}
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **arrays)
        path = self.path(shard)
        with whole_file(path, _partial(path)) as partial:
            partial.write_bytes(_digest(content.getvalue()) + content.getvalue())

    def read(self, own: ShardedRun, shard: Shard) -> list[SearchResult]:
        """Return the results of a shard.

        Raises:
            FileNotFoundError: it is not done.
            InputError: its file is damaged, or of another run.
        """
        path = self.path(shard)
        try:
            check_own_file(path)
            content = path.read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InputError(f"{path} cannot be read ({reason(error)})") from error
        digest, archive = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if digest != _digest(archive):
            raise InputError(f"{path} is damaged")
        with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
            if arrays[_SIGNATURE].item() != own.signature():
                raise InputError(f"{path} is of another job")
            return [
                SearchResult(pool=str(pool), **{name: arrays[f"{name}_{at}"] for name in _ARRAYS})
                for at, pool in enumerate(arrays[_POOLS])
            ]

    def read_all(self, own: ShardedRun) -> list[SearchResult]:
        """Return the results of all shards.

        Raises:
            InputError: some are missing, damaged or of another run; the message names them.
        """
        found: list[SearchResult] = []
        missing: list[int] = []
        damaged: dict[int, str] = {}
        for number in range(1, own.total + 1):
            try:
                found += self.read(own, Shard(number=number, total=own.total))
            except FileNotFoundError:
                missing.append(number)
            except InputError as error:
                damaged[number] = str(error)
        if missing or damaged:
            said, left = list(damaged.values()), sorted([*missing, *damaged])
            if missing:
                of, are = ("shard", "is") if len(missing) == 1 else ("shards", "are")
                named = listed(missing, _MOST_NAMED)
                absent = f"{of} {named} of {own.total} {are} missing in {self.folder}"
                said.insert(0, absent)
            raise InputError(
                f"{'; '.join(said[:_MOST_NAMED])}; make {'it' if len(left) == 1 else 'each'} "
                f"with medsim build, as shard {left[0]}/{own.total}"
            )
        return found

    @contextmanager
    def spill(self) -> Iterator[Path]:
        """Give the body a folder of its own, for the database to spill to."""
        if self.folder.is_symlink():
            raise OutputError(f"{self.folder} is a link; move it away, or choose another OUT")
        scratch = self._scratch()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            with suppress(OSError):
                self.folder.rmdir()  # unless something lies there

    def remove(self) -> None:
        """Remove the shards and leavings of killed processes, but nothing that is not medsim's."""
        entries: list[Path] = []
        with suppress(FileNotFoundError):  # another process has removed it
            entries += self.folder.iterdir()
        for path in entries:
            if _OWN.fullmatch(path.name):
                with suppress(OSError):
                    remove(path)
        with suppress(OSError):
            self.folder.rmdir()

    def _scratch(self) -> Path:
        """Return a new folder in the folder of shards, which is made where there is none.

        Another process may end at any moment and remove the folder of shards because it is empty;
        then it is made again. Once something lies in it, nobody can.
        """
        n_tried = 0
        while True:
            n_tried += 1
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                return Path(tempfile.mkdtemp(prefix=_SPILL, dir=self.folder))
            except OSError as error:
                is_removed = isinstance(error, FileNotFoundError | FileExistsError)
                if not is_removed or self.folder.is_file() or n_tried == _MOST_TRIED:
                    raise OutputError(f"cannot write {self.folder}: {error.strerror}") from error


def _partial(path: Path) -> Path:
    """Return the path to which a file is written.

    The name is the process's own, since another one may be writing the same shard; it begins as the
    file's does, by which ``remove`` knows it.
    """
    return path.with_name(f"{path.name}.{uuid4().hex}.partial")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _differences(there: ShardedRun, key: Mapping[str, str], total: int) -> list[str]:
    found = []
    if there.total != total:
        found.append(f"{there.total} shards there, {total} here")
    for name in sorted({*there.key, *key}):
        values = [there.key.get(name, ""), key.get(name, "")]
        if values[0] != values[1]:
            found += _differing_values(name, *map(_parsed, values))
    return found


def _differing_values(name: str, there: object, here: object) -> list[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        return [
            f"{part} {_short(there.get(part))} there, {_short(here.get(part))} here"
            for part in {**there, **here}
            if there.get(part) != here.get(part)
        ]
    if name == "source_files":
        return ["other source files"]
    return [f"{name.replace('_', ' ')} {there} there, {here} here"]


def _short(value: object) -> str:
    """Return a value, or of a long list how many it has."""
    if isinstance(value, list) and len(value) > _MOST_LISTED:
        return f"({len(value):,} of them)"
    return str(value)


def _parsed(value: str) -> object:
    with suppress(ValueError):
        return json.loads(value)
    return value
