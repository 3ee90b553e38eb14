"""Pseudonyms of annotators, whose key is in a file of the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path
from random import SystemRandom
from string import ascii_uppercase

import polars as pl

from medsim.core.files import write_file
from medsim.core.output import check_file_free
from medsim.core.tables import read_table
from medsim.studies.sheets.answers import StudyAnswers

_COLUMNS = ("annotator", "pseudonym")


def pseudonyms_of(path: Path, names: Sequence[str]) -> dict[str, str]:
    """Return the pseudonym of each annotator: judge A, judge B, and so on.

    Pseudonyms in the file stay. The others are drawn at random and added to the file. The draw has
    no seed, so that people who know the names cannot repeat it.

    Raises:
        InputError: the file exists and is not a table of annotators and pseudonyms.
        OutputError: the file cannot be written.
    """
    known = dict(read_table(path, _COLUMNS).frame.iter_rows()) if path.exists() else {}
    others = [name for name in names if name not in known]
    letters = chain(ascii_uppercase, count(len(ascii_uppercase) + 1))
    free = (name for letter in letters if (name := f"judge {letter}") not in known.values())
    if others:
        known |= dict(zip(SystemRandom().sample(others, len(others)), free, strict=False))
        check_file_free(path, overwrite=True)
        key = pl.DataFrame([*known.items()], _COLUMNS, orient="row")
        write_file(path, key.write_csv().encode(), overwrite=True)
    return known


def with_pseudonyms(answers: StudyAnswers, pseudonyms: Mapping[str, str]) -> StudyAnswers:
    """Return answers without the names of annotators, also in warnings and names of files."""
    shown = {name.lower(): other for name, other in pseudonyms.items()}
    for at, file in enumerate(answers.files, start=1):
        shown[file["name"].lower()] = f"file {at} of {pseudonyms[file['annotator']]}"
    names = "|".join(map(re.escape, sorted(shown, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)({names})(?!\w)", re.IGNORECASE)
    hide = partial(pattern.sub, lambda match: shown[match[0].lower()])
    annotator = pl.col("annotator").replace(pseudonyms)
    return StudyAnswers(
        entries=answers.entries.with_columns(annotator).sort("annotator", "position"),
        warnings=tuple(map(hide, answers.warnings)),
        files=tuple({key: hide(text) for key, text in file.items()} for file in answers.files),
    )
