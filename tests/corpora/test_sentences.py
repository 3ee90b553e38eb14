"""Sentences of texts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import OptionError
from medsim.corpora import Document, sentences
from medsim.corpora.sentences import cut_documents, sentences_of, sentences_of_document

PIECES = [
    "The p = 0.05 (n = 3). ",
    "See Fig. 2 [3]. ",
    '"Stop!" he said. ',
    "Dr. Orl et al. did; i.e. this. ",
    "1. one 2. two ",
    "It. ",
    "What?! ",
    " ?!",
    "(A. b) ",
    "orl.[3] The ",
    "orl.3 The ",
    "\U0001f600. ",
    "B\u00e9b\u00e9. ",
    "  ",
    *"\u00a0\u2028\r\t\x1c\x1f",
    "E. coli ",
    "&\u14f4&",  # PySBD uses these as placeholders, like the rest
    *"\u2229\u222f\u0238\u1d14\u266c\u2668\u261d",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)


def by_pysbd(text: str) -> list[str]:
    sentences._segmenter("en")  # it ignores the warnings when Python compiles PySBD
    from pysbd import Segmenter

    return Segmenter(language="en", clean=False).segment(text)


def split(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentences_of(text, language)]


@given(TEXTS)
def test_sentences_have_everything_that_is_not_white_space_in_order(text: str) -> None:
    spans = sentences_of(text)

    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(
        text.split()
    )
    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@given(st.lists(st.sampled_from(PIECES[:18]), max_size=8).map("".join))
def test_sentences_match_pysbd_if_it_loses_nothing(text: str) -> None:
    whole = by_pysbd(text)

    if "".join(whole) == text.lstrip():
        assert split(text) == [sentence.strip() for sentence in whole]


def test_abbreviations_and_numbers_do_not_end_sentences() -> None:
    text = "  Dr. Orl et al. gave 3.5 mg (p = 0.05).  It fell.\u00a0"

    assert sentences_of(text) == [(2, 40), (42, 50)]
    assert split(text) == ["Dr. Orl et al. gave 3.5 mg (p = 0.05).", "It fell."]
    assert sentences_of("It fell. It rose. It fell.") == [(0, 8), (9, 17), (18, 26)]


def test_text_that_pysbd_loses_is_a_separate_sentence() -> None:
    assert by_pysbd("It fell. ?!") == ["It fell. "]
    assert split("It fell. ?!") == ["It fell.", "?!"]


def test_a_sentence_that_pysbd_changed_lies_between_its_neighbours() -> None:
    whole = ["It fell.", "Then dup rose.", "It fell again.", "It fell."]
    text = " ".join(whole)

    spans = sentences._find_spans(text, ["It fell.", "Then DUP rose.", *whole[2:]])

    assert [text[start:end] for start, end in spans] == whole


def test_a_sentence_is_not_searched_far_after_a_missing_one() -> None:
    far = "Then dup rose, and fen and gul and hok and jas and kip and lom fell with it. It fell."

    spans = sentences._find_spans(far, ["Orl.", "It fell."])

    assert [far[start:end] for start, end in spans] == [far]


def test_no_sentence_has_parts_of_title_and_abstract() -> None:
    assert sentences_of_document("On dup", "and orl. It fell.") == [(0, 6), (7, 15), (16, 24)]
    assert sentences_of_document("On dup.", "") == [(0, 7)]
    assert sentences_of_document("", "On dup.") == [(1, 8)]


def test_documents_are_read_lazily(monkeypatch) -> None:
    monkeypatch.setattr(sentences, "_DOCUMENTS_A_BATCH", 2)
    consumed: list[int] = []

    def endless() -> Iterator[Document]:
        while True:
            consumed.append(1)
            yield Document(document_id="7", title="Dup.", abstract="", annotations=())

    assert len(list(islice(cut_documents(endless(), threads=1), 5))) == 5
    assert len(consumed) <= 8


@pytest.mark.slow
def test_a_script_without_a_main_guard_gets_an_error(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from medsim.corpora import Document\n"
        "from medsim.corpora.sentences import cut_documents\n"
        "one = Document(document_id='7', title='Dup.', abstract='', annotations=())\n"
        "list(cut_documents([one] * 100, threads=2))\n",
        encoding="utf-8",
    )

    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "OptionError: cannot start 2 processes for sentences; put the code of a" in ended.stderr


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("es", ["El paciente tenía tos.", "El Dr. Orl no vio nada."]),
        ("de", ["Er bekam z. B. Velpin.", "Dr. Orl sah nichts."]),
        ("hi", ["रोगी को बुखार था।", "उसे दवा दी गई।"]),
    ],
)
def test_sentences_end_by_the_rules_of_their_language(language: str, expected: list[str]) -> None:
    assert split(" ".join(expected), language) == expected


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_documents_are_split_alike_by_any_number_of_processes(threads: int) -> None:
    title, other = "Er bekam z. B. Velpin.", "Dr. Orl sah nichts."
    document = Document(document_id="1", title=title, abstract=f"{title} {other}", annotations=())

    cut = list(cut_documents([document] * 70, language="de", threads=threads))

    starts = (0, len(title) + 1, 2 * (len(title) + 1))
    assert [tuple(start for start, _ in spans) for _, spans in cut] == [starts] * 70


def test_a_missing_extra_is_an_error(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pysbd", None)
    sentences._segmenter.cache_clear()

    with pytest.raises(OptionError, match="install medsim with its extra tag or wic"):
        sentences_of("It fell.")
