"""Frequency tables: their words, spellings, forms, filters and domains."""

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
from medsim.neighbours.spelling import american
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


def merged_words(
    path: Path, word_class: str | None = None, subjects=None, **options
) -> list[tuple]:
    """Return word, count, topics and topic of the words of a table."""
    rows = read_frequencies(path, word_class, subjects)
    return merged(rows, forms_of(rows, **options)).rows()


def text_of(word: str | bytes) -> str:
    return (word if isinstance(word, str) else word.decode()).lower()


COUNTED = "word,class,count\n"


def rows_of(counts: str, word_class: str = "noun") -> str:
    """Return a frequency table of words with their counts, "cell 3 ear 1", as rows of CSV."""
    pairs = zip(counts.split()[::2], counts.split()[1::2], strict=True)
    return "".join(f"{word},{word_class},{count}\n" for word, count in pairs)


@pytest.mark.parametrize(
    ("word_class", "counts", "expected"),
    [
        ("noun", "Cell 3 cell 4 ear 0", "cell 7 ear 0"),
        ("noun", "tumour 1 tumours 2 tumor 4 Tumors 8", "tumor 15"),
        ("noun", "bacteria 7 bacterium 2 spans 1 span 4", "bacterium 9 span 5"),
        ("verb", "labelled 3 labeled 4 label 1 ageing 2", "age 2 label 8"),
        # Of several lemmas the most frequent in the corpus is used.
        ("noun", "axes 5 axe 1 axis 2", "axe 1 axis 7"),
        ("noun", "axes 5 axe 2 axis 1", "axe 7 axis 1"),
        # A word outside the dictionary is merged only with a word of the corpus.
        ("noun", "haemoquarnias 1 haemoquarnia 2 borogias 4", "borogias 4 hemoquarnia 3"),
    ],
)
def test_forms_and_spellings_of_a_word_are_merged(
    tmp_path: Path, word_class: str, counts: str, expected: str
) -> None:
    text = COUNTED + rows_of(counts, word_class) + "cell,other,9\n"
    result = merged_words(table(tmp_path, text), word_class)
    assert " ".join(f"{word} {count}" for word, count, *_ in result) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "axes,noun,2,axe axes,noun,3,Axis tumours,noun,1,tumour cells,noun,1,",
            "axis 5 cells 1 tumor 1",
        ),
        ("bacteria,noun,7,bacterium bacterium,noun,2,bacteria", "bacterium 9"),  # a circle
        ("ties,noun,1,tied tied,noun,1,tie tie,noun,1,tie", "tie 3"),
    ],
)
def test_lemmas_of_the_table_are_used_and_none_is_made(
    tmp_path: Path, rows: str, expected: str
) -> None:
    text = "word,class,count,lemma\n" + rows.replace(" ", "\n")
    result = merged_words(table(tmp_path, text.replace(",", "\t"), "words.tsv"))
    assert " ".join(f"{word} {count}" for word, count, *_ in result) == expected


def test_spellings_are_merged_without_lemmas_and_typing_errors_rename_no_common_word(
    tmp_path: Path,
) -> None:
    counts = {"absence": 5000, "absense": 1, "ameba": 1, "amoeba": 500, "morning": 3}
    counts |= {"mourning": 90, "tumor": 4, "tumors": 2}
    rows = [f"{word},noun,{count}" for word, count in [*counts.items(), ("tumours", 1)]]
    result = merged_words(table(tmp_path, COUNTED + "\n".join(rows)), make_lemmas=False)
    assert {word: count for word, count, *_ in result} == {**counts, "tumors": 3}


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
    assert {word: forms.form_of(word) for word in lemmas} == lemmas
    assert all(forms.form_of(lemma) == lemma for lemma in lemmas.values())


@pytest.mark.parametrize("word_class", ["noun", "verb"])
def test_form_of_a_form_is_the_form(tmp_path: Path, word_class: str) -> None:
    dictionary = DefaultDictionaryFactory().get_dictionary("en")
    words = sorted({text_of(word) for pair in dictionary.items() for word in pair})
    words = [word for word in words[::40] if word.isalpha()]
    rows = "\n".join(f"{word},{word_class},1" for word in words)
    forms = forms_of(read_frequencies(table(tmp_path, f"word,class,count\n{rows}\n"), None))
    result = {word: forms.form_of(word) for word in words}
    assert len(result) > 2_500
    assert {form for form in result.values() if forms.form_of(form) != form} == set()


