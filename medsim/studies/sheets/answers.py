"""Answers that annotators sent back, in any format, checked against the key of the study."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError, listed
from medsim.core.reading import Text, is_left_behind, parsed_json, reading
from medsim.core.tables import checked_lines, read_text, table_of, unguarded
from medsim.studies.sheets import ANSWER, COMMENT, Scale

ANSWER_SUFFIXES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")
"""The suffixes of the files that are read from a folder."""

_HOW_TO = (
    f"answers are read from {', '.join(ANSWER_SUFFIXES[:-1])} and {ANSWER_SUFFIXES[-1]} files, so "
    "save another spreadsheet as CSV and unpack an archive"
)
_AGAIN = "export the file again"
_PAGE_AGAIN = "export it again from the page"
_RATING = re.compile(r"([0-9]+)[.,]0+", re.ASCII)
_INSIGNIFICANT = re.compile("[\\s_.'\u2018\u2019\u02bc`\u00b4\\-\u2010-\u2015\u2212]+")
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
        value: position of the answer in the scale; None if there is only a comment.
        annotator: annotator according to the file; None if the file has none.
        texts: texts of the entry according to the file, left first; None if the file has none.
        comment: comment of the annotator; empty without one.
    """

    location: str
    entry_id: str
    value: int | None
    annotator: str | None = None
    texts: tuple[str, ...] | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAnswers:
    """The answers to a study.

    Attributes:
        entries: ``ASSIGNED`` in order of annotator and position, with value, the position of the
            answer in the scale, and comment; null if missing.
        files: name and sha256 of each file with answers.
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
    by_entry: dict[str, GivenAnswer] = {}
    n_repeated: Counter[str] = Counter()
    files: list[dict[str, str]] = []
    unanswered: list[Path] = []
    notes: list[str] = []
    named, unread = _files(paths)
    first = study.scale.columns[0]
    for path, is_named in named:
        with reading(path, "answers"):
            text = read_text(path, guess=False, fits=lambda cells: first in map(str.lower, cells))
            file_answers = _checked(text, entries, study)
        notes += text.warnings
        if file_answers:
            files.append({"name": path.name, "sha256": text.sha256})
        elif is_named:
            raise InputError(f"{path} has no answers")
        else:
            unanswered.append(path)
        for answer in file_answers:
            entry, earlier = entries[answer.entry_id], by_entry.get(answer.entry_id)
            if earlier is not None and None not in (earlier.value, answer.value):
                n_repeated[entry["annotator"]] += 1
            by_entry[answer.entry_id] = _joined(earlier, answer, entry, study.scale)
    if all(answer.value is None for answer in by_entry.values()):
        hint = f"; not read: {_names(unread)}; {_HOW_TO}" if unread else ""
        raise InputError(f"{', '.join(map(str, paths))}: no file there has an answer{hint}")
    rows = [(name, answer.value, answer.comment or None) for name, answer in by_entry.items()]
    columns = {"entry_id": pl.String, "value": pl.Int8, COMMENT: pl.String}
    given = pl.DataFrame(rows, columns, orient="row")
    return StudyAnswers(
        entries=assignment.join(given, on="entry_id", how="left").sort("annotator", "position"),
        warnings=(*notes, *_warnings(unread, unanswered, n_repeated)),
        files=tuple(files),
    )


def _joined(
    earlier: GivenAnswer | None, answer: GivenAnswer, entry: dict[str, Any], scale: Scale
) -> GivenAnswer:
    """Return one of two answers to an entry, with the comments of both.

    Raises:
        InputError: they contradict each other.
    """
    if earlier is None:
        return answer
    comments = "; ".join(dict.fromkeys(filter(None, (earlier.comment, answer.comment))))
    if earlier.value is None or answer.value is None or earlier.value == answer.value:
        return replace(answer if earlier.value is None else earlier, comment=comments)
    shown = " and ".join(repr(entry[side]) for side in ("left", "right") if entry[side])
    raise InputError(
        f"contradictory answers of {entry['annotator']!r} to {shown}: "
        f"{scale.answers[earlier.value]} at {earlier.location}, "
        f"{scale.answers[answer.value]} at {answer.location}; leave one out"
    )


def _files(paths: Sequence[Path]) -> tuple[list[tuple[Path, bool]], list[Path]]:
    """Return files, each with whether the user named it, and unread files of folders.

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
        files += [(file, False) for file in readable]
        unread += others
    return files, unread


