"""Checks of the instances of a split, or of several, together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from medsim.corpora import ENGLISH
from medsim.wic import GROUPS, MOST_REPEATS
from medsim.wic.checks.findings import Breach, each, finding
from medsim.wic.checks.rules import QUOTAS, lemma_pair, term_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeAlias

    from medsim.wic.checks.findings import Instance, SplitFinding

    Keys: TypeAlias = Callable[[Instance], Sequence[Hashable]]
    Splits: TypeAlias = Mapping[str, Sequence[Instance]]


def _sentences(instance: Instance) -> tuple[str, str]:
    return instance.first.sentence, instance.second.sentence


def _keys(language: str) -> dict[str, Keys]:
    """Return the parts of instances that test has once, and train and dev have not at all."""
    return {
        "sentence": _sentences,
        "pair": lambda instance: (term_pair(*instance.terms),),
        "lemma_pair": lambda instance: (lemma_pair(*instance.terms, language),),
    }


def check_splits(
    splits: Splits,
    quotas: Mapping[str, Mapping[str, int]] | None,
    *,
    language: str = ENGLISH,
    most_repeats: int = MOST_REPEATS,
) -> dict[str, list[SplitFinding]]:
    """Return whether instances are right together, by split, with lemmas in a language.

    Quotas, of each label in each group of a split by the manifest, are reached exactly; None takes
    BioWiC's, which a smaller benchmark need not reach.
    """
    keys = _keys(language)
    mention_of: dict[str, tuple[int, int]] = {}
    place_of: dict[Hashable, str] = {}
    times: Counter[str] = Counter()
    found = {}
    for split, instances in splits.items():
        found[split] = [
            _balance(split, instances),
            *_quota(split, instances, quotas),
            _one_mention(split, instances, mention_of),
            _repeated_instance(split, instances, place_of),
        ]
        if split == "test":
            found[split] += [_repeated(instances, *part) for part in keys.items()]
        else:
            found[split].append(_sentence_limit(split, instances, most_repeats, times))
            test = splits.get("test")
            found[split] += [_leaked(split, instances, test, *part) for part in keys.items()]
    return found


def _counts(instances: Sequence[Instance]) -> dict[str, tuple[int, int]]:
    """Return how many True and False instances each group has."""
    counted = Counter((instance.cat, instance.label) for instance in instances)
    return {group: (counted[group, True], counted[group, False]) for group in GROUPS}


def _balance(split: str, instances: Sequence[Instance]) -> SplitFinding:
    counts = {group: both for group, both in _counts(instances).items() if any(both)}
    breaches = [
        Breach(found=f"{group} has {n_true:,} True and {n_false:,} False instances")
        for group, (n_true, n_false) in counts.items()
        if n_true != n_false
    ]
    return finding(split, "balance", len(counts), breaches)


def _quota(
    split: str,
    instances: Sequence[Instance],
    quotas: Mapping[str, Mapping[str, int]] | None,
) -> list[SplitFinding]:
    """Return whether groups have as many instances as they should; nothing where it is unknown."""
    of_split = (QUOTAS if quotas is None else quotas).get(split)
    if of_split is None:
        return []
    breaches, smaller = [], []
    for group, both in _counts(instances).items():
        quota = of_split[group]
        if max(both) > quota or (quotas is not None and min(both) < quota):
            found = f"{both[0]:,} True and {both[1]:,} False instances, not {quota:,} each"
            breaches.append(Breach(found=f"{group} has {found}"))
        elif max(both) < quota:
            smaller.append(f"{group} {both[0]:,} of {quota:,}")
    note = f"smaller than published: {', '.join(smaller)}" if smaller else ""
    return [finding(split, "quota", len(GROUPS), breaches, note)]


def _one_mention(
    split: str, instances: Sequence[Instance], mention_of: dict[str, tuple[int, int]]
) -> SplitFinding:
    """Return where a sentence has another mention than before, which ``mention_of`` remembers."""

    def fault(instance: Instance) -> str:
        for number, mention in enumerate(instance.mentions, start=1):
            here = mention.start, mention.end
            start, end = mention_of.setdefault(mention.sentence, here)
            if here != (start, end):
                return f"sentence {number} has its mention from {start} to {end} elsewhere"
        return ""

    return each(split, "one_mention", instances, fault)


def _repeated_instance(
    split: str, instances: Sequence[Instance], place_of: dict[Hashable, str]
) -> SplitFinding:
    """Return which instances were there before, which ``place_of`` remembers."""

    def fault(instance: Instance) -> str:
        here = f"{split} {instance.number}"
        place = place_of.setdefault(frozenset(instance.mentions), here)
        return "" if place == here else f"{place} is the same"

    return each(split, "repeated_instance", instances, fault)


def _sentence_limit(
    split: str, instances: Sequence[Instance], most: int, times: Counter[str]
) -> SplitFinding:
    """Return which sentences are there too often, with those of before, which ``times`` has."""
    times.update(text for instance in instances for text in _sentences(instance))
    first = {text: one for one in reversed(instances) for text in _sentences(one)}
    breaches = [
        Breach(instance=one, found=f"one of its sentences is there {times[text]:,} times")
        for text, one in first.items()
        if times[text] > most
    ]
    return finding(split, "sentence_limit", len(first), breaches)


def _repeated(instances: Sequence[Instance], part: str, keys: Keys) -> SplitFinding:
    """Return whether test has a part twice that it may have once."""
    first: dict[Hashable, int] = {}

    def fault(instance: Instance) -> str:
        there = [first.setdefault(key, instance.number) for key in keys(instance)]
        before = [number for number in there if number != instance.number]
        return f"instance {before[0]} has the same {part.replace('_', ' ')}" if before else ""

    return each("test", f"repeated_{part}", instances, fault)


def _leaked(
    split: str,
    instances: Sequence[Instance],
    test: Sequence[Instance] | None,
    part: str,
    keys: Keys,
) -> SplitFinding:
    """Return whether train or dev has a part of test."""
    check = f"leaked_{part}"
    if test is None:
        return finding(split, check, 0, note="not checked: no test split")
    in_test = {key: instance.number for instance in test for key in keys(instance)}

    def fault(instance: Instance) -> str:
        there = [in_test[key] for key in keys(instance) if key in in_test]
        return f"test {there[0]} has the same {part.replace('_', ' ')}" if there else ""

    return each(split, check, instances, fault)
