"""Libraries that come with extras of the package, which may be missing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needing(need: str, extra: str) -> Iterator[None]:
    """Turn what an import of the body raises where libraries are missing into an OptionError.

    Args:
        need: the libraries and what needs them, such as "a chart needs Altair".
        extra: that brings them.
    """
    try:
        yield
    except ImportError as error:
        raise OptionError(f"{need}; install medsim with its extra {extra}") from error