def test_lemmas_need_a_supported_class_and_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = read_frequencies(table(tmp_path, COUNTED + "ear,organ,1\n"), None)
    with pytest.raises(OptionError, match="made of the class 'organ'; add a column lemma"):
        forms_of(rows)
    monkeypatch.setitem(sys.modules, "lemminflect", None)
    with pytest.raises(OptionError, match="install medsim with its extra words"):
        forms_of(rows)
    assert forms_of(rows, make_lemmas=False).form_of("ears") == "ears"


@pytest.mark.parametrize(
    ("topics", "of_cell"),
    [
        (("heart; lung", "lung;ear;"), (3, "lung")),
        (("ear;lung", "lung"), (2, "lung")),
        (("ear", "lung"), (2, None)),
        (("12;45", "12"), (2, "12")),  # several numbers are names
        (("4", "7"), (7, None)),
    ],
)
def test_distinct_topics_are_counted_and_the_largest_number_is_used(
    tmp_path: Path, topics: tuple[str, str], of_cell: tuple
) -> None:
    text = "word,class,count,topics\ncells,noun,1,{}\ncell,noun,1,{}\near,noun,1,\n"
    result = merged_words(table(tmp_path, text.format(*topics)))
    assert result == [("cell", 2, *of_cell), ("ear", 1, None, None)]


def test_own_lemmas_of_a_table_precede_lemmas_of_another(tmp_path: Path) -> None:
    text = "word,class,count,lemma\ncells,noun,1,cell\naxes,noun,1,axis\n"
    forms = forms_of(read_frequencies(table(tmp_path, text), None))
    text = "word,class,count,lemma\ndogs,noun,9,dog\naxes,noun,2,axe\n"
    other = read_frequencies(table(tmp_path, text, "general.csv"), None)
    result = merged(other, forms.with_lemmas_of(other))
    assert result.select("word", "count").rows() == [("axis", 2), ("dog", 9)]

    plain = table(tmp_path, "word,class,count\nwindows,noun,50\nwindow,noun,60\n", "own.csv")
    forms = forms_of(read_frequencies(plain, None), make_lemmas=False)
    text = "word,class,count,lemma\nwindows,noun,5,window\n"
    other = read_frequencies(table(tmp_path, text, "general.csv"), None)
    result = merged(other, forms.with_lemmas_of(other))  # words of its own corpus keep their lemmas
    assert result.select("word", "count").rows() == [("windows", 5)]


def test_word_has_the_topics_of_its_documents_and_the_most_frequent_as_its_topic(
    tmp_path: Path,
) -> None:
    topics = "d1,Cardiology; Surgery\nd2,Cardiology\nd3,Oncology\nd1,Surgery;Nursing\nd4,12\n"
    subjects = read_subjects(put(tmp_path, "subjects.csv", "document,topics\n" + topics))
    words = table(
        tmp_path,
        "word,class,count,documents,topics\ncells,noun,1,d1;d2,9\ncell,noun,1,d3; d2,\n"
        "ear,noun,1,d2;d3,\nleg,noun,1,d9,\nnose,noun,1,d4,\ntoe,noun,1,,\n",
    )

    result = merged_words(words, None, subjects)

    # Topics of cell: Cardiology three times; Surgery, Nursing and Oncology once each.
    assert result == [
        ("cell", 2, 4, "Cardiology"),
        ("ear", 1, 2, None),
        ("leg", 1, None, None),
        ("nose", 1, 1, "12"),
        ("toe", 1, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,topics\n,Nursing\n", "line 2: document '' is empty"),
        ("document,topics\nd7,x\n", "no document of its words is in the table of documents"),
    ],
)
def test_table_of_documents_without_topics_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    words = table(tmp_path, "word,class,count,documents\near,noun,1,d1\n")
    with pytest.raises(InputError, match=re.escape(message)):
        read_frequencies(words, None, read_subjects(put(tmp_path, "subjects.csv", text)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word,class,count\nleg,noun,many\n", "line 2: count 'many' is not a whole number"),
        ("word,class,count\n\near,noun,-1\n", "line 3: count '-1' is not a whole number"),
        ("word,class,count\n,noun,1\n", "line 2: word '' is empty"),
        ("word,class,count\near,,1\n", "line 2: class '' is empty"),
        ("word,class\near,noun\n", "no column 'count'; it needs word, class, count and has 'word,"),
        ("word,class,count\n", "has no words"),
    ],
)
def test_errors_in_a_table_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        read_frequencies(table(tmp_path, text), None)
    assert str(tmp_path / "words.csv") in str(raised.value)


