"""Draws at random by hashing: a choice can be made at any time, alone or among millions.

Every choice is a hash of the seed, a label and a number, and therefore always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Weights = Mapping[int, int]


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

    def weigh(self, label: str, numbers: Ints, weights: Weights) -> Ints:
        """Return a key of ``weights`` for each number, int64[n], as often as it weighs."""
        options = np.repeat(np.array([*weights]), [*weights.values()])
        return options[self.choose(label, numbers, len(options))]

    def chance(self, label: str, numbers: Ints, probability: float | Reals) -> Flags:
        """Return for each number whether it is among the lucky ones, bool[n]."""
        return (self.bits(label, numbers) >> np.uint64(11)) < probability * 2.0**53
