"""Findings as one table, and the outcome of a verification."""

from __future__ import annotations

import polars as pl
import pytest

from medsim.core.checks import Finding, Verification, findings_table
from medsim.core.errors import BrokenPromiseError

KEPT = Finding("kept", "It holds.")
SKIPPED = Finding("skipped", "It was not checked.", note="not checked: no terminology")
BROKEN = Finding("broken", "It does not hold.", ["row 3", "row 5"])


def test_finding_is_a_row_with_its_first_violation_or_its_note() -> None:
    result = findings_table([KEPT, SKIPPED, BROKEN])

    assert result.schema == {
        "check": pl.String,
        "guarantee": pl.String,
        "violations": pl.Int64,
        "example": pl.String,
    }
    assert result.rows() == [
        ("kept", "It holds.", 0, ""),
        ("skipped", "It was not checked.", 0, "not checked: no terminology"),
        ("broken", "It does not hold.", 2, "row 3"),
    ]


def test_a_verification_without_violations_holds() -> None:
    result = Verification(findings=findings_table([KEPT, SKIPPED]))

    assert result.holds
    assert result.broken == []
    result.require("OUT")


def test_broken_checks_are_named_once_in_order() -> None:
    other = Finding("another", "Nor does this.", ["row 1"])
    result = Verification(findings=findings_table([BROKEN, other, KEPT, BROKEN]))

    assert not result.holds
    assert result.broken == ["broken", "another"]
    with pytest.raises(BrokenPromiseError, match=r"^OUT: broken, another do not hold$"):
        result.require("OUT")
