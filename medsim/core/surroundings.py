"""Makes the program independent of what it is started in, or says what is wrong there."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from medsim.core.config import MOST_THREADS
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


try:
    import resource
except ImportError:  # there are systems without
    resource = None  # type: ignore[assignment]

_THREADS = ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
_FAILING = {"strict", "surrogateescape"}  # ways to encode, at a character that is lacking
_GIBIBYTE = 1 << 30
_LEAST_ADDRESSES = 4 * _GIBIBYTE  # libraries reserve more than they use, and crash without
_FEWEST_FILES, _ENOUGH_FILES = 128, 1024
_OWN_THREADS, _THREADS_OF_A_CORE = 40, 4  # a build with two cores has 40 at a time
_SMALL_STACK = 1 << 18  # bytes


def prepare() -> None:
    """Occupy the standard descriptors, and let neither text nor a warning end the program.

    To be called before anything is opened.
    """
    _occupy_descriptors()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _FAILING:
        sys.stdout.reconfigure(errors="replace")  # standard error never fails at a character
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # as arguments are; see text_of
    warnings.showwarning = _show_warning


def check_threads() -> None:
    """Raise OptionError if as many threads as a run may have cannot be started.

    Libraries crash then, NumPy as soon as it is imported, so this is to be called before.
    """
    wanted = _OWN_THREADS + _THREADS_OF_A_CORE * (os.cpu_count() or 1)
    done = threading.Event()
    usual = threading.stack_size(_SMALL_STACK)
    started: list[threading.Thread] = []
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise OptionError(
            f"only {len(started)} more threads can be started, and medsim needs {wanted}; raise "
            "the limit (ulimit -u, or that of the container)"
        ) from error
    finally:
        done.set()
        threading.stack_size(usual)
        for thread in started:
            thread.join()


def check() -> None:
    """Raise OptionError if libraries would crash or hang under the limits or variables there are.

    The limit on open files is raised as far as is allowed and needed.
    """
    for name in _THREADS:
        value = os.environ.get(name, "")
        if not value:
            os.environ.pop(name, None)  # as if it was not set
        elif not (value.isascii() and value.isdecimal() and 1 <= int(value[:9]) <= MOST_THREADS):
            raise OptionError(
                f"the environment variable {name} is {value!r}; unset it, or let it be a "
                f"number of threads, 1 to {MOST_THREADS}"
            )
    if resource is not None:
        _check_limits()


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


def _check_limits() -> None:
    addresses = resource.getrlimit(resource.RLIMIT_AS)[0]
    if addresses != resource.RLIM_INFINITY and addresses < _LEAST_ADDRESSES:
        raise OptionError(
            f"the address space is limited to {addresses / _GIBIBYTE:.1f} GiB, and the libraries "
            f"that medsim needs reserve {_LEAST_ADDRESSES // _GIBIBYTE} GiB; raise the limit "
            "(ulimit -v)"
        )
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH_FILES if most == resource.RLIM_INFINITY else min(most, _ENOUGH_FILES)
    if files != resource.RLIM_INFINITY and files < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            files = wanted
    if files != resource.RLIM_INFINITY and files < _FEWEST_FILES:
        raise OptionError(
            f"only {files} files may be open at once, and medsim needs {_FEWEST_FILES}; raise the "
            "limit (ulimit -n)"
        )


def _occupy_descriptors() -> None:
    """Open the null device where standard input, output or error is closed.

    Else the next file that is opened would take its place, and what libraries and other processes
    print would be written into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it takes the lowest number


def _show_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001 — as warnings.showwarning has it, and the next
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Write the first line of a warning; the rest, and where it arose, are for developers."""
    stream = file or sys.stderr
    if stream is not None:
        with suppress(OSError):
            stream.write(f"warning: {str(message).partition(chr(10))[0]}\n")


INTERRUPTED = 130  # as shells have it for SIGINT

_AGAIN_AFTER = 0.01  # seconds
_signals: list[int] = []


def interrupted() -> bool:
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
        if not interrupted() or (isinstance(error, SystemExit) and not error.code):
            raise
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)  # whoever is impatient need not wait
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write("interrupted\n")
        exec("")  # noqa: S102 — CPython forgets an interrupt of executed text, else it dies of it
        raise SystemExit(INTERRUPTED) from None


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _signals.append(number)
    raise KeyboardInterrupt


def _raise_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise what a callback or a finaliser dropped a moment later, where it is not dropped."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_AFTER)
    else:
        sys.__unraisablehook__(unraisable)
