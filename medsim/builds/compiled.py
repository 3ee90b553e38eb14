"""Compiles the kernels that builds need, by calling them; a process of ``compiling`` a part."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import polars as pl

from medsim.builds.negatives import STRATEGIES, PositiveSet, TermIndex, UsedPairs
from medsim.builds.negatives.layout import Candidates, laid_out, slate, workspace
from medsim.builds.negatives.nearest import nearest
from medsim.core.progress import Progress
from medsim.core.terms import pack
from medsim.kernels.best import empty_slots
from medsim.kernels.components import components
from medsim.kernels.edit_search import Search
from medsim.kernels.packing import term_hashes
from medsim.kernels.serving import Chosen, serve_nearest, used_pairs
from medsim.kernels.sliced import search_group

_TERMS = pl.Series(["acute pain", "back pain", "chronic pain of the back"])
_NONE = np.empty(0, np.int32)
_ONE = np.zeros(1, np.int32)


def compile_search() -> None:
    """Compile the search by blocks, which takes as long as all others do."""
    pool = laid_out(_candidates())
    best = empty_slots(np.ones(1, np.int32), np.int32)
    search_group(Search(pool, np.uint64(0), _ONE, best), _ONE, slate(pool), workspace(pool))


def compile_others() -> None:
    """Compile the others, in the order in which a build needs them."""
    own = _candidates()
    linked = components(len(own.terms), _ONE, _ONE)
    index = TermIndex(lower=_TERMS, hashes=own.hashes, components=linked)
    one = PositiveSet(name="syn_syn", term1_ids=_ONE, term2_ids=_ONE)
    unused = UsedPairs(term1_ids=_NONE, term2_ids=_NONE)
    with Progress().stage("compile") as stage:
        STRATEGIES.get("random")(index, seed=0, threads=1)(one, unused, stage)
    starts, table = np.zeros(2, np.int64), used_pairs(_NONE, _NONE, 1)
    serve_nearest(_ONE, starts, _NONE, table, Chosen(starts=starts, counts=_ONE.copy(), ids=_NONE))
    # Terms that want nothing are compared with those near them, but not searched by blocks.
    nearest(own, _ONE, np.zeros(1, np.int32), threads=1)


def _candidates() -> Candidates:
    terms = pack(_TERMS)
    hashes = term_hashes(terms.codes, terms.starts)
    return Candidates(terms=terms, components=np.arange(len(terms), dtype=np.int32), hashes=hashes)


PARTS = {"search": compile_search, "others": compile_others}


def _end_with_input() -> None:
    """End this process when its standard input does: then the one that began it has ended."""
    os.read(0, 1)  # the standard input; a buffered read would keep the process from its own end
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    PARTS[sys.argv[1]]()
