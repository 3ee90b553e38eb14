"""Watches Numba for kernels that it compiles, which happens once on a machine."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from numba.core.event import Event, Listener, install_listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class CompileTimes(Listener):
    """The seconds that kernels took to compile; what one calls counts as a part of it.

    Args:
        begins: called when the first kernel begins to compile.
    """

    def __init__(self, begins: Callable[[], None]) -> None:
        self._begins = begins
        self._depth = 0
        self._began = 0.0
        self.is_begun = False
        self.seconds = 0.0

    def on_start(self, event: Event) -> None:  # noqa: ARG002 — Numba's
        """Count a kernel that begins to compile."""
        if self._depth == 0:
            self._began = time.monotonic()
            if not self.is_begun:
                self.is_begun = True
                self._begins()
        self._depth += 1

    def on_end(self, event: Event) -> None:  # noqa: ARG002 — Numba's
        """Count a kernel that is compiled."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.monotonic() - self._began


@contextmanager
def compile_watch(begins: Callable[[], None]) -> Iterator[CompileTimes]:
    """Give the body the times of what is compiled in it; code that was kept takes none."""
    times = CompileTimes(begins)
    with install_listener("numba:compile", times):
        yield times
