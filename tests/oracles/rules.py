"""The scores of rules of spelling, computed name by name with plain Python."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


def trigrams_of(name: str) -> list[str]:
    padded = f"  {name} "
    return [padded[at : at + 3] for at in range(len(padded) - 2)]


def words_of(name: str) -> set[str]:
    return {*re.findall(r"[^\W_]+", name)}


def n_common(first: str, second: str) -> int:
    return sum(first[:n] == second[:n] for n in range(1, min(len(first), len(second)) + 1))


@dataclass
class Rules:
    """Rules among all names of a collection, in lower case."""

    names: Sequence[str]

    def __post_init__(self) -> None:
        counts = Counter(each for name in self.names for each in trigrams_of(name))
        self.rarity = {
            each: round(math.log2(1 + len(self.names) / n), 6) for each, n in counts.items()
        }

    def scores(
        self, term: str, choices: Sequence[str], spelling: Sequence[float]
    ) -> dict[str, list[float]]:
        """Return the scores of choices by each rule, rounded; the highest is chosen."""
        similarity = Levenshtein.normalized_similarity
        alike = [similarity(term, name) for name in choices]
        among = [
            sum(math.floor(1_000 * similarity(name, other) + 0.5) for other in choices)
            for name in choices
        ]
        lengths = [len(name) for name in choices]
        ends = [name[::-1] for name in choices]
        words = [
            (words_of(term) & words_of(name), words_of(term) | words_of(name)) for name in choices
        ]
        scores = {
            "nearest": alike,
            "farthest": [-value for value in alike],
            "nearest_to_options": among,
            "farthest_from_options": [-value for value in among],
            "longest": lengths,
            "shortest": [-value for value in lengths],
            "common_prefix": [n_common(term, name) for name in choices],
            "common_suffix": [n_common(term[::-1], end) for end in ends],
            "rare_trigrams": [self.rare(term, name) for name in choices],
            "word_overlap": [len(both) / max(1, len(either)) for both, either in words],
            "spelling": spelling,
        }
        return {rule: [round(value, 5) for value in values] for rule, values in scores.items()}

    def rare(self, term: str, name: str) -> float:
        """Return the share of the rarity of trigrams that both have."""
        first, second = {*trigrams_of(term)}, {*trigrams_of(name)}
        either = sum(self.rarity[each] for each in first | second)
        return sum(self.rarity[each] for each in first & second) / either if either else 0


def chosen_by(scores: Sequence[float]) -> int:
    """Return the first of the highest scores."""
    return max(range(len(scores)), key=lambda at: (scores[at], -at))


def share_of(scores: Sequence[float], right: int) -> float:
    """Return the probability that one of the highest scores at random is the right one."""
    highest = max(scores)
    return (scores[right] == highest) / sum(score == highest for score in scores)
