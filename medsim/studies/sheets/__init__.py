"""Sheets that annotators see, and the answers that they send back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 1
"""The version of the format of sheets and answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The answers that an annotator can give to a pair.

    Attributes:
        answers: as files have them; an answer's place is its value in frames.
    """

    name: str
    answers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.answers)


NOT_SAME, SAME, DONT_KNOW = 0, 1, 2
"""The values of judgements."""

JUDGEMENT = Scale(name="judgement", answers=("not_same", "same", "dont_know"))
"""Whether two terms mean the same (Schulz and Juric 2020, section 3.3)."""

GRADED = Scale(name="graded", answers=("0", "1", "2", "3", "4", "5", "6"))
"""Degrees of similarity of two words (Chiu et al. 2018)."""

SCALES = {scale.name: scale for scale in (JUDGEMENT, GRADED)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A pair as one annotator sees it once.

    Attributes:
        entry_id: its name, for this annotator and presentation alone; it reveals nothing.
    """

    entry_id: str
    left: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All pairs that one annotator sees, and the instructions.

    Attributes:
        notice: what must be known before the sheet is passed on; None where there is nothing.
        entries: in the annotator's own order.
        page_size: how many entries a page has; 0 where there are no pages.
    """

    study_id: str
    title: str
    annotator: str
    scale: Scale
    instructions: Sequence[str]
    notice: str | None
    entries: Sequence[Entry]
    page_size: int = 0
