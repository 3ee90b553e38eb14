"""A benchmark of words in context, made by visiting every pair of sentences.

It follows the rules, and shares only the lemmas of words with the package.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations

from oracles.hashing import MASK, mixed, term_hash

from medsim.wic.rules import lemma_of

GROUPS = ("term_identity", "abbreviations", "synonyms", "label_similarity")


@dataclass
class Terminology:
    """The names, relations and codes of concepts.

    Attributes:
        vocabulary: the vocabulary of its ids.
        names: lower-case names by concept.
        parents: by concept.
        synonymous: pairs of concepts.
        codes: (vocabulary, code) by concept.
    """

    vocabulary: str
    names: dict[str, set[str]]
    parents: dict[str, set[str]] = field(default_factory=dict)
    synonymous: set[frozenset[str]] = field(default_factory=set)
    codes: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def concept_of(self, vocabulary: str, code: str) -> str | None:
        """Return the only concept of a code."""
        if vocabulary == self.vocabulary:
            return code if code in self.names else None
        having = [c for c, codes in self.codes.items() if (vocabulary, code) in codes]
        return having[0] if len(having) == 1 else None

    def doubtful(self, first: str, second: str) -> bool:
        """Return whether two concepts may not be in one instance."""
        if first == second:
            return False
        return (
            second in self.parents.get(first, set())
            or first in self.parents.get(second, set())
            or frozenset((first, second)) in self.synonymous
            or bool(self.codes.get(first, set()) & self.codes.get(second, set()))
        )


@dataclass(frozen=True)
class Mention:
    """A span of a sentence, and its concept."""

    sentence: str
    start: int
    end: int
    term: str
    concept: str

    @property
    def hash(self) -> int:
        """Return the hash of its content."""
        return term_hash(f"{self.sentence}\n{self.start}\n{self.end}\n{self.concept}")

    @property
    def place(self) -> tuple[str, str, str]:
        """Return the key by which mentions are sorted."""
        return (self.term.lower(), self.concept, self.sentence)


def mentions_of(
    rows: list[tuple[str, int, int, str, str, str]], terminology: Terminology, seed: int
) -> list[Mention]:
    """Return one mention per sentence from rows (sentence, start, end, term, vocabulary, code)."""
    stretches: dict[tuple[str, int, int, str], set[str]] = defaultdict(set)
    for sentence, start, end, term, vocabulary, code in rows:
        concept = terminology.concept_of(vocabulary, code)
        if concept is not None:
            stretches[sentence, start, end, term].add(concept)
    of_sentence = defaultdict(list)
    for (sentence, start, end, term), concepts in stretches.items():
        if len(concepts) == 1:
            mention = Mention(sentence, start, end, term, next(iter(concepts)))
            of_sentence[sentence].append(mention)
    return [
        min(group, key=lambda mention: mixed(mixed(seed ^ 0) ^ mention.hash))
        for group in of_sentence.values()
    ]


def lcs(first: str, second: str) -> int:
    """Return the length of the longest common subsequence, by the textbook's table."""
    row = [0] * (len(second) + 1)
    for a in first:
        previous = row
        row = [0]
        for at, b in enumerate(second):
            row.append(previous[at] + 1 if a == b else max(previous[at + 1], row[at]))
    return row[-1]


def group_of(first: str, second: str, terminology: Terminology) -> str | None:
    a, b = first.lower(), second.lower()
    if lemma_of(a) == lemma_of(b):
        return "term_identity"
    if a == "".join(word[0] for word in b.split()) or b == "".join(word[0] for word in a.split()):
        return "abbreviations"
    if any(a in names and b in names for names in terminology.names.values()):
        return "synonyms"
    if 4 * (len(a) + len(b) - 2 * lcs(a, b)) < len(a) + len(b):
        return "label_similarity"
    return None


