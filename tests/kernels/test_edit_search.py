"""The exact search for the nearest terms, against brute force, and the signatures that bound it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config as numba_config
from numba import njit
from oracles.hashing import mixed, term_hash
from oracles.pairs import levenshtein
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from medsim.core.terms import pack
from medsim.kernels.edit_search import distance_bound, signatures
from medsim.neighbours.search import Nearest, NearestSearch, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Ranked = list[list[tuple[int, int]]]  # of each query: (row, distance), nearest first

# One term at a time, and many at once, which needs the compiler.
WAYS = [False] if numba_config.DISABLE_JIT else [False, True]

ASTRAL = "\U0001d4b3\U0001f9ec\U00020000"


class Pool(NamedTuple):
    """Terms in order of text, compared in lower case, their groups of linked ones, and hashes."""

    terms: list[str]
    groups: list[int]
    hashes: list[int]


def pool_of(terms: Sequence[str], group_of: Callable[[str], int] | None = None) -> Pool:
    """Return a pool in which terms are linked if equal ignoring case, or as given."""
    exact = sorted(set(terms))
    lower = [term.lower() for term in exact]
    if group_of is None:
        numbers = {term: number for number, term in enumerate(sorted(set(lower)))}
        groups = [numbers[term] for term in lower]
    else:
        groups = [group_of(term) for term in lower]
    return Pool(terms=exact, groups=groups, hashes=[term_hash(term) for term in exact])


def nearest(
    candidates: Terms,
    queries: object,
    wanted: object,
    *,
    seed: int = 0,
    threads: int = 1,
    sliced: bool | None = None,
    spare: int = 0,
) -> Nearest:
    search = NearestSearch(candidates, seed=seed, threads=threads, sliced=sliced)
    return search.nearest(queries, wanted, spare=spare)  # type: ignore[arg-type]


def candidates_of(pool: Pool) -> Terms:
    return Terms(
        terms=pl.Series([term.lower() for term in pool.terms], dtype=pl.String),
        components=np.array(pool.groups, np.int32),
        hashes=np.array(pool.hashes, np.uint64),
    )


def asked(
    pool: Pool, wanted: Sequence[int] | int, queries: Sequence[int] | None
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the queries, by default all terms, and their numbers of candidates."""
    rows = range(len(pool.terms)) if queries is None else queries
    return rows, [wanted] * len(rows) if isinstance(wanted, int) else wanted


def ranked(
    pool: Pool,
    wanted: Sequence[int] | int,
    *,
    queries: Sequence[int] | None = None,
    seed: int = 0,
    threads: int = 1,
    spare: int = 0,
) -> Ranked:
    """Return the results of every way of searching, which must be the same."""
    rows, sizes = asked(pool, wanted, queries)
    results = [
        nearest(
            candidates_of(pool),
            np.array(rows, np.int32),
            np.array(sizes, np.int32),
            seed=seed,
            threads=threads,
            sliced=sliced,
            spare=spare,
        )
        for sliced in WAYS
    ]
    ranked = []
    for result in results:
        flat = list(zip(result.ids.tolist(), result.distances.tolist(), strict=True))
        starts = result.starts.tolist()
        ranked.append([flat[starts[at] : starts[at + 1]] for at in range(len(rows))])
    assert all(other == ranked[0] for other in ranked)
    return ranked[0]


def brute_force(
    pool: Pool,
    wanted: Sequence[int] | int,
    *,
    queries: Sequence[int] | None = None,
    seed: int = 0,
    distance: Callable[[str, str], int] = levenshtein,
) -> Ranked:
    """Rank all candidates of each query by (distance, tie, text), and keep the first."""
    rows, sizes = asked(pool, wanted, queries)
    lower = [term.lower() for term in pool.terms]
    ranked = []
    for query, size in zip(rows, sizes, strict=True):
        first = mixed(seed ^ pool.hashes[query])
        every = (
            cdist([lower[query]], lower, scorer=distance, dtype=np.int32)[0].tolist()
            if distance is Levenshtein.distance
            else [distance(lower[query], term) for term in lower]
        )
        distances = {
            row: far for row, far in enumerate(every) if pool.groups[row] != pool.groups[query]
        }
        farthest = max(sorted(distances.values())[:size], default=-1)
        keys = sorted(  # only candidates that may be among the first need ties
            (far, mixed(first ^ pool.hashes[row]), row)
            for row, far in distances.items()
            if far <= farthest
        )
        ranked.append([(row, far) for far, _, row in keys[:size]])
    return ranked


