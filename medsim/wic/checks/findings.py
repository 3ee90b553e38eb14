"""What verification of a benchmark of words in context finds, a rule at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.wic.checks.rules import MOST_USES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROMISES = {
    "outputs": "Every file holds the rows of the manifest.",
    "one_row": "A sentence has one mention in mentions.parquet.",
    "names": "relations/name.parquet has the names that the terminology gives to terms.",
    "related": "relations/related.parquet has the concepts that it tells to keep apart.",
    "concepts": "Mentions stand for active concepts of the terminology.",
    "offsets": "Start and end lie within the sentence, the start before the end.",
    "term": "Each sentence has its term at its offsets.",
    "two_sentences": "The two sentences of an instance differ.",
    "group": "An instance is in the first group that holds.",
    "lemma": "Terms that differ are in term_identity where simplemma's lemmas are equal, only.",
    "synonyms": "One concept bears both terms of synonyms, and of label_similarity none does.",
    "similarity": "Terms of label_similarity have a ratio above 0.75.",
    "balance": "Half of every group is True.",
    "quota": "A group has no more instances than it should.",
    "one_mention": "A sentence always has the same mention.",
    "repeated_instance": "No instance is there twice, in either direction, in any split.",
    "sentence_limit": f"No sentence is there more than {MOST_USES} times.",
    "repeated_sentence": "No sentence is there twice.",
    "repeated_pair": "No two terms are there twice, in either order, ignoring case.",
    "repeated_lemma_pair": "No two terms are there twice by their lemmas.",
    "leaked_sentence": "No sentence of test is there.",
    "leaked_pair": "No two terms of test are there, in either order, ignoring case.",
    "leaked_lemma_pair": "No two terms of test are there by their lemmas.",
    "rows": "The JSON file has the rows of instances.parquet.",
    "label": "An instance is True exactly where both mentions have the same concept.",
    "mention": "Both mentions are in mentions.parquet with their concepts.",
    "excluded": "No two concepts are left out by related.parquet.",
}
"""What is checked, in order."""

FINDING_COLUMNS = {
    "split": pl.String,
    "check": pl.String,
    "promise": pl.String,
    "checked": pl.Int64,
    "violations": pl.Int64,
    "remark": pl.String,
}
"""A row per split and check; the remark has an example of a violation, or what else to know."""

BREACH_COLUMNS = {
    "split": pl.String,
    "check": pl.String,
    "instance": pl.Int64,
    "term1": pl.String,
    "term2": pl.String,
    "found": pl.String,
}
"""A row per violation; instances count from 1 in their file, null where it is not of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A mention in its sentence: one half of an instance.

    Attributes:
        sentence: the text.
        start: the first code point of the term.
        end: one past its last.
        term: what should stand there.
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
        first: one mention.
        second: the other.
        cat: the group that it is said to be in.
        label: whether they are said to have the same meaning.
    """

    number: int
    first: Side
    second: Side
    cat: str
    label: bool

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both mentions."""
        return self.first, self.second

    @property
    def terms(self) -> tuple[str, str]:
        """Both terms."""
        return self.first.term, self.second.term


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One place where a rule does not hold.

    Attributes:
        instance: where; None where it is not in one instance.
        found: what was found, in words.
    """

    instance: Instance | None = None
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found in one split.

    Attributes:
        split: of ``SPLITS``; "" for what belongs to none.
        check: of ``PROMISES``.
        n_checked: how many things were looked at.
        breaches: where the rule does not hold.
        remark: what else to know.
    """

    split: str
    check: str
    n_checked: int
    breaches: Sequence[Breach] = ()
    remark: str = ""


def instances_of(frame: pl.DataFrame) -> list[Instance]:
    """Return the rows of a frame with ``WIC_COLUMNS`` as instances."""
    return [
        Instance(
            number=number,
            first=Side(
                sentence=row["sentence1"], start=row["start1"], end=row["end1"], term=row["term1"]
            ),
            second=Side(
                sentence=row["sentence2"], start=row["start2"], end=row["end2"], term=row["term2"]
            ),
            cat=row["cat"],
            label=row["label"] == 1,
        )
        for number, row in enumerate(frame.iter_rows(named=True), start=1)
    ]


def each(
    split: str, check: str, instances: Sequence[Instance], fault: Callable[[Instance], str]
) -> Finding:
    """Return what is wrong with instances that are looked at one by one.

    Args:
        split: of the instances.
        check: the name of the rule.
        instances: all of the split.
        fault: says in words what is wrong with one; "" where nothing is.
    """
    said = [(instance, fault(instance)) for instance in instances]
    breaches = [Breach(instance=instance, found=words) for instance, words in said if words]
    return Finding(split=split, check=check, n_checked=len(instances), breaches=breaches)


def findings_frame(findings: Sequence[Finding]) -> pl.DataFrame:
    """Return ``FINDING_COLUMNS``."""
    rows = [
        (
            one.split,
            one.check,
            PROMISES[one.check],
            one.n_checked,
            len(one.breaches),
            _example(one.breaches[0]) if one.breaches else one.remark,
        )
        for one in findings
    ]
    return pl.DataFrame(rows, schema=FINDING_COLUMNS, orient="row")


def breaches_frame(findings: Sequence[Finding]) -> pl.DataFrame:
    """Return ``BREACH_COLUMNS``, in the order of the findings and of their files."""
    rows = [
        (
            one.split,
            one.check,
            breach.instance.number if breach.instance else None,
            *(breach.instance.terms if breach.instance else (None, None)),
            breach.found,
        )
        for one in findings
        for breach in one.breaches
    ]
    return pl.DataFrame(rows, schema=BREACH_COLUMNS, orient="row")


def _example(breach: Breach) -> str:
    """Return a violation as one line."""
    if breach.instance is None:
        return breach.found
    term1, term2 = breach.instance.terms
    return f"instance {breach.instance.number}, {term1!r} and {term2!r}: {breach.found}"
