"""Reads instances of WiC, whose words are of the general language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.reading import reading
from medsim.core.tables import read_text

if TYPE_CHECKING:
    from pathlib import Path

DATA, GOLD = ".data.txt", ".gold.txt"
"""The ends of the names of WiC's files, of instances and of their labels."""

_LABELS = {"T": 1, "F": 0}
_PLACES = re.compile(r"(\d{1,5})-(\d{1,5})")
_TOKEN = re.compile(r"\S+")
_N_COLUMNS = 5


def read_wic(path: Path) -> pl.DataFrame:
    """Return the instances of a file of WiC, such as train.data.txt: ``WIC_COLUMNS``.

    A line has a word, its part of speech, its places in both sentences, counted in tokens from 0,
    and the sentences, with tabs between (Pilehvar and Camacho-Collados, NAACL 2019). The labels, T
    or F, are the lines of the file beside it, train.gold.txt. Terms are the words as they stand in
    the sentences; cat is null.

    Raises:
        InputError: a file is missing or a line is faulty; it names the line.
    """
    with reading(path, "instances of WiC"):
        return _instances(path)


def _instances(path: Path) -> pl.DataFrame:
    gold = path.with_name(path.name.removesuffix(DATA) + GOLD)
    lines, labels = _lines(path), _lines(gold)
    if len(lines) != len(labels):
        raise InputError(
            f"{path} has {len(lines):,} lines and {gold} {len(labels):,}; a label is needed for "
            "each instance"
        )
    rows = []
    for number, (line, label) in enumerate(zip(lines, labels, strict=True), start=1):
        if label.strip() not in _LABELS:
            raise InputError(f"{gold}: line {number} is {label[:20]!r}, not T or F")
        sides = _sides(f"{path}: line {number}", line)
        rows.append({**sides, "cat": None, "label": _LABELS[label.strip()]})
    return pl.DataFrame(rows, schema=WIC_COLUMNS)


def _lines(path: Path) -> list[str]:
    """Return the lines of a file, without those at its end that are blank."""
    lines = read_text(path, guess=False).content.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _sides(at: str, line: str) -> dict[str, object]:
    """Return sentences, terms and offsets of a line."""
    columns = line.split("\t")
    places = _PLACES.fullmatch(columns[2].strip()) if len(columns) == _N_COLUMNS else None
    if places is None:
        raise InputError(
            f"{at} is {line[:60]!r}; WiC has word, part of speech, places such as 3-1, and two "
            "sentences, with tabs between"
        )
    row: dict[str, object] = {}
    for side, sentence in enumerate(columns[3:], start=1):
        tokens = list(_TOKEN.finditer(sentence))
        place = int(places[side])
        if place >= len(tokens):
            raise InputError(
                f"{at}: sentence {side} has {len(tokens)} tokens, none at place {place} (from 0)"
            )
        start, end = tokens[place].span()
        row |= {f"sentence{side}": sentence, f"term{side}": sentence[start:end]}
        row |= {f"start{side}": start, f"end{side}": end}
    return row
