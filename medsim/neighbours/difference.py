"""Classifies the difference between two names, and finds the names that one word tells apart."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from operator import eq
from typing import NamedTuple

import numpy as np
import polars as pl
from rapidfuzz.distance import OSA

from medsim.core.data import toml_of
from medsim.kernels.types import Ids
from medsim.neighbours.search import pairs_within
from medsim.neighbours.spelling import is_respelled

_TOKEN = re.compile(r"[^\W\d_]+|\d+|\s+|[^\w\s]|_")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_OF_SERIES = ("number", "roman", "code")
_SPACES = re.compile(r"\s+")
_JOINERS = re.compile(r"[\s_\-\u00ad\u2010-\u2015\u2212]+")
# But no signs, primes of digits, and brackets within a word.
_PUNCTUATION = re.compile(r"(?<!\d)['\u2032]|(?!(?<=\w)[(\[])[^\w+'\u2032]|_")
_OTHER_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ß": "ss", "ł": "l", "đ": "d"})
_ROMAN = re.compile(r"(?=[ivx])x{0,3}(ix|iv|v?i{0,3})[a-e]?")

_LONG_WORD = 5  # letters of a word in which another letter is probably a typing error
_FREQUENT = 3  # names with a word that is probably right
_SHORTEST_STEM = 3  # letters of a word that takes an affix; shorter ones may be symbols
_NON = re.compile(rf"^non(?=\w{{{_SHORTEST_STEM}}})")
_REMEMBERED = 1 << 16  # differences


class NameDifference(NamedTuple):
    """How two names differ: a kind of the group "near", and the words in which they differ."""

    kind: str
    part1: str
    part2: str


class DifferenceClassifier:
    """Classifies differences between names in lower case, and remembers many of them."""

    def __init__(self, names: Iterable[str]) -> None:
        self._n_names = Counter(word for name in names for word in {*_WORD.findall(name)})
        self._tokens = lru_cache(_REMEMBERED)(_TOKEN.findall)
        self._kind = lru_cache(_REMEMBERED)(lambda *parts: next(self._kinds(*parts), "other"))

    def between(self, name1: str, name2: str) -> NameDifference:
        """Return the difference between two different names."""
        tokens1, tokens2 = self._tokens(name1), self._tokens(name2)
        start = _n_equal(tokens1, tokens2)
        if start and tokens1[start - 1].isdecimal():  # what follows may belong to the number
            start -= 1
        end = _n_equal(tokens1[start:][::-1], tokens2[start:][::-1])
        parts = (
            "".join(tokens1[start : len(tokens1) - end]),
            "".join(tokens2[start : len(tokens2) - end]),
        )
        return NameDifference(self._kind(*parts), *parts)

    def kinds(self, names1: Iterable[str], names2: Iterable[str]) -> pl.Series:
        """Return the kinds of the differences of pairs of names; any kind for equal names."""
        found = [self.between(*pair).kind for pair in zip(names1, names2, strict=True)]
        return pl.Series("difference", found, pl.String)

    def _kinds(self, part1: str, part2: str) -> Iterator[str]:
        """Yield the kinds that apply, the most specific first."""
        words1, words2 = _WORD.findall(part1), _WORD.findall(part2)
        if _letters(part1, words1) == _letters(part2, words2):  # else no fold makes them equal
            if [*filter(str.isdecimal, words1)] == [*filter(str.isdecimal, words2)]:
                yield from (kind for kind, fold in _FOLDS.items() if fold(part1) == fold(part2))
            if words1 == words2:
                yield "code"  # a sign or a prime
        only1, only2 = words1, words2
        if len({*words1, *words2}) < len(words1) + len(words2):
            all1, all2 = Counter(words1), Counter(words2)
            if all1 == all2:
                moved = [one for one, other in zip(words1, words2, strict=True) if one != other]
                yield "number" if all(map(_is_number, moved)) else "word_order"
            only1, only2 = [*(all1 - all2).elements()], [*(all2 - all1).elements()]
        every = [*only1, *only2]
        if [*map(_unlettered, only1)] == [*map(_unlettered, only2)]:
            yield "code"  # IIIa and IIIb
        if {*every} == {"s"} and {"'", "\u2019"} & {*part1, *part2}:
            yield "plural"
        kinds = frozenset.intersection(*map(_kinds_of_word, every))
        yield from (kind for kind in _OF_WORDS if kind in kinds)
        if len(only1) == len(only2):
            yield from (kind for kind, test in _OF_PAIRS.items() if all(map(test, only1, only2)))
        if len(only1) == len(only2) == 1 and OSA.distance(only1[0], only2[0]) == 1:
            rare, frequent = sorted((self._n_names[only1[0]], self._n_names[only2[0]]))
            is_long = min(map(len, every)) >= _LONG_WORD
            yield "typo" if is_long and rare == 1 and frequent >= _FREQUENT else "letter"


def _n_equal(tokens1: Sequence[str], tokens2: Sequence[str]) -> int:
    """Return the number of equal tokens at the start of two lists."""
    return [*map(eq, tokens1, tokens2), False].index(False)


def without_accents(text: str) -> str:
    """Return a text in lower case without accents, and with letters such as æ spelled out."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.translate(_OTHER_LETTERS))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def folded(name: str) -> str:
    """Return a name in lower case without accents, hyphens and spaces."""
    return _JOINERS.sub("", without_accents(name))


