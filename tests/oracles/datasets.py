"""The rules of DESIGN.md once more, obvious and slow, for tests to compare medsim with.

It imports nothing but the standard library. Where DESIGN.md can be read in two ways, a comment
that begins with "Reading" says which way was taken.
"""

import functools
import math
import re
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    """A row of a description file, its term as it stands there."""

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


class RelationshipRow(NamedTuple):
    """A row of a relationship file."""

    id: str
    time: str
    active: bool
    module: str
    source: str
    target: str
    type: str


AnyRow = TypeVar("AnyRow", ConceptRow, DescriptionRow, AssociationRow, RelationshipRow)


class Rows(NamedTuple):
    """The rows of a release, be they a history or a state."""

    concepts: frozenset[ConceptRow]
    descriptions: frozenset[DescriptionRow]
    associations: frozenset[AssociationRow]
    relationships: frozenset[RelationshipRow]


def read_release(folder: Path | str) -> Rows:
    """Return every row of a release's four kinds of file, wherever they lie below a folder.

    Reading: all files that fit a pattern are read together, so a row that stands in a Full, a
    Snapshot and a Delta file alike is one row.
    """
    concepts = set()
    for row in _lines_of(folder, "sct2_Concept_"):
        concepts.add(ConceptRow(*_head(row)))
    descriptions = set()
    for row in _lines_of(folder, "sct2_Description_"):
        own = (row["conceptId"], row["languageCode"], row["typeId"], row["term"])
        descriptions.add(DescriptionRow(*_head(row), *own))
    associations = set()
    # Reading: "der2_AssociationReference…", without "cRefset", is taken too.
    for row in _lines_of(folder, "der2_(cRefset_)?Association"):
        ends = (row["refsetId"], row["referencedComponentId"], row["targetComponentId"])
        associations.add(AssociationRow(*_head(row), *ends))
    relationships = set()
    for row in _lines_of(folder, "sct2_Relationship_"):
        ends = (row["sourceId"], row["destinationId"], row["typeId"])
        relationships.add(RelationshipRow(*_head(row), *ends))
    return Rows(
        frozenset(concepts),
        frozenset(descriptions),
        frozenset(associations),
        frozenset(relationships),
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


def _head(row: dict[str, str]) -> tuple[str, str, bool, str]:
    return row["id"], row["effectiveTime"], row["active"] == "1", row["moduleId"]


def state_as_of(rows: Rows, as_of: str | None = None) -> Rows:
    """Return the newest row of each id that is not after a day, ``YYYYMMDD``; None: of all."""
    return Rows(
        _newest_rows(rows.concepts, as_of),
        _newest_rows(rows.descriptions, as_of),
        _newest_rows(rows.associations, as_of),
        _newest_rows(rows.relationships, as_of),
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


def positives(rows: Rows, language: str = "en", as_of: str | None = None) -> dict[str, set[Pair]]:
    """Return the pairs of each of the five datasets, by DESIGN.md, "Positives"."""
    state = state_as_of(rows, as_of)
    eligible, names = _eligible_and_names(state, language)
    fsns = _full_names(names)

    # Reading: a synonym is taken whole; only FSNs lose a tag.
    synonyms = defaultdict(set)
    for row in names:
        if row.type == SYNONYM_TYPE:
            synonyms[row.concept].add(row.term.strip())

    terms = {concept: drop_tag(fsn) for concept, fsn in fsns.items()}
    found = _positives_of_names(
        {concept: term for concept, term in terms.items() if concept in eligible}, synonyms
    )
    for dataset, refset in ASSOCIATION_KINDS.items():
        pairs = []
        for link in state.associations:
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
        found[dataset] = _without_known(one_direction(pairs), found["syn_syn"])
    return found


def terminology_pool(rows: Rows, language: str = "en", as_of: str | None = None) -> set[str]:
    """Return the terms that negatives are drawn from where the pool is the terminology.

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
    terms: Mapping[str, str], synonyms: Mapping[str, set[str]]
) -> dict[str, set[Pair]]:
    """Return fsn_syn and syn_syn of the concepts that ``terms`` holds: rules 3, 4 and 6."""
    fsn_syn = []
    syn_syn = []
    for concept, term in terms.items():
        others = {name for name in synonyms.get(concept, ()) if name.lower() != term.lower()}
        fsn_syn += [Pair(term, name, concept, concept) for name in others]
        names = [term, *sorted(others)]
        for place, earlier in enumerate(names):
            for later in names[place + 1 :]:
                syn_syn.append(Pair(earlier, later, concept, concept))  # noqa: PERF401  # clearer
    return {"fsn_syn": one_direction(fsn_syn), "syn_syn": one_direction(syn_syn)}


def one_direction(pairs: Iterable[Pair]) -> set[Pair]:
    """Return the pairs that rule 6 leaves.

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
    """Return the pairs that another dataset has in neither direction, case and all."""
    texts = {(pair.term1, pair.term2) for pair in known}
    return {
        pair
        for pair in pairs
        if (pair.term1, pair.term2) not in texts and (pair.term2, pair.term1) not in texts
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OboTerm:
    """A [Term] of an OBO file, its name as it stands there."""

    id: str
    name: str = ""
    obsolete: bool = False
    exact_synonyms: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()
    consider: tuple[str, ...] = ()


def read_obo(path: Path | str) -> list[OboTerm]:
    """Return the terms of an OBO file."""
    return parse_obo(Path(path).read_bytes().decode("utf-8-sig"))


def parse_obo(text: str) -> list[OboTerm]:
    """Return the terms of an OBO text; other stanzas and the header are passed over."""
    stanzas: list[tuple[str, dict[str, list[str]]]] = [("header", defaultdict(list))]
    for line in text.replace("\r\n", "\n").split("\n"):
        stripped = line.strip()
        if re.fullmatch(r"\[\w+\]", stripped):
            stanzas.append((stripped, defaultdict(list)))
        elif stripped and not stripped.startswith("!"):
            tag, _, value = stripped.partition(":")
            stanzas[-1][1][tag].append(value.strip())
    terms: list[OboTerm] = []
    for kind, values in stanzas:
        if kind == "[Term]":
            term = OboTerm(
                id=_first_word(values["id"][0]),
                name=_free_text(values["name"][0]) if values["name"] else "",
                obsolete=any(_first_word(value) == "true" for value in values["is_obsolete"]),
                exact_synonyms=tuple(_exact_synonyms(values["synonym"])),
                replaced_by=tuple(map(_first_word, values["replaced_by"])),
                consider=tuple(map(_first_word, values["consider"])),
            )
            if any(term.id == other.id for other in terms):
                raise ValueError(f"{term.id} has two stanzas")
            terms.append(term)
    return terms


def _first_word(value: str) -> str:
    return value.split(maxsplit=1)[0]


def _free_text(value: str) -> str:
    """Return an unquoted text without its comment and its qualifiers, escapes resolved."""
    without_comment = re.sub(r"(?<!\\)\s!.*$", "", value)
    return _unescape(re.sub(r"\s*(?<!\\)\{[^{}]*=[^{}]*\}\s*$", "", without_comment))


def _exact_synonyms(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        match = re.match(r'"((?:[^"\\]|\\.)*)"\s+EXACT\b', value)
        if match:
            yield _unescape(match[1])


def _unescape(text: str) -> str:
    letters = {"n": "\n", "t": "\t", "W": " "}
    return re.sub(r"\\(.)", lambda match: letters.get(match[1], match[1]), text)


def positives_obo(terms: Iterable[OboTerm]) -> dict[str, set[Pair]]:
    """Return the pairs of each of the five datasets of an ontology.

    Reading: an association counts whether or not its source is obsolete, as in RF2, and an id
    that is no term's own (an alt_id) has no name.
    """
    terms = list(terms)
    names = {term.id: _obo_name(term) for term in terms if _obo_name(term) != ""}
    current = {term.id: names[term.id] for term in terms if not term.obsolete and term.id in names}
    synonyms = {
        term.id: {text.strip() for text in term.exact_synonyms if text.strip() != ""}
        for term in terms
    }
    found = _positives_of_names(current, synonyms)
    links: dict[str, list[tuple[str, str]]] = {
        "same_as": [],
        "replaced_by": [(term.id, other) for term in terms for other in term.replaced_by],
        "possibly_equivalent_to": [(term.id, other) for term in terms for other in term.consider],
    }
    for dataset, ends in links.items():
        pairs = [
            Pair(names[source], names[target], source, target)
            for source, target in ends
            if source in names and target in names
        ]
        found[dataset] = _without_known(one_direction(pairs), found["syn_syn"])
    return found


def _obo_name(term: OboTerm) -> str:
    name = term.name.strip()
    # Reading: only an obsolete term loses the word, once.
    if term.obsolete and name.lower().startswith("obsolete "):
        name = name[len("obsolete ") :].strip()
    return name


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


def mean_vector(words: Sequence[Vector]) -> Vector | None:
    """Return the mean of the vectors of a term's words in single precision; None of no words."""
    if not words:
        return None
    return [single(math.fsum(values) / len(words)) for values in zip(*words, strict=True)]


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors, rounded to single precision; 0 where one is zero."""
    product = math.fsum(x * y for x, y in zip(a, b, strict=True))
    lengths = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    return single(product / lengths) if lengths > 0 else 0.0


def farness(vectors: Mapping[str, Vector | None]) -> "Distance":
    """Return the distance that embedding negatives go by: less for a higher cosine.

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


def positive_sets(found: Mapping[str, Iterable[Pair]]) -> dict[SetKey, list[Pair]]:
    """Return the ten positive sets, in the stated order, each sorted."""
    sets: dict[SetKey, list[Pair]] = {key: [] for key in SET_ORDER}
    for dataset, pairs in found.items():
        for pair in sorted(pairs):
            sets[dataset, difficulty(pair)].append(pair)
    return sets


def components(found: Mapping[str, Iterable[Pair]]) -> dict[str, int]:
    """Return the number of the component of each lower-cased term, over all datasets.

    Components are numbered from 0 in the order of their smallest terms.
    """
    neighbours = defaultdict(set)
    for pairs in found.values():
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
Distance = Callable[[str, str], float | None]  # None of terms that cannot be compared


def greedy_levenshtein(
    positives_by_set: PositivesBySet,
    tie_hash: Callable[[str, str], int],
    shared_pool: Iterable[str] | None = None,
) -> dict[SetKey, list[tuple[str, str]]]:
    """Return the levenshtein negatives of each set; see ``greedy_nearest``."""
    return greedy_nearest(positives_by_set, lower_distance, tie_hash, shared_pool)


def greedy_nearest(
    positives_by_set: PositivesBySet,
    distance_of: Distance,
    tie_hash: Callable[[str, str], int],
    shared_pool: Iterable[str] | None = None,
) -> dict[SetKey, list[tuple[str, str]]]:
    """Return the nearest negatives of each set, in the order in which they are taken.

    Args:
        positives_by_set: Positives by (dataset, difficulty). They are served in the stated order,
            whatever the mapping's; components are those of all of them together.
        distance_of: The distance of a first term and a candidate; one without is no candidate.
        tie_hash: The hash of (first term, candidate), both exact texts.
        shared_pool: The terms that all sets draw from; each set's own by default.
    """
    component_of = _components_of_sets(positives_by_set)
    taken: dict[SetKey, list[tuple[str, str]]] = {}
    for key in _in_order(positives_by_set):
        pairs = list(positives_by_set[key])
        pool = _pool(pairs, shared_pool)
        barred = _pairs_looked_at(key, taken)
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


def check_negatives(
    positives_by_set: PositivesBySet,
    negatives_by_set: Mapping[SetKey, Negatives],
    strategy: str,
    shared_pool: Iterable[str] | None = None,
    vectors: Mapping[str, Vector | None] | None = None,
) -> list[str]:
    """Return the faults of negatives, a sentence each; an empty list when all is well.

    The order of the negatives within a set does not matter. Of all but ``random``, the greedy
    choice is replayed: no allowed candidate may be strictly nearer than one that was taken, so ties
    may have been broken in any way.

    Args:
        positives_by_set: Positives by (dataset, difficulty), of all sets.
        negatives_by_set: (first term, second term) by (dataset, difficulty).
        strategy: ``random``, ``levenshtein`` or ``embedding``.
        shared_pool: The terms that all sets draw from; each set's own by default.
        vectors: Of terms, for ``embedding``.
    """
    if strategy not in ("random", "levenshtein", "embedding"):
        raise ValueError(f"the strategy is {strategy!r}, not random, levenshtein or embedding")
    distance_of = lower_distance if strategy == "levenshtein" else farness(vectors or {})
    component_of = _components_of_sets(positives_by_set)
    problems = [
        f"{_name(key)}: there are negatives and no positive set"
        for key in negatives_by_set
        if key not in positives_by_set
    ]
    for key in _in_order(positives_by_set):
        pairs = list(positives_by_set[key])
        negatives = list(negatives_by_set.get(key, []))
        barred = _pairs_looked_at(key, negatives_by_set)
        pool = _pool(pairs, shared_pool)
        found = [
            *_problems_of_pairs(pairs, pool, negatives, component_of),
            *_problems_of_repeats(negatives, barred),
            *_problems_of_counts(pairs, negatives),
        ]
        if strategy == "random":
            found += _problems_of_shortfalls(pairs, pool, negatives, component_of, barred)
        else:
            found += _problems_of_greed(pairs, pool, negatives, component_of, barred, distance_of)
        problems += [f"{_name(key)}: {problem}" for problem in found]
    return problems


def _problems_of_pairs(
    pairs: list[Pair], pool: list[str], negatives: Negatives, component_of: Mapping[str, int]
) -> Iterator[str]:
    """Yield the negatives that could never be one."""
    first_terms = {pair.term1 for pair in pairs}
    for term, other in negatives:
        if term not in first_terms:
            yield f"{term!r} is no first term of a positive"
        if other not in pool:
            yield f"{other!r} is no term of the pool"
        if term.lower() == other.lower():
            yield f"{term!r} and {other!r} are equal when case is ignored"
        elif component_of.get(term.lower(), -1) == component_of.get(other.lower(), -2):
            yield f"{term!r} and {other!r} are linked"


def _problems_of_repeats(negatives: Negatives, barred: set[frozenset[str]]) -> Iterator[str]:
    """Yield the negatives that stood before, in this set or an earlier one."""
    seen = set(barred)
    for term, other in negatives:
        if frozenset((term, other)) in seen:
            yield f"{term!r} and {other!r} are repeated"
        seen.add(frozenset((term, other)))


def _problems_of_counts(pairs: list[Pair], negatives: Negatives) -> Iterator[str]:
    """Yield the first terms with more negatives than positives."""
    n_positives = Counter(pair.term1 for pair in pairs)
    n_negatives = Counter(term for term, _ in negatives)
    for term, n_found in sorted(n_negatives.items()):
        if n_found > n_positives[term]:
            yield f"{term!r} has {n_found} negatives for {n_positives[term]} positives"


def _problems_of_shortfalls(
    pairs: list[Pair],
    pool: list[str],
    negatives: Negatives,
    component_of: Mapping[str, int],
    barred: set[frozenset[str]],
) -> Iterator[str]:
    """Yield the first terms with too few negatives though a candidate is left at the set's end."""
    seen = barred | {frozenset(negative) for negative in negatives}
    n_negatives = Counter(term for term, _ in negatives)
    for term, n_wanted in sorted(Counter(pair.term1 for pair in pairs).items()):
        left = [
            candidate
            for candidate in pool
            if _is_allowed(term, candidate, component_of)
            and frozenset((term, candidate)) not in seen
        ]
        if n_negatives[term] < n_wanted and left:
            found = f"{n_negatives[term]} negatives for {n_wanted} positives"
            yield f"{term!r} has {found} though {left[0]!r} is left"


def _problems_of_greed(
    pairs: list[Pair],
    pool: list[str],
    negatives: Negatives,
    component_of: Mapping[str, int],
    barred: set[frozenset[str]],
    distance_of: Distance,
) -> Iterator[str]:
    """Yield the first terms that passed over a nearer candidate, or were served too few."""
    seen = set(barred)
    for term, n_wanted in sorted(Counter(pair.term1 for pair in pairs).items()):
        chosen = {other for first, other in negatives if first == term}
        left = [
            candidate
            for candidate in pool
            if candidate not in chosen
            and _is_allowed(term, candidate, component_of)
            and frozenset((term, candidate)) not in seen
            and distance_of(term, candidate) is not None
        ]
        taken = {other: distance_of(term, other) for other in chosen}
        for other, distance in taken.items():
            if distance is None:
                yield f"{term!r} and {other!r} cannot be compared"
        furthest = max((near for near in taken.values() if near is not None), default=-math.inf)
        for candidate in left:
            distance = distance_of(term, candidate)
            if distance is not None and distance < furthest:
                yield f"{term!r} passed over {candidate!r} at {distance} for one at {furthest}"
        if len(chosen) < n_wanted and left:
            found = f"{len(chosen)} negatives for {n_wanted} positives"
            yield f"{term!r} has {found} though {left[0]!r} is left"
        seen |= {frozenset((term, other)) for other in chosen}


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
    """Say whether two terms are neither equal nor linked; a term is linked to itself.

    A term of no positive is linked to nothing else.
    """
    first, second = term.lower(), candidate.lower()
    return component_of.get(first, first) != component_of.get(second, second)


def _pairs_looked_at(
    key: SetKey, negatives_by_set: Mapping[SetKey, Negatives]
) -> set[frozenset[str]]:
    """Return the negatives, without direction, of the sets that a set looks at.

    Reading: negatives are the same when their texts are, case and all. syn_syn passes over both
    difficulties of fsn_syn, and only over those.
    """
    return {
        frozenset(negative)
        for earlier in SET_ORDER[: SET_ORDER.index(key)]
        if (key[0], earlier[0]) != ("syn_syn", "fsn_syn")
        for negative in negatives_by_set.get(earlier, ())
    }