def variations(rng: np.random.Generator, base: str, alphabet: str, n: int, most: int) -> list[str]:
    """Return texts that are up to ``most`` random edits away from a base."""
    texts = []
    for _ in range(n):
        characters = list(base)
        for _ in range(rng.integers(0, most + 1)):
            at = int(rng.integers(0, len(characters) + 1))
            kind = rng.integers(3)
            letter = alphabet[rng.integers(len(alphabet))]
            if kind == 0:
                characters.insert(at, letter)
            elif at < len(characters):
                characters[at : at + 1] = [letter] if kind == 1 else []
        texts.append("".join(characters))
    return texts


def random_text(rng: np.random.Generator, alphabet: str, length: int) -> str:
    return "".join(alphabet[at] for at in rng.integers(0, len(alphabet), length))


# Small pools, by the full matrix


@pytest.mark.kernels
@given(
    st.lists(st.text("abA\u00e9", max_size=6), min_size=1, max_size=14),
    st.integers(1, 4),
    st.data(),
)
def test_the_nearest_are_those_of_brute_force(
    terms: list[str], n_groups: int, data: st.DataObject
) -> None:
    pool = pool_of(terms, lambda lower: term_hash(lower) % n_groups)
    seed = data.draw(st.integers(0, (1 << 63) - 1))
    size = st.integers(0, len(pool.terms) + 2)
    n_terms = len(pool.terms)
    wanted = data.draw(st.lists(size, min_size=n_terms, max_size=n_terms))
    assert ranked(pool, wanted, seed=seed) == brute_force(pool, wanted, seed=seed)


@given(
    st.lists(st.text(f"ab \u0301{ASTRAL}", max_size=9), min_size=2, max_size=40),
    st.integers(1, 5),
    st.integers(0, 1 << 40),
)
def test_the_nearest_are_those_of_brute_force_for_any_characters(
    terms: list[str], wanted: int, seed: int
) -> None:
    pool = pool_of(terms)
    assert ranked(pool, wanted, seed=seed) == brute_force(pool, wanted, seed=seed)


def test_the_nearest_are_those_of_brute_force_with_more_characters_than_16_bits_hold() -> None:
    alphabet = [chr(point) for point in range(0x4E00, 0x1FFFF) if not 0xD800 <= point < 0xE000]
    texts = ["".join(alphabet[at : at + 90]) for at in range(0, len(alphabet), 90)]
    rare = alphabet[-1] + alphabet[70_000] + alphabet[3]
    terms = texts + variations(np.random.default_rng(1), texts[0], rare, 40, 5)
    pool = pool_of(terms)
    queries = [0, 1, *range(len(pool.terms) - 3, len(pool.terms))]
    assert len(set("".join(pool.terms).lower())) > 1 << 16
    assert ranked(pool, 4, queries=queries) == brute_force(
        pool, 4, queries=queries, distance=Levenshtein.distance
    )


# Ties


@pytest.mark.kernels
@given(
    st.lists(st.text("ab\u00e9", max_size=6), min_size=1, max_size=30),
    st.integers(0, 3),
    st.integers(0, 6),
    st.integers(1, 9),
)
def test_spare_candidates_are_at_the_distance_of_the_last_one_wanted(
    terms: list[str], wanted: int, spare: int, n_groups: int
) -> None:
    pool = pool_of(terms, lambda lower: term_hash(lower) % n_groups)
    expected = []
    for every in brute_force(pool, wanted + spare):
        last = every[:wanted][-1][1] if wanted and every else -1
        expected.append([pair for pair in every if pair[1] <= last])
    assert ranked(pool, wanted, spare=spare) == expected


