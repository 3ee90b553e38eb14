"""Counts the modules and functions of medsim that a command enters.

Example: python -m benchmarks.entered build hpo -o OUT
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import medsim
from medsim.__main__ import main

if TYPE_CHECKING:
    from types import CodeType, FrameType

PACKAGE = Path(medsim.__file__).parent


def entered_by(arguments: list[str]) -> tuple[int, Counter[str]]:
    """Run a command, and count the functions that it enters.

    Functions, methods and bodies of classes count, in all threads; imports, lambdas and
    comprehensions do not.

    Returns:
        The exit code, and the number of functions by module.
    """
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            codes.add(frame.f_code)

    before, sys.argv = sys.argv, ["medsim", *arguments]
    threading.setprofile(note)
    sys.setprofile(note)
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        sys.argv = before
    paths = [path for code in codes if PACKAGE in (path := Path(code.co_filename)).parents]
    return status, Counter(path.relative_to(PACKAGE).as_posix() for path in paths)


if __name__ == "__main__":
    code, n_functions = entered_by(sys.argv[1:])
    for module, number in sorted(n_functions.items()):
        print(f"{number:5} {module}", file=sys.stderr)
    print(f"{len(n_functions)} modules, {n_functions.total()} functions", file=sys.stderr)
    sys.exit(code)
