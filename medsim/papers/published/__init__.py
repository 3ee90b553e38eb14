"""The papers whose tables are computed, one module each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.registry import Registry

if TYPE_CHECKING:
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

Facts = dict[str, dict[str, object]]
"""Facts about terminologies by their name, as in manifests."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The cells of a table that were computed.

    Attributes:
        cells: their texts, with the labels of the paper where it has them.
        missing: why the whole table or some of its rows and columns are missing.
    """

    cells: Cells = field(default_factory=dict)
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """How the tables of a paper are computed.

    Attributes:
        citation: how to cite the paper.
        steps: returns what will be done, a line each.
        computed: computes the tables in a folder; returns them by name, and the facts about the
            terminology.
    """

    citation: str
    steps: Callable[[ReproduceOptions], list[str]]
    computed: Callable[[ReproduceOptions, Path], tuple[dict[str, Computed], Facts]]


PAPERS: Registry[Paper] = Registry("paper", "medsim.papers.published")
"""The papers, by the names of their files with printed numbers."""