def ordered(name: str) -> str:
    """Return the words of a name in lower case without accents, in order of text."""
    return " ".join(sorted(_WORD.findall(without_accents(name))))


def unmarked(name: str) -> str:
    """Return the words of a name without accents, sides and negations."""
    words = _WORD.findall(without_accents(name))
    return " ".join(filter(None, (_UNMARKED.get(word, _NON.sub("", word)) for word in words)))


def _letters(part: str, words: Sequence[str]) -> str:
    """Return the letters and digits of a text with some words, without accents."""
    return "".join(words if part.isascii() else _WORD.findall(without_accents(part)))


def series_of(kind: str, name1: str, name2: str) -> str | None:
    """Return what two names have in common if they are of a series, such as "type #".

    The words that can make a difference of the kind are replaced by "#"; then the names are equal.
    None if they are not, or if the kind is not number, roman or code.
    """
    if kind not in _OF_SERIES:
        return None
    common = _masked(kind, name1)
    return common if _masked(kind, name2) == common else None


@lru_cache(_REMEMBERED)
def _masked(kind: str, name: str) -> str:
    return _WORD.sub(lambda word: "#" if _OF_WORDS[kind](word[0]) else word[0], name)


def words_in(name: str) -> list[str]:
    """Return the words and numbers of a name, in order."""
    return _WORD.findall(name)


_FOLDS: Mapping[str, Callable[[str], str]] = {
    "space": lambda part: _SPACES.sub("", part),
    "hyphen": lambda part: _JOINERS.sub("", part),
    "accent": folded,
    "punctuation": lambda part: _PUNCTUATION.sub("", without_accents(part)),
}


_LISTED = toml_of(__package__, "words.toml")
_NUMBERS = frozenset(_LISTED["numbers"].split())
_LETTERS, _SIDES, _NEGATIONS = (
    frozenset(_LISTED[name].split()) for name in ("letters", "sides", "negations")
)
_NOT = ("no", "not", "non")
_UNMARKED: Mapping[str, str] = {
    **dict.fromkeys([*_SIDES, *_NOT], ""),
    **dict(pair.split("/") for pair in _LISTED["negated"].split()),
}
"""Words of sides and negations, and the words that remain without them."""


@lru_cache(_REMEMBERED)
def _unlettered(word: str) -> str:
    """Return a Roman numeral without its letter, and any other word as it is."""
    return word.rstrip("abcde") if _ROMAN.fullmatch(word) else word


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in _NUMBERS


_OF_WORDS: Mapping[str, Callable[[str], object]] = {
    "number": _is_number,
    "roman": lambda word: _ROMAN.fullmatch(word) or _is_number(word),
    "side": _SIDES.__contains__,
    "negation": (_NEGATIONS | _SIDES).__contains__,
    "code": lambda word: len(word) == 1 or word in _LETTERS or _is_number(word),
}
"""Whether a word is of a kind; all words in which two names differ are."""


@lru_cache(_REMEMBERED)
def _kinds_of_word(word: str) -> frozenset[str]:
    return frozenset(kind for kind, is_such in _OF_WORDS.items() if is_such(word))


def _swapped(pairs: Iterable[Sequence[str]], *, at_end: bool = False) -> Callable[[str, str], bool]:
    """Return a test whether two words are the same without the affixes of a pair.

    Args:
        pairs: two affixes each, in either order.
        at_end: whether the affixes are suffixes rather than prefixes.
    """
    turn = slice(None, None, -1 if at_end else 1)
    others: dict[str, set[str]] = {}
    for pair in pairs:
        for one, other in permutations(pair, 2):
            others.setdefault(one[turn], set()).add(other[turn])
    n_most = max(map(len, others))

    @lru_cache(_REMEMBERED)
    def exchanged(word: str) -> frozenset[str]:
        word = word[turn]
        return frozenset(
            (other + word[n_cut:])[turn]
            for n_cut in range(min(n_most, len(word)) + 1)
            for other in others.get(word[:n_cut], ())
            if len(word) - n_cut >= _SHORTEST_STEM or (n_cut and other)
        )

    return lambda word1, word2: word2 in exchanged(word1)


