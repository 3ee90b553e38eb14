"""Every registered metric compares all terms with all as it compares pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from medsim.embeddings import metrics
from medsim.embeddings.metrics import METRICS, Metric, TermPoints, WordBags, Workers

every_metric = pytest.mark.parametrize("name", list(METRICS.all()))
ONE = Workers(threads=1)


def embedded_for(metric: Metric, *, steps: int, width: int) -> WordBags | TermPoints:
    """300 terms of one to four of 80 words, or of a vector each; few steps give ties and zeros."""
    draw = np.random.default_rng(steps)
    vectors = draw.integers(-steps, steps + 1, (300, width)).astype(np.float32)
    vectors[0], vectors[1] = 0, 1
    if metric.of is TermPoints:
        return TermPoints(vectors=vectors)
    starts = np.concatenate([[0], np.cumsum(draw.integers(1, 5, 300))]).astype(np.int64)
    words = draw.integers(0, 80, starts[-1]).astype(np.int32)
    return WordBags(vectors=vectors[:80], words=words, starts=starts)


def pairwise(metric: Metric, embedded: WordBags | TermPoints, left: np.ndarray, right: np.ndarray):
    first, second = np.repeat(left, len(right)), np.tile(right, len(left))
    found = metric.similarities(embedded, first, second, ONE).astype(np.float32)
    return found.reshape(len(left), len(right))


@every_metric
@pytest.mark.parametrize(("steps", "width"), [(1, 2), (2, 9), (10**6, 70)])
def test_a_table_has_the_similarities_of_its_pairs(name: str, steps: int, width: int) -> None:
    metric = METRICS.get(name)
    embedded = embedded_for(metric, steps=steps, width=width)
    terms = np.random.default_rng(1).permutation(300)[:280].astype(np.int32)

    found = metric.tabulated(embedded, terms, ONE)(slice(100, 140))

    assert found.dtype == np.float32
    assert (found == pairwise(metric, embedded, terms[100:140], terms)).all()


@every_metric
def test_a_table_depends_neither_on_threads_nor_on_what_is_asked_at_once(
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
def test_terms_of_the_same_words_are_equally_similar_to_every_other(name: str) -> None:
    metric = METRICS.get(name)
    embedded = embedded_for(metric, steps=10**6, width=30)
    terms = np.array([7, 50, 7, 20, 50], np.int32)
    found = metric.tabulated(embedded, terms, ONE)(slice(0, 5))
    assert (found[:, 0] == found[:, 2]).all()
    assert (found[1] == found[4]).all()


@every_metric
def test_a_metric_without_tables_compares_pair_by_pair(name: str) -> None:
    metric = replace(METRICS.get(name), tabulate=None)
    embedded = embedded_for(metric, steps=5, width=4)
    terms = np.array([4, 2, 9, 299], np.int32)
    found = metric.tabulated(embedded, terms, ONE)(slice(1, 3))
    assert (found == pairwise(metric, embedded, terms[1:3], terms)).all()


@every_metric
def test_no_terms_have_an_empty_table(name: str) -> None:
    metric = METRICS.get(name)
    embedded = embedded_for(metric, steps=5, width=4)
    none = np.empty(0, np.int32)
    assert metric.tabulated(embedded, none, ONE)(slice(0, 0)).shape == (0, 0)
