"""The papers in the navigation of the site, and on the page about all of them."""

from __future__ import annotations

from docs.tools.markdown import with_lines
from medsim.papers.printed import printed_papers

_INDENT = " " * 16


def with_papers(navigation: str) -> str:
    """Return the settings of the site with the pages of all papers in its navigation."""
    return with_lines(
        navigation,
        f'{_INDENT}{{ "All papers" = "explanation/papers.md" }},\n',
        [
            f'{_INDENT}{{ "{paper.title}" = "explanation/paper-{name}.md" }},'
            for name, paper in printed_papers().items()
        ],
        f"{_INDENT[:12]}] }},",
    )


def with_list(page: str) -> str:
    """Return the page about all papers with their list."""
    return with_lines(
        page,
        "there is none:\n\n",
        [
            f"- [{paper.title}](paper-{name}.md): {paper.about}"
            for name, paper in printed_papers().items()
        ],
        "\nThe tests",
    )
