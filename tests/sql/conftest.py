"""A store for the tests of SQL files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from medsim.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def store() -> Iterator[Store]:
    """Yield an empty store, with its macros."""
    with Store(threads=2) as opened:
        yield opened
