"""Reads the mentions of corpora, and of tables of mentions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column
from medsim.corpora import corpus_names
from medsim.corpora.documents import (
    Problems,
    codes_of,
    corpus_digest,
    documents_of,
    open_corpus,
)
from medsim.linking.output import MENTION
from medsim.systems.options import System, system_of
from medsim.systems.predictions import number_column, predicted_table

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.core.store import Store
    from medsim.core.tables import TextTable

_ANNOTATION = ("mention_id", "corpus", "document_id", "start", "end", "term", "type")
_CODES = {"mention_id": pl.Int32, "vocabulary": pl.String, "code": pl.String}
_TABLES = frozenset({".csv", ".tsv", ".tab", ".xlsx", ".xlsm", ".parquet", ".jsonl", ".ndjson"})
_NO_TYPE = "mention"

_Mention = tuple[str, int | None, int | None, str, str, Sequence[tuple[str, str]]]
"""Document, start, end, text, type, and codes."""


def read_linked_mentions(
    corpora: Sequence[str | Path], store: Store, problems: Problems, progress: Progress
) -> dict[str, dict[str, object]]:
    """Put all mentions and their codes into the store; return the facts on each corpus by name.

    A corpus is PubTator, BioC or brat, or a table with a column of texts and one of concepts.
    """
    given, facts = [system_of(corpus, "corpus") for corpus in corpora], {}
    rows: list[tuple[Any, ...]] = []
    codes: list[tuple[int, str, str]] = []
    for corpus, system in zip(corpus_names([each.source for each in given]), given, strict=True):
        is_table = system.columns or system.source.suffix.lower() in _TABLES
        read = _of_table(system, progress) if is_table else _of_corpus(system, problems)
        mentions, facts[corpus] = read
        facts[corpus] |= {"n_mentions": len(mentions)}
        for document_id, start, end, text, kind, cited in mentions:
            codes += [(len(rows), *code) for code in cited]
            rows.append((len(rows), corpus, document_id, start, end, text, kind))
    annotations = {name: MENTION.dtypes[name] for name in _ANNOTATION}
    annotated = pl.DataFrame(rows, annotations, orient="row")
    lower = lowered_column(annotated["term"].str.strip_chars())
    store.put("annotation", annotated.with_columns(lower))
    store.put("annotation_code", pl.DataFrame(codes, _CODES, orient="row"))
    return facts


def _of_corpus(system: System, problems: Problems) -> tuple[list[_Mention], dict[str, object]]:
    path: Path = system.source
    mentions: list[_Mention] = []
    with open_corpus(path) as file:
        documents = list(documents_of(file, path, problems))
        facts: dict[str, object] = {"file": path.name, "sha256": corpus_digest(file, path)}
    for document in documents:
        for each in document.annotations:
            if len(each.text) > MAX_NAME:
                where = f"{path}: document {document.document_id}"
                problems.add(f"mention {TOO_LONG}", where, each.text)
                continue
            place = document.document_id, each.start, each.end
            mentions.append((*place, each.text, each.kind, each.codes))
    return mentions, facts | {"n_documents": len(documents)}


def _of_table(system: System, progress: Progress) -> tuple[list[_Mention], dict[str, object]]:
    """Return the mentions of a table; without a column of documents each row is one of its own."""
    table = predicted_table(system, ("text", "concept"), ("document", "start", "end", "type"))
    progress.warn(*table.warnings)
    rows = table.frame
    table.refuse(rows["text"] == "", "text", "must not be empty")
    table.refuse(rows["text"].str.len_chars() > MAX_NAME, "text", TOO_LONG)
    numbers = [
        _whole(table, name) if name in rows else [None] * len(rows) for name in ("start", "end")
    ]
    documents = rows["document"] if "document" in rows else map(str, table.at)
    kinds = rows["type"] if "type" in rows else [_NO_TYPE] * len(rows)
    cited = [
        [("", part.strip()) for part in re.split("[|;]", cell)] if codes is None else codes
        for cell, codes in zip(rows["concept"], map(codes_of, rows["concept"]), strict=True)
    ]
    mentions = [*zip(documents, *numbers, rows["text"], kinds, cited, strict=True)]
    n_documents = len({document for document, *_ in mentions})
    facts = {"file": table.path.name, "sha256": table.sha256, "n_documents": n_documents}
    return mentions, facts


def _whole(table: TextTable, name: str) -> pl.Series:
    numbers = number_column(table, name)
    whole = numbers.cast(pl.Int32, strict=False)
    table.refuse((whole != numbers).fill_null(numbers.is_not_null()), name, "is not a whole number")
    return whole
