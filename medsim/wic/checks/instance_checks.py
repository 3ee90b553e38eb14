"""Checks of one instance of words in context by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.terms import lowered
from medsim.wic.checks.findings import Breach, each, finding
from medsim.wic.checks.rules import equal_ignoring_case, group_of, label_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from medsim.wic.checks.findings import Instance, Mention, SplitFinding
    from medsim.wic.checks.terminology_checks import ConceptsByName

_GROUP_CHECKS = ("group", "lemma", "synonyms", "similarity")
_NO_TERMINOLOGY = "not checked: no terminology was given"


def check_instances(
    split: str, instances: Sequence[Instance], concepts: ConceptsByName | None
) -> list[SplitFinding]:
    """Return whether every instance is right by itself; without concepts, synonyms go unchecked."""
    return [
        each(split, "offsets", instances, _wrong_offsets),
        each(split, "term", instances, _wrong_term),
        each(split, "two_sentences", instances, _one_sentence),
        *_groups(split, instances, concepts),
    ]


def _wrong_offsets(instance: Instance) -> str:
    return _of_mentions(
        instance,
        lambda mention: (
            ""
            if 0 <= mention.start < mention.end <= len(mention.sentence)
            else f"{mention.start} to {mention.end} of {len(mention.sentence)} characters"
        ),
    )


def _wrong_term(instance: Instance) -> str:
    return _of_mentions(
        instance,
        lambda mention: (
            ""
            if mention.sentence[mention.start : mention.end] == mention.term
            else f"{mention.sentence[mention.start : mention.end]!r} stands there"
        ),
    )


def _of_mentions(instance: Instance, fault: Callable[[Mention], str]) -> str:
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
    n_checked = dict.fromkeys(_GROUP_CHECKS, len(instances))
    note = ""
    if concepts is None:
        n_checked["synonyms"], note = 0, _NO_TERMINOLOGY
    return [
        finding(split, check, n, breaches[check], note if check == "synonyms" else "")
        for check, n in n_checked.items()
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
    lower1, lower2 = lowered(instance.terms)
    nobody: frozenset[str] = frozenset()
    return not concepts.get(lower1, nobody).isdisjoint(concepts.get(lower2, nobody))