@pytest.mark.kernels
def test_exact_ties_are_ordered_by_the_hash_of_seed_and_both_terms() -> None:
    pool = pool_of([chr(point) for point in range(0x4E00, 0x4E28)])  # distance 1, all of them
    for seed in range(3):
        assert ranked(pool, 5, seed=seed) == brute_force(pool, 5, seed=seed)
    assert ranked(pool, 5, seed=0) != ranked(pool, 5, seed=1)


@pytest.mark.kernels
@pytest.mark.parametrize("n_hashes", [1, 2])
def test_candidates_with_equal_hashes_are_in_order_of_text(n_hashes: int) -> None:
    rng = np.random.default_rng(n_hashes)
    terms = {random_text(rng, "ab", int(rng.integers(1, 7))) for _ in range(80)}
    plain = pool_of(sorted(terms))
    pool = plain._replace(hashes=[number % n_hashes for number in plain.hashes])
    for wanted in (1, 3, 100):
        assert ranked(pool, wanted) == brute_force(pool, wanted)


# Lengths and alphabets


# A word has 64 bits.
@pytest.mark.parametrize(
    "length", [0, 1, 63, 64, 65, 128, 512, pytest.param(5000, marks=pytest.mark.slow)]
)
def test_terms_around_a_length_are_searched_exactly(length: int) -> None:
    rng = np.random.default_rng(length)
    base = random_text(rng, "abcd", length)
    other = random_text(rng, "abcd", length)
    terms = ["", "a", base, base[:-1], base + "a", base + base[:3], base[::-1], other]
    n_variations = 20 if length < 1000 else 3
    terms += variations(rng, base, "abcde", n_variations, 6)
    terms += variations(rng, other, "abcde", 4, 3)
    pool = pool_of(terms)
    for wanted in (1, 4, 40) if length < 1000 else (4,):
        expected = brute_force(pool, wanted, seed=5, distance=Levenshtein.distance)
        assert ranked(pool, wanted, seed=5) == expected


@pytest.mark.kernels
@pytest.mark.parametrize("length", [63, 64, 65, 130])
def test_terms_of_several_words_of_bits_are_searched_exactly(length: int) -> None:
    base = ("abacbcab" * 20)[:length]
    edits = [base[1:], "c" + base, base[:-1] + "c", base[:60] + base[62:], base[64:] + base[:64]]
    pool = pool_of([base, base[::-1], base.replace("b", "c"), *edits])
    assert ranked(pool, 3) == brute_force(pool, 3, distance=Levenshtein.distance)


@pytest.mark.parametrize(
    ("first", "n_characters"),
    [
        (0x61, 26),
        (0x100, 64),
        (0x100, 65),  # more than the classes of a signature
        (0x4E00, 300),  # more than fit in a byte
        (0x1F300, 700),  # beyond the basic plane
        # Longer terms do not fit the tables of many terms at once.
        pytest.param(0x4E00, 5000, marks=pytest.mark.slow),
    ],
)
def test_alphabets_of_any_size_are_searched_exactly(first: int, n_characters: int) -> None:
    rng = np.random.default_rng(n_characters)
    alphabet = "".join(chr(first + at) for at in range(n_characters))
    terms = list(alphabet)
    for _ in range(30):
        base = random_text(rng, alphabet, int(rng.integers(1, 90)))
        terms += [base, *variations(rng, base, alphabet, 6, 5)]
    pool = pool_of(terms)
    queries = list(range(0, len(pool.terms), 5 if n_characters < 1000 else 111))
    expected = brute_force(pool, 6, queries=queries, distance=Levenshtein.distance)
    assert ranked(pool, 6, queries=queries) == expected


def test_more_repeated_characters_than_a_signature_counts_are_searched_exactly() -> None:
    pool = pool_of(["a" * n for n in range(40)] + ["a" * n + "b" * (9 - n) for n in range(9)])
    assert ranked(pool, 5) == brute_force(pool, 5, distance=Levenshtein.distance)


def test_more_terms_of_a_length_than_are_compared_at_once_are_searched_exactly() -> None:
    rng = np.random.default_rng(8)
    terms = {random_text(rng, "abcde", length) for length in (7, 8) for _ in range(1100)}
    pool = pool_of(sorted(terms), lambda lower: term_hash(lower) % 300)
    queries = list(range(0, len(pool.terms), 23))
    for wanted in (1, 30):
        expected = brute_force(pool, wanted, queries=queries, distance=Levenshtein.distance)
        assert ranked(pool, wanted, queries=queries) == expected


