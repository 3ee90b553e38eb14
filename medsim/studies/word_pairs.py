"""Chooses pairs of words for people to rate."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from medsim.builds.output import Build
from medsim.builds.positives import node_components
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError, OutputError, counted
from medsim.core.files import write_file
from medsim.core.manifest import Skipped
from medsim.core.options import public
from medsim.core.output import check_file_free
from medsim.core.progress import progress_of
from medsim.core.shown import Shown, Summary
from medsim.core.store import Store
from medsim.core.terms import content_hashes
from medsim.kernels.drawing import take_in_order
from medsim.kernels.packing import mixed, tie_hashes
from medsim.kernels.types import Counts, Hashes, Ids
from medsim.studies.options import N_QUARTERS, PairsOptions
from medsim.studies.output import WORD_PAIRS
from medsim.studies.relations import (
    Lexicon,
    associated,
    listed_words,
    read_confirmed,
    read_lexicon,
    read_norms,
    relations,
    single_words,
)
from medsim.studies.words import (
    BIOMEDICAL,
    DOMAINS,
    GENERAL,
    Forms,
    KeptWords,
    by_ratio,
    frequency_correlation,
    kept_words,
    merged,
    read_domains,
    read_frequencies,
    read_subjects,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WordPairs(Shown):
    """Pairs of words to rate.

    Attributes:
        frame: ``medsim.studies.output.WORD_PAIRS``, in an order drawn from the seed.
        left_out: the numbers of words left out, with reasons, in the order of the filters.
        warnings: for readers, a sentence each.
        frequency_correlation: Spearman's correlation of the remaining words' frequencies in the
            biomedical and the general corpus; None if unknown.
    """

    frame: pl.DataFrame
    left_out: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    frequency_correlation: float | None = None

    def _summary(self) -> Summary:
        facts = [counted(self.frame.height, "pair"), counted(len(self.warnings), "warning")]
        calls = [".frame", '.write("pairs.csv")', 'medsim.grade_study("pairs.csv", …)']
        return Summary(facts, calls, table=self.quarters)

    def quarters(self) -> pl.DataFrame:
        """Return a row per quarter: domain, associated, and its numbers of pairs and words."""
        words = pl.concat_list("term1", "term2").list.explode().n_unique()
        return (
            self.frame.group_by("domain", "associated")
            .agg(pl.len().cast(pl.Int64).alias("pairs"), words.cast(pl.Int64).alias("words"))
            .sort("domain", "associated", descending=[False, True])
        )

    def write(self, out: str | Path, *, overwrite: bool = False) -> None:
        """Write the pairs as CSV, or as Parquet if the file's name ends in .parquet.

        Raises:
            OutputError: ``out`` exists and must not be replaced, or it cannot be written.
        """
        out = Path(out).absolute()
        check_pairs_place(out, overwrite=overwrite)
        is_parquet, content = out.suffix.lower() == ".parquet", io.BytesIO()
        (self.frame.write_parquet if is_parquet else self.frame.write_csv)(content)
        write_file(out, content.getvalue(), overwrite=overwrite)


def check_pairs_place(out: Path, *, overwrite: bool) -> None:
    """Raise OutputError if pairs cannot be written to ``out``, or a file there must be kept."""
    check_file_free(out, overwrite=overwrite)
    if out.suffix.lower() not in {".csv", ".parquet"}:
        raise OutputError(f"{out} must end in .csv or .parquet")


_RANDOM = "random"
"""The reason of unassociated pairs."""

WORD_IDS = ("word1_id", "word2_id")

_FEWEST_PAIRED = 2_048


class Quarters:
    """The pairs that quarters are drawn from.

    Args:
        words: word and domain, in order of word; a word's id is its row.
        associated: word1_id, word2_id and reason of the associated pairs of each domain; only pairs
            with both words in the domain are used. A missing domain has no such quarter.
        related: word1_id and word2_id of all pairs that are associated or related in any way.
        seed: random seed.
        per_word: the maximum number of pairs per word, in all quarters together.
    """

    def __init__(
        self,
        words: pl.DataFrame,
        associated: Mapping[str, pl.DataFrame],
        related: pl.DataFrame,
        *,
        seed: int,
        per_word: int,
    ) -> None:
        self._hashes: Hashes = content_hashes(words["word"])
        self._related = related
        self._seed = np.uint64(seed)
        self._per_word = per_word
        self._ids = {
            domain: np.flatnonzero(words["domain"].to_numpy() == domain).astype(np.int32)
            for domain in DOMAINS
        }
        self._associated = {
            domain: frame.filter(
                pl.all_horizontal(pl.col(WORD_IDS).is_in(pl.Series(self._ids[domain]).implode()))
            )
            for domain, frame in associated.items()
        }

    def draw(self, n_pairs: int) -> dict[tuple[str, bool], pl.DataFrame]:
        """Return at most ``n_pairs`` of each quarter, by domain and association.

        Returns:
            word1_id, word2_id, reason; no pair is repeated.
        """
        uses = np.zeros(len(self._hashes), np.int64)
        quarters = {
            (domain, True): self._take(frame, n_pairs, uses)
            for domain, frame in self._associated.items()
        }
        for domain, ids in self._ids.items():
            pairs = self._take(self.unassociated(ids, n_pairs), n_pairs, uses)
            quarters[domain, False] = pairs.with_columns(pl.lit(_RANDOM).alias("reason"))
        return quarters

    def largest(self, n_pairs: int) -> int:
        """Return the largest number of pairs that every quarter can have, at most ``n_pairs``."""
        while n_pairs:
            smallest = min(frame.height for frame in self.draw(n_pairs).values())
            if smallest == n_pairs:
                break
            n_pairs = smallest
        return n_pairs

    def in_order(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return pairs in a random order that does not depend on the hashes that chose them."""
        return pairs[self._order(pairs, np.uint64(mixed(self._seed)))]

    def unassociated(self, words: Ids, n_pairs: int) -> pl.DataFrame:
        """Return all pairs of some words, int32[n_words], except related pairs.

        If there are many words, only a sample of them, drawn by hashes and large enough for
        ``n_pairs``, is paired. Time and memory O(n_sampled ** 2).
        """
        ties = tie_hashes(self._seed, np.uint64(0), self._hashes[words])
        sampled = words[np.argsort(ties, kind="stable")][: max(_FEWEST_PAIRED, 2 * n_pairs)]
        sampled = np.sort(sampled)
        sides = np.triu_indices(len(sampled), 1)
        pairs = pl.DataFrame([sampled[side] for side in sides], WORD_IDS)
        return pairs.join(self._related, on=WORD_IDS, how="anti", maintain_order="left")

    def _take(self, pairs: pl.DataFrame, n_pairs: int, uses: Counts) -> pl.DataFrame:
        """Return at most ``n_pairs``, and count the uses of their words.

        Pairs are distinct, and are chosen in order of the hash of (seed, first word, second word).
        """
        ordered = pairs[self._order(pairs, self._seed)]
        words = ordered.select(pl.col(WORD_IDS).cast(pl.Int64)).to_numpy(order="c")
        forms, used = np.full(len(words), -1, np.int32), np.empty(0, np.bool_)
        return ordered[take_in_order(words, forms, uses, self._per_word, used, n_pairs)]

    def _order(self, pairs: pl.DataFrame, seed: np.uint64) -> np.ndarray:
        """Return the rows of pairs in order of their hashes."""
        firsts, seconds = (self._hashes[pairs[side].to_numpy()] for side in WORD_IDS)
        return np.argsort(tie_hashes(seed, firsts, seconds), kind="stable")


