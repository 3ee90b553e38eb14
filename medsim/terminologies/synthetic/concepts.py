"""Invents concepts, their families of near-duplicates and their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from itertools import product
from string import Formatter
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from medsim.core.data import toml_of
from medsim.kernels.types import Flags
from medsim.terminologies.rf2_writer import sctids

Ints: TypeAlias = NDArray[np.int64]


CHANCES = toml_of(__package__, "chances.toml")
"""How often something happens."""

_WORDS = toml_of(__package__, "words.toml")
BRANCHES = _WORDS["branches"]
"""The words of each branch of the invented terminology."""


def _words(name: str) -> list[str]:
    return str(_WORDS[name]).split()


@dataclass(frozen=True, slots=True)
class Draws:
    """Random choices that are a hash of the seed, a label and a number (SplitMix64)."""

    seed: int

    def bits(self, label: str, numbers: Ints) -> NDArray[np.uint64]:
        """Return 64 random bits for each number, uint64[n]."""
        key = blake2b(f"{self.seed} {label}".encode(), digest_size=8).digest()
        mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(int.from_bytes(key, "little"))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))

    def choose(self, label: str, numbers: Ints, n_options: int | Ints) -> Ints:
        """Return an option from 0 to ``n_options - 1`` for each number, int64[n]."""
        return (self.bits(label, numbers) >> np.uint64(2)).astype(np.int64) % n_options

    def weigh(
        self, label: str, numbers: Ints, weights: Mapping[str, int], values: Mapping[str, int]
    ) -> Ints:
        """Return a value for each number, int64[n], as often as the value's name weighs."""
        options = np.repeat([values[name] for name in weights], [*weights.values()])
        return options[self.choose(label, numbers, len(options))]

    def chance(self, label: str, numbers: Ints, slots: int | Ints = 0) -> Flags:
        """Return, for each number, True with the label's probability in ``CHANCES``: bool[n].

        A label of components has a probability for each slot.
        """
        share = np.ravel(CHANCES["shares"][label])[slots]
        return (self.bits(label, numbers) >> np.uint64(11)) < share * 2.0**53


BLOCK = 16
"""Number of concepts in a block, which holds one or two families."""

GROUP = 3
"""Number of families that share a branch and mostly a site."""


PER_CATEGORY = BLOCK * GROUP
"""Number of concepts that each category has at least, with its own, in a large release."""

_CATEGORIES = {place: b["category"] for place, b in enumerate(BRANCHES) if "category" in b}


