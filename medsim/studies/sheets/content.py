"""What files of answers hold: any file may be among them, so each value is checked and shown."""

from __future__ import annotations

import json

from medsim.core.errors import InputError

_LONGEST_SHOWN = 40


def parsed_json(place: str, text: str) -> object:
    """Return what a JSON text says.

    Args:
        place: where the text stands, for messages.
        text: of one value.

    Raises:
        InputError: the text is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{error.msg}, at character {error.pos + 1}"
        raise InputError(f"{place} is no JSON ({what}); export the file again") from error
    except ValueError as error:
        raise InputError(f"{place} has a number with too many digits") from error
    except RecursionError as error:
        raise InputError(f"{place} is JSON nested too deeply; export the file again") from error


def shown(value: object) -> str:
    """Return a value from a file as a message can show it: short, and nothing in it acts."""
    if isinstance(value, str):
        return f"{value[:_LONGEST_SHOWN]!r}{'…' if len(value) > _LONGEST_SHOWN else ''}"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value)[:_LONGEST_SHOWN]
