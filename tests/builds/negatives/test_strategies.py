"""Negatives of invented sets by every strategy, against the greedy rule by brute force."""

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
    STRATEGIES,
    Embedding,
    NegativeSampler,
    PositiveSet,
    SearchResult,
    TermIndex,
    candidates,
    levenshtein,
)
from medsim.builds.negatives.candidates import candidate_source, search_plan, share_of
from medsim.builds.negatives.nearest import NearestSearch
from medsim.core import config
from medsim.core.progress import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Positives = dict[SetKey, list[Pair]]
Texts = dict[SetKey, list[tuple[str, str]]]
Vectors = dict[str, list[float] | None]

ONE_SET: SetKey = ("fsn_syn", "easy")
SEEDS = st.integers(0, (1 << 63) - 1)
BYSTANDERS = st.lists(st.text("ab", min_size=1, max_size=5), max_size=8)

searched = pytest.mark.parametrize("strategy", ["levenshtein", "embedding"])
of_either_pool = pytest.mark.parametrize("shared", [False, True])
of_crowds = pytest.mark.parametrize(("n_concepts", "n_names"), [(2, 9), (5, 8), (26, 3), (12, 12)])


def vector_of(term: str, n_dimensions: int = 2) -> list[float] | None:
    """Return a vector invented from the text: small numbers, many ties, and none of some terms."""
    word = term_hash(term)
    if word % 7 == 0:
        return None
    return [float((word >> (8 * at + 3)) % 3) - 1 for at in range(n_dimensions)]


def terms_of(positives: Positives, bystanders: Iterable[str] = ()) -> set[str]:
    """Return all terms, those of no pair included."""
    return {text for pairs in positives.values() for pair in pairs for text in pair[:2]}.union(
        bystanders
    )


def embedding_of(terms: Sequence[str], vectors: Vectors) -> Embedding:
    """Return the vectors of terms as arrays."""
    known = [row for row, term in enumerate(terms) if vectors[term] is not None]
    rows = np.full(len(terms), -1, np.int32)
    rows[known] = np.arange(len(known))
    n_dimensions = len(next((one for one in vectors.values() if one is not None), ()))
    found = np.array([vectors[terms[row]] for row in known], np.float32)
    return Embedding(vectors=found.reshape(len(known), n_dimensions), rows=rows)


class CountingStage(Stage):
    """A stage that remembers how often a total was told, which is once a search."""

    def __init__(self) -> None:
        super().__init__("test")
        self.totals: list[int] = []

    def total(self, n_units: int) -> None:
        """Remember what was told."""
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
        strategy: its name.
        positives: of each set.
        seed: of ties and draws.
        threads: how many to use.
        bystanders: terms that are in no pair.
        shared: whether all sets draw from all terms, those of no pair among them.
        search: what is known before the first set is made.
        stage: told of progress.
        vectors: of terms, for embedding negatives; by default ``vector_of`` each.
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
    known = search(index, list(sets.values())) if search else ()
    ahead = list(sets.values())
    make = STRATEGIES.get(strategy)(index, seed=seed, threads=threads, results=known, sets=ahead)
    made: Texts = {}
    for key, one in sets.items():
        made[key] = _negatives_of_set(make, one, key, list(ids), made, stage)
    return made


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
    made: Texts,
    stage: Stage | None,
) -> list[tuple[str, str]]:
    ids = {term: row for row, term in enumerate(terms)}
    used = [
        (ids[first], ids[second])
        for earlier, texts in made.items()
        if not (key[0] == "syn_syn" and earlier[0] == "fsn_syn")
        for first, second in texts
    ]
    pairs = np.array(used, np.int32).reshape(-1, 2).T.copy()
    against, seconds = (found.tolist() for found in make(positives, pairs, stage or Stage("test")))
    assert len(set(against)) == len(against)  # at most one for each positive
    return [
        (terms[positives.term1_ids[row]], terms[second])
        for row, second in zip(against, seconds, strict=True)
    ]


