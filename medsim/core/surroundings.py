"""Makes the program independent of its environment, or reports a problem there."""

from __future__ import annotations

import io
import multiprocessing
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

from medsim.core.errors import OptionError

_FAILING = {"strict", "surrogateescape"}  # error handlers that raise for an unencodable character
_ENOUGH_FILES = 1024


def prepare() -> None:
    """Prepare standard streams, warnings and the limit on open files.

    Must be called before any file is opened.
    """
    for descriptor in range(3):
        # Else the next opened file would get the number of a closed standard stream, and output of
        # libraries and child processes would go into that file.
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _FAILING:
        sys.stdout.reconfigure(errors="replace")  # standard error never raises for a character
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # like arguments; see utf8_text
    warnings.showwarning = _show_warning
    with suppress(OSError, ValueError):  # the limit is low on macOS
        files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        enough = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH_FILES)
        if files != resource.RLIM_INFINITY and files < enough:
            resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def started(
    *arguments: str, stdin: int = subprocess.DEVNULL, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start Python in a silent process, which an interrupt from the terminal does not reach."""
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    return subprocess.Popen(
        (sys.executable, *arguments),
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
        env=os.environ | {"PYTHONPATH": paths},
        start_new_session=True,
    )


def user_cache(name: str) -> Path | None:
    """Return a folder in the user's cache folder; None if it is not writable."""
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(caches, "medsim", name)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def utf8_text(text: str) -> str:
    """Return the text of an argument or of standard input, as UTF-8 even in other locales.

    Raises:
        OptionError: the bytes are not UTF-8.
    """
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    try:
        return text.encode(sys.getfilesystemencoding(), "surrogateescape").decode()
    except UnicodeError as error:
        raise OptionError(f"{text!a} is not UTF-8; write it in UTF-8") from error


def _show_warning(message: Warning | str, *_where: Any, **_others: Any) -> None:
    """Write the first line of a warning, without its location in the code."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"warning: {str(message).partition(chr(10))[0]}\n")


INTERRUPTED = 130  # the shell's exit code for SIGINT

_ENDS_WITHIN = 5.0  # seconds; a signal ends the program after this time, whatever it does

_signals: list[int] = []


def interrupted() -> bool:
    """Return whether a signal came; any later error may be a consequence of it."""
    return bool(_signals)


@contextmanager
def ending_in_one_line() -> Iterator[None]:
    """End the program with one line and exit code 130 if SIGINT or SIGTERM arrives.

    It ends within seconds, even during a long call. Libraries turn a ``KeyboardInterrupt`` into
    other errors, so any error after a signal counts.

    Raises:
        SystemExit: the program was interrupted. Without a signal, errors pass unchanged.
    """
    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if SIGINT is ignored
        numbers.append(signal.SIGINT)
    for number in numbers:
        signal.signal(number, _interrupt)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    os.register_at_fork(after_in_child=partial(signal.set_wakeup_fd, -1))
    threading.Thread(target=_end_after_signal, args=(reader, numbers), daemon=True).start()
    try:
        yield
    except BaseException as error:
        if not interrupted() or (isinstance(error, SystemExit) and not error.code):
            raise
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)  # a second signal ends the program at once
        _say_interrupted()
        raise SystemExit(INTERRUPTED) from None


@cache
def _say_interrupted() -> None:
    """Print the line, once."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write("interrupted\n")
            sys.stderr.flush()


def _end_after_signal(pipe: int, numbers: Collection[int]) -> None:
    """End the program if it still runs some seconds after a signal, or if a second one comes.

    The system writes signals to the pipe at once. Python raises the error for a signal only between
    two of its own steps, which a long call of a kernel or a library delays.
    """
    while os.read(pipe, 1)[0] not in numbers:
        pass
    select.select([pipe], [], [], _ENDS_WITHIN)
    _say_interrupted()
    for process in multiprocessing.active_children():
        process.kill()
    os._exit(INTERRUPTED)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _signals.append(number)
    # Where the error below cannot be raised, as in a destructor, Python would print a traceback.
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt
