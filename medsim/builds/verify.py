"""Verifies all guarantees of a finished build by deriving everything again."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import polars as pl
import polars.selectors as cs
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.builds.datasets import (
    TERM_IDS,
    CheckedPairs,
    SetKey,
    SetMaker,
    by_languages,
    keys_of,
    pair_id,
    pair_keys,
    positive_rows,
    with_numbers,
    with_term_ids,
)
from medsim.builds.embedded import embed_pair_terms, embedding_of, with_checked_fingerprint
from medsim.builds.output import BUILD, CARD, LANGUAGES, PAIR, STATS, TERM, Build
from medsim.builds.positives import Derived, pair_distances, reload
from medsim.builds.stats import stats_row
from medsim.core.checks import Finding, Verification, findings_table
from medsim.core.config import MINIMAL, checked_threads
from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.manifest import content_of
from medsim.core.opened import read_damaged_rows, reading_output
from medsim.core.options import folder_of
from medsim.core.progress import Progress, Stage, progress_of
from medsim.core.store import Store
from medsim.embeddings.encoders import cache_folder
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Flags, FloatTable, Hashes, Ids, Ranks, Vectors

if TYPE_CHECKING:
    from medsim.builds.negatives import IndexedVectors
    from medsim.builds.options import VerifyOptions
    from medsim.embeddings.embedded_terms import NamedEmbedding

_NEW_SEEDS = 1_000_000  # short enough to type
_ROUNDING = 1e-5  # relative, for means summed in another order
_NEAR_ZERO = 1e-8  # absolute, for means near zero
_COSINE_TOLERANCE = 1e-6  # absolute; single precision, and vectors encoded again
_FIRSTS_AT_ONCE = 16  # so that comparisons with all terms fit in memory
_TERMS_AT_ONCE = 1 << 15


def verify_build(options: VerifyOptions) -> Verification:
    """Verify that a build on disk keeps medsim's guarantees.

    Raises:
        InputError: the folder is not a finished build, or its embedding is missing or differs.
        OptionError: ``embedding`` does not fit the build.
    """
    build, progress = Build(folder_of(options.folder)), progress_of(options.progress)
    options = with_seed(options)
    with reading_output(build):
        embedding = embedding_of(build, options.embedding, progress)
        with progress.stage("compare files with the manifest"):
            findings = list(_check_files(build))
            damaged = any(finding.violations for finding in findings[:2])
        if not damaged:
            findings += _check_content(build, embedding, options, progress)
    return Verification(
        findings=findings_table(findings),
        n_compared=sum(finding.n_compared for finding in findings),
        n_first_terms=sum(finding.n_first_terms for finding in findings),
        seed=options.seed or 0,
    )


def with_seed(options: VerifyOptions) -> VerifyOptions:
    """Return options with a new seed if they have none."""
    return replace(options, seed=secrets.randbelow(_NEW_SEEDS)) if options.seed is None else options


def _check_files(build: Build) -> Iterator[Finding]:
    """Check that files exist, with the declared columns and the rows of the manifest."""
    promised, card = build.manifest.tables, build.manifest.outputs.get(CARD)
    paths = {path.relative_to(build.folder).as_posix() for path in build.folder.rglob("*.parquet")}
    keys = keys_of(build.options, *build.strategies)
    schemas = {key.path: key.schema() for key in keys}
    absent = {
        "preferred": build.options.dialect is None,
        "effective_time": build.manifest.source.get("source") != "rf2",
    }
    for table in BUILD.views.values():
        if table.files and table != PAIR:
            columns = table.all_columns().items()
            schemas[table.files] = pl.Schema(
                {name: dtype for name, dtype in columns if not absent.get(name, False)}
            )
    expected = set(schemas)
    wrong = sorted((expected ^ paths) | (expected ^ set(promised)))
    yield Finding("files", "The folder holds exactly the Parquet files of the build.", wrong)
    unreadable, changed = [], []
    for name in sorted(expected & paths & set(promised)):
        try:
            frame = read_damaged_rows(build.folder / name)
        except InputError:
            unreadable.append(name)
            continue
        if frame.schema != schemas[name]:
            unreadable.append(name)
        elif content_of(frame) != promised[name]:
            changed.append(name)
    yield Finding("columns", "Every file has the columns of its table.", unreadable)
    yield Finding("fingerprint", "Every file matches its fingerprint in the manifest.", changed)
    path = build.folder / CARD
    is_same = card is not None and path.is_file() and digest_of(path) == card.fingerprint
    yield Finding("card", "The card matches the manifest.", [] if is_same else [CARD])


def _check_content(
    build: Build, embedding: NamedEmbedding | None, options: VerifyOptions, progress: Progress
) -> list[Finding]:
    threads = checked_threads(options.threads)
    with Store(threads=threads) as store:
        with progress.stage("derive positives again"):
            recomputed = recompute(build, store, threads)
            derived = recomputed.derived
            same_terms = build.read(TERM.files).equals(derived.terms())
            promise = "The components and difficulties of terms are correct."
            of_terms = Finding("terms", promise, [] if same_terms else [TERM.files])
            findings = [_check_positives(recomputed), of_terms]
        with TemporaryDirectory() as folder, progress.stage("check the guarantees"):
            checked = CheckedPairs(store, derived.positives, build.options, Path(folder))
            for key, pairs in recomputed.pairs.items():
                checked.add(key, with_numbers(pairs, derived.positives), build.folder / key.path)
            findings += checked.findings()
        with progress.stage("compute ids, distances, order and statistics again"):
            findings += [_check_rows(recomputed), _check_stats(recomputed)]
        for strategy in ("random", MINIMAL):
            if strategy in build.strategies:
                with progress.stage(f"draw {strategy} negatives again") as stage:
                    findings.append(_check_drawn(strategy, recomputed, stage))
        if "levenshtein" in build.strategies:
            with progress.stage("search first terms by brute force") as stage:
                findings.append(_check_nearest(recomputed, options, stage))
        if embedding is not None:
            embedding = with_checked_fingerprint(build, embedding, derived, progress, threads)
            cache = cache_folder(options.cache)
            vectors = embed_pair_terms(embedding, derived, progress, threads=threads, cache=cache)
            index = replace(derived.index, embedding=vectors)
            recomputed = replace(recomputed, derived=replace(derived, index=index))
            with progress.stage("compute similarities again"):
                findings.append(_check_similarities(recomputed, vectors))
            with progress.stage("compare vectors of first terms by brute force") as stage:
                findings.append(_check_most_similar(recomputed, vectors, options, stage))
    return findings


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSet:
    """The rows of a set with known terms, and the pool of its negatives.

    Attributes:
        key: key of the set.
        positives: int32[2, n_positives], the first and the second terms.
        negatives: int32[2, n_negatives], the first and the second terms.
        used: negatives of other sets that it must not repeat.
        pool: int32[n_pool], the terms that its negatives are drawn from, in order of text.
    """

    key: SetKey
    positives: Ranks
    negatives: Ranks
    used: Ranks
    pool: Ids

    def n_wanted(self, first: int) -> int:
        """Return the number of positives of a first term."""
        return int(np.count_nonzero(self.positives[0] == first))

    def negatives_of(self, first: int) -> Ids:
        """Return the second terms of the negatives of a first term."""
        firsts, seconds = self.negatives
        return np.asarray(seconds[firsts == first], np.int32)

    def sample_firsts(self, firsts: Ids, hashes: Hashes, options: VerifyOptions) -> Ids:
        """Return a sample of first terms, with all that have fewer negatives than positives.

        Args:
            firsts: int32[n_firsts], first terms to draw from, in order of text.
            hashes: uint64[n_terms], hashes of all terms; with the seed and the set, they decide
                the sample.
            options: options with the sample size and the seed.
        """
        if options.sample == "all":
            return firsts
        of_set = np.uint64(crc32(self.key.path.encode()))
        order = np.argsort(tie_hashes(np.uint64(options.seed or 0), of_set, hashes[firsts]))
        n_positives, n_negatives = (
            np.bincount(ends[0], minlength=len(hashes))[firsts]
            for ends in (self.positives, self.negatives)
        )
        is_sampled = n_positives != n_negatives
        is_sampled[order[: options.sample]] = True
        sample: Ids = firsts[is_sampled]
        return sample

    def forbidden(self, first: int, groups: Ids) -> Flags:
        """Return which terms of the pool are forbidden for a first term: bool[n_pool].

        They are the terms of its group, the terms of its pairs in earlier sets, and first terms
        that were served earlier in this set and have it as a negative.
        """
        linked = groups[self.pool] == groups[first]
        (ids1, ids2), (firsts, seconds) = self.used, self.negatives
        takers = firsts[(firsts < first) & (seconds == first)]
        seconds_taken = [ids2[ids1 == first], ids1[ids2 == first], takers]
        return np.asarray(linked | np.isin(self.pool, np.concatenate(seconds_taken)), np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """A build, and its rows derived again from its canonical tables."""

    build: Build
    store: Store
    derived: Derived
    pairs: dict[SetKey, pl.DataFrame]
    threads: int

    def maker(self, strategy: str) -> SetMaker:
        """Return the maker of the sets of one strategy."""
        return SetMaker(
            strategy=strategy,
            derived=self.derived,
            store=self.store,
            options=self.build.options,
            threads=self.threads,
        )

    def sets(self, strategy: str, options: VerifyOptions, stage: Stage) -> Iterator[CheckedSet]:
        """Yield the sets of a strategy, or their parts of two languages, in the order made."""
        maker, index = self.maker(strategy), self.derived.index
        keys = keys_of(self.build.options, strategy)
        sizes = [self.pairs[key].filter(label=1)["term1_id"].n_unique() for key in keys]
        most = max(sizes) if options.sample == "all" else options.sample
        stage.total(sum(min(n, most) for n in sizes))
        for key in keys:
            numbers = with_numbers(self.pairs[key].drop_nulls(TERM_IDS), self.derived.positives)
            for languages, pairs in by_languages(numbers):
                positives, negatives = (
                    pairs.filter(label=label).select(TERM_IDS).to_numpy().T for label in (1, 0)
                )
                pool = index.translations.get(languages[1]) if languages else index.pool
                yield CheckedSet(
                    key=key,
                    positives=positives,
                    negatives=negatives,
                    used=maker.used_before(key),
                    pool=np.unique(positives[bool(languages) :]) if pool is None else pool,
                )
                maker.record(key, pairs)


def recompute(build: Build, store: Store, threads: int) -> Recomputed:
    """Return a build with everything derived again from its canonical tables."""
    derived = reload(build, store, threads)
    terms = derived.positives.terms["term"]
    keys = keys_of(build.options, *build.strategies)
    pairs = {key: with_term_ids(build.read(key.path), terms) for key in keys}
    return Recomputed(build=build, store=store, derived=derived, pairs=pairs, threads=threads)


def _check_positives(recomputed: Recomputed) -> Finding:
    """Check that every set has exactly the positives that the rules produce."""
    columns = ["term1_id", "term2_id", "concept1", "concept2", "distance", *LANGUAGES]
    positives, wrong = recomputed.derived.positives, []
    for key, pairs in recomputed.pairs.items():
        expected = positive_rows(positives, key).select(columns)
        actual = with_numbers(pairs.filter(label=1), positives).select(columns)
        n_missing = expected.join(actual, on=columns, how="anti", nulls_equal=True).height
        n_surplus = actual.join(expected, on=columns, how="anti", nulls_equal=True).height
        wrong += [str(key)] * (n_missing + n_surplus)
    return Finding("positives", "The positives follow from the terminology and the rules.", wrong)


def _check_rows(recomputed: Recomputed) -> Finding:
    """Check that ids, distances and the order of rows follow from the texts and the seed."""
    terms, wrong = recomputed.derived.positives.terms, []
    for key, pairs in recomputed.pairs.items():
        known_pairs = pairs.drop_nulls(TERM_IDS)
        first, second = (known_pairs[side] for side in TERM_IDS)
        ends = first.to_numpy(), second.to_numpy()
        ids, order = pair_keys(
            *ends, terms["term"], recomputed.store, recomputed.build.options.seed
        )
        distance = pair_distances(terms["lower_term"], first, second, recomputed.threads)
        is_wrong = (
            (known_pairs["pair_id"] != pair_id(ids))
            | (known_pairs["distance"] != distance)
            | pl.Series(order != np.arange(len(order)))
        )
        n_unknown = pairs.height - known_pairs.height
        wrong += [str(key)] * (n_unknown + int(is_wrong.fill_null(value=True).sum()))
    return Finding("rows", "Ids, distances and row order match the texts and the seed.", wrong)


def _check_stats(recomputed: Recomputed) -> Finding:
    """Check the statistics and the shortfall against the rows."""
    rows = [stats_row(asdict(key), pairs) for key, pairs in recomputed.pairs.items()]
    expected = pl.concat(rows).sort(STATS.key)
    wrong = [] if statistics_agree(recomputed.build.stats(), expected) else [STATS.files]
    if recomputed.build.manifest.shortfall != expected["shortfall"].sum():
        wrong.append("shortfall in manifest.json")
    return Finding("stats", "The statistics match the rows.", wrong)


def statistics_agree(actual: pl.DataFrame, expected: pl.DataFrame) -> bool:
    """Return whether two tables have the same schema and rows, with means up to rounding.

    A missing value equals only a missing value, so that a lost mean is detected.
    """
    exact, means = ~cs.float(), cs.float()
    if actual.schema != expected.schema or not actual.select(exact).equals(expected.select(exact)):
        return False
    known = [frame.select(means).fill_null(np.inf) for frame in (actual, expected)]
    return all(
        theirs.is_close(ours, rel_tol=_ROUNDING, abs_tol=_NEAR_ZERO).all()
        for theirs, ours in zip(*known, strict=True)
    )


_DRAWN: dict[str, str] = {
    "random": "The random negatives follow from the seed.",
    MINIMAL: "The minimal negatives are all names that differ by one word.",
}


def _check_drawn(strategy: str, recomputed: Recomputed, stage: Stage) -> Finding:
    """Check that making the negatives of a strategy again gives the same negatives."""
    maker, wrong = recomputed.maker(strategy), []
    for key in keys_of(recomputed.build.options, strategy):
        expected = maker.draw(key, stage)
        actual = with_numbers(recomputed.pairs[key], recomputed.derived.positives)
        if not expected.sort(pl.all()).equals(actual.select(expected.columns).sort(pl.all())):
            wrong.append(str(key))
    return Finding(strategy, _DRAWN[strategy], wrong)


def _check_nearest(recomputed: Recomputed, options: VerifyOptions, stage: Stage) -> Finding:
    """Check by brute force that sampled first terms have their nearest allowed terms."""
    index, lower = recomputed.derived.index, recomputed.derived.positives.terms["lower_term"]
    seed = np.uint64(recomputed.build.options.seed)
    wrong, sizes = list[str](), list[tuple[int, int]]()
    for checked in recomputed.sets("levenshtein", options, stage):
        every = np.unique(checked.positives[0])
        firsts = checked.sample_firsts(every, index.hashes, options)
        sizes.append((len(firsts), len(every)))
        texts = lower[checked.pool].to_list()
        for begin in range(0, len(firsts), _FIRSTS_AT_ONCE):
            batch = firsts[begin : begin + _FIRSTS_AT_ONCE]
            distances = cdist(
                lower[batch].to_list(),
                texts,
                scorer=Levenshtein.distance,
                dtype=np.int32,
                workers=recomputed.threads,
            )
            for first, distance in zip(batch.tolist(), distances, strict=True):
                stage.advance()
                near = np.flatnonzero(~checked.forbidden(first, index.groups))
                n_wanted = checked.n_wanted(first)
                if n_wanted < len(near):  # the greedy rule, applied to all terms
                    farthest = np.partition(distance[near], n_wanted - 1)[n_wanted - 1]
                    near = near[distance[near] <= farthest]
                ties = tie_hashes(seed, index.hashes[first], index.hashes[checked.pool[near]])
                order = np.lexsort((near, ties, distance[near]))
                if set(checked.negatives_of(first)) != set(checked.pool[near[order]][:n_wanted]):
                    wrong.append(str(checked.key))
    return _compared("nearest", options, stage, wrong, sizes)


def _compared(
    which: str, options: VerifyOptions, stage: Stage, wrong: list[str], sizes: list[tuple[int, int]]
) -> Finding:
    """Return the finding on first terms compared with all terms.

    ``sizes`` has the numbers of compared and of all first terms of each set.
    """
    n_compared, n_first_terms = (sum(of_sets) for of_sets in zip(*sizes, strict=True))
    text = f"the {n_first_terms:,} first terms of all sets"
    if n_compared != n_first_terms:
        text = f"a sample of {n_compared:,} of {text} (seed {options.seed})"
    stage.note(text)
    promise = f"A brute-force search finds the same {which} terms for {text}."
    check = which.replace(" ", "_")
    return Finding(check, promise, wrong, n_compared=n_compared, n_first_terms=n_first_terms)


def _check_similarities(recomputed: Recomputed, embedding: IndexedVectors) -> Finding:
    """Check that stored similarities are the cosines of the terms' vectors."""
    wrong = []
    for key in keys_of(recomputed.build.options, "embedding"):
        pairs = recomputed.pairs[key].drop_nulls(TERM_IDS)
        left, right = (embedding.rows[pairs[side].to_numpy()] for side in TERM_IDS)
        have_vectors = np.flatnonzero((left >= 0) & (right >= 0))
        expected = np.full(len(left), np.nan)
        for begin in range(0, len(have_vectors), _TERMS_AT_ONCE):
            part = have_vectors[begin : begin + _TERMS_AT_ONCE]
            first, second = (_units(embedding.vectors[rows[part]]) for rows in (left, right))
            expected[part] = (first * second).sum(axis=1)
        actual = pairs["similarity"].fill_null(np.nan).to_numpy()
        agree = np.isclose(actual, expected, rtol=0, atol=_COSINE_TOLERANCE, equal_nan=True)
        wrong += [str(key)] * int(np.count_nonzero(~agree))
    return Finding("similarities", "Similarities are the cosines of the vectors.", wrong)


