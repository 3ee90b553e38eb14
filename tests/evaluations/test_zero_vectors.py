"""A zero vector counts as missing, for every kind of source and metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_text

import medsim
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import identify
from medsim.embeddings.options import embedding_spec
from medsim.tagging.tagger import embed_words

WORDS = {
    "brook": [0.0, 0.0, -0.0],
    "fen": [0.8, 0.3, 0.1],
    "ridge": [0.1, 0.9, 0.4],
    "cliff": [0.3, 0.7, 0.5],
    "hill": [0.2, 0.8, 0.1],
    "marsh": [0.85, 0.2, 0.2],
}
RATED = [
    ("brook", "fen", 4.0),
    ("brook", "ridge", 1.0),
    ("fen", "cliff", 2.0),
    ("ridge", "cliff", 3.5),
    ("hill", "ridge", 3.0),
    ("marsh", "fen", 4.5),
]


def of_texts(texts: Sequence[str]) -> np.ndarray:
    return np.array([WORDS[text] for text in texts])


SOURCES: dict[str, Callable[[Path], Any]] = {
    "function": lambda _: of_texts,
    "mapping": lambda _: WORDS,
    "mapping of terms": lambda _: medsim.Embedding(WORDS, keys="terms"),
    "text": lambda folder: write_text(folder / "words.txt", WORDS, header=False),
}


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    lines = ["term1,term2,rating", *(",".join(map(str, pair)) for pair in RATED)]
    (tmp_path / "rated.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "rated.csv"


def evaluate(rated: Path, source: Any, **options: Any) -> medsim.Evaluation:
    out, cache = rated.with_name("out"), rated.with_name("cache")
    return medsim.evaluate(rated, {"own": source}, out, resamples=200, cache=cache, **options)


def spearman(evaluation: medsim.Evaluation) -> dict[str, tuple[float, int]]:
    rows = evaluation.results().filter(pl.col("embedding") != "baseline", statistic="spearman")
    rows = rows.filter(subset="own")
    return {name: (value, n) for name, value, n in rows["metric", "value", "n_covered"].rows()}


def cosine_of(word1: str, word2: str) -> float:
    a, b = np.array(WORDS[word1]), np.array(WORDS[word2])
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def by_cosine() -> float:
    """Return Spearman's correlation of the four pairs without a zero vector."""
    nonzero = [row for row in RATED if any(WORDS[row[0]]) and any(WORDS[row[1]])]
    cosines, ratings = [cosine_of(a, b) for a, b, _ in nonzero], [rating for *_, rating in nonzero]
    ranks = [np.argsort(np.argsort(values)) for values in (cosines, ratings)]
    return float(np.corrcoef(*ranks)[0, 1])


def warning_of(n_zero: int, kind: str) -> str:
    counted = f"{n_zero} {kind}{'s' * (n_zero > 1)}"
    return f"own has {counted} with a zero vector; such {kind}s count as out of vocabulary"


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_pairs_with_a_zero_vector_are_left_out_for_every_source(
    make: Callable[[Path], Any], rated: Path
) -> None:
    evaluation = evaluate(rated, make(rated.parent))

    scores = spearman(evaluation)
    assert {n for _, n in scores.values()} == {4}
    cosine = "avg_cos" if "avg_cos" in scores else "cos"
    assert scores[cosine][0] == pytest.approx(by_cosine())
    uncovered = evaluation.coverage().row(0, named=True)
    assert (uncovered["n_terms_uncovered"], uncovered["n_pairs_uncovered"]) == (1, 2)
    kind = "word" if cosine == "avg_cos" else "term"
    assert evaluation.manifest.warnings[0] == warning_of(1, kind)


@pytest.mark.parametrize(("coverage", "n_covered"), [("all", 1), ("any", 2)])
def test_a_word_with_a_zero_vector_is_unknown_within_a_term(
    rated: Path, coverage: str, n_covered: int
) -> None:
    rated.write_text(
        "term1,term2,rating\nbrook fen,ridge,1\nfen hill,ridge,2\nbrook,ridge,3\n", encoding="utf-8"
    )

    evaluation = evaluate(rated, WORDS, coverage=coverage, metrics=["avg_cos", "pair_cos"])

    assert {n for _, n in spearman(evaluation).values()} == {n_covered}
    similar = evaluation.pairs().join(evaluation.scores(), on="pair_id").collect()
    values = similar.filter(term1="brook fen")["similarity"].to_list()
    expected = None if coverage == "all" else pytest.approx(cosine_of("fen", "ridge"))
    assert values == [expected] * 2


def test_the_next_form_of_a_word_is_used_if_the_first_has_a_zero_vector(rated: Path) -> None:
    rated.write_text("term1,term2,rating\nFen,ridge,1\nfen,ridge,2\n", encoding="utf-8")

    evaluation = evaluate(rated, WORDS | {"Fen": [0, 0, 0]}, metrics=["avg_cos"])

    similarities = evaluation.scores().collect()["similarity"]
    assert similarities[0] == similarities[1] == pytest.approx(cosine_of("fen", "ridge"))


def test_taggers_treat_a_word_with_a_zero_vector_as_unknown() -> None:
    progress = Progress()
    named = identify(embedding_spec(WORDS | {",": [0, 0, 0]}, "own"), progress)
    words = sorted({*WORDS, ","})

    table = embed_words(named, words, progress, 1, None)

    assert table.knows(words).tolist() == [bool(np.any(WORDS.get(word, 0))) for word in words]
    assert progress.warnings == [warning_of(2, "word")]
