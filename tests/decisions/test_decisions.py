"""Files of decisions: what is read, what is refused, and which decisions hold."""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl
import pytest

from medsim.core.errors import InputError
from medsim.core.tables import guarded
from medsim.decisions import DECIDED_ON, DECISIONS
from medsim.decisions.files import DECISION_COLUMNS, read_decisions, settled

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "subject_id,subject_label,object_id,object_label,decision,comment,reviewer,date"


def read(folder: Path, *texts: str) -> pl.DataFrame:
    """Return the decisions in files with the texts."""
    paths = [folder / f"{at}.csv" for at in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return read_decisions(paths)


def made(*rows: str) -> pl.DataFrame:
    """Return decisions on "A" and other things: object, decision, reviewer and date."""
    fields = [row.split() for row in rows]
    cells = [("A", "a", of, of.lower(), said, "", who, *day) for of, said, who, *day in fields]
    return pl.DataFrame([(*cell, "")[:8] for cell in cells], list(DECISION_COLUMNS), orient="row")


def test_a_file_of_a_german_spreadsheet_is_read(tmp_path: Path) -> None:
    text = (
        "Date;Decision;OBJECT_ID;object_label;subject_label;subject_id;Kosten\r\n"
        "24.12.2025;Exact;HP:1;Übelkeit;'=Ü;'007;3\r\n"
        "2026-01-31 00:00:00;no_match;;;ß;8;\r\n"
        ";;HP:2;x;y;9;\r\n"
    )
    path = tmp_path / "decisions.csv"
    path.write_bytes(text.encode("windows-1252"))

    assert read_decisions([path]).rows() == [
        ("007", "=Ü", "HP:1", "Übelkeit", "exact", "", "", "2025-12-24"),
        ("8", "ß", "", "", "no_match", "", "", "2026-01-31"),
    ]


def test_cells_with_an_apostrophe_for_spreadsheets_are_read_as_they_were(tmp_path: Path) -> None:
    cells = ["007", "=1+1", "'5", 'é, "q"; x', "MARCH1", "1e5", "two\nlines", "心臓", "-", "x\ty"]
    rows = [
        (cell, cell, cell, cell, DECISIONS[at % 4], cell, cell, "2026-01-31")
        for at, cell in enumerate(cells)
    ]
    decisions = pl.DataFrame(rows, list(DECISION_COLUMNS), orient="row")
    written = decisions.with_columns(pl.all().map_elements(guarded, pl.String))
    assert written.row(0)[:2] == ("'007", "'007")
    written.write_csv(tmp_path / "d.csv", include_bom=True, line_terminator="\r\n")

    assert read_decisions([tmp_path / "d.csv"]).rows() == rows


def test_no_file_and_no_row_give_no_decisions(tmp_path: Path) -> None:
    for decisions in (read_decisions([]), read(tmp_path, f"{HEADING}\n")):
        assert decisions.schema == dict.fromkeys(DECISION_COLUMNS, pl.String)
        assert all(rows.is_empty() for rows in settled(decisions))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("A,a,B,b,same,,,", "line 3: decision 'same' is not one of exact, broader, narrower, "),
        (",a,B,b,exact,,,", "line 3: subject_id '' must not be empty"),
        ("A,a,,,exact,,,", "line 3: object_id '' must not be empty here"),
        ("A,a,B,b,exact,,,12/31/2025", "line 3: date '12/31/2025' is not a date such as"),
        ("A,a,B,b,exact,,,2025-02-30", "line 3: date '2025-02-30' is not a date such as"),
        ("A,a,B", "line 3 has 3 cells, the header 8"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(InputError, match=f"0.csv: {message}"):
        read(tmp_path, f"{HEADING}\nA,a,B,b,exact,,,\n{row}\n")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no column 'object_label'; it needs subject_id, "):
        read(tmp_path, "subject_id,subject_label,object_id,decision\nA,a,B,exact\n")


def test_the_later_decision_of_a_reviewer_holds() -> None:
    decisions = made(
        "B exact Ada 2026-02-01",
        "B different Ada 2026-01-01",
        "C exact Ada 2026-01-01",
        "C related Ada 2026-01-01",
        "D broader Ada",
        "D narrower Ada 2020-01-01",
    )

    held, conflicts = settled(decisions)

    assert conflicts.is_empty()
    held = held.select("object_id", "decision").sort("object_id").rows()
    assert held == [("B", "exact"), ("C", "related"), ("D", "narrower")]


def test_reviewers_who_disagree_make_a_conflict() -> None:
    decisions = made(
        "B exact Ada 2026-02-01",
        "B different Ben 2026-03-01",
        "C exact Ada 2026-02-01",
        "C different Ben 2026-01-01",
        "C exact Ben 2026-01-02",
    )

    held, conflicts = settled(decisions)

    assert held.select("object_id", "decision", "reviewer").rows() == [("C", "exact", "Ada")]
    assert conflicts.select("object_id", "decision", "reviewer").rows() == [
        ("B", "exact", "Ada"),
        ("B", "different", "Ben"),
    ]
    renamed = decisions.with_columns(object_label=pl.int_range(pl.len()).cast(pl.String))
    assert settled(renamed)[1].is_empty()


def test_random_decisions_are_settled_as_one_by_one() -> None:
    drawn = random.Random(1)  # noqa: S311 — no secret
    days = ["", "2026-01-01", "2026-01-02"]
    rows = [
        " ".join(map(drawn.choice, (["B", "C", "D", "E"], DECISIONS[:3], ["Ada", "Ben"], days)))
        for _ in range(30)
    ]

    for n_rows in range(len(rows)):
        last: dict[tuple[str, str], tuple[str, str]] = {}
        for row in rows[:n_rows]:
            of, said, who, *day = row.split()
            if (who_of := (of, who)) not in last or [last[who_of][1]] <= (day or [""]):
                last[who_of] = (said, "".join(day))
        by_object = groupby(sorted(last.items()), key=lambda item: item[0][0])
        expected = {of: {said for _, (said, _) in items} for of, items in by_object}

        held, conflicts = settled(made(*rows[:n_rows]) if n_rows else read_decisions([]))

        decided = dict(held.select("object_id", "decision").rows())
        assert decided == {of: min(said) for of, said in expected.items() if len(said) == 1}
        disputed = {of for of, said in expected.items() if len(said) > 1}
        assert {*conflicts["object_id"]} == disputed
        assert not held.select(DECIDED_ON).is_duplicated().any()
