"""Text of values that is the same in every version of Python, for digests."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


_LAST_OF_PLANE = 0xFFFF
_NONCHARACTERS = 0xFFFE  # and the one after it, in every plane

# First and last code points above U+00FF that are escaped, in order: those that Unicode 14, the
# version of Python 3.11, knows and does not count as printable (separators, format characters,
# surrogates, private use), and noncharacters.
_ESCAPED = (
    *((0x0600, 0x0605), (0x061C, 0x061C), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891)),
    *((0x08E2, 0x08E2), (0x1680, 0x1680), (0x180E, 0x180E), (0x2000, 0x200F), (0x2028, 0x202F)),
    *((0x205F, 0x2064), (0x2066, 0x206F), (0x3000, 0x3000), (0xD800, 0xF8FF), (0xFDD0, 0xFDEF)),
    *((0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0x110BD, 0x110BD), (0x110CD, 0x110CD)),
    *((0x13430, 0x13438), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE0001)),
    *((0xE0020, 0xE007F), (0xF0000, 0xFFFFF), (0x100000, 0x10FFFF)),
)
_FIRST = tuple(first for first, _ in _ESCAPED)

# Matches whole escapes, so that a doubled backslash does not begin one.
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|.)", re.DOTALL)


def canonical_text(value: object) -> str:
    r"""Return the ``repr`` of a value, with the same characters escaped in every Python version.

    Python's ``repr`` escapes a character that its version of Unicode does not know: U+1C89 of
    Unicode 16 is "\u1c89" in Python 3.11 and unescaped in Python 3.14. Here it is never escaped.
    If all characters are in Unicode 14, the result is the same as ``repr`` in Python 3.11.

    Args:
        value: texts, numbers, None, and tuples, lists and data classes of these.
    """
    return _ESCAPE.sub(_unescaped, repr(value))


def canonical_digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical text, in hex."""
    return hashlib.sha256(canonical_text(value).encode()).hexdigest()


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if digits is None:
        return match[0]
    code_point = int(digits, 16)
    row = bisect_right(_FIRST, code_point) - 1
    is_escaped = row >= 0 and code_point <= _ESCAPED[row][1]
    if is_escaped or code_point & _LAST_OF_PLANE >= _NONCHARACTERS:
        return match[0]
    return chr(code_point)


_TEXTS = 1 << 16  # per part


def text_parts(column: pl.Series) -> Iterator[tuple[NDArray[np.int64], memoryview]]:
    """Yield a column of texts without nulls in parts: the start of each text, and the UTF-8.

    Starts are int64[n_texts + 1] byte offsets with an arbitrary origin; the last is the end.
    """
    for first in range(0, len(column), _TEXTS):
        array = column.slice(first, _TEXTS).to_arrow()
        _, bounds, text = array.buffers()
        starts = np.frombuffer(bounds, np.int64)[array.offset : array.offset + len(array) + 1]
        if text is None:
            yield starts, memoryview(b"")
        else:
            yield starts, memoryview(text)[starts[0] : starts[-1]]