def term_index(terms: Sequence[str], positives: Positives) -> TermIndex:
    """Return terms as arrays, joined by the positives; those of no pair stand alone."""
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
    """Return sets of pairs among the names of concepts, over few letters so that much ties."""
    keys = draw(st.lists(st.sampled_from(SET_ORDER), min_size=1, max_size=4, unique=True))
    text = st.text(draw(st.sampled_from(["ab", "abAB", "ab \u00e9\u0130", "abcdefgh"])), max_size=6)
    found: dict[SetKey, set[Pair]] = {key: set() for key in keys}
    for concept in range(draw(st.integers(1, 9))):
        names = draw(st.lists(text.filter(bool), min_size=2, max_size=5, unique=True))
        for at, first in enumerate(names):
            for second in names[at + 1 :]:
                mirrored = any(
                    pair[:2] == (second, first) for pairs in found.values() for pair in pairs
                )
                if first.lower() != second.lower() and not mirrored and draw(st.booleans()):
                    key = draw(st.sampled_from(keys))
                    found[key].add(Pair(first, second, str(concept), str(concept)))
    if draw(st.booleans()):  # as syn_syn has all of fsn_syn
        found[keys[-1]] |= found[keys[0]]
    return {key: _one_concept(pairs) for key, pairs in found.items()}


def _one_concept(pairs: set[Pair]) -> list[Pair]:
    """Return pairs sorted, each pair of texts once."""
    smallest: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs):
        smallest.setdefault(pair[:2], pair)
    return list(smallest.values())


def crowd(n_concepts: int, n_names: int, letters: str = "ab") -> Positives:
    """Return one set in which few short names are wanted by many first terms."""
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
    found = negatives_of(strategy, positives, seed=seed, bystanders=bystanders, shared=shared)

    pool = terms_of(positives, bystanders) if shared else None
    assert found == greedy(strategy, positives, seed, pool)


@searched
@of_crowds
def test_many_first_terms_may_want_the_same_few_candidates(
    strategy: str, n_concepts: int, n_names: int
) -> None:
    positives = crowd(n_concepts, n_names)
    found = [negatives_of(strategy, positives, seed=seed) for seed in range(3)]
    assert found == [greedy(strategy, positives, seed) for seed in range(3)]
    assert n_names != 3 or found[0] != found[1]  # ties follow the seed


def test_a_list_that_runs_dry_is_searched_again_until_it_is_long_enough() -> None:
    # Each of 14 spokes differs from the hub by a letter, and from one another by two, so each
    # takes the hub. Served last, the hub finds its 14 nearest taken, first 3 of 3, then 12 of 12.
    hub = "z" * 14
    spokes = [hub[:at] + "a" + hub[at + 1 :] for at in range(14)]
    pairs = [Pair(name, f"{name} by a much longer name", "", "") for name in [*spokes, hub]]
    positives = {ONE_SET: sorted(pairs)}
    stage = CountingStage()

    found = negatives_of("levenshtein", positives, stage=stage)

    assert found == greedy("levenshtein", positives)
    assert found[ONE_SET][:14] == [(spoke, hub) for spoke in sorted(spokes)]
    assert stage.totals == [15, 1, 1]


def test_nothing_is_found_where_everything_is_linked() -> None:
    linked = [Pair("a", "b", "1", "1"), Pair("b", "c", "1", "1"), Pair("d", "C", "2", "2")]
    for strategy in STRATEGIES.all():
        for pairs in (linked, []):
            assert negatives_of(strategy, {ONE_SET: pairs}) == {ONE_SET: []}


def test_a_config_knows_every_strategy() -> None:
    assert sorted(config.STRATEGIES) == list(STRATEGIES.all())


def test_a_shared_pool_is_laid_out_once_and_a_first_term_searched_once(
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
        (dataset, "easy"): [Pair(f"_{one}", f"_{other}", "", "") for one, other, *_ in pairs]
        for (dataset, _), pairs in hard.items()
    }
    return easy | hard


