"""Checks of one instance of words in context by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from medsim.core.terms import lowered
from medsim.wic.checks.findings import Breach, each, finding
from medsim.wic.checks.rules import equal_ignoring_case, group_of, label_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.wic.checks.findings import Instance, Mention, SplitFinding
    from medsim.wic.checks.terminology_checks import ConceptsByName

_GROUP_CHECKS = ("group", "lemma", "synonyms", "similarity")


def check_instances(
    split: str, instances: Sequence[Instance], concepts: ConceptsByName | None
) -> list[SplitFinding]:
    """Return whether every instance is right by itself; without concepts, synonyms go unchecked."""
    return [
        each(split, "offsets", instances, partial(_of_mentions, _wrong_offsets)),
        each(split, "term", instances, partial(_of_mentions, _wrong_term)),
        each(split, "two_sentences", instances, _one_sentence),
        *_groups(split, instances, concepts),
    ]


def _wrong_offsets(mention: Mention) -> str:
    start, end, length = mention.start, mention.end, len(mention.sentence)
    return "" if 0 <= start < end <= length else f"{start} to {end} of {length} characters"


def _wrong_term(mention: Mention) -> str:
    there = mention.sentence[mention.start : mention.end]
    return "" if there == mention.term else f"{there!r} stands there"


def _of_mentions(fault: Callable[[Mention], str], instance: Instance) -> str:
    """Return the faults of both mentions as one text."""
    faults = map(fault, instance.mentions)
    return "; ".join(f"sentence {n}: {words}" for n, words in enumerate(faults, 1) if words)


def _one_sentence(instance: Instance) -> str:
    same = instance.first.sentence == instance.second.sentence
    return "both sentences are the same" if same else ""


def _groups(
    split: str, instances: Sequence[Instance], concepts: ConceptsByName | None
) -> list[SplitFinding]:
    """Return whether every instance is in its group; disagreements have checks by their kind."""
    breaches: dict[str, list[Breach]] = {check: [] for check in _GROUP_CHECKS}
    for instance in instances:
        shared = None if concepts is None else _share_concept(instance, concepts)
        by_rules = group_of(*instance.terms, share_concept=shared)
        if by_rules != instance.cat and not _may_be_synonyms(instance, by_rules, concepts):
            found = f"in {instance.cat}, by the rules in {by_rules or 'none'}"
            check = _disagreement(instance, by_rules)
            if check == "similarity":
                found = f"{found}: the ratio is {float(label_ratio(*instance.terms)):.3g}"
            breaches[check].append(Breach(instance=instance, found=found))
    return [
        finding(split, check, 0, breaches[check], "not checked: no terminology was given")
        if check == "synonyms" and concepts is None
        else finding(split, check, len(instances), breaches[check])
        for check in _GROUP_CHECKS
    ]


def _may_be_synonyms(
    instance: Instance, by_rules: str | None, concepts: ConceptsByName | None
) -> bool:
    """Return whether the terms may be synonyms, as far as is known."""
    unknown = concepts is None and instance.cat == "synonyms"
    return unknown and by_rules in {None, "label_similarity"}


def _disagreement(instance: Instance, by_rules: str | None) -> str:
    """Return the check that a wrong group belongs to.

    Lemmas depend on their library, synonyms on the terminology, other groups on neither.
    """
    groups = {instance.cat, by_rules}
    if "term_identity" in groups and not equal_ignoring_case(*instance.terms):
        return "lemma"
    if "synonyms" in groups and not groups & {"term_identity", "abbreviations"}:
        return "synonyms"
    return "similarity" if groups == {"label_similarity", None} else "group"


def _share_concept(instance: Instance, concepts: ConceptsByName) -> bool:
    named1, named2 = (concepts.get(lower, frozenset()) for lower in lowered(instance.terms))
    return not named1.isdisjoint(named2)
