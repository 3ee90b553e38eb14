"""Chooses the pairs of words that people will rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import Skipped
from medsim.core.options import public
from medsim.core.progress import Progress
from medsim.studies.options import N_QUARTERS, PairsOptions
from medsim.studies.output import WORD_PAIR_COLUMNS
from medsim.studies.words.domains import BIOMEDICAL, DOMAINS, GENERAL, by_list, by_ratio
from medsim.studies.words.filters import filtered
from medsim.studies.words.forms import forms_of
from medsim.studies.words.frequencies import merged, read_frequencies
from medsim.studies.words.norms import associated, read_norms
from medsim.studies.words.pairs import WordPairs
from medsim.studies.words.quarters import Quarters
from medsim.studies.words.terminology import listed_words, relations_in

if TYPE_CHECKING:
    from medsim.studies.words.forms import Forms

_NAMES = {True: "associated", False: "unassociated"}


@public(PairsOptions)
def choose_pairs(options: PairsOptions) -> WordPairs:
    """Return pairs of words to rate, chosen as for Bio-SimLex and Bio-SimVerb.

    Four quarters are equal: biomedical words or general ones, associated or not. Biomedical pairs
    are associated by a terminology, as synonyms or siblings, general ones by association norms;
    pairs that are not associated are drawn at random among those that neither knows. A quarter
    whose source is missing is left out with a warning (Chiu et al. 2018, BMC Bioinformatics 19:33).
    The files are those of ``medsim.studies.words.frequencies`` and ``medsim.studies.words.norms``;
    the ratio is that of ``medsim.studies.words.domains.by_ratio``.

    Raises:
        InputError: a file is missing, or a line of it is not what it should be.
        OptionError: an option is out of range, or a quarter has too few pairs.
    """
    threads, progress = checked_threads(options.threads), options.progress or Progress()
    with progress.stage(f"read {Path(options.words).name}"):
        rows = read_frequencies(Path(options.words), options.word_class)
        forms = forms_of(rows, make_lemmas=not options.no_lemmas)
        corpus = merged(rows, forms)
        kept, left_out = filtered(
            corpus, min_length=options.min_length, min_count=options.min_count
        )
        if options.general is None:
            listed = listed_words(Path(str(options.biomedical)), forms, threads)
            of_domains = by_list(kept, listed)
        else:
            others = merged(read_frequencies(Path(options.general), rows["class"][0]), forms)
            of_domains = by_ratio(kept, corpus, others, options.ratio)
            n_between = of_domains["domain"].null_count()
            between = Skipped(reason="used alike by both corpora", n_rows=n_between)
            left_out = (*left_out, between)
    chosen = of_domains.drop_nulls("domain").with_columns(
        pl.int_range(pl.len(), dtype=pl.Int32).alias("word_id")
    )
    with progress.stage("relate words"):
        found, known = _related(chosen, forms, options, threads)
    with progress.stage("draw pairs"):
        quarters = Quarters(chosen, found, known, seed=options.seed, per_word=options.per_word)
        pairs = _drawn(quarters, options, chosen)
    return WordPairs(
        frame=_finished(pairs, chosen, rows["class"][0]),
        left_out=left_out,
        warnings=_warnings(found),
    )


def _related(
    words: pl.DataFrame, forms: Forms, options: PairsOptions, threads: int
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Return the associated pairs for each domain that has a source, and all that are related."""
    found: dict[str, pl.DataFrame] = {}
    known: list[pl.DataFrame] = []
    if options.terminology is not None:
        known += relations_in(Path(options.terminology), forms, words, threads)
        found[BIOMEDICAL] = known[0]
    if options.norm_files:
        found[GENERAL] = associated(read_norms(options.norm_files), forms, words)
        known.append(found[GENERAL])
    ids = ("word1_id", "word2_id")
    return found, pl.concat([frame.select(ids) for frame in known]).unique().sort(ids)


def _drawn(quarters: Quarters, options: PairsOptions, words: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of all quarters, in their order."""
    wanted = options.size // N_QUARTERS
    drawn = quarters.draw(wanted)
    if short := {named: found for named, found in drawn.items() if found.height < wanted}:
        counts = ", ".join(
            f"{found.height} {domain} {_NAMES[linked]}" for (domain, linked), found in short.items()
        )
        most = quarters.largest(wanted)
        raise OptionError(
            f"`size` {options.size} needs {wanted} pairs in each quarter, and with `per_word` "
            f"{options.per_word} there are: {counts}; {_words_left(words, options)}; "
            + (f"`size` {most * N_QUARTERS} would work" if most else "no size would work")
        )
    return quarters.in_order(
        pl.concat(
            found.with_columns(pl.lit(domain).alias("domain"), pl.lit(linked).alias("associated"))
            for (domain, linked), found in drawn.items()
        )
    )


def _words_left(words: pl.DataFrame, options: PairsOptions) -> str:
    """Return how many words of each domain are left, and which option would leave more."""
    domains = words["domain"].to_list()
    counts = " and ".join(f"{domains.count(domain)} {domain}" for domain in DOMAINS)
    ratio = options.ratio
    can_fall = options.general is not None and ratio > 1
    lower = f", and a `ratio` below {ratio:g} leaves more" if can_fall else ""
    return f"the filters left {counts} words{lower}"


def _finished(pairs: pl.DataFrame, words: pl.DataFrame, word_class: str) -> pl.DataFrame:
    """Return pairs with their words and what is known of each."""
    for side in ("1", "2"):
        of_word = words.select(
            pl.col("word_id").alias(f"word{side}_id"),
            pl.col("word").alias(f"term{side}"),
            pl.col("count").alias(f"count{side}"),
            pl.col("topics").alias(f"topics{side}"),
        )
        pairs = pairs.join(of_word, on=f"word{side}_id", how="left", maintain_order="left")
    named = pairs.with_columns(pl.lit(word_class).alias("class"))
    return named.select(pl.col(name).cast(kind) for name, kind in WORD_PAIR_COLUMNS.items())


def _warnings(found: dict[str, pl.DataFrame]) -> tuple[str, ...]:
    """Return a sentence for each quarter that has no source."""
    sources = {BIOMEDICAL: "`terminology`", GENERAL: "`norms`"}
    return tuple(
        f"there are no associated {domain} pairs, since {option} is not given; the set has three "
        "quarters"
        for domain, option in sources.items()
        if domain not in found
    )