def test_parquet_rows_are_named_and_the_class_must_be_in_the_table(
    tmp_path: Path,
) -> None:
    path = tmp_path / "words.parquet"
    rows = {"word": ["ear", "leg"], "class": ["noun", "noun"], "count": [1.0, 2.5]}
    pl.DataFrame(rows).write_parquet(path)
    with pytest.raises(InputError, match=r"row 1: count '1.0'"):
        read_frequencies(path, None)
    path = table(tmp_path, "word,class,count\near,noun,1\nrun,verb,1\n")
    with pytest.raises(OptionError, match="did you mean noun"):
        read_frequencies(path, "nuon")
    with pytest.raises(OptionError, match="classes noun, verb; choose one with `word_class`"):
        read_frequencies(path, None)


WORDS = {"cell": 5, "nerve": 4} | dict.fromkeys(
    (
        *("two words", "b-12 x"),  # white space comes first
        *("t-cell", "crohn's", "il-2"),  # a symbol before a digit
        *("p53", "h²o"),
        *("\N{GREEK SMALL LETTER ALPHA}x", "\N{MICRO SIGN}m", "alpha", "pi"),  # Greek before short
        *("might", "do", "os"),
        *("alphabet", "ear", "naïve"),
    ),
    90,
)


def test_a_word_is_left_out_for_the_first_reason_in_order() -> None:
    words = pl.DataFrame({"word": list(WORDS), "count": list(WORDS.values())})

    remaining, left_out = filtered(words, min_length=3, min_count=5)

    assert remaining["word"].to_list() == ["cell", "alphabet", "ear", "naïve"]
    assert [(skipped.reason, skipped.n_rows) for skipped in left_out] == [
        ("not a single word", 2),
        ("a symbol, or a hyphen", 3),
        ("a digit", 2),
        ("a Greek letter or its name", 4),
        ("an auxiliary or modal verb", 2),
        ("fewer than 3 letters", 1),
        ("a count below 5", 1),
    ]
    kept, _ = filtered(words, min_length=3, min_count=5, keep=("H²O", "os", "il-2", "nerve"))
    assert set(kept["word"]) - set(remaining["word"]) == {"h²o", "os", "il-2"}  # nerve is rare
    nothing, none_left_out = filtered(words.clear(), min_length=1, min_count=1)
    assert nothing.is_empty()
    assert {skipped.n_rows for skipped in none_left_out} == {0}


COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 60), min_size=1)


def frame(counts: dict[str, int]) -> pl.DataFrame:
    columns = {"word": list(counts), "count": list(counts.values())}
    return pl.DataFrame(columns, schema={"word": pl.String, "count": pl.Int64})


@given(COUNTS, COUNTS, st.integers(1, 6))
def test_domain_follows_the_smoothed_ratio_of_relative_frequencies(
    here: dict[str, int], there: dict[str, int], ratio: int
) -> None:
    types = len(here.keys() | there.keys())

    result = by_ratio(frame(here), frame(here), frame(there), float(ratio))

    for word, domain in result.select("word", "domain").iter_rows():
        ours = Fraction(here[word] + 1, sum(here.values()) + types)
        times = ours / Fraction(there.get(word, 0) + 1, sum(there.values()) + types)
        if times in (ratio, Fraction(1, ratio)):
            continue  # rounding may go either way
        expected = (
            "biomedical" if times > ratio else "general" if times < Fraction(1, ratio) else None
        )
        assert domain == expected


@given(COUNTS, COUNTS)
def test_frequency_correlation_matches_scipy(here: dict[str, int], there: dict[str, int]) -> None:
    sides = [list(here.values()), [there.get(word, 0) for word in here]]

    result = frequency_correlation(frame(here), frame(there))

    if min(len(set(side)) for side in sides) < 2:
        assert result is None
    else:
        assert result == pytest.approx(stats.spearmanr(*sides).statistic)


