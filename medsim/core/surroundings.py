"""Makes the program independent of what it is started in, or says what is wrong there."""

from __future__ import annotations

import io
import os
import resource
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


_FAILING = {"strict", "surrogateescape"}  # ways to encode, at a character that is lacking
_ENOUGH_FILES = 1024


def prepare() -> None:
    """Occupy the standard descriptors, and let text, warnings and open files not end the program.

    To be called before anything is opened.
    """
    for descriptor in range(3):
        # Else the next file that is opened would take the place of a closed one, and what libraries
        # and other processes print would be written into that file.
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it takes the lowest number
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _FAILING:
        sys.stdout.reconfigure(errors="replace")  # standard error never fails at a character
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # as arguments are; see text_of
    warnings.showwarning = _show_warning
    with suppress(OSError, ValueError):  # the limit is low on macOS
        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _ENOUGH_FILES if most == resource.RLIM_INFINITY else min(most, _ENOUGH_FILES)
        if files != resource.RLIM_INFINITY and files < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def text_of(given: str) -> str:
    """Return the text of an argument or of standard input, in UTF-8 where the locale lacks it.

    Raises:
        OptionError: its bytes are no text.
    """
    if given.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in given):
        return given
    try:
        return given.encode(sys.getfilesystemencoding(), "surrogateescape").decode()
    except UnicodeError as error:
        raise OptionError(f"{given!a} is not UTF-8; write it in UTF-8") from error


def _show_warning(message: Warning | str, *_where: Any, **_others: Any) -> None:
    """Write the first line of a warning; the rest, and where it arose, are for developers."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"warning: {str(message).partition(chr(10))[0]}\n")


INTERRUPTED = 130  # as shells have it for SIGINT

_signals: list[int] = []


def interrupted() -> bool:
    """Return whether the program was interrupted; any error may be what became of that."""
    return bool(_signals)


@contextmanager
def ending_in_one_line() -> Iterator[None]:
    """End the program in one line and exit code 130 if SIGINT or SIGTERM comes meanwhile.

    Libraries make other errors of a ``KeyboardInterrupt``: any error after a signal counts as it.

    Raises:
        SystemExit: the program was interrupted; or what was raised, if it was not.
    """
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        numbers.append(signal.SIGINT)
    for number in numbers:
        signal.signal(number, _interrupt)
    try:
        yield
    except BaseException as error:
        if not interrupted() or (isinstance(error, SystemExit) and not error.code):
            raise
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)  # whoever is impatient need not wait
        if sys.stderr is not None:
            with suppress(OSError):
                sys.stderr.write("interrupted\n")
        raise SystemExit(INTERRUPTED) from None


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _signals.append(number)
    raise KeyboardInterrupt
