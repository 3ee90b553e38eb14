"""Builds in shards: each process searches one share, then one process merges the shards."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from medsim.builds.build import BuildRun, complete, derive, first_requests, run_key
from medsim.builds.negatives import SearchResult, TermIndex
from medsim.builds.negatives.candidates import SearchRequest, candidate_source, request_share
from medsim.builds.options import BuildOptions, MergeOptions, ShardOptions, corrections_in
from medsim.builds.output import BUILD, Build
from medsim.core import addresses
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, OutputError, listed, with_addresses
from medsim.core.files import new_file, read_own_json, remove, write_file
from medsim.core.options import public
from medsim.core.output import check_free, check_not_input, resolved
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import reading
from medsim.core.store import Store
from medsim.terminologies.sources import find_source, source_paths


@public(ShardOptions)
def build_shard(options: ShardOptions) -> pl.DataFrame:
    """Search and write one shard of a build next to ``out``, and return its size.

    Shards can be made in parallel, on one machine or on several with a common folder; then
    ``merge`` makes the build. An existing shard is not searched again. The shards of OUT are in the
    folder ``OUT.shards``.

    Returns:
        One row: shard, first_terms, candidates, file.

    Raises:
        InputError: the source is missing, damaged or in an unknown format.
        OptionError: an option is out of range or does not fit the source.
        OutputError: the folder has shards of another build, or cannot be written.
    """
    number, total = options.number_and_total
    shard, source = f"{number}/{total}", str(options.source)
    check_not_input(Path(options.out), options.paths_read(), source_paths(source))
    out = resolved(Path(options.out))
    check_free(out, BUILD, overwrite=options.overwrite)
    builtin, source_path = find_source(source)
    source_place = source if builtin.locate is not None else str(source_path.absolute())
    source_place = with_addresses(source_place)
    folder = ShardFolder(out)
    with (
        folder.spill() as spill,
        Store(threads=checked_threads(options.threads), spill=spill) as store,
    ):
        run = BuildRun.from_options(options, store)
        extensions = tuple(
            with_addresses(str(Path(each).absolute())) for each in options.extensions
        )
        sharded = ShardedRun(
            job=run_key(run), total=total, source=source_place, extensions=extensions
        )
        folder.claim(sharded)
        results, path = None, folder.path(sharded, number)
        addresses.pull(path)
        if path.exists():
            try:
                results = folder.read(sharded, number)
                run.progress.say(f"shard {shard} is done already: {path}")
            except InputError as error:
                run.progress.warn(f"{error}; it is searched again")
        if results is None:
            results = _search(run, number, total)
            folder.write(sharded, number, results)
    row = {
        "shard": shard,
        "first_terms": sum(len(result.term1_ids) for result in results),
        "candidates": sum(len(result.term2_ids) for result in results),
        "file": with_addresses(str(path)),
    }
    return pl.DataFrame([row])


@public(MergeOptions)
def merge(options: MergeOptions) -> Build:
    """Merge the shards of a build, and return the build; its rows are the same as without shards.

    The shards are removed afterwards.

    Raises:
        InputError: shards are missing, damaged or of another build, or the source is missing.
        OutputError: the source differs, or ``out`` exists or cannot be written.
    """
    out = resolved(Path(options.out))
    check_free(out, BUILD, overwrite=options.overwrite)
    folder = ShardFolder(out)
    addresses.pull(folder.folder)
    sharded = folder.claimed_run()
    results = folder.read_all(sharded)

    def take_over(
        _index: TermIndex, _requests: Sequence[SearchRequest], progress: Progress
    ) -> Sequence[SearchResult]:
        with progress.stage("take over the shards") as stage:
            n_firsts = sum(len(result.term1_ids) for result in results)
            stage.note(f"{sharded.total:,} with {n_firsts:,} first terms")
        return results

    source = sharded.source if options.source is None else str(options.source)
    if options.source is None:
        try:
            source = addresses.with_local_paths(source, "source", progress_of(options.progress))
            find_source(source)
        except InputError as error:
            raise InputError(f"{error}; give its new place with `source`") from error
    record = json.loads(sharded.job["options"])
    build_options = BuildOptions.from_record(
        record,
        source=source,
        out=options.out,
        extensions=options.extensions or sharded.extensions,
        corrections=corrections_in(record),
        threads=options.threads,
        overwrite=options.overwrite,
        progress=options.progress,
    )
    build = complete(build_options, take_over, lambda key: folder.check(key, sharded.total))
    folder.remove()
    return build


def _search(run: BuildRun, number: int, total: int) -> list[SearchResult]:
    """Return the nearest candidates of the first terms of one shard."""
    derived = derive(run)
    index = derived.index
    requests = first_requests(run, derived)
    shares = [request_share(index, request, number, total) for request in requests]
    n_firsts = sum(len(share.term1_ids) for share in shares)
    results = []
    run.store.rest()  # the search needs the memory
    with run.progress.stage(f"search shard {number}/{total}") as stage:
        stage.total(n_firsts)
        for share in shares:
            if len(share.term1_ids):
                source = candidate_source(
                    index, share.pool, share.pool_ids, seed=run.options.seed, threads=run.threads
                )
                results.append(source.search(share.term1_ids, share.sizes, stage.advance))
        stage.note(f"{n_firsts:,} first terms")
    return results


_JOB = "job.json"
_SPILL = "spill-"
_SIGNATURE, _POOLS = "signature", "pools"
_ARRAYS = ("term1_ids", "sizes", "starts", "term2_ids")
_MAX_LISTED = 20
_NAMES = rf"{_JOB}|shard-\d+-of-\d+\.shard"
_SHARD_FILES = re.compile(  # and their temporary names
    rf"{_NAMES}|\.({_NAMES})\.[0-9a-f]{{32}}\.partial|{_SPILL}[a-z0-9_]{{8}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedRun:
    """The run that the shards of a folder belong to.

    Attributes:
        job: everything that affects the rows of the build, see ``medsim.builds.build``.
        total: number of shards.
        source: path of the terminology; another path with the same files is accepted.
        extensions: paths of its extensions; other paths with the same files are accepted.
    """

    job: Mapping[str, str]
    total: int
    source: str
    extensions: Sequence[str]

    def signature(self) -> str:
        """Return a hash of everything that the shards have in common."""
        text = json.dumps([self.job, self.total], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class ShardFolder:
    """The shards of one build; several processes can work on them at the same time.

    Attributes:
        folder: folder of the shards.
    """

    def __init__(self, out: Path) -> None:
        self.folder = out.with_name(f"{out.name}.shards")

    def path(self, sharded: ShardedRun, number: int) -> Path:
        """Return the file of a shard."""
        return self.folder / f"shard-{number}-of-{sharded.total}.shard"

    def claim(self, sharded: ShardedRun) -> None:
        """Record the run of the folder, unless another process has done so.

        If several processes try at once, the last one wins, and ``check`` finds the others.
        """
        path = self.folder / _JOB
        addresses.pull(path)
        if not path.exists():  # usually it exists
            write_file(path, json.dumps(asdict(sharded), indent=2).encode(), overwrite=True)
            addresses.push(path)
        self.check(sharded.job, sharded.total)

    def check(self, key: Mapping[str, str], total: int) -> None:
        """Raise OutputError if the folder belongs to another run."""
        claimed = self.claimed_run()
        theirs, ours = _facts(claimed.job, claimed.total), _facts(key, total)
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        if names:
            raise OutputError(
                f"{self.folder} holds shards of another build (they differ in {', '.join(names)}); "
                "remove it, or choose another OUT"
            )

    def claimed_run(self) -> ShardedRun:
        """Return the run that the folder belongs to."""
        path = self.folder / _JOB
        try:
            facts = read_own_json(path)
            return ShardedRun(**{each.name: facts[each.name] for each in fields(ShardedRun)})
        except FileNotFoundError as error:
            raise InputError(
                f"{self.folder} holds no shards; make them with medsim build --shard 1/2 and so on"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} cannot be read ({error}); make the shards again") from error

    def write(self, sharded: ShardedRun, number: int, results: Sequence[SearchResult]) -> None:
        """Write the results of a shard, atomically."""
        self.check(sharded.job, sharded.total)
        arrays = {
            _SIGNATURE: np.array(sharded.signature(), np.str_),
            _POOLS: np.array([result.pool for result in results], np.str_),
        }
        for position, result in enumerate(results):
            arrays |= {f"{name}_{position}": getattr(result, name) for name in _ARRAYS}
        with new_file(self.path(sharded, number), overwrite=True) as stream:
            np.savez(stream, allow_pickle=False, **arrays)
        addresses.push(self.path(sharded, number))

    def read(self, sharded: ShardedRun, number: int) -> list[SearchResult]:
        """Return the results of a shard.

        Raises:
            InputError: the file is missing or damaged, or belongs to another run.
        """
        path = self.path(sharded, number)
        with (
            reading(path),
            path.open("rb") as stream,
            np.load(stream, allow_pickle=False) as arrays,
        ):
            if arrays[_SIGNATURE].item() != sharded.signature():
                raise InputError(f"{path} belongs to another build")
            return [
                SearchResult(pool=str(pool), **{name: arrays[f"{name}_{at}"] for name in _ARRAYS})
                for at, pool in enumerate(arrays[_POOLS])
            ]

    def read_all(self, sharded: ShardedRun) -> list[SearchResult]:
        """Return the results of all shards.

        Raises:
            InputError: shards are missing, damaged or of another run; the message lists them.
        """
        results: list[SearchResult] = []
        missing = []
        for number in range(1, sharded.total + 1):
            try:
                results += self.read(sharded, number)
            except InputError:
                missing.append(number)
        if missing:
            raise InputError(
                f"{self.folder}: of {sharded.total} shards, these are missing or damaged: "
                f"{listed(missing, _MAX_LISTED)}; make each with medsim build --shard "
                f"{missing[0]}/{sharded.total} and so on"
            )
        return results

    @contextmanager
    def spill(self) -> Iterator[Path]:
        """Yield a temporary folder for the database to spill to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            made = TemporaryDirectory("", _SPILL, self.folder, ignore_cleanup_errors=True)
        except OSError as error:
            raise OutputError(f"cannot write {self.folder}: {error.strerror}") from error
        try:
            with made as scratch:
                yield Path(scratch)
        finally:
            with suppress(OSError):
                self.folder.rmdir()  # fails if it is not empty

    def remove(self) -> None:
        """Remove the shards and files of killed processes, but no files of the user."""
        for path in sorted(self.folder.glob("*")):  # none if another process has removed it
            if _SHARD_FILES.fullmatch(path.name):
                with suppress(OSError):
                    remove(path)
                addresses.delete(path)
        with suppress(OSError):
            self.folder.rmdir()


def _facts(key: Mapping[str, str], total: int) -> dict[str, object]:
    """Return everything that affects a run, by name."""
    parts = {name: json.loads(key[name]) for name in ("libraries", "options")}
    return {
        **parts["libraries"],
        **parts["options"],
        "source_files": key.get("source_files"),
        **{name: value for name, value in key.items() if name not in parts},
        "shards": total,
    }
