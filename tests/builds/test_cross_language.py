"""Builds in several languages, compared with brute force that shares no code with medsim."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.builds import alter
from fixtures.release import Release
from oracles import pairs as oracle
from oracles.hashing import tie_hash
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LANGUAGES = ("en", "es", "fr")
SEED = 4
POOLS = ("set", "terminology")
OPTIONS = {"language": "en,es,fr", "seed": SEED}

Texts = tuple[str, str]
Part = tuple[str, str, str]  # difficulty and two languages


def release_in(languages: Sequence[str]) -> Release:
    """Return a release whose concepts have names in some languages; a few share a name."""
    draws, release = random.Random(7), Release()  # noqa: S311 — of invented names
    for number in range(24):
        concept = release.concept(str(1000 + number))
        for language in languages:
            for kind in ("fsn", "synonym", "synonym", "synonym"):
                letters = "abcdeé" if language == "fr" else "abcde"
                name = "".join(draws.choices(letters, k=draws.randint(3, 14)))
                name = draws.choice(["asma", "Asma", "mal"]) if draws.random() < 0.06 else name
                if draws.random() < (0.95 if (language, kind) == ("en", "fsn") else 0.5):
                    release.description(concept, name, kind, language=language)
    retired = release.concept("2000", active=False)
    release.description(retired, "abcdefg")
    release.description(retired, "gfedcba", language="es")
    release.association(retired, "1000", "same_as")
    return release


class Model:
    """A model of counted letters."""

    def encode(self, terms: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """Return a vector of each term."""
        rows = [[term.lower().count(letter) for letter in "abcdefgé "] for term in terms]
        return np.array(rows, np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release, and a build of it in three languages with either pool."""
    folder = tmp_path_factory.mktemp("languages")
    release_in(LANGUAGES).write_folder(folder / "release", "Full")
    for pool in POOLS:
        medsim.build(
            *(folder / "release", folder / pool),
            **OPTIONS,
            pool=pool,
            negatives=["random", "levenshtein", "embedding"],
            embedding=medsim.Embedding(Model(), name="letters", version="1"),
        )
    return folder


@pytest.fixture(scope="module", params=POOLS)
def build(request: pytest.FixtureRequest, folder: Path) -> medsim.Build:
    return medsim.open(folder / request.param)


def names_of(folder: Path) -> dict[str, dict[str, set[str]]]:
    """Return the names of eligible concepts by language and concept."""
    rows = oracle.read_release(folder / "release")
    main = {(row.concept, row.language) for row in rows.descriptions if row.type == oracle.FSN_TYPE}
    eligible = {row.id for row in rows.concepts if row.active and (row.id, "en") in main}
    names: dict[str, dict[str, set[str]]] = {language: {} for language in LANGUAGES}
    for row in rows.descriptions:
        if row.concept in eligible:
            names[row.language].setdefault(row.concept, set()).add(row.term)
    return names


def positives_of(folder: Path) -> dict[Texts, tuple[Part, str]]:
    """Return the positives across languages, each with its difficulty, languages and concept."""
    names, found = names_of(folder), dict[Texts, tuple[str, str, str]]()
    for first, second in combinations(LANGUAGES, 2):
        for concept in sorted(names[first].keys() & names[second].keys()):
            for term1 in names[first][concept]:
                for term2 in names[second][concept]:
                    if term1.lower() != term2.lower():
                        found.setdefault((term1, term2), (first, second, concept))
    kept = {}
    for (term1, term2), (first, second, concept) in found.items():
        if (term2, term1) not in found or term1 < term2:
            distance = Levenshtein.distance(term1.lower(), term2.lower())
            part = ("easy" if distance <= 5 else "hard", first, second)
            kept[term1, term2] = part, concept
    return kept


def parts_of(build: medsim.Build, strategy: str, label: int) -> dict[Part, list[Texts]]:
    """Return the pairs of cross_language in order of text, in the order of parts."""
    parts: dict[Part, list[Texts]] = {}
    pairs = build.pairs("cross_language", negatives=strategy).filter(label=label)
    columns = ("difficulty", "language1", "language2", "term1", "term2")
    for row in pairs.select(columns).sort(columns).iter_rows():
        parts.setdefault(row[:3], []).append(row[3:])
    return parts


