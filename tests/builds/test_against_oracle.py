"""Compares builds of invented releases with an oracle that shares no code with medsim."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import pairs_of
from fixtures.release import Release, edge_release, random_release
from oracles import pairs as oracle
from oracles.hashing import tie_hash

import medsim
from medsim.core.errors import OptionError

pytestmark = pytest.mark.slow

PAIR = ("term1", "term2", "concept1", "concept2")
SEED = 3
RELEASES = {"edge": edge_release, "random": lambda: random_release(0, 90)}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, pool), id=f"{name} {pool}", marks=marks)
        for pool, marks in (("set", ()), ("terminology", pytest.mark.slow))
        for name in RELEASES
    ],
)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[medsim.Build, dict[oracle.SetKey, list[oracle.Pair]], set[str] | None]:
    """A build, the oracle's positives, and the pool if the sets share one."""
    name, pool = request.param
    folder = tmp_path_factory.mktemp("oracle")
    RELEASES[name]().write_folder(folder / "release", "Full")
    rows = oracle.read_release(folder / "release")
    positives = oracle.positive_sets(oracle.positives(rows))
    assert all(positives.values()) or name == "edge"
    build = medsim.build(folder / "release", folder / "out", pool=pool, seed=SEED)
    return build, positives, oracle.terminology_pool(rows) if pool == "terminology" else None


def test_positives_follow_from_the_rules(built) -> None:
    build, expected, _ = built
    for strategy in ("random", "levenshtein"):
        actual = pairs_of(build, 1, strategy, PAIR)
        for key in oracle.SET_ORDER:
            assert sorted(actual[key]) == sorted(tuple(pair) for pair in expected[key]), key


def test_random_negatives_are_allowed_and_as_many_as_possible(built) -> None:
    build, positives, pool = built
    assert oracle.faults_of_random(positives, pairs_of(build, 0, "random"), pool) == []


def test_levenshtein_negatives_follow_the_greedy_rule(built) -> None:
    build, positives, pool = built
    greedy = oracle.greedy_nearest(positives, lambda *pair: tie_hash(SEED, *pair), pool)
    actual = pairs_of(build, 0, "levenshtein")
    assert actual == {key: sorted(map(tuple, pairs)) for key, pairs in greedy.items()}


def test_every_promise_holds(built) -> None:
    assert medsim.verify(built[0], sample="all").holds


@pytest.mark.parametrize(
    ("chosen", "shard"),
    [
        (("repeats",), None),
        pytest.param(("direction",), None, marks=pytest.mark.full),
        pytest.param(("history",), None, marks=pytest.mark.full),
        pytest.param(("two_steps",), None, marks=pytest.mark.full),
        (("repeats", "history", "direction", "two_steps"), "1/1"),
    ],
)
def test_builds_follow_the_published_rules(
    tmp_path: Path, chosen: tuple[str, ...], shard: str | None
) -> None:
    random_release(0, 90).write_folder(tmp_path / "release", "Full")
    rows = oracle.read_release(tmp_path / "release")
    default, positives = (
        oracle.positive_sets(oracle.positives(rows, rules=rules)) for rules in ((), chosen)
    )
    ties = lambda *pair: tie_hash(SEED, *pair)  # noqa: E731
    expected = oracle.greedy_nearest(positives, ties, rules=chosen)
    places, options = (tmp_path / "release", tmp_path / "out"), {"seed": SEED}

    if shard is None:
        build = medsim.build(*places, **options, published_rules=chosen)
    else:
        medsim.build_shard(*places, shard=shard, **options, as_published=True)
        build = medsim.merge(places[1])

    actual = pairs_of(build, 1, "levenshtein", PAIR)
    assert {key: sorted(pairs) for key, pairs in actual.items()} == {
        key: sorted(map(tuple, pairs)) for key, pairs in positives.items()
    }
    actual = pairs_of(build, 0, "levenshtein")
    assert actual == {key: sorted(map(tuple, pairs)) for key, pairs in expected.items()}
    assert (positives, expected) != (default, oracle.greedy_nearest(default, ties))
    random = pairs_of(build, 0, "random")
    assert oracle.faults_of_random(positives, random, rules=chosen) == []
    assert build.manifest.options["published_rules"] == sorted(chosen)
    assert medsim.verify(build, sample="all").holds


