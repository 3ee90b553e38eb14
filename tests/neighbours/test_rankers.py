"""Names ranked by TF-IDF, against scikit-learn's."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from medsim.neighbours import rankers
from medsim.neighbours.rankers import FOUND, names_by_tfidf

SYLLABLES = ["ba", "de", "ger", "ïn", "ko", "lam", "mi", "nor", "o", "pra", "st", "1", ",", "syn"]


def invented(n_names: int, seed: int) -> list[str]:
    """Return names of few syllables, some much more frequent than others."""
    draw = random.Random(seed)  # noqa: S311 — of invented names
    weights = [1 / place for place in range(1, len(SYLLABLES) + 1)]
    return [
        " ".join("".join(draw.choices(SYLLABLES, weights, k=draw.randint(1, 5))) for _ in range(n))
        for n in draw.choices(range(1, 6), k=n_names)
    ]


def altered(names: list[str], n_queries: int, seed: int) -> list[str]:
    """Return names with a letter less, in reverse order, or with a word more."""
    draw = random.Random(seed)  # noqa: S311 — of invented names
    some = draw.sample(names, n_queries)
    texts = []
    for name in some:
        at, way = draw.randrange(len(name)), draw.randrange(3)
        reordered = " ".join(reversed(name.split()))
        texts.append([name[:at] + name[at + 1 :], reordered, name + " prako"][way])
    return [" ".join(text.split()) for text in texts]  # scikit-learn joins spaces


def check(names: list[str], queries: list[str], depth: int, threads: int = 1) -> pl.DataFrame:
    """Return the names found, after a comparison with all cosines of scikit-learn's vectors."""
    found = names_by_tfidf(pl.Series(names), pl.Series(queries), depth, threads)
    assert found.schema == FOUND
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
    of_names = vectorizer.fit_transform([f" {name} " for name in names])
    cosines = (vectorizer.transform([f" {query} " for query in queries]) @ of_names.T).toarray()
    pairs = tuple(found.select("query_id", "name_id").to_numpy().T)
    np.testing.assert_allclose(found["score"], cosines[pairs], rtol=1e-6)
    best = -np.sort(-cosines, axis=1)[:, :depth]
    np.testing.assert_allclose(found["score"], best[best > 0], rtol=1e-6)
    assert found.equals(found.sort("query_id", -pl.col("score"), "name_id"))
    assert not found.select("query_id", "name_id").is_duplicated().any()
    return found


@pytest.mark.parametrize(("depth", "n_at_once"), [(1, 1 << 17), (10, 700), (100, 1_000)])
def test_names_are_those_of_the_highest_cosine(
    depth: int, n_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankers, "_VECTORS_AT_ONCE", n_at_once)
    names = invented(3_000, 1)
    check(names, altered(names, 300, 2), depth)


def test_results_do_not_depend_on_threads_and_on_how_many_are_searched_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = invented(1_000, 3)
    whole = check(names, altered(names, 200, 4), 7)
    monkeypatch.setattr(rankers, "_VECTORS_AT_ONCE", 64)
    monkeypatch.setattr(rankers, "_QUERIES_AT_ONCE", 9)
    assert check(names, altered(names, 200, 4), 7, threads=2).equals(whole)


def test_equal_names_are_found_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankers, "_VECTORS_AT_ONCE", 30)
    found = check(["balam"] * 100, ["balam", "lam"], 40)
    assert found["name_id"].to_list() == [*range(40)] * 2


def test_more_names_than_there_are_cannot_be_found() -> None:
    assert check(["balam", "ko"], ["balam ko", "balam"], 10)["name_id"].to_list() == [0, 1, 0]
    assert check(["balam"], ["balam"], 10).rows() == [(0, 0, 1.0)]


def test_queries_without_known_trigrams_find_nothing() -> None:
    found = check(["balam", "ko", "ïn"], ["xyz", "", "ïn", "ïxn"], 2)
    assert found.rows() == [(2, 2, 1.0)]


@pytest.mark.parametrize(("names", "queries"), [([], ["ba"]), (["ba"], []), ([], []), ([""], [""])])
def test_nothing_is_found_without_names_or_queries(names: list[str], queries: list[str]) -> None:
    pool, asked = (pl.Series(texts, dtype=pl.String) for texts in (names, queries))
    assert names_by_tfidf(pool, asked, 3, 1).equals(pl.DataFrame(schema=FOUND))


def test_a_name_of_ten_thousand_letters_is_compared() -> None:
    draw = random.Random(5)  # noqa: S311 — of invented names
    long = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=10_000))
    check([*invented(50, 6), long, long[::-1], "a" * 10_000], [long, long[:5_000], "aaaa ba"], 3)
