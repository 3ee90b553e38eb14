"""An obvious and slow implementation of DESIGN.md, for tests to compare with medsim.

It imports nothing but the standard library. Where DESIGN.md can be read in two ways, a comment
that begins with "Reading" says which way was taken.
"""

import functools
import math
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

FSN_TYPE = "900000000000003001"
SYNONYM_TYPE = "900000000000013009"
MODEL_COMPONENT_MODULE = "900000000000012004"
ASSOCIATION_KINDS = {
    "same_as": "900000000000527005",
    "replaced_by": "900000000000526001",
    "possibly_equivalent_to": "900000000000523009",
}
DATASETS = ("possibly_equivalent_to", "replaced_by", "same_as", "fsn_syn", "syn_syn")
DIFFICULTIES = ("easy", "hard")

SetKey = tuple[str, str]  # dataset and difficulty
SET_ORDER: tuple[SetKey, ...] = tuple(
    (dataset, difficulty) for dataset in DATASETS for difficulty in DIFFICULTIES
)


class Pair(NamedTuple):
    """Two terms and the concepts they come from."""

    term1: str
    term2: str
    concept1: str
    concept2: str


class ConceptRow(NamedTuple):
    """A row of a concept file."""

    id: str
    time: str
    active: bool
    module: str


class DescriptionRow(NamedTuple):
    """A row of a description file, with its term unchanged."""

    id: str
    time: str
    active: bool
    module: str
    concept: str
    language: str
    type: str
    term: str


class AssociationRow(NamedTuple):
    """A row of an association refset."""

    id: str
    time: str
    active: bool
    module: str
    refset: str
    source: str
    target: str


AnyRow = TypeVar("AnyRow", ConceptRow, DescriptionRow, AssociationRow)


class Rows(NamedTuple):
    """The rows of a release, be they a history or a state."""

    concepts: frozenset[ConceptRow]
    descriptions: frozenset[DescriptionRow]
    associations: frozenset[AssociationRow]


def read_release(folder: Path | str) -> Rows:
    """Return every row of the files that the rules read, wherever they lie below a folder.

    Reading: all files that fit a pattern are read together, so a row that stands in a Full, a
    Snapshot and a Delta file alike is one row. "der2_AssociationReference…", without "cRefset", is
    taken too.
    """
    names = ("conceptId", "languageCode", "typeId", "term")
    ends = ("refsetId", "referencedComponentId", "targetComponentId")
    return Rows(
        _rows_of(folder, "sct2_Concept_", ConceptRow),
        _rows_of(folder, "sct2_Description_", DescriptionRow, *names),
        _rows_of(folder, "der2_(cRefset_)?Association", AssociationRow, *ends),
    )


def _rows_of(
    folder: Path | str, pattern: str, kind: type[AnyRow], *columns: str
) -> frozenset[AnyRow]:
    """Return the rows of files whose name begins as given: the columns of all rows, then others."""
    return frozenset(
        kind(
            *(row["id"], row["effectiveTime"], row["active"] == "1", row["moduleId"]),
            *(row[column] for column in columns),
        )
        for row in _lines_of(folder, pattern)
    )


def _lines_of(folder: Path | str, pattern: str) -> Iterator[dict[str, str]]:
    """Yield the lines of all files whose name begins as given, by the names of their columns."""
    for file in sorted(Path(folder).rglob("*.txt")):
        if re.match(f"(x|MONO)?{pattern}", file.name):
            text = file.read_bytes().decode("utf-8-sig")
            # Not splitlines: it would cut a term at U+0085 or U+2028.
            lines = [line.removesuffix("\r") for line in text.split("\n")]
            names = lines[0].split("\t")
            for line in lines[1:]:
                if line:
                    yield dict(zip(names, line.split("\t"), strict=True))


def state_as_of(rows: Rows, as_of: str | None = None) -> Rows:
    """Return the newest row of each id that is not after a day, ``YYYYMMDD``; None: of all."""
    return Rows(
        _newest_rows(rows.concepts, as_of),
        _newest_rows(rows.descriptions, as_of),
        _newest_rows(rows.associations, as_of),
    )


