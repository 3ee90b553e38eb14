"""Scores a mapping, and the predictions of other systems, against a gold mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, counted
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.decisions import PREDICATES
from medsim.mapping.decided import NO_MATCH
from medsim.mapping.options import MAPPED
from medsim.systems.predictions import System, system_of, systems_of
from medsim.systems.ranked_lists import ANSWER, KnownConcepts, predicted_lists, reranked
from medsim.systems.rankings import STRATA, ranking_tables

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.mapping.options import MapOptions

_EXACT = {"", "exact", PREDICATES["exact"].lower(), "exactmatch", "equivalent", "equal"}
_NONE = {NO_MATCH, "nomatch", "unmatched"}
_NO_CONCEPTS = ("", "0", "sssom:NoTermFound")  # 0 in OMOP
_NO_CATEGORY = "no category"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScores:
    """The scores of ranked lists against a gold mapping.

    Attributes:
        tables: results, comparison, curve and scored by name.
        systems: facts about each system and the gold mapping, for the manifest.
    """

    tables: dict[str, pl.DataFrame]
    systems: dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldScorer:
    """Scores ranked lists of concepts for local codes.

    Attributes:
        options: of the command.
        names: the names of the standard: concept_id and term.
        known: its concepts.
        is_a: its hierarchy.
        progress: receives stages and warnings.
    """

    options: MapOptions
    names: pl.DataFrame
    known: KnownConcepts
    is_a: pl.DataFrame
    progress: Progress

    def scores(self, codes: pl.DataFrame, candidates: pl.DataFrame) -> GoldScores:
        """Return the scores of the candidates and of all systems.

        Args:
            codes: the local codes with name, names and category.
            candidates: the table candidate.

        Raises:
            InputError: the gold mapping or predictions cannot be read or do not fit.
        """
        codes = codes.with_columns(query_id=pl.int_range(pl.len()), text="name")
        system = system_of(self.options.gold, "gold")
        gold, items, facts = self._gold(system, codes)
        rows = candidates.join(codes, on="code", maintain_order="left")
        of_map = rows.select(**dict(zip(ANSWER, _OF_CANDIDATES, strict=True))).cast(ANSWER)
        answers, systems = {MAPPED: of_map}, {system.name: facts}
        for system in systems_of(self.options.predictions):
            name = system.name
            if system.form in {"pair", "predict"}:
                with self.progress.stage(f"rerank with {name}") as stage:
                    answers[name] = reranked(system, of_map, codes, stage.advance)
                systems[name] = {"path": system.location, "format": "python"}
                continue
            keys = [["code"]]
            answers[name], systems[name] = predicted_lists(
                system, codes, keys, self.known, self.progress, "local code"
            )
        with Store(threads=1) as store:
            for name, frame in (("is_a", self.is_a), ("gold", gold)):
                store.put(name, frame)
            store.put("item", items.select("item_id", query_id="item_id"))
            lists = {}
            for model, rows in answers.items():
                with store.frame_as("answer", rows):
                    lists[model] = store.frame("systems/ranked_item")
        calibrated = [name for name, rows in lists.items() if rows["score"].is_between(0, 1).all()]
        with self.progress.stage("score against the gold mapping"):
            tables = ranking_tables(
                items,
                lists,
                STRATA,
                has_hierarchy=self.is_a.height > 0,
                calibrated=calibrated,
            )
        each = (rows.with_columns(model=pl.lit(model)) for model, rows in lists.items())
        scored = pl.concat(each).join(items.select("item_id", "code"), on="item_id")
        return GoldScores(tables=tables | {"scored": scored}, systems=systems)

    def _gold(
        self, system: System, codes: pl.DataFrame
    ) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, object]]:
        """Return the right concepts of items, the items, and facts about the gold mapping."""
        table = system.table(("code", "concept"), ("decision",))
        rows, said = table.frame, pl.Series([""] * table.frame.height, dtype=pl.String)
        word = lowered_column(rows["decision"]) if "decision" in rows else said
        is_none = rows["concept"].is_in(_NO_CONCEPTS) | word.is_in(_NONE)
        rows = rows.with_columns(is_none=is_none).filter(is_none | word.is_in(_EXACT))
        rows = rows.join(codes, on="code", maintain_order="left")
        if n_out := table.frame["code"].n_unique() - rows["code"].n_unique():
            self.progress.warn(
                f"left out {counted(n_out, 'code')} of the gold mapping: not in LOCAL, or without "
                "an exact concept"
            )
        if not rows.height:
            raise InputError(f"{table.path} has no code of LOCAL with an exact concept or no match")
        given = rows.filter(~pl.col("is_none"))
        given = given.select("query_id", text="concept", score=pl.lit(1.0))
        gold = self.known.of(given)[0].select(item_id="query_id", concept_id="concept_id")
        ids = self.known.concepts.implode()
        gold = gold.filter(pl.col("concept_id").is_in(ids))
        items = rows.unique("query_id", maintain_order=True).rename({"query_id": "item_id"})
        first = gold.group_by("item_id").agg(cluster=pl.col("concept_id").min())
        items = items.join(first, on="item_id", how="left", maintain_order="left")
        has_concept = pl.col("item_id").is_in(given["query_id"].implode())
        known, unknown = (pl.lit(status) for status in ("known", "unknown_concept"))
        status = pl.when(pl.col("cluster").is_not_null()).then(known).when(has_concept)
        return (
            gold,
            items.with_columns(
                corpus=pl.lit(table.path.name.split(".")[0]),
                type=pl.col("category").replace("", None).fill_null(_NO_CATEGORY),
                status=status.then(unknown).otherwise(pl.lit("no_concept")),
                cluster=pl.coalesce("cluster", "code"),
                n_named=self._n_named(items),
            ),
            system.provenance(table),
        )

    def _n_named(self, items: pl.DataFrame) -> pl.Series:
        """Return for each item how many concepts have one of its names, ignoring case."""
        local = items.select("item_id", term="names").explode("term")
        local = local.with_columns(lowered_column(local["term"]))
        names = self.names.with_columns(lowered_column(self.names["term"]))
        found = (
            local.join(names, on="lower_term")
            .group_by("item_id")
            .agg(pl.col("concept_id").n_unique().cast(pl.Int64))
        )
        joined = items.join(found, on="item_id", how="left", maintain_order="left")
        return joined["concept_id"].fill_null(0)


_OF_CANDIDATES = ("query_id", "concept_id", "rank", "matched_name", "probability")
"""The columns of candidates, in the order of ``ANSWER``."""
