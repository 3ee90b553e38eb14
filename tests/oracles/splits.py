"""Obvious and slow checks of the rules of splits, on the Parquet files of any build and splits.

It imports nothing of medsim. ``crossings`` and ``not_nearest`` return violations, none where the
splits are as they should be.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

DATASETS = ("possibly_equivalent_to", "replaced_by", "same_as", "fsn_syn", "syn_syn")
SETS = [(dataset, difficulty) for dataset in DATASETS for difficulty in ("easy", "hard")]


class Sets(dict[str, str]):
    """Disjoint sets of texts."""

    def root(self, text: str) -> str:
        """Return the text that represents the set of a text."""
        path = [text]
        while self.setdefault(path[-1], path[-1]) != path[-1]:
            path.append(self[path[-1]])
        for node in path:
            self[node] = path[-1]
        return path[-1]

    def join(self, first: str, second: str) -> None:
        """Merge the sets of two texts."""
        self[self.root(first)] = self.root(second)


def rows(folder: Path, table: str, *columns: str) -> list[tuple]:  # type: ignore[type-arg]
    """Return the rows of a table of a build."""
    return pl.read_parquet(folder / "terminology" / f"{table}.parquet").select(columns).rows()


def pairs(folder: Path, dataset: str, difficulty: str, strategy: str) -> pl.DataFrame:
    """Return the pairs of one set of a build."""
    path = f"pairs/dataset={dataset}/difficulty={difficulty}/negatives={strategy}/data.parquet"
    return pl.read_parquet(folder / path, hive_partitioning=False)


def positives(folder: Path, strategy: str) -> Counter[tuple[str, ...]]:
    """Return how often each positive is in a dataset of a build."""
    return Counter(
        (dataset, *row)
        for dataset, difficulty in SETS
        for row in pairs(folder, dataset, difficulty, strategy)
        .filter(label=1)
        .select("term1", "term2", "concept1", "concept2")
        .iter_rows()
    )


def names(folder: Path, language: str = "en") -> list[tuple[str, str]]:
    """Return concepts, active or not, and their lower-cased names.

    The name of a retired concept counts without its marker as well, whether or not RF2's rules
    hold: what differs by the marker alone is the same name.
    """
    bearers = set()
    for concept, term, kind, active, spoken in rows(
        folder, "description", "concept_id", "term", "kind", "active", "language"
    ):
        if active and spoken == language:
            bearers.add((concept, term.lower()))
            bare = re.sub(r"\[D\]$", "", re.sub(r"^\[D\]", "", term).strip()).strip()
            if kind == "fsn" and bare:
                bearers.add((concept, bare.lower()))
    return sorted(bearers)


def groups(folder: Path, strategy: str, language: str = "en") -> dict[str, str]:
    """Return the group of each concept of a build: its smallest concept.

    Names, positives and synonymous associations link concepts.
    """
    sets, concepts = Sets(), set()
    for concept, term in names(folder, language):
        sets.join(f"concept {concept}", f"term {term}")
    for _, _, _, concept1, concept2 in positives(folder, strategy):
        sets.join(f"concept {concept1}", f"concept {concept2}")
    for source, target, kind, active in rows(
        folder, "association", "source_id", "target_id", "kind", "active"
    ):
        concepts |= {source, target}
        if active and kind == "synonymous":
            sets.join(f"concept {source}", f"concept {target}")
    for table in ("concept", "description", "code"):
        concepts |= {concept for (concept,) in rows(folder, table, "concept_id")}
    members = defaultdict(list)
    for concept in concepts:
        members[sets.root(f"concept {concept}")].append(concept)
    return {concept: min(group) for group in members.values() for concept in group}


def split_of(group: str, seed: int, bounds: dict[str, float]) -> str:
    """Return the split of a group by its hash; bounds are cumulative shares."""
    digits = hashlib.md5(f"{seed} {group}".encode(), usedforsecurity=False).hexdigest()[:8]
    share = int(digits, 16) / 2**32
    return next(name for name, bound in bounds.items() if share < bound)


def crossings(splits: dict[str, Path], strategy: str, language: str = "en") -> list[str]:
    """Return concepts, terms (ignoring case) and pairs that are in two splits."""
    seen: dict[str, str] = {}
    wrong = []
    for split, folder in splits.items():
        for item in held(folder, strategy, language):
            if seen.setdefault(item, split) != split:
                wrong.append(f"{item}: {seen[item]}, {split}")  # noqa: PERF401 — reads as it is done
    for split, folder in splits.items():  # inactive descriptions, and those of other languages
        for (term,) in rows(folder, "description", "term"):
            if seen.get(f"term {term.lower()}", split) != split:
                wrong.append(f"description {term}: {split}")
    return wrong


def held(folder: Path, strategy: str, language: str) -> set[str]:
    """Return the concepts, terms and pairs that are in any file of a build."""
    items = {f"term {term}" for _, term in names(folder, language)}
    for table in ("concept", "description", "code"):
        items |= {f"concept {concept}" for (concept,) in rows(folder, table, "concept_id")}
    for ends in rows(folder, "association", "source_id", "target_id"):
        items |= {f"concept {concept}" for concept in ends}
    for dataset, difficulty in SETS:
        of_set = pairs(folder, dataset, difficulty, strategy)
        for term1, term2, *concepts in of_set.select(
            "term1", "term2", "concept1", "concept2"
        ).iter_rows():
            low, high = sorted((term1.lower(), term2.lower()))
            items |= {f"concept {concept}" for concept in concepts}
            items |= {f"term {low}", f"term {high}", f"pair {low} = {high}"}
    return items


def not_nearest(folder: Path, n_first_terms: int) -> tuple[int, list[str]]:
    """Return how many first terms were compared, and those whose negatives are not the nearest.

    Of each set of Levenshtein negatives, first terms spread evenly over it are compared with all
    terms of its positives by RapidFuzz. A term may not be one that positives link to it (in one
    step or several), nor one that it is a negative of in an earlier set, unless that is of
    fsn_syn and this of syn_syn, nor a first term before it that took it.
    """
    linked, earlier, n_compared, wrong = Sets(), defaultdict(set), 0, []
    read = {key: pairs(folder, *key, "levenshtein") for key in SETS}
    for of_set in read.values():
        for term1, term2 in of_set.filter(label=1).select("term1", "term2").iter_rows():
            linked.join(term1.lower(), term2.lower())
    for (dataset, difficulty), of_set in read.items():
        wanted: Counter[str] = Counter()
        candidates: set[str] = set()
        for term1, term2 in of_set.filter(label=1).select("term1", "term2").iter_rows():
            wanted[term1] += 1
            candidates |= {term1, term2}
        taken = defaultdict(set)
        for term1, term2 in of_set.filter(label=0).select("term1", "term2").iter_rows():
            taken[term1].add(term2)
        firsts = sorted(wanted)
        texts = sorted(candidates)
        lower = [term.lower() for term in texts]
        for first in firsts[:: max(1, len(firsts) // n_first_terms)]:
            passed_over = "fsn_syn" if dataset == "syn_syn" else None
            refused = {term for term, earlier_set in earlier[first] if earlier_set != passed_over}
            root = linked.root(first.lower())
            all_distances = cdist([first.lower()], lower, scorer=Levenshtein.distance)[0].tolist()
            distances = {
                term: distance
                for term, distance in zip(texts, all_distances, strict=True)
                if term not in refused
                and linked.root(term.lower()) != root
                and not (term < first and first in taken[term])
            }
            n_compared += 1
            nearest = sorted(distances.values())[: wanted[first]]
            if sorted(distances.get(term, -1) for term in taken[first]) != nearest:
                wrong.append(f"{dataset}/{difficulty}: {first}")
        for first, seconds in list(taken.items()):
            for second in seconds:
                earlier[first].add((second, dataset))
                earlier[second].add((first, dataset))
    return n_compared, wrong