def _newest_rows(rows: Iterable[AnyRow], as_of: str | None) -> frozenset[AnyRow]:
    newest: dict[str, AnyRow] = {}
    for row in rows:
        if as_of is not None and row.time > as_of:
            continue
        known = newest.get(row.id)
        if known is not None and known.time == row.time:
            # Reading: DESIGN.md does not say which of two different rows of one day wins.
            raise ValueError(f"two different rows of {row.id} take effect on {row.time}")
        if known is None or known.time < row.time:
            newest[row.id] = row
    return frozenset(newest.values())


def positives(
    rows: Rows, language: str = "en", as_of: str | None = None, rules: Collection[str] = ()
) -> dict[str, set[Pair]]:
    """Return the pairs of each of the five datasets, by DESIGN.md, "Positives".

    Of the rules of the code of Schulz and Juric, ``direction`` takes synonyms by identifier, and
    ``history`` follows associations by their concepts.
    """
    state = state_as_of(rows, as_of)
    eligible, names = _eligible_and_names(state, language)
    fsns = _full_names(names)

    # Reading: a synonym is taken whole; only FSNs lose a tag.
    synonyms = defaultdict(list)
    by_id = sorted(names, key=lambda row: (len(row.id), row.id))
    for row in by_id if "direction" in rules else sorted(names, key=lambda row: row.term.strip()):
        if row.type == SYNONYM_TYPE and row.term.strip() not in synonyms[row.concept]:
            synonyms[row.concept].append(row.term.strip())

    terms = {concept: drop_tag(fsn) for concept, fsn in fsns.items()}
    datasets = _positives_of_names(
        {concept: term for concept, term in terms.items() if concept in eligible}, synonyms
    )
    for dataset, refset in ASSOCIATION_KINDS.items():
        pairs = []
        for link in _by_concepts(rows) if "history" in rules else state.associations:
            # Reading: the module is the association's own. Neither concept's module or state
            # matters, nor whether it has a row in the concept file; a name suffices.
            if not link.active or link.module == MODEL_COMPONENT_MODULE or link.refset != refset:
                continue
            if link.source not in fsns or link.target not in fsns:
                continue
            # Reading: the FSN is the whole one, with its tag, and the word is lower case.
            if "namespace" in fsns[link.target]:
                continue
            term1 = drop_mark(terms[link.source])
            term2 = drop_mark(terms[link.target])
            pairs.append(Pair(term1, term2, link.source, link.target))
        datasets[dataset] = _without_known(one_direction(pairs), datasets["syn_syn"])
    return datasets


def _by_concepts(rows: Rows) -> list[AssociationRow]:
    """Return the newest row of each two concepts among those of the kind of their first row."""
    members = [row for row in rows.associations if row.module != MODEL_COMPONENT_MODULE]
    newest: dict[tuple[str, str], AssociationRow] = {}
    for row in sorted(members, key=lambda row: (row.id, row.time)):
        known = newest.setdefault((row.source, row.target), row)
        if row.refset == known.refset and row.time > known.time:
            newest[row.source, row.target] = row
    return list(newest.values())


def terminology_pool(rows: Rows, language: str = "en", as_of: str | None = None) -> set[str]:
    """Return the terms that negatives are drawn from if the pool is the terminology.

    Reading: they are the names of eligible concepts, as rules 2 and 3 give them, and the terms of
    all positives. A retired concept's other names are none: nothing says what they are linked to,
    so they would come out as the nearest of the names that mean the same.
    """
    eligible, names = _eligible_and_names(state_as_of(rows, as_of), language)
    pool = set()
    for concept, fsn in _full_names(names).items():
        if concept in eligible:
            pool.add(drop_tag(fsn))
            for row in names:
                if row.concept == concept and row.type == SYNONYM_TYPE:
                    synonym = row.term.strip()
                    if synonym.lower() != drop_tag(fsn).lower():
                        pool.add(synonym)
    for pairs in positives(rows, language, as_of).values():
        for pair in pairs:
            pool |= {pair.term1, pair.term2}
    return pool


def _eligible_and_names(state: Rows, language: str) -> tuple[set[str], list[DescriptionRow]]:
    """Return the concepts that count, and all names in a language: rules 1 to 3.

    Reading: names of other languages do not exist, whatever their type. A language code is
    compared whole.
    """
    eligible = {
        row.id for row in state.concepts if row.active and row.module != MODEL_COMPONENT_MODULE
    }
    names = [
        row
        for row in state.descriptions
        if row.active and row.language == language and row.term.strip() != ""
    ]
    return eligible, names