def test_no_pool_is_laid_out_while_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sources: set[candidates.CandidateSource] = set()
    held = []
    search, served_negatives = candidates.CandidateSource.search, candidates.served_negatives

    def noted(source: candidates.CandidateSource, *arguments: Any) -> SearchResult:
        sources.add(source)
        return search(source, *arguments)

    def noting(index: Any, source_of: Any, served: Any) -> Any:
        def looked_at(name: str) -> None:
            served(name)
            held.append([source for source in sources if source.prepared_search is not None])

        return served_negatives(index, source_of, looked_at)

    monkeypatch.setattr(candidates.CandidateSource, "search", noted)
    monkeypatch.setattr(levenshtein, "served_negatives", noting)

    negatives_of("levenshtein", two_pools_in_turns())

    assert {source._name for source in sources} == {"syn_syn/easy", "syn_syn/hard"}
    assert held == [[]] * 4


def test_a_pool_that_another_contains_is_not_searched_itself() -> None:
    positives = nested_sets()
    stage = CountingStage()

    found = negatives_of("levenshtein", positives, stage=stage)

    assert found == greedy("levenshtein", positives)
    assert stage.totals[0] == 60  # the first terms of both sets
    assert sum(stage.totals) < 60 + 50


@of_either_pool
@pytest.mark.parametrize("n_shares", [1, 2, 7, 100])
def test_first_lists_may_be_searched_in_shares(*, n_shares: int, shared: bool) -> None:
    positives = three_sets()
    stage = CountingStage()

    def search(index: TermIndex, sets: list[PositiveSet]) -> list[SearchResult]:
        wanted = search_plan(index, sets)[0].values()
        shares = [
            share_of(index, one, number, n_shares)
            for one in wanted
            for number in range(1, n_shares + 1)
        ]
        n_firsts = sorted(len(share.term1_ids) for share in shares)
        assert sum(n_firsts) == sum(len(one.term1_ids) for one in wanted)
        assert n_firsts[-1] - n_firsts[0] < 26
        return [
            candidate_source(index, share.pool, share.pool_ids, seed=5, threads=1).search(
                share.term1_ids, share.sizes, lambda _: None
            )
            for share in reversed(shares)
        ]

    whole = negatives_of("levenshtein", positives, seed=5, shared=shared)
    found = negatives_of(
        "levenshtein", positives, seed=5, shared=shared, search=search, stage=stage
    )

    assert found == whole
    assert sum(stage.totals) < 10  # only what ran dry


# Random


@of_either_pool
@given(positives=positive_sets(), bystanders=BYSTANDERS, seed=SEEDS)
def test_random_negatives_are_allowed_and_as_many_as_there_can_be(
    positives: Positives, bystanders: list[str], seed: int, *, shared: bool
) -> None:
    found = negatives_of("random", positives, seed=seed, bystanders=bystanders, shared=shared)

    pool = terms_of(positives, bystanders) if shared else None
    assert faults_of_random(positives, found, pool) == []


def test_random_negatives_of_a_shared_pool_are_uniform_over_its_terms() -> None:
    # 400 first terms with a second each, and 200 terms of no pair: 1,000, all alike but for the
    # two of a pair, for themselves. The second terms of the pairs are no more frequent than others.
    positives = {ONE_SET: [Pair(f"a{n:03}", f"b{n:03}", "", "") for n in range(400)]}
    bystanders = [f"c{n:03}" for n in range(200)]
    drawn: Counter[str] = Counter()
    for seed in range(20):
        found = negatives_of("random", positives, seed=seed, bystanders=bystanders, shared=True)
        drawn.update(second[0] for _, second in found[ONE_SET])
    # Of 8,000 draws two fifths, two fifths and a fifth; five standard deviations are allowed.
    for letter, share in {"a": 0.4, "b": 0.4, "c": 0.2}.items():
        assert abs(drawn[letter] - 8000 * share) < 5 * (8000 * share * (1 - share)) ** 0.5