@pytest.mark.some(2)
@pytest.mark.parametrize(("shortest", "longest"), [(1, 12), (20, 34), (60, 90), (40, 200)])
def test_terms_of_many_lengths_that_share_blocks_are_searched_exactly(
    shortest: int, longest: int
) -> None:
    # By their lengths, some terms of a block are within a bound and some are not.
    rng = np.random.default_rng(longest)
    terms = set()
    for _ in range(60):
        base = random_text(rng, "abcdefgh", int(rng.integers(shortest, longest + 1)))
        terms |= {base, *variations(rng, base, "abcdefgh", 12, int(rng.integers(1, 9)))}
    pool = pool_of(sorted(terms), lambda lower: term_hash(lower) % 200)
    assert len(pool.terms) > 400
    few = list(range(0, len(pool.terms), 5))
    for wanted in (1, 20):
        expected = brute_force(pool, wanted, queries=few, distance=Levenshtein.distance)
        every = ranked(pool, wanted)
        assert [every[row] for row in few] == expected


def test_queries_around_a_block_too_far_from_all_are_searched_exactly() -> None:
    # A block between the lengths of a group's queries may be too far from all of them. The nearest
    # of the longer query is none of its neighbours in either order.
    short, long = "m" * 10, "n" * 16
    neighbours = [pair + long[2:] for pair in ("oo", "pp", "qq", "rr", "ss")]
    between = ["k" * 8 + format(number, "05o") for number in range(700)]
    nearest_terms = [short[1:] + "z", long[:8] + "x" + long[:7]]
    others = [*neighbours, *(term[::-1] for term in neighbours), *between]
    pool = pool_of([short, long, *nearest_terms, *others])
    queries = [pool.terms.index(short), pool.terms.index(long)]

    every = ranked(pool, 1, queries=queries)

    assert [pool.terms[rows[0][0]] for rows in every] == nearest_terms
    assert every == brute_force(pool, 1, queries=queries)


@pytest.mark.some(2)
@pytest.mark.parametrize("length", [12, 95, 96, 97])
def test_families_of_one_length_and_beginning_are_searched_exactly(length: int) -> None:
    # Queries that begin alike share work; their bounds and numbers of candidates differ.
    rng = np.random.default_rng(length)
    terms = set()
    for _ in range(8):
        base = random_text(rng, "abcd", length)
        for _ in range(60):  # together more than are compared at once
            stem = base[: rng.integers(0, length + 1)]
            terms.add(stem + random_text(rng, "abcd", length - len(stem)))
        terms.update(variations(rng, base, "abcd", 8, 5))
    pool = pool_of(sorted(terms), lambda lower: term_hash(lower) % 50)
    rows = range(0, len(pool.terms), 3)
    wanted = rng.choice([0, 1, 2, 6, 500], len(rows)).tolist()
    expected = brute_force(pool, wanted, queries=rows, seed=9, distance=Levenshtein.distance)
    assert ranked(pool, wanted, queries=rows, seed=9) == expected


@pytest.mark.parametrize("n_edits", [1, 3, 8])
def test_many_queries_of_one_bound_are_searched_exactly(n_edits: int) -> None:
    # Enough queries of the same length and bound are screened together.
    rng = np.random.default_rng(n_edits)
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    terms = set()
    for _ in range(400):
        base = random_text(rng, alphabet, 24)
        terms |= {base, *variations(rng, base, alphabet, 1, n_edits)}
    pool = pool_of(sorted(terms))
    few = list(range(0, len(pool.terms), 40))
    expected = brute_force(pool, 1, queries=few, distance=Levenshtein.distance)
    every = ranked(pool, 1)
    assert [every[row] for row in few] == expected


@pytest.mark.slow
@pytest.mark.full
def test_terms_of_tens_of_thousands_of_characters_are_searched_exactly() -> None:
    # At distances beyond 2**15 counters need more bits.
    pool = pool_of(["ab" * 16_400, "cd" * 16_400])
    assert ranked(pool, 1, queries=[0]) == [[(1, 32_800)]]


