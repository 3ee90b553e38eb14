"""Builds of invented releases against an oracle that shares no code with medsim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import pairs_of
from fixtures.release import Release, edge_release, random_release, small_release
from oracles import datasets as oracle

import medsim
from medsim.core.terms import pack
from medsim.kernels.hashing import term_hashes, tie_hashes

PAIR = ("term1", "term2", "concept1", "concept2")


def content_tie(first: str, second: str) -> int:
    packed = pack([first, second])
    hashes = term_hashes(packed.codes, packed.starts)
    return int(tie_hashes(np.uint64(0), hashes[0], hashes[1:])[0])


RELEASES = {
    "small": small_release,
    "edge": edge_release,
    **{f"random {seed}": (lambda seed=seed: random_release(seed, 90)) for seed in range(3)},
}


SLOW = ("random 1", "random 2")
"""The releases that the quick tests leave out; "random 0" is like them."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in RELEASES
    ],
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[medsim.Build, dict[tuple[str, str], list[oracle.Pair]]]:
    folder = tmp_path_factory.mktemp("oracle")
    RELEASES[request.param]().write_folder(folder / "release", "Full")
    expected = oracle.positives(oracle.read_release(folder / "release"))
    return medsim.build(folder / "release", folder / "out"), oracle.positive_sets(expected)


def test_positives_are_those_of_the_rules(built) -> None:
    build, expected = built
    for strategy in ("random", "levenshtein"):
        found = pairs_of(build, 1, strategy, PAIR)
        for key in oracle.SET_ORDER:
            assert sorted(found[key]) == sorted(tuple(pair) for pair in expected[key]), key


@pytest.mark.parametrize("strategy", ["random", "levenshtein"])
def test_negatives_break_no_rule(built, strategy: str) -> None:
    build, expected = built
    found = pairs_of(build, 0, strategy)
    assert oracle.check_negatives(expected, found, strategy) == []


def test_levenshtein_negatives_are_those_of_the_greedy_rule(built) -> None:
    build, expected = built
    greedy = oracle.greedy_levenshtein(expected, content_tie)
    found = pairs_of(build, 0, "levenshtein")
    assert found == {key: sorted(map(tuple, pairs)) for key, pairs in greedy.items()}


def test_distances_are_those_of_the_textbook(built) -> None:
    build, _ = built
    for row in build.pairs().head(300).collect().iter_rows(named=True):
        assert row["distance"] == oracle.lower_distance(row["term1"], row["term2"])


def test_concepts_of_negatives_are_a_positive_s_first_and_the_smallest_bearer(built) -> None:
    build, _ = built
    names = build.table("description").filter(pl.col("active") & (pl.col("language") == "en"))
    bearers: dict[str, set[str]] = {}
    for row in names.collect().iter_rows(named=True):
        bearers.setdefault(row["term"], set()).add(row["concept_id"])
        if row["kind"] == "fsn":
            bearers.setdefault(oracle.drop_mark(row["term"]), set()).add(row["concept_id"])
    for strategy in ("random", "levenshtein"):
        positives = pairs_of(build, 1, strategy, PAIR)
        for key, negatives in pairs_of(build, 0, strategy, PAIR).items():
            firsts = {(pair[0], pair[2]) for pair in positives[key]}
            for term1, term2, concept1, concept2 in negatives:
                assert (term1, concept1) in firsts
                assert concept2 == min(bearers[term2])


@pytest.mark.slow
def test_a_day_in_the_past_gives_the_positives_of_that_day(tmp_path: Path) -> None:
    release = random_release(7, 60)
    release.write_folder(tmp_path / "release", "Full")
    rows = oracle.read_release(tmp_path / "release")
    days = sorted({row.time for table in rows for row in table})
    day = days[len(days) // 2]
    as_of = f"{day[:4]}-{day[4:6]}-{day[6:]}"

    build = medsim.build(
        tmp_path / "release", tmp_path / "out", as_of=np.datetime64(as_of).astype(object)
    )

    expected = oracle.positive_sets(oracle.positives(rows, as_of=day))
    found = pairs_of(build, 1, "random", PAIR)
    assert {key: sorted(pairs) for key, pairs in found.items()} == {
        key: sorted(tuple(pair) for pair in expected[key]) for key in oracle.SET_ORDER
    }
    assert expected != oracle.positive_sets(oracle.positives(rows))


def test_another_language_gives_that_language_s_positives(tmp_path: Path) -> None:
    release = Release()
    release.concept("101")
    release.description("101", "Gripe del oso (trastorno)", "fsn", language="es")
    release.description("101", "Influenza ursina", "synonym", language="es")
    release.description("101", "Bear flu (disorder)", "fsn")
    release.description("101", "Ursine influenza", "synonym")
    release.association("101", "101", "same_as")
    release.is_a("101", "101")
    release.write_folder(tmp_path / "release", "Snapshot")

    build = medsim.build(tmp_path / "release", tmp_path / "out", language="es")

    pairs = build.pairs("fsn_syn", "hard", "random").filter(pl.col("label") == 1).collect()
    assert pairs.select("term1", "term2").rows() == [("Gripe del oso", "Influenza ursina")]


OBO = """format-version: 1.2
data-version: invented/2026-01-31

[Term]
id: IN:1
name: Blue fever (acute)
synonym: "Azure \\"hot\\" pyrexia" EXACT []
synonym: "Fever" BROAD []
is_a: IN:3

[Term]
id: IN:2
name: obsolete Green fever
is_obsolete: true
replaced_by: IN:1
consider: IN:3
consider: IN:9

[Term]
id: IN:3
name: Pyrexia
synonym: "pyrexia" EXACT []
synonym: "Heat of the bøne" EXACT []
"""


def test_an_obo_file_gives_the_positives_of_its_rules(tmp_path: Path) -> None:
    (tmp_path / "invented.obo").write_text(OBO, encoding="utf-8")

    build = medsim.build(tmp_path / "invented.obo", tmp_path / "out")

    expected = oracle.positive_sets(oracle.positives_obo(oracle.parse_obo(OBO)))
    found = pairs_of(build, 1, "levenshtein", PAIR)
    for key in oracle.SET_ORDER:
        assert sorted(found[key]) == sorted(tuple(pair) for pair in expected[key]), key
    skipped = {one["reason"]: one["n_rows"] for one in build.manifest.skipped}
    assert skipped["association lacks a name on one side"] == 1
    assert skipped["synonym has another scope"] == 1


def test_wider_scopes_of_synonyms_make_more_positives(tmp_path: Path) -> None:
    (tmp_path / "invented.obo").write_text(OBO, encoding="utf-8")

    build = medsim.build(tmp_path / "invented.obo", tmp_path / "out", synonyms=("exact", "broad"))

    pairs = build.pairs("fsn_syn").select("term1", "term2").collect().rows()
    assert ("Blue fever (acute)", "Fever") in pairs
