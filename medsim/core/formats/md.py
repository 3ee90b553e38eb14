"""Tables in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from medsim.core.cells import readable

if TYPE_CHECKING:
    import polars as pl

FOR_PEOPLE = True
_MARKUP = re.compile(r"[|<\\]")  # characters that Markdown would take for more than text


def render(frame: pl.DataFrame) -> str:
    """Return a frame as a table of Markdown."""
    rules = ["--:" if kind.is_numeric() else "---" for kind in frame.dtypes]
    head, *rows = [[_MARKUP.sub(r"\\\g<0>", value) for value in row] for row in readable(frame)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rules, *rows])
