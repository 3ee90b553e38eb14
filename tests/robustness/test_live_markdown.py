"""No text of a terminology is a link, an image or a tag in the Markdown that medsim writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import medsim

pytestmark = pytest.mark.slow

NAME = "<img src=x onerror=alert(1)> ![a](b) [c](javascript:d) `e` .obo"
TERMS = [
    "[x](javascript:alert(1))",
    "<b>bold</b> & &lt;i&gt;",
    r"\![x](http://track.invalid)",
    "*a*",
]
TAGS = {
    *("h1", "h2", "h3", "p", "ul", "li", "blockquote", "strong", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def ontology(folder: Path, mark: str) -> Path:
    """Write an ontology whose names are live Markdown."""
    folder.mkdir()
    path = folder / NAME
    stanzas = [
        f"[Term]\nid: V:{number}\nname: {term} {number} {mark}\n"
        f'synonym: "{term} {number}" EXACT []\n'
        for number, term in enumerate(TERMS * 5)
    ]
    path.write_text("format-version: 1.2\n\n" + "\n".join(stanzas), encoding="utf-8")
    return path


def test_markdown_has_no_tag_of_a_terminology(tmp_path: Path) -> None:
    old, new = ontology(tmp_path / "old", "old"), ontology(tmp_path / "new", "new")
    build = medsim.build(new, tmp_path / "build", negatives=["random"], threads=1)
    medsim.diff(old, new, tmp_path / "diff", threads=1)
    medsim.split(build, tmp_path / "split", threads=1)
    medsim.export(build, tmp_path / "huggingface", "huggingface", private=True, threads=1)
    medsim.export(build, tmp_path / "sentence-transformers", "sentence-transformers", threads=1)

    files = sorted(tmp_path.rglob("*.md"))

    assert {file.parent.name for file in files} >= {
        *("build", "diff", "split", "huggingface", "sentence-transformers")
    }
    for file in files:
        text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        shown = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
        assert {*re.findall(r"<(\w+)", shown)} <= TAGS, file
        assert "&lt;img src=x onerror=alert(1)&gt; ![a](b) [c](javascript:d) `e`" in shown, file