def test_positives_are_names_of_one_concept_in_two_languages(
    folder: Path, build: medsim.Build
) -> None:
    expected = positives_of(folder)
    assert len({part for part, _ in expected.values()}) == 6
    for strategy in build.strategies:
        pairs = build.pairs("cross_language", negatives=strategy).filter(label=1)
        columns = ("difficulty", "language1", "language2")
        actual = {
            (row["term1"], row["term2"]): (tuple(row[name] for name in columns), row["concept1"])
            for row in pairs.iter_rows(named=True)
        }
        assert actual == expected
        assert pairs.height == len(expected)
        assert pairs["concept1"].equals(pairs["concept2"])


def test_other_datasets_stay_in_the_first_language(folder: Path) -> None:
    build = medsim.open(folder / "terminology")
    alone = medsim.build(folder / "release", folder / "alone", negatives=["random"])
    columns = ("dataset", "difficulty", "term1", "term2", "concept1", "concept2")
    actual, expected = (
        each.pairs(negatives="random")
        .filter(pl.col("dataset") != "cross_language", label=1)
        .select(columns)
        .sort(columns)
        for each in (build, alone)
    )
    assert actual.equals(expected)
    english = {*build.table("description").filter(language="en").collect()["term"]}
    others = build.pairs().filter(pl.col("dataset") != "cross_language")
    assert {*others["term1"], *others["term2"]} <= english
    assert others["language1"].null_count() == others.height
    assert "language1" not in alone.pairs().collect_schema()
    assert alone.manifest.options["language"] == "en"
    assert build.manifest.options["language"] == "en,es,fr"
    with pytest.raises(OptionError, match="unknown dataset 'cross_language'"):
        alone.pairs("cross_language")


@pytest.mark.parametrize("strategy", ["levenshtein", "embedding"])
def test_negatives_are_the_nearest_names_in_the_second_language(
    folder: Path, build: medsim.Build, strategy: str
) -> None:
    names, positives = names_of(folder), parts_of(build, strategy, 1)
    actual = parts_of(build, strategy, 0)
    monolingual = oracle.positives(oracle.read_release(folder / "release"))
    across = {oracle.Pair(*pair, "", "") for pairs in positives.values() for pair in pairs}
    component = oracle.components({**monolingual, "cross_language": across})
    earlier = build.pairs(negatives=strategy).filter(pl.col("dataset") != "cross_language", label=0)
    barred = {frozenset(row) for row in earlier.select("term1", "term2").iter_rows()}
    terms = sorted({name for of in names.values() for spelt in of.values() for name in spelt})
    vectors = dict(zip(terms, Model().encode(terms).tolist(), strict=True))

    def nearness(pair: Texts) -> tuple[float, int]:
        if strategy == "embedding":
            return -oracle.cosine(vectors[pair[0]], vectors[pair[1]]), tie_hash(SEED, *pair)
        return Levenshtein.distance(*(term.lower() for term in pair)), tie_hash(SEED, *pair)

    assert actual.keys() == positives.keys()
    for part in positives:
        pool = {second for _, second in positives[part]}
        if build.folder.name == "terminology":
            pool = {name for spelt in names[part[2]].values() for name in spelt}
        expected = []
        for term, n_wanted in sorted(Counter(first for first, _ in positives[part]).items()):
            group = component[term.lower()]
            allowed = [
                (term, other)
                for other in sorted(pool)
                if component.get(other.lower()) != group and {term, other} not in barred
            ]
            chosen = sorted(allowed, key=nearness)[:n_wanted]
            expected += chosen
            barred |= {frozenset(pair) for pair in chosen}
        assert sorted(expected) == actual[part], part


def test_random_negatives_are_in_the_second_language(folder: Path, build: medsim.Build) -> None:
    names, positives = names_of(folder), parts_of(build, "random", 1)
    outside = False
    for part, negatives in parts_of(build, "random", 0).items():
        spelt = {name for of_concept in names[part[2]].values() for name in of_concept}
        seconds = {second for _, second in negatives}
        assert seconds <= spelt
        outside |= not seconds <= {second for _, second in positives[part]}
        firsts, expected = ([term for term, _ in pairs] for pairs in (negatives, positives[part]))
        assert sorted(firsts) == sorted(expected)
    assert outside == (build.folder.name == "terminology")