_NAMES = {True: "associated", False: "unassociated"}


@public(PairsOptions)
def choose_pairs(options: PairsOptions) -> WordPairs:
    """Return pairs of words to rate, chosen as for Bio-SimLex and Bio-SimVerb.

    There are four equal quarters: biomedical or general words, associated or not. Biomedical pairs
    are associated by a terminology, as synonyms or siblings, and must be confirmed by people if a
    table of confirmed pairs is given. General pairs are associated by norms with enough
    participants and both directions. Unassociated pairs are drawn at random from the pairs that
    none of these sources relates. A quarter whose source is missing is left out with a warning
    (Chiu et al. 2018, BMC Bioinformatics 19:33). ``medsim.studies.words`` describes the files.
    Without a list and a table of domains, the ratio of frequencies decides domains (``by_ratio``).

    Raises:
        InputError: a file is missing, or a line of it is invalid.
        OptionError: an option is out of range, or a quarter has too few pairs.
    """
    threads, progress = checked_threads(options.threads), progress_of(options.progress)
    general = None
    with progress.stage(f"read {Path(options.words).name}"):
        subjects = None if options.documents is None else read_subjects(Path(options.documents))
        candidates = kept_words(options, subjects)
        lexicon = read_lexicon(options.lexicon) if options.lexicon else None
        if options.general is not None:
            rows = read_frequencies(Path(options.general), candidates.word_class)
            general = merged(rows, candidates.forms.with_lemmas_of(rows))
        words, without_domain = _with_domains(candidates, general, options, lexicon, threads)
    with progress.stage("relate words") as stage:
        chosen = words.drop_nulls("domain").with_columns(
            pl.int_range(pl.len(), dtype=pl.Int32).alias("word_id")
        )
        by_domain, related, warnings = _related(chosen, candidates.forms, options, lexicon, threads)
        stage.note(", ".join(f"{f.height:,} {domain} pairs" for domain, f in by_domain.items()))
    with progress.stage("draw pairs"):
        draws = {"seed": options.seed, "per_word": options.per_word}
        pairs = _draw_quarters(Quarters(chosen, by_domain, related, **draws), options)
    options_of = {BIOMEDICAL: "`terminology`", GENERAL: "`norms`"}.items()
    without = [
        f"no associated {domain} pairs without {option}; the set has three quarters"
        for domain, option in options_of
        if domain not in by_domain
    ]
    correlation = None if general is None else frequency_correlation(candidates.frame, general)
    return WordPairs(
        frame=_finished(pairs, chosen, candidates.word_class),
        left_out=candidates.left_out + without_domain,
        warnings=(*warnings, *without),
        frequency_correlation=correlation,
    )


