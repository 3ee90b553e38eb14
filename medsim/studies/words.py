"""Words of a frequency table for people to sort and rate: their forms, counts and domains."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.manifest import Skipped
from medsim.core.tables import read_table, unguarded
from medsim.core.terms import last_lemma, lowered
from medsim.neighbours.spelling import american
from medsim.studies.options import DomainsOptions, PairsOptions

_DATA = toml_of(__package__, "words.toml")
_GREEK, _AUXILIARY = (frozenset(_DATA[name].split()) for name in ("greek", "auxiliary"))
_CLASSES = {tag: re.compile(names) for tag, names in _DATA["classes"].items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The forms of words of one class, which decide which words are the same.

    Attributes:
        counts: count of each word and lemma of the class in the corpus.
        lemmas: lemmas by word, as given in the corpus.
        lemma_of: returns the lemma of a word that is not in ``lemmas``.
    """

    counts: Mapping[str, int]
    lemmas: Mapping[str, str]
    lemma_of: Callable[[str], str]

    def form_of(self, word: str) -> str:
        """Return the American spelling of a word's lemma; the form of a form is the form itself.

        The American spelling is lemmatised, so labelled has the same lemma as labeled.
        """
        return last_lemma(word, self._lemma)

    def _lemma(self, word: str) -> str:
        if word in self.lemmas:
            return american(self.lemmas[word], self.counts)
        return american(self.lemma_of(american(word, self.counts)), self.counts)

    def with_lemmas_of(self, rows: pl.DataFrame) -> Forms:
        """Return the forms with the lemmas of another table for missing words."""
        pairs = _lemmas(rows).select("word", "lemma").iter_rows()
        new_lemmas = {word: lemma for word, lemma in pairs if word not in self.counts}
        return replace(self, lemmas={**new_lemmas, **self.lemmas})


def forms_of(rows: pl.DataFrame, *, make_lemmas: bool = True) -> Forms:
    """Return the forms of the words of a frequency table.

    If the table has lemmas, only these are used. If a word has several, the one with the highest
    count is used, then the first in order of text.

    Raises:
        OptionError: lemmas must be made, but the extra ``words`` is not installed or the class is
            unknown.
    """
    lemmas = _lemmas(rows)
    given_lemmas = dict(lemmas.select("word", "lemma").iter_rows())
    counted = pl.concat([rows.select("word", "count"), lemmas.select(word="lemma", count="count")])
    counts = dict(counted.group_by("word").agg(pl.col("count").max()).iter_rows())
    lemma_of = _lemmatiser(rows["class"][0], counts) if make_lemmas and not given_lemmas else str
    return Forms(counts=counts, lemmas=given_lemmas, lemma_of=lemma_of)


