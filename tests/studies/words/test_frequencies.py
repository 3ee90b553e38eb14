"""Frequency tables: what is read, what is one word, what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import put

from medsim.core.errors import InputError, OptionError
from medsim.studies.words.forms import forms_of
from medsim.studies.words.frequencies import merged, read_frequencies


def table(folder: Path, text: str, name: str = "words.csv") -> Path:
    return put(folder, name, text)


def counted(path: Path, word_class: str | None = None, *, make_lemmas: bool = True) -> list[tuple]:
    rows = read_frequencies(path, word_class)
    return merged(rows, forms_of(rows, make_lemmas=make_lemmas)).rows()


def test_rows_of_one_word_and_class_are_summed(tmp_path: Path) -> None:
    path = table(tmp_path, "word,class,count\nCell,noun,3\ncell,noun,4\ncell,verb,9\near,noun,0\n")
    assert counted(path, "noun") == [("cell", 7, None), ("ear", 0, None)]


def test_all_forms_and_spellings_of_a_word_are_one(tmp_path: Path) -> None:
    text = "word,class,count\ntumour,noun,1\ntumours,noun,2\ntumor,noun,4\nTumors,noun,8\n"
    assert counted(table(tmp_path, text)) == [("tumor", 15, None)]


def test_a_typing_error_renames_no_common_word(tmp_path: Path) -> None:
    counts = {
        "absence": 5000,
        "absense": 1,
        "ameba": 1,
        "amoeba": 500,
        "morning": 3,
        "mourning": 90,
    }
    rows = [f"{word},noun,{count}" for word, count in counts.items()]
    found = counted(table(tmp_path, "\n".join(["word,class,count", *rows])), make_lemmas=False)
    assert found == [(word, count, None) for word, count in counts.items()]


def test_a_lemma_is_made_of_the_american_spelling(tmp_path: Path) -> None:
    text = "word,class,count\nlabelled,verb,3\nlabeled,verb,4\nlabel,verb,1\nageing,verb,2\n"
    assert counted(table(tmp_path, text)) == [("aging", 2, None), ("label", 8, None)]


def test_a_form_in_ing_joins_its_lemma_only_in_the_class_of_the_lemma(tmp_path: Path) -> None:
    text = "word,class,count\nbleeding,noun,4\nswelling,noun,2\nswell,noun,1\nbleed,verb,1\n"
    assert counted(table(tmp_path, text), "noun") == [("bleeding", 4, None), ("swell", 3, None)]


def test_lemmas_of_the_table_are_taken_and_none_is_made(tmp_path: Path) -> None:
    text = (
        "word\tclass\tcount\tlemma\naxes\tnoun\t2\taxe\naxes\tnoun\t3\tAxis\n"
        "tumours\tnoun\t1\ttumour\ncells\tnoun\t1\t\n"
    )
    found = counted(table(tmp_path, text, "words.tsv"))
    assert found == [("axis", 5, None), ("cells", 1, None), ("tumor", 1, None)]


def test_without_lemmas_only_spellings_are_joined(tmp_path: Path) -> None:
    text = "word,class,count\ntumours,noun,1\ntumors,noun,2\ntumor,noun,4\n"
    found = counted(table(tmp_path, text), make_lemmas=False)
    assert found == [("tumor", 4, None), ("tumors", 3, None)]


def test_different_topics_are_counted_and_of_numbers_the_largest_stands(tmp_path: Path) -> None:
    for topics, n_topics in (("heart; lung", "lung;ear;"), 3), (("4", "7"), 7):
        text = "word,class,count,topics\ncells,noun,1,{}\ncell,noun,1,{}\near,noun,1,\n"
        found = counted(table(tmp_path, text.format(*topics)))
        assert found == [("cell", 2, n_topics), ("ear", 1, None)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word,class,count\nleg,noun,many\n", "line 2: count 'many' is no whole number"),
        ("word,class,count\n\near,noun,-1\n", "line 3: count '-1' is no whole number"),
        ("word,class,count\n,noun,1\n", "line 2: word '' is empty"),
        ("word,class,count\near,,1\n", "line 2: class '' is empty"),
        ("word,class\near,noun\n", "no column 'count'; it needs word, class, count and has 'word,"),
        ("word,class,count\n", "has a header and no word"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_frequencies(table(tmp_path, text), None)
    assert str(tmp_path / "words.csv") in str(raised.value)


def test_a_row_of_a_parquet_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.parquet"
    rows = {"word": ["ear", "leg"], "class": ["noun", "noun"], "count": [1.0, 2.5]}
    pl.DataFrame(rows).write_parquet(path)
    with pytest.raises(InputError, match=r"row 1: count '1.0'"):
        read_frequencies(path, None)


def test_a_class_must_be_one_of_the_table(tmp_path: Path) -> None:
    path = table(tmp_path, "word,class,count\near,noun,1\nrun,verb,1\n")
    with pytest.raises(OptionError, match="did you mean noun"):
        read_frequencies(path, "nuon")
    with pytest.raises(OptionError, match=r"classes: noun, verb; .* by `word_class`"):
        read_frequencies(path, None)


def test_lemmas_cannot_be_made_without_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "simplemma", None)
    rows = read_frequencies(table(tmp_path, "word,class,count\near,noun,1\n"), None)
    with pytest.raises(OptionError, match="install medsim with its extra words"):
        forms_of(rows)
    assert forms_of(rows, make_lemmas=False).of("ears") == "ears"
