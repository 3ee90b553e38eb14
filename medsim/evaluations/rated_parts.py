"""Divides rated files into parts by properties of their words, which a table of words may give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, counted
from medsim.core.tables import read_table
from medsim.core.terms import lowered_column
from medsim.statistics.strata import (
    MEMBERS,
    WORD_PROPERTIES,
    Stratification,
    parts_of,
    property_in,
    topic_names,
)

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.evaluations.ratings import RatedPairs

_MAX_DOMAINS = 20  # a column with more values is probably something else


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTable:
    """A table of words.

    Attributes:
        digest: SHA-256 of its bytes as they were read.
        frame: a row per word: ``word`` in lower case, and any of ``count`` (Float64), ``topics``
            (Float64, their number) and ``domain`` (String) that the file has.
        warnings: for readers of the results, a sentence each.
    """

    name: str
    digest: str
    frame: pl.DataFrame
    warnings: tuple[str, ...] = ()


def read_words(path: Path) -> WordTable:
    """Return the table of words in a CSV, TSV or Parquet file, ignoring case.

    If a word has several rows, such as one per word class, its counts are summed, every named topic
    counts once, and the highest number of topics is used. A word with two domains has none.

    Args:
        path: of the file, with a column ``word`` and at least one of ``count``, ``topics`` (how
            many, or their names joined by semicolons) and ``domain``.

    Raises:
        InputError: the file cannot be read or has no such columns, or a cell is invalid; the
            message names the line and the value.
    """
    table = read_table(path, ("word",), WORD_PROPERTIES)
    names = table.frame.columns[1:]
    if not names:
        raise InputError(
            f"{path} has none of the columns {', '.join(WORD_PROPERTIES)} beside word; add one"
        )
    rows = []
    for line, (word, *cells) in table.rows():
        row = dict(zip(names, cells, strict=True))
        try:
            properties = {name: property_in(name, cell) for name, cell in row.items()}
        except InputError as error:
            raise InputError(f"{path}: {line}: {error}") from error
        topics = None if properties.get("topics") is None else topic_names(row["topics"])
        rows.append({"word": word, **properties, "names": None if topics is None else [*topics]})
    schema = {"word": pl.String, "count": pl.Float64, "topics": pl.Float64, "domain": pl.String}
    frame = pl.DataFrame(rows, {**schema, "names": pl.List(pl.String)})
    count, domain = pl.col("count"), pl.col("domain").drop_nulls()
    n_topics = pl.max_horizontal(
        pl.col("topics").max(), pl.col("names").explode().drop_nulls().n_unique()
    )
    frame = (
        frame.with_columns(word=lowered_column(frame["word"]))
        .group_by("word", maintain_order=True)
        .agg(
            count=pl.when(count.count() > 0).then(count.sum()),
            topics=pl.when(pl.col("topics").count() > 0).then(n_topics),
            domain=pl.when(domain.n_unique() == 1).then(domain.first()),
        )
    )
    return WordTable(
        name=path.name,
        digest=table.sha256,
        frame=frame.select("word", *names),
        warnings=table.warnings,
    )


def strata_of(
    rated: RatedPairs, stratification: Stratification, words: WordTable | None = None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the parts of a rated file, see ``parts_of``.

    A table of words takes precedence over the columns of the file.

    Returns:
        ``MEMBERS``, a row for every part that a pair belongs to; and warnings about pairs that
        belong to none.
    """
    frames = [pl.DataFrame(schema=MEMBERS)]
    warnings = []
    for name, members in parts_of(_properties(rated, words), stratification).items():
        n_values = members["part_value"].n_unique()
        if name == "domain" and n_values > _MAX_DOMAINS:
            raise InputError(
                f"{rated.name} has {n_values:,} domains, but at most {_MAX_DOMAINS} are allowed; "
                "if the column holds something else, rename it"
            )
        frames.append(members)
        if n_none := rated.pairs.height - members.height:
            n_pairs = counted(rated.pairs.height, "pair")
            warnings.append(
                f"{n_none:,} of {n_pairs} left out of parts by {name}: a word has no value, or the "
                "two words belong to different parts"
            )
    return pl.concat(frames), tuple(warnings)


def _properties(rated: RatedPairs, words: WordTable | None) -> pl.DataFrame:
    """Return the properties of all pairs, such as "count1"; those of whole pairs end in 1."""
    properties = rated.properties.rename(
        {"domain": "domain1", "associated": "associated1"}, strict=False
    )
    if words is None:
        return properties
    frames = [properties]
    for side in "12":
        terms = lowered_column(rated.pairs[f"term{side}"]).to_frame("word")
        columns = terms.join(words.frame, on="word", how="left", maintain_order="left").drop("word")
        frames.append(columns.rename({name: f"{name}{side}" for name in columns.columns}))
        frames[0] = frames[0].drop(frames[-1].columns, strict=False)
    return pl.concat(frames, how="horizontal")
