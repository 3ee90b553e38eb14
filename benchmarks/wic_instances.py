"""Instances of BC5CDR and NCBI Disease, compared with a loop over all pairs of sentences."""

from __future__ import annotations

import hashlib
import os
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz.distance import Indel

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings, UnavailableError
from benchmarks.harness.apart import apart
from benchmarks.harness.mesh_xml import write_mesh_xml
from benchmarks.harness.timing import timed
from medsim.core.progress import Progress
from medsim.core.store import Store
from medsim.corpora.documents import Problems
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import read_terminology
from medsim.wic import GROUPS
from medsim.wic.mentions import chosen_mentions, forms_with_relations, mention_hashes, read_mentions
from medsim.wic.rules import QUOTAS, lemma_of
from medsim.wic.splits import Splitter, blocks_of

if TYPE_CHECKING:
    import polars as pl

    from medsim.kernels.types import Hashes

_FILES = ("BC5CDR.txt", "NCBI.txt")
_ALL = 1 << 40
_OWN = "MSH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The sizes of a comparison.

    Attributes:
        corpora: the files.
        mesh: the folder of MeSH in XML.
        n_plain: sentences whose pairs the loop visits; the rest is extrapolated.
        rounds: number of rounds.
        threads: number of threads of the search.
    """

    corpora: tuple[Path, ...]
    mesh: Path
    n_plain: int
    rounds: int
    threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The times of a race.

    Attributes:
        ours: seconds of each round for all instances and their splits.
        plain: seconds of each round for the sample.
        n_sentences: sentences with a mention.
        n_candidates: instances from which splits are drawn.
        peak_mib: peak memory while instances are made.
        fingerprint: hash of the splits.
    """

    ours: list[float]
    plain: list[float]
    n_sentences: int
    n_candidates: int
    peak_mib: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plain:
    """A mention for the loop, with its term in lower case."""

    term: str
    lemma: str
    initials: str
    bearing: frozenset[str]
    concept: str


def measure(settings: Settings) -> Measured:
    """Return the time of making all instances of two corpora, and of a loop over their pairs."""
    folder = Path(os.environ.get("MEDSIM_DATA", "")) / "wic"
    corpora = tuple(folder / name for name in _FILES)
    if not all(path.is_file() for path in corpora):
        raise UnavailableError(f"MEDSIM_DATA names no folder with wic/{' and wic/'.join(_FILES)}")
    mesh = settings.cache / "mesh-xml"
    if not mesh.is_dir():
        write_mesh_xml(settings.cache, mesh)
    job = Job(
        corpora=corpora,
        mesh=mesh,
        n_plain=settings.size(2_000, 1_000),
        rounds=3,
        threads=settings.threads,
    )
    seen = apart(race, job)
    share = (job.n_plain * (job.n_plain - 1)) / (seen.n_sentences * (seen.n_sentences - 1))
    ours, plain = statistics.median(seen.ours), statistics.median(seen.plain) / share
    return Measured(
        about=f"{seen.n_sentences:,} sentences, {seen.n_candidates:,} candidate instances",
        times=f"{ours:.1f} s; a loop {plain:.0f} s (from {job.n_plain:,} sentences)",
        ratios={
            "a loop over all pairs": statistics.median(
                theirs / share / mine for mine, theirs in zip(seen.ours, seen.plain, strict=True)
            )
        },
        peak=f"{seen.peak_mib} MiB",
        fingerprint=seen.fingerprint,
    )


