"""Interrupts: the program ends in one line and one exit code, whatever runs."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

EXIT_CODE = 130  # as shells have it for SIGINT

_AGAIN_AFTER = 0.01  # seconds
_signals: list[int] = []


def came() -> bool:
    """Return whether the program was interrupted; any error may be what became of that."""
    return bool(_signals)


@contextlib.contextmanager
def ending_in_one_line() -> Iterator[None]:
    """End the program in one line and exit code 130 if SIGINT or SIGTERM comes meanwhile.

    Libraries that call Python back drop a ``KeyboardInterrupt`` or make another error of it. One
    that is dropped is raised again, and any error after a signal counts as the signal.

    Raises:
        SystemExit: the program was interrupted; or what was raised, if it was not.
    """
    numbers = [signal.SIGTERM, signal.SIGALRM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        numbers.append(signal.SIGINT)
    for number in numbers:
        signal.signal(number, _interrupt)
    sys.unraisablehook = _raise_again
    try:
        yield
    except BaseException as error:
        if not came() or (isinstance(error, SystemExit) and not error.code):
            raise
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)  # whoever is impatient need not wait
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write("interrupted\n")
        exec("")  # noqa: S102 — CPython forgets an interrupt of executed text, else it dies of it
        raise SystemExit(EXIT_CODE) from None


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _signals.append(number)
    raise KeyboardInterrupt


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise what a callback or a finaliser dropped a moment later, where it is not dropped."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_AFTER)
    else:
        sys.__unraisablehook__(unraisable)
