"""The page of an annotator as text, tested without a browser."""

from __future__ import annotations

import json
import re

from fixtures.html import Outline, script_hashes
from fixtures.studies import HOSTILE, PAIRS, STUDY_ID, entry_id, sheet
from hypothesis import given
from hypothesis import strategies as st

from medsim.studies.sheets import GRADED, rendered_sheet

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(HOSTILE)


def test_page_has_the_whole_sheet_and_nothing_else_of_the_study() -> None:
    data = sheet(PAIRS[:2], annotator="Dr Grey", notice="Keep it.", scale=GRADED, page_size=1)

    content = json.loads(Outline(rendered_sheet(data)).texts["script"][0])

    assert content == {
        "format": 1,
        "language": "en",
        "texts": {},
        "study": STUDY_ID,
        "title": "A study",
        "annotator": "Dr Grey",
        "scale": {
            "name": "graded",
            "question": "How similar are these two?",
            "parts": ["left", "right"],
            "noun": "pair",
            "graded": True,
            "marks": None,
            "commented": False,
            "answers": ["0", "1", "2", "3", "4", "5", "6"],
            "choices": [[str(rating)] * 3 for rating in range(7)],
        },
        "instructions": ["Say what is the same.", "Take your time."],
        "notice": "Keep it.",
        "page_size": 1,
        "entries": [[entry_id("Dr Grey", at), *PAIRS[at - 1]] for at in (1, 2)],
    }


@given(TEXTS, TEXTS, TEXTS)
def test_any_text_leaves_the_elements_of_the_page_unchanged(
    left: str, title: str, notice: str
) -> None:
    plain = Outline(rendered_sheet(sheet([("a", "b")], notice="c")))

    page = Outline(rendered_sheet(sheet([(left, "b")], title=title, notice=notice)))

    assert page.elements == plain.elements
    assert page.texts["script"][1:] == plain.texts["script"][1:]
    content = json.loads(page.texts["script"][0])
    assert (content["entries"][0][1], content["title"], content["notice"]) == (left, title, notice)


def test_only_its_two_scripts_may_run_and_nothing_points_outside_the_page() -> None:
    page = Outline(rendered_sheet(sheet([(term, "b") for term in HOSTILE])))
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    rules = dict(rule.split(" ", 1) for rule in str(policy).split("; "))

    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"].split() == script_hashes(page)
    assert rules.keys() == {
        *("default-src", "script-src", "style-src", "img-src", "base-uri", "form-action")
    }
    for tag, attributes in page.elements:
        assert not {"src", "action", "style"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href") in {None, "data:,"}
        assert tag not in {"a", "iframe", "img", "object", "base"}
    for script in page.texts["script"][1:]:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
        assert not re.search(r"fetch\(|XMLHttp|WebSocket|sendBeacon|https?:", script)


def test_ids_are_unique_and_every_reference_has_a_target() -> None:
    page = Outline(rendered_sheet(sheet()))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]

    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert set((attributes.get(name) or "").split()) <= set(ids)
