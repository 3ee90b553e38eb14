"""Every registered format of word vectors keeps the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fixtures.embeddings import (
    ROWS,
    Rows,
    as_float32,
    as_rows,
    request,
    words_in,
    write_array,
    write_fasttext,
    write_table,
    write_text,
    write_word2vec,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError, OptionError
from medsim.embeddings.formats import FORMATS, TERMS, files_fingerprint, find_format
from medsim.embeddings.options import EmbeddingOptions

Words = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\t\n\r \ufeff"), min_size=1, max_size=5
)
Numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)


Write = Callable[[Path, Rows], Path]


def write_rows(path: Path, rows: Rows) -> Path:
    return write_array(path, list(rows), np.array(list(rows.values())))


TABLES = ("parquet", "arrow", "feather", "csv", "jsonl")
SAMPLES: dict[str, tuple[str, Write]] = {
    "word2vec.bin": ("word2vec", lambda path, rows: write_word2vec(path, rows, b"")),
    "text.vec": ("word2vec-text", lambda path, rows: write_text(path, rows, header=True)),
    "glove.txt": ("glove", lambda path, rows: write_text(path, rows, header=False)),
    "fasttext.bin": ("fasttext", lambda path, rows: write_fasttext(path, rows, 0)),
    **{f"v.{kind}": ("array", write_rows) for kind in ("npy", "npz", "safetensors")},
    **{f"v.{kind}": ("table", write_table) for kind in TABLES},
}
"""The format of each file, and the function that writes it."""

every = pytest.mark.parametrize("file", SAMPLES)
of_bytes = pytest.mark.parametrize("file", [file for file in SAMPLES if file[:2] != "v."])
"""Files that contain words unchanged."""


def sample(folder: Path, file: str, rows: Rows = ROWS) -> tuple[str, Path]:
    name, write = SAMPLES[file]
    return name, write(folder / file, rows)


@pytest.mark.parametrize("name", FORMATS.all())
def test_every_format_but_those_of_encoders_has_a_sample(name: str) -> None:
    assert FORMATS.get(name).gives == TERMS or name in {name for name, _ in SAMPLES.values()}


@every
def test_only_its_format_recognises_a_sample_under_any_name(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)

    assert [known for known, form in FORMATS.all().items() if form.recognises(path)] == [name]
    assert find_format(path, EmbeddingOptions()) == (name, FORMATS.get(name))
    renamed = path.rename(tmp_path / "renamed.onnx.dat")
    assert find_format(renamed, EmbeddingOptions()) == (name, FORMATS.get(name))


@every
def test_all_formats_give_the_requested_words(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)

    vectors = words_in(name, path, ["Asthma heart", "心臓 lung"])

    assert as_rows(vectors) == {w: as_float32(ROWS)[w] for w in ("asthma", "heart", "心臓")}
    assert vectors.in_vocabulary.all()
    assert vectors.n_vocabulary == 4
    assert words_in(name, path, ["lung"]).vectors.shape == (0, 3)
    assert sorted(vectors.vocabulary.decode().split()) == sorted(ROWS)


@every
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(rows=st.dictionaries(Words, st.lists(Numbers, min_size=3, max_size=3), min_size=1))
def test_what_is_written_is_read(tmp_path: Path, file: str, rows: dict[str, list[float]]) -> None:
    name, path = sample(tmp_path, file, rows)
    looked_up = request(list(rows)[::2]).words

    vectors = as_rows(words_in(name, path, list(rows)[::2]))

    assert vectors == {word: row for word, row in as_float32(rows).items() if word in looked_up}


@of_bytes
def test_a_word_in_invalid_utf_8_is_skipped(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xefve"))

    vectors = words_in(name, path, ["naïve", "na\ufffdve", "heart"])

    assert vectors.words == ["heart"]
    assert vectors.n_vocabulary == 4


@of_bytes
def test_a_repeated_requested_word_is_refused(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file, {**ROWS, "HEART": [1, 2, 3]})
    path.write_bytes(path.read_bytes().replace(b"HEART", b"heart"))
    first, last = (5, 6) if name == "word2vec-text" else (4, 5)

    with pytest.raises(InputError, match=rf"'heart' is in \w+ {first} .*again in \w+ {last}"):
        words_in(name, path, ["heart"])
    assert words_in(name, path, ["asthma"]).words == ["asthma"]


@pytest.mark.parametrize("file", [file for file in SAMPLES if file != "v.jsonl"])  # not JSON
def test_a_requested_vector_that_is_not_finite_is_refused(tmp_path: Path, file: str) -> None:
    for value in (np.nan, np.inf, -np.inf):
        name, path = sample(tmp_path, file, {**ROWS, "lung": [1.0, value, 3.0]})

        with pytest.raises(InputError, match=r"vector of 'lung'.* not finite"):
            words_in(name, path, ["heart", "lung"])
        assert words_in(name, path, ["heart"]).words == ["heart"]


@pytest.mark.parametrize(
    "file", [file for file in SAMPLES if file not in ("text.vec", "glove.txt", "v.csv", "v.jsonl")]
)
def test_a_truncated_file_is_refused(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)
    content = path.read_bytes()
    for size in (0, 5, 30, len(content) // 2, *(len(content) - cut for cut in (20, 14, 13, 2, 1))):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=file):
            words_in(name, path, ["heart"])


@every
def test_the_fingerprint_changes_with_every_file(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)
    options = EmbeddingOptions()
    seen = {files_fingerprint(path, FORMATS.get(name), options)}

    for form in FORMATS.get(name).files(path, options):
        form.write_bytes(form.read_bytes() + b"x")
        seen.add(files_fingerprint(path, FORMATS.get(name), options))

    assert len(seen) == 1 + len(FORMATS.get(name).files(path, options))


NO_EMBEDDINGS = [
    (b"", "is empty"),
    (b"<html><body>Not found</body></html>", "is an HTML page"),
    (b"\x80\x04\x95\x00\x00", "is a pickle|is not UTF-8"),
    (b"PK\x03\x04 and then nothing", ""),
    (b"\x1f\x8b and then nothing", ""),
    (b"one word a line\nand more\n", "begins with b'one word|line"),
    (b'{"a": [1, 2]}', ""),
    (b"abcdefgh{", ""),
    (bytes(range(256)), ""),
]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04" + bytes(40), "is a zip; unpack it"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "is packed by zstd; unpack it"),
        ("heart 0.5 1\n".encode("utf-16"), "is UTF-16 text; convert it to UTF-8"),
    ],
)
def test_a_file_to_convert_first_needs_no_format_option(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)

    with pytest.raises(InputError) as caught:
        find_format(path, EmbeddingOptions())
    assert str(caught.value) == f"{path} {expected}"


@pytest.mark.parametrize("name", sorted({name for name, _ in SAMPLES.values()}))
def test_other_files_are_not_recognised(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.txt"
    for content, message in NO_EMBEDDINGS:
        path.write_bytes(content)

        with pytest.raises(InputError):
            find_format(path, EmbeddingOptions())
        with pytest.raises(InputError, match=rf"file\.txt.*({message})"):
            FORMATS.get(name).read(path, request(["heart"]))
    with pytest.raises(InputError):
        FORMATS.get(name).load(tmp_path, request(["heart"]))


@every
def test_options_that_do_not_fit_are_refused(tmp_path: Path, file: str) -> None:
    name, path = sample(tmp_path, file)

    with pytest.raises(OptionError, match=r"option pooling=cls does not fit .*; accepted: .*case"):
        words_in(name, path, ["heart"], pooling="cls")
    if name in ("array", "table"):
        with pytest.raises(OptionError, match=r"option parts=never does not fit .*rows of terms"):
            words_in(name, path, ["heart"], keys="terms", parts="never")