def _full_names(names: Iterable[DescriptionRow]) -> dict[str, str]:
    """Return the FSN of each concept that has one, with its tag.

    The newest wins, then the smallest id. Reading: an empty FSN was skipped before, so an older
    one takes its place; ids are text, so "1000010" is smaller than "999990".
    """
    candidates = defaultdict(list)
    for row in names:
        if row.type == FSN_TYPE:
            candidates[row.concept].append(row)
    winners = {}
    for concept, rows in candidates.items():
        newest_time = max(row.time for row in rows)
        winner = min((row for row in rows if row.time == newest_time), key=lambda row: row.id)
        winners[concept] = winner.term.strip()
    return winners


def drop_tag(fsn: str) -> str:
    """Return the term of an FSN: rule 2. Outer white space is trimmed before and after."""
    fsn = fsn.strip()
    if not fsn.endswith(")") or " (" not in fsn:
        return fsn
    before, after = fsn.rsplit(" (", maxsplit=1)
    # Reading: what is before " (" is not trimmed before it is looked at.
    if before.endswith((" or", "&")) or after.startswith("&"):
        return fsn
    return before.strip()


def drop_mark(term: str) -> str:
    """Return a term without "[D]" at the start or the end: rule 5.

    Reading: one is dropped at each end where one stands; white space is trimmed after.
    """
    term = term.removeprefix("[D]").strip()
    return term.removesuffix("[D]").strip()


def _positives_of_names(
    terms: Mapping[str, str], synonyms: Mapping[str, Sequence[str]]
) -> dict[str, set[Pair]]:
    """Return fsn_syn and syn_syn of the concepts that ``terms`` holds: rules 3, 4 and 6."""
    fsn_syn = []
    syn_syn = []
    for concept, term in terms.items():
        others = [name for name in synonyms.get(concept, ()) if name.lower() != term.lower()]
        fsn_syn += [Pair(term, name, concept, concept) for name in others]
        names = [term, *others]
        for place, earlier in enumerate(names):
            for later in names[place + 1 :]:
                syn_syn.append(Pair(earlier, later, concept, concept))  # noqa: PERF401  # clearer
    return {"fsn_syn": one_direction(fsn_syn), "syn_syn": one_direction(syn_syn)}


def one_direction(pairs: Iterable[Pair]) -> set[Pair]:
    """Return the pairs that remain after rule 6.

    Reading: two pairs are the same when their texts are, case and all; only the two terms of one
    pair are compared ignoring case. "The smallest concept ids" is the smallest (concept1,
    concept2), as text, that gives the direction that stays.
    """
    concepts_of = defaultdict(set)
    for pair in pairs:
        # A name that nothing is left of is no name: "[D] (finding)" in an association.
        if pair.term1 and pair.term2 and pair.term1.lower() != pair.term2.lower():
            concepts_of[pair.term1, pair.term2].add((pair.concept1, pair.concept2))
    kept = set()
    for (term1, term2), concepts in concepts_of.items():
        if (term2, term1) not in concepts_of or (term1, term2) < (term2, term1):
            kept.add(Pair(term1, term2, *min(concepts)))
    return kept


def _without_known(pairs: set[Pair], known: set[Pair]) -> set[Pair]:
    """Return the pairs that are in no other dataset in either direction, with the same case."""
    texts = {(pair.term1, pair.term2) for pair in known}
    return {
        pair
        for pair in pairs
        if (pair.term1, pair.term2) not in texts and (pair.term2, pair.term1) not in texts
    }


