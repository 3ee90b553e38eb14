"""Answers that annotators sent back, in any format, checked against the key of the study."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import EmptyFileError, InputError, listed
from medsim.core.reading import Text, is_left_behind, parsed_json, reading
from medsim.core.tables import (
    SEPARATORS,
    below_title,
    cells_of_lines,
    checked_lines,
    number_in,
    read_text,
    table_of,
    unguarded,
)
from medsim.core.workbooks import notes_by_row
from medsim.studies.sheets import ANSWER, COMMENT, Scale

ANSWER_SUFFIXES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")
"""The suffixes of the files that are read from a folder."""

_HOW_TO = (
    f"answers are read from {', '.join(ANSWER_SUFFIXES[:-1])} and {ANSWER_SUFFIXES[-1]} files, so "
    "save another spreadsheet as CSV and unpack an archive"
)
_AGAIN = "export the file again"
_PAGE_AGAIN = "export it again from the page"
_COLUMNS = {"entry_id": pl.String, "value": pl.Int8, COMMENT: pl.String, "seconds": pl.Float64}
_HEAD_LINES = 50  # in which the headings of a sheet are
_ID = re.compile("[0-9a-f]{16}")  # of an entry
_MOST = 40  # wrong cells that a message names
_END = re.compile(r'\{"medsim":"end","answers":([0-9]+),"checksum":"([0-9a-f]{8})"\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyIdentity:
    """The study that answers must belong to."""

    study_id: str
    scale: Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer in a file.

    Attributes:
        location: location in the file, such as "answers.csv: line 12".
        entry_id: the entry that it answers.
        said: the answer in the file; None if there is only a comment.
        value: position of the answer in the scale; None if it has none.
        annotator: annotator according to the file; None if the file has none.
        texts: texts of the entry according to the file, left first; None if the file has none.
        comment: comment of the annotator; empty without one.
        seconds: time that the annotator spent on the entry; None if unknown.
    """

    location: str
    entry_id: str
    said: str | None
    value: int | None
    annotator: str | None = None
    texts: tuple[str, ...] | None = None
    comment: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAnswers:
    """The answers to a study.

    Attributes:
        entries: ``ASSIGNED`` in order of annotator and position, with value, the position of the
            answer in the scale, comment and seconds; null if missing.
        files: name, sha256 and annotator of each file with answers.
    """

    entries: pl.DataFrame
    warnings: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def read_answers(
    paths: Sequence[Path], assignment: pl.DataFrame, study: StudyIdentity
) -> StudyAnswers:
    """Return the answers in files that annotators sent back.

    The content decides the format: the page's JSONL, a filled-in sheet as CSV or in a workbook, or
    Label Studio's JSON. A repeated answer counts once. From a folder, the files with one of
    ``ANSWER_SUFFIXES`` are read, also in its subfolders; others are left out with a warning, and so
    are empty sheets. The assignment has the presentations of all annotators.

    Raises:
        InputError: a file cannot be read or has no answer, is of another study or scale, was edited
            or cut short, or answers an entry that its annotator was not shown; or two answers to
            one entry contradict each other. The message names the file, the line and the value.
    """
    entries = assignment.rows_by_key("entry_id", named=True, unique=True)
    by_entry: dict[str, tuple[GivenAnswer, Path]] = {}
    n_again = Counter[str]()
    files: list[dict[str, str]] = []
    unanswered: list[Path] = []
    notes: list[str] = []
    named, unread = _files(paths)
    faults: list[str] = []
    for path, is_named in named:
        try:
            file_answers = _answers_of(path, is_named, entries, study, notes, files)
        except InputError as error:
            faults.append(str(error))
            continue
        if not file_answers:
            unanswered.append(path)
        for answer in file_answers:
            entry = entries[answer.entry_id]
            earlier, place = by_entry.get(answer.entry_id, (answer, path))
            if earlier is not answer and None not in (earlier.value, answer.value):
                who = f"answers of {entry['annotator']!r}"
                if earlier.value == answer.value:
                    n_again[f"{who} are repeated; each counts once"] += 1
                elif place != path:
                    n_again[f"{who} changed: {path.name} replaces {place.name}"] += 1
                else:
                    raise _contradiction(earlier, answer, entry)
            by_entry[answer.entry_id] = (_joined(earlier, answer, is_later=place != path), path)
        known = [answer for answer, _ in by_entry.values()]
        n_again.update(_kept(path.name, file_answers, known, entries))
    if faults:
        raise InputError("; ".join(faults))
    given = [answer for answer, _ in by_entry.values()]
    if all(answer.value is None for answer in given):
        hint = f"; not read: {_names(unread)}; {_HOW_TO}" if unread else ""
        raise InputError(f"{', '.join(map(str, paths))}: no file there has an answer{hint}")
    rows = [(each.entry_id, each.value, each.comment or None, each.seconds) for each in given]
    table = pl.DataFrame(rows, _COLUMNS, orient="row")
    return StudyAnswers(
        entries=assignment.join(table, on="entry_id", how="left").sort("annotator", "position"),
        warnings=(*notes, *_warnings(unread, unanswered, n_again)),
        files=tuple(files),
    )


