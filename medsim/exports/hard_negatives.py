"""The hard negatives of positives: terms near their anchors that no chain of positives links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medsim.builds.embedded import check_same, embedding_of
from medsim.builds.negatives.nearest import Candidates, NearestSearch
from medsim.core.errors import OptionError
from medsim.core.manifest import Skipped
from medsim.embeddings.embedded_terms import embed_terms, settled
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.kernels.drawing import draw_distinct, pair_seeds

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from medsim.builds.output import Build
    from medsim.embeddings.lookup import CosineSearch
    from medsim.exports.formats import Export
    from medsim.exports.positives import SplitTerms
    from medsim.kernels.types import Flags, Ids, Ranks, Rows

N_NEGATIVES = 5
"""The negatives of each positive where the option is not given."""

_SLOTS_AT_ONCE = 1 << 26  # of 16 bytes, that a search holds


@dataclass(frozen=True, slots=True, kw_only=True)
class HardNegatives:
    """The hard negatives of positives.

    Attributes:
        complete: bool[n_positives], which of them have as many as are wanted.
        of: returns those of some complete positives, given by their rows:
            int32[n_rows, n_negatives].
        skipped: why the others have fewer.
    """

    complete: Flags
    of: Callable[[Rows], Ranks]
    skipped: tuple[Skipped, ...]


def n_negatives(run: Export) -> int:
    """Return how many negatives each positive gets."""
    given = run.options.n_negatives
    return N_NEGATIVES if given is None else given


def hard_negatives(
    run: Export, build: Build, terms: SplitTerms, pairs: pl.DataFrame
) -> HardNegatives:
    """Return the hard negatives of positives, by the strategy of the options.

    Levenshtein and embedding negatives are the nearest terms of an anchor, exactly, in the order of
    ``medsim.builds.negatives.nearest`` and ``medsim.embeddings.lookup``, and so are the same for
    all positives of an anchor. Random ones are drawn for each positive.

    Args:
        run: whose options choose the strategy, how many negatives, and the seed of ties and draws.
        build: of one split.
        terms: of that build, all of which are candidates.
        pairs: its positives; the first terms are the anchors.

    Raises:
        OptionError: the strategy is embedding, and the build has no embedding.
    """
    strategy, n_wanted = run.options.negatives or "levenshtein", n_negatives(run)
    firsts = pairs["term1_id"].to_numpy()
    candidates: Ids = np.arange(len(terms.components), dtype=np.int32)
    search: NearestSearch | CosineSearch
    if strategy == "random" or n_wanted == 0:
        return _drawn(run, terms, pairs, n_wanted)
    if strategy == "embedding":
        search, candidates = _cosine_search(run, build, terms)
    else:
        with run.progress.stage(f"lay out {len(candidates):,} terms"):
            search = NearestSearch(
                Candidates(terms=terms.lower(), components=terms.components, hashes=terms.hashes),
                seed=run.options.seed,
                threads=run.threads,
            )
    complete, skipped = _complete(terms, candidates, firsts, n_wanted)
    anchors, places = np.unique(firsts[complete], return_inverse=True)
    nearest = _nearest(run, search, np.searchsorted(candidates, anchors), n_wanted)
    place_of = np.full(len(firsts), -1, np.int64)
    place_of[complete] = places
    return HardNegatives(
        complete=complete,
        of=lambda rows: candidates[nearest[place_of[rows]]],
        skipped=skipped,
    )


def _drawn(run: Export, terms: SplitTerms, pairs: pl.DataFrame, n_wanted: int) -> HardNegatives:
    """Return terms drawn for each positive by a hash of the seed and its texts."""
    firsts, seconds = (pairs[side].to_numpy() for side in ("term1_id", "term2_id"))
    every = np.arange(len(terms.components), dtype=np.int32)
    complete, skipped = _complete(terms, every, firsts, n_wanted)

    def draw(rows: Rows) -> Ranks:
        seeds = pair_seeds(np.uint64(run.options.seed), terms.hashes, firsts[rows], seconds[rows])
        return draw_distinct(firsts[rows], seeds, terms.components, n_wanted)

    return HardNegatives(complete=complete, of=draw, skipped=skipped)


def _complete(
    terms: SplitTerms, candidates: Ids, firsts: Ids, n_wanted: int
) -> tuple[Flags, tuple[Skipped, ...]]:
    """Return which anchors are candidates with enough others unlinked to them, and what is not."""
    of_candidates = terms.components[candidates]
    n_linked = np.bincount(of_candidates, minlength=int(terms.components.max(initial=0)) + 1)
    known = np.isin(firsts, candidates)
    enough = len(candidates) - n_linked[terms.components[firsts]] >= n_wanted
    reasons = {
        "anchor has no vector": ~known,
        f"anchor has fewer than {n_wanted} terms that nothing links to it": known & ~enough,
    }
    skipped = tuple(
        Skipped(reason=reason, n_rows=int(np.count_nonzero(lacking)))
        for reason, lacking in reasons.items()
        if lacking.any()
    )
    return known & enough, skipped


def _cosine_search(run: Export, build: Build, terms: SplitTerms) -> tuple[CosineSearch, Ids]:
    """Return the search by the embedding of a build, and the terms that it has: int32[n]."""
    from medsim.embeddings.lookup import CosineSearch  # noqa: PLC0415 — FAISS, which others spare

    named = embedding_of(build, run.options.embedding, run.progress)
    if named is None:
        raise OptionError(
            f"`negatives` embedding needs an embedding, and {build.folder} has none; build with "
            "embedding negatives, or choose levenshtein or random"
        )
    texts = terms.texts.to_list()
    if not named.fingerprint:
        named = settled(named, texts, run.progress, threads=run.threads)
        check_same(build, named)
    cache = cache_folder(run.options.cache)
    has = embed_terms(named, texts, run.progress, threads=run.threads, cache=cache)
    covered = np.flatnonzero(has.covered).astype(np.int32)
    search = CosineSearch(
        points_of(has.embedded, covered, Workers(threads=run.threads)),
        terms.components[covered],
        terms.hashes[covered],
        seed=run.options.seed,
        threads=run.threads,
    )
    return search, covered


def _nearest(
    run: Export, search: NearestSearch | CosineSearch, anchors: Rows, n_wanted: int
) -> Ranks:
    """Return the nearest candidates of anchors, all of which have so many.

    Args:
        run: whose progress is told.
        search: of the candidates.
        anchors: int[n_anchors], rows of candidates.
        n_wanted: how many each wants.

    Returns:
        int32[n_anchors, n_wanted], rows of candidates, nearest first.
    """
    queries = anchors.astype(np.int32)
    nearest = np.empty((len(queries), n_wanted), np.int32)
    n_queries = max(1, _SLOTS_AT_ONCE // n_wanted)
    with run.progress.stage(f"search {len(queries):,} anchors for {n_wanted} terms each") as stage:
        stage.total(len(queries))
        for begin in range(0, len(queries), n_queries):
            own = queries[begin : begin + n_queries]
            wanted = np.full(len(own), n_wanted, np.int32)
            found = search.nearest(own, wanted, stage.advance)
            nearest[begin : begin + len(own)] = found.ids.reshape(-1, n_wanted)
    return nearest
