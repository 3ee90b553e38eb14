"""Checks every guarantee on any benchmark of words in context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import polars as pl

from medsim.core.checks import Finding, Verification
from medsim.core.config import available_threads
from medsim.core.data import toml_of
from medsim.core.errors import InputError
from medsim.core.kinds import columns
from medsim.core.opened import file_fingerprint
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.core.store import Store
from medsim.core.terms import lowered, lowered_column
from medsim.corpora import CORPUS_SPLITS, ENGLISH
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import read_terminology
from medsim.wic import GROUPS, MAX_REPEATS, SIMILARITY, rules
from medsim.wic.mentions import forms_with_relations
from medsim.wic.options import WicVerifyOptions
from medsim.wic.output import (
    CHOSEN_MENTION,
    INSTANCE,
    NAME,
    RELATED,
    Benchmark,
    BenchmarkFiles,
    read_benchmark,
)

if TYPE_CHECKING:
    from medsim.core.manifest import Output

    Keys: TypeAlias = Callable[["Instance"], Sequence[Hashable]]
    Splits: TypeAlias = Mapping[str, Sequence["Instance"]]

ConceptsByName: TypeAlias = Mapping[str, frozenset[str]]
"""The concepts of a name, by the name in lower case."""

_Provenance: TypeAlias = Mapping[str, pl.DataFrame]
"""The tables of a benchmark with the provenance of its instances, by their files."""

_TABLES = (INSTANCE, CHOSEN_MENTION, NAME, RELATED)
"""The tables of a folder with the provenance of its instances."""

_PROMISES = {
    check: str(promise).format(similarity=SIMILARITY, max_repeats=MAX_REPEATS)
    for check, promise in toml_of(__package__, "promises.toml").items()
}
"""The guarantees in the order in which they are checked."""

_BREACH_COLUMNS = (
    columns(pl.String, "split", "check")
    | columns(pl.Int64, "instance")
    | columns(pl.String, "term1", "term2", "found")
)

_GROUP_CHECKS = ("group", "lemma", "synonyms", "similarity")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verified(Verification):
    """The outcome of a verification of words in context.

    Attributes:
        findings: a row per split and check: its guarantee, the numbers of checked items and of
            violations, and the first of these or a note.
        breaches: a row per violation; instances are numbered from 1 in their file, null if it is
            not in a single instance.
    """

    breaches: pl.DataFrame


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


class Instance(NamedTuple):
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

    def breach(self, found: str) -> Breach:
        """Return a violation of a rule by this instance."""
        return Breach(found, self.number, *self.terms)


class Breach(NamedTuple):
    """One violation of a rule.

    Attributes:
        found: what is wrong.
        instance: the number of the instance; None, as its terms, if it is not in a single one.
    """

    found: str
    instance: int | None = None
    term1: str | None = None
    term2: str | None = None

    def __str__(self) -> str:
        if self.instance is None:
            return self.found
        return f"instance {self.instance}, {self.term1!r} and {self.term2!r}: {self.found}"


class SplitFinding(NamedTuple):
    """The outcome of one check in one split.

    Attributes:
        split: of ``CORPUS_SPLITS``; "" for none.
        check: its name, of ``_PROMISES``.
        n_checked: the number of items that were checked.
        violations: of the guarantee.
        note: see ``Finding``.
    """

    split: str
    check: str
    n_checked: int
    violations: Sequence[Breach] = ()
    note: str = ""

    def row(self) -> dict[str, object]:
        """Return the row of a finding with its split and the number of checked items."""
        promise = _PROMISES[self.check]
        first = {"split": self.split, "check": self.check, "guarantee": promise}
        row = Finding(self.check, promise, self.violations, self.note).row()
        return first | {"checked": self.n_checked} | row


@public(WicVerifyOptions)
def verify_wic(options: WicVerifyOptions) -> Verified:
    """Return the checks of a benchmark by the rules of Rouhizadeh et al. (2024).

    Each instance, each split, and all splits together are checked. A folder of ``medsim wic build``
    has the provenance of its instances; with it, labels, concepts and synonyms are checked as well.

    Raises:
        InputError: a file cannot be read or has another layout.
        OptionError: the split of a file is unclear, or the extra wic is missing.
    """
    progress = progress_of(options.progress)
    with progress.stage("read instances"):
        benchmark = read_benchmark(options)
    findings: list[SplitFinding] = []
    build, provenance, names = benchmark.build, None, None
    with benchmark.reading():
        with progress.stage("compare files with the manifest"):
            if build is not None:
                findings, provenance = _check_folder(build)
        if provenance is not None:
            names = provenance[NAME.files]
        if options.terminology is not None:
            reading = ReadingOptions.from_record(benchmark.options, extensions=options.extensions)
            with Store(threads=available_threads()) as store:
                terminology = read_terminology(str(options.terminology), store, reading, progress)
                if provenance is None:
                    names = store.frame("terminologies/concept_name", language=reading.language)
                else:
                    broader, vocabulary = str(benchmark.options["broader"]), terminology.vocabulary
                    findings += check_terminology(
                        store, provenance, reading.language, vocabulary, broader
                    )
        with progress.stage("check the guarantees"):
            findings += _check_all(benchmark, provenance, names)
    rows = [
        {"split": found.split, "check": found.check, **breach._asdict()}
        for found in findings
        for breach in found.violations
    ]
    breaches = pl.DataFrame(rows, _BREACH_COLUMNS)
    table = pl.DataFrame([found.row() for found in findings])
    return Verified(findings=table, breaches=breaches)


def _check_all(
    benchmark: BenchmarkFiles, provenance: _Provenance | None, names: pl.DataFrame | None
) -> list[SplitFinding]:
    """Return the findings on the instances, split by split; ``names`` are names of concepts."""
    splits = {split: instances_of(frame) for split, frame in benchmark.splits.items()}
    language = str(benchmark.options.get("language", ENGLISH))
    similarity = float(str(benchmark.options.get("label_similarity", SIMILARITY)))
    terms = {term for split in splits.values() for instance in split for term in instance.terms}
    concepts = None if names is None else concepts_by_name(terms, names)
    together = check_splits(
        splits,
        benchmark.build.manifest.quotas if benchmark.build else None,
        language=language,
        max_repeats=int(str(benchmark.options.get("max_repeats", MAX_REPEATS))),
    )
    findings = []
    for split, instances in splits.items():
        findings += check_instances(split, instances, concepts, language, similarity)
        findings += together[split]
        if provenance is not None:
            findings += check_provenance(split, provenance)
    return findings


def instances_of(frame: pl.DataFrame) -> list[Instance]:
    """Return the rows of a frame with ``WIC_COLUMNS`` as instances."""
    sides = [frame.select(f"{name}{side}" for name in Mention._fields).rows() for side in (1, 2)]
    rows = zip(*sides, frame["cat"], frame["label"], strict=True)
    return [
        Instance(number, (Mention(*first), Mention(*second)), cat, label == 1)
        for number, (first, second, cat, label) in enumerate(rows, start=1)
    ]


def check_each(
    split: str, check: str, instances: Sequence[Instance], fault: Callable[[Instance], str]
) -> SplitFinding:
    """Return the violations of a rule by instances; ``fault`` returns "" if there is none."""
    breaches = [each.breach(found) for each in instances if (found := fault(each))]
    return SplitFinding(split, check, len(instances), breaches)


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

    def wrong_offsets(mention: Mention) -> str:
        start, end, length = mention.start, mention.end, len(mention.sentence)
        return "" if 0 <= start < end <= length else f"{start} to {end} of {length} characters"

    def wrong_term(mention: Mention) -> str:
        actual = mention.sentence[mention.start : mention.end]
        return "" if actual == mention.term else f"the sentence has {actual!r} there"

    def in_mentions(fault: Callable[[Mention], str], instance: Instance) -> str:
        faults = enumerate(map(fault, instance.mentions), start=1)
        return "; ".join(f"sentence {side}: {found}" for side, found in faults if found)

    def one_sentence(instance: Instance) -> str:
        first, second = instance.sentences
        return "both sentences are the same" if first == second else ""

    by_rules = partial(rules.group_of, language=language, similarity=similarity)
    return [
        check_each(split, "offsets", instances, partial(in_mentions, wrong_offsets)),
        check_each(split, "term", instances, partial(in_mentions, wrong_term)),
        check_each(split, "two_sentences", instances, one_sentence),
        *_groups(split, instances, concepts, by_rules),
    ]


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
                fault = f"{fault}: the ratio is {float(rules.label_ratio(*instance.terms)):.3g}"
            breaches[check].append(instance.breach(fault))
    return [
        SplitFinding(split, check, 0, breaches[check], "not checked: no terminology was given")
        if check == "synonyms" and concepts is None
        else SplitFinding(split, check, len(instances), breaches[check])
        for check in _GROUP_CHECKS
    ]


def _disagreement(instance: Instance, by_rules: str | None) -> str:
    """Return the check for a wrong group.

    Lemmas depend on the library, synonyms on the terminology, other groups on neither.
    """
    groups = {instance.cat, by_rules}
    if "term_identity" in groups and not rules.equal_ignoring_case(*instance.terms):
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
    keys: dict[str, Keys] = {  # what occurs once in test, and not in train and dev
        "sentence": lambda instance: instance.sentences,
        "pair": lambda instance: (rules.term_pair(*instance.terms),),
        "lemma_pair": lambda instance: (rules.lemma_pair(*instance.terms, language),),
    }
    span_of: dict[str, tuple[int, int]] = {}
    first_of: dict[Hashable, str] = {}
    times: Counter[str] = Counter()

    def other_mention(instance: Instance) -> str:
        for number, mention in enumerate(instance.mentions, start=1):
            span = mention.start, mention.end
            start, end = span_of.setdefault(mention.sentence, span)
            if span != (start, end):
                return f"sentence {number} has its mention from {start} to {end} elsewhere"
        return ""

    def repeated(split: str, instance: Instance) -> str:
        this = f"{split} {instance.number}"
        first = first_of.setdefault(frozenset(instance.mentions), this)
        return "" if first == this else f"{first} is the same"

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
        findings[split] += [_shared(split, splits, *named) for named in keys.items()]
    return findings


def _counts(instances: Sequence[Instance]) -> dict[str, tuple[int, int]]:
    """Return the numbers of instances of each group with label 1 and with label 0."""
    counted = Counter((instance.cat, instance.label) for instance in instances)
    return {group: (counted[group, True], counted[group, False]) for group in GROUPS}


def _balance(split: str, instances: Sequence[Instance]) -> SplitFinding:
    counts = _counts(instances)
    breaches = [
        Breach(f"{group} has label 1 in {n_true:,} instances and 0 in {n_false:,}")
        for group, (n_true, n_false) in counts.items()
        if n_true != n_false
    ]
    return SplitFinding(split, "balance", sum(map(any, counts.values())), breaches)


def _quota(
    split: str, instances: Sequence[Instance], quotas: Mapping[str, Mapping[str, int]] | None
) -> list[SplitFinding]:
    """Return the checks of the numbers of instances in groups; empty if the numbers are unknown."""
    of_split = (rules.QUOTAS if quotas is None else quotas).get(split)
    if of_split is None:
        return []
    breaches, smaller = [], []
    for group, both in _counts(instances).items():
        quota = of_split[group]
        if max(both) > quota or (quotas is not None and min(both) < quota):
            numbers = f"label 1 in {both[0]:,} instances and 0 in {both[1]:,}, not {quota:,} each"
            breaches.append(Breach(f"{group} has {numbers}"))
        elif max(both) < quota:
            smaller.append(f"{group} {both[0]:,} of {quota:,}")
    note = f"smaller than published: {', '.join(smaller)}" if smaller else ""
    return [SplitFinding(split, "quota", len(GROUPS), breaches, note)]


def _sentence_limit(
    split: str, instances: Sequence[Instance], most: int, times: Counter[str]
) -> SplitFinding:
    """Return sentences that occur too often; ``times`` has earlier counts."""
    times.update(text for instance in instances for text in instance.sentences)
    first = {text: instance for instance in reversed(instances) for text in instance.sentences}
    breaches = [
        instance.breach(f"one of its sentences occurs {times[text]:,} times")
        for text, instance in first.items()
        if times[text] > most
    ]
    return SplitFinding(split, "sentence_limit", len(first), breaches)


def _shared(split: str, splits: Splits, subject: str, keys: Keys) -> SplitFinding:
    """Return the check of what is repeated in test, or of data leakage into train or dev."""
    is_test = split == "test"
    check = f"{'repeated' if is_test else 'leaked'}_{subject}"
    if "test" not in splits:
        return SplitFinding(split, check, 0, note="not checked: no test split")
    first: dict[Hashable, int] = {}
    for instance in splits["test"]:
        for key in keys(instance):
            first.setdefault(key, instance.number)

    def fault(instance: Instance) -> str:
        same = [first[key] for key in keys(instance) if key in first]
        others = [number for number in same if not is_test or number != instance.number]
        return f"test {others[0]} has the same {subject.replace('_', ' ')}" if others else ""

    return check_each(split, check, splits[split], fault)


def _check_folder(build: Benchmark) -> tuple[list[SplitFinding], _Provenance | None]:
    """Return the findings on the files of a folder, and their provenance if they are intact."""
    outputs = check_outputs(build)
    try:
        provenance = {
            table.files: build.read(table.files).select(list(table.dtypes)) for table in _TABLES
        }
    except (InputError, pl.exceptions.ColumnNotFoundError):
        if not outputs.violations:
            raise
        return [outputs], None
    counts = Counter(provenance[CHOSEN_MENTION.files]["sentence"].to_list())
    breaches = [Breach(f"{n} mentions in {text!r}") for text, n in counts.items() if n > 1]
    return [outputs, SplitFinding("", "one_row", len(counts), breaches)], provenance


def check_outputs(build: Benchmark) -> SplitFinding:
    """Return the check of the files of a folder against its manifest."""
    outputs = build.manifest.outputs
    paths = {
        *outputs,
        *(table.files for table in _TABLES),
        *(f"{split}.json" for split in CORPUS_SPLITS),
    }
    faults = [_fault(build, path, outputs.get(path)) for path in sorted(paths)]
    return SplitFinding("", "outputs", len(paths), [Breach(words) for words in faults if words])


def _fault(build: Benchmark, path: str, output: Output | None) -> str:
    """Return the fault of a file: Parquet is compared by rows, all else by bytes."""
    if output is None:
        return f"{path} is not in the manifest"
    try:
        actual = file_fingerprint(build.folder / path)
    except (InputError, OSError) as error:
        return f"{path} cannot be read ({error})"
    return "" if actual == output.fingerprint else f"{path} differs from the manifest"


def check_provenance(split: str, provenance: _Provenance) -> list[SplitFinding]:
    """Return the checks of a split's instances against their concepts."""
    rows = provenance[INSTANCE.files].filter(split=split)
    instances = instances_of(rows)
    related = {frozenset(pair): relation for *pair, relation in provenance[RELATED.files].rows()}
    concepts = rows.select("concept1", "concept2").rows()

    def wrong_label(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        if instance.label == (concept1 == concept2):
            return ""
        return f"{instance.label}, but the concepts are {concept1} and {concept2}"

    def left_out(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        relation = related.get(frozenset((concept1, concept2)))
        return f"{concept1} and {concept2} are related: {relation}" if relation else ""

    return [
        check_each(split, "label", instances, wrong_label),
        check_each(split, "excluded", instances, left_out),
    ]


def concepts_by_name(terms: Collection[str], names: pl.DataFrame) -> ConceptsByName:
    """Return the concepts of terms that are names, ignoring case."""
    wanted = pl.Series(lowered(list(terms)), dtype=pl.String).implode()
    lower = lowered_column(names["term"])
    matches = names.with_columns(lower).filter(lower.is_in(wanted))
    grouped = matches.group_by("lower_term").agg("concept_id")
    return {name: frozenset(concepts) for name, concepts in grouped.iter_rows()}


def check_terminology(
    store: Store, provenance: _Provenance, language: str, vocabulary: str | None, broader: str
) -> list[SplitFinding]:
    """Return the checks of names, related and mentioned concepts against the store's terminology.

    See ``forms_with_relations`` for the other arguments.
    """
    mentions = provenance[CHOSEN_MENTION.files]
    forms = forms_with_relations(store, mentions, language, vocabulary, broader)
    store.put("form", forms)
    active = store.table("concept").filter("active").select("concept_id")
    return [
        _compare("names", provenance[NAME.files], store.frame("wic/benchmark_name")),
        _compare("related", provenance[RELATED.files], store.table("related_concept")),
        _compare("concepts", mentions.join(active, on="concept_id", how="semi"), mentions),
    ]


def _compare(check: str, benchmark: pl.DataFrame, terminology: pl.DataFrame) -> SplitFinding:
    """Return the rows that differ between a benchmark and its terminology."""
    columns = [name for name in terminology.columns if name in benchmark.columns]
    actual, expected = (set(table.select(columns).rows()) for table in (benchmark, terminology))
    faults = [f"{row} is not in the terminology" for row in sorted(actual - expected)]
    faults += [f"{row} is missing" for row in sorted(expected - actual)]
    return SplitFinding("", check, terminology.height, [Breach(fault) for fault in faults])
