"""The words of a frequency table that people can sort and rate, with their domains."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.manifest import Skipped
from medsim.core.tables import read_table, unguarded
from medsim.core.terms import lowered
from medsim.studies.words.forms import forms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from medsim.studies.options import DomainsOptions, PairsOptions
    from medsim.studies.words.forms import Forms


_NUMBER = r"^[0-9]{1,15}$"


def read_frequencies(
    path: Path, word_class: str | None, subjects: Mapping[str, Sequence[str]] | None = None
) -> pl.DataFrame:
    """Return the words of one class of a frequency table, a row per line.

    The file has columns word, class and count, and where known lemma and topics: how many topics
    the word occurs in, or their names with ";" between them. None for the class takes the only one.
    With the topics of documents by name (``read_subjects``), topics are those of the word's
    documents, which the column documents has with ";" between them: a topic as often as the
    documents name it.

    Returns:
        word and lemma (null where the file has none) in lower case and Unicode's form C, class,
        count, and topics: a list of names, or a number where the file has numbers alone; null where
        nothing is known.
    """
    needed = ("word", "class", "count", *(("documents",) if subjects is not None else ()))
    table = read_table(path, needed, ("lemma", "topics"))
    frame = table.frame
    if frame.is_empty():
        raise InputError(f"{path} has a header and no word")
    table.refuse(frame["word"] == "", "word", "is empty")
    table.refuse(frame["class"] == "", "class", "is empty")
    counts = frame["count"].str.contains(_NUMBER)
    table.refuse(~counts, "count", "is no whole number such as 120")
    chosen = _class_of(path, frame["class"].unique().sort().to_list(), word_class)
    unknown = [name for name in ("lemma", "topics") if name not in frame.columns]
    rows = frame.filter(pl.col("class") == chosen).with_columns(
        pl.lit("").alias(name) for name in unknown
    )
    if subjects is not None:
        found = [_subjects_of(one, subjects) for one in rows["documents"]]
        if not any(found):
            raise InputError(f"{path}: the table of documents has none of those of its words")
        rows = rows.with_columns(pl.Series("topics", found))
    topics = rows["topics"].str.strip_chars().replace("", None)
    if subjects is None and topics.drop_nulls().str.contains(_NUMBER).all():
        known = topics.cast(pl.Int64)
    else:
        known = topics.str.split(";").list.eval(pl.element().str.strip_chars())
    return rows.select(
        pl.Series("word", normalised(rows["word"].to_list()), pl.String),
        "class",
        pl.Series("lemma", normalised(rows["lemma"].to_list()), pl.String).replace("", None),
        pl.col("count").cast(pl.Int64),
        known,
    )


def normalised(words: list[str]) -> list[str]:
    """Return words in lower case and in Unicode's form C, so that equal words are equal texts."""
    return lowered([unicodedata.normalize("NFC", word) for word in words])


def merged(rows: pl.DataFrame, forms: Forms) -> pl.DataFrame:
    """Return the words of a table, all forms and spellings of a word as one.

    Counts are summed. Of topics that are named the different ones are counted, and the one that is
    named most often is the word's own (Chiu et al. 2018); of topics that are numbers the largest is
    taken, since their overlap is not known.

    Returns:
        word, count, topics (null where nothing is known) and topic (null where several are named
        equally often, or nothing is known), in order of word.
    """
    form = pl.Series("word", [forms.of(word) for word in rows["word"].to_list()], pl.String)
    by_form = rows.with_columns(form)
    if rows["topics"].dtype == pl.Int64:
        topics, topic = pl.col("topics").max(), pl.lit(None, pl.String)
    else:
        names = pl.col("topics").list.explode().replace("", None).drop_nulls()
        topics = pl.when(pl.col("topics").is_not_null().any()).then(names.n_unique())
        topics, most = topics.cast(pl.Int64), names.mode()
        topic = pl.when(most.len() == 1).then(most.first())
    of_forms = by_form.group_by("word").agg(
        pl.col("count").sum(), topics.alias("topics"), topic.alias("topic")
    )
    return of_forms.sort("word")


