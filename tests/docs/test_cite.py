"""The page on citing names the papers that the citation file has."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_the_page_on_citing_has_every_paper_of_the_citation_file() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    page = " ".join((ROOT / "docs" / "how-to" / "cite.md").read_text(encoding="utf-8").split())

    assert len(cited) == 3
    for paper in cited:
        assert f"*{paper['title']}*, " in page
        assert f"{paper['year']}, [{paper['doi']}](https://doi.org/{paper['doi']})" in page
        assert paper["authors"][0]["family-names"] in page