def _answers_of(
    path: Path,
    is_named: bool,  # noqa: FBT001 — by the user
    entries: Mapping[str, Any],
    study: StudyIdentity,
    notes: list[str],
    files: list[dict[str, str]],
) -> list[GivenAnswer]:
    """Return the answers in a file, and add its warnings and facts; empty files may be in folders.

    Of a workbook, the sheet is read that has the row with most headings, or most cells of an entry.
    """
    sides = [entry[side] for entry in entries.values() for side in study.scale.sides]
    known = {*study.scale.columns, *entries, *map(str.lower, filter(None, sides))}
    try:
        with reading(path, "answers"):
            text = read_text(path, fits=lambda row: len(known.intersection(map(str.lower, row))))
            answers = _checked(text, entries, study, notes)
    except EmptyFileError:
        if is_named:
            raise
        return []
    notes += text.warnings
    if answers:
        annotator = entries[answers[0].entry_id]["annotator"]
        files.append({"name": path.name, "sha256": text.sha256, "annotator": annotator})
    elif is_named:
        raise InputError(f"{path} has no answers")
    return answers


def _contradiction(
    earlier: GivenAnswer, answer: GivenAnswer, entry: Mapping[str, Any]
) -> InputError:
    """Return the error for two answers in a file."""
    shown = " and ".join(repr(entry[side]) for side in ("left", "right") if entry[side])
    said = " and ".join(f"{each.said!r} at {each.location}" for each in (earlier, answer))
    named = f"contradictory answers of {entry['annotator']!r} to {shown}"
    return InputError(f"{named}: {said}; leave one out")


def _kept(
    file: str,
    given: Sequence[GivenAnswer],
    known: Sequence[GivenAnswer],
    entries: Mapping[str, Any],
) -> Iterator[str]:
    """Yield a warning for each known answer that a later file of the same person lacks."""
    people = {entries[answer.entry_id]["annotator"] for answer in given}
    answered = {answer.entry_id for answer in given if answer.value is not None}
    for answer in known:
        name = entries[answer.entry_id]["annotator"]
        if name in people and answer.entry_id not in answered and answer.value is not None:
            yield f"answers of {name!r} are kept although {file} has none"


def _joined(earlier: GivenAnswer, answer: GivenAnswer, *, is_later: bool) -> GivenAnswer:
    """Return the later of two answers to an entry.

    It has the comments of both, or only its own one if it has one and is of a later file.
    """
    comments = dict.fromkeys(filter(None, (earlier.comment, answer.comment)))
    if is_later and answer.comment:
        comments = {answer.comment: None}
    last = earlier if answer.value is None else answer
    seconds = earlier.seconds if last.seconds is None else last.seconds
    return replace(last, comment="; ".join(comments), seconds=seconds)


def _files(paths: Sequence[Path]) -> tuple[list[tuple[Path, bool]], list[Path]]:
    """Return files, each with whether the user named it, and unread files of folders.

    A later file of an annotator replaces an earlier one: files of a folder are in order of their
    last change.

    Raises:
        InputError: a folder has no readable file.
    """
    files: list[tuple[Path, bool]] = []
    unread: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append((path, True))
            continue
        candidates = [
            file
            for file in sorted(path.rglob("*"))
            if not file.is_dir() and not any(map(is_left_behind, file.relative_to(path).parts))
        ]
        readable = [file for file in candidates if file.suffix.lower() in ANSWER_SUFFIXES]
        others = [file for file in candidates if file not in readable]
        if not readable:
            content = f"only {_names(others)}" if others else "no file"
            raise InputError(f"{path} has {content}; {_HOW_TO}")
        latest_last = sorted(readable, key=lambda file: (file.stat().st_mtime_ns, file))
        files += [(file, False) for file in latest_last]
        unread += others
    return files, unread


def _names(paths: Sequence[Path]) -> str:
    return listed([path.name for path in paths], most=40)


