"""Tests of pages on a machine without a browser."""

from __future__ import annotations

import shutil

import pytest
from fixtures.browser import chromium


@pytest.mark.parametrize(
    ("in_ci", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_without_a_browser_tests_of_pages_are_skipped_and_fail_in_ci(
    monkeypatch: pytest.MonkeyPatch, in_ci: str, outcome: type[Exception]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.delenv("MEDSIM_CHROMIUM", raising=False)
    monkeypatch.setenv("CI", in_ci)

    with pytest.raises(outcome, match="no Chromium is installed"):
        chromium()