def test_the_published_history_needs_the_full_release(tmp_path: Path) -> None:
    random_release(0, 20).write_folder(tmp_path / "release", "Snapshot")

    with pytest.raises(medsim.MedsimError, match="published rule history needs full history"):
        medsim.build(tmp_path / "release", tmp_path / "out", as_published=True)


@pytest.mark.skipif("MEDSIM_DATA" not in os.environ, reason="needs MEDSIM_DATA")
def test_positives_are_those_of_the_published_code(tmp_path: Path) -> None:
    data = Path(os.environ["MEDSIM_DATA"]) / "published"
    build = medsim.build(data / "release.zip", tmp_path / "out", as_published=True)

    for (dataset, difficulty), pairs in pairs_of(build, 1, "levenshtein").items():
        lines = (data / f"{dataset}_{difficulty}.tsv").read_text(encoding="utf-8").splitlines()
        # The published code stops at a concept with a text definition among its names.
        names = [pair for pair in pairs if not {*map(left_out, pair)} & {True}]
        assert names == sorted(tuple(line.split("\t")) for line in lines[1:])


def left_out(term: str) -> bool:
    """Return whether a term is of the concept that the published code leaves out."""
    return term == "RSSTEUO type 10" or bool(re.match(r"Routine stainings? .*kiathiaxal", term))


def test_verify_finds_a_negative_of_fsn_syn_where_none_is_published(tmp_path: Path) -> None:
    random_release(0, 90).write_folder(tmp_path / "release", "Full")
    build = medsim.build(tmp_path / "release", tmp_path / "out", seed=SEED)
    assert "published_rules" not in build.manifest.options
    manifest = tmp_path / "out" / "manifest.json"
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    facts["options"]["published_rules"] = ["repeats"]
    manifest.write_text(json.dumps(facts), encoding="utf-8")

    broken = medsim.verify(tmp_path / "out", sample="all")

    wrong = broken.findings.filter(pl.col("violations") > 0)["check"]
    assert wrong.to_list() == ["nearest"]


def test_negatives_have_the_first_concept_of_a_positive_and_the_smallest_second_concept(
    built,
) -> None:
    build = built[0]
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


