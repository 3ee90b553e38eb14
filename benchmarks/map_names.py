"""Altered names of HPO mapped back to HPO, beside what a user would do without medsim.

A part of the concepts is left out of the standard. The alterations are not those that
probabilities are learned from.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from benchmarks.harness import BENCHMARKS, Measured, Settings
from benchmarks.harness.apart import apart
from medsim.core.progress import Progress
from medsim.core.store import Store
from medsim.mapping.map import map_names, read_names
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Callable

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PACKS = ("20 tablets", "100 ml", "(nos)", "- left", "ward 3", "unspecified", "see note")
_WITHOUT = 0.2  # share of the concepts that the standard lacks
_BINS = 10
_PRECISE = 0.95
_BATCH = 200
_LONG = 6  # letters of a word that loses its vowels


def measure(settings: Settings) -> Measured:
    """Return the seconds of CPU and what is right; see ``Measure``."""
    return apart(_measured, settings.size(4_000, 500))


def _measured(n_codes: int) -> Measured:
    with Store(threads=1) as store:
        _, names = read_names("hpo", ReadingOptions(), store, Progress())
    rng = np.random.default_rng(0)
    concepts = names["concept_id"].unique(maintain_order=True)
    drawn = concepts.gather(rng.permutation(len(concepts))[:n_codes])
    lacking = drawn.head(int(_WITHOUT * n_codes))
    standard = names.filter(~pl.col("concept_id").is_in(lacking.implode()))
    local = _altered(names, drawn, rng).join(
        standard.select("concept_id", has_match=True).unique(), on="concept_id", how="left"
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("local.csv", "standard.csv", "out")]
        local.select("code", "term").write_csv(files[0])
        standard.select(
            "concept_id", "term", kind=pl.when("is_main").then(pl.lit("fsn"))
        ).write_csv(files[1])
        began = time.process_time()
        mapping = map_names(
            files[0], files[1], files[2], columns=["concept=code"], threads=1, progress=Progress()
        )
        seconds = time.process_time() - began
        found = (
            mapping.candidates()
            .join(local, on="code")
            .with_columns(is_right=pl.col("concept_id") == pl.col("concept_id_right"))
        )
        none = mapping.local().join(local, on="code", maintain_order="left")
    known = local["has_match"].sum()
    first = found.filter(rank=1)
    at = {n: found.filter("is_right", pl.col("rank") <= n).height / known for n in (1, 5)}
    error, covered = _calibration(first["probability"].to_numpy(), first["is_right"].to_numpy())
    lacks = (none["none_probability"] > none["probability"].fill_null(0)).filter(
        none["has_match"].is_null()
    )
    others = {name: rank(local, standard) for name, rank in _OTHERS.items()}
    said = [
        f"accuracy@1 {at[1]:.3f}, @5 {at[5]:.3f}",
        *(f"{name} {right:.3f}, {right5:.3f}" for name, (right, right5) in others.items()),
        f"calibration error {error:.3f}",
        f"coverage at 95% precision {covered * len(first) / n_codes:.3f}",
        f"no match found {lacks.sum() / len(lacks):.3f}",
    ]
    rows = found.select("code", "concept_id", pl.col("probability").round(6)).write_csv()
    return Measured(
        about=f"HPO, {n_codes:,} altered names, {_WITHOUT:.0%} without a match; {'; '.join(said)}",
        times=f"{seconds:.1f} s of CPU",
        fingerprint=hashlib.sha256(rows.encode()).hexdigest()[:16],
    )


def _altered(names: pl.DataFrame, drawn: pl.Series, rng: np.random.Generator) -> pl.DataFrame:
    """Return a name of each concept as somebody else writes it: code, concept_id and term."""
    known = dict(names.group_by("concept_id").agg("term").iter_rows())
    rows = []
    for number, concept in enumerate(drawn):
        term = known[concept][rng.integers(len(known[concept]))]
        rows.append((f"L{number:05}", concept, _WAYS[number % len(_WAYS)](term, rng)))
    return pl.DataFrame(rows, ["code", "concept_id", "term"], orient="row")


def _mistyped(term: str, rng: np.random.Generator) -> str:
    at = int(rng.integers(len(term)))
    return term[:at] + _LETTERS[rng.integers(len(_LETTERS))] + term[at + 1 :]


_WAYS: tuple[Callable[[str, np.random.Generator], str], ...] = (
    _mistyped,
    lambda term, rng: _mistyped(_mistyped(term, rng), rng),
    lambda term, _rng: ", ".join(reversed(term.split())),
    lambda term, rng: f"{term} {_PACKS[rng.integers(len(_PACKS))]}",
    lambda term, _rng: re.sub(rf"\w{{{_LONG},}}", lambda word: _without_vowels(word[0]), term),
    lambda term, _rng: term.upper().replace(" ", "-"),
)


def _without_vowels(word: str) -> str:
    return word[0] + re.sub("[aeiou]", "", word[1:])


def _calibration(probabilities: Any, is_right: Any) -> tuple[float, float]:
    """Return the expected calibration error, and the share that 95% precision leaves."""
    bins = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    parts = [bins == number for number in range(_BINS) if (bins == number).any()]
    error = sum(
        abs(probabilities[part].mean() - is_right[part].mean()) * part.mean() for part in parts
    )
    order = np.argsort(-probabilities, kind="stable")
    precision = np.cumsum(is_right[order]) / np.arange(1, len(order) + 1)
    precise = np.flatnonzero(precision >= _PRECISE)
    return float(error), float((precise.max(initial=-1) + 1) / len(order))


def _by_equality(local: pl.DataFrame, standard: pl.DataFrame) -> tuple[float, float]:
    lower = pl.col("term").str.to_lowercase()
    equal = (
        local.filter("has_match")
        .with_columns(lower)
        .join(standard.with_columns(lower), on=["concept_id", "term"], how="semi")
    )
    share = equal.height / int(local["has_match"].sum())
    return share, share


def _by_distance(local: pl.DataFrame, standard: pl.DataFrame) -> tuple[float, float]:
    names = standard["term"].str.to_lowercase().to_list()

    def distances(queries: list[str]) -> Any:
        lower = [query.lower() for query in queries]
        return -cdist(lower, names, scorer=Levenshtein.distance, dtype=np.int32, workers=1)

    return _ranked(local, standard, distances)


def _by_tfidf(local: pl.DataFrame, standard: pl.DataFrame) -> tuple[float, float]:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 — of benchmarks

    fitted = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3))
    vectors = fitted.fit_transform(standard["term"].to_list()).T.tocsr()
    return _ranked(local, standard, lambda queries: (fitted.transform(queries) @ vectors).toarray())


def _ranked(
    local: pl.DataFrame, standard: pl.DataFrame, scores_of: Callable[[list[str]], Any]
) -> tuple[float, float]:
    """Return accuracy@1 and @5 of concepts by their most similar name."""
    concepts = standard["concept_id"].to_numpy()
    asked, hits = local.filter("has_match"), np.zeros(2)
    for part in asked.iter_slices(_BATCH):
        scores = scores_of(part["term"].to_list())
        for row, right in zip(scores, part["concept_id"], strict=True):
            nearest = np.argpartition(-row, 100)[:100]
            order = nearest[np.argsort(-row[nearest], kind="stable")]
            ranking = [*dict.fromkeys(concepts[order])]
            hits += ranking[0] == right, right in ranking[:5]
    first, fifth = hits / asked.height
    return float(first), float(fifth)


_OTHERS = {"exact": _by_equality, "edit distance": _by_distance, "TF-IDF": _by_tfidf}

BENCHMARKS.register("map_names", measure)