def levenshtein(a: str, b: str) -> int:
    """Return the edit distance of two texts in code points, by the full matrix.

    Wagner and Fischer, The string-to-string correction problem, 1974.
    """
    matrix = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        matrix[i][0] = i
    for j in range(len(b) + 1):
        matrix[0][j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            matrix[i][j] = min(
                matrix[i - 1][j] + 1,
                matrix[i][j - 1] + 1,
                matrix[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            )
    return matrix[len(a)][len(b)]


@functools.cache
def lower_distance(a: str, b: str) -> int:
    """Return the edit distance of two terms, lower-cased."""
    return levenshtein(a.lower(), b.lower())


Vector = Sequence[float]


def single(value: float) -> float:
    """Return a number rounded to single precision."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors, rounded to single precision; 0 where one is zero."""
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    lengths = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    return single(product / lengths) if lengths > 0 else 0.0


def farness(vectors: Mapping[str, Vector | None]) -> "Distance":
    """Return the distance for embedding negatives: smaller for a higher cosine.

    Args:
        vectors: of terms; None, or nothing, of a term that has none.
    """

    def distance(term: str, other: str) -> float | None:
        a, b = vectors.get(term), vectors.get(other)
        return None if a is None or b is None else -cosine(a, b)

    return distance


def difficulty(pair: Pair) -> str:
    """Return ``easy`` or ``hard``: rule 7."""
    return "easy" if lower_distance(pair.term1, pair.term2) <= 5 else "hard"


def positive_sets(datasets: Mapping[str, Iterable[Pair]]) -> dict[SetKey, list[Pair]]:
    """Return the ten positive sets, in the stated order, each sorted."""
    sets: dict[SetKey, list[Pair]] = {key: [] for key in SET_ORDER}
    for dataset, pairs in datasets.items():
        for pair in sorted(pairs):
            sets[dataset, difficulty(pair)].append(pair)
    return sets


def components(datasets: Mapping[str, Iterable[Pair]]) -> dict[str, int]:
    """Return the number of the component of each lower-cased term, over all datasets.

    Components are numbered from 0 in the order of their smallest terms.
    """
    neighbours = defaultdict(set)
    for pairs in datasets.values():
        for pair in pairs:
            neighbours[pair.term1.lower()].add(pair.term2.lower())
            neighbours[pair.term2.lower()].add(pair.term1.lower())
    component_of: dict[str, int] = {}
    n_components = 0
    for start in sorted(neighbours):
        if start not in component_of:
            waiting = [start]
            while waiting:
                term = waiting.pop()
                if term not in component_of:
                    component_of[term] = n_components
                    waiting.extend(neighbours[term])
            n_components += 1
    return component_of


PositivesBySet = Mapping[SetKey, Iterable[Pair]]
Negatives = Sequence[tuple[str, str]]
Distance = Callable[[str, str], float | None]  # None for terms that cannot be compared


def greedy_nearest(
    positives_by_set: PositivesBySet,
    tie_hash: Callable[[str, str], int],
    shared_pool: Iterable[str] | None = None,
    distance_of: Distance = lower_distance,
    *,
    rules: Collection[str] = (),
) -> dict[SetKey, list[tuple[str, str]]]:
    """Return the nearest negatives of each set in the order of choice.

    Args:
        positives_by_set: Positives by (dataset, difficulty). They are served in the stated order,
            whatever the mapping's; components are those of all of them together.
        tie_hash: The hash of (first term, candidate), both exact texts.
        shared_pool: The terms that all sets draw from; each set's own by default.
        distance_of: The distance of a first term and a candidate; one without is no candidate.
        rules: Rules of the code of Schulz and Juric: with repeats, easy syn_syn looks at fsn_syn;
            with two_steps, links are two steps long, within one set.
    """
    component_of = {} if "two_steps" in rules else _components_of_sets(positives_by_set)
    taken: dict[SetKey, list[tuple[str, str]]] = {}
    for key in _in_order(positives_by_set):
        pairs = list(positives_by_set[key])
        pool = _pool(pairs, shared_pool)
        barred = _pairs_looked_at(key, taken, positives_by_set, rules)
        if "two_steps" in rules:
            barred |= _within_two_steps([(pair.term1, pair.term2) for pair in pairs])
        taken[key] = []
        # Reading: a term has its n positives by its exact text, and candidates are exact texts
        # too, so two spellings that differ by case are two first terms and two candidates.
        for term, n_wanted in sorted(Counter(pair.term1 for pair in pairs).items()):
            allowed = [
                candidate
                for candidate in pool
                if _is_allowed(term, candidate, component_of)
                and frozenset((term, candidate)) not in barred
            ]
            ranked = sorted(
                (distance, tie_hash(term, candidate), candidate)
                for candidate in allowed
                if (distance := distance_of(term, candidate)) is not None
            )
            for _, _, candidate in ranked[:n_wanted]:
                taken[key].append((term, candidate))
                barred.add(frozenset((term, candidate)))
    return taken


def _within_two_steps(pairs: Sequence[tuple[str, str]]) -> set[frozenset[str]]:
    """Return the first terms of a set, each with a term that the published code cannot give it.

    That code drops the rows with a neighbour of the first term or of one of its second terms. A
    term that is in none of the remaining rows cannot be drawn.
    """
    barred = set()
    terms = {term for pair in pairs for term in pair}
    for first in {term1 for term1, _ in pairs}:
        near = {first, *(term2 for term1, term2 in pairs if term1 == first)}
        others = [pair for pair in pairs if pair[0] != first]
        excluded = {term1 for term1, term2 in others if term2 in near}
        excluded |= {term2 for term1, term2 in others if term1 in near}
        left = {term for pair in others if not excluded & {*pair} for term in pair}
        barred |= {frozenset((first, term)) for term in terms - left - {first}}
    return barred


def faults_of_random(
    positives_by_set: PositivesBySet,
    negatives_by_set: Mapping[SetKey, Negatives],
    shared_pool: Iterable[str] | None = None,
    *,
    rules: Collection[str] = (),
) -> list[str]:
    """Return the faults of random negatives, one sentence each.

    They may be any allowed pairs that did not stand before, in any order, and a first term has
    fewer of them than positives only where no candidate is left at the set's end.
    """
    component_of = {} if "two_steps" in rules else _components_of_sets(positives_by_set)
    faults = []
    for key in _in_order(positives_by_set):
        pairs, negatives = list(positives_by_set[key]), negatives_by_set[key]
        wanted = Counter(pair.term1 for pair in pairs)
        pool = _pool(pairs, shared_pool)
        seen = _pairs_looked_at(key, negatives_by_set, positives_by_set, rules)
        for term, other in negatives:
            if other not in pool or not _is_allowed(term, other, component_of):
                faults.append(f"{term!r} and {other!r} must not be paired")
            if frozenset((term, other)) in seen:
                faults.append(f"{term!r} and {other!r} are repeated")
            seen.add(frozenset((term, other)))
        counts = Counter(term for term, _ in negatives)
        for term in sorted(wanted.keys() | counts.keys()):
            left = [
                candidate
                for candidate in pool
                if _is_allowed(term, candidate, component_of)
                and frozenset((term, candidate)) not in seen
            ]
            if counts[term] > wanted[term] or (counts[term] < wanted[term] and left):
                faults.append(
                    f"{term!r} has {counts[term]} negatives for {wanted[term]} positives, with "
                    f"{len(left)} left"
                )
    return faults


def _name(key: SetKey) -> str:
    return "/".join(key)


def _in_order(positives_by_set: PositivesBySet) -> list[SetKey]:
    unknown = set(positives_by_set) - set(SET_ORDER)
    if unknown:
        raise ValueError(f"{sorted(unknown)} are no positive sets")
    return [key for key in SET_ORDER if key in positives_by_set]


def _components_of_sets(positives_by_set: PositivesBySet) -> dict[str, int]:
    return components({_name(key): pairs for key, pairs in positives_by_set.items()})


def _pool(pairs: Iterable[Pair], shared_pool: Iterable[str] | None) -> list[str]:
    """Return the exact texts that a set draws from, in order: of both sides, or the shared."""
    if shared_pool is not None:
        return sorted(shared_pool)
    return sorted({term for pair in pairs for term in (pair.term1, pair.term2)})


def _is_allowed(term: str, candidate: str, component_of: Mapping[str, int]) -> bool:
    """Return whether two terms are neither equal nor linked; a term is linked to itself.

    A term without positives is linked to nothing else.
    """
    first, second = term.lower(), candidate.lower()
    return component_of.get(first, first) != component_of.get(second, second)


def _pairs_looked_at(
    key: SetKey,
    negatives_by_set: Mapping[SetKey, Negatives],
    positives_by_set: PositivesBySet,
    rules: Collection[str],
) -> set[frozenset[str]]:
    """Return the negatives, without direction, of the sets that a set looks at.

    Reading: negatives are the same when their texts are, case and all. syn_syn passes over both
    difficulties of fsn_syn, and only over those; with repeats, only hard syn_syn does. With
    two_steps they are joined by the positives of all sets.
    """
    as_published = "repeats" in rules
    passes_over = key[0] == "syn_syn" and not (as_published and key[1] == "easy")
    looked_at = {
        frozenset(negative)
        for earlier in SET_ORDER[: SET_ORDER.index(key)]
        if not (passes_over and earlier[0] == "fsn_syn")
        for negative in negatives_by_set.get(earlier, ())
    }
    if "two_steps" in rules:
        looked_at |= {frozenset(p[:2]) for pairs in positives_by_set.values() for p in pairs}
    return looked_at
