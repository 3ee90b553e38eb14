"""Questions whose wrong names no rule of spelling tells from the right one."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from oracles.rules import Rules, share_of
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import OptionError
from medsim.neighbours.difference import folded

Question = dict[str, Any]


def lines_of(export: medsim.Exported, split: str = "train") -> list[Question]:
    text = (export.folder / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def components_of(build: medsim.Build) -> dict[str, int]:
    """Return the number of the component of each folded name, read only with Arrow."""
    graph = nx.Graph()
    for path in (build.folder / "pairs").rglob("*.parquet"):
        for row in pq.ParquetFile(path).read().to_pylist():
            ends = [folded(row[side].lower()) for side in ("term1", "term2")]
            graph.add_nodes_from(ends)
            if row["label"] == 1:
                graph.add_edge(*ends)
    parts = nx.connected_components(graph)
    return {name: number for number, part in enumerate(parts) for name in part}


@pytest.fixture(scope="module")
def exported(
    shared_build: medsim.Build, tmp_path_factory: pytest.TempPathFactory
) -> dict[int, medsim.Exported]:
    """Exports by the number of wrong names."""
    out = tmp_path_factory.mktemp("balanced")
    return {
        n_wrong: medsim.export(
            shared_build, out / str(n_wrong), "jsonl", choices=n_wrong, seed=2, private=True
        )
        for n_wrong in (1, 3)
    }


@pytest.mark.parametrize("n_wrong", [1, 3])
def test_no_rule_finds_the_right_name_much_more_often_than_by_chance(
    shared_build: medsim.Build, exported: dict[int, medsim.Exported], n_wrong: int
) -> None:
    rows = lines_of(exported[n_wrong])

    folds = {folded(name.lower()): name.lower() for name in reversed(shared_build.terms()["term"])}
    rules = Rules(sorted(folds.values()))
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        lower = [name.lower() for name in row["choices"]]
        for rule, scores in rules.scores(row["term"].lower(), lower, row["spelling"]).items():
            shares[row["tier"], rule].append(share_of(scores, row["answer"]))
    assert len(rows) > 60
    assert len({rule for _, rule in shares}) == 11
    for key, of_rule in shares.items():
        chance = 1 / (n_wrong + 1)
        spread = math.sqrt(len(of_rule) * chance * (1 - chance))
        assert sum(of_rule) <= len(of_rule) * chance + 1 + spread + 1e-6, key
        worst = len(of_rule)
        if worst > 60:  # with its opposite, a rule is not far below chance either
            assert sum(of_rule) >= 0.1 * worst, key


@pytest.mark.parametrize("n_wrong", [1, 3])
def test_wrong_names_are_not_linked_to_the_term_and_differ(
    shared_build: medsim.Build, exported: dict[int, medsim.Exported], n_wrong: int
) -> None:
    rows, group = lines_of(exported[n_wrong]), components_of(shared_build)

    for row in rows:
        linked = group[folded(row["term"].lower())]
        folds = [folded(name.lower()) for name in row["choices"]]
        assert len({*folds}) == n_wrong + 1
        assert [group[name] == linked for name in folds] == [
            at == row["answer"] for at in range(n_wrong + 1)
        ]
        nearest = min(
            Levenshtein.distance(row["term"].lower(), name.lower())
            for at, name in enumerate(row["choices"])
            if at != row["answer"]
        )
        limits = {"1": (0, 1), "2-3": (2, 3), "4-5": (4, 5), "6+": (6, 10_000)}
        assert limits[row["tier"]][0] <= nearest <= limits[row["tier"]][1]
        assert row["negatives"] == "balanced"
    positions = np.bincount([row["answer"] for row in rows])
    assert positions.max() - positions.min() <= 1


def test_questions_that_cannot_be_balanced_are_counted(tmp_path: Path) -> None:
    words = ("red", "blue", "green", "grey", "pink", "brown", "black", "white")
    ends = ("knee", "knee itself", "knee joint")
    lines = [f"{at},{word}{at} {end}" for at, word in enumerate(words * 5) for end in ends]
    (tmp_path / "names.csv").write_text("\n".join(["id,term", *lines]), encoding="utf-8")
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build")

    export = medsim.export(build, tmp_path / "out", "jsonl", choices=3, private=True)

    rows = lines_of(export)
    (skipped,) = export.manifest.skipped
    assert skipped["reason"] == "spelling would tell the right name, or names are too few"
    assert skipped["n_rows"] == 40 * 3 - len(rows) > 0
    assert any(
        f"{skipped['n_rows']:,} positives of 120 left out" in each
        for each in export.manifest.warnings
    )


def test_a_small_build_has_rare_trigrams_for_spelling_and_says_so(
    exported: dict[int, medsim.Exported],
) -> None:
    assert any(
        "too few pairs for a spelling classifier" in each for each in exported[3].manifest.warnings
    )
    for row in lines_of(exported[3]):
        assert all(0 <= score <= 1 for score in row["spelling"])


def test_questions_depend_on_the_seed_but_not_on_threads(
    shared_build: medsim.Build, exported: dict[int, medsim.Exported], tmp_path: Path
) -> None:
    def again(seed: int, threads: int) -> medsim.Exported:
        options = {"choices": 3, "seed": seed, "threads": threads, "private": True}
        out = tmp_path / f"{seed}-{threads}"
        return medsim.export(shared_build, out, "jsonl", negatives="balanced", **options)

    assert again(2, 1).manifest.outputs == exported[3].manifest.outputs
    assert again(2, 2).manifest.outputs == exported[3].manifest.outputs
    assert again(3, 2).manifest.outputs != exported[3].manifest.outputs


@pytest.mark.parametrize("tool", ["jsonl", "sapbert", "sentence-transformers", "mteb", "duckdb"])
def test_only_questions_have_balanced_negatives(
    shared_build: medsim.Build, tmp_path: Path, tool: str
) -> None:
    with pytest.raises(OptionError, match=r"`negatives` (balanced is for|does not apply)"):
        medsim.export(shared_build, tmp_path / "out", tool, negatives="balanced")


def test_most_names_of_a_small_terminology_may_be_wrong_names(tmp_path: Path) -> None:
    words = ("red", "blue", "green", "grey", "pink")
    lines = [f"{at},{word} {end}" for at, word in enumerate(words) for end in ("knee", "elbow")]
    (tmp_path / "names.csv").write_text("\n".join(["id,term", *lines]), encoding="utf-8")
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build")

    for n_wrong in (1, 8):
        out = tmp_path / str(n_wrong)
        rows = lines_of(medsim.export(build, out, "jsonl", choices=n_wrong, private=True))
        assert rows
        assert {len(row["choices"]) for row in rows} == {n_wrong + 1}
    with pytest.raises(OptionError, match="has no questions for these"):
        medsim.export(build, tmp_path / "9", "jsonl", choices=9, private=True)


def test_names_in_other_scripts_and_languages_have_questions(tmp_path: Path) -> None:
    rows = [
        {"id": number, "term": f"{start} {word}", "language": language}
        for language, starts in {"en": ("fever", "pain"), "el": ("πυρετός", "πόνος")}.items()
        for start in starts
        for number, word in enumerate(("ΓΌΝΑΤΟΣ", "naïve", "knee 膝", "hip", "toe", "ǅ"))
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "names.csv")
    options = {"language": "en,el", "negatives": ["random"]}
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build", **options)

    for n_wrong in (1, 3):
        out = tmp_path / str(n_wrong)
        asked = lines_of(medsim.export(build, out, "jsonl", choices=n_wrong, private=True))
        assert asked
        assert all(len({*map(folded, row["choices"])}) == n_wrong + 1 for row in asked)


def test_two_concepts_have_each_other_as_wrong_names(tmp_path: Path) -> None:
    names = ["1,fever", "1,pyrexia", "2,cough", "2,tussis"]
    (tmp_path / "names.csv").write_text("\n".join(["id,term", *names]), encoding="utf-8")
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build")

    rows = lines_of(medsim.export(build, tmp_path / "out", "jsonl", choices=2, private=True))

    assert rows
    for row in rows:
        wrong = {name for at, name in enumerate(row["choices"]) if at != row["answer"]}
        assert wrong in ({"fever", "pyrexia"}, {"cough", "tussis"})


def test_a_build_with_minimal_negatives_of_other_names_has_questions(tmp_path: Path) -> None:
    pairs = [f"{at},{side} {end}" for at, side in ((1, "left"), (2, "both")) for end in "xy"]
    names = [*pairs, "3,right x", "3,right x", "4,right y"]
    (tmp_path / "names.csv").write_text("\n".join(["id,term", *names]), encoding="utf-8")
    options = {"negatives": ["random", "minimal"]}
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build", **options)
    assert not {"right x", "right y"} & {*build.terms()["term"]}
    assert "right x" in {*build.pairs(negatives="minimal")["term2"]}

    export = medsim.export(build, tmp_path / "out", "jsonl", choices=1, private=True)

    assert lines_of(export)
