"""A build in shards: each process searches its share, then one merges them to the build."""

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
import polars as pl

from medsim.builds.build import Run, complete, derive, requests_of_sets, run_key
from medsim.builds.corrections import corrections_in
from medsim.builds.datasets import set_keys
from medsim.builds.negatives import SearchResult
from medsim.builds.negatives.candidates import candidate_source, share_of
from medsim.builds.options import BuildOptions, MergeOptions, Shard, ShardOptions, parse_shard
from medsim.builds.output import BUILD
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, OutputError, listed
from medsim.core.files import check_own_file, first_file, read_own_json, remove, whole_file
from medsim.core.options import public
from medsim.core.places import check_free, check_not_read, resolved
from medsim.core.reading import reason
from medsim.core.store import Store
from medsim.terminologies.sources import find_source, source_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.builds.negatives import TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.builds.output import Build
    from medsim.builds.positives import Derived


@public(ShardOptions)
def build_shard(options: ShardOptions) -> pl.DataFrame:
    """Return the size of one shard of a build, which it searches and writes beside ``out``.

    Shards may be made at the same time, on one machine or on several with a common folder; then
    ``merge`` makes the build of them. A shard that is there already is not searched again. The
    shards of OUT lie in the folder ``OUT.shards``.

    Returns:
        One row: shard, first_terms, candidates, file.

    Raises:
        InputError: the source is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit the source.
        OutputError: the folder holds shards of another build, or cannot be written.
    """
    shard, source = parse_shard(options.shard), str(options.source)
    check_not_read(Path(options.out), options.paths_read(), source_paths(source))
    out = resolved(Path(options.out))
    check_free(out, BUILD, overwrite=options.overwrite)
    known, path = find_source(source)
    anywhere = source if known.locate is not None else str(path.absolute())
    folder = ShardFolder(out)
    with (
        folder.spill() as spill,
        Store(threads=checked_threads(options.threads), spill=spill) as store,
    ):
        run = Run.of(options, store)
        own = ShardedRun(key=run_key(run), total=shard.total, source=anywhere)
        folder.claim(own)
        found = None
        try:
            found = folder.read(own, shard)
            run.progress.say(f"shard {shard} is done already: {folder.path(shard)}")
        except FileNotFoundError:
            pass
        except InputError as error:
            run.progress.warn(f"{error}; it is searched again")
        if found is None:
            found = _search(run, derive(run), shard)
            folder.write(own, shard, found)
    row = {
        "shard": str(shard),
        "first_terms": sum(len(one.term1_ids) for one in found),
        "candidates": sum(len(one.term2_ids) for one in found),
        "file": str(folder.path(shard)),
    }
    return pl.DataFrame([row])


@public(MergeOptions)
def merge(options: MergeOptions) -> Build:
    """Return the build that it makes of its shards; it is the same as one made in one piece.

    The shards are removed when the build is there.

    Raises:
        InputError: shards are missing, damaged or of another build, or the source is missing.
        OutputError: the source is another one, or ``out`` is taken or cannot be written.
    """
    out = resolved(Path(options.out))
    check_free(out, BUILD, overwrite=options.overwrite)
    folder = ShardFolder(out)
    sharded = folder.claimed_for()
    known = folder.read_all(sharded)

    def take_over(
        run: Run, _index: TermIndex, _requests: Sequence[SearchRequest]
    ) -> Sequence[SearchResult]:
        with run.progress.stage("take over the shards") as stage:
            n_firsts = sum(len(found.term1_ids) for found in known)
            stage.found(f"{sharded.total:,} with {n_firsts:,} first terms")
        return known

    if options.source is None:
        try:
            find_source(sharded.source)
        except InputError as error:
            raise InputError(f"{error}; say by `source` where it lies now") from error
    record = json.loads(sharded.key["options"])
    of_build = BuildOptions.from_record(
        record,
        source=sharded.source if options.source is None else str(options.source),
        out=options.out,
        corrections=corrections_in(record),
        threads=options.threads,
        overwrite=options.overwrite,
        progress=options.progress,
    )
    build = complete(of_build, take_over, lambda key: folder.check(key, sharded.total))
    folder.remove()
    return build


