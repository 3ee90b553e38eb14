"""Ranks names for queries by equality, Levenshtein distance, TF-IDF or an embedding's cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import in_threads
from medsim.core.terms import trigrams_of
from medsim.embeddings.lookup import CosineSearch
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.kernels.sparse import InvertedLists, largest_dot_products
from medsim.kernels.types import Rows
from medsim.neighbours.pool import Pool

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import EmbeddedTerms

FOUND = pl.Schema({"query_id": pl.Int32, "name_id": pl.Int32, "score": pl.Float32})
"""The columns of the names that are nearest to queries; larger scores are nearer."""

_QUERIES_AT_ONCE = 1_000


def equal_names(names: pl.Series, queries: pl.Series) -> pl.DataFrame:
    """Return the names that are equal to queries."""
    pairs = pl.DataFrame({"query": queries, "match": queries, "score": 1.0})
    return _numbered(pairs, names, queries)


def names_by_distance(
    names: pl.Series, queries: pl.Series, depth: int, threads: int
) -> pl.DataFrame:
    """Return the names of the smallest Levenshtein distance; the score is minus the distance."""
    nearest = Pool(names, match_case=True, threads=threads).nearest(queries, depth)
    return _numbered(nearest.with_columns(score=-pl.col("distance")), names, queries)


def _numbered(pairs: pl.DataFrame, names: pl.Series, queries: pl.Series) -> pl.DataFrame:
    for number, side, texts in (("query_id", "query", queries), ("name_id", "match", names)):
        pairs = pairs.join(texts.alias(side).to_frame().with_row_index(number), on=side)
    return pairs.select(*FOUND).cast(FOUND)


def names_by_tfidf(names: pl.Series, queries: pl.Series, depth: int, threads: int) -> pl.DataFrame:
    """Return the names of the highest cosine of TF-IDF vectors of character trigrams.

    Texts have a space on both sides. Weights are those of scikit-learn's ``TfidfVectorizer`` by
    default: the count times ln((1 + n) / (1 + df)) + 1, fitted on the names.
    """
    asked, counts = _trigrams(queries), _trigrams(names)
    df = counts.group_by("trigram").agg(df=pl.len().cast(pl.Float64))
    idf = df.select("trigram", idf=((1 + len(names)) / (1 + pl.col("df"))).log() + 1)
    asked, lists = _weighted(asked, idf), _weighted(counts, idf).sort("trigram", "row")
    trigrams, starts = np.unique(lists["trigram"].to_numpy(), return_index=True)
    starts = np.append(starts, lists.height)
    terms = np.searchsorted(trigrams, asked["trigram"]).astype(np.int32)
    ends = np.append(0, np.bincount(asked["row"], minlength=len(queries)).cumsum())
    values = asked["weight"].to_numpy()
    inverted = InvertedLists(
        starts, lists["row"].to_numpy(), lists["weight"].to_numpy(), len(names)
    )

    def search(begin: int) -> pl.DataFrame:
        end = min(begin + _QUERIES_AT_ONCE, len(queries))
        ids, scores, begins = largest_dot_products(
            terms, values, ends[begin : end + 1], inverted, depth
        )
        query_ids = np.repeat(np.arange(begin, end), np.diff(begins))
        found = {"query_id": query_ids, "name_id": ids, "score": scores}
        return pl.DataFrame(found).cast(FOUND)

    parts = in_threads(threads, search, range(0, len(queries), _QUERIES_AT_ONCE))
    return pl.concat([pl.DataFrame(schema=FOUND), *parts])


def _trigrams(texts: pl.Series) -> pl.DataFrame:
    """Return the number of each trigram in each text: row, trigram and n, in this order."""
    trigrams, starts = trigrams_of(" " + texts + " ")
    rows = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(starts))
    frame = pl.DataFrame({"row": rows, "trigram": trigrams})
    return frame.group_by("row", "trigram").agg(n=pl.len()).sort("row", "trigram")


def _weighted(counts: pl.DataFrame, idf: pl.DataFrame) -> pl.DataFrame:
    """Return the weights of the known trigrams of each text; vectors have the length 1."""
    known = counts.join(idf, on="trigram", maintain_order="left")
    weights, rows = (known["n"] * known["idf"]).to_numpy(), known["row"].to_numpy()
    lengths = np.sqrt(np.bincount(rows, weights**2))
    return known.select("row", "trigram", weight=pl.lit(pl.Series(weights / lengths[rows])))


def names_by_cosine(
    embedded: EmbeddedTerms, names: Rows, queries: Rows, depth: int, threads: int
) -> pl.DataFrame:
    """Return the names of the highest cosine, given the rows of names and queries."""
    name_ids, query_ids = (np.flatnonzero(embedded.covered[rows]) for rows in (names, queries))
    n_names, terms = len(name_ids), np.concatenate([names[name_ids], queries[query_ids]])
    if not n_names or not len(query_ids):
        return pl.DataFrame(schema=FOUND)
    points = np.arange(len(terms), dtype=np.int32)
    groups = np.where(points < n_names, points, ~n_names)  # so queries do not find each other
    vectors = points_of(embedded.embedded, terms.astype(np.int32), Workers(threads=threads))
    # with equal hashes, ties are in order of names
    search = CosineSearch(
        vectors, groups.astype(np.int32), np.zeros(len(terms), np.uint64), threads=threads
    )
    sizes = np.full(len(query_ids), min(depth, n_names), np.int32)
    nearest = search.nearest(points[n_names:], sizes)
    found = {
        "query_id": np.repeat(query_ids, np.diff(nearest.starts)),
        "name_id": name_ids[nearest.ids],
        "score": nearest.similarities,
    }
    return pl.DataFrame(found).cast(FOUND)
