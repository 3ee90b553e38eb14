"""Chooses the pairs of words that people will rate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import check_seed, checked_threads
from medsim.core.errors import OptionError
from medsim.core.manifest import Skipped
from medsim.core.progress import Progress
from medsim.studies.output import WORD_PAIR_COLUMNS
from medsim.studies.word_relations import listed_words, relations_in
from medsim.studies.words.domains import BIOMEDICAL, DOMAINS, GENERAL, by_list, by_ratio
from medsim.studies.words.filters import filtered
from medsim.studies.words.forms import forms_of
from medsim.studies.words.frequencies import merged, read_frequencies
from medsim.studies.words.norms import associated, read_norms
from medsim.studies.words.pairs import WordPairs
from medsim.studies.words.quarters import Quarters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.studies.words.forms import Forms

MOST_PAIRS = 10_000
"""The most pairs of a set: more than people ever rated of words."""

_N_QUARTERS = 4
_NAMES = {True: "associated", False: "unassociated"}


def choose_pairs(  # noqa: PLR0913 — an argument an option
    words: str | Path,
    *,
    word_class: str | None = None,
    terminology: str | Path | None = None,
    norms: str | Path | Sequence[str | Path] | None = None,
    domain_words: str | Path | None = None,
    general: str | Path | None = None,
    ratio: float = 5.0,
    size: int = 1_000,
    min_count: int = 5,
    min_length: int = 3,
    per_word: int = 3,
    make_lemmas: bool = True,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WordPairs:
    """Return pairs of words to rate, chosen as for Bio-SimLex and Bio-SimVerb.

    Four quarters are equal: biomedical words or general ones, associated or not. Biomedical pairs
    are associated by a terminology, as synonyms or siblings, general ones by association norms;
    pairs that are not associated are drawn at random among those that neither knows. A quarter
    whose source is missing is left out with a warning (Chiu et al. 2018, BMC Bioinformatics 19:33).

    Args:
        words: the frequency table of a biomedical corpus, see ``medsim.studies.words.frequencies``.
        word_class: as the table has it; None takes the only one.
        terminology: the folder of a build.
        norms: files of association norms, see ``medsim.studies.words.norms``.
        domain_words: a file with a biomedical word a line, or the folder of a build whose names
            they are; all other words are general.
        general: the frequency table of a general corpus, which tells the domain of a word by the
            ratio of relative frequencies, see ``medsim.studies.words.domains.by_ratio``.
        ratio: how many times more often a word is used in its own domain.
        size: how many pairs, a multiple of four.
        min_count: how often the table must have a word, in all its forms and spellings.
        min_length: the fewest letters of a word.
        per_word: the most pairs that a word is in, so that a set has many words.
        make_lemmas: whether lemmas are made where the table has none.
        seed: of the draws and of the order; neither depends on the order of any file's rows.
        threads: of the database; they never change the result.
        progress: told of every stage; silent by default.

    Raises:
        InputError: a file is missing, or a line of it is not what it should be.
        OptionError: an option is out of range, or a quarter has too few pairs.
    """
    _check_options(
        size=size, ratio=ratio, min_count=min_count, min_length=min_length, per_word=per_word
    )
    check_seed(seed)
    threads = checked_threads(threads)
    files = [Path(file) for file in ([norms] if isinstance(norms, (str, Path)) else norms or ())]
    _check_sources(terminology, files, domain_words, general)
    progress = progress or Progress()
    with progress.stage(f"read {Path(words).name}"):
        rows = read_frequencies(Path(words), word_class)
        forms = forms_of(rows, make_lemmas=make_lemmas)
        corpus = merged(rows, forms)
        kept, left_out = filtered(corpus, min_length=min_length, min_count=min_count)
        if general is None:
            told = by_list(kept, listed_words(Path(str(domain_words)), forms, threads))
        else:
            others = merged(read_frequencies(Path(general), rows["class"][0]), forms)
            told = by_ratio(kept, corpus, others, ratio)
    chosen = told.drop_nulls("domain").with_columns(
        pl.int_range(pl.len(), dtype=pl.Int32).alias("word_id")
    )
    between = Skipped(reason="used alike by both corpora", n_rows=told.height - chosen.height)
    with progress.stage("relate words"):
        found, known = _related(chosen, forms, terminology, files, threads)
    with progress.stage("draw pairs"):
        quarters = Quarters(chosen, found, known, seed=seed, per_word=per_word)
        left = _words_left(chosen, None if general is None else ratio)
        pairs = _drawn(quarters, size, per_word, left)
    return WordPairs(
        frame=_finished(pairs, chosen, rows["class"][0]),
        left_out=left_out if general is None else (*left_out, between),
        warnings=_warnings(found),
    )


def _check_options(
    *, size: int, ratio: float, min_count: int, min_length: int, per_word: int
) -> None:
    """Raise OptionError for a number that is out of range."""
    if size % _N_QUARTERS or not _N_QUARTERS <= size <= MOST_PAIRS:
        raise OptionError(
            f"--size {size} cannot be cut into four equal quarters; a multiple of 4 up to "
            f"{MOST_PAIRS:,} can, such as {min(MOST_PAIRS, max(4, size // 4 * 4))}"
        )
    if not 1 <= ratio < float("inf"):
        raise OptionError(f"--ratio {ratio:g} is out of range; 1 or more is accepted")
    for name, number in {
        "min-count": min_count,
        "min-length": min_length,
        "per-word": per_word,
    }.items():
        if number < 1:
            raise OptionError(f"--{name} {number} is out of range; 1 or more is accepted")


def _check_sources(
    terminology: str | Path | None,
    norms: Sequence[Path],
    domain_words: str | Path | None,
    general: str | Path | None,
) -> None:
    """Raise OptionError if nothing tells domains, or what is associated."""
    if (domain_words is None) == (general is None):
        raise OptionError(
            "say by one of --biomedical LIST and --general CORPUS which words are biomedical"
        )
    if terminology is None and not norms:
        raise OptionError(
            "nothing tells which words are associated; add --terminology BUILD or --norms FILE"
        )


def _related(
    words: pl.DataFrame,
    forms: Forms,
    terminology: str | Path | None,
    norms: Sequence[Path],
    threads: int,
) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Return the associated pairs for each domain that has a source, and all that are related."""
    found: dict[str, pl.DataFrame] = {}
    known: list[pl.DataFrame] = []
    if terminology is not None:
        relations = relations_in(Path(terminology), forms, words, threads)
        found[BIOMEDICAL] = relations.associated
        known += [relations.associated, relations.related]
    if norms:
        found[GENERAL] = associated(read_norms(norms), forms, words)
        known.append(found[GENERAL])
    ids = ("word1_id", "word2_id")
    return found, pl.concat([frame.select(ids) for frame in known]).unique().sort(ids)