def _names(paths: Sequence[Path]) -> str:
    return listed([path.name for path in paths], most=40)


def _checked(file: Text, entries: dict[str, Any], study: StudyIdentity) -> list[GivenAnswer]:
    """Return the answers in a file, checked against the entries that were shown.

    The first character of a file decides its format.
    """
    begin = file.content.lstrip()[:1]
    if begin in {"{", "["}:
        reader = read_jsonl if begin == "{" else read_label_studio
        answers = list(reader(file.path, file.content, study))
    else:
        answers = list(read_csv(file, study))
    if answers and not any(answer.entry_id in entries for answer in answers):
        raise InputError(
            f"{file.path} is of another study: none of its entries, such as "
            f"{answers[0].entry_id!r}, is of study {study.study_id!r}"
        )
    for answer in answers:
        named, entry = f"entry {answer.entry_id!r}", entries.get(answer.entry_id)
        if entry is None:
            raise InputError(f"{answer.location}: {named} is not of this study")
        if answer.annotator not in (None, entry["annotator"]):
            raise InputError(
                f"{answer.location}: {named} is of annotator {entry['annotator']!r}, and "
                f"the file says {answer.annotator!r}"
            )
        # A word has one text. Spreadsheets change white space and line ends.
        shown = (entry["left"], entry["right"])
        for text, expected in zip(answer.texts or (), shown, strict=False):
            if text.split() != expected.split():
                raise InputError(
                    f"{answer.location} was edited: {named} shows {expected!r}, and the "
                    f"file has {text!r}"
                )
    return answers


def _warnings(
    unread: Sequence[Path], unanswered: Sequence[Path], n_repeated: Counter[str]
) -> Iterator[str]:
    if unread:
        yield f"not read: {_names(unread)}; {_HOW_TO}"
    if unanswered:
        yield f"no answers in {', '.join(path.name for path in unanswered)}; left out"
    for annotator, count in sorted(n_repeated.items()):
        yield f"{count:,} answers of {annotator!r} are repeated; each counts once"


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
        is_comment = ANSWER not in record and COMMENT in record
        yield GivenAnswer(
            location=location,
            entry_id=record["entry"],
            value=None if is_comment else _read_value(location, str(record[ANSWER]), study.scale),
            annotator=head["annotator"],
            comment=_tidy(str(record.get(COMMENT, ""))),
        )


def read_csv(text: Text, study: StudyIdentity) -> Iterator[GivenAnswer]:
    """Yield the answers of a filled-in sheet, as any spreadsheet may save it.

    Columns may be in any order, and other columns are ignored. The column comment may be absent.
    """
    table = table_of(text, study.scale.columns, (COMMENT,), filled_in=True)
    for line, row in table.rows():
        entry_id, *texts, answer = map(unguarded, row[: len(study.scale.columns)])
        comment, location = _tidy(*row[len(study.scale.columns) :]), f"{text.path}: {line}"
        if not (given := answer.strip() or comment):
            continue
        if not entry_id.strip():
            raise InputError(f"{location} has {given!r} and no entry")
        yield GivenAnswer(
            location=location,
            entry_id=entry_id.strip(),
            value=_read_value(location, answer, study.scale) if answer.strip() else None,
            texts=tuple(texts),
            comment=comment,
        )


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
                    value=_read_value(location, _text(answer), study.scale),
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


def _read_value(location: str, answer: str, scale: Scale) -> int:
    """Return the value of an answer that a person may have typed.

    Letter case, spaces, dashes, apostrophes and full stops do not matter, except in ratings. An
    answer's label, key or variant is accepted too, such as "n" or "Not the same" for not_same, and
    "4.0" for 4.
    """
    text = answer.strip()
    if scale.graded:
        text = rating[1] if (rating := _RATING.fullmatch(text)) else text
    else:
        text = _plain(text)
    for choice in scale.choices:
        names = (choice.name, choice.key, choice.label, *choice.variants)
        if text in map(_plain, names):
            return choice.value
    raise InputError(f"{location}: answer {answer!r} is not one of {', '.join(scale.answers)}")


def _plain(text: str) -> str:
    return _INSIGNIFICANT.sub("", text.lower())
