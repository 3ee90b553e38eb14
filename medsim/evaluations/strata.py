"""Strata of sets of rated pairs: by how frequent their words are, and by what else is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.evaluations.ratings import RatedPairs
    from medsim.evaluations.ratings.words import WordTable

POWERS_OF_TEN = tuple(10**power for power in range(16))
"""Where bins of counts begin where nothing else is said: 1-9, 10-99, 100-999 and so on."""

TOPIC_BINS = (1, 2, 5)
"""Where bins of numbers of topics begin: 1, 2-4, 5+."""

_MOST_VALUES = 20  # of a domain: more are no domains, and would be as many sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratification:
    """How sets of rated pairs are cut into parts.

    Attributes:
        words: what is known of words; None leaves it to the rated files.
        bins: the counts at which bins of frequency begin, ascending; none takes powers of ten.
    """

    words: WordTable | None = None
    bins: tuple[int, ...] = ()

    def provenance(self) -> dict[str, object]:
        """Return what decides the parts, as plain JSON values."""
        words = self.words
        return {
            "words": None if words is None else {"name": words.name, "sha256": words.digest},
            "bins": list(self.bins) or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The parts of a rated file.

    Attributes:
        rows: row (UInt32, of the file's pairs) and part, such as "count=10-99"; a row for every
            part that a pair belongs to.
        warnings: how many pairs belong to none, a sentence a property.
    """

    rows: pl.DataFrame
    warnings: tuple[str, ...]


def parse_bins(text: str) -> tuple[int, ...]:
    """Return the counts that a text such as "5,50,500" names; none of an empty one.

    Raises:
        OptionError: one is no whole number.
    """
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    for part in parts:
        if not (part.isascii() and part.isdecimal()):
            raise OptionError(f"--bins {text!r}: {part!r} is no count; 5,50,500 names three bins")
    return tuple(map(int, parts))


def check_bins(bins: Sequence[int]) -> None:
    """Raise OptionError if bins do not begin at ascending counts from 1."""
    if any(one < 1 for one in bins) or list(bins) != sorted(set(bins)):
        raise OptionError(
            f"--bins {','.join(map(str, bins))} must be ascending counts from 1, such as 5,50,500"
        )


def strata_of(rated: RatedPairs, stratification: Stratification) -> Strata:
    """Return the parts of a rated file: by count, number of topics, domain and association.

    A pair belongs to a bin of counts, a bin of topics or a domain where both of its words do, as
    in Chiu et al. (BMC Bioinformatics 2018). What a table of words has goes before the columns of
    the file.

    Raises:
        InputError: there are more domains than can be told apart.
    """
    known = _known(rated, stratification.words)
    frames = [pl.DataFrame(schema={"row": pl.UInt32, "part": pl.String})]
    warnings = []
    for name in PARTS:
        sides = [known[column] for column in (f"{name}1", f"{name}2") if column in known.columns]
        if not sides:
            continue
        first, second = (
            _values(name, sides[0], stratification),
            _values(name, sides[-1], stratification),
        )
        unknown = first.is_null() | second.is_null()
        both, differ = ~unknown & (first == second), ~unknown & (first != second)
        _check_values(rated, name, first.filter(both))
        parts = pl.DataFrame({"part": f"{name}=" + first}).with_row_index("row").filter(both)
        frames.append(parts)
        if n_none := rated.pairs.height - parts.height:
            warnings.append(
                f"{n_none:,} of {rated.pairs.height:,} pairs are in no part by {name}: "
                f"{int(unknown.sum()):,} with a word in none, and {int(differ.sum()):,} whose "
                "words are in different ones"
            )
    return Strata(rows=pl.concat(frames), warnings=tuple(warnings))


def _known(rated: RatedPairs, words: WordTable | None) -> pl.DataFrame:
    """Return the properties of all pairs: "count1" and "count2", and so on, as far as known.

    One that a pair has as a whole is a property of its first word alone.
    """
    known = rated.properties.rename(
        {"domain": "domain1", "associated": "associated1"}, strict=False
    )
    if words is None:
        return known
    told = [name for name in words.frame.columns if name != "word"]
    known = known.drop((f"{name}{side}" for name in told for side in "12"), strict=False)
    return pl.concat([known, *_of_words(rated, words)], how="horizontal")


def _of_words(rated: RatedPairs, words: WordTable) -> Iterator[pl.DataFrame]:
    """Yield what a table has of the first words of all pairs, and of the second."""
    for side in "12":
        texts = rated.pairs[f"term{side}"].to_list()
        terms = pl.DataFrame({"word": lowered(texts)}, schema={"word": pl.String})
        found = terms.join(words.frame, on="word", how="left", maintain_order="left").drop("word")
        yield found.rename(lambda name: f"{name}{side}")  # noqa: B023 — called at once


def _values(name: str, values: pl.Series, stratification: Stratification) -> pl.Series:
    """Return the bin of each number, or texts as they are."""
    if values.dtype == pl.String:
        return values
    begins = TOPIC_BINS if name == "topics" else stratification.bins or POWERS_OF_TEN
    labels = [_label(begins, at) for at in range(len(begins))]
    places = np.searchsorted(begins, values.fill_null(0).to_numpy(), side="right") - 1
    return pl.Series(name, [labels[at] if at >= 0 else None for at in places], pl.String)


def _label(begins: Sequence[int], at: int) -> str:
    """Return how a bin is called: its first and its last number."""
    if at + 1 == len(begins):
        return f"{begins[at]}+"
    last = begins[at + 1] - 1
    return str(last) if last == begins[at] else f"{begins[at]}-{last}"


def _check_values(rated: RatedPairs, name: str, values: pl.Series) -> None:
    if (n_values := values.n_unique()) > _MOST_VALUES and name == "domain":
        raise InputError(
            f"{rated.name}: its pairs have {n_values:,} values of {name}; at most {_MOST_VALUES} "
            "make parts: rename the column if it is none"
        )