def test_tables_of_people_are_read_without_the_escapes_for_spreadsheets(
    tmp_path: Path,
) -> None:
    forms = Forms(counts={}, lemmas={}, lemma_of=str)
    escaped = guarded("true")
    assert escaped != "true"
    unsure = "fire,ambiguous\nplay,general\nplay,biomedical\n"
    (tmp_path / "domains.csv").write_text(f"word,domain\n{escaped},general\n{unsure}")
    assert read_domains(tmp_path / "domains.csv", forms)["word"].to_list() == ["true"]
    for text, message in {
        "word,domain\nkinase,medical\n": "line 2: domain 'medical' is not one of biomedical",
        "word\nkinase\n": "has no column 'domain'",
    }.items():
        with pytest.raises(InputError, match=message):
            read_domains(put(tmp_path, "none.csv", text), forms)

    (tmp_path / "confirmed.csv").write_text(f"term1,term2\n{escaped},gene\n")
    words = pl.DataFrame({"word": ["true", "gene"], "word_id": [0, 1]})
    assert read_confirmed(tmp_path / "confirmed.csv", forms, words).height == 1


MEDICAL = """
haemoglobin hemoglobin    methaemoglobin methemoglobin    oedema edema    tumours tumors
anaesthesia anesthesia    oesophagus esophagus            paediatric pediatric
leukaemia leukemia        ischaemic ischemic              foetus fetus    diarrhoea diarrhea
fibre fiber               millilitre milliliter           sulphur sulfur  dyspnoea dyspnea
catheterise catheterize   analysed analyzed               neutralisation neutralization
colour color              discoloured discolored          behaviour behavior
haematology hematology    orthopaedic orthopedic          gynaecology gynecology
caesarean cesarean        caecum cecum                    faeces feces    aetiology etiology
oestrogen estrogen        leucocyte leukocyte             manoeuvring maneuvering
manoeuvred maneuvered     haem heme                       leucopenia leukopenia
leucoplakia leukoplakia   phaeochromocytoma pheochromocytoma
angiooedema angioedema    gastrooesophageal gastroesophageal
gastro-oesophageal gastro-esophageal                      transoesophageal transesophageal
lymphoedema lymphedema    papilloedema papilledema        antioestrogen antiestrogen
paraesthesia paresthesia  hyperaesthesia hyperesthesia    homoeopathy homeopathy
ileocaecal ileocecal      defaecation defecation          palaeolithic paleolithic
aluminium aluminum        gonadotrophin gonadotropin      ionise ionize
recognised recognized     randomised randomized           hydrolysed hydrolyzed
"""
GENERAL = """
grey gray         greyish grayish      mould mold          smouldering smoldering
plough plow       ageing aging         judgement judgment  acknowledgement acknowledgment
labelled labeled  travelled traveled   modelling modeling  counsellor counselor
sceptic skeptic   scepticism skepticism                    fulfil fulfill
skilful skillful  unskilful unskillful                     enrolment enrollment
defence defense   licence license      programme program   sombre somber
centred centered  artefact artifact    metres meters       distil distill
"""
BOTH_WAYS = """
catalogue catalog analogues analogs amoeba ameba archaeology archeology aesthetics esthetics
"""
LOOK_BRITISH = """
poor hour four tour aerobic does poet shoe aloe rise exercise expertise treatise valise arise
promise noise wise analyses haemophilus caecilian timbre acre angioedema gastroesophageal
tracheoesophageal retroesophageal proestrus shoestring cardioesophageal hypoestrogenic
phytoestrogen esophagus achaemenid asafoetida absence source fourth journal course surprise
mourning pouring scouring canoes court flour your courage resource compromise premise advise
practice science tyre cheque leucine leucovorin greyhound controlled filled chancellor fulfilled
trellises clitorises metropolises arthritises urinalyses onomatopoeia coenzyme phoenix
neurotrophin program programmed glamour detour hemoglobin tumor
"""


def paired(text: str) -> list[tuple[str, str]]:
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


def test_british_words_become_american() -> None:
    for british, expected in paired(MEDICAL + GENERAL):
        assert american(british, {}) == expected
        assert american(expected, {}) == expected


def test_words_that_only_look_british_stay() -> None:
    others = "for tor pet she ale timber analyzes por rize des absense sorce forth jornal corse "
    others += "surprize morning poring scoring canes cort flor scypho metropolizes"
    frequent = dict.fromkeys(others.split(), 10**6)
    words = LOOK_BRITISH.split()
    assert [american(word, frequent) for word in words] == words


@pytest.mark.parametrize(("british", "expected"), paired(BOTH_WAYS))
def test_doubtful_spellings_change_only_if_the_result_is_common(
    british: str, expected: str
) -> None:
    assert american(british, {expected: 1}) == expected
    assert american(british, {british: 100, expected: 10}) == expected
    assert american(british, {british: 101, expected: 10}) == british
    assert american(british, {british: 1}) == british
    assert american(british, {british: 0, expected: 0}) == british
