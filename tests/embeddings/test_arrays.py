"""Arrays of vectors, and the files that name their rows."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import ROWS, as_float32, as_rows, request, terms_in, words_in, write_array

from medsim.core.errors import InputError
from medsim.embeddings.formats import FORMATS, files_fingerprint, find_format
from medsim.embeddings.options import EmbeddingOptions, parse_options

VECTORS = np.array(list(ROWS.values()))
WORDS = list(ROWS)


def write_lines(path: Path, words: list[str]) -> None:
    path.write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


def in_table(words: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"rank": range(len(words)), "note": "x", "Word": words})


def alone(words: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"__index_level_0__": words})


VOCABULARIES: list[tuple[str, Callable[[Path, list[str]], object]]] = [
    ("v.txt", write_lines),
    ("words.json", lambda path, words: path.write_text(json.dumps(words))),
    (
        "v.json",
        lambda path, words: path.write_text(json.dumps({w: i for i, w in enumerate(words)})),
    ),
    ("v.csv", lambda path, words: in_table(words).write_csv(path)),
    ("v.parquet", lambda path, words: in_table(words).write_parquet(path)),
    ("v.tsv", lambda path, words: path.write_text("\n".join(["__index_level_0__", *words]))),
    ("v.parquet", lambda path, words: alone(words).write_parquet(path)),
]


def write(folder: Path, file: str, words: list[str] = WORDS, vectors=VECTORS) -> Path:
    return write_array(folder / file, words, vectors)


every = pytest.mark.parametrize("file", ["v.npy", "v.npz", "v.safetensors"])


@every
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
def test_wanted_words_are_read(tmp_path: Path, file: str, dtype: type) -> None:
    vectors = np.array([[1, -2, 3], [4, 5, -6], [7, 8, 9], [10, 11, 12]], dtype)
    path = write(tmp_path, file, vectors=vectors)

    result = words_in("array", path, ["heart naïve", "asthma", "lung"])

    assert as_rows(result) == {"asthma": [1, -2, 3], "naïve": [4, 5, -6], "heart": [10, 11, 12]}
    assert result.in_vocabulary.all()
    assert result.n_vocabulary == 4


@pytest.mark.parametrize(("file", "write_words"), VOCABULARIES)
def test_a_vocabulary_may_be_text_json_or_a_table(tmp_path: Path, file: str, write_words) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    write_words(tmp_path / file, ['"quoted', *WORDS[1:]])

    result = words_in("array", tmp_path / "v.npy", [*WORDS, '"quoted'])

    assert as_rows(result) == as_float32(
        {'"quoted': ROWS["asthma"], **dict(list(ROWS.items())[1:])}
    )


MISSING = ["null", "NA", "nan", "true"]
"""Words that readers of tables may treat as missing values."""


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("v.csv", in_table(MISSING).write_csv(), MISSING),
        ("v.txt", "\ufeff" + "\r\n".join([*WORDS[:3], "he\u2028art"]), WORDS[:3]),
        ("~$v.csv", "\x05ada", WORDS),  # a lock file is not a vocabulary
    ],
)
def test_a_vocabulary_may_be_unusual(
    tmp_path: Path, file: str, text: str, words: list[str]
) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    if words == WORDS:
        write_lines(tmp_path / "words.csv", ["word", *WORDS])
    (tmp_path / file).write_bytes(text.encode())

    assert words_in("array", tmp_path / "v.npy", [*WORDS, *MISSING]).words == words


@every
def test_a_folder_of_one_array_and_its_vocabulary_is_an_embedding(
    tmp_path: Path, file: str
) -> None:
    path = write(tmp_path, file)

    assert FORMATS.get("array").recognises(tmp_path)
    assert as_rows(words_in("array", tmp_path, WORDS)) == as_float32(ROWS)
    assert FORMATS.get("array").files(tmp_path, parse_options({})) == [path, tmp_path / "v.txt"]
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert not FORMATS.get("array").recognises(tmp_path)  # a model
    np.savez(tmp_path / "w.npz", VECTORS)
    with pytest.raises(InputError, match=r"must have one array .* it has v\..*, w\.npz"):
        words_in("array", tmp_path, WORDS)


def test_a_given_vocabulary_comes_before_one_of_the_same_name(
    tmp_path: Path,
) -> None:
    path, other = write(tmp_path, "v.npy"), tmp_path / "other.txt"
    write_lines(other, ["one", "two", "three", "four"])

    assert words_in("array", path, WORDS).words == WORDS
    result = words_in("array", path, ["three"], vocabulary=str(other))
    assert as_rows(result) == as_float32({"three": ROWS["心臓"]})


def test_a_missing_or_ambiguous_vocabulary_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(InputError, match=r"its folder has none .* add ,vocabulary=FILE"):
        words_in("array", tmp_path / "v.npy", WORDS)
    for file, says in (("none.txt", r"cannot be read \(No such file"), ("v.npy", "not a vocab")):
        with pytest.raises(InputError, match=says):
            words_in("array", tmp_path / "v.npy", WORDS, vocabulary=str(tmp_path / file))

    for name in ("a.txt", "b.json"):
        write_lines(tmp_path / name, WORDS)
    with pytest.raises(InputError, match=r"several could \(a\.txt, b\.json\)"):
        words_in("array", tmp_path / "v.npy", WORDS)


@every
def test_rows_of_terms_are_found_by_their_text_then_ignoring_case(
    tmp_path: Path, file: str
) -> None:
    path = write(tmp_path, file, ["Heart attack", "HEART ATTACK", "croup", "heart"])
    terms = ["Croup", "Heart attack", "heart", "heart attack", "lung"]

    result = terms_in("array", path, terms, keys="terms")
    lower = terms_in("array", path, terms, keys="terms", case="lower")
    keep = terms_in("array", path, terms, keys="terms", case="keep")

    rows = np.vstack([VECTORS, np.zeros(3)]).astype(np.float32)
    assert result.vectors.tolist() == rows[[2, 0, 3, 0, 4]].tolist()
    assert result.covered.tolist() == [True, True, True, True, False]
    assert result.n_vocabulary == 4
    assert lower.vectors.tolist() == rows[[2, 0, 3, 0, 4]].tolist()
    assert keep.vectors.tolist() == rows[[4, 0, 3, 4, 4]].tolist()
    assert keep.covered.tolist() == [False, True, True, False, False]
    assert not terms_in("array", path, ["lung"], keys="terms").vectors.any()


@every
@pytest.mark.parametrize("case", ["fallback", "lower", "keep", "upper"])
def test_underscores_of_terms_count_as_spaces_if_nothing_else_is_found(
    tmp_path: Path, file: str, case: str
) -> None:
    path = write(tmp_path, file, ["heart_attack", "heart attack", "acute_croup", "/c/en/a_cold"])

    result = terms_in(
        "array", path, ["a cold", "acute croup", "heart attack"], keys="terms", case=case
    )

    assert result.vectors.tolist() == VECTORS[[3, 2, 1]].astype(np.float32).tolist()


@pytest.mark.parametrize("keys", ["words", "terms"])
def test_a_repeated_requested_key_is_refused(tmp_path: Path, keys: str) -> None:
    path = write(tmp_path, "v.npy", ["heart", "lung", "lung", "heart"])

    with pytest.raises(InputError, match="'heart' is in row 1 and again in row 4"):
        FORMATS.get("array").read(path, request(["heart"], keys=keys))
    write(tmp_path, "v.npy", ["heart", "lung", "lung", "heart"], VECTORS[[0, 1, 2, 0]])
    result = FORMATS.get("array").read(path, request(["heart"], keys=keys))
    assert result.vectors.tolist() == [ROWS["asthma"]]


@every
@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros(4), r"has an array of shape \(4,\)"),
        (np.zeros((4, 2, 2)), r"has an array of shape \(4, 2, 2\)"),
        (np.zeros((4, 0)), r"array of shape \(4, 0\)|cannot be read"),
        (np.zeros((4, 3), np.int32), "expected float16, bfloat16, float32, float64 or int8"),
        (np.zeros((1, 65_537)), "expected 1 to 65,536"),
        (np.zeros((3, 2)), r"has 3 rows and .*v\.txt names 4"),
    ],
)
def test_an_array_without_a_vector_a_row_is_refused(
    tmp_path: Path, file: str, vectors: np.ndarray, message: str
) -> None:
    path = write(tmp_path, file, vectors=vectors)

    with pytest.raises(InputError, match=message):
        words_in("array", path, WORDS)


@every
def test_rows_are_selected(tmp_path: Path, file: str) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(50, 4)).astype(np.float32)
    words = [f"word{row}" for row in range(50)]
    path = write(tmp_path, file, words, vectors)

    result = words_in("array", path, words[::3])

    assert result.words == words[::3]
    assert result.vectors.tolist() == vectors[::3].tolist()


@pytest.mark.parametrize("file", ["v.npy", "v.npz"])
@pytest.mark.parametrize("vectors", [np.asfortranarray(VECTORS), VECTORS.astype(">f4")])
def test_arrays_stored_by_column_or_with_the_high_byte_first_are_read(
    tmp_path: Path, vectors: np.ndarray, file: str
) -> None:
    path = write(tmp_path, file, vectors=vectors)

    assert as_rows(words_in("array", path, WORDS)) == as_float32(ROWS)


def test_an_archive_of_two_arrays_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, a=VECTORS, b=VECTORS)
    (tmp_path / "v.txt").write_text("\n".join(WORDS))
    with pytest.raises(InputError, match=r"has 2 arrays \(a, b\); expected one"):
        words_in("array", path, WORDS)


def test_an_unsupported_type_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "v.safetensors", vectors=np.zeros((4, 2), np.float16))
    path.write_bytes(path.read_bytes().replace(b'"F16"', b'"U16"'))
    with pytest.raises(InputError, match="values of type U16; expected float16, bfloat16, fl"):
        words_in("array", path, WORDS)


@every
def test_halves_of_float32_are_read(tmp_path: Path, file: str) -> None:
    vectors = np.array([[1, -2.5], [3e38, 1e-38], [0.15625, 7], [-0.0, 2**-126]], np.float32)
    halves = (vectors.view("<u4") >> 16).astype("<u2")
    path = write(tmp_path, file, vectors=halves if file == "v.safetensors" else halves.view("V2"))
    path.write_bytes(path.read_bytes().replace(b'"U16" ', b'"BF16"').replace(b'"U16"', b'"BF16"'))
    if file == "v.safetensors":  # the header is a character longer
        content = path.read_bytes()
        size = int.from_bytes(content[:8], "little") + 1
        path.write_bytes(size.to_bytes(8, "little") + content[8:])

    expected = (vectors.view("<u4") & 0xFFFF0000).view("<f4")
    assert words_in("array", path, WORDS).vectors.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["words", "vocab", "Terms", "index"])
@pytest.mark.parametrize("in_bytes", [False, True])
def test_an_archive_may_have_its_own_words(tmp_path: Path, name: str, *, in_bytes: bool) -> None:
    words = [word.encode() for word in WORDS] if in_bytes else WORDS
    np.savez_compressed(tmp_path / "v.npz", **{name: words, "vectors": VECTORS.astype("<f4")})
    (tmp_path / "about.txt").write_text("about\n")
    path = tmp_path / "v.npz"

    assert FORMATS.get("array").files(path, EmbeddingOptions()) == [path]
    if name == "Terms":
        assert terms_in("array", path, ["Asthma"]).vectors.tolist() == [ROWS["asthma"]]
    else:
        assert as_rows(words_in("array", path, WORDS)) == as_float32(ROWS)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": WORDS[:3], "vectors": VECTORS}, r"has 4 rows and .*v\.npz names 3"),
        ({"words": np.zeros(4), "vectors": VECTORS}, "words is of type float64; expected a row of"),
        ({"words": [WORDS], "vectors": VECTORS}, "words is of type <U6; expected a row of texts"),
        ({"words": WORDS, "a": VECTORS, "b": VECTORS}, r"has 2 arrays \(a, b\); expected one"),
        ({"words": np.array(WORDS, object), "vectors": VECTORS}, "Object arrays cannot be loaded"),
        ({"words": [b"\xff"] * 4, "vectors": VECTORS}, "cannot be read .* can't decode byte 0xff"),
    ],
)
def test_an_archive_with_faulty_words_is_refused(
    tmp_path: Path, arrays: dict[str, object], message: str
) -> None:
    np.savez(tmp_path / "v.npz", **arrays)

    with pytest.raises(InputError, match=message):
        words_in("array", tmp_path / "v.npz", WORDS)


@pytest.mark.parametrize(
    ("file", "says"), [("v.npy", "Python objects"), ("v.npz", "Object arrays cannot be loaded")]
)
def test_an_array_of_objects_is_never_unpickled(tmp_path: Path, file: str, says: str) -> None:
    path = write(tmp_path, file, vectors=np.array([["a", 1], ["b", 2]], object))

    with pytest.raises(InputError, match=says):
        words_in("array", path, WORDS)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("(-1, 3)", r"array of shape \(-1, 3\)|cannot be read"),
        ("(4, 1000000000)", "expected 1 to 65,536|cannot be read"),
        ("(1000000000000000000, 65536)", "cannot be read|has 1,000,000,000,000,000,000 rows"),
        ("(4, 60000)", "cannot be read"),
        ("()", r"array of shape \(\)"),
        ("(4, 'x')", "cannot be read"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_false_header_is_refused(
    tmp_path: Path, shape: str, message: str, *, packed: bool
) -> None:
    write_lines(tmp_path / "v.txt", WORDS)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + bytes(48)
    path = tmp_path / "v.npy"
    path.write_bytes(content)
    if packed:
        path = tmp_path / "v.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("v.npy", content)

    with pytest.raises(InputError, match=rf"{path.name}.* {message}"):
        words_in("array", path, WORDS)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("v.txt", b"asthma\nna\xefve\n", "line 2 is not UTF-8"),
        ("v.json", b'["asthma", 1]', "is not a list of words or an object"),
        ("v.json", b'{"asthma": 0, "heart": 2}', "each of the rows 0 to 1"),
        ("v.json", b'{"asthma": true}', "each of the rows 0 to 0"),
        ("v.json", b'["asthma"', "is not JSON "),
        (
            "v.csv",
            b"a,b\nx,y\n",
            r"the columns a \(String\), b \(String\); expected one column of text",
        ),
        ("v.csv", b"", "cannot be read"),
        ("v.parquet", b"PAR1", "cannot be read"),
    ],
)
def test_a_faulty_vocabulary_is_refused(
    tmp_path: Path, file: str, content: bytes, message: str
) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / file).write_bytes(content)

    with pytest.raises(InputError, match=message):
        words_in("array", tmp_path / "v.npy", WORDS)


def write_numbers(folder: Path, lines: list[str], words: list[str] = WORDS) -> Path:
    """Write a folder in the layout of BioASQ's vectors."""
    folder.mkdir(exist_ok=True)
    (folder / "vectors.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_lines(folder / "types.txt", words)
    return folder


NUMBERS = [" ".join(map(repr, row)) for row in ROWS.values()]


def test_a_folder_of_words_and_lines_of_numbers_is_an_embedding(tmp_path: Path) -> None:
    folder = write_numbers(tmp_path / "bioasq", [f" {line} " for line in NUMBERS])
    (folder / "README.txt").write_text("about\n", encoding="utf-8")

    assert find_format(folder, EmbeddingOptions())[0] == "array"
    result = words_in("array", folder, ["lung", *WORDS[:3]])
    assert as_rows(result) == as_float32(dict(list(ROWS.items())[:3]))
    assert (result.n_vocabulary, words_in("array", folder, ["lung"]).vectors.shape) == (4, (0, 3))
    before = files_fingerprint(folder, FORMATS.get("array"), EmbeddingOptions())
    write_lines(folder / "types.txt", WORDS[::-1])
    assert files_fingerprint(folder, FORMATS.get("array"), EmbeddingOptions()) != before
    reversed_rows = dict(zip(WORDS, list(ROWS.values())[::-1], strict=True))
    assert as_rows(words_in("array", folder, WORDS)) == as_float32(reversed_rows)


def test_lines_of_numbers_may_be_of_terms(tmp_path: Path) -> None:
    folder = write_numbers(tmp_path, NUMBERS[:2], ["Heart attack", "croup"])

    result = terms_in("array", folder, ["croup", "heart attack", "lung"], keys="terms")

    expected = as_float32({"croup": ROWS["naïve"], "heart attack": ROWS["asthma"]})
    assert result.vectors[:2].tolist() == list(expected.values())
    assert result.covered.tolist() == [True, True, False]


def test_an_array_in_the_folder_comes_before_lines_of_numbers(tmp_path: Path) -> None:
    folder = write_numbers(tmp_path, NUMBERS)
    np.save(folder / "types.npy", VECTORS[::-1])

    assert FORMATS.get("array").recognises(folder)
    files = FORMATS.get("array").files(folder, parse_options({}))
    assert files == [folder / "types.npy", folder / "types.txt"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (NUMBERS[:3], r"vectors\.txt has 3 rows and .*types\.txt names 4"),
        ([*NUMBERS, "1 2 3"], r"vectors\.txt has 5 rows and .*types\.txt names 4"),
        ([*NUMBERS[:3], "1 2"], r"vectors\.txt: line 4 has 2 numbers, not 3"),
        ([*NUMBERS[:3], "1 2 x"], r"vectors\.txt: line 4 has b'x' instead of a number"),
        ([*NUMBERS[:3], "1 2 1e99"], r"vector of 'heart', row 4, is not finite"),
        ([], r"vectors\.txt has an array of shape \(0, 0\)"),
    ],
)
def test_faulty_lines_of_numbers_are_refused(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        words_in("array", write_numbers(tmp_path, lines), WORDS)
