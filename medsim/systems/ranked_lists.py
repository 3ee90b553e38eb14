"""Ranked lists of concepts from tables, functions and rerankers, as answers to queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core.errors import InputError, counted, listed
from medsim.core.manifest import fingerprint
from medsim.core.progress import Progress
from medsim.core.tables import TextTable, table_of_frame
from medsim.corpora.documents import codes_of
from medsim.embeddings.objects import answer_to
from medsim.systems.options import ROLES, System
from medsim.systems.predictions import exact_mappings, number_column, predicted_table
from medsim.systems.scorers import pair_scores

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


def listing_of(answers: pl.DataFrame) -> pl.DataFrame:
    """Return answers as ``LISTING``, ranked in their order."""
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    return answers.with_columns(concept_rank=rank).select(*LISTING).cast(LISTING)


_N_PROBED = 3
_OF_LISTS = ("rank", "score")
_RELATIONS = ("decision", "modifier")
_ITEMS = {"code": "local code"} | dict.fromkeys(("mention", "document", "text"), "mention")


def answers_of_table(
    table: TextTable, keys: Sequence[str], items: pl.DataFrame, where: str
) -> pl.DataFrame:
    """Return the ranked lists of a table: query_id, text (of a concept) and score.

    Lists are in order of ranks, or of descending scores, or else of rows. A row without a concept
    is a list without answers. An empty score counts as the lowest.

    Args:
        table: concept, the keys, and optionally rank and score.
        keys: the columns that name an item.
        items: query_id and the keys as text; several items may have the same.
        where: what has the items, for messages.

    Raises:
        InputError: an item is unknown, has a concept or rank twice, a number is none, or a score is
            higher than that of a better rank.
    """
    rows = table.frame.with_row_index("row")
    known = rows.join(items.select(keys).unique(), on=keys, how="semi")["row"]
    table.refuse(~rows["row"].is_in(known.implode()), keys[0], f"is not in {where}")
    is_twice = rows.select(*keys, "concept").is_duplicated()
    table.refuse(is_twice, "concept", f"is given twice for one {_ITEMS[keys[0]]}")
    numbers = {name: number_column(table, name) for name in _OF_LISTS if name in rows}
    rows, is_answer = rows.with_columns(**numbers), rows["concept"] != ""
    if "rank" in numbers:
        wrong = numbers["rank"].is_null() | rows.select(*keys, "rank").is_duplicated()
        table.refuse(wrong & is_answer, "rank", f"is missing, or twice for one {_ITEMS[keys[0]]}")
    if "score" in numbers:
        rows = rows.with_columns(pl.col("score").fill_null(pl.col("score").min()).fill_null(1.0))
    if len(numbers) == len(_OF_LISTS):
        before = pl.col("score").shift().over(keys, order_by="rank")
        is_higher = rows.select((pl.col("score") > before).fill_null(value=False)).to_series()
        fault = "is higher than that of a better rank; leave out rank or score"
        table.refuse(is_higher & is_answer, "score", fault)
    order = pl.col("rank") if "rank" in numbers else -pl.col("score")
    rows = rows.filter(is_answer).join(items, on=keys)
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
    columns = {"text": pl.String, "concept": pl.String, "rank": pl.Int64, "score": pl.Float64}
    frame = pl.DataFrame(rows, columns, orient="row")
    frame = frame if frame["score"].count() else frame.drop("score")
    return replace(table_of_frame(Path(system.name), frame), sha256=fingerprint(frame))


def _list_of(system: System, text: str) -> list[tuple[str, float | None]]:
    answer = answer_to(lambda: system.source(text), system.location, repr(text))
    if answer is None:
        return []
    is_other = isinstance(answer, (str, bytes, Mapping, set, frozenset))
    if is_other or hasattr(answer, "columns") or not isinstance(answer, Iterable):
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
        named = named.with_columns(concept_id="text", name=pl.lit(None))
        return listing_of(named), len({*found.values()} - ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedLists:
    """The ranked lists of systems.

    Attributes:
        lists: ``LISTING`` of tables and functions of one text, by name.
        rerankers: systems that score pairs of a text and a name.
        facts: facts about each system for the manifest, by name.
    """

    lists: dict[str, pl.DataFrame] = field(default_factory=dict)
    rerankers: list[System] = field(default_factory=list)
    facts: dict[str, dict[str, object]] = field(default_factory=dict)

    def read(
        self,
        systems: Iterable[System],
        items: pl.DataFrame,
        keys: Sequence[Sequence[str]],
        known: KnownConcepts,
        progress: Progress,
        where: str,
    ) -> None:
        """Read the tables of systems and ask functions of one text; others rerank later.

        Args:
            systems: the systems.
            items: query_id, text, and the keys as text.
            keys: the sets of columns that may name an item in a table; the first that it has
                counts.
            known: the concepts that can be found.
            progress: receives stages and warnings.
            where: what has the items, for messages.

        Raises:
            InputError: a table or a list does not fit; see ``answers_of_table``.
        """
        for system in systems:
            if system.scores_pairs:
                self.rerankers.append(system)
                continue
            name = system.name
            table, named_by = _table_of(system, items, keys, progress)
            key = next((each for each in named_by if {*each} <= {*table.frame.columns}), None)
            if key is None:
                columns = [[ROLES[role].split()[0] for role in each] for each in keys]
                raise InputError(
                    f"{table.path} does not say what a row is of; it needs "
                    f"{' or '.join(map(listed, columns))}"
                )
            if "code" in key:
                table = with_known_codes(table, items["code"])
            rows = answers_of_table(table, key, items.select("query_id", *key), where)
            answers, n_unknown = known.of(rows)
            if n_unknown:
                lacking = counted(n_unknown, "concept")
                progress.warn(f"{name} has {lacking} that the terminology lacks; they are wrong")
            if n_without := items.height - answers["query_id"].n_unique():
                progress.warn(f"{name} has no answer for {counted(n_without, _ITEMS[key[0]])}")
            self.lists[name], self.facts[name] = answers, system.provenance(table.sha256)

    def reranked(
        self, candidates: pl.DataFrame, queries: pl.DataFrame, progress: Progress
    ) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the name of each system that reranks, and candidates in its order: ``LISTING``.

        Candidates without a score are left out.

        Args:
            candidates: ``LISTING``.
            queries: query_id and text; a system scores pairs of this text and a candidate's name.
            progress: receives stages.
        """
        rows = candidates.join(queries, on="query_id", maintain_order="left")
        pairs = [*zip(rows["text"], rows["name"], strict=True)]
        distinct = list(dict.fromkeys(pairs))
        for system in self.rerankers:
            with progress.stage(f"rerank with {system.name}") as stage:
                stage.total(len(distinct))
                scores = pair_scores(system, distinct, stage.advance)
            score_of = dict(zip(distinct, scores, strict=True))
            score = pl.Series([score_of[pair] for pair in pairs], dtype=pl.Float64)
            found = rows.with_columns(score=score).filter(pl.col("score").is_not_nan())
            found = listing_of(found.sort("query_id", -pl.col("score"), "concept_rank"))
            self.facts[system.name] = system.provenance(fingerprint(found))
            yield system.name, found


