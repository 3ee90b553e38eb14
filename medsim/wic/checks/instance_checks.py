"""Rules that one instance of words in context obeys by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.terms import lowered
from medsim.wic.checks.findings import Breach, Finding, each
from medsim.wic.checks.rules import equal_ignoring_case, group_of, label_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from medsim.wic.checks.findings import Instance, Side

    Bearers: TypeAlias = Mapping[str, frozenset[str]]
    """The concepts that bear a name, by the name in lower case."""

_GROUP_CHECKS = ("group", "lemma", "synonyms", "similarity")
_NO_TERMINOLOGY = "not checked: no terminology was given"


def check_instances(
    split: str, instances: Sequence[Instance], bearers: Bearers | None
) -> list[Finding]:
    """Return whether every instance is right by itself.

    Args:
        split: of the instances.
        instances: all of the split.
        bearers: of every term that a concept bears; None where no terminology is at hand, and
            nothing is then said of who bears the terms.
    """
    return [
        each(split, "offsets", instances, _wrong_offsets),
        each(split, "term", instances, _wrong_term),
        each(split, "two_sentences", instances, _one_sentence),
        *_groups(split, instances, bearers),
    ]


def _wrong_offsets(instance: Instance) -> str:
    return _of_sides(
        instance,
        lambda side: (
            ""
            if 0 <= side.start < side.end <= len(side.sentence)
            else f"{side.start} to {side.end} of {len(side.sentence)} characters"
        ),
    )


def _wrong_term(instance: Instance) -> str:
    return _of_sides(
        instance,
        lambda side: (
            ""
            if side.sentence[side.start : side.end] == side.term
            else f"{side.sentence[side.start : side.end]!r} stands there"
        ),
    )


def _of_sides(instance: Instance, fault: Callable[[Side], str]) -> str:
    """Return what is wrong with either sentence."""
    said = [(number, fault(side)) for number, side in enumerate(instance.sides, start=1)]
    return "; ".join(f"sentence {number}: {words}" for number, words in said if words)


def _one_sentence(instance: Instance) -> str:
    same = instance.first.sentence == instance.second.sentence
    return "both sentences are the same" if same else ""


def _groups(split: str, instances: Sequence[Instance], bearers: Bearers | None) -> list[Finding]:
    """Return whether every instance is in its group, apart by what the disagreement is about."""
    breaches: dict[str, list[Breach]] = {check: [] for check in _GROUP_CHECKS}
    for instance in instances:
        bear_one = None if bearers is None else _bear_one_concept(instance, bearers)
        by_rules = group_of(*instance.terms, bear_one_concept=bear_one)
        if by_rules != instance.cat and not _may_be_synonyms(instance, by_rules, bearers):
            found = f"in {instance.cat}, by the rules in {by_rules or 'none'}"
            check = _disagreement(instance, by_rules)
            if check == "similarity":
                found = f"{found}: the ratio is {float(label_ratio(*instance.terms)):.3g}"
            breaches[check].append(Breach(instance=instance, found=found))
    return [
        Finding(
            split=split,
            check=check,
            n_checked=0 if (unknown := check == "synonyms" and bearers is None) else len(instances),
            breaches=found_here,
            remark=_NO_TERMINOLOGY if unknown else "",
        )
        for check, found_here in breaches.items()
    ]


def _may_be_synonyms(instance: Instance, by_rules: str | None, bearers: Bearers | None) -> bool:
    """Return whether nothing that is known speaks against synonyms."""
    unknown = bearers is None and instance.cat == "synonyms"
    return unknown and by_rules in {None, "label_similarity"}


def _disagreement(instance: Instance, by_rules: str | None) -> str:
    """Return the check that a wrong group belongs to.

    Lemmas depend on who made them, synonyms on the terminology; what is left depends on nothing.
    """
    groups = {instance.cat, by_rules}
    if "term_identity" in groups and not equal_ignoring_case(*instance.terms):
        return "lemma"
    if "synonyms" in groups and not groups & {"term_identity", "abbreviations"}:
        return "synonyms"
    return "similarity" if groups == {"label_similarity", None} else "group"


def _bear_one_concept(instance: Instance, bearers: Bearers) -> bool:
    lower1, lower2 = lowered(instance.terms)
    nobody: frozenset[str] = frozenset()
    return not bearers.get(lower1, nobody).isdisjoint(bearers.get(lower2, nobody))
