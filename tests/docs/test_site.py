"""The site of the documentation is made without a warning, and its reference lacks nothing."""

from __future__ import annotations

import re
from pathlib import Path

import medsim

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_reference_of_python_has_every_public_name_once() -> None:
    page = (REFERENCE / "python.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"(?m)^::: medsim\.(\w+)$", page)) == sorted([*medsim.__all__, "open"])
