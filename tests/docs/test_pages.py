"""Pages are short, and their links, papers, benchmarks and public names exist."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

import medsim

ROOT = Path(__file__).parents[2]
README, *OTHERS = (
    ROOT / f"{name}.md"
    for name in (
        *("README", "CONTRIBUTING", "ARCHITECTURE", "CHANGELOG"),
        *("CODE_OF_CONDUCT", "SECURITY"),
    )
)
FOR_USERS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [*FOR_USERS, *OTHERS]
LINK = re.compile(r"\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    """Return the text of a page or notebook without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = (cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")
        text = "\n".join("".join(cell["source"]) for cell in cells)
    return FENCED.sub("", text)


def relative_links(page: Path) -> list[str]:
    return [link for link in LINK.findall(text_of(page)) if not re.match(r"[a-z]+:", link)]


def anchors_of(page: Path) -> set[str]:
    """Return GitHub's anchors of a page's headings, and the site's anchors of functions."""
    headings = re.findall(r"^#+ +(.*?) *$", text_of(page), re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept} | functions_on(page)


def functions_on(page: Path) -> set[str]:
    """Return the names that mkdocstrings shows on a page, and those of methods of classes."""
    shown = set(re.findall(r"^::: (medsim\.\w+)$", page.read_text(encoding="utf-8"), re.MULTILINE))
    classes = {name: getattr(medsim, name.removeprefix("medsim.")) for name in shown}
    methods = {f"{name}.{m}" for name, kind in classes.items() for m in dir(kind) if m[0] != "_"}
    return shown | methods


def test_every_relative_link_leads_to_a_file_and_a_heading() -> None:
    notebooks = list((ROOT / "docs").rglob("*.ipynb"))
    links = [(page, link) for page in (*PAGES, *notebooks) for link in relative_links(page)]
    assert {page.suffix for page, _ in links} == {".md", ".ipynb"}
    for page, link in links:
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_relative_to(ROOT), (page, link)
        assert target.exists(), (page, link)
        if anchor:
            assert anchor in anchors_of(target), (page, link)


def named(entries: Iterable[str | dict]) -> Iterator[str]:
    """Yield the pages that the navigation of the site names, in its order."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from named([below] if isinstance(below, str) else below)


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))

    pages = [ROOT / "docs" / page for page in named(settings["project"]["nav"])]

    assert sorted(pages) == sorted((ROOT / "docs").rglob("*.md"))


def test_the_readme_links_the_index_and_has_at_most_160_lines() -> None:
    assert "docs/index.md" in relative_links(README)
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 160


def test_every_block_of_code_is_closed() -> None:
    for page in PAGES:
        fences = re.findall(r"^```", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) % 2 == 0, page


def test_pages_for_users_name_no_internal_modules() -> None:
    module = re.compile(r"\bfrom medsim[\w.]* import\b|\bmedsim\.[a-z_]+\.[a-z_]|(?<!/)\bmedsim/")
    for page in FOR_USERS:
        if page.name == "extend-medsim.md":  # names the classes of plug-ins
            continue
        assert module.search(page.read_text(encoding="utf-8")) is None, page


def test_the_page_on_citing_has_every_paper_of_the_citation_file() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    page = " ".join((ROOT / "docs" / "how-to" / "cite.md").read_text(encoding="utf-8").split())

    assert len(cited) == 3
    for paper in cited:
        assert f"*{paper['title']}*, " in page
        assert f"{paper['year']}, [{paper['doi']}](https://doi.org/{paper['doi']})" in page
        assert paper["authors"][0]["family-names"] in page


def test_the_reference_of_python_has_every_public_name_once() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")

    assert sorted(re.findall(r"(?m)^::: medsim\.(\w+)$", page)) == sorted([*medsim.__all__, "open"])


def test_every_row_of_the_page_on_performance_names_logged_runs() -> None:
    page = (ROOT / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")
    log = (ROOT / "benchmarks" / "LOG.md").read_text(encoding="utf-8")
    run = re.compile(r"`(\w+)`, (\d{4}-\d\d-\d\d \d\d:\d\d)(?: and (\d{4}-\d\d-\d\d \d\d:\d\d))?")
    logged = (line.split(" | ") for line in log.splitlines() if line.startswith("| 2"))
    runs = {(name, time) for name, *times in run.findall(page) for time in times if time}
    rows = [line for line in page.splitlines() if re.match(r"\| (?!task|---)", line)]

    assert len(runs) > 15
    assert runs <= {(row[3], row[0].removeprefix("| ")) for row in logged}
    assert [row for row in rows if not run.search(row)] == []


def test_scores_in_the_readme_and_the_index_are_those_of_the_recorded_run() -> None:
    record = json.loads((ROOT / "benchmarks" / "headline.json").read_text(encoding="utf-8"))
    values = [
        row[name]
        for row in (*record["scores"], *record["differences"])
        for name in ("value", "low", "high", "difference")
        if name in row
    ]
    readme, index = (p.read_text(encoding="utf-8") for p in (README, ROOT / "docs" / "index.md"))
    index = index.partition("## Published results")[0]
    scores = set(re.findall(r"(?<!p < )\b0\.\d{3}\b", readme + index))

    assert {"0.616", "0.605", "0.626"} <= scores <= {f"{abs(value):.3f}" for value in values}
    assert " ".join(record["printed"]) in " ".join(readme.split())


def test_the_published_results_on_the_front_page_are_those_of_the_files() -> None:
    published = []
    for build in ("hpo", "mondo", "go"):
        file = ROOT / "benchmarks" / "leaderboard" / f"{build}.json"
        headlines = json.loads(file.read_text(encoding="utf-8"))["headlines"]
        published.append({row["model"]: f"{row['value']:.3f}" for row in headlines})

    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?m)^\|[^|]+\| (0\.\d{3}) \| (0\.\d{3}) \| (0\.\d{3}) \|", index)

    models = sorted(published[0], key=lambda model: published[0][model], reverse=True)
    assert shown == [tuple(scores[model] for scores in published) for model in models]