def test_an_earlier_date_gives_the_positives_of_that_date(tmp_path: Path) -> None:
    release = random_release(7, 60)
    release.write_folder(tmp_path / "release", "Full")
    rows = oracle.read_release(tmp_path / "release")
    days = sorted({row.time for table in rows for row in table})
    day = days[len(days) // 2]
    as_of = f"{day[:4]}-{day[4:6]}-{day[6:]}"

    build = medsim.build(
        tmp_path / "release",
        tmp_path / "out",
        as_of=np.datetime64(as_of).astype(object),
        negatives=["random"],
    )

    expected = oracle.positive_sets(oracle.positives(rows, as_of=day))
    actual = pairs_of(build, 1, "random", PAIR)
    assert {key: sorted(pairs) for key, pairs in actual.items()} == {
        key: sorted(tuple(pair) for pair in expected[key]) for key in oracle.SET_ORDER
    }
    assert expected != oracle.positive_sets(oracle.positives(rows))


def test_a_dialect_gives_the_positives_of_its_names_and_marks_preferred_names(
    tmp_path: Path,
) -> None:
    release = Release()
    release.concept("101")
    release.accepted(release.description("101", "Bear oedema (disorder)"))
    release.accepted(release.description("101", "Ursine swelling", "synonym"))
    release.description("101", "Bear edema", "synonym")
    release.association("101", "101", "same_as")
    release.write_folder(tmp_path / "release", "Snapshot")

    build = medsim.build(
        tmp_path / "release", tmp_path / "out", dialect="en-GB", negatives=["random"]
    )

    pairs = build.pairs("fsn_syn", "hard", "random").filter(pl.col("label") == 1)
    assert pairs.select("term1", "term2").rows() == [("Bear oedema", "Ursine swelling")]
    assert build.manifest.options["dialect"] == "en-GB"
    names = build.table("description").select("term", "preferred").collect()
    assert names.rows() == [("Bear oedema", False), ("Ursine swelling", False)]
    assert medsim.verify(build).holds


def test_another_language_gives_positives_in_that_language(tmp_path: Path) -> None:
    release = Release()
    release.concept("101")
    release.description("101", "Gripe del oso (trastorno)", "fsn", language="es")
    release.description("101", "Influenza ursina", "synonym", language="es")
    release.description("101", "Bear flu (disorder)", "fsn")
    release.description("101", "Ursine influenza", "synonym")
    release.association("101", "101", "same_as")
    release.is_a("101", "101")
    release.write_folder(tmp_path / "release", "Snapshot")

    build = medsim.build(
        tmp_path / "release", tmp_path / "out", language="es", negatives=["random"]
    )

    pairs = build.pairs("fsn_syn", "hard", "random").filter(pl.col("label") == 1)
    assert pairs.select("term1", "term2").rows() == [("Gripe del oso", "Influenza ursina")]


OBO = """format-version: 1.2
data-version: invented/2026-01-31
synonymtypedef: layperson "layperson term" EXACT
ontology: invented

[Term]
id: X:1
name: Alder (red)
synonym: "Alderling" EXACT layperson [X:a, "b"]
synonym: "alder (RED)" EXACT []
synonym: "Alder \\"Red\\"" EXACT []
synonym: "Ærle" RELATED []
synonym: "Alders" BROAD EXACT []
alt_id: X:9
is_a: X:2 ! Birch

[Term]
id: X:2
name: Birch

[Term]
id: X:3
name: OBSOLETE Cedar
synonym: "Cedarling" EXACT []
is_obsolete: true
replaced_by: X:1 ! Alder (red)
consider: X:2
consider: X:9
consider: X:4

[Term]
id: X:4
is_obsolete: true

[Term]
id: X:5
name: obsolete alderling
is_obsolete: true
replaced_by: X:1

[Term]
id: X:6
name: obsolete in name only
synonym: "  Pådded  " EXACT []

[Typedef]
id: X:7
name: part of
synonym: "portion of" EXACT []
"""
FSN_SYN = {
    ("Alder (red)", "Alderling", "X:1", "X:1"),
    ("Alder (red)", 'Alder "Red"', "X:1", "X:1"),
    ("obsolete in name only", "Pådded", "X:6", "X:6"),
}
OBO_POSITIVES = {
    "fsn_syn": FSN_SYN,
    "syn_syn": FSN_SYN | {('Alder "Red"', "Alderling", "X:1", "X:1")},
    "same_as": set(),
    "replaced_by": {
        ("Cedar", "Alder (red)", "X:3", "X:1"),
        ("alderling", "Alder (red)", "X:5", "X:1"),  # syn_syn has "Alderling"
    },
    "possibly_equivalent_to": {("Cedar", "Birch", "X:3", "X:2")},
}


def test_an_obo_file_gives_positives_by_its_own_rules(tmp_path: Path) -> None:
    (tmp_path / "invented.obo").write_text(OBO, encoding="utf-8")

    build = medsim.build(tmp_path / "invented.obo", tmp_path / "out", negatives=["levenshtein"])

    actual = pairs_of(build, 1, "levenshtein", PAIR)
    for dataset, expected in OBO_POSITIVES.items():
        assert {*actual[dataset, "easy"], *actual[dataset, "hard"]} == expected
    skipped = {row["reason"]: row["n_rows"] for row in build.manifest.skipped}
    assert skipped["association lacks a name on one side"] == 2
    assert skipped["synonym has another scope"] == 2
    wider = medsim.build(
        tmp_path / "invented.obo",
        tmp_path / "wider",
        synonyms=("exact", "broad"),
        negatives=["random"],
    )
    pairs = wider.pairs("fsn_syn").select("term1", "term2").rows()
    assert ("Alder (red)", "Alders") in pairs


def test_all_published_rules_and_some_of_them_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="not both"):
        medsim.build("hpo", tmp_path / "out", as_published=True, published_rules=["history"])