def race(job: Job) -> Race:
    """Return the times of both sides, after comparing their results in the sample."""
    progress = Progress()
    found, _ = read_mentions(job.corpora, Problems(), threads=job.threads)
    with Store(threads=job.threads) as store:
        read_terminology(str(job.mesh), store, ReadingOptions(), progress)
        store.put("mention", found)
        cite_codes(store, _OWN)
        store.run("wic/linked_mention")
        linked = store.table("linked_mention")
        mentions = chosen_mentions(linked, 0)
        sample = mentions.sort("sentence").gather_every(mentions.height // job.n_plain)
        sample = sample.head(job.n_plain).sort("lower_term", "concept_id", "sentence")
        _compare(store, sample, job)
        ours, plain = [], []
        for _ in range(job.rounds):
            with progress.stage("instances"):
                (blocks, splits), seconds = timed(lambda: _instances(store, mentions, job))
            ours.append(seconds)
            plain.append(timed(lambda: _looped(store, sample))[1])
    return Race(
        ours=ours,
        plain=plain,
        n_sentences=mentions.height,
        n_candidates=int(blocks["n_pairs"].sum()),
        peak_mib=progress.records[-1].peak_mib,
        fingerprint=_fingerprint(splits, mention_hashes(mentions)),
    )


def _instances(
    store: Store, mentions: pl.DataFrame, job: Job
) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    blocks = _blocks(store, mentions, job.threads)
    splitter = Splitter(
        blocks=blocks,
        hashes=mention_hashes(mentions),
        seed=0,
        quotas=QUOTAS["test"],
        max_train=_ALL,
    )
    return blocks, splitter.split()


def _blocks(store: Store, mentions: pl.DataFrame, threads: int) -> pl.DataFrame:
    forms = forms_with_relations(store, mentions, "en", _OWN, "direct")
    return blocks_of(store, mentions, forms, threads=threads)


def _compare(store: Store, sample: pl.DataFrame, job: Job) -> None:
    """Raise MismatchError if the sides find different numbers of instances in the sample."""
    blocks = _blocks(store, sample, job.threads)
    ours: Counter[tuple[str, int]] = Counter()
    for group, label, number in blocks.select("group", "label", "n_pairs").iter_rows():
        ours[GROUPS[group], label] += number
    theirs = _looped(store, sample)
    if ours != theirs:
        raise MismatchError(f"{dict(ours)} instances, and {dict(theirs)} by the loop")


def _looped(store: Store, sample: pl.DataFrame) -> Counter[tuple[str, int]]:
    """Return the number of instances of each group and label, counted pair by pair."""
    bearing = defaultdict(set)
    for form, concept in store.table("form_name").iter_rows():
        bearing[form].add(concept)
    forms = dict(store.table("form").select("lower_term", "form_id").iter_rows())
    parents = defaultdict(set)
    known = set(sample["concept_id"])
    for child, parent in store.table("is_a").iter_rows():
        if child in known:
            parents[child].add(parent)
    mentions = [
        _Plain(
            term=term,
            lemma=lemma_of(term),
            initials="".join(word[0] for word in term.split()),
            bearing=frozenset(bearing[forms[term]]),
            concept=concept,
        )
        for term, concept in sample.select("lower_term", "concept_id").iter_rows()
    ]
    counts: Counter[tuple[str, int]] = Counter()
    for mention, other in combinations(mentions, 2):
        if mention.concept in parents[other.concept] or other.concept in parents[mention.concept]:
            continue
        group = _group_of(mention, other)
        if group is not None:
            counts[group, int(mention.concept == other.concept)] += 1
    return counts


def _group_of(mention: _Plain, other: _Plain) -> str | None:
    if mention.term == other.term or mention.lemma == other.lemma:
        return "term_identity"
    if mention.initials == other.term or other.initials == mention.term:
        return "abbreviations"
    if mention.bearing & other.bearing:
        return "synonyms"
    if 4 * Indel.distance(mention.term, other.term) < len(mention.term) + len(other.term):
        return "label_similarity"
    return None


def _fingerprint(splits: dict[str, pl.DataFrame], hashes: Hashes) -> str:
    """Return a hash of the content of all splits' mentions in their order."""
    digest = hashlib.sha256()
    for split in splits.values():
        digest.update(hashes[split.select("mention1", "mention2").to_numpy()].tobytes())
    return digest.hexdigest()[:16]


BENCHMARKS.register("wic_instances", measure)
