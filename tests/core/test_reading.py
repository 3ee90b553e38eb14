"""Reading files of users: what is opened, what is refused, and the messages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from medsim.core.errors import InputError, OptionError
from medsim.core.reading import (
    MIB,
    check_file,
    expanded,
    open_file,
    parsed_json,
    read_json,
    reading,
    unpacked,
)

pytestmark = pytest.mark.usefixtures("alarm")


def test_only_files_and_links_to_files_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most 107 characters
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "piped").symlink_to("pipe")

    with open_file(tmp_path / "link") as stream:
        assert stream.read() == b"abc"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    listener.close()
    for name, message in (
        (Path("socket"), "socket"),
        (tmp_path / "pipe", "is a pipe, socket or device; save its output to a file"),
        (tmp_path / "piped", "is a pipe"),
        (tmp_path, "is a folder; give a file in it"),
        (Path("/dev/zero"), "device; save"),
    ):
        with pytest.raises(InputError, match=message):
            open_file(name)
    with pytest.raises(FileNotFoundError):
        check_file(tmp_path / "nothing")


class PanicException(BaseException):
    """The error that PyO3 raises for a panic."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("bad\n  header"), "FILE cannot be read as npy (bad header)"),
        (RecursionError("maximum"), "it is nested too deeply"),
        (MemoryError(), "(out of memory)"),
        (KeyError("descr"), "(its content is not as expected)"),
        (AssertionError(), "(its content is not as expected)"),
        (ValueError("EntitiesForbidden(name='a', system_id=None)"), "(its content is not as"),
        (ValueError("<zipfile.ZipInfo object at 0x7f>"), "(its content is not as expected)"),
        (ValueError("not enough values to unpack (expected 2, got 1)"), "(its content is not as"),
        (ValueError("could not convert string to float: 'x'"), "convert string to float: 'x')"),
        (OSError(5, "Input/output error", "other"), "(Input/output error)"),
        (PanicException("called unwrap"), "(its content is not as expected)"),
        (UnicodeError("x" * 5000), "x" * 200 + "…)"),
    ],
)
def test_any_error_of_a_library_becomes_one_short_line(error: BaseException, message: str) -> None:
    with pytest.raises(InputError) as caught, reading("FILE", "npy"):
        raise error

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2), OptionError("as it is")])
def test_interrupts_and_errors_of_medsim_pass(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, reading("FILE", "npy"):
        raise error

    assert caught.value is error


def test_suspicious_compression_ratio_is_refused() -> None:
    honest, nothing = os.urandom(3 * MIB), bytes(8 * MIB)
    for content, is_read in ((honest, True), (nothing, False), (nothing[:MIB], True)):
        packed = gzip.compress(content, 6)
        stream = unpacked(io.BufferedReader(io.BytesIO(packed)), "FILE", len(packed))
        if is_read:
            assert stream.read() == content
        else:
            with pytest.raises(InputError, match=r"200 times its size.*, unpack it yourself"):
                stream.read()


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_a_bomb_is_refused_before_much_of_it_is_unpacked(module: Any) -> None:
    part, unread = module.compress(bytes(4 * MIB)), os.urandom(8 * MIB)
    packed = io.BufferedReader(io.BytesIO(part * 20 + unread))  # all of it has a ratio of 10
    stream, n_read = unpacked(packed, "FILE", 20 * len(part) + len(unread)), 0

    def read_all() -> None:
        nonlocal n_read
        while part := stream.read(MIB):
            n_read += len(part)

    with pytest.raises(InputError, match="200 times its size"):
        read_all()

    assert n_read <= 40 * MIB


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, r"is not JSON \(it is nested too deeply\)"),
        ("9" * 5000, r"is not JSON \(its content is not as expected\)"),
        ('{"a"', r"is not JSON \(Expecting .*\)"),
        (b'["\xff"]', r"is not JSON \(.utf-8. codec .*\)"),
    ],
)
def test_json_is_refused_in_one_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "v.json").write_bytes(data)

    with pytest.raises(InputError, match=rf"^PLACE {message}; export it again$"):
        parsed_json("PLACE", text, "export it again")
    with pytest.raises(InputError, match=message):
        read_json(tmp_path / "v.json")


def test_home_folder_of_an_unknown_user_is_named() -> None:
    with pytest.raises(OptionError, match=r"'~nosuchuser/v\.txt' begins with the home folder"):
        expanded("~nosuchuser/v.txt")
