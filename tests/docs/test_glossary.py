"""Pages link the terms of the glossary, and name the choices that the program has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixtures.commands import commands
from typer import Context

from docs.tools.markdown import NOTICE
from medsim.audits import KINDS
from medsim.core.options import declared

DOCS = Path(__file__).parents[2] / "docs"
GLOSSARY = DOCS / "reference" / "glossary.md"
PAGES = [
    page
    for page in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))
    if page != GLOSSARY and not page.read_text(encoding="utf-8").startswith(NOTICE)
]
FORMS = {
    "AUC": "AUCs?(?! beyond)",
    "AUC beyond spelling": "AUC beyond spelling|headline scores?",
    "Benchmark": "benchmarks?(?! `)",  # not a named measurement of speed
    "Component": "components?(?! module)",
    "Coverage": "coverage(?! probability)",
    "Edit distance": "(?:edit|Levenshtein) distances?",
    "Embedding model": "embeddings?(?: models?)?",
    "Group of concepts": "groups? of (?:linked )?concepts",
    "Kind of negatives": "kinds? of negatives",
    "Out of vocabulary": "out[ -]of[ -]vocabulary",
    "Paired comparison": "paired (?:comparison|test)s?",
    "Random seed": "(?:random )?seeds?",
    "Significance test": "significance tests?|significant(?:ly)?",
    "Stratum": "strat(?:um|a)",
    "Study": "stud(?:y|ies)",
    "Train/validation/test split": "(?:train/validation/)?(?:train|validation|test) splits?",
}
"""Forms of the terms that are more than the term, with or without an s."""

OTHER_MEANINGS = {
    "Benchmark": ("performance.md", "paper-rouhizadeh-2024.md"),  # of speed; in a title
    "Cluster": ("build-on-a-cluster.md", "environment.md"),
}
"""Pages on which a word is not the term of the glossary."""


def linked_terms() -> list[str]:
    """Return the terms of the second and third list of the glossary."""
    _, _, *lists = re.split("(?m)^## ", GLOSSARY.read_text(encoding="utf-8"))
    return [term for entries in lists for term in re.findall("(?m)^### (.*)$", entries)]


def prose(text: str) -> str:
    """Return the sentences of a page: no code, headings, tables, pictures, quotes or comments."""
    text = re.sub(r"(?ms)^ *```.*?^ *```|<!--.*?-->|^(?:#|\||>|!\[|    ).*?$", "", text)
    return re.sub(r"`[^`]*`", "`", text)


def first_use(term: str, text: str) -> str | None:
    """Return the first use of a term in prose if no link has it."""
    form = FORMS.get(term, f"{term}s?").replace(" ", r"\s+")
    for link, word in re.findall(
        rf"(?i)(\[[^\]]*\]\([^)]*\))|(?<![\w/-])({form})(?![\w/-])", prose(text)
    ):
        if word:
            return word
        if re.search(rf"(?i)(?<![\w/-])(?:{form})(?![\w/-])", link.partition("](")[0]):
            return None
    return None


def test_a_term_that_no_link_has_is_found() -> None:
    assert first_use("Edit distance", "# Edit distance\nBy edit\ndistance.") == "edit\ndistance"
    assert first_use("Edit distance", "[By edit distance](a.md), or edit distance") is None
    assert (
        first_use("Edit distance", "`edit distance` [edits](edit-distance)\n| edit distance |")
        is None
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_term_of_the_glossary_is_linked_at_its_first_use(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    terms = linked_terms()

    assert len(terms) > 35
    assert {
        term: use
        for term in terms
        if page.name not in OTHER_MEANINGS.get(term, ()) and (use := first_use(term, text))
    } == {}


def test_the_help_and_the_page_of_a_command_name_the_same_choices() -> None:
    n_compared = 0
    for name, command in commands().items():
        page = DOCS / "reference" / "commands" / f"{name.replace(' ', '-')}.md"
        text = page.read_text(encoding="utf-8").replace("\\_", "_")
        shown = command.get_help(Context(command, info_name=name))
        for option in declared(command.callback.options).values():
            for choice in option.choices or ():
                n_compared += 1
                word = rf"(?<![\w-]){re.escape(choice)}(?![\w-])"
                assert bool(re.search(word, shown)) == bool(re.search(word, text)), (name, choice)
                assert re.search(word, text), (name, choice)

    assert n_compared > 100


def test_the_guide_to_audits_explains_each_kind_of_finding_once_with_its_severity() -> None:
    text = (DOCS / "how-to" / "audit-a-release.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\w+) \|", text.partition("## What is found")[2])

    assert sorted(rows) == sorted((name, kind["severity"]) for name, kind in KINDS.items())
