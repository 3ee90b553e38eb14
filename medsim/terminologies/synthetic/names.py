"""Invents names of clinical concepts: families of near-duplicates, each name in many wordings."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies.synthetic.families import BLOCK, GROUP, Mode, places_of
from medsim.terminologies.synthetic.wordings import worded
from medsim.terminologies.synthetic.words import (
    AFTER,
    BEFORE,
    BRANCHES,
    CODAS,
    DETAILS,
    ENDINGS,
    ONSETS,
    SIDES,
    SPANISH_HEADS,
    VOWELS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from medsim.terminologies.synthetic.draws import Draws, Ints
    from medsim.terminologies.synthetic.families import Places

_HEAD_COLUMNS = ("head", "heads", "other", "form")
_APART = 1 << 40  # added to one kind of number, so that it never equals one of another kind
_SHARED = 0.15  # of the families share a course, a side or a detail
_OWN = 0.05  # of the concepts have one of their own
_WITH_AGENT = 0.06  # of the concepts in families of another mode
_OWN_CLAUSES = 0.2  # of the concepts have a tail of their own, not their family's
_WITH_CLAUSE = 0.08  # of the tails are not empty
_WITH_ANOTHER = 0.6  # of those that have one more
_N_CLAUSES = 2000
_MOST_CLAUSES = 7


class Names:
    """The names of all concepts that can be, by the concept's number."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        heads = [[noun.strip().split("|") for noun in one.heads.split(";")] for one in BRANCHES]
        self._n_heads = np.array([len(nouns) for nouns in heads])
        columns = zip(*(noun for nouns in heads for noun in nouns), strict=True)
        self._heads = pl.DataFrame(dict(zip(_HEAD_COLUMNS, map(list, columns), strict=True)))
        self._stems = _pool(map("".join, product(*map(str.split, (ONSETS, VOWELS, CODAS)))))
        self._middles = _pool(map("".join, product(VOWELS.split(), CODAS.split())))
        self._courses = _pool(["", *(f"{one} " for b in BRANCHES for one in b.courses.split())])
        self._sides = _pool(["", *(f"{one} " for one in SIDES.split())])
        details = product(DETAILS.split(), range(1, BLOCK + 1))
        self._details = _pool(["", *(f" {kind} {number}" for kind, number in details)])
        self._agents = _pool(one for b in BRANCHES for one in b.agents.split())
        self._clauses = self._invented_clauses()

    def wordings(self, concepts: Ints) -> pl.Series:
        """Return every wording of every concept; see ``worded``."""
        return worded(self._parts(concepts))

    def _parts(self, concepts: Ints) -> pl.DataFrame:
        places = places_of(concepts, self._draws)
        sites = self._site_keys(concepts, places)
        course = self._varied("course", concepts, places, Mode.COURSE)
        side = self._varied("side", concepts, places, Mode.SIDE)
        ordinal = np.where(places.mode == Mode.HEAD, places.ordinal, 0)
        parts = {
            "before": self._seldom("before", concepts, 0.015, BEFORE.split(";")),
            "course": self._courses.gather(np.where(course > 0, course + BLOCK * places.branch, 0)),
            "side": self._sides.gather(side),
            "stem": self._invented_stems("site", sites),
            "ending": self._one_of("ending", sites, ENDINGS.split()),
            "detail": self._details.gather(self._detail_numbers(concepts, places)),
            "agent": self._agent_phrases(concepts, places),
            "clauses": self._clause_phrases(concepts, places.family),
            "after": self._seldom("after", concepts, 0.03, AFTER.split(";")),
            "eponym": self._invented_stems("eponym", concepts),
            "spanish": self._one_of("spanish", places.family, SPANISH_HEADS.split(";")),
            "site_first": pl.Series([one.site_first for one in BRANCHES]).gather(places.branch),
        }
        heads = self._heads[self._head_numbers(places, ordinal)]
        return pl.DataFrame(parts).hstack(heads)

    def _varied(self, label: str, concepts: Ints, places: Places, mode: Mode) -> Ints:
        """Return a word from 1 to 16 for each concept, or 0 for none.

        In families of that mode the head has none and every other member its own; in others the
        whole family may share one, and a member may have one besides.
        """
        draws, family = self._draws, places.family
        shared = draws.choose(label, family, BLOCK)
        within = np.where(places.ordinal > 0, 1 + (shared + places.ordinal) % BLOCK, 0)
        common = np.where(draws.chance(f"{label} shared", family, _SHARED), 1 + shared, 0)
        own = 1 + draws.choose(f"{label} own", concepts, BLOCK)
        others = np.where(draws.chance(f"{label} owned", concepts, _OWN), own, common)
        return np.where(places.mode == mode, within, others)

    def _detail_numbers(self, concepts: Ints, places: Places) -> Ints:
        number = self._varied("detail", concepts, places, Mode.DETAIL)
        kind = self._draws.choose("detail kind", places.family, len(DETAILS.split()))
        return np.where(number > 0, kind * BLOCK + number, 0)

    def _head_numbers(self, places: Places, ordinal: Ints) -> Ints:
        """Return the row of each concept's head noun; families of a group get different ones."""
        n_heads = np.take(self._n_heads, places.branch)
        base = self._draws.choose("head", places.family // GROUP, n_heads)
        first = np.take(np.cumsum(self._n_heads) - self._n_heads, places.branch)
        noun: Ints = first + (base + 5 * (places.family % GROUP) + ordinal) % n_heads
        return noun

    def _site_keys(self, concepts: Ints, places: Places) -> Ints:
        """Return what each concept's site is drawn by: its group, its family or itself."""
        group = places.family // GROUP
        keys = np.where(places.mode == Mode.HEAD, places.family + _APART, group)
        return np.where(places.mode == Mode.SITE, concepts + 2 * _APART, keys)

    def _agent_phrases(self, concepts: Ints, places: Places) -> pl.Series:
        draws, is_mode = self._draws, places.mode == Mode.AGENT
        wanted = np.where(is_mode, places.ordinal > 0, draws.chance("agent", concepts, _WITH_AGENT))
        keys = np.where(is_mode, concepts, places.family)
        word = places.branch * 8 + draws.choose("agent word", keys, 8)
        parts = pl.DataFrame(
            {
                "wanted": wanted,
                "joint": pl.Series([one.connective for one in BRANCHES]).gather(places.branch),
                "stem": self._invented_stems("agent", keys),
                "word": self._agents.gather(word),
            }
        )
        phrase = pl.concat_str("joint", "stem", pl.lit("al "), "word")
        return parts.select(pl.when("wanted").then(phrase).otherwise(pl.lit(""))).to_series()

    def _clause_phrases(self, concepts: Ints, families: Ints) -> pl.Series:
        """Return a tail for each concept: mostly none, seldom up to seven clauses.

        Most members of a family share its tail, so that long names have near-duplicates too.
        """
        draws = self._draws
        is_own = draws.chance("own clauses", concepts, _OWN_CLAUSES)
        keys = np.where(is_own, concepts + _APART, families)
        lot = draws.choose("clauses", keys, 1 << 30) / (1 << 30)
        clauses = {}
        for place in range(_MOST_CLAUSES):
            number = 1 + draws.choose(f"clause {place}", keys, _N_CLAUSES)
            offset = 0 if place == 0 else _N_CLAUSES
            wanted = lot < _WITH_CLAUSE * _WITH_ANOTHER**place
            clauses[str(place)] = self._clauses.gather(np.where(wanted, number + offset, 0))
        return pl.DataFrame(clauses).select(pl.concat_str(pl.all())).to_series()

    def _invented_clauses(self) -> pl.Series:
        """Return no clause, then clauses that come first, then the same to come later."""
        numbers = np.arange(_N_CLAUSES)
        heads = self._heads["head"].gather(self._draws.choose("clause", numbers, self._n_heads[0]))
        stems = self._invented_stems("clause site", numbers)
        ends = [f"{head} of {stem}a" for head, stem in zip(heads, stems, strict=True)]
        return _pool(["", *(f" with {end}" for end in ends), *(f" and {end}" for end in ends)])

    def _invented_stems(self, label: str, keys: Ints) -> pl.Series:
        """Return a word stem for each key, out of five million."""
        start = self._stems.gather(self._draws.choose(f"{label} start", keys, len(self._stems)))
        middle = self._draws.choose(f"{label} middle", keys, len(self._middles))
        return start + self._middles.gather(middle)

    def _one_of(self, label: str, keys: Ints, words: list[str]) -> pl.Series:
        return _pool(words).gather(self._draws.choose(label, keys, len(words)))

    def _seldom(
        self, label: str, concepts: Ints, probability: float, words: list[str]
    ) -> pl.Series:
        number = 1 + self._draws.choose(label, concepts, len(words))
        wanted = self._draws.chance(f"{label} at all", concepts, probability)
        return _pool(["", *words]).gather(np.where(wanted, number, 0))


def _pool(texts: Iterable[str]) -> pl.Series:
    return pl.Series(list(texts), dtype=pl.String)
