"""Words of terms, and the forms that are looked up."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.options import declared
from medsim.embeddings.formats import WordVectors
from medsim.embeddings.options import EmbeddingOptions
from medsim.embeddings.tokens import find_words, forms, unseen_forms

Terms = st.lists(st.text("aB1é\u0301ΣI+-'/( \u00a0", max_size=9), max_size=6)
OPTIONS = declared(EmbeddingOptions)
Options = st.builds(
    EmbeddingOptions,
    **{
        name: st.sampled_from(OPTIONS[name].choices)
        for name in ("case", "parts", "digits", "coverage")
    },
)


def embedding(words: Iterable[str], made: Iterable[str] = ()) -> WordVectors:
    """Return word vectors of one dimension, the word's row."""
    known, others = list(words), list(made)
    n_words = len(known) + len(others)
    return WordVectors(
        words=known + others,
        vectors=np.arange(n_words, dtype=np.float32).reshape(-1, 1),
        in_vocabulary=np.arange(n_words) < len(known),
        n_vocabulary=len(known),
    )


def read(term: str, *words: str, made: Iterable[str] = (), **options: str) -> list[str]:
    """Return the forms in which a term's words are found."""
    made_vectors = embedding(words, made)
    bags, _, _ = find_words([term], made_vectors, EmbeddingOptions(**options))
    return [made_vectors.words[row] for row in bags.words]


def is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in ("P", "S")


def spelled(word: str, options: EmbeddingOptions) -> list[str]:
    """Return the forms of a word in order of preference."""
    lower = unicodedata.normalize("NFC", word.lower())
    forms = {
        "keep": [word],
        "lower": [lower],
        "fallback": [word, lower],
        "upper": [word, word.upper()],
    }
    chosen = forms[options.case]
    if options.digits == "keep":
        return chosen
    mark = "#" if options.digits == "hash" else "0"
    return chosen + ["".join(mark if c.isdecimal() else c for c in form) for form in chosen]


def slowly(term: str, vectors: WordVectors, options: EmbeddingOptions) -> tuple[list[str], int]:
    """Return the forms in which a term's words are found, and how many words it has."""
    known = {word for word, seen in zip(vectors.words, vectors.in_vocabulary, strict=True) if seen}

    def first(words: list[str]) -> str | None:
        every = [form for word in words for form in spelled(word, options)]
        return next((form for form in every if form in known), None)

    chosen: list[str] = []
    for token in term.split():
        parts = "".join("\n" if is_punctuation(c) else c for c in token).split("\n")
        parts = [part for part in parts if part]
        if not parts:
            continue
        stripped = token
        while is_punctuation(stripped[0]):
            stripped = stripped[1:]
        while is_punctuation(stripped[-1]):
            stripped = stripped[:-1]
        whole = None if options.parts == "always" else first([token, stripped])
        of_parts = [] if options.parts == "never" else [first([part]) for part in parts]
        if whole is not None:
            chosen.append(whole)
        elif options.parts == "always" or any(of_parts):
            chosen += [
                known_form or spelled(part, options)[-1]
                for known_form, part in zip(of_parts, parts, strict=True)
            ]
        else:
            chosen.append(spelled(stripped, options)[-1])
    return [form for form in chosen if form in vectors.words], len(chosen)


@pytest.mark.parametrize(
    ("term", "words", "options", "expected"),
    [
        # unchanged before lower case
        ("Asthma", "asthma Asthma", {}, "Asthma"),
        ("Asthma", "asthma", {}, "asthma"),
        ("asthma", "Asthma", {}, ""),
        ("Asthma", "asthma Asthma", {"case": "lower"}, "asthma"),
        ("Asthma", "Asthma", {"case": "lower"}, ""),
        ("Asthma", "asthma", {"case": "keep"}, ""),
        ("Asthma", "asthma Asthma", {"case": "keep"}, "Asthma"),
        # without outer punctuation if the token has no vector; accents are not punctuation
        ("(acute) asthma, «severe».", "acute asthma severe", {}, "acute asthma severe"),
        ("(Acute)", "acute (acute)", {}, "(acute)"),
        ("Na+", "na Na+", {}, "Na+"),
        ("cafe\u0301", "cafe\u0301 cafe", {}, "cafe\u0301"),
        ("cafe\u0301", "cafe", {}, ""),
        # parts if the whole is unknown, first, or never
        ("heart-lung", "heart lung heart-lung", {}, "heart-lung"),
        ("Heart-lung/liver", "heart liver", {}, "heart liver"),
        ("Crohn's+2,4", "crohn s 2 4", {}, "crohn s 2 4"),
        ("heart-lung", "heart heart-lung", {"parts": "always"}, "heart"),
        ("heart-lung", "heart lung", {"parts": "never"}, ""),
        # digits replaced if the word with digits has no vector
        ("type 12", "type ##", {"digits": "hash"}, "type ##"),
        ("B12", "b00", {"digits": "zero"}, "b00"),
        ("2 12", "2 # ##", {"digits": "hash"}, "2 ##"),
        ("12", "## 00", {}, ""),
        # a repeated word counts twice
        ("heart to heart", "heart to", {}, "heart to heart"),
    ],
)
def test_words_are_looked_up_in_these_forms(
    term: str, words: str, options: dict[str, str], expected: str
) -> None:
    assert read(term, *words.split(), **options) == expected.split()


