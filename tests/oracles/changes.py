"""The number of changes between two OBO files, by plain set operations on fastobo's terms."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from oracles.obo import tables

if TYPE_CHECKING:
    from oracles.obo import Rows

Counts = Counter[tuple[str, str]]


def levenshtein(one: str, other: str) -> int:
    """Return the edit distance of two texts by the textbook's table."""
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, second in enumerate(other, 1):
            replaced = above[column - 1] + (letter != second)
            current.append(min(above[column] + 1, current[-1] + 1, replaced))
        above = current
    return above[-1]


class Release:
    """The terms of one OBO file, whose synonyms are all exact."""

    def __init__(self, text: bytes) -> None:
        rows: dict[str, Rows] = {"association": set(), "is_a": set(), **tables(text)}
        self.known = {concept for concept, _ in rows["concept"]}
        self.active = {concept for concept, is_active in rows["concept"] if is_active}
        self.main = {c: term for c, term, kind in rows["description"] if kind == "fsn"}
        self.names: defaultdict[str, set[str]] = defaultdict(set)
        self.parents: defaultdict[str, set[str]] = defaultdict(set)
        for concept, term, _ in rows["description"]:
            if concept in self.active:
                self.names[concept].add(term)
        for child, parent in rows["is_a"]:
            self.parents[child].add(parent)
        self.association, self.is_a = rows["association"], rows["is_a"]

    def synonyms(self, concept: str) -> list[str]:
        """Return the names of a concept that differ from the main name if case is ignored."""
        main = self.main[concept].lower()
        return [name for name in self.names[concept] if name.lower() != main]

    def positives(self, dataset: str) -> set[frozenset[str]]:
        """Return the positives of fsn_syn or syn_syn, without their directions."""
        pairs = set()
        for concept in self.active:
            main, synonyms = self.main[concept], self.synonyms(concept)
            pairs |= {frozenset((main, name)) for name in synonyms}
            if dataset == "syn_syn":
                pairs |= {
                    frozenset(pair)
                    for pair in combinations(synonyms, 2)
                    if pair[0].lower() != pair[1].lower()
                }
        return pairs


def changes(old_text: bytes, new_text: bytes) -> Counts:
    """Return the number of changes by subject (or dataset of positives) and change."""
    old, new = Release(old_text), Release(new_text)
    counts = Counts()
    counts["concept", "added"] = len(new.active - old.known)
    counts["concept", "reactivated"] = len(new.active & old.known - old.active)
    counts["concept", "removed"] = len(old.active - new.known)
    counts["concept", "retired"] = len(old.active & new.known - new.active)
    kept = old.active & new.active
    counts["concept", "moved"] = sum(old.parents[c] != new.parents[c] for c in kept)
    for concept in old.active | new.active:
        _count_names(counts, concept, old, new)
    for subject in ("association", "is_a"):
        before, after = getattr(old, subject), getattr(new, subject)
        counts[subject, "added"] = len(after - before)
        counts[subject, "removed"] = len(before - after)
    for dataset in ("fsn_syn", "syn_syn"):
        before, after = old.positives(dataset), new.positives(dataset)
        counts[dataset, "gained"] = len(after - before)
        counts[dataset, "lost"] = len(before - after)
    return +counts


def _count_names(counts: Counts, concept: str, old: Release, new: Release) -> None:
    removed = old.names[concept] - new.names[concept]
    added = new.names[concept] - old.names[concept]
    if concept in old.active & new.active and old.main[concept] != new.main[concept]:
        counts["name", "preferred"] += 1
        removed.discard(old.main[concept])
        added.discard(new.main[concept])
    pairs = [(levenshtein(a.lower(), b.lower()), a, b) for a in removed for b in added]
    for distance, before, after in sorted(pairs):
        is_near = 2 * distance <= max(len(before), len(after))
        if is_near and before in removed and after in added:
            counts["name", "changed"] += 1
            removed.remove(before)
            added.remove(after)
    counts["name", "removed"] += len(removed)
    counts["name", "added"] += len(added)
