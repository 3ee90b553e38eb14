"""Checks of instances of words in context: of single instances, and of splits together."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import polars as pl

from medsim.core.checks import Finding
from medsim.core.kinds import columns
from medsim.core.terms import lowered
from medsim.corpora import ENGLISH
from medsim.wic import GROUPS, MAX_REPEATS, SIMILARITY
from medsim.wic.rules import (
    QUOTAS,
    equal_ignoring_case,
    group_of,
    label_ratio,
    lemma_pair,
    term_pair,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    Keys: TypeAlias = Callable[["Instance"], Sequence[Hashable]]
    Splits: TypeAlias = Mapping[str, Sequence["Instance"]]


ConceptsByName: TypeAlias = "Mapping[str, frozenset[str]]"
"""The concepts of a name, by the name in lower case."""

_PROMISES = tomllib.loads((files(__package__) / "promises.toml").read_text(encoding="utf-8"))
PROMISES = {
    check: str(promise).format(similarity=SIMILARITY, max_repeats=MAX_REPEATS)
    for check, promise in _PROMISES.items()
}
"""The guarantees in the order in which they are checked."""

BREACH_COLUMNS = (
    columns(pl.String, "split", "check")
    | columns(pl.Int64, "instance")
    | columns(pl.String, "term1", "term2", "found")
)
"""A row per violation; instances are numbered from 1 in their file, null if it has none."""


class Mention(NamedTuple):
    """A mention in its sentence: one half of an instance.

    Attributes:
        start: the first code point of the term.
        end: one past its last.
        term: the text at these offsets, according to the file.
    """

    sentence: str
    start: int
    end: int
    term: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Two mentions in their sentences.

    Attributes:
        number: in its file, from 1.
        mentions: both of them, in order.
        cat: its group, according to the file.
        label: whether both terms have the same meaning, according to the file.
    """

    number: int
    mentions: tuple[Mention, Mention]
    cat: str
    label: bool

    @property
    def terms(self) -> tuple[str, str]:
        """Both terms."""
        return self.mentions[0].term, self.mentions[1].term

    @property
    def sentences(self) -> tuple[str, str]:
        """Both sentences."""
        return self.mentions[0].sentence, self.mentions[1].sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One violation of a rule.

    Attributes:
        instance: with the violation; None if it is not in a single instance.
    """

    instance: Instance | None = None
    fault: str

    def __str__(self) -> str:
        if self.instance is None:
            return self.fault
        term1, term2 = self.instance.terms
        return f"instance {self.instance.number}, {term1!r} and {term2!r}: {self.fault}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFinding(Finding):
    """The outcome of one check in one split.

    Attributes:
        split: of ``CORPUS_SPLITS``; "" for none.
        n_checked: the number of items that were checked.
    """

    split: str
    n_checked: int
    violations: Sequence[Breach] = ()

    def row(self) -> dict[str, object]:
        """Return the row of a finding with its split and the number of checked items."""
        first = {"split": self.split, "check": self.check, "guarantee": self.promise}
        return first | {"checked": self.n_checked} | Finding.row(self)


def finding(
    split: str, check: str, n_checked: int, breaches: Sequence[Breach] = (), note: str = ""
) -> SplitFinding:
    """Return the outcome of one of ``PROMISES``; see ``SplitFinding``."""
    return SplitFinding(
        check=check,
        promise=PROMISES[check],
        violations=breaches,
        note=note,
        split=split,
        n_checked=n_checked,
    )


def instances_of(frame: pl.DataFrame) -> list[Instance]:
    """Return the rows of a frame with ``WIC_COLUMNS`` as instances."""
    sides = [frame.select(f"{name}{side}" for name in Mention._fields).rows() for side in (1, 2)]
    rows = zip(*sides, frame["cat"], frame["label"], strict=True)
    return [
        Instance(number=number, mentions=(Mention(*a), Mention(*b)), cat=cat, label=label == 1)
        for number, (a, b, cat, label) in enumerate(rows, start=1)
    ]


def check_each(
    split: str, check: str, instances: Sequence[Instance], fault: Callable[[Instance], str]
) -> SplitFinding:
    """Return the violations of a rule by instances; ``fault`` returns "" if there is none."""
    faults = [(instance, fault(instance)) for instance in instances]
    breaches = [Breach(instance=instance, fault=words) for instance, words in faults if words]
    return finding(split, check, len(instances), breaches)


def breaches_table(findings: Sequence[SplitFinding]) -> pl.DataFrame:
    """Return ``BREACH_COLUMNS``, in the order of the findings and of their files."""
    rows = [
        (
            outcome.split,
            outcome.check,
            breach.instance.number if breach.instance else None,
            *(breach.instance.terms if breach.instance else (None, None)),
            breach.fault,
        )
        for outcome in findings
        for breach in outcome.violations
    ]
    return pl.DataFrame(rows, schema=BREACH_COLUMNS, orient="row")


_GROUP_CHECKS = ("group", "lemma", "synonyms", "similarity")


def check_instances(
    split: str,
    instances: Sequence[Instance],
    concepts: ConceptsByName | None,
    language: str,
    similarity: float = SIMILARITY,
) -> list[SplitFinding]:
    """Return the checks of single instances, by lemmas in a language.

    Without concepts, synonyms are not checked.
    """
    by_rules = partial(group_of, language=language, similarity=similarity)

    def wrong_offsets(mention: Mention) -> str:
        start, end, length = mention.start, mention.end, len(mention.sentence)
        return "" if 0 <= start < end <= length else f"{start} to {end} of {length} characters"

    def wrong_term(mention: Mention) -> str:
        there = mention.sentence[mention.start : mention.end]
        return "" if there == mention.term else f"the sentence has {there!r} there"

    def one_sentence(instance: Instance) -> str:
        first, second = instance.sentences
        return "both sentences are the same" if first == second else ""

    return [
        check_each(split, "offsets", instances, partial(_mention_faults, wrong_offsets)),
        check_each(split, "term", instances, partial(_mention_faults, wrong_term)),
        check_each(split, "two_sentences", instances, one_sentence),
        *_groups(split, instances, concepts, by_rules),
    ]


def _mention_faults(fault: Callable[[Mention], str], instance: Instance) -> str:
    """Return the faults of both mentions as one text."""
    faults = map(fault, instance.mentions)
    return "; ".join(f"sentence {n}: {words}" for n, words in enumerate(faults, 1) if words)


def _groups(
    split: str,
    instances: Sequence[Instance],
    concepts: ConceptsByName | None,
    group_of: Callable[..., str | None],
) -> list[SplitFinding]:
    """Return the checks of groups, one for each kind of disagreement."""
    breaches: dict[str, list[Breach]] = {check: [] for check in _GROUP_CHECKS}
    for instance in instances:
        shared = None
        if concepts is not None:
            first, second = (concepts.get(lower, frozenset()) for lower in lowered(instance.terms))
            shared = not first.isdisjoint(second)
        by_rules = group_of(*instance.terms, share_concept=shared)
        is_clear = concepts is not None or instance.cat != "synonyms"
        if by_rules != instance.cat and (is_clear or by_rules not in {None, "label_similarity"}):
            fault = f"in {instance.cat}, by the rules in {by_rules or 'none'}"
            check = _disagreement(instance, by_rules)
            if check == "similarity":
                fault = f"{fault}: the ratio is {float(label_ratio(*instance.terms)):.3g}"
            breaches[check].append(Breach(instance=instance, fault=fault))
    return [
        finding(split, check, 0, breaches[check], "not checked: no terminology was given")
        if check == "synonyms" and concepts is None
        else finding(split, check, len(instances), breaches[check])
        for check in _GROUP_CHECKS
    ]


def _disagreement(instance: Instance, by_rules: str | None) -> str:
    """Return the check for a wrong group.

    Lemmas depend on the library, synonyms on the terminology, other groups on neither.
    """
    groups = {instance.cat, by_rules}
    if "term_identity" in groups and not equal_ignoring_case(*instance.terms):
        return "lemma"
    if "synonyms" in groups and not groups & {"term_identity", "abbreviations"}:
        return "synonyms"
    return "similarity" if groups == {"label_similarity", None} else "group"


def check_splits(
    splits: Splits,
    quotas: Mapping[str, Mapping[str, int]] | None,
    *,
    language: str = ENGLISH,
    max_repeats: int = MAX_REPEATS,
) -> dict[str, list[SplitFinding]]:
    """Return the checks of instances together, by split, with lemmas in a language.

    Quotas for each label, group and split in the manifest must be reached exactly; None uses
    BioWiC's, which a smaller benchmark need not reach.
    """
    keys: dict[str, Keys] = {  # the parts that occur once in test, and not in train and dev
        "sentence": lambda instance: instance.sentences,
        "pair": lambda instance: (term_pair(*instance.terms),),
        "lemma_pair": lambda instance: (lemma_pair(*instance.terms, language),),
    }
    mention_of: dict[str, tuple[int, int]] = {}
    place_of: dict[Hashable, str] = {}
    times: Counter[str] = Counter()

    def other_mention(instance: Instance) -> str:
        for number, mention in enumerate(instance.mentions, start=1):
            here = mention.start, mention.end
            start, end = mention_of.setdefault(mention.sentence, here)
            if here != (start, end):
                return f"sentence {number} has its mention from {start} to {end} elsewhere"
        return ""

    def repeated(split: str, instance: Instance) -> str:
        here = f"{split} {instance.number}"
        place = place_of.setdefault(frozenset(instance.mentions), here)
        return "" if place == here else f"{place} is the same"

    findings = {}
    for split, instances in splits.items():
        findings[split] = [
            _balance(split, instances),
            *_quota(split, instances, quotas),
            check_each(split, "one_mention", instances, other_mention),
            check_each(split, "repeated_instance", instances, partial(repeated, split)),
        ]
        if split != "test":
            findings[split].append(_sentence_limit(split, instances, max_repeats, times))
        findings[split] += [_shared(split, splits, *part) for part in keys.items()]
    return findings


def _counts(instances: Sequence[Instance]) -> dict[str, tuple[int, int]]:
    """Return the numbers of instances of each group with label 1 and with label 0."""
    counted = Counter((instance.cat, instance.label) for instance in instances)
    return {group: (counted[group, True], counted[group, False]) for group in GROUPS}


def _balance(split: str, instances: Sequence[Instance]) -> SplitFinding:
    counts = _counts(instances)
    breaches = [
        Breach(fault=f"{group} has label 1 in {n_true:,} instances and 0 in {n_false:,}")
        for group, (n_true, n_false) in counts.items()
        if n_true != n_false
    ]
    return finding(split, "balance", sum(map(any, counts.values())), breaches)


def _quota(
    split: str, instances: Sequence[Instance], quotas: Mapping[str, Mapping[str, int]] | None
) -> list[SplitFinding]:
    """Return the checks of the numbers of instances in groups; empty if the numbers are unknown."""
    of_split = (QUOTAS if quotas is None else quotas).get(split)
    if of_split is None:
        return []
    breaches, smaller = [], []
    for group, both in _counts(instances).items():
        quota = of_split[group]
        if max(both) > quota or (quotas is not None and min(both) < quota):
            numbers = f"label 1 in {both[0]:,} instances and 0 in {both[1]:,}, not {quota:,} each"
            breaches.append(Breach(fault=f"{group} has {numbers}"))
        elif max(both) < quota:
            smaller.append(f"{group} {both[0]:,} of {quota:,}")
    note = f"smaller than published: {', '.join(smaller)}" if smaller else ""
    return [finding(split, "quota", len(GROUPS), breaches, note)]


def _sentence_limit(
    split: str, instances: Sequence[Instance], most: int, times: Counter[str]
) -> SplitFinding:
    """Return sentences that occur too often; ``times`` has earlier counts."""
    times.update(text for instance in instances for text in instance.sentences)
    first = {text: instance for instance in reversed(instances) for text in instance.sentences}
    breaches = [
        Breach(instance=instance, fault=f"one of its sentences occurs {times[text]:,} times")
        for text, instance in first.items()
        if times[text] > most
    ]
    return finding(split, "sentence_limit", len(first), breaches)


def _shared(split: str, splits: Splits, part: str, keys: Keys) -> SplitFinding:
    """Return the check of repeated parts in test, or of data leakage into train or dev."""
    is_test = split == "test"
    check = f"{'repeated' if is_test else 'leaked'}_{part}"
    if "test" not in splits:
        return finding(split, check, 0, note="not checked: no test split")
    first: dict[Hashable, int] = {}
    for instance in splits["test"]:
        for key in keys(instance):
            first.setdefault(key, instance.number)

    def fault(instance: Instance) -> str:
        there = [first[key] for key in keys(instance) if key in first]
        others = [number for number in there if not is_test or number != instance.number]
        return f"test {others[0]} has the same {part.replace('_', ' ')}" if others else ""

    return check_each(split, check, splits[split], fault)
