"""The papers in the navigation of the site, and on the page about all of them."""

from __future__ import annotations

from medsim.papers.printed import printed_papers

_INDENT = " " * 16


def with_papers(navigation: str) -> str:
    """Return the settings of the site with the pages of all papers in its navigation."""
    return _replaced(
        navigation,
        f'{_INDENT}{{ "All papers" = "explanation/papers.md" }},\n',
        [
            f'{_INDENT}{{ "{paper.title}" = "explanation/paper-{name}.md" }},'
            for name, paper in printed_papers().items()
        ],
        f"\n{_INDENT[:12]}] }},",
    )


def with_list(page: str) -> str:
    """Return the page about all papers with their list."""
    return _replaced(
        page,
        "there is none:\n\n",
        [
            f"- [{paper.title}](paper-{name}.md): {paper.about}"
            for name, paper in printed_papers().items()
        ],
        "\n\nThe tests",
    )


def _replaced(text: str, start: str, lines: list[str], end: str) -> str:
    """Return a text with other lines between its start and end."""
    before, start, after = text.partition(start)
    return before + start + "\n".join(lines) + after[after.index(end) :]