def _checked(
    file: Text, entries: Mapping[str, Any], study: StudyIdentity, notes: list[str]
) -> list[GivenAnswer]:
    """Return the answers in a file, checked against the entries that were shown.

    The first character of a file decides its format. Warnings are added to the notes.
    """
    begin = file.content.lstrip()[:1]
    if begin in {"{", "["}:
        reader = read_jsonl if begin == "{" else read_label_studio
        answers = list(reader(file.path, file.content, study))
    else:
        shown = {entry[side] for entry in entries.values() for side in study.scale.sides} - {""}
        answers = list(read_csv(file, study, notes, shown))
    named = [answer.entry_id for answer in answers if answer.entry_id]
    if named and not any(entry_id in entries for entry_id in named):
        raise InputError(
            f"{file.path} is of another study: none of its entries, such as {named[0]!r}, is of "
            f"study {study.study_id!r}"
        )
    faults = [
        f"{answer.location}: {fault}"
        for answer in answers
        if (fault := _fault(answer, entries.get(answer.entry_id), study.scale))
    ]
    if faults:
        others = [fault.removeprefix(f"{file.path}: ") for fault in faults[1:_MOST]]
        raise InputError("; ".join([faults[0], *others]))
    return answers


def _fault(answer: GivenAnswer, entry: Mapping[str, Any] | None, scale: Scale) -> str:
    """Return what is wrong with an answer; empty if nothing is."""
    named = f"entry {answer.entry_id!r}"
    if not answer.entry_id:
        return f"it has {answer.said or answer.comment!r} and no entry"
    if entry is None:
        return f"{named} is not of this study"
    if answer.annotator not in (None, entry["annotator"]):
        return f"{named} is of {entry['annotator']!r}, and the file says {answer.annotator!r}"
    if answer.value is None and answer.said is not None:
        return f"answer {answer.said!r} is not one of {', '.join(scale.allowed)}"
    # Spreadsheets change white space and line ends, and write ? for what Windows-1252 lacks.
    for text, side in zip(answer.texts or (), scale.sides, strict=False):
        reduced = entry[side].encode("cp1252", "replace").decode("cp1252")
        if text.split() not in (entry[side].split(), reduced.split()):
            return f"{named} was edited: it shows {entry[side]!r}, and the file has {text!r}"
    return ""


def _warnings(
    unread: Sequence[Path], unanswered: Sequence[Path], n_again: Mapping[str, int]
) -> Iterator[str]:
    if unread:
        yield f"not read: {_names(unread)}; {_HOW_TO}"
    if unanswered:
        yield f"no answers in {', '.join(path.name for path in unanswered)}; left out"
    for said, count in sorted(n_again.items()):
        yield f"{count:,} {said}"


def read_jsonl(path: Path, text: str, study: StudyIdentity) -> Iterator[GivenAnswer]:
    """Yield the answers that a page exported; the last line has a checksum of the others."""
    content = text.replace("\r\n", "\n").rstrip()  # mail may change line ends
    begin = content.rfind("\n") + 1  # of the last line
    lines = list(checked_lines(path, content[:begin].split("\n")[:-1]))
    end, checksum = _END.fullmatch(content[begin:]), f"{zlib.crc32(content[:begin].encode()):08x}"
    if end is None or end.groups() != (str(len(lines) - 1), checksum):
        raise InputError(f"{path} was edited, damaged or cut short; {_PAGE_AGAIN}")
    head = parsed_json(f"{path}: line 1", lines[0], _PAGE_AGAIN)
    _check_study(str(path), head["study"], study)
    for number, line in enumerate(lines[1:], start=2):
        location = f"{path}: line {number}"
        record = parsed_json(location, line, _PAGE_AGAIN)
        said = None if ANSWER not in record and COMMENT in record else str(record[ANSWER])
        yield GivenAnswer(
            location=location,
            entry_id=record["entry"],
            said=said,
            value=study.scale.value_of(said or ""),
            annotator=head["annotator"],
            comment=_tidy(str(record.get(COMMENT, ""))),
            seconds=number_in(str(record.get("seconds", ""))),
        )


