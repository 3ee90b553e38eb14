"""Builds whose embedding negatives an object of Python makes, and their verification."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from oracles.hashing import term_hash

import medsim
from medsim.core.errors import InputError, OptionError

pytestmark = pytest.mark.slow

SET = "pairs/dataset=syn_syn/difficulty=hard/negatives=embedding/data.parquet"


def vectors_of(texts: Sequence[str]) -> np.ndarray:
    """Return vectors of terms that hardly tie: float64[n, 4]."""
    rows = [[1 + (term_hash(text) >> shift) % 251 for shift in (0, 8, 16, 24)] for text in texts]
    return np.array(rows, float) - 120


def made(release: Path, out: Path, embedding: object) -> medsim.Build:
    return medsim.build(
        release, out, negatives=["embedding"], embedding=embedding, cache="none", threads=1
    )


@pytest.fixture(scope="module")
def of_function(shared_release: Path, tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    return made(shared_release, tmp_path_factory.mktemp("object") / "out", vectors_of)


def test_a_function_makes_the_negatives_that_its_vectors_make(
    shared_release: Path, of_function: medsim.Build, tmp_path: Path
) -> None:
    terms = sorted(set(of_function.sql("select unnest([term1, term2]) as t from pair")["t"]))
    table = medsim.Embedding(vectors_of(terms), terms=terms, case="keep")

    build = made(shared_release, tmp_path / "out", table)

    assert build.pairs().collect().equals(of_function.pairs().collect())
    about = {"path": "Python function vectors_of", "format": "python"}
    assert of_function.manifest.embedding == {**about, "identity": "hash of the vectors used"}
    assert of_function.manifest.options["embedding"]["name"] == "embedding"


def test_the_build_of_an_object_is_verified_with_the_same_object_alone(
    of_function: medsim.Build,
) -> None:
    assert medsim.verify(of_function, embedding=vectors_of, sample=5, threads=1).holds
    with pytest.raises(InputError, match="made by an object in Python, 'embedding'"):
        medsim.verify(of_function)
    with pytest.raises(InputError, match="is not the embedding that the build was made with"):
        medsim.verify(of_function, embedding=lambda texts: vectors_of(texts) ** 3)
    with pytest.raises(OptionError, match="the embedding of the build is named 'embedding'"):
        medsim.verify(of_function, embedding=medsim.Embedding(vectors_of, name="mine"))


def test_a_version_is_enough_to_be_the_same_and_wrong_vectors_are_found(
    shared_release: Path, tmp_path: Path
) -> None:
    given = medsim.Embedding(vectors_of, name="mine", version="1")
    build = made(shared_release, tmp_path / "out", given)

    assert medsim.verify(build, embedding=given, sample=5, cache="none").holds
    other = medsim.Embedding(lambda texts: vectors_of(texts) ** 3, version="1")
    found = medsim.verify(build, embedding=other, sample=5, cache="none")
    assert "similarities" in found.broken
    with pytest.raises(InputError, match="is not the embedding"):
        medsim.verify(build, embedding=medsim.Embedding(vectors_of, version="2"))


def test_an_interrupted_build_of_an_object_goes_on(
    shared_release: Path, tmp_path: Path, of_function: medsim.Build, monkeypatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("medsim.builds.build.CheckedPairs.findings", stopped)
        with pytest.raises(KeyboardInterrupt):
            made(shared_release, tmp_path / "out", vectors_of)
    unfinished = tmp_path / ".out.unfinished" / SET
    written = unfinished.stat().st_mtime_ns

    build = made(shared_release, tmp_path / "out", vectors_of)

    assert (build.folder / SET).stat().st_mtime_ns == written
    assert build.pairs().collect().equals(of_function.pairs().collect())