# Sizes


@pytest.mark.kernels
def test_one_term_no_terms_and_no_queries_find_nothing() -> None:
    assert ranked(pool_of(["alone"]), 3) == [[]]
    assert ranked(pool_of([""]), 3) == [[]]
    assert ranked(pool_of(["a", "b"]), [], queries=[]) == []
    assert ranked(pool_of([]), []) == []


# Threads, order, scale


@pytest.fixture(scope="module")
def large_pool() -> Pool:
    """Return 1,800 terms of invented words, in families of similar terms; a third are linked."""
    rng = np.random.default_rng(11)
    words = [random_text(rng, "aeilnorst", int(rng.integers(2, 10))) for _ in range(150)]
    terms = []
    for _ in range(300):
        chosen = rng.integers(0, len(words), rng.integers(1, 7))
        base = " ".join(words[at] for at in chosen)
        terms += [base.capitalize(), *variations(rng, base, "aeilnorst -", 6, 4)]
    return pool_of(terms, lambda lower: term_hash(lower) % 997)


def test_large_pools_are_searched_exactly(large_pool: Pool) -> None:
    queries = list(range(0, len(large_pool.terms), 6))
    asking = {
        "wanted": np.random.default_rng(12).choice([0, 1, 2, 5, 40], len(queries)).tolist(),
        "queries": queries,
        "seed": 42,
    }
    expected = brute_force(large_pool, **asking, distance=Levenshtein.distance)
    assert ranked(large_pool, **asking) == expected


def test_results_do_not_depend_on_threads_or_on_other_queries(
    large_pool: Pool,
) -> None:
    in_order = ranked(large_pool, 4)
    queries = np.random.default_rng(5).permutation(len(large_pool.terms))[:700].tolist()
    assert ranked(large_pool, 4, queries=queries, threads=3) == [in_order[row] for row in queries]


def test_a_search_can_be_reused_and_reports_progress_of_every_query(large_pool: Pool) -> None:
    steps: list[int] = []
    search = NearestSearch(candidates_of(large_pool), seed=0, threads=2)
    queries, three = np.arange(333, dtype=np.int32), np.full(333, 3, np.int32)

    first = search.nearest(queries, three, steps.append)
    search.nearest(queries[::-1], np.full(333, 40, np.int32))
    again = search.nearest(queries, three)

    assert again.ids.tolist() == first.ids.tolist()
    assert again.distances.tolist() == first.distances.tolist()
    assert sum(steps) == 333
    assert len(steps) > 1


def test_numbers_may_be_of_any_whole_type() -> None:
    candidates = Terms.from_terms([f"{number:03d}" for number in range(300)])

    result = nearest(candidates, np.array([200], np.uint8), np.array([255], np.uint8))

    assert len(result.ids) == 255
    assert result.ids.tolist() == nearest(candidates, [200], [255]).ids.tolist()  # type: ignore[arg-type]


@njit
def _of_first_two(bits):  # noqa: ANN202 — inner kernels need the compiler
    return distance_bound(bits, 0, bits, 1)


def bound_of_signatures(left: str, right: str) -> int:
    packed = pack(pl.Series([left, right]))
    return int(_of_first_two(signatures(packed.codes, packed.starts)))


@pytest.mark.kernels
@given(st.text("abc\u00e9\u4e00", max_size=12), st.text("abc\u00e9\u4e00", max_size=12))
def test_the_bound_never_exceeds_the_distance(left: str, right: str) -> None:
    assert bound_of_signatures(left, right) <= levenshtein(left, right)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("left", "right", "bound"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),  # lost k and e, won s, i and g
        ("listen", "silent", 0),
        ("aab", "abb", 1),  # how often a character occurs counts
        ("aaaa", "bbbb", 4),
        ("aaaaaaaa", "", 4),  # up to four times
        ("a", "\u00a1", 0),  # 0x61 and 0xa1 are the same modulo 64
    ],
)
def test_the_bound_is_the_larger_number_of_characters_lost_or_won(
    left: str, right: str, bound: int
) -> None:
    assert bound_of_signatures(left, right) == bound
