"""Hard negatives by the embedding of a build, and of builds of an earlier version."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fixtures.release import small_release
from oracles.hashing import term_hash, tie_hash
from oracles.pairs import farness

import medsim

pytestmark = pytest.mark.slow

TUPLE = "n-tuple/train-00000-of-00001.parquet"
N_NEGATIVES = 4


def vector_of(term: str) -> list[float] | None:
    """Return an invented vector, of which many tie; an eighth of the terms has none."""
    word = term_hash(term)
    return [float((word >> (8 * at + 3)) % 3) - 1 for at in range(4)] if word % 8 else None


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build with negatives by an embedding of its exact terms."""
    folder = tmp_path_factory.mktemp("embedded")
    small_release().write_folder(folder / "release", "Full")
    plain = medsim.build(folder / "release", folder / "plain", negatives=["random"])
    known = {term: vector_of(term) for term in plain.terms()["term"]}
    rows = [(term, vector) for term, vector in known.items() if vector is not None]
    schema = {"term": pl.String, "vector": pl.List(pl.Float32)}
    pl.DataFrame(rows, schema, orient="row").write_parquet(folder / "terms.parquet")
    return medsim.build(
        folder / "release",
        folder / "build",
        negatives=["embedding"],
        embedding=f"own={folder / 'terms.parquet'},case=keep",
    )


def test_negatives_by_an_embedding_are_the_most_similar_unlinked_terms(
    build: medsim.Build, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    export = medsim.export(
        build,
        out,
        "sentence-transformers",
        negatives="embedding",
        n_negatives=N_NEGATIVES,
        cache="none",
    )

    terms = build.terms()
    component = dict(terms.select("term", "component").iter_rows())
    distance = farness({term: vector_of(term) for term in component})
    expected, n_unknown, n_few = {}, 0, 0
    for anchor, positive in export.read("pair/train-00000-of-00001.parquet").rows():
        ranked = sorted(
            (far, tie_hash(0, anchor, term), term)
            for term in component
            if component[term] != component[anchor]
            if (far := distance(anchor, term)) is not None
        )
        n_unknown += vector_of(anchor) is None
        n_few += vector_of(anchor) is not None and len(ranked) < N_NEGATIVES
        if len(ranked) >= N_NEGATIVES:
            expected[anchor, positive] = [term for _, _, term in ranked[:N_NEGATIVES]]
    found = export.read(TUPLE).rows()
    assert [list(row[2:]) for row in found] == list(expected.values())
    assert [row[:2] for row in found] == list(expected)
    assert export.manifest.skipped == [{"reason": "anchor has no vector", "n_rows": n_unknown}]
    assert n_unknown > 0 == n_few