def _words_left(words: pl.DataFrame, ratio: float | None) -> str:
    """Return how many words of each domain are left, and what would leave more, as a sentence."""
    domains = words["domain"].to_list()
    counts = " and ".join(f"{domains.count(domain)} {domain}" for domain in DOMAINS)
    lower = "" if ratio in (None, 1) else f", and a --ratio below {ratio:g} leaves more"
    return f"the filters left {counts} words{lower}"


def _drawn(quarters: Quarters, size: int, per_word: int, left: str) -> pl.DataFrame:
    """Return the pairs of all quarters, in their order.

    Args:
        quarters: to draw from.
        size: of all quarters together.
        per_word: the most pairs of a word.
        left: how many words there are, for the error.

    Raises:
        OptionError: a quarter has too few.
    """
    wanted = size // _N_QUARTERS
    drawn = quarters.draw(wanted)
    if short := {named: found for named, found in drawn.items() if found.height < wanted}:
        counts = ", ".join(
            f"{found.height} {domain} {_NAMES[linked]}" for (domain, linked), found in short.items()
        )
        most = quarters.largest(wanted)
        raise OptionError(
            f"--size {size} needs {wanted} pairs in each quarter, and with --per-word {per_word} "
            f"there are: {counts}; {left}; "
            + (f"--size {most * _N_QUARTERS} would work" if most else "no size would work")
        )
    return quarters.in_order(
        pl.concat(
            found.with_columns(pl.lit(domain).alias("domain"), pl.lit(linked).alias("associated"))
            for (domain, linked), found in drawn.items()
        )
    )


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
    sources = {BIOMEDICAL: "--terminology", GENERAL: "--norms"}
    return tuple(
        f"there are no associated {domain} pairs, since {option} is not given; the set has three "
        "quarters"
        for domain, option in sources.items()
        if domain not in found
    )
