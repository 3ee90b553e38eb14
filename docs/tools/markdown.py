"""Text as Markdown, and pages by templates."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

NOTICE = (
    "<!-- Written by `just reference` from the declarations in the code: change them, not this. -->"
)
"""The first line of every page that is written."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def escaped(text: str) -> str:
    """Return a text as Markdown that shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def code(text: object) -> str:
    """Return a text as code."""
    return f"`{text}`"


def codes(texts: Any) -> str:
    """Return texts as code, with commas between them."""
    return ", ".join(map(code, texts))


def page(template: str, **content: Any) -> str:
    """Return the page that a template makes of its content."""
    text = _templates().get_template(f"{template}.md.jinja").render(**content)
    return f"{NOTICE}\n\n" + re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def _templates() -> Environment:
    found = Environment(  # noqa: S701 — it writes Markdown, and escapes by a filter
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"escaped": escaped, "code": code, "codes": codes}
    return found
