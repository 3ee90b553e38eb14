"""Dialects of SNOMED CT: the names that a language reference set of a release has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import OptionError, listed, unknown_name
from medsim.core.manifest import Skipped

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.core.store import Store

DIALECTS = {
    "da-dk": "554461000005103",
    "de": "722130004",
    "en-au": "32570271000036106",
    "en-ca": "19491000087109",
    "en-gb": "900000000000508004",
    "en-gb-x-drug": "999000681000001101",
    "en-gb-x-ext": "999001251000000103",
    "en-ie": "21000220103",
    "en-nz": "271000210107",
    "en-nz-x-pat": "281000210109",
    "en-us": "900000000000509007",
    "en-x-gmdn": "608771002",
    "en-x-nhs-clinical": "999001261000000100",
    "en-x-nhs-dmd": "999000671000001103",
    "en-x-nhs-pharmacy": "999000691000001104",
    "es": "450828004",
    "es-uy": "5641000179103",
    "et-ee": "71000181105",
    "fr": "722131000",
    "fr-be": "21000172104",
    "fr-ca": "20581000087109",
    "ja": "722129009",
    "mi": "291000210106",
    "nb-no": "61000202103",
    "nl-be": "31000172101",
    "nl-nl": "31000146106",
    "nn-no": "91000202106",
    "sv-se": "46011000052107",
    "zh": "722128001",
}
"""The language reference sets of dialects, as SNOMED International names them.

Source: Expression Constraint Language, Appendix C, Dialect Aliases.
"""

_MOST_SHOWN = 20


def reference_set(dialect: str) -> str:
    """Return the identifier of the language reference set that a dialect's name stands for.

    Raises:
        OptionError: it is neither an identifier nor the name of a known dialect.
    """
    if dialect.isascii() and dialect.isdecimal():
        return dialect
    known = DIALECTS.get(dialect.strip().lower())
    if known is None:
        raise OptionError(
            "`dialect` takes the identifier of a language reference set or a name; "
            + unknown_name("dialect", dialect.lower(), list(DIALECTS))
        )
    return known


def find_names(path: Path, store: Store, dialect: str, as_of: str | None) -> None:
    """Fill the table dialect_name from the rows of language reference sets, which are dropped.

    Raises:
        OptionError: the release has no such reference set; the message says which ones it has.
    """
    refset_id = reference_set(dialect)
    found = store.frame("terminologies/rf2/dialect/reference_set", as_of=as_of)["refset_id"]
    if refset_id not in found.to_list():
        name_of = {identifier: name for name, identifier in DIALECTS.items()}
        there = [f"{name_of[one]} ({one})" if one in name_of else one for one in found]
        raise OptionError(
            f"`dialect` {dialect!r}: {path} has no members of the language reference set "
            f"{refset_id}; it has those of {listed(there, _MOST_SHOWN) or 'none'}"
        )
    store.run("terminologies/rf2/dialect/dialect_name", as_of=as_of, refset_id=refset_id)
    store.drop("rf2_language")


def keep_names(store: Store, as_of: str | None) -> list[Skipped]:
    """Leave out the descriptions that are not of the dialect, and return how many."""
    skipped = store.frame("terminologies/rf2/dialect/skipped", as_of=as_of).to_dicts()
    store.run("terminologies/rf2/dialect/rf2_description")
    return [Skipped(**row) for row in skipped]


def mark_preferred(store: Store) -> None:
    """Add the column preferred to the table description."""
    store.run("terminologies/rf2/dialect/description")
    store.drop("dialect_name")
