"""Differences on rated pairs can be significant however many embeddings are compared."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import medsim

N_OTHERS = 22


def write_embeddings(
    folder: Path, pairs: list[tuple[str, str, float]], seed: int
) -> dict[str, Path]:
    """Write vectors whose cosines follow ratings from 0 to 1 with noise, and random ones."""
    draw = np.random.default_rng(seed)
    words = sorted({word for word1, word2, _ in pairs for word in (word1, word2)})
    at = {word: row for row, word in enumerate(words)}
    similarities = np.eye(len(words))
    for word1, word2, rating in pairs:
        i, j = at[word1], at[word2]
        similarities[i, j] = similarities[j, i] = rating + draw.normal(0, 0.1)
    values, vectors = np.linalg.eigh(similarities)
    embeddings = {"good": vectors * np.sqrt(np.maximum(values, 0))}
    for number in range(N_OTHERS):
        embeddings[f"random{number}"] = draw.normal(size=(len(words), 10))
    for name, rows in embeddings.items():
        lines = [
            " ".join([word, *map("{:.5f}".format, row)])
            for word, row in zip(words, rows, strict=True)
        ]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: folder / f"{name}.txt" for name in embeddings}


def standing_of_good(out: medsim.Evaluation) -> tuple[int, int]:
    table = medsim.compare(out, "spearman").filter(embedding="good")
    return table.select("n_better", "n_worse").row(0)


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("reach")
    draw = np.random.default_rng(5)
    pairs = [(f"a{at}", f"b{at}", float(draw.uniform())) for at in range(60)]
    table = pl.DataFrame(pairs, schema=["term1", "term2", "rating"], orient="row")
    table.write_csv(folder / "rated.csv")
    return folder, write_embeddings(folder, pairs, 1)


@pytest.mark.slow
@pytest.mark.full
def test_an_embedding_that_follows_the_ratings_beats_22_random_ones(
    invented: tuple[Path, dict[str, Path]],
) -> None:
    folder, embeddings = invented
    rated = folder / "rated.csv"

    evaluation = medsim.evaluate(rated, embeddings, folder / "usual", metrics=["avg_cos"])

    assert standing_of_good(evaluation) == (N_OTHERS, 0)
    assert medsim.compare(evaluation, "spearman", metrics=["avg_cos"]).equals(
        medsim.compare(evaluation, "spearman").filter(pl.col("embedding") != "baseline")
    )
    assert evaluation.manifest.warnings == []
    assert evaluation.manifest.options["resamples"] is None
    assert "10000 resamples" in evaluation.results()["signature"][0]


def test_too_few_resamples_give_a_warning_with_a_sufficient_number(
    invented: tuple[Path, dict[str, Path]],
) -> None:
    folder, embeddings = invented
    three = {name: embeddings[name] for name in ("good", "random0", "random1")}

    few = medsim.evaluate(
        folder / "rated.csv", three, folder / "few", resamples=100, metrics=["avg_cos"]
    )

    assert standing_of_good(few) == (0, 0)
    (warning,) = few.manifest.warnings
    assert "with 100 resamples none of 3 comparisons" in warning
    enough = int(re.findall(r"([\d,]+) `resamples` are", warning)[0].replace(",", ""))
    assert 2 * 3 / (enough + 1) < 0.05 <= 2 * 3 / enough
    assert few.comparisons()["p_bonferroni"].min() >= 0.05
    progress = medsim.Progress()
    medsim.compare(few, "spearman", metrics=["avg_cos"], progress=progress)
    assert progress.warnings == [warning]