@pytest.mark.parametrize(
    ("words", "options", "expected"),
    [
        (["heart_attack"], {}, ["heart_attack"]),
        (["heart_attack", "heart attack"], {}, ["heart attack"]),
        (["Heart_attack", "heart_attack"], {}, ["Heart_attack"]),
        (["HEART_ATTACK"], {"case": "upper"}, ["HEART_ATTACK"]),
        (["Heart_Attack"], {}, []),
        (["heart_attack"], {"case": "keep"}, []),
        (["heart_attack"], {"phrases": "never"}, []),
        # words that cover the term come first, or last
        (["heart", "heart_attack"], {}, ["heart"]),
        (["heart", "heart_attack"], {"coverage": "all"}, ["heart_attack"]),
        (["heart", "heart_attack"], {"phrases": "always"}, ["heart_attack"]),
        (["heart", "heart_attack"], {"phrases": "always", "parts": "always"}, ["heart_attack"]),
        (["heart", "a_heart_attack"], {"phrases": "always"}, ["heart"]),
    ],
)
def test_a_term_may_be_a_phrase(
    words: list[str], options: dict[str, str], expected: list[str]
) -> None:
    assert read("Heart attack", *words, **options) == expected
    assert read("Heart \tattack", *words, **options) == expected


def test_punctuation_alone_is_not_a_word() -> None:
    terms, vectors = ["-", "heart - lung", ""], embedding(["heart", "-"])
    _, covered, n_words = find_words(terms, vectors, EmbeddingOptions())

    assert covered.tolist() == [False, True, False]
    assert n_words.tolist() == [0, 2, 0]


def test_a_known_form_is_preferred_then_known_parts_then_a_vector_made_of_the_whole() -> None:
    assert read("Xyz", "xyz", made=["Xyz"]) == ["xyz"]
    assert read("xa-xb", "xa", made=["xa-xb", "xb"]) == ["xa", "xb"]
    assert read("Xa-xb", made=["xa-xb", "Xa-xb"]) == ["xa-xb"]
    assert read("(Xa)", made=["Xa", "xa", "(xa)"], case="keep") == ["Xa"]


def some_of(every: Iterable[str], data: st.DataObject) -> list[str]:
    return data.draw(st.lists(st.sampled_from(sorted(every)), unique=True)) if every else []


@given(Terms, Options, st.data())
def test_words_agree_with_a_plain_reading_of_the_rules(
    terms: list[str], options: EmbeddingOptions, data: st.DataObject
) -> None:
    known, made = some_of(forms(terms, options), data), some_of(forms(terms, options), data)
    vectors = embedding(known, [form for form in made if form not in known])

    bags, covered, n_words = find_words(terms, vectors, options)

    assert len(bags.starts) - 1 == len(covered) == len(n_words) == len(terms)
    assert bags.words.dtype == n_words.dtype == np.int32
    for at, term in enumerate(terms):
        expected, n_expected = slowly(term, vectors, options)
        rows = bags.words[bags.starts[at] : bags.starts[at + 1]]
        assert [vectors.words[row] for row in rows] == expected
        assert n_words[at] == n_expected
        needed = n_expected if options.coverage == "all" else 1
        assert covered[at] == (0 < len(expected) >= needed)


@given(Terms, Options, st.data())
def test_every_word_has_a_vector_if_unseen_words_are_embedded(
    terms: list[str], options: EmbeddingOptions, data: st.DataObject
) -> None:
    every = forms(terms, options)
    known = some_of(every, data)

    made = unseen_forms(terms, known, options)
    bags, _, n_words = find_words(terms, embedding(known, made), options)

    assert made <= every - set(known)
    assert np.array_equal(n_words, np.diff(bags.starts))
    read_ids = set(bags.words.tolist())
    assert read_ids >= set(range(len(known), len(known) + len(made)))
