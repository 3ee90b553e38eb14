"""Messages about damaged files are for users: without names of exceptions and texts of code."""

from __future__ import annotations

import random
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.sizes import sized
from fuzz.mutations import mutated
from fuzz.readers import READERS

import medsim
from medsim.core.errors import MedsimError

pytestmark = [pytest.mark.slow, pytest.mark.sized, pytest.mark.usefixtures("alarm")]

ROUNDS = sized(12)  # of damage for each reader
CODE = re.compile(
    r"\b[A-Z]\w*(Error|Exception|Forbidden|Warning)\b|\w\(\w+=|\w\(\)|NoneType|<[\w.]+ object"
    r"|\bobject has no attribute\b|\bto unpack\b|\bindex out of range\b"
)
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")  # of the file


def message_of(call: Callable[[], object]) -> str:
    """Return the message of a refused call; empty if it is not refused."""
    try:
        call()
    except MedsimError as error:
        return str(error)
    return ""


@pytest.mark.some(20)
@pytest.mark.parametrize("name", sorted(READERS))
def test_no_message_about_a_damaged_file_shows_code(tmp_path: Path, name: str) -> None:
    reader, draw = READERS[name], random.Random(zlib.crc32(name.encode()))  # noqa: S311 — no secret
    whole = tmp_path / "whole"
    whole.mkdir()
    place = reader.write(whole).relative_to(whole)
    for number in range(ROUNDS):
        folder = tmp_path / f"{number}"
        shutil.copytree(whole, folder)
        read = folder / place
        files = [read] if read.is_file() else sorted(read.glob(reader.damaged))
        files = [path for path in files if path.is_file()]
        file = draw.choice(files)
        file.write_bytes(mutated(file.read_bytes(), draw))
        message = message_of(lambda read=read: reader.read(read))
        shown = QUOTED.sub("", message.replace(str(folder), ""))
        assert not CODE.search(shown), message
        shutil.rmtree(folder)


def test_no_module_shows_the_name_of_an_exception() -> None:
    shown = re.compile(r"type\((error|exc|cause)\)\.__name__(?! [!=]= )|\{(error|exc|cause)!r\}")

    for file in Path(medsim.__file__).parent.rglob("*.py"):
        assert not shown.search(file.read_text(encoding="utf-8")), file