@dataclass(frozen=True)
class Candidate:
    """Two mentions that make an instance."""

    first: Mention
    second: Mention
    group: str
    label: int
    draw: int

    @property
    def sentences(self) -> frozenset[str]:
        """Return both sentences."""
        return frozenset((self.first.sentence, self.second.sentence))

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the pair of lemmas, in sorted order."""
        return tuple(sorted((lemma_of(self.first.term), lemma_of(self.second.term))))


def candidates_of(mentions: list[Mention], terminology: Terminology, seed: int) -> list[Candidate]:
    candidates = []
    groups: dict[tuple[str, str], str | None] = {}
    for first, second in combinations(sorted(mentions, key=lambda mention: mention.place), 2):
        if terminology.doubtful(first.concept, second.concept):
            continue
        terms = (first.term.lower(), second.term.lower())
        if terms not in groups:
            groups[terms] = group_of(*terms, terminology)
        group = groups[terms]
        if group is not None:
            low, high = sorted((first.hash, second.hash))
            draw = mixed(mixed(seed ^ low) ^ high)
            label = int(first.concept == second.concept)
            candidates.append(Candidate(first, second, group, label, draw & MASK))
    return sorted(candidates, key=lambda candidate: candidate.draw)


def splits_of(
    candidates: list[Candidate], quotas: dict[str, int], max_uses: int = 100
) -> dict[str, list[Candidate]]:
    """Return the instances of every split, by the rules of ``medsim.wic.splits``."""
    test = _test(candidates, quotas)
    sentences = {sentence for c in test for sentence in c.sentences}
    terms = {c.terms for c in test}
    left = [c for c in candidates if c.terms not in terms and not c.sentences & sentences]
    uses: Counter[str] = Counter()
    dev = _balanced(
        [
            chosen
            for group in GROUPS
            for label in (0, 1)
            for chosen in _served(
                [c for c in left if (c.group, c.label) == (group, label)],
                uses,
                max_uses,
                sum((c.group, c.label) == (group, label) for c in test) // 2,
            )
        ]
    )
    return {
        "train": _train(candidates, left, terms, dev, uses, max_uses),
        "dev": dev,
        "test": test,
    }


def _test(candidates: list[Candidate], quotas: dict[str, int]) -> list[Candidate]:
    used_sentences: set[str] = set()
    used_terms: set[tuple[str, ...]] = set()
    taken = []
    for group in GROUPS:
        kinds = [
            {c.terms for c in candidates if (c.group, c.label) == (group, label)}
            for label in (0, 1)
        ]
        wanted = min(quotas[group], min(map(len, kinds)) // 2)
        for label in (0, 1):
            n_taken = 0
            for candidate in candidates:
                if n_taken == wanted:
                    break
                fits = (candidate.group, candidate.label) == (group, label)
                fits = fits and not candidate.sentences & used_sentences
                if fits and candidate.terms not in used_terms:
                    used_sentences |= candidate.sentences
                    used_terms.add(candidate.terms)
                    taken.append(candidate)
                    n_taken += 1
    return _balanced(taken)


def _train(
    candidates: list[Candidate],
    left: list[Candidate],
    terms: set[tuple[str, ...]],
    dev: list[Candidate],
    uses: Counter[str],
    max_uses: int,
) -> list[Candidate]:
    rarer = {}
    for group in GROUPS:
        numbers = [
            sum((c.group, c.label) == (group, label) and c.terms not in terms for c in candidates)
            for label in (0, 1)
        ]
        rarer[group] = int(numbers[1] < numbers[0])
    fresh = [instance for instance in left if instance not in dev]
    train: list[Candidate] = []
    for group, label in rarer.items():
        instances = [c for c in fresh if (c.group, c.label) == (group, label)]
        train += _served(instances, uses, max_uses, len(instances))
    for group, label in rarer.items():
        instances = [c for c in fresh if (c.group, c.label) == (group, 1 - label)]
        train += _served(instances, uses, max_uses, sum(c.group == group for c in train))
    return _balanced(train)


def _served(
    candidates: list[Candidate], uses: Counter[str], max_uses: int, wanted: int
) -> list[Candidate]:
    taken: list[Candidate] = []
    for candidate in candidates:
        if len(taken) == wanted:
            break
        if all(uses[sentence] < max_uses for sentence in candidate.sentences):
            uses.update(candidate.sentences)
            taken.append(candidate)
    return taken


def _balanced(taken: list[Candidate]) -> list[Candidate]:
    kept = []
    for group in GROUPS:
        labels = [[c for c in taken if (c.group, c.label) == (group, label)] for label in (0, 1)]
        number = min(map(len, labels))
        kept += [instance for instances in labels for instance in instances[:number]]
    return kept
