"""Outlines an invented release: which concepts it has and what their components share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING

import numpy as np

from medsim.terminologies.sctid import sctids
from medsim.terminologies.synthetic.draws import Draws
from medsim.terminologies.synthetic.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.terminologies.synthetic.draws import Flags, Ints

_ACTIVE_PER_RETIRED = 4
_SUBSTITUTES_RETIRED = 0.04  # of the retired concepts that the next could take the place of


class Model(IntEnum):
    """The concepts of the model, by their place after the clinical ones."""

    ROOT = 0
    MODULE = auto()
    SEAT = auto()
    CAUSE = auto()
    NAMESPACE = auto()
    OTHER_NAMESPACE = auto()


MODEL_FSNS = {
    Model.ROOT: "Invented model component (metadata)",
    Model.MODULE: "Invented edition module (core metadata concept)",
    Model.SEAT: "Invented seat (attribute)",
    Model.CAUSE: "Invented cause (attribute)",
    Model.NAMESPACE: "Invented namespace 1000997 (namespace concept)",
    Model.OTHER_NAMESPACE: "Invented namespace 1000998 (namespace concept)",
}
NAMESPACES = (Model.NAMESPACE, Model.OTHER_NAMESPACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The concepts of an invented release and what is known of them before any row is made.

    Concepts have numbers: the active clinical ones come first, then the retired ones, then the
    model's.
    """

    n_active: int
    n_clinical: int
    draws: Draws
    names: Names

    @property
    def n_concepts(self) -> int:
        """The number of concepts, the model's among them."""
        return self.n_clinical + len(Model)

    def stretches(self, n_numbers: int) -> Iterator[Ints]:
        """Return the numbers of all concepts in order, ``n_numbers`` at a time."""
        for start in range(0, self.n_concepts, n_numbers):
            yield np.arange(start, min(start + n_numbers, self.n_concepts))

    def model_number(self, concept: Model) -> int:
        """Return the number of a concept of the model."""
        return self.n_clinical + concept

    def model_id(self, concept: Model) -> int:
        """Return the identifier of a concept of the model."""
        return int(sctids(np.array([self.model_number(concept) + 1]), "concept")[0])

    def bases(self, numbers: Ints) -> Ints:
        """Return the active concept whose name each name is a wording of; mostly the concept."""
        retired = numbers + self.is_in_chain(numbers)
        base = self.draws.choose("base", retired, self.n_active)
        return np.where(numbers < self.n_active, numbers, base)

    def is_in_chain(self, numbers: Ints) -> Flags:
        """Return whether a concept's substitute is the next concept, which is retired too."""
        may_be: Flags
        may_be = (numbers >= self.n_active) & (numbers + 1 < self.n_clinical) & (numbers % 2 == 0)
        return may_be & self.draws.chance("chain", numbers, _SUBSTITUTES_RETIRED)


def outline_of(n_active: int, seed: int) -> Outline:
    """Return the outline of a release with that many active clinical concepts."""
    draws = Draws(seed)
    return Outline(
        n_active=n_active,
        n_clinical=n_active + -(-n_active // _ACTIVE_PER_RETIRED),
        draws=draws,
        names=Names(draws),
    )
