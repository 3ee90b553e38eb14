"""Vocabularies with phrases, in upper case, and with repeated rows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from fixtures.embeddings import Rows, write_array, write_fasttext, write_text, write_word2vec

from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import EmbeddedTerms, NamedEmbedding, embed_terms, open_source
from medsim.embeddings.options import parse_embedding


def write_numbers(path: Path, rows: Rows) -> Path:
    return write_array(path, list(rows), np.array(list(rows.values()), np.float32))


WRITERS = {
    "glove.txt": lambda path, rows: write_text(path, rows, header=False),
    "text.vec": lambda path, rows: write_text(path, rows, header=True),
    "v.npy": write_numbers,
    "word2vec.bin": write_word2vec,
}

every = pytest.mark.parametrize("file", WRITERS)


def embedded(path: Path, *terms: str, options: str = "") -> EmbeddedTerms:
    spec = parse_embedding(f"e={path}{options}")
    named = NamedEmbedding(spec=spec, source=open_source(spec), fingerprint="f")
    return embed_terms(named, sorted(terms), Progress(), threads=1, cache=None)


def find_words(terms: EmbeddedTerms) -> list[list[str]]:
    """Return the words whose vectors each term gets."""
    assert terms.words is not None
    bags, words = terms.embedded, terms.words.to_list()
    starts = bags.starts.tolist()
    return [[words[row] for row in bags.words[start:end]] for start, end in pairwise(starts)]


@every
def test_phrases_of_a_file_are_found(tmp_path: Path, file: str) -> None:
    if file == "word2vec.bin":  # a word ends at the first space
        rows = {"heart": [1, 2], "acute_pain": [3, 4], "Heart_attack": [5, 6], "other_pain": [7, 8]}
    else:
        rows = {"heart": [1, 2], "acute pain": [3, 4], "Heart_attack": [5, 6], "other_pain": [7, 8]}
    path = WRITERS[file](tmp_path / file, rows)
    terms = ("Acute pain", "Heart attack", "heart", "no pain")
    pain = [list(rows)[1]]

    assert find_words(embedded(path, *terms)) == [pain, ["heart"], ["heart"], []]
    always = embedded(path, *terms, options=",phrases=always")
    assert find_words(always) == [pain, ["Heart_attack"], ["heart"], []]
    assert always.terms["n_words"].to_list() == [1, 1, 1, 2]
    assert find_words(embedded(path, *terms, options=",phrases=never"))[0] == []


@every
def test_conceptnet_has_phrases(tmp_path: Path, file: str) -> None:
    rows = {"/c/en/heart": [1, 2], "/c/en/heart_attack": [3, 4], "/c/fr/pain": [5, 6]}
    path = WRITERS[file](tmp_path / file, rows)

    result = embedded(path, "heart attack", "pain", options=",phrases=always")

    assert find_words(result) == [["heart_attack"], []]


@every
def test_a_vocabulary_in_upper_case_is_found(tmp_path: Path, file: str) -> None:
    rows = {"</s>": [9, 9], "HEART": [1, 2], "CHRONIC_PAIN": [3, 4], "2": [5, 6]}
    path = WRITERS[file](tmp_path / file, rows)

    terms = ("Heart 2", "chronic pain", "heart", "lung")
    assert find_words(embedded(path, *terms)) == [["HEART", "2"], ["CHRONIC_PAIN"], ["HEART"], []]
    for case in ("lower", "keep"):
        assert find_words(embedded(path, "heart", options=f",case={case}")) == [[]]


@every
def test_only_a_whole_vocabulary_in_upper_case_is_searched_so(tmp_path: Path, file: str) -> None:
    path = WRITERS[file](tmp_path / file, {"HIV": [1, 2], "Heart": [3, 4]})

    assert find_words(embedded(path, "hiv")) == [[]]
    assert find_words(embedded(path, "hiv", options=",case=upper")) == [["HIV"]]


def test_a_model_of_fasttext_in_upper_case_makes_vectors_in_upper_case(tmp_path: Path) -> None:
    path = write_fasttext(tmp_path / "model.bin", {"HEART": [1, 2], "LUNG": [3, 4]}, 7)

    assert find_words(embedded(path, "heart liver")) == [["HEART", "LIVER"]]


@every
def test_equal_rows_of_a_word_are_used_once(tmp_path: Path, file: str) -> None:
    path = WRITERS[file](tmp_path / file, {"heart": [1, 2], "hearT": [1, 2]})
    for written in tmp_path.iterdir():
        written.write_bytes(written.read_bytes().replace(b"hearT", b"heart"))
    spec = parse_embedding(f"e={path}")
    named = NamedEmbedding(spec=spec, source=open_source(spec), fingerprint="f")
    progress = Progress()

    result = embed_terms(named, ["heart"], progress, threads=1, cache=None)

    assert find_words(result) == [["heart"]]
    assert not progress.warnings
