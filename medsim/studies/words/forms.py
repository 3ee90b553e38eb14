"""The one form that stands for all forms and spellings of a word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.studies.words.spelling import american

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_OF_VERBS = ("ing", "ed")


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
        """Return the American spelling of a word's lemma.

        A lemma that is made for a word in -ing or -ed is taken only if the class has it: of the
        noun bleeding it would be a verb. It is made of the American spelling, so that labelled and
        ageing have the lemmas of labeled and aging.
        """
        if word in self.given:
            return american(self.given[word], self.counts)
        word = american(word, self.counts)
        form = american(self.lemma_of(word), self.counts)
        if word.endswith(_OF_VERBS) and form not in self.counts:
            return word
        return form

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
        OptionError: lemmas must be made and the extra words is not installed.
    """
    lemmas = _lemmas(rows)
    given = _given(lemmas)
    counted = pl.concat([rows.select("word", "count"), lemmas.select(word="lemma", count="count")])
    most = counted.group_by("word").agg(pl.col("count").max())
    return Forms(
        counts=dict(most.iter_rows()),
        given=given,
        lemma_of=_lemmatiser() if make_lemmas and not given else str,
    )


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


def _lemmatiser() -> Callable[[str], str]:
    """Return simplemma's lemmas of English words."""
    try:
        import simplemma  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            "the frequency table has no lemmas, and making them needs simplemma: install medsim "
            "with its extra words, add a column lemma, or add `no_lemmas`"
        ) from error
    return lambda word: simplemma.lemmatize(word, lang="en").lower()
