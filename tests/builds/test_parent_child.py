"""The dataset of children and parents, compared with walks through the hierarchy by networkx."""

from __future__ import annotations

import csv
import random
import shutil
from itertools import product
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import polars as pl
import pytest
from fixtures.builds import run, tampered
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.builds.options import Correction
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DATASET = "parent_child"
STRATEGIES = ("random", "levenshtein", "minimal", "embedding")
POOLS = ("set", "terminology")


class Model:
    """A model of counted letters."""

    def encode(self, terms: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """Return a vector of each term."""
        rows = [[term.lower().count(letter) for letter in "abcdefg "] for term in terms]
        return np.array(rows, np.float32)


Concept = tuple[str, list[str], list[str]]
"""The main name, the synonyms and the parents of a concept."""


def concepts(n: int = 90) -> dict[str, Concept]:
    """Return concepts with shared names, names of their parents, several parents and cycles."""
    draws, found = random.Random(5), dict[str, Concept]()  # noqa: S311 — of invented names

    def name() -> str:
        return " ".join("".join(draws.choices("abcdefg", k=draws.randint(2, 5))) for _ in "123")

    for number in range(n):
        n_parents = min(number, draws.choice([1, 1, 2]))
        parents = sorted({f"c{draws.randrange(number)}" for _ in range(n_parents)})
        names = [name() for _ in range(draws.randint(1, 3))]
        if parents and draws.random() < 0.1:
            names[0] = draws.choice([found[parents[0]][0].upper(), found["c0"][0]])
        if parents and draws.random() < 0.1:
            names.append(found[parents[0]][0])
        found[f"c{number}"] = names[0], names[1:], parents
    for below, above in (("c3", "c9"), ("c20", "c21"), ("c40", "c40")):
        found[below][2].append(above)
    return found


def write(path: Path, rows: dict[str, Concept]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Class ID", "Preferred Label", "Synonyms", "Parents"])
        for concept, (name, synonyms, parents) in rows.items():
            writer.writerow([concept, name, "|".join(synonyms), "|".join(parents)])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with builds of a table with either pool, and with the option or without it."""
    folder = tmp_path_factory.mktemp("hierarchy")
    source = write(folder / "names.csv", concepts())
    model = medsim.Embedding(Model(), name="letters", version="1")
    for pool, hierarchy in product(POOLS, (True, False)):
        out = folder / f"{pool}-{hierarchy}"
        options = {"pool": pool, "negatives": STRATEGIES, "embedding": model}
        medsim.build(source, out, hierarchy=hierarchy, **options)
    return folder


@pytest.fixture(scope="module", params=POOLS)
def build(request: pytest.FixtureRequest, folder: Path) -> medsim.Build:
    return medsim.open(folder / f"{request.param}-True")


def related_names() -> set[tuple[str, str]]:
    """Return the names in lower case of all concepts and their ancestors, in both directions."""
    graph = nx.DiGraph(
        (c, parent) for c, (_, _, parents) in concepts().items() for parent in parents
    )
    names = {
        c: {name.lower() for name in (main, *more)} for c, (main, more, _) in concepts().items()
    }
    return {
        pair
        for concept in graph
        for ancestor in nx.descendants(graph, concept)
        for one, other in product(names[concept], names[ancestor])
        for pair in ((one, other), (other, one))
    }


def expected_positives() -> set[tuple[str, str]]:
    rows = concepts()
    together = {
        (one.lower(), other.lower())
        for main, more, _ in rows.values()
        for one, other in product((main, *more), repeat=2)
    }
    found = {(main, rows[parent][0]) for main, _, parents in rows.values() for parent in parents}
    found = {pair for pair in found if tuple(map(str.lower, pair)) not in together}
    return {(one, other) for one, other in found if (other, one) not in found or one < other}


def texts(pairs: pl.DataFrame) -> list[tuple[str, str]]:
    return pairs.select("term1", "term2").rows()


def test_positives_are_main_names_of_child_and_parent(build: medsim.Build) -> None:
    for strategy in ("random", "levenshtein", "embedding"):
        pairs = build.pairs(DATASET, negatives=strategy).filter(label=1)
        assert sorted(texts(pairs)) == sorted(expected_positives())
        distances = [Levenshtein.distance(a.lower(), b.lower()) for a, b in texts(pairs)]
        is_easy = (pairs["difficulty"] == "easy").to_list()
        assert is_easy == [distance <= 5 for distance in distances]


def test_no_negative_has_an_ancestor_or_descendant(build: medsim.Build) -> None:
    related, n_near = related_names(), 0
    for strategy in ("random", "levenshtein", "embedding"):
        pairs = build.pairs(DATASET, negatives=strategy)
        negatives = texts(pairs.filter(label=0))
        assert len(negatives) > 60
        assert not related.intersection((a.lower(), b.lower()) for a, b in negatives)
        # Without the rule there would be some.
        others = texts(build.pairs("syn_syn", negatives=strategy).filter(label=0))
        n_near += len(related.intersection((a.lower(), b.lower()) for a, b in others))
    assert n_near > 0


def test_verify_confirms_a_build_and_finds_an_ancestor(build: medsim.Build, tmp_path: Path) -> None:
    model = medsim.Embedding(Model(), name="letters", version="1")
    verification = medsim.verify(build, sample="all", embedding=model)
    assert verification.holds
    copied = shutil.copytree(build.folder, tmp_path / "build")
    name = f"pairs/dataset={DATASET}/difficulty=hard/negatives=levenshtein/data.parquet"
    related = related_names()

    def plant(pairs: pl.DataFrame) -> pl.DataFrame:
        seconds = sorted({*pairs["term2"]})
        known = {frozenset(pair) for pair in pairs.select("term1", "term2").rows()}
        for row in pairs.with_row_index().filter(label=0).iter_rows(named=True):
            for other in seconds:
                pair = (row["term1"], other)
                if (pair[0].lower(), other.lower()) in related and frozenset(pair) not in known:
                    at = pl.int_range(pl.len()) == row["index"]
                    return pairs.with_columns(
                        term2=pl.when(at).then(pl.lit(other)).otherwise("term2")
                    )
        raise AssertionError

    tampered(copied, name, plant)
    findings = medsim.verify(copied, sample=0, embedding=model).findings
    assert DATASET in findings.filter(pl.col("violations") > 0)["check"].to_list()


def test_all_other_rows_are_those_of_a_build_without_the_option(folder: Path) -> None:
    for pool in POOLS:
        with_it, without = (medsim.open(folder / f"{pool}-{option}") for option in (True, False))
        expected, actual = without.manifest.outputs, dict(with_it.manifest.outputs)
        added = {path for path in actual if f"dataset={DATASET}/" in path}
        assert len(added) == 6
        assert actual.keys() - added == expected.keys()
        changed = {path for path in expected if actual[path] != expected[path]}
        assert changed == {"README.md", "stats.parquet"}
        others = with_it.stats().filter(pl.col("dataset") != DATASET)
        assert others.equals(without.stats())
        assert with_it.positives().equals(without.positives())
        assert with_it.manifest.components == without.manifest.components
        assert with_it.manifest.skipped == without.manifest.skipped


def test_shards_give_the_same_rows(folder: Path, tmp_path: Path) -> None:
    options = {"hierarchy": True, "negatives": ["random", "levenshtein"]}
    for number in (1, 2):
        medsim.build_shard(folder / "names.csv", tmp_path / "out", shard=f"{number}/2", **options)
    merged = medsim.merge(tmp_path / "out").manifest.tables
    whole = medsim.open(folder / "set-True").manifest.tables
    assert len(merged) > 20
    for path, output in merged.items():
        assert path == "stats.parquet" or output == whole[path], path


def test_splits_have_the_pairs_within_them_and_share_nothing(folder: Path, tmp_path: Path) -> None:
    source = folder / "names.csv"
    builds = [
        medsim.build(source, tmp_path / "with", hierarchy=True),
        medsim.build(source, tmp_path / "without", negatives=["random"]),
    ]
    splits, others = (medsim.split(each, tmp_path / f"s-{each.folder.name}") for each in builds)
    assert medsim.verify(splits, sample="all", build=builds[0]).holds
    assert splits.read("concepts.parquet").equals(others.read("concepts.parquet"))
    split_of = dict(splits.read("concepts.parquet").select("concept_id", "split").iter_rows())
    positives = builds[0].pairs(DATASET, negatives="random").filter(label=1)
    for name in splits.names:
        inside = [
            (row["term1"], row["term2"])
            for row in positives.iter_rows(named=True)
            if split_of[row["concept1"]] == split_of[row["concept2"]] == name
        ]
        pairs = texts(splits[name].pairs(DATASET, negatives="random").filter(label=1))
        assert sorted(pairs) == sorted(inside)
        assert splits[name].positives().equals(others[name].positives())
    sizes = dict(splits.sizes().select("count_of", pl.sum_horizontal(splits.names)).iter_rows())
    assert 0 < sizes[DATASET] < positives.height


def test_exports_have_the_dataset_only_if_it_is_chosen(folder: Path, tmp_path: Path) -> None:
    with_it, without = (medsim.open(folder / f"set-{option}") for option in (True, False))

    def content(build: medsim.Build, out: str, tool: str, **options: object) -> dict[str, object]:
        exported = medsim.export(build, tmp_path / out, tool, **options).folder
        return {
            path.relative_to(exported).as_posix(): path.read_bytes()
            for path in exported.rglob("*")
            if path.is_file() and path.suffix not in {".json", ".parquet"}
        } | {
            path.relative_to(exported).as_posix(): pl.read_parquet(path).rows()
            for path in exported.rglob("*.parquet")
        }

    for tool, options in {
        "jsonl": {},
        "sentence-transformers": {},
        "sapbert": {},
        "mteb": {"private": True},
        "lm-eval": {"private": True, "choices": 1, "negatives": "random"},
    }.items():
        files = [
            content(each, f"{tool}-{each.folder.name}", tool, **options)
            for each in (with_it, without)
        ]
        assert files[0] == files[1], tool
    chosen = {"datasets": [DATASET]}
    content(with_it, "chosen", "sentence-transformers", **chosen)
    labelled = pl.read_parquet(tmp_path / "chosen/pair-class/*.parquet")
    expected = texts(with_it.pairs(DATASET, negatives="levenshtein"))
    assert sorted(labelled.select("sentence1", "sentence2").rows()) == sorted(expected)
    assert not (tmp_path / "chosen/n-tuple").exists()
    content(with_it, "lines", "jsonl", **chosen)
    assert set(pl.read_ndjson(tmp_path / "lines/train.jsonl")["neg"].list.len()) == {0}
    with pytest.raises(OptionError, match=r"`n_negatives` 2: parent_child gets no hard negatives"):
        medsim.export(with_it, tmp_path / "no", "jsonl", n_negatives=2, **chosen)
    with pytest.raises(OptionError, match=r"`datasets` parent_child is not for questions"):
        medsim.export(with_it, tmp_path / "no", "lm-eval", private=True, **chosen)
    with pytest.raises(OptionError, match="unknown dataset 'parent_child'"):
        medsim.export(without, tmp_path / "no", "jsonl", **chosen)


def test_people_may_find_that_child_and_parent_are_the_same(tmp_path: Path) -> None:
    def positives(*corrections: Correction) -> set[tuple[str, str]]:
        build = medsim.build(
            *(source, tmp_path / "build"), hierarchy=True, corrections=corrections, overwrite=True
        )
        return {*texts(build.pairs(DATASET, negatives="random").filter(label=1))}

    source = write(tmp_path / "names.csv", concepts())
    first, second, *_ = sorted(expected_positives())
    judged = [
        Correction(term1=first[1], term2=first[0], same=True),
        Correction(term1=second[0], term2=second[1], same=False),
    ]
    assert positives(*judged) == expected_positives() - {first}


def test_a_source_without_parents_gives_an_empty_dataset_and_a_warning(tmp_path: Path) -> None:
    rows = {concept: (main, more, list[str]()) for concept, (main, more, _) in concepts().items()}
    source = write(tmp_path / "names.csv", rows)
    result = run("build", source, "-o", tmp_path / "build", "--hierarchy")
    assert result.exit_code == 0
    assert "parent_child is empty, because no concept has a parent with a name" in result.output
    assert medsim.open(tmp_path / "build").pairs(DATASET).is_empty()


def test_minimal_negatives_alone_have_no_such_dataset(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"`hierarchy` does not apply to minimal `negatives`"):
        medsim.build(folder / "names.csv", tmp_path, hierarchy=True, negatives=["minimal"])


def test_a_diff_compares_relationships_and_not_their_pairs(folder: Path, tmp_path: Path) -> None:
    builds = [folder / "set-True", folder / "set-False"]
    changes = medsim.diff(*builds, tmp_path / "diff").read("pair.parquet")
    assert changes.is_empty()
