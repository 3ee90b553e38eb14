"""A build in shards: each process searches its share, then one merges them to the build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.build import complete
from medsim.builds.corrections import corrections_in
from medsim.builds.datasets import set_keys
from medsim.builds.negatives.candidates import candidate_source, share_of
from medsim.builds.options import BuildOptions, MergeOptions, Shard, ShardOptions, parse_shard
from medsim.builds.output import BUILD
from medsim.builds.shard_folder import ShardedRun, ShardFolder
from medsim.builds.stages import Run, derive, requests_of_sets, run_key
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.options import public
from medsim.core.places import check_free, check_not_read, resolved
from medsim.core.store import Store
from medsim.terminologies.sources import find_source, source_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.builds.negatives import SearchResult, TermIndex
    from medsim.builds.negatives.candidates import SearchRequest
    from medsim.builds.output import Build
    from medsim.builds.term_index import Derived
    from medsim.core.progress import Progress

_SHARD_SCHEMA = {
    "shard": pl.String,
    "first_terms": pl.Int64,
    "candidates": pl.Int64,
    "file": pl.String,
}


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
    shard = parse_shard(options.shard)
    check_not_read(Path(options.out), options.paths_read(), source_paths(options.source))
    out = resolved(Path(options.out))
    check_free(out, BUILD, overwrite=options.overwrite)
    folder = ShardFolder(out)
    with (
        folder.spill() as spill,
        Store(threads=checked_threads(options.threads), spill=spill) as store,
    ):
        run = Run.of(options, store)
        terminology = run.read()
        own = ShardedRun(
            key=run_key(run, terminology),
            total=shard.total,
            source=_found_again(str(options.source)),
        )
        folder.claim(own)
        found = _done_before(folder, own, shard, run.progress)
        if found is None:
            found = _search(run, derive(run, terminology), shard)
            folder.write(own, shard, found)
    n_firsts = sum(len(one.term1_ids) for one in found)
    n_candidates = sum(len(one.term2_ids) for one in found)
    row = (str(shard), n_firsts, n_candidates, str(folder.path(shard)))
    return pl.DataFrame([row], schema=_SHARD_SCHEMA, orient="row")


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

    build = complete(
        _build_options(sharded, options), take_over, lambda key: folder.check(key, sharded.total)
    )
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


def _done_before(
    folder: ShardFolder, own: ShardedRun, shard: Shard, progress: Progress
) -> list[SearchResult] | None:
    """Return the results of a shard that is done, None if it must be searched."""
    try:
        found = folder.read(own, shard)
    except FileNotFoundError:
        return None
    except InputError as error:
        progress.warn(f"{error}; it is searched again")
        return None
    progress.say(f"shard {shard} is done already: {folder.path(shard)}")
    return found


def _found_again(location: str) -> str:
    """Return the name of a source that is valid in any folder: a built-in name, or a whole path."""
    source, path = find_source(location)
    return location if source.locate is not None else str(path.absolute())


def _build_options(sharded: ShardedRun, options: MergeOptions) -> BuildOptions:
    """Return the options of the build whose shards are merged."""
    record = json.loads(sharded.key["options"])
    if options.source is None:
        try:
            find_source(sharded.source)
        except InputError as error:
            raise InputError(f"{error}; say by `source` where it lies now") from error
    return BuildOptions.from_record(
        record,
        source=sharded.source if options.source is None else str(options.source),
        out=options.out,
        negatives=tuple(record["strategies"]),
        corrections=corrections_in(record),
        threads=options.threads,
        overwrite=options.overwrite,
        progress=options.progress,
    )
