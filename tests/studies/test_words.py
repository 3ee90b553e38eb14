"""Frequency tables: their words, forms, filters and domains."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import put
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

from medsim.core.errors import InputError, OptionError
from medsim.core.tables import guarded
from medsim.studies.relations import read_confirmed
from medsim.studies.words import (
    Forms,
    by_ratio,
    filtered,
    forms_of,
    frequency_correlation,
    merged,
    read_domains,
    read_frequencies,
    read_subjects,
)


def table(folder: Path, text: str, name: str = "words.csv") -> Path:
    return put(folder, name, text)


def counted(path: Path, word_class: str | None = None, *, make_lemmas: bool = True) -> list[tuple]:
    rows = read_frequencies(path, word_class)
    return merged(rows, forms_of(rows, make_lemmas=make_lemmas)).drop("topic").rows()


def text_of(word: str | bytes) -> str:
    return (word if isinstance(word, str) else word.decode()).lower()


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
    assert counted(table(tmp_path, text)) == [("age", 2, None), ("label", 8, None)]


def test_singular_and_plural_are_one_word(tmp_path: Path) -> None:
    text = "word,class,count\nbacteria,noun,7\nbacterium,noun,2\nspans,noun,1\nspan,noun,4\n"
    assert counted(table(tmp_path, text)) == [("bacterium", 9, None), ("span", 5, None)]


@pytest.mark.parametrize(
    ("word_class", "lemmas"),
    [
        ("noun", {"spans": "span", "lower": "lower", "swelling": "swelling", "data": "data"}),
        ("verb", {"spans": "span", "lowers": "lower", "swelling": "swell", "lay": "lay"}),
        ("adjective", {"lower": "low", "better": "good", "elder": "elder", "swelling": "swelling"}),
        ("adverb", {"better": "well", "more": "more"}),
        ("NNS", {"biopsies": "biopsy", "bacteria": "bacterium", "lenses": "lens", "left": "left"}),
        ("VBD", {"spun": "spin", "span": "span", "spin": "spin", "left": "leave"}),
    ],
)
def test_a_base_form_of_the_class_stays_as_it_is(
    tmp_path: Path, word_class: str, lemmas: dict[str, str]
) -> None:
    rows = read_frequencies(table(tmp_path, f"word,class,count\near,{word_class},1\n"), None)
    forms = forms_of(rows)
    assert {word: forms.of(word) for word in lemmas} == lemmas
    assert all(forms.of(lemma) == lemma for lemma in lemmas.values())


def test_of_several_lemmas_the_one_that_the_corpus_has_most_is_taken(tmp_path: Path) -> None:
    text = "word,class,count\naxes,noun,5\naxe,noun,{}\naxis,noun,{}\n"
    assert counted(table(tmp_path, text.format(1, 2))) == [("axe", 1, None), ("axis", 7, None)]
    assert counted(table(tmp_path, text.format(2, 1))) == [("axe", 7, None), ("axis", 1, None)]


def test_a_word_that_no_dictionary_has_joins_only_a_word_of_the_corpus(tmp_path: Path) -> None:
    text = "word,class,count\nhaemoquarnias,noun,1\nhaemoquarnia,noun,2\nborogias,noun,4\n"
    assert counted(table(tmp_path, text)) == [("borogias", 4, None), ("hemoquarnia", 3, None)]


@pytest.mark.parametrize("word_class", ["noun", "verb"])
def test_the_form_of_a_form_is_the_form_itself(tmp_path: Path, word_class: str) -> None:
    dictionary = DefaultDictionaryFactory().get_dictionary("en")
    words = sorted({text_of(word) for pair in dictionary.items() for word in pair})
    words = [word for word in words[::20] if word.isalpha()]
    rows = "\n".join(f"{word},{word_class},1" for word in words)
    forms = forms_of(read_frequencies(table(tmp_path, f"word,class,count\n{rows}\n"), None))
    found = {word: forms.of(word) for word in words}
    assert len(found) > 5_000
    assert {one for one in found.values() if forms.of(one) != one} == set()


def test_lemmas_of_a_table_that_lead_to_each_other_are_one_word(tmp_path: Path) -> None:
    text = (
        "word,class,count,lemma\nbacteria,noun,7,bacterium\nbacterium,noun,2,bacteria\n"
        "ties,noun,1,tied\ntied,noun,1,tie\ntie,noun,1,tie\n"
    )
    assert counted(table(tmp_path, text)) == [("bacterium", 9, None), ("tie", 3, None)]


def test_lemmas_cannot_be_made_of_an_unknown_class(tmp_path: Path) -> None:
    rows = read_frequencies(table(tmp_path, "word,class,count\near,organ,1\n"), None)
    with pytest.raises(OptionError, match=r"not of the class 'organ'; add a column lemma .*no_lem"):
        forms_of(rows)
    assert forms_of(rows, make_lemmas=False).of("ears") == "ears"


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


def test_several_numbers_are_names_of_topics(tmp_path: Path) -> None:
    text = "word,class,count,topics\ncell,noun,1,12;45\near,noun,1,12\n"
    rows = read_frequencies(table(tmp_path, text), None)
    found = merged(rows, forms_of(rows)).select("word", "topics", "topic").rows()
    assert found == [("cell", 2, None), ("ear", 1, "12")]

    documents = put(tmp_path, "documents.csv", "document,topics\nd1,12;45\nd2,12\n")
    text = "word,class,count,documents\ncell,noun,1,d2\near,noun,1,d2\n"
    rows = read_frequencies(table(tmp_path, text), None, read_subjects(documents))
    found = merged(rows, forms_of(rows)).select("word", "topics", "topic").rows()
    assert found == [("cell", 1, "12"), ("ear", 1, "12")]


def test_a_table_has_its_own_lemmas_beside_those_of_another(tmp_path: Path) -> None:
    text = "word,class,count,lemma\ncells,noun,1,cell\naxes,noun,1,axis\n"
    forms = forms_of(read_frequencies(table(tmp_path, text), None))
    text = "word,class,count,lemma\ndogs,noun,9,dog\naxes,noun,2,axe\n"
    other = read_frequencies(table(tmp_path, text, "general.csv"), None)
    found = merged(other, forms.with_lemmas_of(other))
    assert found.select("word", "count").rows() == [("axis", 2), ("dog", 9)]

    plain = table(tmp_path, "word,class,count\nwindows,noun,50\nwindow,noun,60\n", "own.csv")
    forms = forms_of(read_frequencies(plain, None), make_lemmas=False)
    text = "word,class,count,lemma\nwindows,noun,5,window\n"
    other = read_frequencies(table(tmp_path, text, "general.csv"), None)
    found = merged(other, forms.with_lemmas_of(other))  # words of the own corpus stay as there
    assert found.select("word", "count").rows() == [("windows", 5)]


def test_a_word_has_the_topics_of_its_documents_and_as_its_own_the_most_frequent(
    tmp_path: Path,
) -> None:
    subjects = put(
        tmp_path,
        "subjects.csv",
        "document,topics\nd1,Cardiology; Surgery\nd2,Cardiology\nd3,Oncology\nd1,Surgery;Nursing\n",
    )
    words = table(
        tmp_path,
        "word,class,count,documents,topics\ncells,noun,1,d1;d2,9\ncell,noun,1,d3; d2,\n"
        "ear,noun,1,d2;d3,\nleg,noun,1,d9,\ntoe,noun,1,,\n",
    )

    rows = read_frequencies(words, None, read_subjects(subjects))
    found = merged(rows, forms_of(rows)).select("word", "topics", "topic").rows()

    # Of cell: Cardiology three times; Surgery, Nursing and Oncology once each.
    assert found == [
        ("cell", 4, "Cardiology"),
        ("ear", 2, None),
        ("leg", None, None),
        ("toe", None, None),
    ]


def test_topics_that_are_names_have_the_most_frequent_and_numbers_have_none(
    tmp_path: Path,
) -> None:
    text = "word,class,count,topics\ncells,noun,1,{}\ncell,noun,1,{}\n"
    for topics, own in ((("ear;lung", "lung"), "lung"), (("ear", "lung"), None), ((2, 3), None)):
        rows = read_frequencies(table(tmp_path, text.format(*topics)), None)
        assert merged(rows, forms_of(rows))["topic"].to_list() == [own]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("document,topics\n,Nursing\n", "line 2: document '' is empty"),
        ("document,topics\nd1,\n", "line 2: topics '' is empty"),
        ("journal,topics\nd1,x\n", "no column 'document'"),
        ("document,topics\nd7,x\n", "the table of documents has none of those of its words"),
    ],
)
def test_a_table_of_documents_that_tells_nothing_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    words = table(tmp_path, "word,class,count,documents\near,noun,1,d1\n")
    with pytest.raises(InputError, match=re.escape(said)):
        read_frequencies(words, None, read_subjects(put(tmp_path, "subjects.csv", text)))


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
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    rows = read_frequencies(table(tmp_path, "word,class,count\near,noun,1\n"), None)
    with pytest.raises(OptionError, match="install medsim with its extra words"):
        forms_of(rows)
    assert forms_of(rows, make_lemmas=False).of("ears") == "ears"


WORDS = {
    "cell": 5,
    "nerve": 4,  # rare
    "two words": 90,
    "t-cell": 90,
    "crohn's": 90,
    "b-12 x": 90,  # for the first reason, white space
    "il-2": 90,  # a symbol comes before a digit
    "p53": 90,
    "h²o": 90,
    "\N{GREEK SMALL LETTER ALPHA}x": 90,
    "\N{MICRO SIGN}m": 90,
    "alpha": 90,
    "alphabet": 90,
    "pi": 90,  # Greek before short
    "might": 90,
    "do": 90,
    "os": 90,
    "ear": 90,
    "naïve": 90,
}


def test_a_word_is_left_out_for_the_first_reason_in_order() -> None:
    words = pl.DataFrame({"word": list(WORDS), "count": list(WORDS.values())})

    kept, left_out = filtered(words, min_length=3, min_count=5)

    assert kept["word"].to_list() == ["cell", "alphabet", "ear", "naïve"]
    assert [(one.reason, one.n_rows) for one in left_out] == [
        ("not a single word", 2),
        ("a symbol, or a hyphen", 3),
        ("a digit", 2),
        ("a Greek letter or its name", 4),
        ("an auxiliary or modal verb", 2),
        ("fewer than 3 letters", 1),
        ("a count below 5", 1),
    ]


def test_nothing_is_left_of_nothing() -> None:
    empty = pl.DataFrame(schema={"word": pl.String, "count": pl.Int64})
    kept, left_out = filtered(empty, min_length=1, min_count=1)
    assert kept.is_empty()
    assert {one.n_rows for one in left_out} == {0}


COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 60), min_size=1)


def frame(counts: dict[str, int]) -> pl.DataFrame:
    columns = {"word": list(counts), "count": list(counts.values())}
    return pl.DataFrame(columns, schema={"word": pl.String, "count": pl.Int64})


@given(COUNTS, COUNTS, st.integers(1, 6))
def test_a_domain_is_told_by_the_smoothed_ratio_of_relative_frequencies(
    here: dict[str, int], there: dict[str, int], ratio: int
) -> None:
    types = len(here.keys() | there.keys())

    found = by_ratio(frame(here), frame(here), frame(there), float(ratio))

    for word, domain in found.select("word", "domain").iter_rows():
        ours = Fraction(here[word] + 1, sum(here.values()) + types)
        times = ours / Fraction(there.get(word, 0) + 1, sum(there.values()) + types)
        if times in (ratio, Fraction(1, ratio)):
            continue  # rounding may go either way
        expected = (
            "biomedical" if times > ratio else "general" if times < Fraction(1, ratio) else None
        )
        assert domain == expected


@given(COUNTS, COUNTS)
def test_the_correlation_of_frequencies_is_that_of_scipy(
    here: dict[str, int], there: dict[str, int]
) -> None:
    sides = [list(here.values()), [there.get(word, 0) for word in here]]

    found = frequency_correlation(frame(here), frame(there))

    if min(len(set(side)) for side in sides) < 2:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(*sides).statistic)


def test_words_that_spreadsheets_would_change_are_read_as_they_were(tmp_path: Path) -> None:
    forms = Forms(counts={}, given={}, lemma_of=str)
    told = guarded("true")
    assert told != "true"
    (tmp_path / "domains.csv").write_text(f"word,domain\n{told},general\n")
    assert read_domains(tmp_path / "domains.csv", forms)["word"].to_list() == ["true"]

    (tmp_path / "confirmed.csv").write_text(f"term1,term2\n{told},gene\n")
    words = pl.DataFrame({"word": ["true", "gene"], "word_id": [0, 1]})
    assert read_confirmed(tmp_path / "confirmed.csv", forms, words).height == 1
