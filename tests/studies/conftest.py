"""A small build, a file of pairs, and annotators at their pages."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from medsim.studies.sheets import rendered_sheet

if TYPE_CHECKING:
    from fixtures.sittings import Sitting

    from medsim.studies.sheets import Sheet


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [(f"left{at:03}", f"right{at:03}", "xy"[at % 2]) for at in range(120)]
    file = tmp_path / "pairs.csv"
    pl.DataFrame(rows, schema=["term1", "term2", "domain"], orient="row").write_csv(file)
    return file


@pytest.fixture(scope="session")
def desk(browser) -> Iterator[object]:
    """A browser page for annotators without special options, one after the other."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def sit(browser, desk, tmp_path: Path) -> Iterator[Callable[..., Sitting]]:
    """Opens a sheet's page, in a new browser context unless one is given."""
    from fixtures.sittings import Sitting

    contexts: list = []
    at_desk: list[Sitting] = []

    def _sit(sheet: Sheet, *, context=None, script: str | None = None, **options) -> Sitting:
        content = rendered_sheet(sheet).encode()
        path = tmp_path / f"{zlib.crc32(content):08x}.html"
        path.write_bytes(content)
        if not (context or script or options or at_desk):
            at_desk.append(Sitting(desk.context, path.as_uri(), desk))
            return at_desk[0]
        if context is None:
            context = browser.new_context(**options)
            contexts.append(context)
        if script:
            context.add_init_script(script)
        return Sitting(context, path.as_uri())

    yield _sit
    for context in contexts:
        context.close()
    for sitting in at_desk:
        sitting.forget()


@pytest.fixture
def begun(sit) -> Callable[..., Sitting]:
    """Opens a sheet's page, begins to answer, and presses keys."""

    def _begun(sheet: Sheet, *keys: str, **options) -> Sitting:
        sitting = sit(sheet, **options)
        sitting.page.locator("#begin").click()
        sitting.press(*keys)
        return sitting

    return _begun
