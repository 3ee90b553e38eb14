"""Counts words as BERT's tokenizer splits them."""

from __future__ import annotations

import unicodedata

_CHINESE = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F)),
    *((0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


class _Spaced(dict[int, str]):
    """A table for ``str.translate`` that puts spaces where BERT's tokenizer splits text."""

    def __missing__(self, code: int) -> str:
        char, category = chr(code), unicodedata.category(chr(code))
        if category[0] == "C" and char not in "\t\n\r":
            found = ""
        elif char.isspace() or category[0] == "P" or (char.isascii() and category[0] == "S"):
            found = " "
        elif any(first <= code <= last for first, last in _CHINESE):
            found = f" {char} "
        else:
            found = char
        self[code] = found
        return found


_SPACED = _Spaced()


def n_words(text: str) -> int:
    """Return how many words a text has for BERT's tokenizer, before it makes word pieces.

    It splits at white space and punctuation, and takes each Chinese character for a word (Devlin et
    al. 2018, the basic tokenizer). What has no letter and no digit is no word.
    """
    words = text.translate(_SPACED).split()
    return sum(any(map(str.isalnum, word)) for word in words)