def _with_domains(
    candidates: KeptWords,
    general: pl.DataFrame | None,
    options: PairsOptions,
    lexicon: Lexicon | None,
    threads: int,
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return words with their domain, null if unknown, and the number of words without a domain.

    The words of a general corpus, ``general``, decide only without a list and a table.
    """
    if options.domains is not None:
        domains = read_domains(Path(options.domains), candidates.forms)
        words = candidates.frame.join(domains, on="word", how="left", maintain_order="left")
        reason = "no domain in the table"
    elif options.by_ratio and general is not None:
        words = by_ratio(candidates.frame, candidates.corpus, general, options.ratio)
        reason = "similar frequency in both corpora"
    else:
        listed = listed_words(Path(str(options.biomedical)), candidates.forms, threads, lexicon)
        domain = pl.when(pl.col("word").is_in(sorted(listed))).then(pl.lit(BIOMEDICAL))
        return candidates.frame.with_columns(domain.otherwise(pl.lit(GENERAL)).alias("domain")), ()
    return words, (Skipped(reason=reason, n_rows=words["domain"].null_count()),)


def _related(
    words: pl.DataFrame, forms: Forms, options: PairsOptions, lexicon: Lexicon | None, threads: int
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, tuple[str, ...]]:
    """Return the associated pairs by domain, for domains with a source, and all related pairs.

    If several terminologies associate a pair, the first gives the reason.
    """
    by_domain: dict[str, pl.DataFrame] = {}
    related: list[pl.DataFrame] = []
    warnings: tuple[str, ...] = ()
    for build in options.terminology or ():
        with Store(threads=threads) as store:
            components = node_components(Build(build), store, threads)
            related += relations(store, single_words(store, forms, lexicon), words, components)
        earlier = [by_domain[BIOMEDICAL]] if BIOMEDICAL in by_domain else []
        both = pl.concat([*earlier, related[-2]])
        by_domain[BIOMEDICAL] = both.unique(WORD_IDS, keep="first", maintain_order=True).sort(
            WORD_IDS
        )
    if options.confirmed is not None:
        related.append(read_confirmed(Path(options.confirmed), forms, words))
        either = by_domain.get(BIOMEDICAL, related[-1])
        by_domain[BIOMEDICAL] = either.join(
            related[-1], on=WORD_IDS, how="semi", maintain_order="left"
        )
    if options.norms:
        norms, warnings = read_norms(
            options.norms,
            participants=options.norm_participants,
            answers=options.norm_answers,
            one_way=options.one_way,
        )
        related.append(associated(norms, forms, words))
        by_domain[GENERAL] = related[-1].filter("counts").drop("counts")
    all_related = pl.concat([frame.select(WORD_IDS) for frame in related])
    return by_domain, all_related.unique().sort(WORD_IDS), warnings


def _draw_quarters(quarters: Quarters, options: PairsOptions) -> pl.DataFrame:
    """Return the pairs of all quarters, in a random order."""
    n_pairs = options.size // N_QUARTERS
    by_quarter = quarters.draw(n_pairs)
    if short := {named: frame for named, frame in by_quarter.items() if frame.height < n_pairs}:
        counts = ", ".join(
            f"{frame.height} {domain} {_NAMES[linked]}" for (domain, linked), frame in short.items()
        )
        largest, ratio = quarters.largest(n_pairs), options.ratio
        can_fall = options.by_ratio and ratio > 1
        lower = f"; a `ratio` below {ratio:g} leaves more words" if can_fall else ""
        raise OptionError(
            f"`size` {options.size} needs {n_pairs} pairs per quarter, but with `per_word` "
            f"{options.per_word} there are: {counts}{lower}; "
            f"{f'`size` {largest * N_QUARTERS}' if largest else 'no size'} would work"
        )
    return quarters.in_order(
        pl.concat(
            frame.with_columns(pl.lit(domain).alias("domain"), pl.lit(linked).alias("associated"))
            for (domain, linked), frame in by_quarter.items()
        )
    )


def _finished(pairs: pl.DataFrame, words: pl.DataFrame, word_class: str) -> pl.DataFrame:
    """Return pairs with their words and the words' properties."""
    for side in ("1", "2"):
        properties = words.select(
            pl.col("word_id").alias(f"word{side}_id"),
            pl.col("word").alias(f"term{side}"),
            pl.col("count", "topics", "topic").name.suffix(side),
        )
        pairs = pairs.join(properties, on=f"word{side}_id", how="left", maintain_order="left")
    with_class = pairs.with_columns(pl.lit(word_class).alias("class"))
    return with_class.select(*WORD_PAIRS.dtypes).cast(pl.Schema(WORD_PAIRS.dtypes))