def read_subjects(path: Path) -> dict[str, list[str]]:
    """Return the topics of documents or journals, by their names.

    The file has columns document and topics, names with ";" between them, as NLM's Broad Subject
    Terms of journals; a document with several rows has the topics of all.

    Raises:
        InputError: the file cannot be read, lacks a column, or a cell is empty.
    """
    table = read_table(path, ("document", "topics"))
    subjects: dict[str, list[str]] = {}
    for column in ("document", "topics"):
        table.refuse(table.frame[column] == "", column, "is empty")
    for document, topics in table.frame.iter_rows():
        known = subjects.setdefault(document, [])
        known += [name for name in _names_in(topics) if name not in known]
    return subjects


def _subjects_of(documents: str, subjects: Mapping[str, Sequence[str]]) -> str:
    """Return the topics of a word's documents, with ";" between them."""
    return ";".join(name for one in _names_in(documents) for name in subjects.get(one, ()))


def _names_in(cell: str) -> list[str]:
    return [name for name in map(str.strip, cell.split(";")) if name]


def _class_of(path: Path, there: list[str], asked: str | None) -> str:
    """Return the class that is asked for, or the only one."""
    if asked is None:
        if len(there) == 1:
            return there[0]
        raise OptionError(
            f"{path} has several classes: {', '.join(there)}; choose one by `word_class`"
        )
    if asked not in there:
        raise OptionError(f"{path}: {unknown_name('class', asked, there)}")
    return asked


_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|omicron|pi|rho|sigma|"
    "tau|upsilon|phi|chi|psi|omega"
)
_AUXILIARY = re.compile(
    "be|am|is|are|was|were|been|being|have|has|had|having|do|does|did|done|doing|"
    "can|could|may|might|must|shall|should|will|would|ought"
)


def has_white_space(word: str) -> bool:
    """Return whether a text is several words."""
    return any(letter.isspace() for letter in word)


def is_greek(word: str) -> bool:
    """Return whether a word has a Greek letter, or is the name of one, such as alpha."""
    names = (unicodedata.name(letter, "") for letter in unicodedata.normalize("NFKC", word))
    return bool(_GREEK.fullmatch(word)) or any("GREEK" in name for name in names)


