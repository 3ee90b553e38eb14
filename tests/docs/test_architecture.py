"""The example of the search by itself prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"


def test_the_search_by_itself_finds_what_its_example_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    exec(block, {})  # noqa: S102 — the example is the project's own

    assert capsys.readouterr().out.strip() == block.rsplit("# ", 1)[1].strip()
