"""Variants of words by the SPECIALIST Lexicon: inflections, spellings and nominalisations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.reading import decoded, open_file
from medsim.core.tables.text import LONGEST_LINE, checked_lines
from medsim.studies.words.filters import has_white_space
from medsim.studies.words.frequencies import normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_FILES = {"LRAGR": (6, 1, 5), "LRSPL": (3, 1, 2), "LRNOM": (6, 1, 4)}
"""The number of fields of a file, and those that have a word and the word that it goes to.

LRAGR has EUI, inflected form, category, agreement, citation form and base; LRSPL has EUI, spelling
and base; LRNOM has EUI, base and category of a nominalisation, then those of its verb or adjective.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """The variants of words, in lower case; each table has what a word goes to.

    Attributes:
        bases: of inflected forms and spellings.
        forms: of bases, the other way.
        nominalisations: of bases, either way: phosphorylation and phosphorylate.
    """

    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    forms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    nominalisations: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def variants(self, word: str) -> set[str]:
        """Return a word with its variants: all forms of its bases and of their nominalisations."""
        bases = {word} | _all_of(self.bases, [word])
        bases |= _all_of(self.nominalisations, bases)
        return bases | _all_of(self.forms, bases)


def read_lexicon(paths: Sequence[Path]) -> Lexicon:
    """Return the variants in files of the SPECIALIST Lexicon: LRAGR, LRNOM and LRSPL.

    Fields have bars between them, as the UMLS Reference Manual (section 6) describes the files of
    its relational format; words of several words are skipped.

    Args:
        paths: files by these names, with any ending, and folders that have some of them.

    Raises:
        InputError: a file cannot be read, is none of these, or has a line with too few fields.
    """
    lexicon = Lexicon()
    for path in paths:
        for kind, file in _files_of(path):
            for word, base in _words_of(kind, file):
                if kind == "LRNOM":
                    lexicon.nominalisations[word].add(base)
                    lexicon.nominalisations[base].add(word)
                else:
                    lexicon.bases[word].add(base)
                    lexicon.forms[base].add(word)
    return lexicon


def _files_of(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder, or the file itself, by their kinds."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    known = [(file.name.split(".")[0].upper(), file) for file in files]
    found = [(kind, file) for kind, file in known if kind in _FILES]
    if not found:
        has = "has none" if path.is_dir() else "is none"
        raise InputError(f"{path} {has} of the SPECIALIST Lexicon's files {', '.join(_FILES)}")
    yield from found


def _words_of(kind: str, path: Path) -> Iterator[tuple[str, str]]:
    n_fields, *places = _FILES[kind]
    number = 0
    for number, line in enumerate(_lines_of(path), start=1):
        fields = line.rstrip("\r\n").split("|")
        if len(fields) < n_fields and line.strip():
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields with bars between them, and "
                f"{kind} has {n_fields}"
            )
        if line.strip():
            word, base = normalised([fields[at].strip() for at in places])
            if word and base and word != base and not has_white_space(word + base):
                yield word, base
    if not number:
        raise InputError(f"{path} is empty")


def _lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, which may be larger than what is read as a whole."""
    try:
        with open_file(path) as stream:
            lines = enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1)
            texts = (decoded(line, path, number) for number, line in lines)
            yield from checked_lines(path, texts)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error


def _all_of(table: dict[str, set[str]], words: Iterable[str]) -> set[str]:
    return set().union(*(table.get(word, ()) for word in words))