def _search(run: Run, derived: Derived, shard: Shard) -> list[SearchResult]:
    """Return the nearest candidates of the first terms of one shard."""
    index = derived.index
    lengths = index.lower.str.len_chars().to_numpy().astype(np.int32)
    shares = [
        share_of(one, lengths, shard.number, shard.total)
        for one in requests_of_sets(derived, set_keys("levenshtein"))
    ]
    found = []
    with run.progress.stage(f"search shard {shard}") as stage:
        stage.total(sum(len(share.term1_ids) for share in shares))
        for share in shares:
            if len(share.term1_ids):
                source = candidate_source(
                    index, share.pool, share.pool_ids, seed=run.options.seed, threads=run.threads
                )
                found.append(source.search(share.term1_ids, share.sizes, stage.advance))
        stage.found(f"{sum(len(share.term1_ids) for share in shares):,} first terms")
    return found


_MOST_SAID = 200  # characters about a difference in a message
_JOB = "job.json"
_SPILL = "spill-"
_SIGNATURE, _POOLS = "signature", "pools"
_ARRAYS = ("term1_ids", "sizes", "starts", "term2_ids")
_DIGEST_BYTES = 64
_MOST_NAMED = 20
_OWN = re.compile(  # with names under which files are written
    rf"({_JOB}|shard-\d+-of-\d+\.shard)(\.[0-9a-f]{{32}}\.partial)?|{_SPILL}[a-z0-9_]{{8}}"
)
_MOST_TRIED = 100  # times that the folder was removed while it was empty


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedRun:
    """The run that the shards of a folder share out.

    Attributes:
        key: all that decides the rows of the build, see ``medsim.builds.build``.
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
            _facts(found.key, found.total)
        except FileNotFoundError as error:
            raise InputError(
                f"{self.folder} has no {_JOB}: there are no shards; make them with medsim "
                "build, as shard 1/2 and so on"
            ) from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
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
        if left := sorted([*missing, *damaged]):
            said = list(damaged.values())
            if missing:
                named = listed(missing, _MOST_NAMED)
                of, are = ("shard", "is") if len(missing) == 1 else ("shards", "are")
                said.insert(0, f"{of} {named} of {own.total} {are} missing in {self.folder}")
            raise InputError(
                f"{'; '.join(said[:_MOST_NAMED])}; make {'it' if len(left) == 1 else 'each'} "
                f"with medsim build, as shard {left[0]}/{own.total}"
            )
        return found

    @contextmanager
    def spill(self) -> Iterator[Path]:
        """Give the body a folder of its own, for the database to spill to.

        Another process that ends removes the folder of shards if it is empty; then it is created
        again.
        """
        if self.folder.is_symlink():
            raise OutputError(f"{self.folder} is a link; move it away, or choose another OUT")
        for left in reversed(range(_MOST_TRIED)):
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                scratch = Path(tempfile.mkdtemp(prefix=_SPILL, dir=self.folder))
                break
            except OSError as error:
                is_removed = isinstance(error, FileNotFoundError | FileExistsError)
                if not is_removed or self.folder.is_file() or not left:
                    raise OutputError(f"cannot write {self.folder}: {error.strerror}") from error
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


def _partial(path: Path) -> Path:
    """Return the path to which a file is written.

    The name is the process's own, since another one may be writing the same shard; it begins as the
    file's does, by which ``remove`` knows it.
    """
    return path.with_name(f"{path.name}.{uuid4().hex}.partial")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _differences(there: ShardedRun, key: Mapping[str, str], total: int) -> list[str]:
    """Return how two runs differ, in words."""
    theirs, ours = _facts(there.key, there.total), _facts(key, total)
    found = []
    for name in {**theirs, **ours}:
        left, right = (str(facts.get(name)) for facts in (theirs, ours))
        if left != right:
            said = f"{name.replace('_', ' ')} {left} there, {right} here"
            found.append(said if len(said) <= _MOST_SAID else f"other {name.replace('_', ' ')}")
    return found


def _facts(key: Mapping[str, str], total: int) -> dict[str, object]:
    """Return all that decides a run, by name."""
    parts = {name: json.loads(key[name]) for name in ("libraries", "options")}
    return {
        **parts["libraries"],
        **parts["options"],
        "source_files": key.get("source_files"),
        **{name: one for name, one in key.items() if name not in parts},
        "shards": total,
    }
