"""Every registered metric against a simple oracle, and tables against pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.metrics import METRICS as TWINS
from oracles.metrics import SIMILARITIES

from medsim.embeddings import metrics
from medsim.embeddings.metrics import METRICS, Metric, TermPoints, WordBags, Workers, averages
from medsim.embeddings.metrics import pairs as paired

OF_WORDS = sorted(name for name, metric in METRICS.all().items() if metric.kind is WordBags)
OF_TERMS = sorted(name for name, metric in METRICS.all().items() if metric.kind is TermPoints)
ONE = Workers(threads=1)


def bags_of(terms: list[list[int]], words: np.ndarray) -> WordBags:
    starts = np.concatenate([[0], np.cumsum([len(term) for term in terms])]).astype(np.int64)
    flat = np.array([word for term in terms for word in term], np.int32)
    return WordBags(vectors=words.astype(np.float32), words=flat, starts=starts)


def random_bags(seed: int, *, n_words: int, n_terms: int, width: int, steps: int) -> WordBags:
    """Words are vectors of few whole numbers, for many ties and zeros and exact sums."""
    draw = np.random.default_rng(seed)
    words = draw.integers(-steps, steps + 1, (n_words, width))
    terms = [draw.integers(0, n_words, draw.integers(1, 5)).tolist() for _ in range(n_terms)]
    return bags_of(terms, words)


def matrix(bags: WordBags, term: int) -> np.ndarray:
    return bags.vectors[bags.words[bags.starts[term] : bags.starts[term + 1]]].astype(np.float64)


def twins_of(name: str, bags: WordBags, first: np.ndarray, second: np.ndarray) -> list[float]:
    pairs = zip(first, second, strict=True)
    return [TWINS[name](matrix(bags, a), matrix(bags, b)) for a, b in pairs]


def all_pairs(n_terms: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.divmod(np.arange(n_terms * n_terms, dtype=np.int32), np.int32(n_terms))
    return first, second


def test_the_metrics_of_the_paper_are_there_and_every_metric_has_a_twin() -> None:
    correlations = ["cos", "kendall", "pearson", "spearman"]
    of_words = {f"{kind}_{name}" for name in correlations for kind in ("avg", "pair")}
    assert set(SIMILARITIES) == set(OF_TERMS) >= set(correlations)
    assert set(TWINS) == set(OF_WORDS) >= of_words | {"fuzzy_jaccard", "max_jaccard"}


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize(("width", "steps"), [(1, 1), (9, 1), (200, 10**6)])
def test_a_metric_of_terms_is_its_twin(name: str, width: int, steps: int) -> None:
    points = np.random.default_rng(width).integers(-steps, steps + 1, (8, width))
    points[0], points[1] = 0, 3  # no direction, no order
    first, second = all_pairs(8)

    values = METRICS.get(name).similarities(
        TermPoints(vectors=points.astype(np.float32)), first, second, ONE
    )

    twin = SIMILARITIES[name]
    expected = [twin(points[a] * 1.0, points[b] * 1.0) for a, b in zip(first, second, strict=True)]
    assert values == pytest.approx(expected, abs=1e-9)


@settings(max_examples=20)  # each compares 90 similarities with plain Python
@given(
    seed=st.integers(0, 2**32),
    width=st.sampled_from([1, 2, 7, 12, 129]),
    steps=st.sampled_from([1, 2, 2000]),
)
def test_all_metrics_are_their_twins_on_any_words(seed: int, width: int, steps: int) -> None:
    bags = random_bags(seed, n_words=4, n_terms=3, width=width, steps=steps)
    first, second = all_pairs(3)
    for name in TWINS:
        values = METRICS.get(name).similarities(bags, first, second, ONE)
        assert values == pytest.approx(twins_of(name, bags, first, second), abs=1e-6), name


@pytest.mark.parametrize("name", [*OF_WORDS, *OF_TERMS])
def test_similarities_depend_neither_on_threads_nor_blocks_nor_order(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(5)
    bags = random_bags(5, n_words=30, n_terms=40, width=24, steps=1000)
    embedded = bags if name in OF_WORDS else TermPoints(vectors=bags.vectors)
    n_terms = 40 if name in OF_WORDS else 30
    first, second = (draw.integers(0, n_terms, 6_000).astype(np.int32) for _ in range(2))
    similarities = METRICS.get(name).similarities
    advanced: list[int] = []

    expected = similarities(embedded, first, second, Workers(threads=1, advance=advanced.append))

    assert sum(advanced) == 6_000
    assert (similarities(embedded, first, second, Workers(threads=5)) == expected).all()
    order = draw.permutation(6_000)
    assert (similarities(embedded, first[order], second[order], ONE) == expected[order]).all()
    monkeypatch.setattr(averages, "BLOCK_VALUES", 24 * 7)
    monkeypatch.setattr(paired, "WORD_PAIRS_AT_ONCE", 300)
    part = slice(0, 500)
    assert (similarities(embedded, first[part], second[part], ONE) == expected[part]).all()


@pytest.mark.parametrize("name", [*OF_WORDS, *OF_TERMS])
def test_metrics_report_progress(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(5)
    bags = random_bags(5, n_words=30, n_terms=40, width=24, steps=1000)
    embedded = bags if name in OF_WORDS else TermPoints(vectors=bags.vectors)
    first, second = (draw.integers(0, 30, 600).astype(np.int32) for _ in range(2))
    monkeypatch.setattr(metrics, "_ROWS_A_TASK", 50)
    monkeypatch.setattr(paired, "WORD_PAIRS_AT_ONCE", 300)
    advanced: list[int] = []

    METRICS.get(name).similarities(
        embedded, first, second, Workers(threads=1, advance=advanced.append)
    )

    assert sum(advanced) == 600
    assert max(advanced) < 200


@pytest.mark.parametrize("name", [*OF_WORDS, *OF_TERMS])
def test_no_pairs_have_no_similarities_and_no_terms_an_empty_table(name: str) -> None:
    bags = random_bags(1, n_words=3, n_terms=2, width=4, steps=2)
    embedded = bags if name in OF_WORDS else TermPoints(vectors=bags.vectors)
    metric, none = METRICS.get(name), np.empty(0, np.int32)
    assert metric.similarities(embedded, none, none, ONE).shape == (0,)
    assert metric.tabulated(embedded, none, ONE)(slice(0, 0)).shape == (0, 0)


@pytest.mark.parametrize("name", [*OF_WORDS, *OF_TERMS])
def test_a_term_is_most_similar_to_itself(name: str) -> None:
    if name.startswith("pair_"):
        terms = [
            [word] for word in range(6)
        ]  # otherwise the words of a term differ from each other
    else:
        terms = [[0, 1], [2], [3, 4, 5], [1, 1, 2], [5], [0]]
    words = np.random.default_rng(2).normal(size=(6, 50))
    bags = bags_of(terms, words)
    embedded = bags if name in OF_WORDS else TermPoints(vectors=bags.vectors)
    ids = np.arange(6, dtype=np.int32)

    values = METRICS.get(name).similarities(embedded, ids, ids, ONE)

    assert (values.astype(np.float32) == 1).all()


@pytest.mark.parametrize(
    ("name", "pair", "words"),
    [
        # Universe: both words. A term's membership is 1 in its word and 0, not -1, in the other.
        ("fuzzy_jaccard", [0, 1], [[1.0, 0.0], [-1.0, 0.0]]),
        # nothing is positive
        ("fuzzy_jaccard", [1, 1], [[-1.0, 0.0], [0.0, 0.0]]),
        ("max_jaccard", [1, 1], [[-1.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_the_jaccard_index_of_disjoint_terms_is_zero(
    name: str, pair: list[int], words: list[list[float]]
) -> None:
    bags, (first, second) = bags_of([[0], [1]], np.array(words)), np.array(pair, np.int32)[:, None]
    assert METRICS.get(name).similarities(bags, first, second, ONE).tolist() == [0.0]


every_metric = pytest.mark.parametrize("name", list(METRICS.all()))


def embedded_for(metric: Metric, *, steps: int, width: int) -> WordBags | TermPoints:
    """300 terms of one to four of 80 words, or of one vector each, with many ties and zeros."""
    draw = np.random.default_rng(steps)
    vectors = draw.integers(-steps, steps + 1, (300, width)).astype(np.float32)
    vectors[0], vectors[1] = 0, 1
    if metric.kind is TermPoints:
        return TermPoints(vectors=vectors)
    starts = np.concatenate([[0], np.cumsum(draw.integers(1, 5, 300))]).astype(np.int64)
    words = draw.integers(0, 80, starts[-1]).astype(np.int32)
    return WordBags(vectors=vectors[:80], words=words, starts=starts)


def pairwise(metric: Metric, embedded: WordBags | TermPoints, left: np.ndarray, right: np.ndarray):
    first, second = np.repeat(left, len(right)), np.tile(right, len(left))
    values = metric.similarities(embedded, first, second, ONE).astype(np.float32)
    return values.reshape(len(left), len(right))


@every_metric
@pytest.mark.parametrize(("steps", "width"), [(1, 2), (2, 9), (10**6, 70)])
def test_a_table_has_the_similarities_of_its_pairs(name: str, steps: int, width: int) -> None:
    metric = METRICS.get(name)
    embedded = embedded_for(metric, steps=steps, width=width)
    terms = np.random.default_rng(1).permutation(300)[:280].astype(np.int32)

    values = metric.tabulated(embedded, terms, ONE)(slice(100, 140))

    assert values.dtype == np.float32
    assert (values == pairwise(metric, embedded, terms[100:140], terms)).all()


@every_metric
def test_a_table_depends_neither_on_threads_nor_on_its_slices(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = METRICS.get(name)
    embedded = embedded_for(metric, steps=1000, width=12)
    terms = np.arange(300, dtype=np.int32)

    expected = metric.tabulated(embedded, terms, ONE)(slice(0, 60))

    monkeypatch.setattr(metrics, "_COLUMNS_A_TASK", 37)
    table = metric.tabulated(embedded, terms, Workers(threads=5))
    parts = [table(slice(begin, begin + 20)) for begin in (0, 20, 40)]
    assert (np.concatenate(parts) == expected).all()
    mirrored = metric.tabulated(embedded, terms[::-1].copy(), ONE)(slice(240, 300))
    assert (mirrored[::-1, ::-1] == expected).all()


@every_metric
def test_a_metric_without_tables_compares_pair_by_pair(name: str) -> None:
    metric = replace(METRICS.get(name), tabulate=None)
    embedded = embedded_for(metric, steps=5, width=4)
    terms = np.array([4, 2, 9, 299], np.int32)
    values = metric.tabulated(embedded, terms, ONE)(slice(1, 3))
    assert (values == pairwise(metric, embedded, terms[1:3], terms)).all()
