"""Negatives of invented sets by every strategy, compared with the greedy rule by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.hashing import mixed, term_hash, tie_hash
from oracles.pairs import (
    SET_ORDER,
    Pair,
    SetKey,
    components,
    farness,
    faults_of_random,
    greedy_nearest,
    lower_distance,
)

from medsim.builds.negatives import (
    SAMPLERS,
    IndexedVectors,
    NegativeSampler,
    PositiveSet,
    Sampling,
    SearchResult,
    TermIndex,
    candidates,
    levenshtein,
)
from medsim.builds.negatives.candidates import candidate_source, request_share, search_plan
from medsim.core import config
from medsim.core.progress import Stage
from medsim.neighbours.search import NearestSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Positives = dict[SetKey, list[Pair]]
Texts = dict[SetKey, list[tuple[str, str]]]
Vectors = dict[str, list[float] | None]

ONE_SET: SetKey = ("fsn_syn", "easy")
SEEDS = st.integers(0, (1 << 63) - 1)
BYSTANDERS = st.lists(st.text("ab", min_size=1, max_size=5), max_size=8)

searched = pytest.mark.parametrize("strategy", ["levenshtein", "embedding"])
for_each_positive = pytest.mark.parametrize("strategy", ["random", "levenshtein", "embedding"])
of_either_pool = pytest.mark.parametrize("shared", [False, True])
of_crowds = pytest.mark.parametrize(("n_concepts", "n_names"), [(2, 9), (5, 8), (26, 3), (12, 12)])


def vector_of(term: str, n_dimensions: int = 2) -> list[float] | None:
    """Return an invented vector of small numbers with many ties; some terms have none."""
    word = term_hash(term)
    if word % 7 == 0:
        return None
    return [float((word >> (8 * at + 3)) % 3) - 1 for at in range(n_dimensions)]


def terms_of(positives: Positives, bystanders: Iterable[str] = ()) -> set[str]:
    """Return all terms, including terms that are in no pair."""
    return {text for pairs in positives.values() for pair in pairs for text in pair[:2]}.union(
        bystanders
    )


def embedding_of(terms: Sequence[str], vectors: Vectors) -> IndexedVectors:
    """Return the vectors of terms as arrays."""
    with_vector = [row for row, term in enumerate(terms) if vectors[term] is not None]
    rows = np.full(len(terms), -1, np.int32)
    rows[with_vector] = np.arange(len(with_vector))
    n_dimensions = len(next((vector for vector in vectors.values() if vector is not None), ()))
    array = np.array([vectors[terms[row]] for row in with_vector], np.float32)
    return IndexedVectors(vectors=array.reshape(len(with_vector), n_dimensions), rows=rows)


class CountingStage(Stage):
    """A stage that records its totals, of which each search reports one."""

    def __init__(self) -> None:
        super().__init__("test")
        self.totals: list[int] = []

    def total(self, n_units: int) -> None:
        """Record a total."""
        self.totals.append(n_units)


def negatives_of(  # noqa: PLR0913  # what a build may be asked for
    strategy: str,
    positives: Positives,
    *,
    seed: int = 0,
    threads: int = 1,
    bystanders: Iterable[str] = (),
    shared: bool = False,
    search: Callable[[TermIndex, list[PositiveSet]], list[SearchResult]] | None = None,
    stage: Stage | None = None,
    vectors: Vectors | None = None,
) -> Texts:
    """Return the negatives of every set, made in the stated order as a build does.

    Args:
        strategy: name of the strategy.
        positives: positives of each set.
        seed: random seed of ties and draws.
        threads: number of threads.
        bystanders: terms that are in no pair.
        shared: whether all sets draw from all terms, including bystanders.
        search: function that searches lists before the first set is made.
        stage: receives progress.
        vectors: vectors for embedding negatives; by default ``vector_of`` each term.
    """
    terms = sorted(terms_of(positives, bystanders))
    ids = {term: row for row, term in enumerate(terms)}
    index = term_index(terms, positives)
    if strategy == "embedding":
        chosen = vectors or {term: vector_of(term) for term in terms}
        index = replace(index, embedding=embedding_of(terms, chosen))
    if shared:
        index = replace(index, pool=np.arange(len(terms), dtype=np.int32))
    sets = {
        key: positive_set(key, sorted(pair[:2] for pair in positives[key]), ids)
        for key in SET_ORDER
        if key in positives
    }
    results = search(index, list(sets.values())) if search else ()
    ahead = list(sets.values())
    sampling = Sampling(seed=seed, threads=threads, results=results, sets=ahead)
    make = SAMPLERS.get(strategy)(index, sampling)
    negatives: Texts = {}
    for key, positives_of_set in sets.items():
        negatives[key] = _negatives_of_set(make, positives_of_set, key, list(ids), negatives, stage)
    return negatives


def positive_set(
    key: SetKey, rows: Sequence[tuple[str, str]], ids: Mapping[str, int]
) -> PositiveSet:
    """Return pairs as arrays."""
    return PositiveSet(
        name="/".join(key),
        term1_ids=np.array([ids[first] for first, _ in rows], np.int32),
        term2_ids=np.array([ids[second] for _, second in rows], np.int32),
    )


def _negatives_of_set(
    make: NegativeSampler,
    positives: PositiveSet,
    key: SetKey,
    terms: list[str],
    negatives: Texts,
    stage: Stage | None,
) -> list[tuple[str, str]]:
    ids = {term: row for row, term in enumerate(terms)}
    used = [
        (ids[first], ids[second])
        for earlier, texts in negatives.items()
        if not (key[0] == "syn_syn" and earlier[0] == "fsn_syn")
        for first, second in texts
    ]
    pairs = np.array(used, np.int32).reshape(-1, 2).T.copy()
    against, seconds = (array.tolist() for array in make(positives, pairs, stage or Stage("test")))
    assert len(set(against)) == len(against)  # at most one for each positive
    return [
        (terms[positives.term1_ids[row]], terms[second])
        for row, second in zip(against, seconds, strict=True)
    ]


def term_index(terms: Sequence[str], positives: Positives) -> TermIndex:
    """Return terms as arrays, linked by the positives; terms in no pair are not linked."""
    joined = components({"/".join(key): pairs for key, pairs in positives.items()})
    group_of: dict[str, int] = defaultdict(lambda: len(joined) + len(group_of), joined)
    lower = [term.lower() for term in terms]
    first_row: dict[int, int] = {}
    rows = [
        first_row.setdefault(group_of[term], row)  # the numbers of components are rows
        for row, term in enumerate(lower)
    ]
    return TermIndex(
        lower=pl.Series(lower, dtype=pl.String),
        hashes=np.array([term_hash(term) for term in terms], np.uint64),
        components=np.array(rows, np.int32),
        groups=np.array(rows, np.int32),
    )


def greedy(
    strategy: str, positives: Positives, seed: int = 0, pool: set[str] | None = None
) -> Texts:
    """Return the negatives of a strategy that takes the nearest first, by brute force."""
    vectors = {term: vector_of(term) for term in pool or terms_of(positives)}
    distance = lower_distance if strategy == "levenshtein" else farness(vectors)
    return greedy_nearest(positives, lambda *pair: tie_hash(seed, *pair), pool, distance)


@st.composite
def positive_sets(draw: st.DrawFn) -> Positives:
    """Return sets of pairs of names of concepts, with few letters so that many distances tie."""
    keys = draw(st.lists(st.sampled_from(SET_ORDER), min_size=1, max_size=4, unique=True))
    text = st.text(draw(st.sampled_from(["ab", "abAB", "ab \u00e9\u0130", "abcdefgh"])), max_size=6)
    sets: dict[SetKey, set[Pair]] = {key: set() for key in keys}
    for concept in range(draw(st.integers(1, 9))):
        names = draw(st.lists(text.filter(bool), min_size=2, max_size=5, unique=True))
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                mirrored = any(
                    pair[:2] == (second, first) for pairs in sets.values() for pair in pairs
                )
                if first.lower() != second.lower() and not mirrored and draw(st.booleans()):
                    key = draw(st.sampled_from(keys))
                    sets[key].add(Pair(first, second, str(concept), str(concept)))
    if draw(st.booleans()):  # as syn_syn has all of fsn_syn
        sets[keys[-1]] |= sets[keys[0]]
    return {key: _one_concept(pairs) for key, pairs in sets.items()}


def _one_concept(pairs: set[Pair]) -> list[Pair]:
    """Return pairs in order, each pair of texts once."""
    smallest: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs):
        smallest.setdefault(pair[:2], pair)
    return list(smallest.values())


def crowd(n_concepts: int, n_names: int, letters: str = "ab") -> Positives:
    """Return one set where many first terms want the same few short names."""
    rng = np.random.default_rng(n_concepts * 100 + n_names)
    pairs = set()
    for concept in range(n_concepts):
        names = {
            f"{chr(0x41 + concept)}{''.join(letters[at] for at in rng.integers(0, 2, 3))}{n}"
            for n in range(n_names)
        }
        first, *others = sorted(names)
        pairs |= {Pair(first, other, str(concept), str(concept)) for other in others}
    return {ONE_SET: sorted(pairs)}


def three_sets() -> Positives:
    sizes = {"same_as": (9, 4), "fsn_syn": (26, 3), "syn_syn": (20, 4)}
    return {(name, "easy"): crowd(*size)[ONE_SET] for name, size in sizes.items()}


# The nearest first


@of_either_pool
@searched
@settings(max_examples=40)
@given(positives=positive_sets(), bystanders=BYSTANDERS, seed=SEEDS)
def test_the_nearest_are_taken_by_the_greedy_rule(
    strategy: str, positives: Positives, bystanders: list[str], seed: int, *, shared: bool
) -> None:
    actual = negatives_of(strategy, positives, seed=seed, bystanders=bystanders, shared=shared)

    pool = terms_of(positives, bystanders) if shared else None
    assert actual == greedy(strategy, positives, seed, pool)


@searched
@of_crowds
def test_many_first_terms_may_want_the_same_few_candidates(
    strategy: str, n_concepts: int, n_names: int
) -> None:
    positives = crowd(n_concepts, n_names)
    actual = [negatives_of(strategy, positives, seed=seed) for seed in range(3)]
    assert actual == [greedy(strategy, positives, seed) for seed in range(3)]
    assert n_names != 3 or actual[0] != actual[1]  # ties follow the seed


def test_a_list_that_is_too_short_is_searched_again() -> None:
    # Each of 14 spokes differs from the hub by one letter, and from the others by two, so each
    # takes the hub. The hub is served last and finds its nearest taken, 5 of 5, then 12 of 12.
    hub = "z" * 14
    spokes = [hub[:at] + "a" + hub[at + 1 :] for at in range(14)]
    pairs = [Pair(name, f"{name} by a much longer name", "", "") for name in [*spokes, hub]]
    positives = {ONE_SET: sorted(pairs)}
    stage = CountingStage()

    actual = negatives_of("levenshtein", positives, stage=stage)

    assert actual == greedy("levenshtein", positives)
    assert actual[ONE_SET][:14] == [(spoke, hub) for spoke in sorted(spokes)]
    assert stage.totals == [15, 1, 1]


def test_no_negatives_are_made_if_all_terms_are_linked() -> None:
    linked = [Pair("a", "b", "1", "1"), Pair("b", "c", "1", "1"), Pair("d", "C", "2", "2")]
    for strategy in SAMPLERS.all():
        for pairs in (linked, []):
            assert negatives_of(strategy, {ONE_SET: pairs}) == {ONE_SET: []}


def test_a_config_knows_every_strategy() -> None:
    assert sorted(config.STRATEGIES) == list(SAMPLERS.all())


def test_a_shared_pool_is_prepared_once_and_each_first_term_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laid_out = []

    class Search(NearestSearch):
        def __init__(self, pool, **options) -> None:
            laid_out.append(len(pool.terms))
            super().__init__(pool, **options)

    monkeypatch.setattr(candidates, "NearestSearch", Search)
    positives = {key: crowd(26, 3)[ONE_SET] for key in SET_ORDER}
    stage = CountingStage()

    negatives_of("levenshtein", positives, bystanders=["aab"], shared=True, stage=stage)

    n_terms = len({text for pair in positives[ONE_SET] for text in pair[:2]})
    assert laid_out == [n_terms + 1]
    assert stage.totals[0] == 26
    assert sum(stage.totals) < 26 * len(SET_ORDER)


def nested_sets() -> Positives:
    """Return two sets, the pool of the second with 120 terms, of which the first has 100."""
    pairs = [Pair(f"{at:02}{'x' * (at % 7)}", f"y{at:02}{'z' * at}", "", "") for at in range(60)]
    return {("fsn_syn", "hard"): pairs[:50], ("syn_syn", "hard"): pairs}


def two_pools_in_turns() -> Positives:
    """Return four sets: the easy ones draw from one pool, the hard ones from another."""
    hard = nested_sets()
    easy = {
        (dataset, "easy"): [Pair(f"_{first}", f"_{second}", "", "") for first, second, *_ in pairs]
        for (dataset, _), pairs in hard.items()
    }
    return easy | hard


def test_no_pool_stays_prepared_while_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: set[candidates.CandidateSource] = set()
    prepared = []
    search, served_negatives = candidates.CandidateSource.search, candidates.served_negatives

    def record_source(source: candidates.CandidateSource, *arguments: Any) -> SearchResult:
        sources.add(source)
        return search(source, *arguments)

    def serve_and_check(source_of: Any, served: Any) -> Any:
        def check_pools(name: str) -> None:
            served(name)
            prepared.append([source for source in sources if source.prepared_search is not None])

        return served_negatives(source_of, check_pools)

    monkeypatch.setattr(candidates.CandidateSource, "search", record_source)
    monkeypatch.setattr(levenshtein, "served_negatives", serve_and_check)

    negatives_of("levenshtein", two_pools_in_turns())

    assert {source.name for source in sources} == {"syn_syn/easy", "syn_syn/hard"}
    assert prepared == [[]] * 4


def test_a_pool_inside_a_larger_pool_is_not_searched() -> None:
    positives = nested_sets()
    stage = CountingStage()

    actual = negatives_of("levenshtein", positives, stage=stage)

    assert actual == greedy("levenshtein", positives)
    assert stage.totals[0] == 60  # the first terms of both sets
    assert sum(stage.totals) < 60 + 50


@of_either_pool
@pytest.mark.parametrize("n_shares", [1, 2, 7, 100])
def test_first_lists_may_be_searched_in_shares(*, n_shares: int, shared: bool) -> None:
    positives = three_sets()
    stage = CountingStage()

    def search(index: TermIndex, sets: list[PositiveSet]) -> list[SearchResult]:
        requests = search_plan(index, sets)[0].values()
        shares = [
            request_share(index, request, number, n_shares)
            for request in requests
            for number in range(1, n_shares + 1)
        ]
        n_firsts = sorted(len(share.term1_ids) for share in shares)
        assert sum(n_firsts) == sum(len(request.term1_ids) for request in requests)
        assert n_firsts[-1] - n_firsts[0] < 26
        return [
            candidate_source(index, share.pool, share.pool_ids, seed=5, threads=1).search(
                share.term1_ids, share.sizes, lambda _: None
            )
            for share in reversed(shares)
        ]

    whole = negatives_of("levenshtein", positives, seed=5, shared=shared)
    actual = negatives_of(
        "levenshtein", positives, seed=5, shared=shared, search=search, stage=stage
    )

    assert actual == whole
    assert sum(stage.totals) < 10  # only lists that are too short


# Random


@of_either_pool
@given(positives=positive_sets(), bystanders=BYSTANDERS, seed=SEEDS)
def test_random_negatives_are_allowed_and_as_many_as_possible(
    positives: Positives, bystanders: list[str], seed: int, *, shared: bool
) -> None:
    actual = negatives_of("random", positives, seed=seed, bystanders=bystanders, shared=shared)

    pool = terms_of(positives, bystanders) if shared else None
    assert faults_of_random(positives, actual, pool) == []


def test_random_negatives_from_a_shared_pool_are_uniform_over_terms() -> None:
    # 400 first terms with one second term each, and 200 terms in no pair: 1,000 terms, each as
    # likely as any other, except those of the first term's own pair.
    positives = {ONE_SET: [Pair(f"a{n:03}", f"b{n:03}", "", "") for n in range(400)]}
    bystanders = [f"c{n:03}" for n in range(200)]
    counts: Counter[str] = Counter()
    for seed in range(20):
        actual = negatives_of("random", positives, seed=seed, bystanders=bystanders, shared=True)
        counts.update(second[0] for _, second in actual[ONE_SET])
    # Expected of 8,000 draws: two, two and one fifths; five standard deviations are allowed.
    for letter, share in {"a": 0.4, "b": 0.4, "c": 0.2}.items():
        assert abs(counts[letter] - 8000 * share) < 5 * (8000 * share * (1 - share)) ** 0.5


def test_random_negatives_follow_the_seed_and_the_set() -> None:
    pairs = crowd(26, 3)[ONE_SET]
    once = negatives_of("random", {ONE_SET: pairs}, seed=1)[ONE_SET]
    assert negatives_of("random", {ONE_SET: pairs}, seed=1)[ONE_SET] == once
    assert negatives_of("random", {ONE_SET: pairs}, seed=2)[ONE_SET] != once
    other: SetKey = ("same_as", "easy")
    assert negatives_of("random", {other: pairs}, seed=1)[other] != once


def test_random_negatives_are_uniform_over_the_terms_of_the_other_pairs() -> None:
    # 3,000 pairs (a, b), where b is one of 30 terms: each a may draw every other a, and every
    # unlinked b as often as it occurs.
    pairs = [Pair(f"a{n:04}", f"b{n % 30:02}", "", "") for n in range(3000)]
    ids = {text: row for row, text in enumerate(sorted({t for pair in pairs for t in pair[:2]}))}
    counts: Counter[str] = Counter()
    for seed in range(4):
        _, seconds = SAMPLERS.get("random")(term_index(list(ids), {}), Sampling(seed=seed))(
            positive_set(ONE_SET, [pair[:2] for pair in pairs], ids),
            np.empty((2, 0), np.int32),
            Stage("test"),
        )
        assert len(seconds) == 3000
        texts = list(ids)
        counts.update(texts[row] for row in seconds.tolist())
    # Half of 12,000 draws are b's, a thirtieth for each b; five standard deviations are allowed.
    n_b = {text: counts[text] for text in ids if text.startswith("b")}
    assert abs(sum(n_b.values()) - 6000) < 5 * (12_000 * 0.25) ** 0.5
    share = sum(n_b.values()) / 30
    chi_square = sum((count - share) ** 2 / share for count in n_b.values())
    assert chi_square < 29 + 5 * (2 * 29) ** 0.5
    assert max(counts[text] for text in ids if text.startswith("a")) <= 14  # the mean is 2


# Embedding


def test_a_term_without_a_vector_is_not_used() -> None:
    pairs = [Pair(name, f"{name}s", "", "") for name in ("ash", "beech", "cedar", "fir")]
    near, far = [1.0, 0.0], [-1.0, 0.1]
    vectors: Vectors = {"ash": near, "ashs": near, "cedar": far, "cedars": None, "fir": None}
    vectors |= {"beech": None, "beechs": near, "firs": far}

    actual = negatives_of("embedding", {ONE_SET: pairs}, vectors=vectors)[ONE_SET]

    assert actual == [("ash", "beechs"), ("cedar", "firs")]


# All


@for_each_positive
@pytest.mark.parametrize("seed", range(3))
def test_threads_and_other_terms_do_not_matter(strategy: str, seed: int) -> None:
    positives = three_sets()
    alone = negatives_of(strategy, positives, seed=seed)
    assert negatives_of(strategy, positives, seed=seed, threads=2) == alone
    assert negatives_of(strategy, positives, seed=seed, threads=5) == alone
    bystanders = [f"{chr(0x41 + mixed(n) % 26)}ab{n}" for n in range(200)]
    assert negatives_of(strategy, positives, seed=seed, bystanders=bystanders) == alone


@for_each_positive
def test_syn_syn_may_repeat_only_negatives_of_fsn_syn(strategy: str) -> None:
    names = [Pair("aa", "aa1", "1", "1"), Pair("bb", "bb1", "2", "2")]
    contained = negatives_of(strategy, {("fsn_syn", "easy"): names, ("syn_syn", "easy"): names})
    assert [len(texts) for texts in contained.values()] == [2, 2]
    # Three pairs between the two concepts have allowed first terms: (aa, bb), (aa, bb1), (bb, aa1).
    keys: list[SetKey] = [("replaced_by", "easy"), ("same_as", "easy"), ("syn_syn", "easy")]
    actual = negatives_of(strategy, dict.fromkeys(keys, names))
    assert [len(actual[key]) for key in keys] == [2, 1, 0]
