"""Association norms: the words that people think of first when they see another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.tables.named import read_table
from medsim.studies.words.frequencies import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from medsim.studies.words.forms import Forms

_SIDES = ("cue", "target")
_STRENGTHS = {"fsg": "FSG", "strength": "strength"}


def read_norms(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the associations of files of norms.

    Files have columns cue and target. Those of the University of South Florida (Nelson, McEvoy and
    Schreiber 2004, Behavior Research Methods 36(3)), eight for the letters of the alphabet, have
    the forward strength in the column FSG: the share of people who saw the cue and said the
    target. Other files may have a column strength.

    Returns:
        cue and target, in lower case; strength, null where there is none; and its name.
    """
    return pl.concat([_of_file(path) for path in paths])


def associated(norms: pl.DataFrame, forms: Forms, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of known words that norms associate, in either direction.

    Returns:
        word1_id < word2_id, and reason: the strongest association of the two forms.
    """
    known = (
        norms.with_columns(
            pl.Series(side, [forms.of(word) for word in norms[side].to_list()], pl.String)
            for side in _SIDES
        )
        .join(words.select(cue="word", cue_id="word_id"), on="cue")
        .join(words.select(target="word", target_id="word_id"), on="target")
        .filter(pl.col("cue_id") != pl.col("target_id"))
        .sort("strength", "cue", "target", descending=[True, False, False], nulls_last=True)
    )
    reasons = [
        f"norm: {cue} \N{RIGHTWARDS ARROW} {target}"
        + ("" if strength is None else f", {name} {strength:g}")
        for cue, target, strength, name, *_ in known.iter_rows()
    ]
    ids = ("cue_id", "target_id")
    return (
        known.select(
            pl.min_horizontal(ids).alias("word1_id"),
            pl.max_horizontal(ids).alias("word2_id"),
            pl.Series("reason", reasons, pl.String),
        )
        .unique(["word1_id", "word2_id"], keep="first", maintain_order=True)
        .sort("word1_id", "word2_id")
    )


def _of_file(path: Path) -> pl.DataFrame:
    table = read_table(path, _SIDES, tuple(_STRENGTHS))
    frame = table.frame
    for side in _SIDES:
        table.refuse(frame[side] == "", side, "is empty; give a word, or leave the row out")
    column = next((name for name in _STRENGTHS if name in frame.columns), "")
    given = frame[column] if column else pl.repeat("", frame.height, eager=True)
    strengths = given.replace("", None).cast(pl.Float64, strict=False)
    wrong = (strengths.is_null() & (given != "")) | ~strengths.fill_null(0).is_finite()
    table.refuse(wrong, column, "is no number such as 0.42")
    return pl.DataFrame(
        [pl.Series(side, normalised(frame[side].to_list()), pl.String) for side in _SIDES]
    ).with_columns(
        strengths.alias("strength"), pl.lit(_STRENGTHS.get(column), pl.String).alias("name")
    )
