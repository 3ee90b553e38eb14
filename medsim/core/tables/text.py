"""Files of unknown origin as text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.hashed import open_hashed

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 1 << 27
"""The most bytes that a file may have, some millions of lines; reading takes 20 times as much."""

LINE_END = re.compile(r"\r\n|\r|\n")

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NO_TEXT = {
    b"PK\x03\x04": "a workbook or a zip; save the sheet as CSV in UTF-8",
    b"\xd0\xcf\x11\xe0": "a workbook; save the sheet as CSV in UTF-8",
    b"PAR1": "Parquet, where text is read; write it as CSV",
}
_NUL = re.compile("\0")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_WEB_PAGE = re.compile(r"\s*<(!doctype\s+html|html|head)\b", re.IGNORECASE)
_WRAPPED = re.compile(
    # A page that begins with tags alone is a text file that somebody made to be looked at.
    r"(?P<tags>\s*(<[^<>]*>\s*){0,20}<pre>)(?P<text>.*?)(</pre>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The text of a file, and its provenance.

    Attributes:
        path: of the file.
        content: its characters, with the file's line ends and no byte order mark.
        warnings: what a reader of results should know, a sentence each.
        sha256: of the bytes that were read, in hex; empty for a text of no file.
    """

    path: Path
    content: str
    warnings: tuple[str, ...] = ()
    sha256: str = field(default="", compare=False)


def read_text(path: Path, *, guess: bool = True) -> Text:
    """Return the text of a file: UTF-8, or UTF-16 with its mark, as spreadsheets write it.

    A text that is wrapped in ``<pre>`` to be shown as a web page is unwrapped; what stood before it
    leaves blank lines, so that lines keep their numbers. With ``guess``, a file in neither encoding
    is taken for latin-1, with a warning, if nothing in it shows that it is no text.
    """
    data, sha256 = bytes_of(path)
    for begin, what in _NO_TEXT.items():
        if data.startswith(begin):
            raise InputError(f"{path} is {what}")
    encoding = "UTF-16" if data.startswith(_UTF_16) else "UTF-8"
    warnings: tuple[str, ...] = ()
    try:
        content = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if not guess or encoding == "UTF-16":
            raise InputError(
                f"{path} is not in {encoding}: byte {error.start + 1} is "
                f"0x{data[error.start]:02x}; save it as UTF-8"
            ) from error
        content = data.decode("latin-1")
        warnings = (f"{path.name} is not UTF-8 and was read as latin-1",)
    if (found := (_CONTROL if warnings else _NUL).search(content)) is not None:
        line = len(LINE_END.findall(content, 0, found.start())) + 1
        raise InputError(f"{path} is no text: line {line} has the character {found[0]!r}")
    if not content.strip():
        raise InputError(f"{path} is empty")
    content = _unwrapped(path, content)
    return Text(path=path, content=content, warnings=warnings, sha256=sha256)


def bytes_of(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file and their SHA-256, in hex."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file")
        with open_hashed(path) as stream:
            data = stream.read(LARGEST_FILE + 1)
            is_larger = len(data) > LARGEST_FILE
            sha256 = "" if is_larger else stream.finish()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if is_larger:
        raise InputError(f"{path} is larger than {LARGEST_FILE >> 20} MiB, more than is read")
    return data, sha256


def _unwrapped(path: Path, content: str) -> str:
    """Return a text without the web page around it, if there is one."""
    if not _WEB_PAGE.match(content):
        return content
    if (page := _WRAPPED.match(content)) is None:
        raise InputError(
            f"{path} is a web page; save the file that it shows, from its own address, or export it"
        )
    return "\n" * len(LINE_END.findall(page["tags"])) + page["text"]
