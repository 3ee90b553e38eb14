"""Searches for the names that are nearest to mentions: three without a model, and by embeddings.

They take names and queries in lower case and return ``FOUND``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import in_threads
from medsim.core.terms import trigrams_of
from medsim.embeddings.lookup import CosineSearch
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.kernels.dot_products import InvertedLists, largest_dot_products
from medsim.linking.output import DEPTH
from medsim.neighbours.pool import Pool

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.kernels.types import Rows

FOUND = pl.Schema({"query_id": pl.Int32, "name_id": pl.Int32, "score": pl.Float32})
"""The columns of the names that are nearest to queries; larger scores are nearer."""

_QUERIES_AT_ONCE = 1_000  # queries are a group of points, which the index returns too


def exact(names: pl.Series, queries: pl.Series) -> pl.DataFrame:
    """Return the names that are equal to queries."""
    pairs = pl.DataFrame({"query": queries, "match": queries, "score": 1.0})
    return _numbered(pairs, names, queries)


def levenshtein(names: pl.Series, queries: pl.Series, threads: int) -> pl.DataFrame:
    """Return the names of the smallest Levenshtein distance; the score is minus the distance."""
    nearest = Pool(names, match_case=True, threads=threads).nearest(queries, DEPTH)
    return _numbered(nearest.with_columns(score=-pl.col("distance")), names, queries)


def _numbered(pairs: pl.DataFrame, names: pl.Series, queries: pl.Series) -> pl.DataFrame:
    for number, side, texts in (("query_id", "query", queries), ("name_id", "match", names)):
        pairs = pairs.join(texts.alias(side).to_frame().with_row_index(number), on=side)
    return pairs.select(*FOUND).cast(FOUND)


def tfidf(names: pl.Series, queries: pl.Series, threads: int) -> pl.DataFrame:
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
            terms, values, ends[begin : end + 1], inverted, DEPTH
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


def by_embedding(embedded: EmbeddedTerms, names: Rows, queries: Rows, threads: int) -> pl.DataFrame:
    """Return the names of the highest cosine, given the rows of names and queries."""
    name_ids, query_ids = (np.flatnonzero(embedded.covered[rows]) for rows in (names, queries))
    n_names, frames = len(name_ids), [pl.DataFrame(schema=FOUND)]
    for begin in range(0, len(query_ids) if n_names else 0, _QUERIES_AT_ONCE):
        part = query_ids[begin : begin + _QUERIES_AT_ONCE]
        terms = np.concatenate([names[name_ids], queries[part]]).astype(np.int32)
        groups = np.minimum(np.arange(len(terms), dtype=np.int32), n_names)
        vectors = points_of(embedded.embedded, terms, Workers(threads=threads))
        # with equal hashes, ties are in order of names
        search = CosineSearch(vectors, groups, np.zeros(len(terms), np.uint64), threads=threads)
        asked = np.arange(n_names, len(terms), dtype=np.int32)
        sizes = np.full(len(part), min(DEPTH, n_names), np.int32)
        nearest = search.nearest(asked, sizes)
        found = {
            "query_id": np.repeat(part, np.diff(nearest.starts)),
            "name_id": name_ids[nearest.ids],
            "score": nearest.similarities,
        }
        frames.append(pl.DataFrame(found).cast(FOUND))
    return pl.concat(frames)
