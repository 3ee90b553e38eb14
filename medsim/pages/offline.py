"""Pages of HTML that are one file, load nothing, and run nothing but their own scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def document(*, title: str, style: str, body: str, scripts: Sequence[str], meta: str = "") -> str:
    """Return a whole page; the same arguments always give the same text.

    A content security policy names the scripts by their hashes and permits no other source of
    anything, so that nothing else is ever run and nothing is loaded, whatever the page shows.

    Args:
        title: as plain text.
        style: rules that follow those of all pages, see ``palette.css``.
        body: markup; what it shows is escaped already.
        scripts: run in this order, after the body.
        meta: markup that stands near the beginning.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    foot = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{meta}'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{asset('medsim.pages', 'palette.css')}{style}</style>\n</head>\n"
        f"<body>\n{body}{foot}</body>\n</html>\n"
    )


def asset(package: str, name: str) -> str:
    """Return the text of a file that lies in a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def embedded_json(value: object) -> str:
    """Return JSON that can stand in a script element, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
