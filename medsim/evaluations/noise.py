"""Alters names as people who search do: typing errors, other spellings, another order of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice, permutations

import numpy as np

from medsim.core.data import toml_of
from medsim.core.terms import lowered
from medsim.neighbours.difference import PLURALS, DifferenceClassifier, without_accents
from medsim.neighbours.spelling import american

_LISTED = toml_of(__package__, "noise.toml")
_KEYS = _LISTED["keys"] | {key.upper(): keys.upper() for key, keys in _LISTED["keys"].items()}
_SMALL, _ORDERING = (frozenset(_LISTED["words"][name].split()) for name in ("small", "ordering"))
_ENDINGS = [ends for pair in PLURALS if pair[1].endswith("s") for ends in permutations(pair)]
"""Endings of the singular and plural in either order, without media, which may be either."""

_WORD = re.compile(r"(?<!\w)[^\W\d_]{5,}(?!\w)")  # an error makes a shorter one another word
_ROMAN = re.compile(r"[ivxlcdm]+")
_PHRASE = re.compile(r"(?=.*\w)[\w\s'-]+")
_SHORT = re.compile(r"[A-Z]{2,8}")  # an abbreviation
_SHORTEST_STEM = 3


class NoisyNames:
    """Alters names of a terminology, whose words decide what is an error and what is a word.

    Numbers, Roman numerals, abbreviations and words of fewer than five letters stay as they are.

    Args:
        names: all names of the terminology in lower case.
        concepts: the names of each concept, which have the abbreviations.
        seed: random seed of typing errors.
    """

    def __init__(self, names: Sequence[str], concepts: Iterable[Sequence[str]], seed: int) -> None:
        self._seed, self._classifier = seed, DifferenceClassifier(names)
        self._counts = Counter(chain.from_iterable(map(_WORD.findall, names)))
        spelled = ((word, american(word, self._counts)) for word in self._counts)
        pairs = (pair for pair in spelled if len({*pair}) > 1)
        respelled = dict(chain.from_iterable(map(permutations, pairs)))
        self._makers: dict[str, Callable[[str], str | None]] = {
            "word_order": _reordered,
            "spelling": lambda name: _replaced(name, _words_of(name), _cased(respelled.get)),
            "plural": lambda name: _replaced(
                name, reversed([*_words_of(name)]), _cased(self._other_number), 1
            ),
            "abbreviation": dict(chain.from_iterable(map(_abbreviated, concepts))).get,
            "accent": _unaccented,
        }

    def altered(self, name: str, kind: str, n_errors: int | None = None) -> str | None:
        """Return a name with noise of a kind; None if the kind does not apply to it.

        ``n_errors`` is the number of typing errors, at most one in a word; None for other kinds.
        """
        make = self._makers.get(kind)
        changed = make(name) if make else self._mistyped(name, kind, n_errors or 1)
        return None if changed == name else changed

    def _mistyped(self, name: str, kind: str, n_errors: int) -> str | None:
        words = [*_words_of(name)]
        digest = blake2b(f"{self._seed} {kind} {n_errors} {name}".encode(), digest_size=16).digest()
        draw = np.random.default_rng(int.from_bytes(digest, "big"))

        def error_in(word: str) -> str | None:
            errors = draw.permutation([*_errors(word, kind)]).tolist()
            return next(
                (error for error in errors if self._is_error(*lowered([word, error]))), None
            )

        order = (words[at] for at in draw.permutation(len(words)))
        return _replaced(name, order, error_in, n_errors) if len(words) >= n_errors else None

    def _is_error(self, word: str, changed: str) -> bool:
        """Return whether a word is changed, but is neither another word nor another spelling."""
        is_word = changed == word or changed in self._counts
        return not is_word and self._classifier.between(word, changed).kind == "letter"

    def _other_number(self, word: str) -> str | None:
        """Return the plural of a singular, or the singular of a plural, that names have."""
        stems = ((word.removesuffix(one), other) for one, other in _ENDINGS if word.endswith(one))
        forms = (stem + other for stem, other in stems if len(stem) >= _SHORTEST_STEM)
        known = (form for form in forms if form in self._counts)
        return max(known, key=self._counts.__getitem__, default=None)


def _words_of(name: str) -> Iterator[re.Match[str]]:
    """Yield the words that can be altered."""
    for match in _WORD.finditer(name):
        is_symbol = match.group().isupper() and not name.isupper()
        if not is_symbol and not _ROMAN.fullmatch(lowered([match.group()])[0]):
            yield match


def _replaced(
    name: str,
    words: Iterable[re.Match[str]],
    other: Callable[[str], str | None],
    n_words: int | None = None,
) -> str | None:
    """Return a name with other forms for those words that have one, or the first ``n_words``."""
    forms = ((word.start(), form) for word in words if (form := other(word.group())))
    chosen = dict(islice(forms, n_words))
    if len(chosen) < (n_words or 1):
        return None
    return _WORD.sub(lambda word: chosen.get(word.start(), word.group()), name)


def _cased(other: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Return a function of words in any case: another form in that case."""
    return lambda word: (form := other(*lowered([word]))) and _in_case_of(word, form)


def _in_case_of(word: str, form: str) -> str:
    """Return a form in the case of a word: all in upper case, only the first letter, or none."""
    if word.isupper():
        return form.upper()
    return form[0].upper() + form[1:] if word[:1].isupper() else form


def _errors(word: str, kind: str) -> Iterator[str]:
    """Yield a word with one typing error, at each place after the first letter."""
    for at in range(1, len(word)):
        before, letter, after = word[:at], word[at], word[at + 1 :]
        if letter not in _KEYS:
            continue
        if kind == "wrong_key":
            yield from (f"{before}{key}{after}" for key in _KEYS[letter])
        elif kind == "swap" and after[:1] in _KEYS:
            yield f"{before}{after[0]}{letter}{after[1:]}"
        elif kind == "drop":
            yield before + after
        elif kind == "double" and letter not in (before[-1], after[:1]):
            yield f"{before}{letter}{letter}{after}"


def _reordered(name: str) -> str | None:
    """Return a name with the part after its comma, or else its last word, at the front."""
    first, comma, last = name.partition(", ")
    if not comma:
        first, _, last = name.rpartition(" ")
        if not _WORD.fullmatch(last) or re.search(r"\d", name):
            return None
    has_order = {*re.findall(r"\w+", lowered([name])[0])} & _ORDERING
    are_phrases = _PHRASE.fullmatch(first) and _PHRASE.fullmatch(last)
    return f"{last} {first}" if are_phrases and not has_order else None


def _unaccented(name: str) -> str:
    """Return a name without accents, in its case."""
    plain = ((letter, without_accents(*lowered([letter]))) for letter in name)
    return "".join(
        _in_case_of(letter, form) if letter.isalpha() and form.isascii() else letter
        for letter, form in plain
    )


def _abbreviated(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names of a concept with an abbreviation, which is one of its names or follows one.

    An abbreviation is the initials of all words, or of those that are not small words such as "of".
    """
    shorts = [name for name in names if _SHORT.fullmatch(name)]
    for name in names:
        whole, _, bracket = name.partition(" (")
        words = re.findall(r"[^\W\d_]+", whole)
        large = [word for word in words if word not in _SMALL]
        initials = {"".join(word[0] for word in part).upper() for part in (words, large)}
        known = (short for short in (*shorts, bracket.removesuffix(")")) if short in initials)
        if len(words) > 1 and (short := next(known, None)):
            yield name, short