def _pairs(name: str) -> list[list[str]]:
    return [pair.split("/") for pair in _LISTED[name].split()]


PLURALS = _pairs("plurals")
"""Endings of the singular and of the plural."""

_OF_PAIRS: Mapping[str, Callable[[str, str], bool]] = {
    "number": _swapped(permutations(_LISTED["counting"].split(), 2)),
    "opposite": _swapped(_pairs("opposites")),
    "spelling": is_respelled,
    "plural": _swapped(PLURALS, at_end=True),
    "negation": _swapped([(p, "") for p in _LISTED["negating"].split()]),
}
"""Whether two words differ in a certain way; all pairs of words in which two names differ do."""


_EXCHANGED: Mapping[str, Sequence[str]] = {
    **{"/".join(pair): pair for pair in _pairs("opposites")},
    "number": _LISTED["counting"].split(),
    "negation": ["", *_LISTED["negating"].split()],
}
"""The affixes of each kind; words differ by the kind if one has another affix than the other."""

_BEGINNINGS: Mapping[str, Sequence[str]] = {
    affix: [name for name, affixes in _EXCHANGED.items() if affix in affixes]
    for affix in {affix for affixes in _EXCHANGED.values() for affix in affixes}
}


def blanks_of(word: str) -> Sequence[str]:
    """Return what stands for a word where another may take its place.

    Two words that make a difference of the kinds side, negation, opposite, number, roman or code
    have an equal text, and other words may have one too. The text is empty for a word that may be
    left out. These are sides and "not", but not "absent", since "small lens" is not the contrary of
    "absent/small lens". The texts themselves are never words.
    """
    if word in _SIDES:
        return ["", "-side"]
    if word in _NEGATIONS:
        return ["", "-not"] if word in _NOT else ["-not"]
    if any(_OF_WORDS[kind](word) for kind in ("number", "roman", "code")):
        return ["#"]
    cuts = range(min(_LONGEST_AFFIX, len(word)) + 1)
    return [f"{name}:{word[cut:]}" for cut in cuts for name in _BEGINNINGS.get(word[:cut], ())]


_LONGEST_AFFIX = max(map(len, _BEGINNINGS))


MINIMAL_KINDS = ("side", "negation", "opposite", "number", "roman", "code", "letter")
"""The kinds of differences that one word makes; see ``DifferenceClassifier``."""

_ROWS = ["row1", "row2"]


def minimal_pairs(lower: pl.Series, components: Ids, threads: int) -> pl.DataFrame:
    """Return all pairs of unlinked names that differ in one word, by one of ``MINIMAL_KINDS``.

    A word is exchanged for another, is left out, or has another letter in one place.

    Args:
        lower: distinct names in lower case.
        components: int32[n_names]; pairs within a component are left out.
        threads: number of threads; results do not depend on it.

    Returns:
        row1 and row2, rows of names, the smaller first; difference, the kind. In order of the rows.
    """
    schema = {"row": pl.Int32, "key": pl.String, "is_short": pl.Boolean}
    keyed = pl.DataFrame(_keys(lower), schema, orient="row").unique()
    keyed = keyed.filter(pl.col("key").is_duplicated())
    both = keyed.join(keyed, on="key", suffix="2").filter(~pl.all_horizontal("^is_short.*$"))
    exchanged = both.select(row1="row", row2="row2")
    near = pl.DataFrame(pairs_within(lower, 1, threads=threads)[:2].T, exchanged.schema)
    pairs = pl.concat([exchanged, near]).unique().filter(pl.col("row1") < pl.col("row2"))
    is_linked = np.equal(*(components[pairs[row].to_numpy()] for row in _ROWS))
    pairs = pairs.filter(~pl.Series(is_linked)).sort(_ROWS)
    kinds = DifferenceClassifier(lower).kinds(*(lower.gather(pairs[row]) for row in _ROWS))
    return pairs.with_columns(kinds).filter(pl.col("difference").is_in(MINIMAL_KINDS))


def _keys(lower: pl.Series) -> Iterator[tuple[int, str, bool]]:
    """Yield the row of each name with its words, and with a blank for each word.

    Two names that differ in one word share a text, which is not that of both without a word. The
    last value says whether a word is left out. Blanks of only one word match nothing else.
    """
    words = [words_in(name) for name in lower]
    blanks = {word: blanks_of(word) for word in {word for of_name in words for word in of_name}}
    n_words = Counter(blank for of_word in blanks.values() for blank in of_word)
    for row, of_name in enumerate(words):
        yield row, " ".join(of_name), False
        for at, word in enumerate(of_name):
            for blank in blanks[word]:
                if not blank or n_words[blank] > 1:
                    words_left = filter(None, (*of_name[:at], blank, *of_name[at + 1 :]))
                    yield row, " ".join(words_left), not blank
