"""Answers that annotators sent back, in any format, checked against the key of the study."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, listed
from medsim.core.reading import is_left_behind, reading
from medsim.core.tables.text import read_text
from medsim.studies.output import ANSWER_COLUMNS
from medsim.studies.sheets.csv_sheets import read_csv
from medsim.studies.sheets.jsonl import read_jsonl
from medsim.studies.sheets.label_studio import read_label_studio
from medsim.studies.sheets.returned import StudyIdentity, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from medsim.core.tables.text import Text
    from medsim.studies.sheets.returned import Given

SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")
"""The suffixes of the files that are read where a folder is given."""

_HOW_TO = (
    f"answers are read from {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files, so save a "
    "spreadsheet as CSV and unpack an archive"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to a study.

    Attributes:
        frame: ``ANSWER_COLUMNS``, in order of annotator and position.
        missing: a row per annotator who answered anything: annotator, n_entries, n_answered,
            n_missing.
        absent: the annotators of whom there is no answer, in order of name.
        files: name and sha256 of each file that has answers.
    """

    frame: pl.DataFrame
    missing: pl.DataFrame
    warnings: tuple[str, ...]
    absent: tuple[str, ...]
    files: tuple[dict[str, str], ...]


def read_answers(paths: Sequence[Path], assignment: pl.DataFrame, study: StudyIdentity) -> Answers:
    """Return the answers in files that annotators sent back.

    The content tells the format: the page's JSONL, a filled-in CSV sheet, or Label Studio's JSON.
    An answer that stands twice counts once. A folder stands for the files in it, and in folders in
    it, that have one of ``SUFFIXES``; all others are left out with a warning, and so are sheets
    that nobody filled in. The assignment has the presentations of all annotators.

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
            if earlier is not given:
                entry = entries[given.entry_id]
                _check_agreement(earlier, given, entry, study)
                n_repeated[entry["annotator"]] += 1
    if unanswered and not kept:
        hint = f"; not read: {_names(unread)}; {_HOW_TO}" if unread else ""
        raise InputError(f"{', '.join(map(str, paths))}: no file there has an answer{hint}")
    frame = _frame(kept, assignment)
    missing = _missing(frame, assignment)
    return Answers(
        frame=frame,
        missing=missing,
        warnings=tuple(_warnings(unread, unanswered, missing, n_repeated, study.scale.noun)),
        absent=tuple(sorted({*assignment["annotator"]} - {*missing["annotator"]})),
        files=tuple(files),
    )


def _files(paths: Sequence[Path]) -> tuple[list[tuple[Path, bool]], list[Path]]:
    """Return files, each with whether it was named itself, and those of folders that are not read.

    Raises:
        InputError: a folder cannot be listed, or has no file that is read.
    """
    files: list[tuple[Path, bool]] = []
    unread: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append((path, True))
            continue
        try:
            found = [
                one
                for one in sorted(path.rglob("*"))
                if not one.is_dir() and not any(map(is_left_behind, one.relative_to(path).parts))
            ]
        except OSError as error:
            raise InputError(f"{path} cannot be listed ({error.strerror})") from error
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


def _checked(text: Text, entries: dict[str, Any], study: StudyIdentity) -> list[Given]:
    """Return the answers in a file, all of entries that were shown as the file says."""
    found = list(_read(text, study))
    if found and not any(given.entry_id in entries for given in found):
        raise InputError(
            f"{text.path} is of another study: none of its entries, such as "
            f"{quoted(found[0].entry_id)}, is of study {study.study_id!r}"
        )
    for given in found:
        _check_entry(given, entries)
    return found


def _read(text: Text, study: StudyIdentity) -> Iterator[Given]:
    """Yield the answers in a file; its first character tells its format."""
    begin = text.content.lstrip()[:1]
    if begin == "{":
        return read_jsonl(text.path, text.content, study)
    if begin == "[":
        return read_label_studio(text.path, text.content, study)
    return read_csv(text, study)


def _check_entry(given: Given, entries: dict[str, Any]) -> None:
    entry = entries.get(given.entry_id)
    if entry is None:
        raise InputError(f"{given.location}: entry {quoted(given.entry_id)} is not of this study")
    if given.annotator not in {None, entry["annotator"]}:
        raise InputError(
            f"{given.location}: entry {quoted(given.entry_id)} is of annotator "
            f"{quoted(entry['annotator'])}, and the file says {quoted(given.annotator)}"
        )
    # Of a word there is one text.
    for found, expected in zip(given.texts or (), (entry["left"], entry["right"]), strict=False):
        # Spreadsheets change white space and line ends.
        if found.split() != expected.split():
            raise InputError(
                f"{given.location} was edited: entry {quoted(given.entry_id)} shows "
                f"{quoted(expected)}, and the file has {quoted(found)}"
            )


def _check_agreement(
    earlier: Given, later: Given, entry: dict[str, Any], study: StudyIdentity
) -> None:
    if earlier.value != later.value:
        answers = study.scale.answers
        shown = " and ".join(quoted(entry[side]) for side in ("left", "right") if entry[side])
        raise InputError(
            f"contradictory answers of {quoted(entry['annotator'])} to {shown}: "
            f"{answers[earlier.value]} at {earlier.location}, "
            f"{answers[later.value]} at {later.location}; leave one out"
        )


def _frame(kept: dict[str, Given], assignment: pl.DataFrame) -> pl.DataFrame:
    schema = {name: ANSWER_COLUMNS[name] for name in ("entry_id", "value")}
    rows = [(entry_id, given.value) for entry_id, given in kept.items()]
    answers = pl.DataFrame(rows, schema, orient="row")
    joined = assignment.join(answers, on="entry_id").sort("annotator", "position")
    return joined.select(pl.col(name).cast(kind) for name, kind in ANSWER_COLUMNS.items())


def _missing(frame: pl.DataFrame, assignment: pl.DataFrame) -> pl.DataFrame:
    n_entries = assignment.group_by("annotator").agg(pl.len().cast(pl.Int64).alias("n_entries"))
    n_answered = frame.group_by("annotator").agg(pl.len().cast(pl.Int64).alias("n_answered"))
    counts = n_entries.join(n_answered, on="annotator").sort("annotator")
    return counts.with_columns(n_missing=pl.col("n_entries") - pl.col("n_answered"))


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
        yield f"{count:,} answers of {quoted(annotator)} stand a second time; each counts once"
    for annotator, n_entries, _, n_missing in missing.iter_rows():
        if n_missing:
            yield (
                f"{quoted(annotator)} left {n_missing:,} of {n_entries:,} {noun}s without an answer"
            )
