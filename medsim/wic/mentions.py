"""Mentions of corpora in their sentences, and the chosen mention of each sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core.terms import content_hashes, lowered_column
from medsim.corpora import ENGLISH, Document, corpus_names
from medsim.corpora.documents import Problems, corpus_digest, documents_of, open_corpus
from medsim.corpora.sentences import Spans, cut_documents, short_enough
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Hashes
from medsim.wic.output import MENTION_COLUMNS
from medsim.wic.rules import initials_of, lemma_of

if TYPE_CHECKING:
    from medsim.core.store import Store


_Row = tuple[str, str, int, str, int, int, str, str, str, str]
"""The values of ``MENTION_COLUMNS``."""

_NO_QUERY = np.uint64(0)


def read_mentions(
    paths: Sequence[Path],
    problems: Problems,
    *,
    language: str = ENGLISH,
    threads: int,
    advance: Callable[[int], None] = lambda _n: None,
) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Return the mentions of corpora, each in its sentence, and the facts on each corpus.

    Args:
        paths: at least one; corpora are named after them, see ``corpus_names``.
        problems: counts what is left out.
        language: of the sentences, one of ``medsim.corpora.sentences``.
        threads: the number of processes that split sentences; the result does not depend on it.
        advance: receives the number of documents read since the last call.

    Returns:
        ``MENTION_COLUMNS``, in the order of the files; and the facts for the manifest.
    """
    mentions, facts = [], []
    for path, corpus in zip(paths, corpus_names(paths), strict=True):
        with open_corpus(path) as file:
            of_corpus, counts = mentions_in_sentences(
                documents_of(file, path, problems),
                corpus,
                problems,
                language=language,
                threads=threads,
                advance=advance,
            )
            about = {"name": corpus, "file": path.name, "sha256": corpus_digest(file, path)}
        mentions.append(of_corpus)
        values = of_corpus.select(pl.col("vocabulary", "kind").unique().sort().implode())
        vocabularies, kinds = values.row(0)
        facts.append(about | counts | {"vocabularies": vocabularies, "kinds": kinds})
    return pl.concat(mentions), facts


