"""The search of the site where its pages are opened as files, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.browser import Watched

SHIM = Path(__file__).parents[2] / "docs" / "assets" / "iframe-worker.js"
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
def test_a_query_stays_as_it_was_typed_whatever_the_search_makes_of_it(
    browser, tmp_path: Path
) -> None:
    (tmp_path / "worker.js").write_text(WORKER, encoding="utf-8")
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")

    with browser.new_context() as context:
        watched = Watched(context, (tmp_path / "index.html").as_uri())
        watched.page.wait_for_function("document.title")

        assert watched.page.title() == "cleft CLEFT"
        assert watched.complaints == []
