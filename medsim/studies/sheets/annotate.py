"""The page on which an annotator answers: one file that works offline and sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.pages.offline import asset, document, embedded_json
from medsim.studies.sheets import FORMAT, MARKS

if TYPE_CHECKING:
    from medsim.studies.sheets import Scale, Sheet

_HERE = "medsim.studies.sheets"


def rendered_sheet(sheet: Sheet) -> str:
    """Return the page of a sheet as HTML; the same sheet always gives the same text.

    All that comes from the sheet is in one script element of JSON, and is shown as text alone.
    Answers are kept in the browser, under the study, the annotator and the entries; the page writes
    them to a file and reads such a file again.
    """
    content = {
        "format": FORMAT,
        "study": sheet.study_id,
        "title": sheet.title,
        "annotator": sheet.annotator,
        "scale": _declared(sheet.scale),
        "instructions": list(sheet.instructions),
        "notice": sheet.notice,
        "page_size": sheet.page_size,
        "entries": [
            [entry.entry_id, *entry.texts(sheet.scale).values()] for entry in sheet.entries
        ],
    }
    embedded = f'<script type="application/json" id="sheet">{embedded_json(content)}</script>\n'
    return document(
        title=f"{sheet.title}: {sheet.annotator}",
        style=asset(_HERE, "annotate.css"),
        body=asset(_HERE, "annotate.html") + embedded,
        scripts=(asset(_HERE, "annotate.js"), asset(_HERE, "annotate_view.js")),
    )


def _declared(scale: Scale) -> dict[str, object]:
    return {
        "name": scale.name,
        "question": scale.question,
        "parts": scale.parts,
        "noun": scale.noun,
        "graded": scale.graded,
        "marks": MARKS if scale.marked else None,
        "answers": scale.answers,
        "choices": [[one.name, one.label, one.key] for one in scale.choices],
    }
