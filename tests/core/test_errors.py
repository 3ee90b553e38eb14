"""Messages are one line that a terminal shows, of a length that people read."""

from __future__ import annotations

import pytest

from medsim.core.errors import LONGEST_VALUE, InputError, MedsimError, one_line

LONG = "x" * 100_000


@pytest.mark.parametrize(
    "value", [LONG, repr(LONG), repr("a b " * 50_000), f'"{LONG}', "/a" * 50_000, "[" * 100_000]
)
def test_the_middle_of_a_long_value_is_left_out(value: str) -> None:
    said = str(InputError(f"file.csv: line 3 has {value}, which is no number; write one"))

    assert said.startswith("file.csv: line 3 has ")
    assert said.endswith("which is no number; write one")
    assert "\N{HORIZONTAL ELLIPSIS}" in said
    assert len(said) <= len("file.csv: line 3 has , which is no number; write one") + LONGEST_VALUE


def test_a_long_message_keeps_what_to_do_at_its_end() -> None:
    said = str(MedsimError("it has " + "one, " * 10_000 + "and more; leave some out"))

    assert len(said) <= 2_000
    assert said.startswith("it has one, one")
    assert said.endswith("and more; leave some out")


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        *(("\n", r"\n"), ("\r", r"\r"), ("\0", r"\x00"), ("\x1b[31m", r"\x1b[31m")),
        *(("\x9b", r"\x9b"), ("\u2028", r"\u2028"), ("\u202e", r"\u202e")),
        *(("\u2066", r"\u2066"), ("\u200f", r"\u200f")),
        ("\udcff", r"\udcff"),  # a byte of a file's name that is no UTF-8
    ],
)
def test_characters_that_steer_a_terminal_are_escaped(character: str, shown: str) -> None:
    said = str(MedsimError(f"/data/a{character}b.csv is no table; name another"))

    assert said == f"/data/a{shown}b.csv is no table; name another"
    said.encode()


@pytest.mark.parametrize(
    "text", ["", "caf\u00e9 \u80c3\u708e \U0001f986 \u200d", "it's `seed`", "a  b", "x" * 300]
)
def test_other_messages_stay_as_they_are(text: str) -> None:
    assert one_line(text) == text
    assert str(MedsimError(text)) == text
    assert str(type(MedsimError(text))(str(MedsimError(text)))) == text