def codes_of_corpora(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the codes that mentions are linked to, distinct, in order: vocabulary and code.

    It does not split sentences. Mentions that are linked to several codes do not count.
    """
    codes: set[tuple[str, str]] = set()
    for path, _ in zip(paths, corpus_names(paths), strict=True):
        with open_corpus(path) as file:
            for document in documents_of(file, path, Problems()):
                linked = (mention.codes for mention in document.annotations)
                codes.update(several[0] for several in linked if len(several) == 1)
    columns = {name: MENTION_COLUMNS[name] for name in ("vocabulary", "code")}
    return pl.DataFrame(sorted(codes), columns, orient="row")


def mentions_in_sentences(
    documents: Iterable[Document],
    corpus: str,
    problems: Problems,
    *,
    language: str = ENGLISH,
    threads: int = 1,
    advance: Callable[[int], None] = lambda _n: None,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the mentions that have exactly one code and lie within one sentence.

    Also return the numbers of documents that were split into sentences, of their sentences, of
    sentences with a mention that has at most one code, and of their mentions, kept or not.
    """
    rows: list[_Row] = []
    counts = Counter(n_documents=0, n_sentences=0, n_annotated=0, n_mentions=0)
    short = short_enough(documents, corpus, problems)
    for document, sentences in cut_documents(short, language=language, threads=threads):
        advance(1)
        n_mentions = len(document.annotations)
        counts.update(n_documents=1, n_sentences=len(sentences), n_mentions=n_mentions)
        annotated: set[int] = set()
        rows.extend(_rows(document, sentences, corpus, problems, annotated))
        counts["n_annotated"] += len(annotated)
    return pl.DataFrame(rows, schema=MENTION_COLUMNS, orient="row"), dict(counts)


def _rows(
    document: Document, sentences: Spans, corpus: str, problems: Problems, annotated: set[int]
) -> Iterator[_Row]:
    """Yield the rows of a document's mentions, and count mentions without a row.

    The numbers of sentences with a mention that has at most one code are added to ``annotated``.
    """
    text = f"{document.title} {document.abstract}"
    for annotation in document.annotations:
        number = bisect_right(sentences, annotation.start, key=lambda span: span[0]) - 1
        start, end = sentences[number] if number >= 0 else (0, 0)
        if len(annotation.codes) <= 1 and annotation.end <= end:
            annotated.add(number)
        if not annotation.codes:
            problems.count("mention has no concept")
        elif len(annotation.codes) > 1:
            problems.count("mention has several concepts")
        elif annotation.end > end:
            problems.count("mention crosses a sentence boundary")
        else:
            sentence = (corpus, document.document_id, start, text[start:end])
            offsets = (annotation.start - start, annotation.end - start)
            yield *sentence, *offsets, annotation.text, annotation.kind, *annotation.codes[0]


def chosen_mentions(linked: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return one mention of every sentence, drawn by a hash of the seed and its content.

    They have the columns of ``linked`` and lower_term, in order of lower_term, concept_id and
    sentence.
    """
    draws = tie_hashes(np.uint64(seed), _NO_QUERY, mention_hashes(linked))
    with_draws = linked.with_columns(draw=pl.Series(draws, dtype=pl.UInt64))
    chosen = with_draws.sort("sentence", "draw", "start_at", "end_at").unique(
        "sentence", keep="first", maintain_order=True
    )
    with_lower = chosen.drop("draw").with_columns(lowered_column(chosen["term"]))
    return with_lower.sort("lower_term", "concept_id", "sentence")


def mention_hashes(mentions: pl.DataFrame) -> Hashes:
    """Return a hash of each mention's sentence, offsets in it and concept: uint64[n_mentions]."""
    columns = pl.col("sentence", "start_at", "end_at", "concept_id")
    texts = pl.concat_str(columns.cast(pl.String).fill_null("None"), separator="\n")
    return content_hashes(mentions.select(texts).to_series())


def term_forms(terms: Iterable[str], language: str) -> pl.DataFrame:
    """Return the forms of distinct terms in lower case, for comparing terms.

    These are form_id, lower_term, lemma, lemma_id, initials, in order of lower_term; ids count
    rows, or distinct lemmas in their order. Initials are the first characters of the words.
    """
    lower = sorted(terms)
    lemmas = pl.Series("lemma", [lemma_of(term, language) for term in lower], dtype=pl.String)
    return pl.DataFrame(
        {
            "form_id": pl.int_range(len(lower), dtype=pl.Int32, eager=True),
            "lower_term": pl.Series(lower, dtype=pl.String),
            "lemma": lemmas,
            "lemma_id": lemmas.rank("dense").cast(pl.Int32) - 1,
            "initials": pl.Series(map(initials_of, lower), dtype=pl.String),
        }
    )


def forms_with_relations(
    store: Store, mentions: pl.DataFrame, language: str, vocabulary: str | None, broader: str
) -> pl.DataFrame:
    """Return the forms of mentions, and put their names and related concepts into the store.

    Forms have lemmas and names in ``language``. If ``broader`` is "any", all ancestors of a concept
    are broader, else only its parents. Leaves the tables ``form_name``, ``mentioned`` and
    ``related_concept`` in the store.
    """
    forms = term_forms(lowered_column(mentions["term"]).unique(), language)
    names = store.frame("terminologies/concept_name", language=language)
    matches = names.with_columns(lowered_column(names["term"])).join(forms, on="lower_term")
    named = matches.select("form_id", "concept_id").unique().sort("form_id", "concept_id")
    store.put("form_name", named)
    store.put("mentioned", mentions.select("concept_id").unique().sort("concept_id"))
    store.run("wic/related_concept", vocabulary=vocabulary, any_depth=broader == "any")
    return forms