def _check_most_similar(
    recomputed: Recomputed, embedding: IndexedVectors, options: VerifyOptions, stage: Stage
) -> Finding:
    """Check that sampled first terms have their most similar allowed terms.

    Each is compared with every term that has a vector, in double precision. Candidates whose
    cosines are equal up to rounding are interchangeable.
    """
    index = recomputed.derived.index
    wrong, sizes = list[str](), list[tuple[int, int]]()
    for stored in recomputed.sets("embedding", options, stage):
        missing = (embedding.rows[stored.negatives] < 0).any(axis=0)
        wrong += [str(stored.key)] * int(np.count_nonzero(missing))
        checked = replace(stored, pool=stored.pool[embedding.rows[stored.pool] >= 0])
        embedded = np.unique(checked.positives[0])
        embedded = embedded[embedding.rows[embedded] >= 0]
        firsts = checked.sample_firsts(embedded, index.hashes, options)
        sizes.append((len(firsts), len(embedded)))
        rows = embedding.rows[checked.pool]
        for begin in range(0, len(firsts), _FIRSTS_AT_ONCE):
            batch = firsts[begin : begin + _FIRSTS_AT_ONCE]
            queries = _units(embedding.vectors[embedding.rows[batch]])
            cosines = np.zeros((len(batch), len(rows)))
            for at in range(0, len(rows), _TERMS_AT_ONCE):
                block = slice(at, at + _TERMS_AT_ONCE)
                cosines[:, block] = queries @ _units(embedding.vectors[rows[block]]).T
            for first, cosine in zip(batch.tolist(), cosines, strict=True):
                stage.advance()
                chosen = np.isin(checked.pool, checked.negatives_of(first))
                allowed = ~checked.forbidden(first, index.components)
                n_wanted = min(checked.n_wanted(first), int(np.count_nonzero(allowed)))
                best_left_out = cosine[allowed & ~chosen].max(initial=-np.inf)
                worst_chosen = cosine[chosen].min(initial=np.inf)
                fits = np.count_nonzero(chosen) == n_wanted and not (chosen & ~allowed).any()
                if not fits or best_left_out > worst_chosen + _COSINE_TOLERANCE:
                    wrong.append(str(checked.key))
    return _compared("most similar", options, stage, wrong, sizes)


def _units(vectors: Vectors) -> FloatTable:
    wide = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: FloatTable = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0)
    return scaled
