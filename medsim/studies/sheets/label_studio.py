"""Sheets as tasks for Label Studio, and the annotations that it exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from medsim.core.errors import InputError
from medsim.core.reading import parsed_json
from medsim.studies.sheets.returned import (
    AGAIN,
    Given,
    StudyIdentity,
    check_study,
    quoted,
    read_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from medsim.studies.sheets import Entry, Scale, Sheet

_CONTROL = "answer"


def tasks(sheet: Sheet) -> str:
    """Return a sheet as the tasks that Label Studio imports, in JSON, a line a task."""
    return _listed({"data": _data(sheet, entry)} for entry in sheet.entries)


def annotated_tasks(sheet: Sheet, values: Mapping[str, int]) -> str:
    """Return a sheet as tasks with the answers to it as annotations, to be looked at.

    Label Studio ascribes them to whoever imports them; the annotator stands in the data.

    Args:
        sheet: of one annotator.
        values: entry_id → place in the sheet's scale; entries may be missing.
    """
    return _listed(
        {
            "data": _data(sheet, entry),
            "annotations": _annotations(sheet.scale, values.get(entry.entry_id)),
        }
        for entry in sheet.entries
    )


def labelling_config(scale: Scale, instructions: Sequence[str] = ()) -> str:
    """Return the labelling configuration of a project for such tasks, in XML, with hotkeys.

    Ratings are choices as well: Label Studio's stars have no 0.
    """
    view = ET.Element("View")
    for paragraph in instructions:
        ET.SubElement(view, "Header", value=paragraph, size="5")
    ET.SubElement(view, "Header", value=scale.question, size="4")
    for name in scale.parts:
        ET.SubElement(view, "Text", name=name, value=f"${name}", valueType="text")
    # With two names in toName Label Studio exports no answers (its issue 4699).
    about, kind = {"name": _CONTROL, "toName": scale.parts[0]}, {"choice": "single-radio"}
    choices = ET.SubElement(view, "Choices", about | kind, required="true", showInline="true")
    for one in scale.choices:
        ET.SubElement(choices, "Choice", value=one.label, alias=one.name, hotkey=one.key)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def read_label_studio(path: Path, text: str, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers in an export of Label Studio, either its JSON or its JSON-MIN.

    A task that was skipped has no answer; one that was annotated several times has several. The
    answer is that of the annotator whose task it is, whoever annotated it in Label Studio.
    """
    found = parsed_json(path, text, AGAIN)
    if not isinstance(found, list):
        raise InputError(f"{path} is no list of tasks; export it as JSON or JSON-MIN")
    for number, task in enumerate(found, start=1):
        location = f"{path}: task {number}"
        data = task.get("data", task) if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(data.get("entry"), str):
            raise InputError(f"{location} names no entry; is it of a project with other tasks?")
        check_study(location, data.get("study"), study)
        # JSON-MIN puts the number of Label Studio's user in the annotator's place.
        annotator = None if data is task else _text(location, data, "annotator")
        texts = tuple(_text(location, data, name) for name in study.scale.parts)
        for answer in [data[_CONTROL]] if _CONTROL in data else _answers(location, task):
            if not isinstance(answer, str):
                raise InputError(f"{location} has {quoted(answer)} where one answer should be")
            yield Given(
                location=location,
                entry_id=data["entry"],
                value=read_value(location, answer, study.scale),
                annotator=annotator,
                texts=texts,
            )


def _data(sheet: Sheet, entry: Entry) -> dict[str, str]:
    return {
        "study": sheet.study_id,
        "annotator": sheet.annotator,
        "entry": entry.entry_id,
    } | entry.texts(sheet.scale)


def _annotations(scale: Scale, value: int | None) -> list[dict[str, Any]]:
    if value is None:
        return []
    choice = {"from_name": _CONTROL, "to_name": scale.parts[0], "type": "choices"}
    return [{"result": [{**choice, "value": {"choices": [scale.answers[value]]}}]}]


def _listed(found: Iterable[dict[str, Any]]) -> str:
    lines = (json.dumps(task, ensure_ascii=False, separators=(",", ":")) for task in found)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _answers(location: str, task: dict[str, Any]) -> Iterator[object]:
    """Yield the choices of annotators in a task of the full export."""
    for annotation in _objects(location, task.get("annotations")):
        if annotation.get("was_cancelled"):
            continue
        for result in _objects(location, annotation.get("result")):
            if result.get("from_name") != _CONTROL:
                continue
            value = result.get("value")
            chosen = value.get("choices") if isinstance(value, dict) else None
            yield chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen


def _objects(location: str, found: object) -> list[dict[str, Any]]:
    """Return a list of objects, empty for None."""
    listed = [] if found is None else found
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InputError(f"{location} has annotations that Label Studio would not write")
    return listed


def _text(location: str, data: dict[str, Any], name: str) -> str:
    if not isinstance(data.get(name), str):
        raise InputError(
            f"{location} has {quoted(data.get(name))} for {name!r}, which should be text"
        )
    return str(data[name])
