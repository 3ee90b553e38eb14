"""Chooses the pairs of words that people will rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import Skipped
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.studies.output import WORD_PAIR_COLUMNS
from medsim.studies.pairs_options import N_QUARTERS, PairsOptions
from medsim.studies.words.domains import (
    BIOMEDICAL,
    DOMAINS,
    GENERAL,
    by_list,
    by_ratio,
    by_table,
    frequency_correlation,
    read_domains,
)
from medsim.studies.words.frequencies import merged, read_frequencies, read_subjects
from medsim.studies.words.kept import kept_words
from medsim.studies.words.lexicon import read_lexicon
from medsim.studies.words.norms import NormRule, associated, read_confirmed, read_norms
from medsim.studies.words.pairs import WordPairs
from medsim.studies.words.quarters import Quarters
from medsim.studies.words.terminology import listed_words, relations_in

if TYPE_CHECKING:
    from medsim.studies.words.forms import Forms
    from medsim.studies.words.kept import KeptWords
    from medsim.studies.words.lexicon import Lexicon

_NAMES = {True: "associated", False: "unassociated"}


@public(PairsOptions)
def choose_pairs(options: PairsOptions) -> WordPairs:
    """Return pairs of words to rate, chosen as for Bio-SimLex and Bio-SimVerb.

    Four quarters are equal: biomedical words or general ones, associated or not. Biomedical pairs
    are associated by a terminology, as synonyms or siblings, and where people inspected them also
    by these; general ones by association norms that enough people were asked for and that go both
    ways; pairs that are not associated are drawn at random among those that none of these knows. A
    quarter whose source is missing is left out with a warning (Chiu et al. 2018, BMC Bioinformatics
    19:33). The files are those of ``medsim.studies.words.frequencies`` and
    ``medsim.studies.words.norms``; the ratio is that of ``medsim.studies.words.domains.by_ratio``,
    which decides where there is neither a list nor a table of domains.

    Raises:
        InputError: a file is missing, or a line of it is not what it should be.
        OptionError: an option is out of range, or a quarter has too few pairs.
    """
    threads, progress = checked_threads(options.threads), progress_of(options.progress)
    with progress.stage(f"read {Path(options.words).name}"):
        subjects = None if options.documents is None else read_subjects(Path(options.documents))
        kept = kept_words(options, subjects)
        lexicon = read_lexicon(options.lexicon_files) if options.lexicon_files else None
        others = None
        if options.general is not None:
            rows = read_frequencies(Path(options.general), kept.word_class)
            others = merged(rows, kept.forms.with_lemmas_of(rows))
        of_domains, without_domain = _with_domains(kept, others, options, lexicon, threads)
    with progress.stage("relate words") as stage:
        chosen = of_domains.drop_nulls("domain").with_columns(
            pl.int_range(pl.len(), dtype=pl.Int32).alias("word_id")
        )
        found, known, warnings = _related(chosen, kept.forms, options, lexicon, threads)
        stage.found(
            ", ".join(f"{frame.height:,} {domain} pairs" for domain, frame in found.items())
        )
    with progress.stage("draw pairs"):
        quarters = Quarters(chosen, found, known, seed=options.seed, per_word=options.per_word)
        pairs = _drawn(quarters, options, chosen)
    return WordPairs(
        frame=_finished(pairs, chosen, kept.word_class),
        left_out=kept.left_out + without_domain,
        warnings=(*warnings, *_warnings(found)),
        frequency_correlation=(
            None if others is None else frequency_correlation(kept.frame, others)
        ),
    )


def _with_domains(
    kept: KeptWords,
    others: pl.DataFrame | None,
    options: PairsOptions,
    lexicon: Lexicon | None,
    threads: int,
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return words with their domain, null where they have none, and how many have none.

    The words of a general corpus, ``others``, decide only where neither list nor table does.
    """
    if options.domains is not None:
        found = by_table(kept.frame, read_domains(Path(options.domains), kept.forms))
        reason = "of no domain in the table"
    elif options.by_ratio and others is not None:
        found = by_ratio(kept.frame, kept.corpus, others, options.ratio)
        reason = "used alike by both corpora"
    else:
        listed = listed_words(Path(str(options.biomedical)), kept.forms, threads, lexicon)
        return by_list(kept.frame, listed), ()
    return found, (Skipped(reason=reason, n_rows=found["domain"].null_count()),)


def _related(
    words: pl.DataFrame, forms: Forms, options: PairsOptions, lexicon: Lexicon | None, threads: int
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, tuple[str, ...]]:
    """Return the associated pairs for each domain that has a source, and all that are related.

    Of several terminologies the first that associates a pair gives the reason.
    """
    ids = ("word1_id", "word2_id")
    found: dict[str, pl.DataFrame] = {}
    known: list[pl.DataFrame] = []
    warnings: tuple[str, ...] = ()
    for build in options.builds:
        known += relations_in(build, forms, words, threads, lexicon)
        own = [found[BIOMEDICAL]] if BIOMEDICAL in found else []
        both = pl.concat([*own, known[-2]])
        found[BIOMEDICAL] = both.unique(ids, keep="first", maintain_order=True).sort(ids)
    if options.confirmed is not None:
        known.append(read_confirmed(Path(options.confirmed), forms, words))
        either = found.get(BIOMEDICAL, known[-1])
        found[BIOMEDICAL] = either.join(known[-1], on=ids, how="semi", maintain_order="left")
    if options.norm_files:
        rule = NormRule(participants=options.norm_participants, one_way=options.one_way)
        norms, warnings = read_norms(options.norm_files, rule)
        known.append(associated(norms, forms, words))
        found[GENERAL] = known[-1].filter("counts").drop("counts")
    return found, pl.concat([frame.select(ids) for frame in known]).unique().sort(ids), warnings


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
    can_fall = options.by_ratio and ratio > 1
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
            pl.col("topic").alias(f"topic{side}"),
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
