"""The domains of words: biomedical and general."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.tables.named import read_table
from medsim.core.tables.text import unguarded
from medsim.studies.words.frequencies import normalised

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from medsim.studies.words.forms import Forms

BIOMEDICAL, GENERAL, AMBIGUOUS = "biomedical", "general", "ambiguous"

DOMAINS = (BIOMEDICAL, GENERAL)
"""The domains of words, in the order in which tables have them."""


def by_list(words: pl.DataFrame, listed: AbstractSet[str]) -> pl.DataFrame:
    """Return words with column domain: biomedical where they are listed, else general."""
    is_listed = pl.col("word").is_in(pl.Series(sorted(listed), dtype=pl.String).implode())
    domain = pl.when(is_listed).then(pl.lit(BIOMEDICAL)).otherwise(pl.lit(GENERAL))
    return words.with_columns(domain.alias("domain"))


def read_domains(path: Path, forms: Forms) -> pl.DataFrame:
    """Return the words of a table with columns word and domain, as forms, with their domain.

    It may be one that ``medsim study score`` wrote, whose cells are harmless to spreadsheets.
    Ambiguous words, and those of which two rows tell different domains, are left out.

    Raises:
        InputError: the file cannot be read, or a domain is unknown.
    """
    table = read_table(path, ("word", "domain"))
    accepted = (*DOMAINS, AMBIGUOUS)
    is_known = table.frame["domain"].is_in(accepted)
    table.refuse(~is_known, "domain", f"is none of {', '.join(accepted)}")
    given = [unguarded(word) for word in table.frame["word"]]
    words = [forms.of(word) for word in normalised(given)]
    told = table.frame.with_columns(pl.Series("word", words, pl.String)).unique()
    return told.filter(pl.len().over("word") == 1, pl.col("domain") != AMBIGUOUS)


def by_table(words: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return words with column domain, as ``read_domains`` tells it; null where it does not."""
    return words.join(told, on="word", how="left", maintain_order="left")


def by_ratio(
    words: pl.DataFrame, corpus: pl.DataFrame, other: pl.DataFrame, ratio: float
) -> pl.DataFrame:
    """Return words with column domain, by the ratio of their frequencies in two corpora.

    A word's relative frequency is (count + 1) / (n_tokens + n_types), where types are the words of
    both corpora together, so that no word has none. It is biomedical where that of the biomedical
    corpus is at least ``ratio`` times that of the other, general where it is at most the inverse
    of that; words between, which both corpora use, have no domain (null).
    """
    both = corpus.select("word", "count").join(
        other.select("word", pl.col("count").alias("other")), on="word", how="full", coalesce=True
    )
    both = both.with_columns(pl.col("count", "other").fill_null(0))
    frequency, in_other = (
        (pl.col(column) + 1) / (pl.col(column).sum() + both.height) for column in ("count", "other")
    )
    ratios = both.select("word", (frequency / in_other).alias("ratio"))
    domain = (
        pl.when(pl.col("ratio") >= ratio)
        .then(pl.lit(BIOMEDICAL))
        .when(pl.col("ratio") <= 1 / ratio)
        .then(pl.lit(GENERAL))
        .alias("domain")
    )
    return words.join(ratios.select("word", domain), on="word", how="left", maintain_order="left")


def frequency_correlation(words: pl.DataFrame, other: pl.DataFrame) -> float | None:
    """Return Spearman's correlation of how often words are used in their corpus and in another.

    A word that the other corpus lacks is used 0 times there; ties have average ranks. Chiu et al.
    (2018) found 0.39 between PubMed Central and the British National Corpus.

    Returns:
        The correlation; None of fewer than two words, or where a corpus uses all equally often.
    """
    both = words.join(other.select("word", pl.col("count").alias("other")), on="word", how="left")
    ranks = both.select(pl.col("count"), pl.col("other").fill_null(0)).select(pl.all().rank())
    found: float | None = ranks.select(pl.corr("count", "other").fill_nan(None)).item()
    return found
