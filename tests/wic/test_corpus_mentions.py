"""Mentions of corpora in their sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fixtures.corpora import invented_names, pubtator_text
from polars.testing import assert_frame_equal

from medsim.corpora import Annotation, Document, sentences
from medsim.corpora.documents import Problems
from medsim.wic.mentions import mentions_in_sentences, read_mentions
from medsim.wic.output import MENTION_COLUMNS


def document(title: str, abstract: str, *terms: tuple[str, int]) -> Document:
    """Return a document in which each term is mentioned at its nth occurrence, from 0."""
    text = f"{title} {abstract}"
    annotations = []
    for number, (term, nth) in enumerate(terms):
        start = -1
        for _ in range(nth + 1):
            start = text.index(term, start + 1)
        codes = (("MSH", f"D{number:06d}"),)
        annotations.append(
            Annotation(start=start, end=start + len(term), text=term, kind="X", codes=codes)
        )
    return Document(document_id="7", title=title, abstract=abstract, annotations=tuple(annotations))


def test_a_mention_keeps_its_place_in_its_sentence() -> None:
    source = document(
        "Orl \U0001f600 dup.", " It fell. B\u00e9b\u00e9 dup rose.", ("dup", 0), ("dup", 1)
    )

    frame, counts = mentions_in_sentences([source], "c", Problems())

    expected = [
        ("c", "7", 0, "Orl \U0001f600 dup.", 6, 9, "dup", "X", "MSH", "D000000"),
        ("c", "7", 21, "B\u00e9b\u00e9 dup rose.", 5, 8, "dup", "X", "MSH", "D000001"),
    ]
    assert frame.rows() == expected
    assert frame.schema == pl.Schema(MENTION_COLUMNS)
    assert counts == {"n_documents": 1, "n_sentences": 3, "n_annotated": 2, "n_mentions": 2}


def test_mentions_without_one_concept_or_one_sentence_are_counted() -> None:
    source = document(
        "Dup.",
        "It fell. Orl rose.",
        *((term, 0) for term in ("fell. Orl", "Dup. It", " It", "It", "rose.")),
    )
    codes = [(), (("MSH", "D000001"), ("MSH", "D000002")), (("MSH", "D000001"), ("", ""))]
    others = tuple(replace(source.annotations[4], codes=several) for several in codes)
    problems = Problems()

    frame, counts = mentions_in_sentences(
        [replace(source, annotations=source.annotations + others)], "c", problems
    )

    assert frame["term"].to_list() == ["It", "rose."]
    assert counts["n_annotated"] == 2  # "Dup." has none within it
    unlinked, several = ([replace(source, annotations=(other,))] for other in others[:2])
    assert mentions_in_sentences(unlinked, "c", Problems())[1]["n_annotated"] == 1
    assert mentions_in_sentences(several, "c", Problems())[1]["n_annotated"] == 0
    assert {each.reason: each.n_rows for each in problems.skipped()} == {
        "mention crosses a sentence boundary": 3,
        "mention has no concept": 1,
        "mention has several concepts": 2,
    }
    assert problems.warnings() == ()


def test_a_document_that_is_too_long_is_left_out_and_named(monkeypatch) -> None:
    monkeypatch.setattr(sentences, "LONGEST_TEXT", 9)
    problems = Problems()

    _, counts = mentions_in_sentences(
        [document("Dup.", "It fell.."), document("Dup.", "It fell...")], "c", problems
    )

    assert counts["n_documents"] == 1
    (warning,) = problems.warnings()
    assert "c: document 7: 10 characters; the limit is 9" in warning


@pytest.mark.slow
def test_processes_make_no_difference(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sentences, "_DOCUMENTS_A_BATCH", 3)
    names = invented_names(3, 40)
    for name, seed in (("orl.txt", 3), ("dup.txt.gz", 4)):
        text = pubtator_text(names, seed=seed, n_documents=70)
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [tmp_path / "orl.txt", tmp_path / "dup.txt.gz"]
    done: list[int] = []

    problems, same_problems = Problems(), Problems()
    single, facts = read_mentions(paths, problems, threads=1, advance=done.append)
    several, _ = read_mentions(paths, same_problems, threads=2)

    assert_frame_equal(single, several)
    assert problems.skipped() == same_problems.skipped()
    assert problems.warnings() == same_problems.warnings()
    assert sum(done) == 140
    assert single["corpus"].unique(maintain_order=True).to_list() == ["orl", "dup"]
    assert single["document_id"].unique().len() == 70
    for row in single.iter_rows(named=True):
        assert row["sentence"][row["start"] : row["end"]] == row["term"]
    n_left_out = sum(
        each.n_rows
        for each in problems.skipped()
        if each.reason.startswith("mention ") and "offsets" not in each.reason
    )
    assert sum(each["n_mentions"] for each in facts) == single.height + n_left_out
