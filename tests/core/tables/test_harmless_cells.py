"""CSV for programs, in which no text is a formula to a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from hypothesis import example, given
from hypothesis import strategies as st

from medsim.core.tables import harmless, write_csv

FORMULAS = [
    *("=1+1", "-1+1", "+1-1", "@SUM(A1)", " =1", "-2+3+cmd|' /C calc'!A0", "\t=1", "\uff1d1+1"),
    *("-e5", "+A1", "--1", "-1,5*2", "'=1", "-1e5+1", "-x", "=\n1"),
]
PLAIN = [
    *(
        "1",
        "-1",
        "+1.5",
        "-.5",
        "1,234.5",
        "-1e5",
        "1E+08",
        "-12%",
        "007",
        "22298006",
        "HP:0000001",
    ),
    *(
        "D000001",
        "A00-B99",
        "12-3",
        "MARCH1",
        "true",
        "10/12",
        "-",
        "+",
        "",
        "Fever",
        "'tis",
        "5 - 1",
    ),
    *("\N{MINUS SIGN}0.5", "0.5 +2"),
]


def cells(texts: list[str]) -> list[str]:
    return harmless(pl.DataFrame({"text": texts}))["text"].to_list()


def test_only_formulas_get_an_apostrophe(tmp_path: Path) -> None:
    assert cells(FORMULAS) == [f"'{text}" for text in FORMULAS]
    assert cells(PLAIN) == PLAIN
    frame = pl.DataFrame({"n": [-1, None], "text": ["=1", None]})
    assert write_csv(frame, tmp_path / "a.csv") == 2
    assert (tmp_path / "a.csv").read_text() == "n,text\n-1,'=1\n,\n"


@given(st.text())
@example("'" * 100_000 + "x")
def test_no_text_begins_like_a_formula(text: str) -> None:
    [cell] = cells([text])

    assert cell in {text, f"'{text}"}
    if cell.lstrip()[:1] in {*"=+-@\uff1d\uff0b\uff0d\uff20"} and cell.strip() not in {"+", "-"}:
        float(cell.strip().rstrip("%").replace(",", ""))  # a number
