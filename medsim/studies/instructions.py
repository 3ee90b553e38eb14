"""What annotators read before they begin."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from medsim.core.errors import InputError

if TYPE_CHECKING:
    from medsim.studies.sheets import Scale

_LONGEST = 20_000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def instructions_of(scale: Scale, file: str | Path | None) -> tuple[str, ...]:
    """Return paragraphs for annotators: those of a text file, by default those of the scale.

    Paragraphs are parted by empty lines.

    Raises:
        InputError: the file cannot be read, or holds no text or too much.
    """
    if file is None:
        text = (files("medsim.studies") / f"{scale.name}.txt").read_text(encoding="utf-8")
    else:
        text = _read(Path(file))
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return tuple(filter(None, paragraphs))


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start + 1})") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    if (found := _CONTROL.search(text)) is not None:
        raise InputError(f"{path} is no plain text: it has the character {found[0]!r}")
    if not text.strip():
        raise InputError(f"{path} holds no text")
    if len(text) > _LONGEST:
        raise InputError(f"{path} has {len(text):,} characters; up to {_LONGEST:,} are accepted")
    return text
