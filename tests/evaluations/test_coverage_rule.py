"""Which terms count as covered: those with vectors for all words, or for any word."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    rows = [f"{word} {x} {y}" for word, (x, y) in KNOWN.items()]
    (tmp_path / "some.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, path: str = "some.txt", **options) -> medsim.Evaluation:
    options = {"resamples": 100, "metrics": ["avg_cos"], **options}
    return medsim.evaluate(
        folder / "rated.csv", {"some": f"{folder}/{path}"}, folder / "out", **options
    )


def covered(out: medsim.Evaluation) -> set[tuple[str, str]]:
    pairs, scores = out.pairs().collect(), out.scores().collect()
    rows = pairs.join(scores.drop_nulls("similarity"), on="pair_id")
    return set(rows.select("term1", "term2").rows())


def by_hand(needed) -> set[tuple[str, str]]:
    """Return the pairs in which both terms have vectors for enough words."""
    return {
        (term1, term2)
        for term1, term2, _ in PAIRS
        if all(needed(word in KNOWN for word in term.split()) for term in (term1, term2))
    }


@pytest.mark.parametrize(("options", "rule"), [({}, all), ({"coverage": "any"}, any)])
def test_all_words_need_vectors_unless_coverage_is_any(folder: Path, options, rule) -> None:
    out = run(folder, **options)

    assert covered(out) == by_hand(rule)
    assert by_hand(all) != by_hand(any)
    assert out.manifest.options["coverage"] == rule.__name__
    signed = out.results()["signature"].str.contains("coverage of all words")
    assert signed.all() if rule is all else not signed.any()


@pytest.mark.parametrize(("default", "chosen", "rule"), [("all", "any", any), ("any", "all", all)])
def test_an_embedding_can_have_its_own_coverage_rule(
    folder: Path, default: str, chosen: str, rule
) -> None:
    out = run(folder, f"some.txt,coverage={chosen}", coverage=default)

    assert covered(out) == by_hand(rule)
    assert out.manifest.embeddings["some"]["options"] == {"coverage": chosen}
