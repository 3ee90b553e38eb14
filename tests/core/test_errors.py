"""Messages are one printable line of limited length."""

from __future__ import annotations

import pytest

from medsim.core.errors import LONGEST_VALUE, InputError, MedsimError, one_line

LONG = "x" * 100_000


@pytest.mark.parametrize(
    "value", [LONG, repr(LONG), repr("a b " * 50_000), f'"{LONG}', "/a" * 50_000, "[" * 100_000]
)
def test_long_value_is_shortened_in_the_middle(value: str) -> None:
    text = str(InputError(f"file.csv: line 3 has {value}, not a number; write one"))

    assert text.startswith("file.csv: line 3 has ")
    assert text.endswith("not a number; write one")
    assert "\N{HORIZONTAL ELLIPSIS}" in text
    assert len(text) <= len("file.csv: line 3 has , not a number; write one") + LONGEST_VALUE


def test_long_message_keeps_its_end() -> None:
    message = str(MedsimError("it has " + "one, " * 10_000 + "and more; leave some out"))

    assert len(message) <= 2_000
    assert message.startswith("it has one, one")
    assert message.endswith("and more; leave some out")


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        *(("\n", r"\n"), ("\r", r"\r"), ("\0", r"\x00"), ("\x1b[31m", r"\x1b[31m")),
        *(("\x9b", r"\x9b"), ("\u2028", r"\u2028"), ("\u202e", r"\u202e")),
        *(("\u2066", r"\u2066"), ("\u200f", r"\u200f")),
        ("\udcff", r"\udcff"),  # a byte of a file name that is not UTF-8
    ],
)
def test_terminal_control_characters_are_escaped(character: str, shown: str) -> None:
    message = str(MedsimError(f"/data/a{character}b.csv is not a table; name another"))

    assert message == f"/data/a{shown}b.csv is not a table; name another"
    message.encode()


@pytest.mark.parametrize(
    "text", ["", "caf\u00e9 \u80c3\u708e \U0001f986 \u200d", "it's `seed`", "a  b", "x" * 300]
)
def test_other_messages_are_unchanged(text: str) -> None:
    assert one_line(text) == text
    assert str(MedsimError(text)) == text
    assert str(type(MedsimError(text))(str(MedsimError(text)))) == text
