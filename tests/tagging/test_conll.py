"""Files in CoNLL's layout."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from medsim.core.errors import InputError
from medsim.corpora.pubtator import open_corpus
from medsim.tagging.corpus import Entity, Sentence, conll_text, read_conll


def sentences(path: Path, content: str | bytes) -> list[Sentence]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with open_corpus(path) as file:
        return read_conll(file, path)


def words_and_tags(found: list[Sentence]) -> list[list[tuple[str, str]]]:
    return [list(zip(one.words, one.tags, strict=True)) for one in found]


@pytest.mark.parametrize(
    "content",
    [
        "Orl\tB-X\ndup\tI-X\n.\tO\n\nSeen\tO\n",
        "\n\nOrl\tB-X\r\ndup\tI-X\r\n.\tO\r\n\r\n\r\nSeen\tO",
        "\ufeffOrl NN B-NP I-X\ndup NN I-NP I-X\n. . O O\n \nSeen VB O O\n",  # as CoNLL-2003, IOB1
        "Orl\tB-X\ndup\tE-X\n.\tO\n\nSeen\tO\n",
        gzip.compress(b"Orl\tB-X\ndup\tL-X\n.\tO\n\nSeen\tO\n", mtime=0),
    ],
)
def test_sentences_of_every_scheme_and_form_are_read(tmp_path: Path, content) -> None:
    found = sentences(tmp_path / "train.tsv", content)

    assert words_and_tags(found) == [
        [("Orl", "B-X"), ("dup", "I-X"), (".", "O")],
        [("Seen", "O")],
    ]
    assert [one.document_id for one in found] == ["1", "2"]


def test_a_word_may_have_a_space_where_columns_have_tabs(tmp_path: Path) -> None:
    assert sentences(tmp_path / "t", "1 000\tB-X\n")[0].words == ("1 000",)


def test_documents_may_have_lines_between_them_alone(tmp_path: Path) -> None:
    between = "\n-DOCSTART-\tO\n\n"
    content = f"a\tO\n\nb\tO\n{between}c\tO\n\nd\tB-X\n{between}e\tO\n"
    found = sentences(tmp_path / "t", content)
    assert [one.document_id for one in found] == ["0", "0", "1", "1", "2"]


def test_sentences_of_a_document_are_written_and_read_as_they_are(tmp_path: Path) -> None:
    written = [
        Sentence(document_id="17", words=("Orl", "dup"), entities=(Entity("X", 0, 2),)),
        Sentence(document_id="17", words=("Seen",), entities=()),
        Sentence(document_id="4", words=("b\u00e9", "\U0001f600"), entities=(Entity("Y", 1, 2),)),
    ]

    found = sentences(tmp_path / "dev.tsv", conll_text(written))

    assert words_and_tags(found) == words_and_tags(written)
    assert [one.document_id for one in found] == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("Orl\tB-X\ndup\n", "line 2 is 'dup'; a word, a tab and a tag are due"),
        ("\tB-X\n", "line 1 is .*; a word, a tab and a tag are due"),
        ("Orl\tX\n", "line 1 has the tag 'X'; O is due, or a letter of B, I, E, L, S, U, a hyphen"),
        ("Orl\tB-\n", "line 1 has the tag 'B-'"),
        ("\n\n", "has no sentence"),
        ("", "has no sentence"),
        (b"Orl\tB-X\n\xff\tO\n", "line 2 is not UTF-8"),
    ],
)
def test_a_faulty_line_is_told_with_its_number(tmp_path: Path, content, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        sentences(tmp_path / "train.tsv", content)
