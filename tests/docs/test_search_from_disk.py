"""The site opened as files: its links, and its search in a real browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from fixtures.browser import Watched

ROOT = Path(__file__).parents[2]
SHIM = ROOT / "docs" / "assets" / "iframe-worker.js"
TERMS = (
    *("confidence interval", "significance test", "p-value", "paired comparison", "synonym"),
    *("hard negative", "false negative", "edit distance", "out of vocabulary"),
    *("embedding model", "encoder", "benchmark", "leaderboard", "train/validation/test split"),
    *("data leakage", "near-duplicate", "random seed", "majority vote"),
    *("inter-annotator agreement", "entity linking", "word sense"),
)
"""Terms of the field that readers search for."""

WORKER = """
onmessage = (event) => {
  event.data.query = event.data.query.toUpperCase();
  postMessage(event.data.query);
};
"""
PAGE = f"""<!doctype html><meta charset="utf-8"><body>
<script src="{SHIM.as_uri()}"></script>
<script>
  const sent = {{ query: "cleft" }};
  const worker = new Worker("worker.js");
  worker.onmessage = (event) => document.title = `${{sent.query}} ${{event.data}}`;
  worker.postMessage(sent);
</script>
"""


@pytest.mark.slow
def test_a_query_stays_as_typed(browser, tmp_path: Path) -> None:
    (tmp_path / "worker.js").write_text(WORKER, encoding="utf-8")
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")

    with browser.new_context() as context:
        watched = Watched(context, (tmp_path / "index.html").as_uri())
        watched.page.wait_for_function("document.title")

        assert watched.page.title() == "cleft CLEFT"
        assert watched.complaints == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built from the current pages by this test or before."""
    pytest.importorskip("zensical", reason="medsim[docs] is not installed")
    sources = [
        ROOT / "zensical.toml",
        *(ROOT / "docs").rglob("*"),
        *(ROOT / "medsim").rglob("*.py"),
    ]
    built = ROOT / "site" / "index.html"
    if built.exists() and built.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return built.parent
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    (folder / "medsim").symlink_to(ROOT / "medsim")
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "site"


@pytest.mark.slow
@pytest.mark.full
def test_the_search_finds_the_entry_of_the_glossary_for_each_term_of_the_field(
    browser, site: Path
) -> None:
    with browser.new_context() as context:
        page = Watched(context, (site / "index.html").as_uri()).page
        page.locator(".md-search__button").click()

        for term in TERMS:
            page.get_by_role("combobox").fill(term)
            anchor = term.replace(" ", "-").replace("/", "")
            entry = page.get_by_role("dialog").locator(f"a[href*='glossary'][href$='#{anchor}']")
            entry.wait_for(timeout=10_000)

            assert term in entry.inner_text().lower()


@pytest.mark.slow
def test_the_site_has_no_notebook_and_all_files_that_it_links(site: Path) -> None:
    in_html = re.compile(r'<(?:a|link)\b[^>]*?href="?(?![a-z]+:)([^"#?>\s]+)')
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    links = {(page, link) for page in pages for link in in_html.findall(page.read_text("utf-8"))}

    assert len(links) > len(pages) > 50
    assert [item for item in links if not (item[0].parent / unquote(item[1])).exists()] == []
    assert list(site.rglob("*.ipynb")) == []


def test_a_page_beside_the_glossary_has_each_term_of_the_field() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name != "glossary.md"]
    text = " ".join(page.read_text(encoding="utf-8").lower() for page in pages)

    assert [term for term in TERMS if term not in " ".join(text.split())] == []