@pytest.mark.full
def test_every_guarantee_holds_and_a_wrong_language_is_found(folder: Path, tmp_path: Path) -> None:
    build = medsim.open(folder / "terminology")
    model = medsim.Embedding(Model(), name="letters", version="1")
    assert medsim.verify(build, sample="all", embedding=model).holds
    path = "pairs/dataset=cross_language/difficulty=hard/negatives=random/data.parquet"
    shutil.copytree(build.folder, tmp_path / "copied")
    alter(tmp_path / "copied", path, lambda pairs: pairs.with_columns(language2=pl.lit("fr")))

    findings = medsim.verify(tmp_path / "copied", sample=0, embedding=model).findings

    broken = {*findings.filter(pl.col("violations") > 0)["check"]}
    assert {"positives", "cross_language", "foreign_term"} <= broken


def test_results_are_by_language_and_the_headline_is_of_the_first(folder: Path) -> None:
    build = medsim.open(folder / "set")
    model = {"letters": Model()}
    evaluation = medsim.evaluate(build, out=folder / "results", embeddings=model, metrics=["cos"])
    results = evaluation.results().filter(embedding="letters")
    across = results.filter(pl.col("dataset").str.starts_with("cross_language"))
    names = {f"cross_language/{first}-{second}" for first, second in combinations(LANGUAGES, 2)}
    assert {*across["dataset"]} == names
    sizes = across.filter(statistic="auc", subset="common", negatives="random")
    for dataset, difficulty, n_pairs in sizes.select("dataset", "difficulty", "n_pairs").rows():
        part = (difficulty, *dataset.partition("/")[2].split("-"))
        assert n_pairs == sum(len(parts_of(build, "random", label)[part]) for label in (0, 1))
    assert sizes.height == 6
    assert {*results.filter(statistic="auc_matched")["dataset"]} == {"syn_syn"}


@pytest.mark.full
def test_shards_give_the_same_rows_and_splits_share_no_name(folder: Path) -> None:
    places, options = (folder / "release", folder / "merged"), {**OPTIONS, "pool": "terminology"}
    medsim.build_shard(*places, shard="1/1", **options)
    build, whole = medsim.merge(places[1]), medsim.open(folder / "terminology")
    for strategy in build.strategies:
        actual, expected = (each.pairs(negatives=strategy) for each in (build, whole))
        assert actual.equals(expected)

    splits = medsim.split(build, folder / "splits", ratios="60/40")

    assert medsim.verify(splits, build=build, sample="all").holds
    counts = splits.sizes().filter(count_of="cross_language").row(0, named=True)
    assert counts["train"] + counts["test"] == len(positives_of(folder))
    assert min(counts["train"], counts["test"]) > 0


@pytest.mark.parametrize(
    ("language", "error", "message"),
    [
        ("en,de", InputError, "no active descriptions in language 'de'"),
        ("en, es,en", OptionError, "names a language twice"),
        ("en,EN", OptionError, "names a language twice"),
        ("en,", OptionError, "needs codes with commas between them, such as en,es"),
        ("", OptionError, "needs codes with commas between them, such as en,es"),
        ("en,Greek", InputError, "no active descriptions in language 'greek'; languages found: en"),
    ],
)
def test_unusable_languages_are_refused(
    folder: Path, tmp_path: Path, language: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        medsim.build(folder / "release", tmp_path / "out", language=language)


def test_a_converted_release_has_one_language(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no active descriptions in language 'en,es'"):
        medsim.convert(folder / "release", tmp_path / "out.zip", language="en,es")


def test_minimal_negatives_alone_are_split(folder: Path, tmp_path: Path) -> None:
    options = {"language": ",".join(LANGUAGES[:2]), "negatives": ["minimal"]}
    build = medsim.build(folder / "release", tmp_path / "build", **options)
    assert "cross_language" not in {*build.stats()["dataset"]}
    splits = medsim.split(build, tmp_path / "splits", ratios="50/50")
    assert medsim.verify(splits, sample=0).holds
