"""Writes the pages and lists that are generated from declarations in the code.

The command is ``just reference``; a test checks that the pages are up to date.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import medsim
from docs.tools.command_pages import command_pages, with_commands
from docs.tools.manifest_page import manifest_pages
from docs.tools.markdown import NOTICE
from docs.tools.measure_pages import measure_pages
from docs.tools.paper_lists import with_list, with_papers
from docs.tools.python_page import NAMES, public_names, python_page
from docs.tools.table_pages import table_pages

REFERENCE = Path(__file__).parents[1] / "reference"
SITE = Path(__file__).parents[2] / "zensical.toml"
PAPERS_PAGE = Path(__file__).parents[1] / "explanation" / "papers.md"


def pages() -> dict[str, str]:
    """Return the text of every page by its path below the reference."""
    return {
        **command_pages(),
        **table_pages(),
        **manifest_pages(),
        **measure_pages(),
        **python_page(),
    }


def lists() -> dict[Path, str]:
    """Return the text of the files with a list that follows from declarations."""
    return {
        NAMES: public_names(),
        SITE: with_papers(with_commands(SITE.read_text(encoding="utf-8"))),
        PAPERS_PAGE: with_list(PAPERS_PAGE.read_text(encoding="utf-8")),
    }


def written() -> dict[str, str]:
    """Return the pages that were written before, by their paths."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.rglob("*.md"))}
    return {
        path.relative_to(REFERENCE).as_posix(): text
        for path, text in texts.items()
        if text.startswith(NOTICE)
    }


def main() -> None:
    """Write all pages, and remove pages without a declaration."""
    NAMES.write_text(public_names(), encoding="utf-8")
    importlib.reload(medsim)  # it reads the names
    made = pages()
    for name in written().keys() - made.keys():
        (REFERENCE / name).unlink()
    for name, text in made.items():
        path = REFERENCE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path, text in lists().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
