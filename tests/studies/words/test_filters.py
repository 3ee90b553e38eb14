"""Words that are left out, for which reason, in which order."""

from __future__ import annotations

import polars as pl

from medsim.studies.words.filters import filtered

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
