"""The files for an annotator: a page that works offline, a sheet, and tasks."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from medsim.core.tables import guarded
from medsim.pages.markup import asset, document, embedded_json
from medsim.studies.sheets import COMMENT, CONTROL, FORMAT, MARKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.studies.sheets import Scale, Sheet

_HERE = "medsim.studies.sheets"
_BYTE_ORDER_MARK = "\ufeff"  # without it Excel does not read UTF-8


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
        "entries": [[choice.entry_id, *choice.texts(scale).values()] for choice in sheet.entries],
    }
    embedded = f'<script type="application/json" id="sheet">{embedded_json(content)}</script>\n'
    return document(
        "document.html",
        title=f"{sheet.title}: {sheet.annotator}",
        style=asset(_HERE, "annotate.css"),
        body=asset(_HERE, "annotate.html") + embedded,
        scripts=(asset(_HERE, "annotate.js"), asset(_HERE, "annotate_view.js")),
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


def tasks(sheet: Sheet) -> str:
    """Return a sheet as tasks for Label Studio, in JSON, one line per task."""
    shared = {"study": sheet.study_id, "annotator": sheet.annotator}
    records = (
        {"data": {**shared, "entry": entry.entry_id, **entry.texts(sheet.scale)}}
        for entry in sheet.entries
    )
    lines = (json.dumps(task, ensure_ascii=False, separators=(",", ":")) for task in records)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def labelling_config(scale: Scale, instructions: Sequence[str] = ()) -> str:
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
    about, kind = {"name": CONTROL, "toName": scale.parts[0]}, {"choice": "single-radio"}
    choices = ET.SubElement(view, "Choices", about | kind, required="true", showInline="true")
    for choice in scale.choices:
        ET.SubElement(choices, "Choice", value=choice.label, alias=choice.name, hotkey=choice.key)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"