def filtered(
    words: pl.DataFrame, *, min_length: int, min_count: int
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return the words that remain, and how many were left out by each filter.

    A word counts for the first filter that leaves it out; a digit is any character that is a
    number, and auxiliaries are the forms of be, have and do.
    """
    filters: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("not a single word", has_white_space),
        ("a symbol, or a hyphen", lambda word: not word.isalnum()),
        ("a digit", lambda word: not word.isalpha()),
        ("a Greek letter or its name", is_greek),
        ("an auxiliary or modal verb", lambda word: bool(_AUXILIARY.fullmatch(word))),
        (f"fewer than {min_length} letters", lambda word: len(word) < min_length),
    )
    left_out = []
    for reason, rejects in filters:
        rejected = pl.Series([rejects(word) for word in words["word"].to_list()], dtype=pl.Boolean)
        left_out.append(Skipped(reason=reason, n_rows=int(rejected.sum())))
        words = words.filter(~rejected)
    kept = words.filter(pl.col("count") >= min_count)
    n_rare = words.height - kept.height
    return kept, (*left_out, Skipped(reason=f"a count below {min_count}", n_rows=n_rare))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWords:
    """The words of one class, all forms and spellings of a word as one.

    Attributes:
        word_class: such as noun.
        corpus: word, count, topics and topic of all.
        frame: the same of those that the filters kept.
        left_out: how many were left out, and why.
    """

    word_class: str
    forms: Forms
    corpus: pl.DataFrame
    frame: pl.DataFrame
    left_out: tuple[Skipped, ...]


def kept_words(
    options: DomainsOptions | PairsOptions, subjects: Mapping[str, Sequence[str]] | None = None
) -> KeptWords:
    """Return the words of a frequency table.

    With the topics of documents by name, topics of words are those of their documents; see
    ``read_frequencies``.
    """
    rows = read_frequencies(Path(options.words), options.word_class, subjects)
    forms = forms_of(rows, make_lemmas=not options.no_lemmas)
    corpus = merged(rows, forms)
    kept, left_out = filtered(corpus, min_length=options.min_length, min_count=options.min_count)
    return KeptWords(
        word_class=rows["class"][0], forms=forms, corpus=corpus, frame=kept, left_out=left_out
    )


BIOMEDICAL, GENERAL, AMBIGUOUS = "biomedical", "general", "ambiguous"

DOMAINS = (BIOMEDICAL, GENERAL)
"""The domains of words, in the order in which tables have them."""


def by_list(words: pl.DataFrame, listed: AbstractSet[str]) -> pl.DataFrame:
    """Return words with column domain: biomedical where they are listed, else general."""
    is_listed = pl.col("word").is_in(pl.Series(sorted(listed), dtype=pl.String).implode())
    domain = pl.when(is_listed).then(pl.lit(BIOMEDICAL)).otherwise(pl.lit(GENERAL))
    return words.with_columns(domain.alias("domain"))


def read_domains(path: Path, forms: Forms) -> pl.DataFrame:
    """Return the words of a table with columns word and domain, as forms, with their domain.

    It may be one that ``medsim study score`` wrote, whose cells are harmless to spreadsheets.
    Ambiguous words, and those of which two rows tell different domains, are left out.

    Raises:
        InputError: the file cannot be read, or a domain is unknown.
    """
    table = read_table(path, ("word", "domain"))
    accepted = (*DOMAINS, AMBIGUOUS)
    is_known = table.frame["domain"].is_in(accepted)
    table.refuse(~is_known, "domain", f"is none of {', '.join(accepted)}")
    given = [unguarded(word) for word in table.frame["word"]]
    words = [forms.of(word) for word in normalised(given)]
    told = table.frame.with_columns(pl.Series("word", words, pl.String)).unique()
    return told.filter(pl.len().over("word") == 1, pl.col("domain") != AMBIGUOUS)


def by_table(words: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return words with column domain, as ``read_domains`` tells it; null where it does not."""
    return words.join(told, on="word", how="left", maintain_order="left")


def by_ratio(
    words: pl.DataFrame, corpus: pl.DataFrame, other: pl.DataFrame, ratio: float
) -> pl.DataFrame:
    """Return words with column domain, by the ratio of their frequencies in two corpora.

    A word's relative frequency is (count + 1) / (n_tokens + n_types), where types are the words of
    both corpora together, so that no word has none. It is biomedical where that of the biomedical
    corpus is at least ``ratio`` times that of the other, general where it is at most the inverse
    of that; words between, which both corpora use, have no domain (null).
    """
    both = corpus.select("word", "count").join(
        other.select("word", pl.col("count").alias("other")), on="word", how="full", coalesce=True
    )
    both = both.with_columns(pl.col("count", "other").fill_null(0))
    frequency, in_other = (
        (pl.col(column) + 1) / (pl.col(column).sum() + both.height) for column in ("count", "other")
    )
    ratios = both.select("word", (frequency / in_other).alias("ratio"))
    domain = (
        pl.when(pl.col("ratio") >= ratio)
        .then(pl.lit(BIOMEDICAL))
        .when(pl.col("ratio") <= 1 / ratio)
        .then(pl.lit(GENERAL))
        .alias("domain")
    )
    return words.join(ratios.select("word", domain), on="word", how="left", maintain_order="left")


def frequency_correlation(words: pl.DataFrame, other: pl.DataFrame) -> float | None:
    """Return Spearman's correlation of how often words are used in their corpus and in another.

    A word that the other corpus lacks is used 0 times there; ties have average ranks. Chiu et al.
    (2018) found 0.39 between PubMed Central and the British National Corpus.

    Returns:
        The correlation; None of fewer than two words, or where a corpus uses all equally often.
    """
    both = words.join(other.select("word", pl.col("count").alias("other")), on="word", how="left")
    ranks = both.select(pl.col("count"), pl.col("other").fill_null(0)).select(pl.all().rank())
    found: float | None = ranks.select(pl.corr("count", "other").fill_nan(None)).item()
    return found
