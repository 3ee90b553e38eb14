"""Words the name of an invented concept in many ways."""

from __future__ import annotations

from enum import IntEnum

import polars as pl

from medsim.terminologies.synthetic.words import SHORTER

Wording = IntEnum(
    "Wording",
    "PLAIN REVERSED COMBINED INVERTED PLURAL REPHRASED EPONYM ACRONYM INITIALED SPANISH DEFINITION "
    "RESPELLED SHORTENED UNSPECIFIED UPPER TITLE D_FIRST D_LAST OR_IN_BRACKETS AND_IN_BRACKETS",
    start=0,
)
"""The ways in which the name of a concept can be worded."""

_FRONT, _SITE = ("before", "course"), ("side", "stem", "ending")
_TAIL = ("detail", "agent", "clauses", "after")


def worded(parts: pl.DataFrame) -> pl.Series:
    """Return every wording of n names; ``wording`` of row ``i`` stands at ``wording * n + i``."""
    first = parts.select(**_ordered_wordings(), **_other_wordings())
    capitalised = first.with_columns(_capitalised(pl.all()))
    texts = capitalised.with_columns(parts["other"]).with_columns(**_derived_wordings())
    return pl.concat([texts[wording.name].rename("term") for wording in Wording])


def _ordered_wordings() -> dict[str, pl.Expr]:
    """Return the wordings that say the whole name, in one order or another."""
    adjective = ("side", "stem", pl.lit("al "))
    swapped = _text(*_FRONT, *_SITE, pl.lit(" "), "head", *_TAIL)
    return {
        "PLAIN": _plain("head"),
        "REVERSED": pl.when("site_first")
        .then(_text(*_FRONT, "head", pl.lit(" "), *_SITE, *_TAIL))
        .otherwise(_text(*_FRONT, *adjective, "head", *_TAIL)),
        "COMBINED": pl.when(pl.col("form") == "")
        .then(swapped)
        .otherwise(_text(*_FRONT, "side", "stem", "form", *_TAIL)),
        "INVERTED": _text("stem", "ending", pl.lit(", "), "side", "course", "head", *_TAIL),
        "PLURAL": _plain("heads"),
        "REPHRASED": _plain("other"),
    }


def _other_wordings() -> dict[str, pl.Expr]:
    """Return the wordings that leave out parts of a name or add words to it."""
    initials = [pl.col(part).str.slice(0, 1) for part in ("course", "side", "head")]
    letters = _text(*initials, pl.col("stem").str.slice(0, 4), pl.col("ending").str.slice(0, 1))
    return {
        "EPONYM": _text(_capitalised(pl.col("eponym")), pl.lit("'s "), "other", "detail"),
        "ACRONYM": letters.str.to_uppercase() + pl.col("detail"),
        "INITIALED": letters.str.slice(0, 4).str.to_uppercase() + " - " + _plain("head"),
        "SPANISH": _text("spanish", pl.lit(" de "), "stem", "ending", "detail"),
        "DEFINITION": _text(
            pl.lit("An invented concept, defined in words: "),
            *(*_FRONT, "head", pl.lit(" of "), *_SITE, *_TAIL),
            pl.lit(", which lasts for more than a day and is found in the whole of the "),
            *("stem", pl.lit("al part.")),
        ),
    }


def _derived_wordings() -> dict[str, pl.Expr]:
    plain, plural, other = pl.col("PLAIN"), pl.col("PLURAL"), pl.col("other")
    modern = plain.str.replace_many(["ae", "oe", "our "], ["e", "e", "or "])
    shorter = plain.str.replace_many(SHORTER)
    return {
        "RESPELLED": pl.when(modern != plain).then(modern).otherwise(plain + "s"),
        "SHORTENED": pl.when(shorter != plain).then(shorter).otherwise(plain + ", NEC"),
        "UNSPECIFIED": plain + " NOS",
        "UPPER": plain.str.to_uppercase(),
        "TITLE": plain.str.to_titlecase(),
        "D_FIRST": "[D]" + plural,
        "D_LAST": pl.col("REVERSED") + " [D]",
        "OR_IN_BRACKETS": plural + " or (" + other + ")",
        "AND_IN_BRACKETS": plural + " (& " + other + ")",
    }


def _plain(head: str) -> pl.Expr:
    """Return the name in plain order with the head noun of that column."""
    later = _text(*_FRONT, head, pl.lit(" of "), *_SITE, *_TAIL)
    return (
        pl.when("site_first")
        .then(_text(*_FRONT, *_SITE, pl.lit(" "), head, *_TAIL))
        .otherwise(later)
    )


def _text(*parts: str | pl.Expr) -> pl.Expr:
    return pl.concat_str(*parts)


def _capitalised(text: pl.Expr) -> pl.Expr:
    return text.str.slice(0, 1).str.to_uppercase() + text.str.slice(1)