Mode = IntEnum("Mode", "SIDE COURSE DETAIL AGENT HEAD SITE", start=0)
"""The part of a name that differs between the members of a family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """The families and branches of concepts; every array is int64[n].

    Attributes:
        family: the number of the concept's family, whose members share most of their names.
        ordinal: the position in the family; 0 is its head, the most general concept.
        branch: the position of the branch in ``BRANCHES``.
        top: the number of the concept above the branch: its category, or the root.
        mode: the part of names that differs between the family's members.
    """

    family: Ints
    ordinal: Ints
    branch: Ints
    top: Ints
    mode: Ints


def families_of(concepts: Ints, draws: Draws) -> Families:
    """Return the families and branches of concepts, given their numbers, int64[n].

    After the first ``PER_CATEGORY`` concepts as many belong to each category, and the first of
    these is the category.
    """
    block = concepts // BLOCK
    cut = 1 + draws.choose("cut", block, BLOCK - 1)
    is_second = concepts % BLOCK >= cut
    family = 2 * block + is_second
    options = np.repeat(np.arange(len(BRANCHES)), [branch["weight"] for branch in BRANCHES])
    categories = np.array([*_CATEGORIES])
    is_categorys = [concepts // PER_CATEGORY == 1 + n for n in range(len(categories))]
    drawn = options[draws.choose("branch", family // GROUP, len(options))]
    branch = np.select(is_categorys, [*categories], drawn)
    is_in_category = branch[:, None] == categories
    top = is_in_category @ (PER_CATEGORY * (1 + np.arange(len(categories))))
    return Families(
        family=family,
        ordinal=concepts % BLOCK - np.where(is_second, cut, 0),
        branch=branch,
        top=top,
        mode=draws.weigh("mode", family, CHANCES["modes"], Mode.__members__),
    )


Wording = IntEnum(
    "Wording",
    "PLAIN REVERSED COMBINED INVERTED PLURAL REPHRASED EPONYM ACRONYM INITIALED DEFINITION "
    "RESPELLED SHORTENED UNSPECIFIED UPPER TITLE D_FIRST D_LAST OR_IN_BRACKETS AND_IN_BRACKETS",
    start=0,
)
"""The ways in which the name of a concept can be worded."""


def worded(parts: pl.DataFrame) -> pl.Series:
    """Return every wording of n names; ``wording`` of row ``i`` is at ``wording * n + i``."""
    initials = [pl.col(part).str.slice(0, 1) for part in ("course", "side", "head")]
    letters = (*initials, pl.col("stem").str.slice(0, 4), pl.col("ending").str.slice(0, 1))
    joined = pl.when(form="").then(pl.concat_str("ending", pl.lit(" "), "head")).otherwise("form")
    named = parts.with_columns(
        front=pl.concat_str("before", "course"),
        site=pl.concat_str("side", "stem", "ending"),
        tail=pl.concat_str("detail", "agent", "clauses", "after"),
        letters=pl.concat_str(letters).str.to_uppercase(),
        joined=joined,
        eponym=_capitalised(pl.col("eponym")),
    ).with_columns(four_letters=pl.col("letters").str.slice(0, 4))
    texts = named.select("other", **_made_of("parts")).with_columns(
        _capitalised(pl.exclude("other"))
    )
    plain = pl.col("PLAIN")
    modern = plain.str.replace_many(["ae", "oe", "our "], ["e", "e", "or "])
    shorter = plain.str.replace_many(_WORDS["shorter"])
    texts = texts.with_columns(
        RESPELLED=pl.when(modern != plain).then(modern).otherwise(plain + "s"),
        SHORTENED=pl.when(shorter != plain).then(shorter).otherwise(plain + ", NEC"),
        UPPER=plain.str.to_uppercase(),
        TITLE=plain.str.to_titlecase(),
        **_made_of("wordings"),
    )
    return pl.concat([texts[wording.name].rename("term") for wording in Wording])


def _made_of(kind: str) -> dict[str, pl.Expr]:
    """Return the wordings made of the parts of a name, or of other wordings, by templates."""
    templates, site_first = _WORDS["made_of"][kind], _WORDS["made_of"]["parts_site_first"]
    return {
        name: pl.when("site_first").then(_filled(site_first[name])).otherwise(_filled(template))
        if name in site_first
        else _filled(template)
        for name, template in templates.items()
    }


def _filled(template: str) -> pl.Expr:
    """Return a template's text with the value of a column for each name in braces."""
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    return pl.format(template.format_map(dict.fromkeys(names, "{}")), *names)


def _capitalised(text: pl.Expr) -> pl.Expr:
    return text.str.slice(0, 1).str.to_uppercase() + text.str.slice(1)


_APART = 1 << 40  # added to numbers of one kind, so that they never equal numbers of another
_WITH_CLAUSE = 0.08  # share of tails that are not empty
_WITH_ANOTHER = 0.6  # share of these with one more clause
_N_CLAUSES = 2000
_MAX_CLAUSES = 7


