"""Ranked lists of concepts from tables, functions and rerankers, as answers to queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, counted, listed
from medsim.core.manifest import fingerprint
from medsim.core.reading import reason
from medsim.core.tables import table_of_frame
from medsim.corpora.documents import codes_of
from medsim.systems.predictions import number_column, predicted_table
from medsim.systems.scorers import pair_scores

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.core.tables import TextTable
    from medsim.systems.options import System

LISTING = pl.Schema(
    {
        "query_id": pl.Int64,
        "concept_id": pl.String,
        "concept_rank": pl.Int64,
        "name": pl.String,
        "score": pl.Float64,
    }
)
"""The columns of ranked lists: the rank of each concept from 1, and the name by which it was found,
null if it is not known; without scores all are 1."""

_N_PROBED = 3
_OF_LISTS = ("rank", "score")


def answers_of_table(
    table: TextTable, keys: Sequence[str], items: pl.DataFrame, item: str
) -> pl.DataFrame:
    """Return the ranked lists of a table: query_id, text (of a concept) and score.

    Lists are in order of ranks, or of descending scores, or else of rows. A row without a concept
    is a list without answers.

    Args:
        table: concept, the keys, and optionally rank and score.
        keys: the columns that name an item.
        items: query_id and the keys as text; several items may have the same.
        item: what an item is, for messages.

    Raises:
        InputError: an item is unknown, has a concept or rank twice, or a number is none.
    """
    rows = table.frame.with_row_index("row")
    known = rows.join(items.select(keys).unique(), on=keys, how="semi")["row"]
    table.refuse(~rows["row"].is_in(known.implode()), keys[0], f"is not of {item}")
    table.refuse(rows.select(*keys, "concept").is_duplicated(), "concept", f"is twice in {item}")
    numbers = {name: number_column(table, name) for name in _OF_LISTS if name in rows}
    rows = rows.with_columns(**numbers)
    if "rank" in numbers:
        wrong = numbers["rank"].is_null() | rows.select(*keys, "rank").is_duplicated()
        table.refuse(wrong & (rows["concept"] != ""), "rank", f"is missing, or twice in {item}")
    if "score" in numbers:
        wrong = numbers["score"].is_null() & (rows["concept"] != "")
        table.refuse(wrong, "score", "must not be empty if others are given")
    order = pl.col("rank") if "rank" in numbers else -pl.col("score")
    rows = rows.filter(pl.col("concept") != "").join(items, on=keys)
    rows = rows.sort("query_id", order if numbers else "row", "row")
    return rows.select(
        "query_id",
        text="concept",
        score=pl.col("score") if "score" in numbers else pl.lit(1.0),
    )


def table_of_linker(
    system: System, texts: Sequence[str], advance: Callable[[int], None]
) -> TextTable:
    """Return the ranked lists that a function gives for texts, as a table.

    The function gets a text and returns identifiers of concepts, the best first, or pairs of an
    identifier and a score. A few texts are asked twice.

    Raises:
        InputError: the function fails, returns something else, or another list for the same text.
    """
    rows: list[tuple[str, str, int, float | None]] = []
    lists = {}
    for text in texts:
        lists[text] = _list_of(system, text)
        advance(1)
    for text in [*lists][:: max(1, len(lists) // _N_PROBED)][:_N_PROBED]:
        if _list_of(system, text) != lists[text]:
            raise InputError(f"{system.location} returned another list when {text!r} was repeated")
    for text, found in lists.items():
        rows += ((text, concept, at, score) for at, (concept, score) in enumerate(found, start=1))
        rows += [(text, "", 1, None)] * (not found)
    with_scores = any(score is not None for *_, score in rows)
    columns = {"text": pl.String, "concept": pl.String, "rank": pl.Int64, "score": pl.Float64}
    frame = pl.DataFrame(rows, columns, orient="row")
    frame = frame if with_scores else frame.drop("score")
    return replace(table_of_frame(Path(system.name), frame), sha256=fingerprint(frame))


def _list_of(system: System, text: str) -> list[tuple[str, float | None]]:
    try:
        answer = system.source(text)
    except Exception as error:  # a caller's function may raise anything
        raise InputError(f"{system.location} failed on {text!r}: {reason(error)}") from error
    if answer is None:
        return []
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable):
        raise InputError(
            f"{system.location} returned {answer!r} for {text!r}; expected a list of identifiers "
            "of concepts, or of pairs of an identifier and a score"
        )
    return [_scored(system, text, each) for each in answer]


def _scored(system: System, text: str, given: Any) -> tuple[str, float | None]:
    match given:
        case str():
            return given, None
        case (str(concept), score) if isinstance(score, (int, float)) or hasattr(score, "dtype"):
            return concept, float(score)
    raise InputError(
        f"{system.location} returned {given!r} in its list for {text!r}; expected an identifier of "
        "a concept, or a pair of an identifier and a score"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownConcepts:
    """The concepts of a terminology, and how others cite them.

    Attributes:
        concepts: their identifiers.
        cited: a row per code that a text may cite: vocabulary, code, concept_id and n_concepts.
    """

    concepts: pl.Series
    cited: pl.DataFrame

    def of(self, answers: pl.DataFrame) -> tuple[pl.DataFrame, int]:
        """Return ``LISTING`` and how many concepts are unknown, given query_id, text and score."""
        of_code = self.cited.filter(n_concepts=1).select("vocabulary", "code", "concept_id")
        ids = {*self.concepts}
        known = {(vocabulary, code): concept for vocabulary, code, concept in of_code.iter_rows()}
        found = {}
        for text in answers["text"].unique():
            codes = codes_of(text) or ()
            found[text] = text if text in ids or len(codes) != 1 else known.get(codes[0], text)
        named = answers.with_columns(pl.col("text").replace_strict(found, return_dtype=pl.String))
        # Texts of one concept count once.
        named = named.unique(["query_id", "text"], keep="first", maintain_order=True)
        rank = pl.int_range(1, pl.len() + 1).over("query_id")
        named = named.with_columns(concept_id="text", concept_rank=rank, name=pl.lit(None))
        return named.select(*LISTING).cast(LISTING), len({*found.values()} - ids)


def reranked(
    system: System,
    candidates: pl.DataFrame,
    queries: pl.DataFrame,
    advance: Callable[[int], None],
) -> pl.DataFrame:
    """Return candidates in the order of the scores of a system of pairs: ``LISTING``.

    Args:
        system: it scores pairs of a query's text and a name; without a score a candidate is left
            out.
        candidates: ``LISTING``.
        queries: query_id and text.
        advance: receives the number of pairs that are done.
    """
    rows = candidates.join(queries, on="query_id", maintain_order="left")
    pairs = [*zip(rows["text"], rows["name"], strict=True)]
    distinct = list(dict.fromkeys(pairs))
    scores = dict(zip(distinct, pair_scores(system, distinct, advance), strict=True))
    rows = rows.with_columns(score=pl.Series([scores[pair] for pair in pairs], dtype=pl.Float64))
    rows = rows.filter(pl.col("score").is_not_nan())
    rows = rows.sort("query_id", -pl.col("score"), "concept_rank")
    return rows.with_columns(concept_rank=pl.int_range(1, pl.len() + 1).over("query_id")).select(
        *LISTING
    )


def predicted_lists(
    system: System,
    items: pl.DataFrame,
    keys: Sequence[Sequence[str]],
    known: KnownConcepts,
    progress: Progress,
    item: str,
) -> tuple[pl.DataFrame, dict[str, object]]:
    """Return the ranked lists of a table or a function, ``LISTING``, and facts for the manifest.

    Args:
        system: a table, or a function of one text.
        items: query_id, text, and the keys as text.
        keys: the sets of columns that may name an item in a table; the first that it has counts.
        known: the concepts that can be found.
        progress: receives the stage and warnings.
        item: what an item is, for messages, such as "mention".
    """
    if system.has_table:
        optional = dict.fromkeys(key for each in keys for key in each)
        table = predicted_table(system, ("concept",), (*optional, *_OF_LISTS))
        progress.warn(*table.warnings)
    else:
        texts = items["text"].unique().sort().to_list()
        with progress.stage(f"ask {system.name}") as stage:
            stage.total(len(texts))
            table, keys = table_of_linker(system, texts, stage.advance), [("text",)]
    key = next((each for each in keys if {*each} <= {*table.frame.columns}), None)
    if key is None:
        either = " or ".join(listed(each) for each in keys)
        raise InputError(f"{table.path} does not say which {item} a row is of; it needs {either}")
    rows = answers_of_table(table, key, items.select("query_id", *key), f"a {item}")
    answers, n_unknown = known.of(rows)
    if n_unknown:
        lacking = counted(n_unknown, "concept")
        progress.warn(f"{system.name} has {lacking} that the terminology lacks; they are wrong")
    if n_without := items.height - answers["query_id"].n_unique():
        progress.warn(f"{system.name} has no answer for {counted(n_without, item)}")
    return answers, system.provenance(table.sha256)
