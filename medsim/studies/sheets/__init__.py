"""Sheets that annotators see: the scales of answers, and a page, a table and tasks to fill in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import OptionError
from medsim.core.tables import guarded
from medsim.core.workbooks import write_workbook
from medsim.pages.markup import asset, document, embedded_json

FORMAT = 1
"""Version of the format of sheets and answers."""

ANSWER = "answer"
"""The name of the choice in Label Studio, and the column of answers."""

COMMENT = "comment"
"""The column of comments, which annotators may leave out."""

MARKS = ("\u27e6", "\u27e7")
"""The signs around the target of a sentence; they do not occur in the sentence itself."""


_RATING = re.compile(r"([0-9]+)[.,]0+", re.ASCII)
_INSIGNIFICANT = re.compile("[\\s_.'\u2018\u2019\u02bc`\u00b4\\-\u2010-\u2015\u2212]+")
_UNANSWERED_KEY = "u"  # of the page

SHEET_LANGUAGES = toml_of(__package__, "languages.toml")
"""The texts of studies by language."""


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
        shown: the columns of items with these texts.
        noun: noun for an entry in sentences.
        graded: whether answers are ratings, which are numbers in files.
        marked: whether texts are sentences with a target between ``MARKS``.
        commented: whether annotators may comment on their answers.
        language: language of the texts, of ``SHEET_LANGUAGES``.
    """

    name: str
    question: str
    choices: Sequence[Answer]
    instructions: str
    parts: Sequence[str] = ("left", "right")
    shown: Sequence[str] = ("term1", "term2")
    noun: str = "pair"
    graded: bool = False
    marked: bool = False
    commented: bool = False
    language: str = "en"

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

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns of ``ASSIGNED`` with the texts of an entry."""
        return ("left", "right")[: len(self.parts)]

    @property
    def allowed(self) -> tuple[str, ...]:
        """The words for the answers, as people write them, in the order in which they are shown."""
        return tuple(choice.label.lower() for choice in self.choices)

    def value_of(self, answer: str) -> int | None:
        """Return the value of an answer that a person may have typed; None for no answer.

        Letter case, spaces, dashes, apostrophes and full stops do not matter, except in ratings. An
        answer's label, key or variant is accepted too, such as "n" or "Not the same" for not_same,
        and "4.0" for 4.
        """
        text = answer.strip()
        if self.graded:
            text = rating[1] if (rating := _RATING.fullmatch(text)) else text
        else:
            text = _plain(text)
        for choice in self.choices:
            if text in map(_plain, (choice.name, choice.key, choice.label, *choice.variants)):
                return choice.value
        return None

    def worded(self, words: Sequence[str]) -> Scale:
        """Return the scale with other words for its answers, and texts in their language.

        Raises:
            OptionError: there is not one word for each answer, or a word means another answer.
        """
        wanted = f"`answer_words` are the words for {', '.join(self.allowed)}, in this order"
        if len(words) != len(self):
            raise OptionError(f"{wanted}; there are {len(words)}")
        choices: list[Answer] = []
        keys = [_UNANSWERED_KEY]
        for choice, given in zip(self.choices, words, strict=True):
            free = [sign for sign in given.lower() if sign.isalpha() and sign not in keys]
            keys.append(next(iter(free), str(len(keys))))
            plain = _plain(given)
            if self.value_of(given) not in {None, choice.value} or not plain or "," in given:
                raise OptionError(f"{wanted}; {given!r} cannot be the word for {choice.label}")
            label = given[:1].upper() + given[1:]
            choices.append(replace(choice, label=label, key=keys[-1]))
        if len({_plain(choice.label) for choice in choices}) < len(self):
            raise OptionError(f"{wanted}; a word is given twice")
        given_words = {choice.label.lower() for choice in choices}
        known = [name for name, texts in SHEET_LANGUAGES.items() if given_words & {*texts["words"]}]
        language = next(iter(known), self.language)
        texts = SHEET_LANGUAGES[language]["scale"]
        return replace(self, choices=choices, language=language, **texts)

    def asking(self, question: str | None, words: Sequence[str] | None) -> Scale:
        """Return the scale with another question and other words, if given; see ``worded``."""
        worded = self.worded(words) if words else self
        return replace(worded, question=question or worded.question)


def _plain(text: str) -> str:
    return _INSIGNIFICANT.sub("", text.lower())


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
class Sheet:
    """All entries of one annotator, and the instructions.

    Attributes:
        notice: notice about sharing the sheet; None without one.
        entries: ``ASSIGNED`` of this annotator, in order of position.
        page_size: number of entries per page; 0 without pages.
    """

    study_id: str
    title: str
    annotator: str
    scale: Scale
    instructions: Sequence[str]
    notice: str | None
    entries: pl.DataFrame
    page_size: int = 0

    @property
    def texts(self) -> pl.DataFrame:
        """The identifiers and texts of the entries, with the columns of sheets."""
        names = zip(self.scale.columns, ("entry_id", *self.scale.sides), strict=False)
        return self.entries.select(**dict(names))


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
        "language": scale.language,
        "texts": SHEET_LANGUAGES[scale.language]["page"],
        "study": sheet.study_id,
        "title": sheet.title,
        "annotator": sheet.annotator,
        "scale": declared,
        "instructions": list(sheet.instructions),
        "notice": sheet.notice,
        "page_size": sheet.page_size,
        "entries": sheet.texts.rows(),
    }
    embedded = f'<script type="application/json" id="sheet">{embedded_json(content)}</script>\n'
    return document(
        "document.html",
        language=scale.language,
        title=f"{sheet.title}: {sheet.annotator}",
        style=asset(__name__, "annotate.css"),
        body=asset(__name__, "annotate.html") + embedded,
        scripts=(asset(__name__, "annotate.js"), asset(__name__, "annotate_view.js")),
    )


def table_to_fill_in(sheet: Sheet) -> pl.DataFrame:
    """Return a sheet as a table with empty columns of answers and, if the scale has them, comments.

    The last column has the answers that are allowed.
    """
    empty = (ANSWER, COMMENT) if sheet.scale.commented else (ANSWER,)
    allowed = pl.lit(", ".join(sheet.scale.allowed))
    return sheet.texts.with_columns(**dict.fromkeys(empty, pl.lit("")), allowed=allowed)


def written_csv(sheet: Sheet) -> str:
    """Return a sheet as CSV, see ``table_to_fill_in``.

    It begins with a byte order mark, and lines end with CR LF (RFC 4180). A cell that a spreadsheet
    would read as a formula, a number or a date begins with an apostrophe.
    """
    table = table_to_fill_in(sheet).with_columns(pl.col(pl.String).replace("", None))
    texts = pl.col(sheet.texts.columns).map_elements(guarded, pl.String)
    return table.with_columns(texts).write_csv(include_bom=True, line_terminator="\r\n")


def write_sheet(sheet: Sheet, path: Path) -> int:
    """Write a sheet as a workbook that offers the allowed answers; return the number of entries."""
    write_workbook(path, {"answers": table_to_fill_in(sheet)}, {ANSWER: sheet.scale.allowed})
    return sheet.entries.height


def label_studio_tasks(sheet: Sheet) -> str:
    """Return a sheet as tasks for Label Studio, in JSON, one line per task."""
    shared = {"study": sheet.study_id, "annotator": sheet.annotator}
    tasks = ({"data": shared | texts} for texts in sheet.texts.iter_rows(named=True))
    lines = (json.dumps(task, ensure_ascii=False, separators=(",", ":")) for task in tasks)
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
