"""The words of a frequency table that people can sort and rate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.studies.words.filters import filtered
from medsim.studies.words.forms import forms_of
from medsim.studies.words.frequencies import merged, read_frequencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from medsim.core.manifest import Skipped
    from medsim.studies.asking_options import DomainsOptions
    from medsim.studies.pairs_options import PairsOptions
    from medsim.studies.words.forms import Forms


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWords:
    """The words of one class, all forms and spellings of a word as one.

    Attributes:
        word_class: such as noun.
        corpus: word, count, topics and topic of all.
        frame: the same of those that the filters kept.
        left_out: how many were left out, and why.
    """

    word_class: str
    forms: Forms
    corpus: pl.DataFrame
    frame: pl.DataFrame
    left_out: tuple[Skipped, ...]


def kept_words(
    options: DomainsOptions | PairsOptions, subjects: Mapping[str, Sequence[str]] | None = None
) -> KeptWords:
    """Return the words of a frequency table.

    With the topics of documents by name, topics of words are those of their documents; see
    ``read_frequencies``.
    """
    rows = read_frequencies(Path(options.words), options.word_class, subjects)
    forms = forms_of(rows, make_lemmas=not options.no_lemmas)
    corpus = merged(rows, forms)
    kept, left_out = filtered(corpus, min_length=options.min_length, min_count=options.min_count)
    return KeptWords(
        word_class=rows["class"][0], forms=forms, corpus=corpus, frame=kept, left_out=left_out
    )
