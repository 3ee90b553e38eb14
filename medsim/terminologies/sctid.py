"""SNOMED CT identifiers: constants that medsim uses, and new identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Component = Literal["concept", "description", "relationship"]

# The same names as in sql/macros/sctid.sql.
MODEL_COMPONENT_MODULE = 900000000000012004
FULLY_SPECIFIED_NAME = 900000000000003001
SYNONYM = 900000000000013009
TEXT_DEFINITION = 900000000000550004
POSSIBLY_EQUIVALENT_TO = 900000000000523009
MOVED_TO = 900000000000524003
REPLACED_BY = 900000000000526001
SAME_AS = 900000000000527005
IS_A = 116680003
PRIMITIVE = 900000000000074008
DEFINED = 900000000000073002
CASE_INSENSITIVE = 900000000000448009
CASE_SENSITIVE = 900000000000017005
INITIAL_CASE_INSENSITIVE = 900000000000020002
INFERRED = 900000000000011006
STATED = 900000000000010007
EXISTENTIAL = 900000000000451002

INVENTED_NAMESPACE = 1000999
"""The namespace of identifiers that medsim makes; it is unassigned."""

_CORNERS = 5  # corners of the pentagon, whose rotations and reflections form the group of order 10
_STEP = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])
_PARTITIONS: dict[Component, int] = {"concept": 10, "description": 11, "relationship": 12}


def sctids(items: NDArray[np.int64], component: Component) -> NDArray[np.int64]:
    """Return well-formed SNOMED CT identifiers of the long format, int64[n].

    An identifier is the item number, seven digits of namespace, two digits for the kind of
    component, and the check digit of Verhoeff (1969), which detects every wrong digit and every
    swap of neighbouring digits. Items, int64[n], go from 1 to 99,999,999.
    """
    numbers = (items * 10_000_000 + INVENTED_NAMESPACE) * 100 + _PARTITIONS[component]
    return numbers * 10 + check_digits(numbers)


def check_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Verhoeff digit to append to each number, int64[n] for positive int64[n].

    The digits are multiplied in the dihedral group of order 10, each after a permutation that
    depends on its place; the check digit is the inverse of the product.
    """
    left, right = np.indices((10, 10))  # 0 to 4 rotate, 5 to 9 rotate and reflect
    turns = np.where(left < _CORNERS, left + right, left - right) % _CORNERS
    flips = np.not_equal(left < _CORNERS, right < _CORNERS)
    product = np.where(flips, turns + _CORNERS, turns)
    permutations = [np.arange(10)]  # of the digits at each place; places repeat after 8
    for _ in range(7):
        permutations.append(permutations[-1][_STEP])
    checks = np.zeros_like(numbers)
    rest, place = numbers, 1
    while rest.any():
        digits = permutations[place % 8][rest % 10]
        checks = np.where(rest > 0, product[checks, digits], checks)
        rest, place = rest // 10, place + 1
    return np.take(np.argmin(product, axis=1), checks)
