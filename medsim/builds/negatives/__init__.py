"""Strategies for negatives: functions that choose second terms for sets of positives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.core.progress import Stage
from medsim.core.registry import Registry

if TYPE_CHECKING:
    import polars as pl

    from medsim.kernels.types import Hashes, Ids, Ranks, Rows, Starts, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedVectors:
    """The vectors of terms.

    Attributes:
        vectors: float32[n_vectors, n_dimensions], finite, in order of term id.
        rows: int32[n_terms], row of each term's vector; -1 if it has none.
    """

    vectors: Vectors
    rows: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class TermIndex:
    """All terms of a terminology as arrays; the rows are term ids.

    Attributes:
        lower: lower-cased terms, a column of strings.
        hashes: uint64[n_terms], of the terms' exact content.
        components: int32[n_terms], equal for linked terms.
        groups: int32[n_terms], equal for terms that random and Levenshtein negatives never join:
            the components by default, or terms that are equal ignoring case if links are short.
        names: int32[n_names], names of eligible concepts in the first language, in order of text.
        pool: int32[n_pool], the terms that second terms are drawn from, in order of text, including
            all terms of the positives; None if each set draws from its own terms.
        translations: the pools of second terms in other languages, by number of the language, each
            int32[n_pool], in order of text; empty if each set draws from its own terms.
        embedding: vectors for the strategy "embedding"; None if it is not used.
    """

    lower: pl.Series
    hashes: Hashes
    components: Ids
    groups: Ids
    names: Ids = field(default_factory=lambda: np.empty(0, np.int32))
    pool: Ids | None = None
    translations: Mapping[int, Ids] = field(default_factory=dict)
    embedding: IndexedVectors | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PositiveSet:
    """The positives of one dataset and difficulty, and of two languages if it is across languages.

    Attributes:
        name: name, such as "fsn_syn/easy".
        term1_ids: int32[n_pairs], in order of (term1, term2).
        term2_ids: int32[n_pairs].
        language: number of the second terms' language, which is not that of the first terms; None
            for one language. Its negatives have second terms in this language.
    """

    name: str
    term1_ids: Ids
    term2_ids: Ids
    language: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The nearest candidates of first terms in one pool, nearest first.

    Attributes:
        pool: its name, see ``medsim.builds.negatives.candidates.SearchRequest``.
        term1_ids: int32[n_firsts], the first terms.
        sizes: int32[n_firsts], number of candidates requested, or found if more; a list with fewer
            is complete.
        starts: int64[n_firsts + 1], the candidates of each.
        term2_ids: int32[n_candidates], the candidates.
    """

    pool: str
    term1_ids: Ids
    sizes: Ids
    starts: Starts
    term2_ids: Ids


NegativeSampler: TypeAlias = "Callable[[PositiveSet, Ranks, Stage], tuple[Rows, Ids]]"
"""A function that makes the negatives of one set after another.

It takes positives, the pairs already used, int32[2, n_used], and a stage to report to. It returns
at most one negative for each positive: int64[n_negatives], the row of the positive, whose first
term it shares, and int32[n_negatives], its second term. The second term comes from the pool and is
never linked to the first, and no pair repeats a used one or another, in either direction. The
result depends only on the texts, the positives, the pool and the seed. Minimal negatives are all
there are: a positive may have several, and used pairs count.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The settings of a sampler.

    Attributes:
        seed: random seed of draws and ties.
        threads: number of threads of a search.
        results: candidates that were searched elsewhere.
        sets: the coming sets, if they are known. The negatives depend on neither of the last two.
    """

    seed: int
    threads: int = 1
    results: Sequence[SearchResult] = ()
    sets: Sequence[PositiveSet] = ()


SamplerFactory: TypeAlias = "Callable[[TermIndex, Sampling], NegativeSampler]"
"""A way to choose negatives: returns the sampler for the sets of one terminology."""

SAMPLERS: Registry[SamplerFactory] = Registry("strategy", "medsim.builds.negatives")
"""The strategies by name.

``medsim.core.config.Strategy`` has the same names, in the order in which a build makes them, for
types and help; a test compares both.
"""
