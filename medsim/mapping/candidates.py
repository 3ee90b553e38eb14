"""Finds candidates for names among those of a standard, and the features of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from medsim.builds.spelling import Fragments, SpellingFeatures
from medsim.core.terms import lowered_column, numbers_of
from medsim.embeddings.embedded_terms import EmbeddedTerms, similarities_of
from medsim.embeddings.metrics import WordBags, Workers
from medsim.kernels.types import Ids, Vectors
from medsim.neighbours.difference import without_accents
from medsim.neighbours.pool import Pool
from medsim.neighbours.rankers import names_by_cosine, names_by_tfidf

_EDITS = 2  # edits within which all names are candidates
_AT_ONCE = 1 << 17  # pairs


def comparable(terms: pl.Series) -> pl.Series:
    """Return terms as they are compared: words in lower case without accents and punctuation.

    Letters and digits are separate words. A term without either stays as it is.
    """
    lower = lowered_column(terms)
    accented = (lower.str.len_bytes() != lower.str.len_chars()).arg_true()
    plain = lower.scatter(accented, [*map(without_accents, lower.gather(accented).to_list())])
    words = plain.str.extract_all(r"\p{L}+|\p{N}+").list.join(" ")
    return pl.select(pl.when(words != "").then(words).otherwise(plain).alias("key")).to_series()


@dataclass(frozen=True, kw_only=True)
class PairSearch:
    """Finds pairs of queries and names, and computes the features of pairs.

    Attributes:
        names: the distinct names of the standard, as ``comparable`` returns them, in order.
        queries: the distinct queries, in the same form and order.
        embedded: embeddings, with the rows of the names and of the queries among their terms.
        depth: number of names that each search by TF-IDF or an embedding returns.
        threads: number of threads.
    """

    names: pl.Series
    queries: pl.Series
    embedded: Sequence[tuple[EmbeddedTerms, Ids, Ids]]
    depth: int
    threads: int

    def pairs(self) -> pl.DataFrame:
        """Return the pairs, each once: query_id, name_id, in this order, and is_equal."""
        searches = [
            self._within_edits(),
            names_by_tfidf(self.names, self.queries, self.depth, self.threads),
        ]
        searches += [names_by_cosine(*each, self.depth, self.threads) for each in self.embedded]
        pairs = pl.concat([search.select("query_id", "name_id") for search in searches])
        pairs = pairs.unique().sort("query_id", "name_id")
        keys = self.queries.gather(pairs["query_id"]), self.names.gather(pairs["name_id"])
        return pairs.with_columns(is_equal=keys[0] == keys[1])

    def _within_edits(self) -> pl.DataFrame:
        pool = Pool(self.names, match_case=True, threads=self.threads)
        pairs = pool.pairs(_EDITS, self.queries)
        queries = self.queries.search_sorted(pairs["query"])
        names = self.names.search_sorted(pairs["match"])
        return pl.DataFrame({"query_id": queries, "name_id": names}).cast(pl.Int32)

    @cached_property
    def _spelling(self) -> SpellingFeatures:
        return SpellingFeatures(pl.concat([self.names, self.queries]).unique().sort())

    @cached_property
    def _known_words(self) -> Fragments:
        """The words of the names, and those of the queries that names have."""
        vocabulary = self.names.str.split(" ").explode().unique()
        words = pl.DataFrame({"word": self.queries.str.split(" ")}).with_row_index()
        words = words.explode("word").with_columns(known=pl.col("word").is_in(vocabulary.implode()))
        known = pl.col("word").filter("known").str.join(" ")
        texts = words.group_by("index").agg(known.alias(self.names.name)).sort("index")
        return Fragments.words(pl.concat([self.names, texts[self.names.name]]), r"[^ ]+")

    @cached_property
    def _rows(self) -> tuple[Ids, Ids]:
        """The rows of queries and names among the terms of the spelling."""
        sides, terms = (self.queries, self.names), self._spelling.terms
        queries, names = (numbers_of(side, terms).to_numpy() for side in sides)
        return queries, names

    def features(self, pairs: pl.DataFrame) -> Iterator[Vectors]:
        """Yield the features of pairs in batches: float32[n_features, n_pairs]."""
        query_rows, name_rows = self._rows
        for part in pairs.select("query_id", "name_id").iter_slices(_AT_ONCE):
            queries, names = part["query_id"].to_numpy(), part["name_id"].to_numpy()
            spelled = self._spelling.of(query_rows[queries], name_rows[names])
            known = self._known_words.overlap((len(self.names) + queries).astype(np.int32), names)
            cosines = (self._cosines(*each, queries, names) for each in self.embedded)
            yield np.concatenate([spelled, known.astype(np.float32), *cosines])

    def _cosines(
        self, embedded: EmbeddedTerms, names: Ids, queries: Ids, query_ids: Ids, name_ids: Ids
    ) -> Vectors:
        """Return the cosines of pairs, 0 without a vector: float32[1, n_pairs]."""
        metric = "avg_cos" if isinstance(embedded.embedded, WordBags) else "cos"
        rows, workers = (queries[query_ids], names[name_ids]), Workers(threads=self.threads)
        return np.nan_to_num(similarities_of(embedded, metric, *rows, workers))[None]
