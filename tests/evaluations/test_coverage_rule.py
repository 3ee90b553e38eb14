"""Which terms count as covered: those of which all words have vectors, or any."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fixtures.builds import selected
from fixtures.embeddings import write_words

import medsim

KNOWN = {"heart": (1.0, 0.2), "attack": (0.3, 1.0), "cardiac": (0.9, 0.1)}
PAIRS = [
    ("heart attack", "cardiac", 3),
    ("heart attack", "cardiac arrest", 2),
    ("heart", "attack", 1),
    ("arrest", "heart", 0),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["term1,term2,rating", *(",".join(map(str, pair)) for pair in PAIRS)]
    (tmp_path / "rated.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("some", "same"):
        rows = [f"{word} {x} {y}" for word, (x, y) in KNOWN.items()]
        (tmp_path / f"{name}.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, path: str = "some.txt", name: str = "some", **options) -> medsim.Evaluation:
    given = {"resamples": 100, "metrics": ["avg_cos"], **options}
    return medsim.evaluate(
        folder / "rated.csv", {name: f"{folder}/{path}"}, folder / "out", **given
    )


def covered(out: medsim.Evaluation) -> set[tuple[str, str]]:
    pairs, scores = out.pairs().collect(), out.scores().collect()
    found = pairs.join(scores.drop_nulls("similarity"), on="pair_id")
    return set(found.select("term1", "term2").rows())


def by_hand(needed) -> set[tuple[str, str]]:
    """Return the pairs of which both terms have vectors of as many words as are needed."""
    return {
        (one, other)
        for one, other, _ in PAIRS
        if all(needed(word in KNOWN for word in term.split()) for term in (one, other))
    }


def test_all_words_must_have_vectors_by_default(folder: Path) -> None:
    out = run(folder)

    assert covered(out) == by_hand(all) != by_hand(any)
    assert out.manifest.options["coverage"] == "all"
    assert all("coverage of all words" in one for one in out.results()["signature"])


def test_any_word_is_enough_where_it_is_asked_for(folder: Path) -> None:
    out = run(folder, coverage="any")

    assert covered(out) == by_hand(any)
    assert not any("coverage" in one for one in out.results()["signature"])


@pytest.mark.parametrize(("of_all", "of_one", "rule"), [("all", "any", any), ("any", "all", all)])
def test_an_embedding_may_have_a_rule_of_its_own(
    folder: Path, of_all: str, of_one: str, rule
) -> None:
    out = run(folder, f"some.txt,coverage={of_one}", coverage=of_all)

    assert covered(out) == by_hand(rule)
    assert out.manifest.embeddings["some"]["options"] == {"coverage": of_one}


def test_results_of_the_two_rules_are_never_mixed(folder: Path) -> None:
    run(folder)
    with pytest.raises(medsim.MedsimError, match="made with `coverage` all, not any; use all"):
        run(folder, "same.txt", "same", coverage="any")
    assert covered(run(folder, coverage="any", overwrite=True)) == by_hand(any)
    with pytest.raises(medsim.MedsimError, match="made with `coverage` any, not all; use any"):
        run(folder, "same.txt", "same")


def test_retrieval_has_the_same_terms_as_pairs(tmp_path: Path, shared_build: medsim.Build) -> None:
    pairs = shared_build.pairs().collect()
    words = sorted({w for side in ("term1", "term2") for term in pairs[side] for w in term.split()})
    write_words(tmp_path / "third.vec", words[::3], 1)

    found = {
        rule: medsim.evaluate(
            shared_build,
            {"third": tmp_path / "third.vec"},
            tmp_path / rule,
            metrics=["avg_cos"],
            resamples=100,
            retrieval=True,
            coverage=rule,
        )
        for rule in ("all", "any")
    }

    retrieved = {
        rule: set(out.retrieved().filter(pl.col("covered")).collect()["term"])
        for rule, out in found.items()
    }
    known = selected(found["any"], "select term, n_unknown_words from term where n_words > 0")
    assert retrieved["all"] < retrieved["any"]
    assert retrieved["all"] <= set(known.filter(n_unknown_words=0)["term"])
    assert not retrieved["all"] & set(known.filter(pl.col("n_unknown_words") > 0)["term"])
