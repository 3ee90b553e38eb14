"""The tables and figures of the paper by their numbers, and what each has.

The paper is Schulz and Juric (AAAI 2020), with the appendix.
"""

from __future__ import annotations

from dataclasses import dataclass

PAPER_METRICS = ("fuzzy_jaccard", "kendall")
"""The metric of all word embeddings and that of all others, where the paper fixes one."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or figure of the paper.

    Attributes:
        table: of ``medsim compare``.
        negatives: the strategy of the sets that it has; None for all.
        fixed: whether each embedding is at one of ``PAPER_METRICS``, not at its best metric.
    """

    table: str
    negatives: str | None = None
    fixed: bool = False


PAPER = {
    "1": PaperTable("rated"),
    "4": PaperTable("spearman", fixed=True),
    "5": PaperTable("accuracy", "levenshtein", fixed=True),
    "6": PaperTable("separation"),
    "A.1": PaperTable("coverage"),
    "A.2": PaperTable("overlap"),
    "B.1": PaperTable("spearman"),
    **{f"B.{number}": PaperTable("standings-spearman") for number in range(2, 6)},
    "C.1": PaperTable("accuracy", "random", fixed=True),
    "C.2": PaperTable("auc", "levenshtein", fixed=True),
    "C.3": PaperTable("auc", "random", fixed=True),
    **{f"C.{number}": PaperTable("standings-accuracy", "levenshtein") for number in range(4, 9)},
    "D.1": PaperTable("categories"),
    "figure-B.1": PaperTable("spread-spearman"),
    "figure-C.1": PaperTable("spread-accuracy"),
}
"""Tables by their number, and figures by theirs."""

ELSEWHERE = {"2": "medsim stats BUILD", "3": "medsim study score STUDY ANSWERS"}
"""The commands that print the other tables, by number."""


def number_of(text: str) -> str | None:
    """Return the number in ``PAPER`` or ``ELSEWHERE`` that a text such as "Table c.1" means."""
    wanted = text.strip().lower().removeprefix("table").strip().replace("figure ", "figure-")
    return next((one for one in (*PAPER, *ELSEWHERE) if one.lower() == wanted), None)