def _lemmas(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the lemma of each word that has one, and its count."""
    return (
        rows.drop_nulls("lemma")
        .group_by("word", "lemma")
        .agg(pl.col("count").sum())
        .sort("count", "lemma", descending=[True, False])
        .unique("word", keep="first", maintain_order=True)
    )


def _lemmatiser(word_class: str, counts: Mapping[str, int]) -> Callable[[str], str]:
    """Return a function that lemmatises an English word of a class.

    LemmInflect's dictionary is made from the SPECIALIST Lexicon, a medical lexicon. A base form of
    the class, such as the noun swelling, is its own lemma. A plural noun gets its singular even if
    the dictionary also lists the plural as a noun (bacteria). Of several lemmas the one with the
    highest count is used: for axes, axis in a corpus on anatomy. The lemma of a word outside the
    dictionary is guessed, and used only if the corpus has it in that class.
    """
    try:
        from lemminflect import getLemma  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            "the frequency table has no lemmas; install medsim with its extra words, add a "
            "column lemma, or add `no_lemmas`"
        ) from error
    tag = next((tag for tag, names in _CLASSES.items() if names.fullmatch(word_class.lower())), "")
    if not tag:
        raise OptionError(
            f"no lemmas can be made of the class {word_class!r}; add a column lemma to the "
            "frequency table, or add `no_lemmas`"
        )
    spellings = {american(word, counts) for word in counts}

    def lemma_of(word: str) -> str:
        if lemmas := getLemma(word, tag, lemmatize_oov=False):
            bases = lemmas[:1] if tag == "NOUN" else lemmas
            rest = (lemma for lemma in lemmas if lemma != word)
            return word if word in bases else max(rest, key=lambda lemma: counts.get(lemma, 0))
        return next((guess for guess in getLemma(word, tag) if guess in spellings), word)

    return lemma_of


_NUMBER = r"^[0-9]{1,15}$"


def read_frequencies(
    path: Path, word_class: str | None, subjects: Mapping[str, Sequence[str]] | None = None
) -> pl.DataFrame:
    """Return the words of one class of a frequency table, a row per line.

    The file has columns word, class and count, and optionally lemma and topics: the number of
    topics that the word occurs in, or their names separated by ";". If ``word_class`` is None, the
    file must have a single class. With ``subjects``, the topics of documents by name
    (``read_subjects``), a column documents has the word's documents, separated by ";", and the word
    has each topic as often as these documents do.

    Returns:
        word and lemma (null if the file has none) in lower case and Unicode's form C, class, count,
        and topics: a list of names, or a number if the file has only numbers; null if unknown.
    """
    needed = ("word", "class", "count", *(("documents",) if subjects is not None else ()))
    table = read_table(path, needed, ("lemma", "topics"))
    frame = table.frame
    if frame.is_empty():
        raise InputError(f"{path} has no words")
    table.refuse(frame["word"] == "", "word", "is empty")
    table.refuse(frame["class"] == "", "class", "is empty")
    table.refuse(~frame["count"].str.contains(_NUMBER), "count", "is not a whole number")
    classes = frame["class"].unique().sort().to_list()
    if word_class is None and len(classes) > 1:
        raise OptionError(f"{path} has classes {', '.join(classes)}; choose one with `word_class`")
    if word_class is not None and word_class not in classes:
        raise OptionError(f"{path}: {unknown_name('class', word_class, classes)}")
    unknown = [name for name in ("lemma", "topics") if name not in frame.columns]
    rows = frame.filter(pl.col("class") == (word_class or classes[0])).with_columns(
        pl.lit("").alias(name) for name in unknown
    )
    if subjects is not None:
        names = [
            ";".join(
                name for document in _names_in(documents) for name in subjects.get(document, ())
            )
            for documents in rows["documents"]
        ]
        if not any(names):
            raise InputError(f"{path}: no document of its words is in the table of documents")
        rows = rows.with_columns(pl.Series("topics", names))
    topics = rows["topics"].str.strip_chars().replace("", None)
    if subjects is None and topics.drop_nulls().str.contains(_NUMBER).all():
        known_topics = topics.cast(pl.Int64)
    else:
        known_topics = topics.str.split(";").list.eval(pl.element().str.strip_chars())
    return rows.select(
        pl.Series("word", lowered(rows["word"].to_list()), pl.String),
        "class",
        pl.Series("lemma", lowered(rows["lemma"].to_list()), pl.String).replace("", None),
        pl.col("count").cast(pl.Int64),
        known_topics,
    )


def merged(rows: pl.DataFrame, forms: Forms) -> pl.DataFrame:
    """Return the words of a table, with the forms and spellings of a word merged.

    Counts are summed. Distinct named topics are counted, and the most frequent one is the word's
    topic (Chiu et al. 2018). If topics are numbers, the largest is used, since their overlap is
    unknown.

    Returns:
        word, count, topics (null if unknown) and topic (null if several are equally frequent, or
        unknown), in order of word.
    """
    form = pl.Series("word", [forms.form_of(word) for word in rows["word"].to_list()], pl.String)
    by_form = rows.with_columns(form)
    if rows["topics"].dtype == pl.Int64:
        topics, topic = pl.col("topics").max(), pl.lit(None, pl.String)
    else:
        names = pl.col("topics").list.explode().replace("", None).drop_nulls()
        topics = pl.when(pl.col("topics").is_not_null().any()).then(names.n_unique())
        topics, modes = topics.cast(pl.Int64), names.mode()
        topic = pl.when(modes.len() == 1).then(modes.first())
    words = by_form.group_by("word").agg(pl.col("count").sum(), topics=topics, topic=topic)
    return words.sort("word")


def read_subjects(path: Path) -> dict[str, list[str]]:
    """Return the topics of documents or journals by name.

    The file has columns document and topics, names separated by ";", such as NLM's Broad Subject
    Terms of journals; a document with several rows has the topics of all.

    Raises:
        InputError: the file cannot be read, lacks a column, or a cell is empty.
    """
    table = read_table(path, ("document", "topics"))
    subjects: dict[str, list[str]] = {}
    for column in ("document", "topics"):
        table.refuse(table.frame[column] == "", column, "is empty")
    for document, topics in table.frame.iter_rows():
        names = subjects.setdefault(document, [])
        names += [name for name in _names_in(topics) if name not in names]
    return subjects


def _names_in(cell: str) -> list[str]:
    return [name for name in map(str.strip, cell.split(";")) if name]


def has_white_space(word: str) -> bool:
    """Return whether a text contains white space, and so is several words."""
    return any(letter.isspace() for letter in word)


def is_greek(word: str) -> bool:
    """Return whether a word contains a Greek letter or is the name of one, such as alpha."""
    names = (unicodedata.name(letter, "") for letter in unicodedata.normalize("NFKC", word))
    return word in _GREEK or any("GREEK" in name for name in names)


def filtered(
    words: pl.DataFrame, *, min_length: int, min_count: int, keep: Sequence[str] = ()
) -> tuple[pl.DataFrame, tuple[Skipped, ...]]:
    """Return the remaining words, and the number left out by each filter.

    A word counts for the first filter that leaves it out. A digit is any numeric character, and
    auxiliaries are the forms of be, have and do. Words in ``keep`` only need the count.
    """
    kept = frozenset(lowered([*keep]))
    filters: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("not a single word", has_white_space),
        ("a symbol, or a hyphen", lambda word: not word.isalnum()),
        ("a digit", lambda word: not word.isalpha()),
        ("a Greek letter or its name", is_greek),
        ("an auxiliary or modal verb", _AUXILIARY.__contains__),
        (f"fewer than {min_length} letters", lambda word: len(word) < min_length),
    )
    left_out = []
    for reason, rejects in filters:
        flags = [word not in kept and rejects(word) for word in words["word"].to_list()]
        rejected = pl.Series(flags, dtype=pl.Boolean)
        left_out.append(Skipped(reason=reason, n_rows=int(rejected.sum())))
        words = words.filter(~rejected)
    remaining = words.filter(pl.col("count") >= min_count)
    n_rare = words.height - remaining.height
    return remaining, (*left_out, Skipped(reason=f"a count below {min_count}", n_rows=n_rare))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWords:
    """The words of one class, with the forms and spellings of a word merged.

    Attributes:
        word_class: class of the words, such as noun.
        corpus: word, count, topics and topic of all words.
        frame: the same columns for the words that pass the filters.
        left_out: the numbers of words left out, with reasons.
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

    With ``subjects``, the topics of documents by name, words have the topics of their documents;
    see ``read_frequencies``.
    """
    rows = read_frequencies(Path(options.words), options.word_class, subjects)
    forms = forms_of(rows, make_lemmas=not options.no_lemmas)
    corpus = merged(rows, forms)
    limits = {"min_length": options.min_length, "min_count": options.min_count}
    frame, left_out = filtered(corpus, **limits, keep=options.keep)
    return KeptWords(
        word_class=rows["class"][0], forms=forms, corpus=corpus, frame=frame, left_out=left_out
    )


BIOMEDICAL, GENERAL, AMBIGUOUS = "biomedical", "general", "ambiguous"

DOMAINS = (BIOMEDICAL, GENERAL)
"""The domains of words, in the order of tables."""


def read_domains(path: Path, forms: Forms) -> pl.DataFrame:
    """Return the words of a table with columns word and domain, as forms, with their domain.

    It may be a table of ``medsim study score``, with cells escaped for spreadsheets. Ambiguous
    words, and words with two different domains, are left out.

    Raises:
        InputError: the file cannot be read, or a domain is unknown.
    """
    table = read_table(path, ("word", "domain"))
    accepted = (*DOMAINS, AMBIGUOUS)
    is_known = table.frame["domain"].is_in(accepted)
    table.refuse(~is_known, "domain", f"is not one of {', '.join(accepted)}")
    texts = [unguarded(word) for word in table.frame["word"]]
    words = [forms.form_of(word) for word in lowered(texts)]
    by_word = table.frame.with_columns(pl.Series("word", words, pl.String)).unique()
    return by_word.filter(pl.len().over("word") == 1, pl.col("domain") != AMBIGUOUS)


def by_ratio(
    words: pl.DataFrame, corpus: pl.DataFrame, other: pl.DataFrame, ratio: float
) -> pl.DataFrame:
    """Return words with column domain, by the ratio of their frequencies in two corpora.

    A word's relative frequency is (count + 1) / (n_tokens + n_types), where types are the words of
    both corpora together, so it is never 0. A word is biomedical if its frequency in the biomedical
    corpus is at least ``ratio`` times its frequency in the other, general if it is at most
    1 / ``ratio`` times; words in between have no domain (null).
    """
    both = corpus.select("word", "count").join(
        other.select("word", pl.col("count").alias("other")), on="word", how="full", coalesce=True
    )
    both = both.with_columns(pl.col("count", "other").fill_null(0))
    frequency, other_frequency = (
        (pl.col(column) + 1) / (pl.col(column).sum() + both.height) for column in ("count", "other")
    )
    ratios = both.select("word", (frequency / other_frequency).alias("ratio"))
    biomedical = pl.when(pl.col("ratio") >= ratio).then(pl.lit(BIOMEDICAL))
    domain = biomedical.when(pl.col("ratio") <= 1 / ratio).then(pl.lit(GENERAL))
    domains = ratios.select("word", domain=domain)
    return words.join(domains, on="word", how="left", maintain_order="left")


def frequency_correlation(words: pl.DataFrame, other: pl.DataFrame) -> float | None:
    """Return Spearman's correlation of the frequencies of words in their corpus and another.

    A word missing in the other corpus has the count 0 there; ties have average ranks. Chiu et al.
    (2018) found 0.39 between PubMed Central and the British National Corpus.

    Returns:
        The correlation; None for fewer than two words, or if all have the same count in a corpus.
    """
    both = words.join(other.select("word", pl.col("count").alias("other")), on="word", how="left")
    ranks = both.select(pl.col("count"), pl.col("other").fill_null(0)).select(pl.all().rank())
    correlation: float | None = ranks.select(pl.corr("count", "other").fill_nan(None)).item()
    return correlation
