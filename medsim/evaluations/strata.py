"""Strata of sets of rated pairs: by how frequent their words are, and by what else is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.evaluations.ratings import RatedPairs
    from medsim.evaluations.ratings.words import WordTable

POWERS_OF_TEN = tuple(10**power for power in range(16))
"""The counts at which bins begin by default: 1-9, 10-99, 100-999 and so on."""

TOPIC_BINS = (1, 2, 5)
"""The numbers of topics at which bins begin: 1, 2-4, 5+."""

_MOST_VALUES = 20  # of a domain: more are no domains, and would be as many sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratification:
    """The properties by which sets of rated pairs are divided into parts.

    Attributes:
        words: properties of words; None leaves them to the rated files.
        bins: the counts at which bins of frequency begin, ascending; none takes powers of ten.
    """

    words: WordTable | None = None
    bins: tuple[int, ...] = ()

    def provenance(self) -> dict[str, object]:
        """Return the table of words and the bins as plain JSON values."""
        words = self.words
        return {
            "words": None if words is None else {"name": words.name, "sha256": words.digest},
            "bins": list(self.bins) or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """The parts of a rated file.

    Attributes:
        rows: row (UInt32, of the file's pairs), part and part_value, such as "count" and "10-99";
            a row for every part that a pair belongs to.
    """

    rows: pl.DataFrame
    warnings: tuple[str, ...]


def strata_of(rated: RatedPairs, stratification: Stratification) -> Strata:
    """Return the parts of a rated file: by count, number of topics, domain and association.

    A pair belongs to a bin of counts, a bin of topics or a domain where both of its words do, as
    in Chiu et al. (BMC Bioinformatics 2018). A table of words goes before the columns of the file.
    """
    known = _known(rated, stratification.words)
    columns = {"row": pl.UInt32, "part": pl.String, "part_value": pl.String}
    frames = [pl.DataFrame(schema=columns)]
    warnings = []
    for name in PARTS:
        sides = [known[column] for column in (f"{name}1", f"{name}2") if column in known.columns]
        if not sides:
            continue
        first, second = (_values(name, sides[at], stratification) for at in (0, -1))
        unknown = first.is_null() | second.is_null()
        both, differ = ~unknown & (first == second), ~unknown & (first != second)
        _check_values(rated, name, first.filter(both))
        members = pl.DataFrame({"part": name, "part_value": first}).with_row_index("row")
        frames.append(members.filter(both))
        if n_none := rated.pairs.height - frames[-1].height:
            are = "is" if n_none == 1 else "are"
            warnings.append(
                f"{n_none:,} of {rated.pairs.height:,} pairs {are} in no part by {name}: "
                f"{int(unknown.sum()):,} with a word in none, and {int(differ.sum()):,} whose "
                "words are in different ones"
            )
    return Strata(rows=pl.concat(frames), warnings=tuple(warnings))


def _known(rated: RatedPairs, words: WordTable | None) -> pl.DataFrame:
    """Return the known properties of all pairs, such as "count1"; those of a pair end in 1."""
    known = rated.properties.rename(
        {"domain": "domain1", "associated": "associated1"}, strict=False
    )
    if words is None:
        return known
    named = [name for name in words.frame.columns if name != "word"]
    known = known.drop((f"{name}{side}" for name in named for side in "12"), strict=False)
    return pl.concat([known, *_of_words(rated, words)], how="horizontal")


def _of_words(rated: RatedPairs, words: WordTable) -> Iterator[pl.DataFrame]:
    """Yield the properties of the first words of all pairs, and of the second."""
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
    """Return the name of a bin: its first and its last number."""
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
