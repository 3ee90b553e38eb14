"""Frequency tables: how often a corpus has each word in each class."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.tables.named import read_table
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.studies.words.forms import Forms

_NUMBER = r"^[0-9]{1,15}$"


def read_frequencies(path: Path, word_class: str | None) -> pl.DataFrame:
    """Return the words of one class of a frequency table, a row per line.

    The file has columns word, class and count, and where known lemma and topics: how many topics
    the word occurs in, or their names with ";" between them. None for the class takes the only one.

    Returns:
        word and lemma (null where the file has none) in lower case and Unicode's form C, class,
        count, and topics: a list of names, or of one number where the file has numbers alone; null
        where nothing is known.
    """
    table = read_table(path, ("word", "class", "count"), ("lemma", "topics"))
    frame = table.frame
    if frame.is_empty():
        raise InputError(f"{path} has a header and no word")
    table.refuse(frame["word"] == "", "word", "is empty")
    table.refuse(frame["class"] == "", "class", "is empty")
    counts = frame["count"].str.contains(_NUMBER)
    table.refuse(~counts, "count", "is no whole number such as 120")
    chosen = _class_of(path, frame["class"].unique().sort().to_list(), word_class)
    unknown = [name for name in ("lemma", "topics") if name not in frame.columns]
    rows = frame.filter(pl.col("class") == chosen).with_columns(
        pl.lit("").alias(name) for name in unknown
    )
    topics = pl.col("topics").replace("", None).str.split(";")
    return rows.select(
        pl.Series("word", normalised(rows["word"].to_list()), pl.String),
        "class",
        pl.Series("lemma", normalised(rows["lemma"].to_list()), pl.String).replace("", None),
        pl.col("count").cast(pl.Int64),
        topics.list.eval(pl.element().str.strip_chars()),
    )


def normalised(words: list[str]) -> list[str]:
    """Return words in lower case and in Unicode's form C, so that equal words are equal texts."""
    return lowered([unicodedata.normalize("NFC", word) for word in words])


def merged(rows: pl.DataFrame, forms: Forms) -> pl.DataFrame:
    """Return the words of a table, all forms and spellings of a word as one.

    Counts are summed. Of topics that are named the different ones are counted; of topics that are
    numbers the largest is taken, since their overlap is not known.

    Returns:
        word, count, topics (null where nothing is known), in order of word.
    """
    form = pl.Series("word", [forms.of(word) for word in rows["word"].to_list()], pl.String)
    by_form = rows.with_columns(form)
    named = by_form["topics"].list.explode().drop_nulls()
    if named.str.contains(_NUMBER).all():
        topics = pl.col("topics").list.first().cast(pl.Int64).max()
    else:
        topics = pl.col("topics").list.explode().replace("", None).drop_nulls().n_unique()
        topics = pl.when(pl.col("topics").is_not_null().any()).then(topics).cast(pl.Int64)
    return by_form.group_by("word").agg(pl.col("count").sum(), topics.alias("topics")).sort("word")


def _class_of(path: Path, there: list[str], asked: str | None) -> str:
    """Return the class that is asked for, or the only one."""
    if asked is None:
        if len(there) == 1:
            return there[0]
        raise OptionError(
            f"{path} has several classes: {', '.join(there)}; choose one by `word_class`"
        )
    if asked not in there:
        raise OptionError(f"{path}: {unknown_name('class', asked, there)}")
    return asked
