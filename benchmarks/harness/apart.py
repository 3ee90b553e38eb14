"""Runs a function in a new process, to measure its memory and compilation separately."""

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

    Peak memory is read inside, by the stages of ``medsim.core.progress``. The system's value for a
    parent process (``ru_maxrss``) would include the parent's peak, and stages reset it.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(call, *arguments, **options).result()
