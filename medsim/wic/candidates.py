"""All possible instances of a benchmark, as blocks that are not written out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import in_threads
from medsim.core.terms import lowered_column, pack
from medsim.kernels.edit_search import TermsByLength, search_alike_pairs, signatures
from medsim.wic import SIMILARITY
from medsim.wic.mentions import forms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.core.store import Store
    from medsim.kernels.types import Ids, Places, Rows

_ROOM = 1 << 12
_TERMS_A_TASK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Candidate instances: a block is all pairs of two runs of mentions.

    Attributes:
        runs: int64[n_blocks, 4], the start and end of the first run, and of the second; the same
            run twice means all pairs within it.
        groups: int32[n_blocks], the positions in ``medsim.wic.GROUPS``.
        labels: int32[n_blocks], 1 if both runs have the same concept, else 0.
        terms: int32[n_blocks], the number of the pair of lemmas.
    """

    runs: Places
    groups: Ids
    labels: Ids
    terms: Ids

    def __len__(self) -> int:
        return len(self.runs)

    def take(self, rows: np.ndarray) -> Blocks:
        """Return the blocks at ``rows``, in that order, or in a mask."""
        return Blocks(
            runs=self.runs[rows],
            groups=self.groups[rows],
            labels=self.labels[rows],
            terms=self.terms[rows],
        )

    @property
    def n_pairs(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The number of instances of each block, int64[n_blocks]."""
        n_first = self.runs[:, 1] - self.runs[:, 0]
        n_second = self.runs[:, 3] - self.runs[:, 2]
        same = self.runs[:, 0] == self.runs[:, 2]
        return np.where(same, n_first * (n_first - 1) // 2, n_first * n_second)


def forms_with_relations(
    store: Store, mentions: pl.DataFrame, language: str, vocabulary: str | None, broader: str
) -> pl.DataFrame:
    """Return the forms of mentions, and put their names and related concepts into the store.

    Forms have lemmas and names in ``language``. If ``broader`` is "any", all ancestors of a concept
    are broader, else only its parents. Leaves the tables ``form_name``, ``mentioned`` and
    ``related_concept`` in the store.
    """
    forms = forms_of(lowered_column(mentions["term"]).unique(), language)
    names = store.frame("terminologies/concept_name", language=language)
    matches = names.with_columns(lowered_column(names["term"])).join(forms, on="lower_term")
    named = matches.select("form_id", "concept_id").unique().sort("form_id", "concept_id")
    store.put("form_name", named)
    store.put("mentioned", mentions.select("concept_id").unique().sort("concept_id"))
    store.run("wic/related_concept", vocabulary=vocabulary, any_depth=broader == "any")
    return forms


def blocks_of(
    store: Store,
    mentions: pl.DataFrame,
    forms: pl.DataFrame,
    similarity: float = SIMILARITY,
    *,
    threads: int,
) -> Blocks:
    """Return the blocks of mentions, given the names of forms and the related concepts.

    Two terms are compared once, however many sentences contain them. Mentions come from
    ``chosen_mentions``, and blocks refer to their rows. The tables ``form_name`` and
    ``related_concept`` are in the store.
    """
    store.put("form", forms)
    terms = forms["lower_term"].to_list()
    alike = similar_label_pairs(terms, similarity, threads=threads).astype(np.int32)
    store.put("alike", pl.DataFrame({"form1": alike[:, 0], "form2": alike[:, 1]}))
    store.run("wic/form_pair")
    store.put("cell", _cells(mentions, forms))
    blocks = store.frame("wic/block")
    pairs = pl.struct("lemma1", "lemma2").rank("dense").cast(pl.Int32) - 1
    return Blocks(
        runs=blocks.select(pl.col("begin1", "end1", "begin2", "end2").cast(pl.Int64)).to_numpy(),
        groups=blocks["group_rank"].cast(pl.Int32).to_numpy(),
        labels=blocks["label"].cast(pl.Int32).to_numpy(),
        terms=blocks.select(pairs).to_series().to_numpy(),
    )


def _cells(mentions: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """Return the runs of mentions of one form and one concept, with their starts and ends."""
    numbered = mentions.join(
        forms.select("lower_term", "form_id"), on="lower_term", maintain_order="left"
    ).with_row_index("row")
    cells = numbered.group_by("form_id", "concept_id").agg(
        begin_row=pl.col("row").min().cast(pl.Int64), end_row=pl.col("row").max().cast(pl.Int64) + 1
    )
    return cells.sort("begin_row").with_row_index("cell_id")


def similar_label_pairs(
    terms: Sequence[str], similarity: float = SIMILARITY, *, threads: int = 1
) -> Places:
    """Return all pairs of distinct terms in lower case whose ratio is above ``similarity``.

    The ratio is (|a| + |b| - d) / (|a| + |b|), lengths in code points, where d counts insertions
    and deletions, and a substitution is one of each (Rouhizadeh et al. 2024). Every pair above it
    is found: pairs that are not compared cannot reach it. Threads never change the result.

    Returns:
        int64[n_pairs, 2], rows of terms, the smaller first, in order. Time O(n_terms^2) for
        signatures of 32 bytes; the remaining pairs are compared in O(length).
    """
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    order = np.argsort(lengths, kind="stable")
    packed = pack([terms[row] for row in order])
    characters, numbers = np.unique(packed.codes, return_inverse=True)
    codes = numbers.astype(np.uint32)
    laid = TermsByLength(
        codes=codes,
        starts=packed.starts,
        signatures=signatures(codes, packed.starts),
        n_characters=len(characters),
    )
    tasks = range(int(np.count_nonzero(lengths == 0)), len(terms), _TERMS_A_TASK)
    search = partial(_search, laid, Fraction(str(similarity)).as_integer_ratio())
    parts = in_threads(threads, search, tasks)
    rows = np.concatenate(parts) if parts else np.empty((0, 2), np.int64)
    pairs = np.sort(order[rows], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _search(laid: TermsByLength, limit: tuple[int, int], first: int) -> Places:
    """Return the pairs of one task, int64[n_pairs, 2]; repeated if the buffer was too small."""
    stop = min(first + _TERMS_A_TASK, len(laid.starts) - 1)
    room = _ROOM
    while True:
        firsts: Rows = np.empty(room, np.int64)
        seconds: Rows = np.empty(room, np.int64)
        n_found = search_alike_pairs(laid, limit, first, stop, firsts, seconds)
        if n_found <= room:
            return np.stack([firsts[:n_found], seconds[:n_found]], axis=1)
        room = n_found
