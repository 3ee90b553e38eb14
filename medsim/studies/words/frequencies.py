"""Frequency tables: how often a corpus has each word in each class."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.tables.named import read_table
from medsim.core.terms import lowered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.studies.words.forms import Forms

_NUMBER = r"^[0-9]{1,15}$"


def read_frequencies(
    path: Path, word_class: str | None, subjects: Mapping[str, Sequence[str]] | None = None
) -> pl.DataFrame:
    """Return the words of one class of a frequency table, a row per line.

    The file has columns word, class and count, and where known lemma and topics: how many topics
    the word occurs in, or their names with ";" between them. None for the class takes the only one.
    With the topics of documents by name (``read_subjects``), topics are those of the word's
    documents, which the column documents has with ";" between them: a topic as often as the
    documents name it.

    Returns:
        word and lemma (null where the file has none) in lower case and Unicode's form C, class,
        count, and topics: a list of names, or a number where the file has numbers alone; null where
        nothing is known.
    """
    needed = ("word", "class", "count", *(("documents",) if subjects is not None else ()))
    table = read_table(path, needed, ("lemma", "topics"))
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
    if subjects is not None:
        found = [_subjects_of(one, subjects) for one in rows["documents"]]
        if not any(found):
            raise InputError(f"{path}: the table of documents has none of those of its words")
        rows = rows.with_columns(pl.Series("topics", found))
    topics = rows["topics"].str.strip_chars().replace("", None)
    if subjects is None and topics.drop_nulls().str.contains(_NUMBER).all():
        known = topics.cast(pl.Int64)
    else:
        known = topics.str.split(";").list.eval(pl.element().str.strip_chars())
    return rows.select(
        pl.Series("word", normalised(rows["word"].to_list()), pl.String),
        "class",
        pl.Series("lemma", normalised(rows["lemma"].to_list()), pl.String).replace("", None),
        pl.col("count").cast(pl.Int64),
        known,
    )


def normalised(words: list[str]) -> list[str]:
    """Return words in lower case and in Unicode's form C, so that equal words are equal texts."""
    return lowered([unicodedata.normalize("NFC", word) for word in words])


def merged(rows: pl.DataFrame, forms: Forms) -> pl.DataFrame:
    """Return the words of a table, all forms and spellings of a word as one.

    Counts are summed. Of topics that are named the different ones are counted, and the one that is
    named most often is the word's own (Chiu et al. 2018); of topics that are numbers the largest is
    taken, since their overlap is not known.

    Returns:
        word, count, topics (null where nothing is known) and topic (null where several are named
        equally often, or nothing is known), in order of word.
    """
    form = pl.Series("word", [forms.of(word) for word in rows["word"].to_list()], pl.String)
    by_form = rows.with_columns(form)
    if rows["topics"].dtype == pl.Int64:
        topics, topic = pl.col("topics").max(), pl.lit(None, pl.String)
    else:
        names = pl.col("topics").list.explode().replace("", None).drop_nulls()
        topics = pl.when(pl.col("topics").is_not_null().any()).then(names.n_unique())
        topics, most = topics.cast(pl.Int64), names.mode()
        topic = pl.when(most.len() == 1).then(most.first())
    of_forms = by_form.group_by("word").agg(
        pl.col("count").sum(), topics.alias("topics"), topic.alias("topic")
    )
    return of_forms.sort("word")


def read_subjects(path: Path) -> dict[str, list[str]]:
    """Return the topics of documents or journals, by their names.

    The file has columns document and topics, names with ";" between them, as NLM's Broad Subject
    Terms of journals; a document with several rows has the topics of all.

    Raises:
        InputError: the file cannot be read, lacks a column, or a cell is empty.
    """
    table = read_table(path, ("document", "topics"))
    subjects: dict[str, list[str]] = {}
    for column in ("document", "topics"):
        table.refuse(table.frame[column] == "", column, "is empty")
    for document, topics in table.frame.iter_rows():
        known = subjects.setdefault(document, [])
        known += [name for name in _names_in(topics) if name not in known]
    return subjects


def _subjects_of(documents: str, subjects: Mapping[str, Sequence[str]]) -> str:
    """Return the topics of a word's documents, with ";" between them."""
    return ";".join(name for one in _names_in(documents) for name in subjects.get(one, ()))


def _names_in(cell: str) -> list[str]:
    return [name for name in map(str.strip, cell.split(";")) if name]


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
