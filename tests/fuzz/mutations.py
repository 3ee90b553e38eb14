"""Damages files like a disk, a transfer, an editor or an attacker."""

from __future__ import annotations

import random
import re

_EXTREMES = (
    *(b"0", b"-1", b"1e999", b"nan", b"4294967296", b"9223372036854775808", b"99999999", b"0.0"),
    *(b"9" * 5000, b"20201399", b"2020-02-30", b"0000-00-00"),
)
_SPECIAL = (
    *(b"", b"\0", b"\r", b"\n", b"\t", b"|", b'"', b"\\"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"null", b"[]", b"{}", b"true", b'""', b'"\\ud800"', b"[" * 20_000, b'{"a":' * 20_000),
    *(b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"\x93NUMPY", b"x" * 70_000, b"<a>" * 2_000),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_SEPARATOR = re.compile(rb"[\t|,;: ]")
_EDGES = (0, 1, 2, 3, 4, 8, 16, 64)
_LONGEST = 1 << 24  # bytes, since one change can make a long line a hundred times longer


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return bytes after one to four changes."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(_CHANGES)(data, draw)[:_LONGEST]
    return data


def _flip(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[_place(changed, draw)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _set(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    at, size = _place(data, draw), draw.choice((1, 2, 4, 8))
    changed[at : at + size] = draw.choice((b"\xff", b"\0", b"\x7f", b"\x80")) * size
    return bytes(changed)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: _place(data, draw)]


def _drop(data: bytes, draw: random.Random) -> bytes:
    at = _place(data, draw)
    return data[:at] + data[at + draw.choice(_EDGES) :]


def _double(data: bytes, draw: random.Random) -> bytes:
    begin, end = sorted((_place(data, draw), _place(data, draw)))
    return data[:end] + data[begin:end] + data[end:]


def _insert(data: bytes, draw: random.Random) -> bytes:
    at = _place(data, draw)
    return data[:at] + draw.choice(_SPECIAL) + data[at:]


def _lines(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    change = draw.randrange(4)
    if change == 0:
        del lines[at]
    elif change == 1:
        lines.insert(at, lines[other])
    elif change == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines[at] += lines[other] * draw.choice((1, 100))
    return b"\n".join(lines)


def _fields(data: bytes, draw: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    separator = _SEPARATOR.search(lines[at])
    if separator is None:
        return _insert(data, draw)
    fields = lines[at].split(separator[0])
    target, source = draw.randrange(len(fields)), draw.randrange(len(fields))
    fields[target] = draw.choice((fields[source], *_SPECIAL))
    lines[at] = separator[0].join(fields)
    return b"\n".join(lines)


def _numbers(data: bytes, draw: random.Random) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return _flip(data, draw)
    number = draw.choice(numbers)
    return data[: number.start()] + draw.choice(_EXTREMES) + data[number.end() :]


def _place(data: bytes | bytearray, draw: random.Random) -> int:
    """Return a position, often near an end, where headers and directories are."""
    if not data:
        return 0
    near = min(len(data) - 1, draw.randrange(200))
    return draw.choice((near, len(data) - 1 - near, draw.randrange(len(data))))


_CHANGES = (_flip, _set, _cut, _drop, _double, _insert, _lines, _fields, _numbers)
