"""The one form that stands for all forms and spellings of a word."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.terms import last_lemma
from medsim.studies.words.spelling import american

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CLASSES = {  # by the names that taggers give them, or how these begin
    "NOUN": re.compile(r"n|noun.*|nn.*|propn"),
    "VERB": re.compile(r"v|verb.*|vb.*"),
    "ADJ": re.compile(r"a|adj.*|jj.*"),
    "ADV": re.compile(r"r|adv.*|rb.*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The forms of words of one class: which stand for the same word.

    Attributes:
        counts: how often the corpus has each word and lemma of the class.
        given: lemmas by word, as the corpus has them.
        lemma_of: returns the lemma of a word where none is given.
    """

    counts: Mapping[str, int]
    given: Mapping[str, str]
    lemma_of: Callable[[str], str]

    def of(self, word: str) -> str:
        """Return the American spelling of a word's lemma; the form of a form is the form itself.

        A lemma is made of the American spelling, so that labelled has the lemma of labeled.
        """
        return last_lemma(word, self._lemma)

    def _lemma(self, word: str) -> str:
        if word in self.given:
            return american(self.given[word], self.counts)
        return american(self.lemma_of(american(word, self.counts)), self.counts)

    def with_lemmas_of(self, rows: pl.DataFrame) -> Forms:
        """Return the forms with the lemmas that another table has of words that are not here."""
        others = _given(_lemmas(rows)).items()
        own = {word: lemma for word, lemma in others if word not in self.counts}
        return replace(self, given={**own, **self.given})


def forms_of(rows: pl.DataFrame, *, make_lemmas: bool = True) -> Forms:
    """Return the forms of the words of a frequency table.

    Where the table has lemmas, they are taken and none is made. Of several lemmas of a word the one
    that is counted most stands, then the first by text.

    Raises:
        OptionError: lemmas must be made, and the extra words is not installed or the class unknown.
    """
    lemmas = _lemmas(rows)
    given = _given(lemmas)
    counted = pl.concat([rows.select("word", "count"), lemmas.select(word="lemma", count="count")])
    most = counted.group_by("word").agg(pl.col("count").max())
    counts = dict(most.iter_rows())
    make_lemmas &= not given
    lemma_of = _lemmatiser(rows["class"][0], counts) if make_lemmas else str
    return Forms(counts=counts, given=given, lemma_of=lemma_of)


def _lemmas(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the lemma of each word that has one, and how often it is counted."""
    return (
        rows.drop_nulls("lemma")
        .group_by("word", "lemma")
        .agg(pl.col("count").sum())
        .sort("count", "lemma", descending=[True, False])
        .unique("word", keep="first", maintain_order=True)
    )


def _given(lemmas: pl.DataFrame) -> dict[str, str]:
    return dict(lemmas.select("word", "lemma").iter_rows())


def _lemmatiser(word_class: str, counts: Mapping[str, int]) -> Callable[[str], str]:
    """Return a function that makes the lemma of an English word of a class.

    LemmInflect's dictionary is made of the SPECIALIST Lexicon, which medicine uses. A base form of
    the class stays as it is, as the noun swelling does; only a plural noun goes to its singular
    even where the dictionary has it as a noun of its own (bacteria). Of several lemmas the one that
    is counted most is taken: of axes, axis where the corpus is of anatomy. Of a word that the
    dictionary lacks the lemma is guessed, and taken only if the class has it.
    """
    try:
        from lemminflect import getLemma  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            "the frequency table has no lemmas, and making them needs LemmInflect: install medsim "
            "with its extra words, add a column lemma, or add `no_lemmas`"
        ) from error
    tag = next((tag for tag, names in _CLASSES.items() if names.fullmatch(word_class.lower())), "")
    if not tag:
        raise OptionError(
            f"lemmas can be made of nouns, verbs, adjectives and adverbs, not of the class "
            f"{word_class!r}; add a column lemma to the frequency table, or add `no_lemmas`"
        )
    spellings = {american(word, counts) for word in counts}

    def lemma_of(word: str) -> str:
        if lemmas := getLemma(word, tag, lemmatize_oov=False):
            bases = lemmas[:1] if tag == "NOUN" else lemmas
            others = (one for one in lemmas if one != word)
            return word if word in bases else max(others, key=lambda one: counts.get(one, 0))
        return next((guess for guess in getLemma(word, tag) if guess in spellings), word)

    return lemma_of
