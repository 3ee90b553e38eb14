"""Answers that annotators sent back, in any format, checked against the key of the study."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, listed
from medsim.core.reading import is_left_behind, parsed_json, reading
from medsim.core.tables import checked_lines, read_text, table_of, unguarded
from medsim.studies.output import ANSWER_COLUMNS
from medsim.studies.sheets import CONTROL, FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from medsim.core.tables import Text
    from medsim.studies.sheets import Scale

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")
"""The suffixes of the files that are read from a folder."""

_HOW_TO = (
    f"answers are read from {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files, so save a "
    "spreadsheet as CSV and unpack an archive"
)
_AGAIN = "export the file again"
_PAGE_AGAIN = "export it again from the page"
_RATING = re.compile(r"([0-9]+)[.,]0+", re.ASCII)
_END = re.compile(r'\{"medsim":"end","answers":([0-9]+),"checksum":"([0-9a-f]{8})"\}')


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyIdentity:
    """The study that answers must belong to."""

    study_id: str
    scale: Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer in a file.

    Attributes:
        location: such as "answers.csv: line 12".
        entry_id: the entry that it answers.
        value: its place in the scale.
        annotator: according to the file; None if it does not say.
        texts: shown to the annotator according to the file, left first; None if it has none.
    """

    location: str
    entry_id: str
    value: int
    annotator: str | None = None
    texts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to a study.

    Attributes:
        frame: ``ANSWER_COLUMNS``, in order of annotator and position.
        missing: a row per annotator who answered anything: annotator, n_entries, n_answered,
            n_missing.
        absent: the annotators without any answer, in order of name.
        files: name and sha256 of each file that has answers.
    """

    frame: pl.DataFrame
    missing: pl.DataFrame
    warnings: tuple[str, ...]
    absent: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def read_answers(paths: Sequence[Path], assignment: pl.DataFrame, study: StudyIdentity) -> Answers:
    """Return the answers in files that annotators sent back.

    The content decides the format: the page's JSONL, a filled-in CSV sheet, or Label Studio's JSON.
    A repeated answer counts once. From a folder, the files with one of ``SUFFIXES`` are read, also
    in its subfolders; others are left out with a warning, and so are empty sheets. The assignment
    has the presentations of all annotators.

    Raises:
        InputError: a file cannot be read or has no answer, is of another study or scale, was edited
            or cut short, or answers an entry that its annotator was not shown; or two answers to
            one entry contradict each other. The message names the file, the line and the value.
    """
    entries = assignment.rows_by_key("entry_id", named=True, unique=True)
    kept: dict[str, Given] = {}
    n_repeated: Counter[str] = Counter()
    files: list[dict[str, str]] = []
    unanswered: list[Path] = []
    named, unread = _files(paths)
    for path, is_named in named:
        with reading(path, "answers"):
            text = read_text(path, guess=False)
            found = _checked(text, entries, study)
        if found:
            files.append({"name": path.name, "sha256": text.sha256})
        elif is_named:
            raise InputError(f"{path} has no answers")
        else:
            unanswered.append(path)
        for given in found:
            earlier = kept.setdefault(given.entry_id, given)
            if earlier is given:
                continue
            entry, answers = entries[given.entry_id], study.scale.answers
            if earlier.value != given.value:
                shown = " and ".join(
                    _quoted(entry[side]) for side in ("left", "right") if entry[side]
                )
                raise InputError(
                    f"contradictory answers of {_quoted(entry['annotator'])} to {shown}: "
                    f"{answers[earlier.value]} at {earlier.location}, "
                    f"{answers[given.value]} at {given.location}; leave one out"
                )
            n_repeated[entry["annotator"]] += 1
    if unanswered and not kept:
        hint = f"; not read: {_names(unread)}; {_HOW_TO}" if unread else ""
        raise InputError(f"{', '.join(map(str, paths))}: no file there has an answer{hint}")
    frame, missing = _frames(kept, assignment)
    return Answers(
        frame=frame,
        missing=missing,
        warnings=tuple(_warnings(unread, unanswered, missing, n_repeated, study.scale.noun)),
        absent=tuple(sorted({*assignment["annotator"]} - {*missing["annotator"]})),
        files=tuple(files),
    )


def _frames(kept: dict[str, Given], assignment: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the answers to keep, and the number of missing ones by annotator."""
    rows = [(entry_id, given.value) for entry_id, given in kept.items()]
    values = pl.DataFrame(rows, {"entry_id": pl.String, "value": pl.Int8}, orient="row")
    joined = assignment.join(values, on="entry_id").sort("annotator", "position")
    frame = joined.select(*ANSWER_COLUMNS).cast(pl.Schema(ANSWER_COLUMNS))
    n_entries, n_answered = (one.group_by("annotator").len() for one in (assignment, frame))
    counts = n_entries.join(n_answered, on="annotator", suffix="_answered").sort("annotator")
    return frame, counts.select(
        "annotator",
        n_entries=pl.col("len").cast(pl.Int64),
        n_answered=pl.col("len_answered").cast(pl.Int64),
        n_missing=pl.col("len").cast(pl.Int64) - pl.col("len_answered").cast(pl.Int64),
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
        found = [
            one
            for one in sorted(path.rglob("*"))
            if not one.is_dir() and not any(map(is_left_behind, one.relative_to(path).parts))
        ]
        own = [one for one in found if one.suffix.lower() in SUFFIXES]
        others = [one for one in found if one not in own]
        if not own:
            has = f"only {_names(others)}" if others else "no file"
            raise InputError(f"{path} has {has}; {_HOW_TO}")
        files += [(one, False) for one in own]
        unread += others
    return files, unread


def _names(paths: Sequence[Path]) -> str:
    return listed([path.name for path in paths], most=40)


def _checked(file: Text, entries: dict[str, Any], study: StudyIdentity) -> list[Given]:
    """Return the answers in a file, checked against the entries that were shown.

    The first character of a file decides its format.
    """
    begin = file.content.lstrip()[:1]
    if begin in {"{", "["}:
        read = read_jsonl if begin == "{" else read_label_studio
        found = list(read(file.path, file.content, study))
    else:
        found = list(read_csv(file, study))
    if found and not any(given.entry_id in entries for given in found):
        raise InputError(
            f"{file.path} is of another study: none of its entries, such as "
            f"{_quoted(found[0].entry_id)}, is of study {study.study_id!r}"
        )
    for given in found:
        of_entry, entry = f"entry {_quoted(given.entry_id)}", entries.get(given.entry_id)
        if entry is None:
            raise InputError(f"{given.location}: {of_entry} is not of this study")
        if given.annotator not in (None, entry["annotator"]):
            raise InputError(
                f"{given.location}: {of_entry} is of annotator {_quoted(entry['annotator'])}, and "
                f"the file says {_quoted(given.annotator)}"
            )
        # A word has one text. Spreadsheets change white space and line ends.
        for text, expected in zip(given.texts or (), (entry["left"], entry["right"]), strict=False):
            if text.split() != expected.split():
                raise InputError(
                    f"{given.location} was edited: {of_entry} shows {_quoted(expected)}, and the "
                    f"file has {_quoted(text)}"
                )
    return found


def _warnings(
    unread: Sequence[Path],
    unanswered: Sequence[Path],
    missing: pl.DataFrame,
    n_repeated: Counter[str],
    noun: str,
) -> Iterator[str]:
    if unread:
        yield f"not read: {_names(unread)}; {_HOW_TO}"
    if unanswered:
        yield f"no answers in {', '.join(path.name for path in unanswered)}; left out"
    for annotator, count in sorted(n_repeated.items()):
        yield f"{count:,} answers of {_quoted(annotator)} are repeated; each counts once"
    for annotator, n_entries, _, n_missing in missing.iter_rows():
        if n_missing:
            of = f"{n_missing:,} of {n_entries:,} {noun}s"
            yield f"{_quoted(annotator)} left {of} without an answer"


def read_jsonl(path: Path, text: str, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers that a page exported; the last line has a checksum of the others."""
    content = text.replace("\r\n", "\n").rstrip()  # mail may change line ends
    begin = content.rfind("\n") + 1  # of the last line
    lines = list(checked_lines(path, content[:begin].split("\n")[:-1]))
    end, checksum = _END.fullmatch(content[begin:]), f"{zlib.crc32(content[:begin].encode()):08x}"
    if end is None or end.groups() != (str(len(lines) - 1), checksum):
        raise InputError(f"{path} was edited, damaged or cut short; {_PAGE_AGAIN}")
    location, scale = f"{path}: line 1", study.scale
    head = parsed_json(location, lines[0], _PAGE_AGAIN)
    if not isinstance(head, dict) or (head.get("medsim"), head.get("format")) != (
        "answers",
        FORMAT,
    ):
        raise InputError(
            f"{location} is not the first line of answers in format {FORMAT}; {_PAGE_AGAIN}"
        )
    _check_study(str(path), head.get("study"), study)
    for number, line in enumerate(lines[1:], start=2):
        location = f"{path}: line {number}"
        given = parsed_json(location, line, _PAGE_AGAIN)
        if not isinstance(given, dict) or not isinstance(given.get("entry"), str):
            raise InputError(f"{location} is not an answer to an entry; {_PAGE_AGAIN}")
        answer = given.get("answer")  # a rating is a number, any other answer a text
        written = type(answer) is (int if scale.graded else str)
        yield Given(
            location=location,
            entry_id=given["entry"],
            value=_value_of(location, str(answer) if written else "", scale, given=answer),
            annotator=head.get("annotator"),
        )


def read_csv(text: Text, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers of a filled-in sheet, as any spreadsheet may save it.

    Columns may be in any order, among others.
    """
    table = table_of(text, study.scale.columns, filled_in=True)
    for at, row in table.rows():
        entry_id, *texts, answer = map(unguarded, row)
        if not answer.strip():
            continue
        location = f"{text.path}: {at}"
        if not entry_id.strip():
            raise InputError(f"{location} has the answer {_quoted(answer)} and no entry")
        yield Given(
            location=location,
            entry_id=entry_id.strip(),
            value=_read_value(location, answer, study.scale),
            texts=tuple(texts),
        )


def read_label_studio(path: Path, text: str, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers in an export of Label Studio, either its JSON or its JSON-MIN.

    A skipped task has no answer; a task that was annotated several times has several. The answer
    belongs to the annotator of the task, whoever annotated it in Label Studio.
    """
    found = parsed_json(path, text, _AGAIN)
    if not isinstance(found, list):
        raise InputError(f"{path} is not a list of tasks; export it as JSON or JSON-MIN")
    for number, task in enumerate(found, start=1):
        location = f"{path}: task {number}"
        data = task.get("data", task) if isinstance(task, dict) else None
        if not isinstance(data, dict) or not isinstance(data.get("entry"), str):
            raise InputError(f"{location} names no entry; is it from a project with other tasks?")
        _check_study(location, data.get("study"), study)
        # JSON-MIN puts the number of Label Studio's user in the annotator's place.
        annotator = None if data is task else data.get("annotator")
        try:
            texts = tuple(_text(data[name]) for name in study.scale.parts)
            for answer in [data[CONTROL]] if CONTROL in data else _answers(task):
                yield Given(
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
        if result.get("from_name") == CONTROL
        for (only,) in [result["value"]["choices"]]
    ]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _check_study(location: str, found: object, study: StudyIdentity) -> None:
    """Raise InputError if the study that a file names is another."""
    if found != study.study_id:
        raise InputError(f"{location} is of study {_quoted(found)}, not of {study.study_id!r}")


def _read_value(location: str, answer: str, scale: Scale) -> int:
    """Return the value of an answer that a person may have typed.

    Letter case and outer space do not matter. An answer's label or key is accepted too, such as "n"
    for not same, and "4.0" for 4.
    """
    text = answer.strip()
    rating = _RATING.fullmatch(text) if scale.graded else None
    text = _plain(rating[1] if rating else text)
    for one in scale.choices:
        if text in {one.name, one.key, _plain(one.label)}:
            return one.value
    return _value_of(location, text, scale, given=answer)


def _plain(text: str) -> str:
    return re.sub(r"\s+|-", "_", re.sub("['\u2019]", "", text.lower()))


def _value_of(location: str, answer: str, scale: Scale, *, given: object) -> int:
    """Return the value of an answer; if it is not in the scale, the error shows ``given``."""
    if answer not in scale.answers:
        known = ", ".join(scale.answers)
        raise InputError(f"{location}: answer {_quoted(given)} is not one of {known}")
    return scale.answers.index(answer)


def _quoted(value: object) -> str:
    """Return a value from a file, quoted for a message."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value) if isinstance(value, str) else json.dumps(value)