def read_csv(
    text: Text, study: StudyIdentity, notes: list[str], shown: Collection[str] = ()
) -> Iterator[GivenAnswer]:
    """Yield the answers of a filled-in sheet, as any spreadsheet may save it.

    Columns may be in any order, and other columns are ignored; if they are in their places, their
    headings may be in any language, or be missing. The column comment may be absent. Notes on cells
    of a workbook are comments. Rows without an entry, without a text of the study and without a
    known answer, such as totals, are left out and noted.
    """
    n_columns = len(study.scale.columns)
    text, n_added = _with_headings(text, study.scale)
    notes_on = notes_by_row(text.path, text.sheet) if text.sheet else {}
    table = table_of(text, study.scale.columns, (COMMENT,), filled_in=True)
    table = replace(table, at=table.at - n_added)
    for (line, row), at in zip(table.rows(), table.at, strict=True):
        entry_id, *texts, answer = map(unguarded, row[:n_columns])
        entry_id, answer = entry_id.strip(), answer.strip()
        comment = "; ".join(filter(None, (_tidy(*row[n_columns:]), notes_on.get(at))))
        if not (given := answer or comment):
            continue
        value = study.scale.value_of(answer)
        is_entry = _ID.fullmatch(entry_id) or not {*texts}.isdisjoint(shown)
        if not is_entry and (value is None or not all(map(str.strip, texts))):
            said = " ".join(filter(None, (entry_id, *texts, given)))
            notes.append(f"{text.path.name}: {line} ({said!r}) has no entry; left out")
            continue
        yield GivenAnswer(
            location=f"{text.path}: {line}",
            entry_id=entry_id,
            said=answer or None,
            value=value,
            texts=tuple(texts),
            comment=comment,
        )


def _with_headings(text: Text, scale: Scale) -> tuple[Text, int]:
    """Return a sheet whose first row has the names of columns, and the number of added lines.

    The headings are the row with these names, or else the row above the first entry, in any
    language. If the first row is an entry, a line with the names is added above it.
    """
    for sign in text.separator or SEPARATORS.values():
        with suppress(InputError):  # a title need not have cells
            above = 0
            for number, cells in islice(cells_of_lines(text, sign), _HEAD_LINES):
                if {*scale.columns} <= {cell.strip().lower() for cell in cells}:
                    return below_title(text, number), 0
                if _ID.fullmatch(unguarded(cells[0].strip())):
                    names = [*scale.columns, COMMENT][: len(scale.columns) + scale.commented]
                    header = sign.join(names[: len(cells)]) + "\n"
                    if not above:
                        return replace(text, content=header + text.content), 1
                    titled = below_title(text, above)
                    lines = titled.content.splitlines(keepends=True)
                    lines[above - 1] = header
                    return replace(titled, content="".join(lines)), 0
                above = number
    return text, 0


def read_label_studio(path: Path, text: str, study: StudyIdentity) -> Iterator[GivenAnswer]:
    """Yield the answers in an export of Label Studio, either its JSON or its JSON-MIN.

    A skipped task has no answer; a task annotated several times has several. Answers belong to the
    annotator of the task, whoever annotated it in Label Studio.
    """
    tasks = parsed_json(path, text, _AGAIN)
    if not isinstance(tasks, list):
        raise InputError(f"{path} is not a list of tasks; export it as JSON or JSON-MIN")
    for number, task in enumerate(tasks, start=1):
        location = f"{path}: task {number}"
        data = task.get("data", task) if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(data.get("entry"), str):
            raise InputError(f"{location} names no entry; is it from a project with other tasks?")
        _check_study(location, data.get("study"), study)
        # JSON-MIN puts the number of Label Studio's user in the annotator's place.
        annotator = None if data is task else data.get("annotator")
        try:
            texts = tuple(_text(data[name]) for name in study.scale.parts)
            for answer in [data[ANSWER]] if ANSWER in data else _answers(task):
                yield GivenAnswer(
                    location=location,
                    entry_id=data["entry"],
                    said=_text(answer),
                    value=study.scale.value_of(_text(answer)),
                    annotator=annotator,
                    texts=texts,
                )
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{location} is not in Label Studio's format, with one answer per annotation; "
                f"{_AGAIN}"
            ) from error


def _answers(task: dict[str, Any]) -> list[object]:
    """Return the choices of annotators in a task of the full export."""
    return [
        only
        for annotation in task.get("annotations") or []
        if not annotation.get("was_cancelled")
        for result in annotation.get("result") or []
        if result.get("from_name") == ANSWER
        for (only,) in [result["value"]["choices"]]
    ]


def _tidy(comment: str = "") -> str:
    return " ".join(comment.split())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _check_study(location: str, study_id: object, study: StudyIdentity) -> None:
    """Raise InputError if an answer is of another study."""
    if study_id != study.study_id:
        raise InputError(f"{location} is of study {study_id!r}, not of {study.study_id!r}")
