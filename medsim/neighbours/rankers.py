"""Ranks names for queries by equality, Levenshtein distance, TF-IDF or an embedding's cosine."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import in_threads
from medsim.core.terms import trigrams_of
from medsim.embeddings.lookup import CosineSearch
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import points_of
from medsim.kernels.sparse import SparseVectors, add_largest_products, inverted_lists, sort_sets
from medsim.kernels.types import Hashes, Ids, Ranks, Rows, Starts, Values, Vectors
from medsim.neighbours.pool import Pool

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import EmbeddedTerms

FOUND = pl.Schema({"query_id": pl.Int32, "name_id": pl.Int32, "score": pl.Float32})
"""The columns of the names that are nearest to queries; larger scores are nearer."""

_QUERIES_AT_ONCE = 1_000
_VECTORS_AT_ONCE = 1 << 17  # their sums fit the processor's cache


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
    default: the count times ln((1 + n) / (1 + df)) + 1, fitted on the names. The results are
    exact; equal queries are searched separately.
    """
    known = pl.Series(trigrams_of(" " + names + " ")[0]).unique().sort().to_numpy()
    bags = _bags(names, known)
    df = np.bincount(bags.terms, minlength=len(known))
    idf = (((1 + len(names)) / (1 + pl.Series(df, dtype=pl.Float64))).log() + 1).to_numpy()
    rarity = np.argsort(np.argsort(df, kind="stable")).astype(np.int32)
    vectors, asked = (_weighted(found, idf, rarity) for found in (bags, _bags(queries, known)))
    ids, products = largest_dot_products(asked, vectors, min(depth, len(names)), threads)
    is_found = ids >= 0
    found = {"query_id": np.nonzero(is_found)[0], "name_id": ids[is_found]}
    return pl.DataFrame({**found, "score": products[is_found]}).cast(FOUND)


def _bags(texts: pl.Series, known: Hashes) -> SparseVectors:
    """Return the number of each known trigram in each text; terms are places in ``known``."""
    trigrams, starts = trigrams_of(" " + texts + " ")
    places = np.searchsorted(known, trigrams)
    is_known = np.append(known, ~np.uint64(0))[places] == trigrams
    starts = np.append(0, np.cumsum(is_known))[starts]
    terms = places[is_known].astype(np.int32)
    sort_sets(terms, starts)
    return term_counts(terms, starts)


def _weighted(bags: SparseVectors, idf: Values, rarity: Ids) -> SparseVectors:
    """Return vectors of length 1, whose rare terms have low numbers."""
    rows = np.repeat(np.arange(len(bags.starts) - 1, dtype=np.int32), np.diff(bags.starts))
    weights = bags.values * idf[bags.terms]
    lengths = np.sqrt(np.bincount(rows, weights**2))
    return SparseVectors(bags.starts, rarity[bags.terms], weights / lengths[rows])


def term_counts(terms: Ids, starts: Starts) -> SparseVectors:
    """Return the number of each term in sorted sets, where it may be repeated."""
    is_first = np.diff(terms, prepend=-1) != 0
    is_first[starts[:-1][starts[:-1] < len(terms)]] = True
    firsts = np.flatnonzero(is_first)
    counts = np.diff(firsts, append=len(terms)).astype(np.float64)
    return SparseVectors(np.searchsorted(firsts, starts), terms[firsts], counts)


def largest_dot_products(
    queries: SparseVectors, vectors: SparseVectors, depth: int, threads: int
) -> tuple[Ranks, Vectors]:
    """Return the vectors of the largest positive dot products with each query, exactly.

    Terms of queries are also terms of vectors.

    Returns:
        Numbers of vectors, by descending dot product in single precision and then ascending, -1 for
        none: int32[n_queries, depth]; and the products: float32[n_queries, depth].
    """
    shape = len(queries.starts) - 1, depth
    ids, products = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
    parts = [slice(at, at + _QUERIES_AT_ONCE) for at in range(0, shape[0], _QUERIES_AT_ONCE)]
    asked = [queries._replace(starts=queries.starts[part.start : part.stop + 1]) for part in parts]
    results = [ids[part] for part in parts], [products[part] for part in parts]
    n_terms, n_vectors = int(vectors.terms.max(initial=-1)) + 1, len(vectors.starts) - 1
    for first in range(0, n_vectors, _VECTORS_AT_ONCE):
        end = min(first + _VECTORS_AT_ONCE, n_vectors)
        lists = inverted_lists(vectors, first, end, n_terms)
        in_threads(threads, add_largest_products, asked, repeat(vectors), repeat(lists), *results)
    return ids, products


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