class ConceptNames:
    """The names of all possible concepts, by the concept's number."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._n_heads = np.array([len(branch["heads"]) for branch in BRANCHES])
        nouns = [noun.split("|") for branch in BRANCHES for noun in branch["heads"]]
        self._heads = pl.DataFrame(nouns, ["head", "heads", "other", "form"], orient="row")
        ends = [vowel + coda for vowel, coda in product(_words("vowels"), _words("codas"))]
        self._stems = pl.Series(onset + end for onset, end in product(_words("onsets"), ends))
        self._middles = pl.Series(ends)
        courses = [word for branch in BRANCHES for word in branch["courses"].split()]
        self._courses = pl.Series(["", *(f"{word} " for word in courses)])
        self._sides = pl.Series(["", *(f"{word} " for word in _words("sides"))])
        details = product(_words("details"), range(1, BLOCK + 1))
        self._details = pl.Series(["", *(f" {kind} {number}" for kind, number in details)])
        self._agents = pl.Series([word for b in BRANCHES for word in b["agents"].split()])
        numbers = np.arange(_N_CLAUSES)
        places = draws.choose("clause", numbers, self._n_heads[0])
        sites = self._invented_stems("clause site", numbers)
        pairs = zip(self._heads["head"].gather(places), sites, strict=True)
        tails = [f"{head} of {site}a" for head, site in pairs]
        # No clause, then clauses in first position, then the same clauses for later positions.
        clauses = ["", *(f" with {tail}" for tail in tails), *(f" and {tail}" for tail in tails)]
        self._clauses = pl.Series(clauses)

    def wordings(self, concepts: Ints) -> pl.Series:
        """Return every wording of every concept; see ``worded``."""
        places = families_of(concepts, self._draws)
        # The site depends on the concept's group, its family or the concept itself.
        sites = np.select(
            [places.mode == Mode.SITE, places.mode == Mode.HEAD],
            [concepts + 2 * _APART, places.family + _APART],
            places.family // GROUP,
        )
        course = self._varied("course", concepts, places, Mode.COURSE)
        side = self._varied("side", concepts, places, Mode.SIDE)
        ordinal = np.where(places.mode == Mode.HEAD, places.ordinal, 0)
        endings = pl.Series(_words("endings"))
        parts = {
            "before": self._seldom("before", concepts, _WORDS["before"]),
            "course": self._courses.gather(np.where(course > 0, course + BLOCK * places.branch, 0)),
            "side": self._sides.gather(side),
            "stem": self._invented_stems("site", sites),
            "ending": endings.gather(self._draws.choose("ending", sites, len(endings))),
            "detail": self._details.gather(self._detail_numbers(concepts, places)),
            "agent": self._agent_phrases(concepts, places),
            "clauses": self._clause_phrases(concepts, places.family),
            "after": self._seldom("after", concepts, _WORDS["after"]),
            "eponym": self._invented_stems("eponym", concepts),
            "site_first": pl.Series([b["site_first"] for b in BRANCHES]).gather(places.branch),
        }
        heads = self._heads[self._head_numbers(places, ordinal)]
        return worded(pl.DataFrame(parts).hstack(heads))

    def _varied(self, label: str, concepts: Ints, places: Families, mode: Mode) -> Ints:
        """Return a word from 1 to 16 for each concept, or 0 for none.

        In families of this mode the head has none and every other member has a different word. In
        others the whole family may share a word, and a member may have another instead.
        """
        draws, family = self._draws, places.family
        shared = draws.choose(label, family, BLOCK)
        within = np.where(places.ordinal > 0, 1 + (shared + places.ordinal) % BLOCK, 0)
        common = np.where(draws.chance(f"{label} shared", family), 1 + shared, 0)
        individual = 1 + draws.choose(f"{label} own", concepts, BLOCK)
        others = np.where(draws.chance(f"{label} owned", concepts), individual, common)
        return np.where(places.mode == mode, within, others)

    def _detail_numbers(self, concepts: Ints, places: Families) -> Ints:
        number = self._varied("detail", concepts, places, Mode.DETAIL)
        kind = self._draws.choose("detail kind", places.family, len(_words("details")))
        return np.where(number > 0, kind * BLOCK + number, 0)

    def _head_numbers(self, places: Families, ordinal: Ints) -> Ints:
        """Return the row of each concept's head noun; families of a group get different ones."""
        n_heads = np.take(self._n_heads, places.branch)
        base = self._draws.choose("head", places.family // GROUP, n_heads)
        first = np.take(np.cumsum(self._n_heads) - self._n_heads, places.branch)
        noun: Ints = first + (base + 5 * (places.family % GROUP) + ordinal) % n_heads
        return noun

    def _agent_phrases(self, concepts: Ints, places: Families) -> pl.Series:
        draws, is_mode = self._draws, places.mode == Mode.AGENT
        wanted = np.where(is_mode, places.ordinal > 0, draws.chance("agent", concepts))
        keys = np.where(is_mode, concepts, places.family)
        word = places.branch * 8 + draws.choose("agent word", keys, 8)
        parts = pl.DataFrame(
            {
                "wanted": wanted,
                "joint": pl.Series([b["connective"] for b in BRANCHES]).gather(places.branch),
                "stem": self._invented_stems("agent", keys),
                "word": self._agents.gather(word),
            }
        )
        phrase = pl.concat_str("joint", "stem", pl.lit("al "), "word")
        return parts.select(pl.when("wanted").then(phrase).otherwise(pl.lit(""))).to_series()

    def _clause_phrases(self, concepts: Ints, families: Ints) -> pl.Series:
        """Return a tail for each concept: mostly none, rarely up to seven clauses.

        Most members of a family share a tail, so that long names have near-duplicates too.
        """
        draws = self._draws
        is_own = draws.chance("own clauses", concepts)
        keys = np.where(is_own, concepts + _APART, families)
        lot = draws.choose("clauses", keys, 1 << 30) / (1 << 30)
        clauses = {}
        for place in range(_MAX_CLAUSES):
            number = 1 + draws.choose(f"clause {place}", keys, _N_CLAUSES)
            offset = 0 if place == 0 else _N_CLAUSES
            wanted = lot < _WITH_CLAUSE * _WITH_ANOTHER**place
            clauses[str(place)] = self._clauses.gather(np.where(wanted, number + offset, 0))
        return pl.DataFrame(clauses).select(pl.concat_str(pl.all())).to_series()

    def _invented_stems(self, label: str, keys: Ints) -> pl.Series:
        """Return a word stem for each key, out of five million."""
        start = self._stems.gather(self._draws.choose(f"{label} start", keys, len(self._stems)))
        middle = self._draws.choose(f"{label} middle", keys, len(self._middles))
        return start + self._middles.gather(middle)

    def _seldom(self, label: str, concepts: Ints, words: list[str]) -> pl.Series:
        number = 1 + self._draws.choose(label, concepts, len(words))
        wanted = self._draws.chance(f"{label} at all", concepts)
        return pl.Series(["", *words]).gather(np.where(wanted, number, 0))


Model = IntEnum("Model", "ROOT MODULE SEAT CAUSE NAMESPACE OTHER_NAMESPACE", start=0)
"""The concepts of the model, by their position after the clinical concepts."""

MODEL_FSNS = [_WORDS["model"][concept.name] for concept in Model]
NAMESPACES = (Model.NAMESPACE, Model.OTHER_NAMESPACE)


def concept_ids(numbers: Ints) -> Ints:
    """Return the identifiers of concepts; a category has that of SNOMED CT."""
    invented = sctids(numbers + 1, "concept")
    is_categories = [numbers == PER_CATEGORY * (1 + n) for n in range(len(_CATEGORIES))]
    return np.select(is_categories, [*_CATEGORIES.values()], invented)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The numbers of the concepts of an invented release, and what decides their content.

    Active clinical concepts come first, then the retired ones, then those of the model.

    Attributes:
        n_active: number of active clinical concepts.
        draws: the random choices.
        names: the names of concepts.
    """

    n_active: int
    draws: Draws
    names: ConceptNames

    @property
    def n_clinical(self) -> int:
        """The number of clinical concepts; at most one is retired for every four active ones."""
        return self.n_active + -(-self.n_active // 4)

    def model_number(self, concept: Model) -> int:
        """Return the number of a concept of the model."""
        return self.n_clinical + concept

    def model_id(self, concept: Model) -> int:
        """Return the identifier of a concept of the model."""
        return int(concept_ids(np.array([self.model_number(concept)]))[0])

    def weigh_by_state(
        self,
        label: str,
        items: Ints,
        concepts: Ints,
        weights: Mapping[str, Mapping[str, int]],
        values: Mapping[str, int],
    ) -> Ints:
        """Return a value for each item, int64[n]; see ``Draws.weigh``.

        Weights differ between items of active and of retired concepts; the value of those of the
        model's concepts is 0.
        """
        states = ("active", "retired")
        drawn = [self.draws.weigh(label, items, weights[state], values) for state in states]
        return np.select([concepts < self.n_active, concepts < self.n_clinical], drawn, 0)

    def bases(self, numbers: Ints) -> Ints:
        """Return the active concept whose name each concept's names reword; mostly the same one."""
        retired = numbers + self.is_in_chain(numbers)
        base = self.draws.choose("base", retired, self.n_active)
        return np.where(numbers < self.n_active, numbers, base)

    def is_in_chain(self, numbers: Ints) -> Flags:
        """Return whether a concept's substitute is the next concept, which is retired too."""
        may_be: Flags
        may_be = (numbers >= self.n_active) & (numbers + 1 < self.n_clinical) & (numbers % 2 == 0)
        return may_be & self.draws.chance("chain", numbers)
