"""Sheets that annotators see, and the answers that they send back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 1
"""Version of the format of sheets and answers."""

CONTROL = "answer"
"""The name of the choice in Label Studio, and the column of answers."""

COMMENT = "comment"
"""The column of comments, which annotators may leave out."""

MARKS = ("\u27e6", "\u27e7")
"""The signs around the target of a sentence; they do not occur in the sentence itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that an annotator can give.

    Attributes:
        value: value in frames, the position in ``Scale.answers``.
        name: name in files.
        label: text shown to people.
        key: key on the keyboard, on the page and in Label Studio.
        variants: what people write instead of the label.
    """

    value: int
    name: str
    label: str
    key: str
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The question of a study, the possible answers, and the texts of its items.

    Attributes:
        question: shown above every entry.
        choices: the answers in the order in which they are shown.
        parts: the columns of sheets with an entry's texts: one for a word, two for a pair.
        noun: noun for an entry in sentences.
        graded: whether answers are ratings, which are numbers in files.
        marked: whether texts are sentences with a target between ``MARKS``.
        commented: whether annotators may comment on their answers.
    """

    name: str
    question: str
    choices: tuple[Answer, ...]
    parts: tuple[str, ...] = ("left", "right")
    noun: str = "pair"
    graded: bool = False
    marked: bool = False
    commented: bool = False

    def __len__(self) -> int:
        return len(self.choices)

    @property
    def answers(self) -> tuple[str, ...]:
        """Names of answers in files; an answer's position is its value in frames."""
        return tuple(
            choice.name for choice in sorted(self.choices, key=lambda choice: choice.value)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a sheet for a spreadsheet."""
        return ("entry", *self.parts, CONTROL)


NOT_SAME, SAME, DONT_KNOW = 0, 1, 2
"""The values of judgements."""

_SAME = Answer(SAME, "same", "Same", "s", ("the same",))
_NOT_SAME = Answer(NOT_SAME, "not_same", "Not same", "n", ("not the same", "different"))
_DONT_KNOW = Answer(
    DONT_KNOW, "dont_know", "Don\u2019t know", "d", ("do not know", "I don't know", "unknown")
)

JUDGEMENT = Scale(
    name="judgement",
    question="Could these two be used interchangeably in consultation notes?",
    choices=(_SAME, _NOT_SAME, _DONT_KNOW),
    commented=True,
)
"""Whether two terms mean the same (Schulz and Juric 2020, section 3.3)."""

GRADED = Scale(
    name="graded",
    question="How similar are these two?",
    choices=tuple(Answer(rating, str(rating), str(rating), str(rating)) for rating in range(7)),
    graded=True,
)
"""Degrees of similarity of two words (Chiu et al. 2018)."""

CONTEXT = Scale(
    name="context",
    question="Do the two marked terms have the same meaning?",
    choices=(_SAME, _NOT_SAME),
    marked=True,
)
"""Whether two terms have the same meaning in their sentences (Rouhizadeh et al. 2024)."""

DOMAIN = Scale(
    name="domain",
    question="In which texts is this word mostly used?",
    choices=(
        Answer(0, "biomedical", "Biomedical", "b"),
        Answer(1, "general", "General", "g"),
        Answer(2, "ambiguous", "Ambiguous", "a"),
    ),
    parts=("word",),
    noun="word",
)
"""The domain in which a word is mostly used (Chiu et al. 2018)."""

NOT_ASSOCIATED, ASSOCIATED = 0, 1
"""The values of answers on associations."""

ASSOCIATION = Scale(
    name="association",
    question="Are these two associated in a biomedical sense?",
    choices=(
        Answer(ASSOCIATED, "associated", "Associated", "a"),
        Answer(NOT_ASSOCIATED, "not_associated", "Not associated", "n"),
    ),
)
"""Whether two words are associated in a biomedical sense (Chiu et al. 2018)."""

SCALES = {scale.name: scale for scale in (JUDGEMENT, GRADED, CONTEXT, DOMAIN, ASSOCIATION)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A pair or a word in one presentation to one annotator.

    Attributes:
        entry_id: identifier of this presentation to this annotator; it reveals nothing.
        right: empty if the scale has only one text.
    """

    entry_id: str
    left: str
    right: str = ""

    def texts(self, scale: Scale) -> dict[str, str]:
        """Return the texts by columns of sheets."""
        return dict(zip(scale.parts, (self.left, self.right), strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """All entries of one annotator, and the instructions.

    Attributes:
        notice: notice about sharing the sheet; None without one.
        entries: entries in the order for this annotator.
        page_size: number of entries per page; 0 without pages.
    """

    study_id: str
    title: str
    annotator: str
    scale: Scale
    instructions: Sequence[str]
    notice: str | None
    entries: Sequence[Entry]
    page_size: int = 0
