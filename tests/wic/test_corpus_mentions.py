"""Mentions of corpora in their sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fixtures.corpora import invented_names, pubtator_text
from polars.testing import assert_frame_equal

from medsim.corpora import Annotation, Document, sentences
from medsim.corpora.pubtator import Problems
from medsim.wic import mentions
from medsim.wic.mentions import mentions_in_sentences, read_corpora
from medsim.wic.output import MENTION_COLUMNS


def document(title: str, abstract: str, *terms: tuple[str, int]) -> Document:
    """Return a document in which each term is mentioned at its nth occurrence, from 0."""
    text = f"{title} {abstract}"
    found = []
    for number, (term, nth) in enumerate(terms):
        start = -1
        for _ in range(nth + 1):
            start = text.index(term, start + 1)
        codes = (("MSH", f"D{number:06d}"),)
        found.append(
            Annotation(start=start, end=start + len(term), text=term, kind="X", codes=codes)
        )
    return Document(document_id="7", title=title, abstract=abstract, annotations=tuple(found))


def test_a_mention_keeps_its_place_in_its_sentence() -> None:
    one = document(
        "Orl \U0001f600 dup.", " It fell. B\u00e9b\u00e9 dup rose.", ("dup", 0), ("dup", 1)
    )

    found = mentions_in_sentences([one], "c", Problems())

    expected = [
        ("c", "7", 0, "Orl \U0001f600 dup.", 6, 9, "dup", "X", "MSH", "D000000"),
        ("c", "7", 21, "B\u00e9b\u00e9 dup rose.", 5, 8, "dup", "X", "MSH", "D000001"),
    ]
    assert found.mentions.rows() == expected
    assert found.mentions.schema == pl.Schema(MENTION_COLUMNS)
    assert (found.n_documents, found.n_sentences, found.n_mentions) == (1, 3, 2)


def test_mentions_without_one_concept_or_one_sentence_are_counted() -> None:
    one = document(
        "Dup.",
        "It fell. Orl rose.",
        *((term, 0) for term in ("fell. Orl", "Dup. It", " It", "It", "rose.")),
    )
    codes = [(), (("MSH", "D000001"), ("MSH", "D000002")), (("MSH", "D000001"), ("", ""))]
    others = tuple(replace(one.annotations[4], codes=several) for several in codes)
    problems = Problems()

    found = mentions_in_sentences(
        [replace(one, annotations=one.annotations + others)], "c", problems
    )

    assert found.mentions["term"].to_list() == ["It", "rose."]
    assert {each.reason: each.n_rows for each in problems.skipped()} == {
        "mention crosses a sentence boundary": 3,
        "mention has no concept": 1,
        "mention has several concepts": 2,
    }
    assert problems.warnings() == ()


def test_a_document_that_is_too_long_is_left_out_and_named(monkeypatch) -> None:
    monkeypatch.setattr(sentences, "LONGEST_TEXT", 9)
    problems = Problems()

    found = mentions_in_sentences(
        [document("Dup.", "It fell.."), document("Dup.", "It fell...")], "c", problems
    )

    assert found.n_documents == 1
    (warning,) = problems.warnings()
    assert "c: document 7: 10 characters, where 9 are the most" in warning


@pytest.mark.slow
def test_processes_make_no_difference(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sentences, "_DOCUMENTS_A_BATCH", 3)
    monkeypatch.setattr(mentions, "_ROWS_A_FRAME", 50)
    names = invented_names(3, 40)
    for name, seed in (("orl.txt", 3), ("dup.txt.gz", 4)):
        text = pubtator_text(names, seed=seed, n_documents=70)
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [tmp_path / "orl.txt", tmp_path / "dup.txt.gz"]
    done: list[int] = []

    one = read_corpora(paths, threads=1, advance=done.append)
    two = read_corpora(paths, threads=2)

    assert_frame_equal(one.mentions, two.mentions)
    assert (one.skipped, one.warnings) == (two.skipped, two.warnings)
    assert sum(done) == 140
    assert one.mentions["corpus"].unique(maintain_order=True).to_list() == ["orl", "dup"]
    assert one.mentions["document_id"].unique().len() == 70
    for row in one.mentions.iter_rows(named=True):
        assert row["sentence"][row["start"] : row["end"]] == row["term"]
    n_left_out = sum(
        each.n_rows
        for each in one.skipped
        if each.reason.startswith("mention ") and "offsets" not in each.reason
    )
    assert sum(each.n_mentions for each in one.corpora) == one.mentions.height + n_left_out
