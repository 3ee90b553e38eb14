"""Encoders: batches, the cache, and vectors in order of the request."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import CountingEncoder, asked, small_batches, vectors_of
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError, OutputError
from medsim.core.files import digest_of
from medsim.embeddings import encoders
from medsim.embeddings.encoders import cached_parts, encode_terms, unit

TERMS = sorted({f"{word} {number}" for word in ("a", "ab", "Ödem") for number in range(40)})


@given(
    st.lists(st.text("abä\n\u4e00\U0001f600", max_size=9), min_size=1, unique=True),
    st.integers(1, 40),
)
def test_vectors_are_in_the_order_of_the_request_with_or_without_a_cache(
    terms: list[str], n_characters: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, small_batches(n_characters):
        for cache in (None, Path(folder), Path(folder)):
            result = encode_terms(CountingEncoder(), asked(terms, cache), "")

            assert result.vectors.dtype == np.float32
            assert result.vectors.shape == (len(terms), 3)
            assert np.array_equal(result.vectors, vectors_of(terms))
            assert result.covered.all()
            assert result.n_vocabulary is None


def test_batches_are_in_order_of_length_and_bounded_in_characters() -> None:
    terms = ["ccc", "bb", "a", "d" * 30, "aa", "", "b"]

    with small_batches(5):
        batches = list(encoders.batches(terms))

    assert batches == [["", "a", "b"], ["aa"], ["bb"], ["ccc"], ["d" * 30]]


@pytest.mark.parametrize("n_new", [0, 20])
def test_only_new_terms_are_encoded(tmp_path: Path, n_new: int) -> None:
    encode_terms(CountingEncoder(), asked(TERMS[n_new:], tmp_path), "")
    second = CountingEncoder()

    result = encode_terms(second, asked(TERMS[90::-1], tmp_path), "")

    assert sorted(second.terms) == TERMS[:n_new]
    assert np.array_equal(result.vectors, vectors_of(TERMS[90::-1]))


@pytest.mark.parametrize(("files", "name"), [("other", "counting"), ("", "other")])
def test_another_model_has_a_separate_cache(tmp_path: Path, files: str, name: str) -> None:
    encode_terms(CountingEncoder(), asked(TERMS, tmp_path), "")
    second = CountingEncoder(name=name)

    encode_terms(second, asked(TERMS, tmp_path), files)

    assert sorted(second.terms) == TERMS


def _killed(cache: Path) -> None:
    """Encode with a half-written file, and exit as after a power failure."""
    encoder, n_files = CountingEncoder(), 0
    replace = Path.replace

    def kill_at_the_third(path: Path, target: Path) -> Path:
        nonlocal n_files
        n_files += 1
        if n_files == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(path, target)

    with pytest.MonkeyPatch.context() as patch, small_batches(100):
        patch.setattr(Path, "replace", kill_at_the_third)
        encode_terms(encoder, asked(TERMS, cache), "")


def _run(target: object, *arguments: object) -> multiprocessing.process.BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)  # type: ignore[arg-type]  # a function of this file
    process.start()
    return process


@pytest.mark.slow
def test_a_killed_run_loses_only_the_batch_in_flight(tmp_path: Path) -> None:
    process = _run(_killed, tmp_path)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.glob("*.vectors"))) == 2
    assert (folder / "partial").exists()
    second = CountingEncoder()

    with small_batches(100):
        kept = sum(len(terms) for terms, _ in cached_parts(folder))
        result = encode_terms(second, asked(TERMS, tmp_path), "")

    assert kept > 0
    assert len(second.terms) == len(TERMS) - kept
    assert np.array_equal(result.vectors, vectors_of(TERMS))
    assert not (folder / "partial").exists()


def _encode(cache: Path, first: int, stop: int) -> None:
    with small_batches(20):
        result = encode_terms(CountingEncoder(), asked(TERMS[first:stop], cache), "")
    assert np.array_equal(result.vectors, vectors_of(TERMS[first:stop]))


@pytest.mark.full
@pytest.mark.slow
def test_two_processes_may_share_a_cache_at_the_same_time(tmp_path: Path) -> None:
    processes = [_run(_encode, tmp_path, 0, 100), _run(_encode, tmp_path, 20, 120)]
    for process in processes:
        process.join(60)
    last = CountingEncoder()

    result = encode_terms(last, asked(TERMS, tmp_path), "")

    assert [process.exitcode for process in processes] == [0, 0]
    assert last.terms == []
    assert np.array_equal(result.vectors, vectors_of(TERMS))


def flipped(content: bytes) -> bytes:
    """Return the content of a part with another bit in its last vector."""
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "renamed"])
def test_a_damaged_file_of_the_cache_is_encoded_again(tmp_path: Path, damage: str) -> None:
    with small_batches(200):
        encode_terms(CountingEncoder(), asked(TERMS, tmp_path), "")
    files = sorted(tmp_path.glob("*/*.vectors"))
    content = files[0].read_bytes()
    lost = len(next(cached_parts(files[0].parent))[0])
    if damage == "renamed":
        files[0].rename(files[0].with_name("00.vectors"))
    else:
        damaged = {"cut": content[:-4], "emptied": b"", "flipped": flipped(content)}
        files[0].write_bytes(damaged[damage])
    second = CountingEncoder()

    result = encode_terms(second, asked(TERMS, tmp_path), "")

    assert len(second.terms) == lost > 0
    assert np.array_equal(result.vectors, vectors_of(TERMS))
    assert len(list(tmp_path.glob("*/*.vectors"))) == len(files)


def test_a_part_is_compared_with_its_name_once_and_again_after_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(encoders, "digest_of", lambda path: opened.append(path) or digest_of(path))
    with small_batches(200):
        encode_terms(CountingEncoder(), asked(TERMS, tmp_path), "")
    files = sorted(tmp_path.glob("*/*.vectors"))
    for _ in range(2):
        result = encode_terms(CountingEncoder(), asked(TERMS, tmp_path), "")
        assert sorted(opened) == files
        assert np.array_equal(result.vectors, vectors_of(TERMS))
    before = files[0].stat()
    time.sleep(0.05)  # a tick of the file system
    files[0].write_bytes(flipped(files[0].read_bytes()))
    os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    second = CountingEncoder()

    result = encode_terms(second, asked(TERMS, tmp_path), "")

    assert 0 < len(second.terms) < len(TERMS)
    assert np.array_equal(result.vectors, vectors_of(TERMS))


def test_a_cache_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutputError, match="cannot cache vectors in"):
        encode_terms(CountingEncoder(), asked(["a"], tmp_path / "file"), "")


def test_every_term_is_reported_to_the_stage_once(tmp_path: Path) -> None:
    for first in (40, 0, 0):
        request = asked(TERMS[first:], tmp_path)
        with small_batches(100):
            encode_terms(CountingEncoder(), request, "")

        assert request.stage.n_units == request.stage.n_done == len(request.terms)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_names_its_term(tmp_path: Path, value: float) -> None:
    class Broken(CountingEncoder):
        def encode(self, terms: Sequence[str]) -> np.ndarray:
            vectors = super().encode(terms)
            vectors[terms.index("ab 7"), 1] = value
            return vectors

    with pytest.raises(InputError, match="'ab 7' is not finite"):
        encode_terms(Broken(), asked(TERMS, tmp_path), "")
    assert not list(tmp_path.glob("*/*.vectors"))


@pytest.mark.parametrize("cached", [True, False])
def test_large_results_are_mapped_from_a_file_without_a_name(
    tmp_path: Path, monkeypatch, cached
) -> None:
    monkeypatch.setattr(encoders, "_MAPPED_BYTES", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    request = asked(TERMS, tmp_path / "cache" if cached else None)
    result = encode_terms(CountingEncoder(), request, "")

    assert isinstance(result.vectors, np.memmap)
    assert np.array_equal(result.vectors, vectors_of(TERMS))
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("tmp")]


def test_scaled_vectors_have_length_1_and_zeros_stay() -> None:
    vectors = np.array([[3, 4], [0, 0], [1e30, 0], [0, -1e-30]], np.float32)

    scaled = unit(vectors)

    assert scaled.dtype == np.float32
    assert np.allclose(scaled, [[0.6, 0.8], [0, 0], [1, 0], [0, -1]])
