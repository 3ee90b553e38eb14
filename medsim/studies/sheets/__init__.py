"""Sheets that annotators see: the scales of answers, and a page, a table and tasks to fill in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from medsim.core.data import toml_of
from medsim.core.tables import guarded
from medsim.pages.markup import asset, document, embedded_json

FORMAT = 1
"""Version of the format of sheets and answers."""

ANSWER = "answer"
"""The name of the choice in Label Studio, and the column of answers."""

COMMENT = "comment"
"""The column of comments, which annotators may leave out."""

MARKS = ("\u27e6", "\u27e7")
"""The signs around the target of a sentence; they do not occur in the sentence itself."""


_BYTE_ORDER_MARK = "\ufeff"  # without it Excel does not read UTF-8


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
    variants: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The question of a study, the possible answers, and the texts of its items.

    Attributes:
        question: shown above every entry.
        choices: the answers in the order in which they are shown.
        instructions: paragraphs for annotators by default, separated by empty lines.
        parts: the columns of sheets with an entry's texts: one for a word, two for a pair.
        noun: noun for an entry in sentences.
        graded: whether answers are ratings, which are numbers in files.
        marked: whether texts are sentences with a target between ``MARKS``.
        commented: whether annotators may comment on their answers.
    """

    name: str
    question: str
    choices: Sequence[Answer]
    instructions: str
    parts: Sequence[str] = ("left", "right")
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
        return ("entry", *self.parts, ANSWER)


NOT_SAME, SAME, DONT_KNOW = 0, 1, 2
"""The values of judgements."""

NOT_ASSOCIATED, ASSOCIATED = 0, 1
"""The values of answers on associations."""

_DECLARED = toml_of(__package__, "scales.toml")

SCALES = {
    name: Scale(name=name, **facts | {"choices": [Answer(*choice) for choice in facts["choices"]]})
    for name, facts in _DECLARED.items()
}
"""The scales of studies by name."""

JUDGEMENT, GRADED, CONTEXT, DOMAIN, ASSOCIATION = SCALES.values()


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


def rendered_sheet(sheet: Sheet) -> str:
    """Return the page of a sheet as HTML; the same sheet always gives the same text.

    All data of the sheet is in one JSON script element, and is shown only as text. The browser
    stores answers by study, annotator and entries; the page can export them to a file and import
    it again.
    """
    scale = sheet.scale
    declared = {
        "name": scale.name,
        "question": scale.question,
        "parts": scale.parts,
        "noun": scale.noun,
        "graded": scale.graded,
        "marks": MARKS if scale.marked else None,
        "commented": scale.commented,
        "answers": scale.answers,
        "choices": [[choice.name, choice.label, choice.key] for choice in scale.choices],
    }
    content = {
        "format": FORMAT,
        "study": sheet.study_id,
        "title": sheet.title,
        "annotator": sheet.annotator,
        "scale": declared,
        "instructions": list(sheet.instructions),
        "notice": sheet.notice,
        "page_size": sheet.page_size,
        "entries": [[entry.entry_id, *entry.texts(scale).values()] for entry in sheet.entries],
    }
    embedded = f'<script type="application/json" id="sheet">{embedded_json(content)}</script>\n'
    return document(
        "document.html",
        title=f"{sheet.title}: {sheet.annotator}",
        style=asset(__name__, "annotate.css"),
        body=asset(__name__, "annotate.html") + embedded,
        scripts=(asset(__name__, "annotate.js"), asset(__name__, "annotate_view.js")),
    )


def written_csv(sheet: Sheet) -> str:
    """Return a sheet as CSV with columns of answers and, if the scale has them, comments.

    It begins with a byte order mark, and lines end with CR LF (RFC 4180). A cell that a spreadsheet
    would read as a formula, a number or a date begins with an apostrophe.
    """
    text = io.StringIO()
    text.write(_BYTE_ORDER_MARK)
    writer = csv.writer(text)
    others = (COMMENT,) if sheet.scale.commented else ()
    writer.writerow(sheet.scale.columns + others)
    for entry in sheet.entries:
        texts = entry.texts(sheet.scale).values()
        writer.writerow([*map(guarded, (entry.entry_id, *texts)), "", *("" for _ in others)])
    return text.getvalue()


def label_studio_tasks(sheet: Sheet) -> str:
    """Return a sheet as tasks for Label Studio, in JSON, one line per task."""
    shared = {"study": sheet.study_id, "annotator": sheet.annotator}
    records = (
        {"data": {**shared, "entry": entry.entry_id, **entry.texts(sheet.scale)}}
        for entry in sheet.entries
    )
    lines = (json.dumps(task, ensure_ascii=False, separators=(",", ":")) for task in records)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def label_studio_config(scale: Scale, instructions: Sequence[str] = ()) -> str:
    """Return the labelling configuration for such tasks as XML, with hotkeys.

    Ratings are choices too, since Label Studio's stars have no 0.
    """
    view = ET.Element("View")
    for paragraph in instructions:
        ET.SubElement(view, "Header", value=paragraph, size="5")
    ET.SubElement(view, "Header", value=scale.question, size="4")
    for name in scale.parts:
        ET.SubElement(view, "Text", name=name, value=f"${name}", valueType="text")
    # With two names in toName Label Studio exports no answers (issue 4699).
    about, kind = {"name": ANSWER, "toName": scale.parts[0]}, {"choice": "single-radio"}
    choices = ET.SubElement(view, "Choices", about | kind, required="true", showInline="true")
    for choice in scale.choices:
        ET.SubElement(choices, "Choice", value=choice.label, alias=choice.name, hotkey=choice.key)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"
