"""Runs a function in a process of its own, so that its memory and compilation are its own."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def apart(call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Return the result of a module's function, called in a fresh process.

    Peak memory is read inside, by the stages of ``medsim.core.progress``: what the system tells a
    parent (``ru_maxrss``) begins with the parent's own peak, and is lost where stages reset it.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(call, *arguments, **options).result()
