"""The terms of a build among which those that mean the same are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.terms import pack
from medsim.kernels.packing import term_hashes

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.kernels.types import Hashes, Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTerms:
    """The terms of a build, each once however its case is written.

    Attributes:
        terms: a row per term in order of text: term, component (equal for terms that positives
            link), difficulty ("easy" where the nearest positive is, null where there is none),
            n_words, is_linked (whether another term has the same component).
    """

    terms: pl.DataFrame

    @property
    def components(self) -> Ids:
        """The component of each term: int32[n_terms]."""
        return self.terms["component"].to_numpy()

    @property
    def hashes(self) -> Hashes:
        """A hash of each term's content: uint64[n_terms]."""
        packed = pack(self.terms["term"].to_list())
        return np.asarray(term_hashes(packed.codes, packed.starts), np.uint64)


def linked_terms(build: Build) -> LinkedTerms:
    """Return the terms that a build draws negatives from, with what positives link.

    They are the terms of all positives, or with ``pool=terminology`` those of the terminology. Of
    terms that are equal when case is ignored the first in order of text stands for all.
    """
    terms = (
        build.terms()
        .unique("lower_term", keep="first", maintain_order=True)
        .select(
            "term",
            "component",
            "difficulty",
            pl.col("term").map_elements(lambda term: len(term.split()), pl.Int32).alias("n_words"),
            (pl.len().over("component") > 1).alias("is_linked"),
        )
    )
    return LinkedTerms(terms=terms)
