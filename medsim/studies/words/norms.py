"""Association norms: the words that people think of first when they see another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.tables.named import read_table
from medsim.core.tables.text import unguarded
from medsim.studies.words.frequencies import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.core.tables.named import Table
    from medsim.studies.words.forms import Forms

_SIDES = ("cue", "target")
_STRENGTHS = {"fsg": "FSG", "strength": "strength"}
_PARTICIPANTS, _BACKWARD = "#g", "bsg"


@dataclass(frozen=True, slots=True, kw_only=True)
class NormRule:
    """Which norms associate their words.

    Attributes:
        participants: how many people must have seen the cue.
        one_way: whether norms count that have no backward strength.
    """

    participants: int
    one_way: bool


def read_norms(paths: Sequence[Path], rule: NormRule) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the associations of files of norms, and a warning for each file without a column.

    Files have columns cue and target. Those of the University of South Florida (Nelson, McEvoy and
    Schreiber 2004, Behavior Research Methods 36(3)), eight for the letters of the alphabet, have
    the number of people who saw the cue in the column #G, the forward strength in FSG, the share of
    them who said the target, and in BSG the backward strength, the share of those who saw the
    target and said the cue; it is 0 or no number where that is not known. Other files may have a
    column strength in place of FSG, and these columns.

    Returns:
        cue and target, in lower case; strength, null where there is none; its name; and counts,
        whether the rule lets the norm associate its words. A part of the rule whose column is
        missing lets all norms pass, and a warning says so.
    """
    found = [_of_file(path, rule) for path in paths]
    return pl.concat(frame for frame, _ in found), tuple(
        warning for _, warnings in found for warning in warnings
    )


def associated(norms: pl.DataFrame, forms: Forms, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of known words that norms have, in either direction.

    Returns:
        word1_id < word2_id; reason: the strongest association of the two forms, of those that
        count where there are any; counts: whether one of them does.
    """
    known = (
        norms.with_columns(
            pl.Series(side, [forms.of(word) for word in norms[side].to_list()], pl.String)
            for side in _SIDES
        )
        .join(words.select(cue="word", cue_id="word_id"), on="cue")
        .join(words.select(target="word", target_id="word_id"), on="target")
        .filter(pl.col("cue_id") != pl.col("target_id"))
        .sort(
            "counts",
            "strength",
            "cue",
            "target",
            descending=[True, True, False, False],
            nulls_last=True,
        )
    )
    told = known.select(*_SIDES, "strength", "name").iter_rows()
    reasons = [
        f"norm: {cue} \N{RIGHTWARDS ARROW} {target}"
        + ("" if strength is None else f", {name} {strength:g}")
        for cue, target, strength, name in told
    ]
    ids = ("cue_id", "target_id")
    return (
        known.select(
            pl.min_horizontal(ids).alias("word1_id"),
            pl.max_horizontal(ids).alias("word2_id"),
            pl.Series("reason", reasons, pl.String),
            "counts",
        )
        .unique(["word1_id", "word2_id"], keep="first", maintain_order=True)
        .sort("word1_id", "word2_id")
    )


def read_confirmed(path: Path, forms: Forms, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of known words in a table of term1 and term2, which people confirmed.

    It is one that ``medsim study score`` wrote, whose cells are harmless to spreadsheets.

    Returns:
        word1_id < word2_id, and reason.
    """
    terms = read_table(path, ("term1", "term2")).frame
    pairs = pl.DataFrame(
        [
            pl.Series(side, normalised([unguarded(term) for term in own]), pl.String)
            for side, own in zip(_SIDES, terms, strict=True)
        ]
    ).with_columns(strength=pl.lit(None, pl.Float64), name=pl.lit(None, pl.String), counts=True)
    found = associated(pairs, forms, words).drop("counts")
    return found.with_columns(reason=pl.lit("confirmed by people"))


def _of_file(path: Path, rule: NormRule) -> tuple[pl.DataFrame, list[str]]:
    table = read_table(path, _SIDES, (*_STRENGTHS, _PARTICIPANTS, _BACKWARD))
    frame = table.frame
    for side in _SIDES:
        table.refuse(frame[side] == "", side, "is empty; give a word, or leave the row out")
    column = next((name for name in _STRENGTHS if name in frame.columns), "")
    strengths = _numbers(table, column)
    counts, warnings = pl.repeat(value=True, n=frame.height, eager=True), []
    if rule.participants > 0:
        if _PARTICIPANTS in frame.columns:
            counts &= _numbers(table, _PARTICIPANTS).fill_null(0) >= rule.participants
        else:
            warnings.append(
                f"{path.name} has no column #G, so that it cannot be told which norms are of "
                f"`norm_participants` {rule.participants} or more; all count"
            )
    if not rule.one_way:
        if _BACKWARD in frame.columns:
            backward = frame[_BACKWARD].cast(pl.Float64, strict=False).fill_nan(None)
            counts &= (strengths.fill_null(0) > 0) & (backward.fill_null(0) > 0)
        else:
            warnings.append(
                f"{path.name} has no column BSG, so that it cannot be told which norms go both "
                "ways; all count"
            )
    sides = [pl.Series(side, normalised(frame[side].to_list()), pl.String) for side in _SIDES]
    norms = pl.DataFrame([*sides, strengths.alias("strength"), counts.alias("counts")])
    return norms.with_columns(name=pl.lit(_STRENGTHS.get(column), pl.String)), warnings


def _numbers(table: Table, column: str) -> pl.Series:
    """Return the numbers of a column, null where nothing stands or where there is no column."""
    frame = table.frame
    given = frame[column] if column else pl.repeat("", frame.height, eager=True)
    numbers = given.replace("", None).cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & (given != "")) | ~numbers.fill_null(0).is_finite()
    table.refuse(wrong, column, "is no number such as 0.42")
    return numbers