def test_random_negatives_follow_the_seed_and_the_set() -> None:
    pairs = crowd(26, 3)[ONE_SET]
    once = negatives_of("random", {ONE_SET: pairs}, seed=1)[ONE_SET]
    assert negatives_of("random", {ONE_SET: pairs}, seed=1)[ONE_SET] == once
    assert negatives_of("random", {ONE_SET: pairs}, seed=2)[ONE_SET] != once
    other: SetKey = ("same_as", "easy")
    assert negatives_of("random", {other: pairs}, seed=1)[other] != once


def test_random_negatives_are_uniform_over_the_terms_of_the_other_pairs() -> None:
    # 3,000 pairs (a, b) whose b are 30 terms that are not linked to any a: each a may draw every
    # a but its own and every b, as often as it occurs.
    pairs = [Pair(f"a{n:04}", f"b{n % 30:02}", "", "") for n in range(3000)]
    ids = {text: row for row, text in enumerate(sorted({t for pair in pairs for t in pair[:2]}))}
    drawn: Counter[str] = Counter()
    for seed in range(4):
        _, seconds = STRATEGIES.get("random")(term_index(list(ids), {}), seed=seed, threads=1)(
            positive_set(ONE_SET, [pair[:2] for pair in pairs], ids),
            np.empty((2, 0), np.int32),
            Stage("test"),
        )
        assert len(seconds) == 3000
        texts = list(ids)
        drawn.update(texts[row] for row in seconds.tolist())
    # Of 12,000 draws half are b's, a thirtieth of them each; five standard deviations are allowed.
    n_b = {text: drawn[text] for text in ids if text.startswith("b")}
    assert abs(sum(n_b.values()) - 6000) < 5 * (12_000 * 0.25) ** 0.5
    share = sum(n_b.values()) / 30
    chi_square = sum((count - share) ** 2 / share for count in n_b.values())
    assert chi_square < 29 + 5 * (2 * 29) ** 0.5
    assert max(drawn[text] for text in ids if text.startswith("a")) <= 14  # the mean is 2


# Embedding


def test_a_term_without_a_vector_is_no_candidate_and_gets_no_negatives() -> None:
    pairs = [Pair(name, f"{name}s", "", "") for name in ("ash", "beech", "cedar", "fir")]
    near, far = [1.0, 0.0], [-1.0, 0.1]
    vectors: Vectors = {"ash": near, "ashs": near, "cedar": far, "cedars": None, "fir": None}
    vectors |= {"beech": None, "beechs": near, "firs": far}

    found = negatives_of("embedding", {ONE_SET: pairs}, vectors=vectors)[ONE_SET]

    assert found == [("ash", "beechs"), ("cedar", "firs")]


# All


@pytest.mark.parametrize("strategy", config.STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_neither_threads_nor_other_terms_of_the_terminology_matter(
    strategy: str, seed: int
) -> None:
    positives = three_sets()
    alone = negatives_of(strategy, positives, seed=seed)
    assert negatives_of(strategy, positives, seed=seed, threads=2) == alone
    assert negatives_of(strategy, positives, seed=seed, threads=5) == alone
    bystanders = [f"{chr(0x41 + mixed(n) % 26)}ab{n}" for n in range(200)]
    assert negatives_of(strategy, positives, seed=seed, bystanders=bystanders) == alone


@pytest.mark.parametrize("strategy", config.STRATEGIES)
def test_syn_syn_may_repeat_the_negatives_of_fsn_syn_and_no_others(strategy: str) -> None:
    names = [Pair("aa", "aa1", "1", "1"), Pair("bb", "bb1", "2", "2")]
    contained = negatives_of(strategy, {("fsn_syn", "easy"): names, ("syn_syn", "easy"): names})
    assert [len(texts) for texts in contained.values()] == [2, 2]
    # Three pairs join the two concepts by their first terms: aa and bb, aa and bb1, bb and aa1.
    keys: list[SetKey] = [("replaced_by", "easy"), ("same_as", "easy"), ("syn_syn", "easy")]
    found = negatives_of(strategy, dict.fromkeys(keys, names))
    assert [len(found[key]) for key in keys] == [2, 1, 0]