def with_known_codes(table: TextTable, codes: pl.Series) -> TextTable:
    """Return a table whose column code lacks a prefix, as in CURIEs, if only the rest is known."""
    known, rest = codes.implode(), pl.col("code").str.replace(r"^[^:]*:", "")
    is_prefixed = ~pl.col("code").is_in(known) & rest.is_in(known)
    code = pl.when(is_prefixed).then(rest).otherwise("code")
    return replace(table, frame=table.frame.with_columns(code=code))


def _table_of(
    system: System, items: pl.DataFrame, keys: Sequence[Sequence[str]], progress: Progress
) -> tuple[TextTable, Sequence[Sequence[str]]]:
    """Return the ranked lists of a system as a table, and the columns that may name an item."""
    if system.has_table:
        optional = dict.fromkeys(key for each in keys for key in each)
        table = predicted_table(system, ("concept",), (*optional, *_OF_LISTS, *_RELATIONS))
        progress.warn(*table.warnings)
        table, n_out = exact_mappings(table)
        if n_out:
            progress.warn(f"rows of {system.name} left out: {n_out:,} (not an exact match)")
        # A corpus without offsets is not named by them.
        has_values = {name for name in items.columns if items[name].null_count() < items.height}
        return table, [each for each in keys if {*each} <= has_values]
    texts = items["text"].unique().sort().to_list()
    with progress.stage(f"ask {system.name}") as stage:
        stage.total(len(texts))
        return table_of_linker(system, texts, stage.advance), [("text",)]
