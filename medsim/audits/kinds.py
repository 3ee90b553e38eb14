"""The kinds of findings, each declared once: its group, its severity and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity = Literal["error", "warning", "note"]

SEVERITIES: Mapping[Severity, str] = {
    "error": "wrong, or misleading to every user of the names",
    "warning": "probably a duplicate, a missing synonym or a typing error",
    "note": "usually right, but worth a look",
}
"""What the severities mean, from the gravest."""

Group = Literal["same", "retired", "near", "malformed", "chains", "model"]

GROUPS: Mapping[Group, str] = {
    "same": "The same name on several active concepts",
    "retired": "Names of retired concepts",
    "near": "Near names of active concepts that no chain of positives links",
    "malformed": "Malformed names",
    "chains": "The largest chains of positives",
    "model": "Names that the model of `embedding` judges differently",
}
"""What the kinds of a group have in common, in the order of findings."""

PAIRS: frozenset[Group] = frozenset({"same", "near", "model"})
"""The groups whose findings are two names that may mean the same."""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding.

    Attributes:
        group: the kinds that are searched for together.
        severity: how bad a finding is, one of ``SEVERITIES``.
        means: what a finding shows, in one sentence.
    """

    group: Group
    severity: Severity
    means: str


KINDS: Mapping[str, FindingKind] = {
    "same_name": FindingKind("same", "error", "Two active concepts have the same name."),
    "case": FindingKind("same", "warning", "The names differ only in case."),
    "retired_name": FindingKind(
        "retired",
        "warning",
        "An active concept has a name of a retired concept, and no association joins the two.",
    ),
    "space": FindingKind("near", "warning", "The names differ only in spaces."),
    "hyphen": FindingKind("near", "warning", "The names differ only in hyphens and spaces."),
    "accent": FindingKind(
        "near", "warning", "The names differ only in accents, hyphens and spaces."
    ),
    "punctuation": FindingKind("near", "warning", "The names differ only in punctuation."),
    "word_order": FindingKind("near", "warning", "The names have the same words in another order."),
    "plural": FindingKind(
        "near", "warning", "One name has the plural or possessive of the other's word."
    ),
    "spelling": FindingKind(
        "near", "warning", "The names have the British and the American spelling of a word."
    ),
    "typo": FindingKind(
        "near",
        "warning",
        "The names differ in one letter of a word that no other name has, while several names have "
        "the other word.",
    ),
    "letter": FindingKind(
        "near", "note", "The names differ in one letter of a word, or in two swapped letters."
    ),
    "number": FindingKind("near", "note", "The names differ in a digit or number."),
    "roman": FindingKind("near", "note", "The names differ in a Roman numeral."),
    "code": FindingKind(
        "near", "note", "The names differ in a single letter, as in type A, or in a sign."
    ),
    "side": FindingKind("near", "note", "The names differ in the side, such as left and right."),
    "negation": FindingKind("near", "note", "One name negates a word of the other."),
    "opposite": FindingKind(
        "near", "note", "The names have words of opposite meaning, such as hyper- and hypo-."
    ),
    "other": FindingKind("near", "note", "The names differ in another way."),
    "spacing": FindingKind(
        "malformed",
        "warning",
        "The name has two spaces in a row, an unusual space, or a space inside a bracket.",
    ),
    "brackets": FindingKind("malformed", "warning", "The brackets of the name are not balanced."),
    "mixed_scripts": FindingKind(
        "malformed", "error", "A word has letters of several scripts that look alike."
    ),
    "characters": FindingKind(
        "malformed",
        "error",
        "The name has a character that is invisible, is not text, or comes from a wrong encoding.",
    ),
    "last_character": FindingKind(
        "malformed", "warning", "The name begins or ends with a punctuation mark."
    ),
    "repeated": FindingKind("malformed", "note", "A concept has the name more than once."),
    "no_main_name": FindingKind(
        "malformed", "error", "An active concept has no fully specified or main name."
    ),
    "chain": FindingKind(
        "chains", "note", "The names join two concepts in one of the largest chains of positives."
    ),
    "missing_synonym": FindingKind(
        "model", "warning", "The model takes names of different concepts for the same."
    ),
    "unrelated_synonym": FindingKind(
        "model", "note", "The model takes two synonyms for unrelated names."
    ),
}
"""All kinds of findings by name, in the order of findings of the same severity."""
