"""The pairs that are exported: each once, with hard negatives, or as questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.cards import licence_of
from medsim.builds.datasets import TERM_IDS, with_term_ids
from medsim.builds.embedded import check_same, embedding_of
from medsim.builds.output import PAIR, Build
from medsim.core import queries
from medsim.core.config import DIFFICULTIES, MINIMAL, PARENT_CHILD, Strategy
from medsim.core.errors import OptionError, counted
from medsim.core.manifest import Skipped
from medsim.core.store import Store
from medsim.core.terms import content_hashes, lowered_column
from medsim.embeddings.embedded_terms import embed_terms, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.exports.options import BALANCED
from medsim.kernels.drawing import draw_distinct
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Flags, Ids, Ranks, Rows
from medsim.neighbours.search import NearestSearch, Terms
from medsim.questions.making import choose_balanced, make_questions, with_relations

if TYPE_CHECKING:
    from medsim.embeddings.lookup import CosineSearch
    from medsim.exports.formats import Export
    from medsim.questions.rules import NameScores

_SLOTS_AT_ONCE = 1 << 26  # slots of 16 bytes in memory during a search

OPTIONS_OF_TUPLES = frozenset(
    ("negatives", "n_negatives", "datasets", "difficulty", "seed", "embedding", "cache")
)
"""The options of tuples that formats accept."""

OPTIONS_OF_QUESTIONS = OPTIONS_OF_TUPLES - {"n_negatives"} | {"choices", "private"}
"""The options of questions that formats accept."""

_WRONG_NAMES = 3  # per question, by default

_N_LEARNED = 1 << 15  # pairs from which the spelling of questions is learned

_TEXTS_AT_ONCE = 1 << 19


def exported_pairs(
    run: Export,
    build: Build,
    terms: pl.DataFrame,
    negatives: Strategy | None = None,
    *,
    n_languages: int = 2,
) -> pl.DataFrame:
    """Return the pairs of the chosen datasets and difficulty, each once regardless of direction.

    By default they are of all datasets but parent_child, whose positives do not mean the same.

    Args:
        run: the export; its options give the sets and the seed of the order.
        build: build of one split.
        terms: terms of that build, ``medsim.builds.output.TERM``; row ``i`` has the id ``i``.
        negatives: strategy of the negatives; None for positives alone.
        n_languages: 1 to leave out cross_language, unless it is chosen.

    Returns:
        pair_id, term1_id, term2_id, label, distance, concept1, concept2; in an order drawn from
        the seed that depends only on the content of pairs.
    """
    usual = [dataset.name for dataset in queries.datasets(n_languages, hierarchy=False)]
    names: Sequence[str] = run.options.datasets or usual
    difficulties = [run.options.difficulty] if run.options.difficulty else DIFFICULTIES
    chosen = [(name, difficulty) for name in names for difficulty in difficulties]
    strategy = negatives or build.strategies[0]  # positives are the same for all
    build.pairs(negatives=strategy, lazy=True)  # raises an error if one of its files is missing
    with (
        run.progress.stage("choose pairs") as stage,
        Store(threads=run.threads, spill=run.output.spill) as store,
    ):
        store.view_files(build.folder, {"pair": PAIR.files})
        sets = pl.DataFrame(chosen, {"dataset": pl.String, "difficulty": pl.String}, orient="row")
        store.put("chosen_set", sets)
        store.put("term", terms.select("term").with_row_index("term_id"))
        pairs = store.frame(
            "exports/distinct_pair",
            negatives=strategy,
            min_label=0 if negatives else 1,
            seed=str(run.options.seed),
        )
        stage.note(f"{pairs.height:,}")
    return pairs.with_columns(pl.col("term1_id", "term2_id").cast(pl.Int32))


def exported_terms(run: Export, build: Build) -> pl.DataFrame:
    """Return the terms of a build of one split.

    These include all minimal negatives and the terms of parent_child, if these are chosen.
    """
    terms, pairs = build.terms(), []
    if run.options.negatives == MINIMAL:
        pairs.append(_changed(build))
    if PARENT_CHILD in run.options.datasets:
        pairs.append(build.pairs(PARENT_CHILD, lazy=True).select("term1", "term2").collect())
    ends = [frame.select(term=side) for frame in pairs for side in ("term1", "term2")]
    others = pl.concat([*ends, terms.select("term").clear()]).unique().sort("term")
    others = others.join(terms, on="term", how="anti", maintain_order="left")
    n_components = terms.select(pl.col("component").max().fill_null(-1) + 1).item()
    others = others.with_columns(
        lower_term=lowered_column(others["term"]),
        component=n_components + pl.int_range(pl.len(), dtype=pl.Int32),  # each its own
    )
    return pl.concat([terms, others], how="diagonal")


def _changed(build: Build) -> pl.DataFrame:
    """Return the minimal negatives of all sets, each once: term1 and term2."""
    pairs = build.pairs(negatives=MINIMAL, lazy=True).filter(label=0).select("term1", "term2")
    return pairs.unique().sort("term1", "term2").collect()


def check_some(run: Export, n_positives: int) -> None:
    """Raise OptionError if there is nothing to export."""
    if not n_positives:
        fault = "has no positives for these `datasets` and `difficulty`; choose others"
        raise OptionError(f"{run.exported.folder} {fault}")


def check_passed_on(source: Mapping[str, object], *, private: bool) -> None:
    """Raise OptionError if content may not be passed on, unless the export is private."""
    licence = licence_of(source)
    if licence.allows_passing_on or private:
        return
    is_known = licence.allows_passing_on is False
    fault = "may not be passed on" if is_known else "is not known to be free to pass on"
    raise OptionError(
        f"{source.get('name')} {fault} ({licence.terms}); add `private` to keep it to yourself"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuples:
    """The positives of a split in the order of writing, with their hard negatives.

    Attributes:
        texts: texts of the terms of the split, by id.
        pairs: the positives; see ``exported_pairs``.
        names: names of the columns of negatives, negative_1 … negative_n.
        rows: int64[n_tuples], rows of the positives that have all their negatives.
        negatives: function that returns the negatives of some tuples: int32[n_tuples, n_negatives].
    """

    texts: pl.Series
    pairs: pl.DataFrame
    names: list[str]
    rows: Rows
    negatives: Callable[[slice], Ranks]

    def batches(self, begin: int = 0, end: int | None = None) -> Iterator[pl.DataFrame]:
        """Yield tuples in batches, so that any number of them fits in memory.

        Args:
            begin: the first tuple.
            end: the tuple after the last.

        Yields:
            The columns of ``pairs``, then anchor, positive, and the negatives.
        """
        end = len(self.rows) if end is None else end
        n_tuples = max(1, _TEXTS_AT_ONCE // (len(self.names) + 2))
        for first in range(begin, max(begin + 1, end), n_tuples):
            batch = slice(first, min(first + n_tuples, end))
            pairs, ids = self.pairs[self.rows[batch]], self.negatives(batch)
            terms = zip(self.names, ids.T, strict=True)
            yield pairs.with_columns(
                self.texts.gather(pairs["term1_id"]).alias("anchor"),
                self.texts.gather(pairs["term2_id"]).alias("positive"),
                *(self.texts.gather(negatives).alias(name) for name, negatives in terms),
            )


def tuples_of(run: Export, build: Build, terms: pl.DataFrame) -> Tuples:
    """Return the tuples of one split, with a warning if positives are left out.

    Levenshtein and embedding negatives are the exact nearest terms of an anchor, in the order of
    ``medsim.neighbours.search`` and ``medsim.embeddings.lookup``; all positives of an anchor
    have the same ones. Minimal negatives are those of the build, by default one for each anchor, in
    an order drawn by a hash of the seed and both texts. Random negatives are drawn for each
    positive by a hash of the seed and its texts.

    Args:
        run: the export; its options give the strategy, the number of negatives and the seed.
        build: build of one split.
        terms: see ``exported_terms``; all are candidates.

    Raises:
        OptionError: the strategy is embedding, and the build has no embedding; or negatives are
            requested for parent_child.
    """
    chosen, pairs = run.options.n_negatives, exported_pairs(run, build, terms)
    if PARENT_CHILD in run.options.datasets:
        reason = f"{PARENT_CHILD} gets no hard negatives, since the nearest terms can be ancestors"
        if chosen:
            raise OptionError(f"`n_negatives` {chosen}: {reason}; leave it out")
        run.progress.say(reason)
        chosen = 0
    usual = 1 if run.options.negatives == MINIMAL else 5
    return with_negatives(run, build, terms, pairs, usual if chosen is None else chosen)


def with_negatives(
    run: Export, build: Build, terms: pl.DataFrame, pairs: pl.DataFrame, n_wanted: int
) -> Tuples:
    """Return pairs with negatives; see ``tuples_of``.

    Args:
        run: the export; its options give the strategy and the seed.
        build: build of one split.
        terms: the candidates, some or all terms of the build.
        pairs: see ``exported_pairs``; its ids are rows of ``terms``.
        n_wanted: number of negatives of each pair.
    """
    firsts, seconds = (pairs[side].to_numpy() for side in ("term1_id", "term2_id"))
    strategy = run.options.negatives or "levenshtein"
    if strategy == MINIMAL and n_wanted:
        return _with_changed(run, build, terms, pairs, n_wanted)
    pool = Terms(
        terms=terms["lower_term"],
        components=terms["component"].to_numpy(),
        hashes=content_hashes(terms["term"]),
    )
    candidates: Ids = np.arange(terms.height, dtype=np.int32)
    search: NearestSearch | CosineSearch | None = None
    if strategy == "embedding" and n_wanted:
        search, candidates = _cosine_search(run, build, terms["term"].to_list(), pool)
    elif strategy == "levenshtein" and n_wanted:
        with run.progress.stage(f"lay out {len(candidates):,} terms"):
            search = NearestSearch(pool, seed=run.options.seed, threads=run.threads)
    complete = _complete(run, build, pool.components, candidates, firsts, n_wanted)
    firsts, seconds = firsts[complete], seconds[complete]
    if search is None:

        def negatives(batch: slice) -> Ranks:
            seed = np.uint64(run.options.seed)
            seeds = tie_hashes(seed, pool.hashes[firsts[batch]], pool.hashes[seconds[batch]])
            return draw_distinct(firsts[batch], seeds, pool.components, n_wanted)
    else:
        anchors, numbers = np.unique(firsts, return_inverse=True)
        queries = np.searchsorted(candidates, anchors).astype(np.int32)
        nearest = _nearest(run, search, queries, n_wanted)

        def negatives(batch: slice) -> Ranks:
            return candidates[nearest[numbers[batch]]]

    return Tuples(
        texts=terms["term"],
        pairs=pairs,
        names=[f"negative_{number + 1}" for number in range(n_wanted)],
        rows=np.flatnonzero(complete),
        negatives=negatives,
    )


def _with_changed(
    run: Export, build: Build, terms: pl.DataFrame, pairs: pl.DataFrame, n_wanted: int
) -> Tuples:
    """Return pairs with minimal negatives, which either term of a negative has."""
    hashes, changed = content_hashes(terms["term"]), with_term_ids(_changed(build), terms["term"])
    ends = changed.select(TERM_IDS).drop_nulls().to_numpy().T
    anchors, ids = np.concatenate([ends, ends[::-1]], axis=1)
    drawn = tie_hashes(np.uint64(run.options.seed), hashes[anchors], hashes[ids])
    anchors, ids = np.stack([anchors, ids])[:, np.lexsort((ids, drawn, anchors))]
    firsts = pairs["term1_id"].to_numpy()
    begins, ends = (np.searchsorted(anchors, firsts, side) for side in ("left", "right"))
    enough = ends - begins >= n_wanted
    reason = f"anchor has fewer than {n_wanted} minimal negatives"
    _leave_out(run, build, reason, int(np.count_nonzero(~enough)), len(enough))
    begins = begins[enough]
    return Tuples(
        texts=terms["term"],
        pairs=pairs,
        names=[f"negative_{number + 1}" for number in range(n_wanted)],
        rows=np.flatnonzero(enough),
        negatives=lambda batch: ids[begins[batch, np.newaxis] + np.arange(n_wanted)],
    )


def _complete(
    run: Export, build: Build, components: Ids, candidates: Ids, firsts: Ids, n_wanted: int
) -> Flags:
    """Return which anchors have enough unlinked candidates, and warn about the others."""
    n_linked = np.bincount(components[candidates], minlength=int(components.max(initial=0)) + 1)
    are_candidates = np.isin(firsts, candidates)
    enough = len(candidates) - n_linked[components[firsts]] >= n_wanted
    reasons = {
        "anchor has no vector": ~are_candidates,
        f"anchor has fewer than {n_wanted} unlinked terms": are_candidates & ~enough,
    }
    for reason, lacking in reasons.items():
        _leave_out(run, build, reason, int(np.count_nonzero(lacking)), len(firsts))
    return are_candidates & enough


def _leave_out(run: Export, build: Build, reason: str, n_rows: int, n_all: int) -> None:
    """Record and warn that positives are left out, if any are."""
    if n_rows:
        run.skipped.append(Skipped(reason=reason, n_rows=n_rows))
        left_out = f"{counted(n_rows, 'positive')} of {n_all:,}"
        run.progress.warn(f"{build.folder}: {left_out} left out: {reason}")


def _cosine_search(
    run: Export, build: Build, texts: list[str], pool: Terms
) -> tuple[CosineSearch, Ids]:
    """Return the search with the embedding of a build, and the ids of its terms: int32[n]."""
    from medsim.embeddings.lookup import CosineSearch  # noqa: PLC0415 — FAISS, which others spare

    embedding = embedding_of(build, run.options.embedding, run.progress)
    if embedding is None:
        raise OptionError(
            f"{build.folder} has no embedding for `negatives` embedding; build it with embedding "
            "negatives, or choose levenshtein or random"
        )
    if not embedding.fingerprint:
        every = build.terms()["term"].to_list()
        embedding = with_fingerprint(embedding, every, run.progress, threads=run.threads)
        check_same(build, embedding)
    cache = cache_folder(run.options.cache)
    embedded_terms = embed_terms(embedding, texts, run.progress, threads=run.threads, cache=cache)
    covered = np.flatnonzero(embedded_terms.covered).astype(np.int32)
    search = CosineSearch(
        points_of(embedded_terms.embedded, covered, Workers(threads=run.threads)),
        pool.components[covered],
        pool.hashes[covered],
        seed=run.options.seed,
        threads=run.threads,
    )
    return search, covered


def _nearest(
    run: Export, search: NearestSearch | CosineSearch, queries: Ids, n_wanted: int
) -> Ranks:
    """Return the nearest candidates of queries, as rows; every query has at least ``n_wanted``."""
    nearest = np.empty((len(queries), n_wanted), np.int32)
    n_queries = max(1, _SLOTS_AT_ONCE // n_wanted)
    with run.progress.stage(
        f"find {n_wanted} negatives for each of {len(queries):,} anchors"
    ) as stage:
        stage.total(len(queries))
        for begin in range(0, len(queries), n_queries):
            batch = queries[begin : begin + n_queries]
            result = search.nearest(batch, np.full(len(batch), n_wanted, np.int32), stage.advance)
            nearest[begin : begin + len(batch)] = result.ids.reshape(-1, n_wanted)
    return nearest


def questions_by_split(run: Export) -> dict[str, pl.DataFrame]:
    """Return the questions of each split, ``medsim.questions.output.QUESTION``.

    Raises:
        OptionError: there are no questions, or the licence forbids sharing; see
            ``check_passed_on``.
    """
    check_passed_on(run.exported.manifest.source, private=run.options.private)
    if PARENT_CHILD in run.options.datasets:
        fault = "a parent does not mean the same, so it is not a right name"
        raise OptionError(f"`datasets` {PARENT_CHILD} is not for questions: {fault}")
    questions = {name: _questions(run, build) for name, build in run.splits.items()}
    if not any(map(len, questions.values())):
        fault = "has no questions for these `datasets`, `difficulty` and `choices`; choose others"
        raise OptionError(f"{run.exported.folder} {fault}")
    return questions


def _questions(run: Export, build: Build) -> pl.DataFrame:
    """Return the questions of a split, in an order drawn from the seed."""
    strategy, n_wrong = run.options.negatives or BALANCED, run.options.choices or _WRONG_NAMES

    def choose_wrong(
        names: pl.DataFrame, pairs: pl.DataFrame, scores: NameScores
    ) -> tuple[Rows, Ranks]:
        if strategy != BALANCED:
            tuples = with_negatives(run, build, names, pairs, n_wrong)
            return tuples.rows, tuples.negatives(slice(len(tuples.rows)))
        wrong = choose_balanced(
            names, pairs, n_wrong, scores, run.options.seed, run.threads, run.progress
        )
        rows = np.flatnonzero(wrong[:, 0] >= 0)
        reason = "spelling would tell the right name, or names are too few"
        _leave_out(run, build, reason, len(wrong) - len(rows), len(wrong))
        return rows, wrong[rows]

    terms = exported_terms(run, build)  # minimal negatives can have others
    are_known = pl.all_horizontal(pl.col("term1", "term2").is_in(terms["term"].implode()))
    labelled = build.pairs(lazy=True).filter(pl.col("dataset") != PARENT_CHILD, are_known)
    labelled = labelled.select("pair_id", "term1", "term2", "label").unique()
    questions = make_questions(
        terms,
        exported_pairs(run, build, terms, n_languages=1).with_columns(negatives=pl.lit(strategy)),
        labelled.sort("pair_id", "term1").head(_N_LEARNED).collect(),
        choose_wrong,
        seed=run.options.seed,
        threads=run.threads,
        progress=run.progress,
    )
    return with_relations(questions, build)
