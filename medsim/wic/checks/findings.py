"""The rules of a benchmark of words in context by name, and the violations of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.checks import Finding
from medsim.core.kinds import columns
from medsim.wic import MOST_REPEATS

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
    "group": "An instance is in the first group that applies.",
    "lemma": "Terms that differ are in term_identity where simplemma's lemmas are equal, only.",
    "synonyms": "Synonyms are names of one concept, terms of label_similarity are not.",
    "similarity": "Terms of label_similarity have a ratio above 0.75.",
    "balance": "Half of every group is True.",
    "quota": "A group has no more instances than it should.",
    "one_mention": "A sentence always has the same mention.",
    "repeated_instance": "No instance is there twice, in either direction, in any split.",
    "sentence_limit": f"No sentence is in train and dev together more than {MOST_REPEATS} times, "
    "or as often as the manifest allows.",
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
"""The rules in the order in which they are checked."""

SPLIT_FINDING_COLUMNS: dict[str, type[pl.DataType]] = {
    "split": pl.String,
    "check": pl.String,
    "promise": pl.String,
    "checked": pl.Int64,
    "violations": pl.Int64,
    "example": pl.String,
}
"""A row per split and check: the columns of all findings, and what was looked at."""

BREACH_COLUMNS = (
    columns(pl.String, "split", "check")
    | columns(pl.Int64, "instance")
    | columns(pl.String, "term1", "term2", "found")
)
"""A row per violation; instances count from 1 in their file, null where it is not of one."""


_MENTION = ("sentence", "start", "end", "term")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A mention in its sentence: one half of an instance.

    Attributes:
        start: the first code point of the term.
        end: one past its last.
        term: the text at these offsets, as the file has it.
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
        cat: its group, as the file has it.
        label: whether both terms have the same meaning, as the file has it.
    """

    number: int
    first: Mention
    second: Mention
    cat: str
    label: bool

    @property
    def mentions(self) -> tuple[Mention, Mention]:
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
        instance: the one at fault; None where it is not in one instance.
    """

    instance: Instance | None = None
    found: str

    def __str__(self) -> str:
        if self.instance is None:
            return self.found
        term1, term2 = self.instance.terms
        return f"instance {self.instance.number}, {term1!r} and {term2!r}: {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitFinding(Finding):
    """The outcome of one check in one split.

    Attributes:
        split: of ``SPLITS``; "" for what belongs to none.
        n_checked: the number of items that were checked.
    """

    split: str
    n_checked: int
    violations: Sequence[Breach] = ()

    def row(self) -> dict[str, object]:
        """Return the values of ``SPLIT_FINDING_COLUMNS``."""
        return {"split": self.split, "checked": self.n_checked, **Finding.row(self)}


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
    return [
        Instance(
            number=number,
            first=Mention(**{name: row[f"{name}1"] for name in _MENTION}),
            second=Mention(**{name: row[f"{name}2"] for name in _MENTION}),
            cat=row["cat"],
            label=row["label"] == 1,
        )
        for number, row in enumerate(frame.iter_rows(named=True), start=1)
    ]


def each(
    split: str, check: str, instances: Sequence[Instance], fault: Callable[[Instance], str]
) -> SplitFinding:
    """Return the violations of a rule by instances; ``fault`` gives "" where there is none."""
    faults = [(instance, fault(instance)) for instance in instances]
    breaches = [Breach(instance=instance, found=words) for instance, words in faults if words]
    return finding(split, check, len(instances), breaches)


def breaches_table(findings: Sequence[SplitFinding]) -> pl.DataFrame:
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
        for breach in one.violations
    ]
    return pl.DataFrame(rows, schema=BREACH_COLUMNS, orient="row")
