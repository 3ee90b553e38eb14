"""Scores a mapping, and the predictions of other systems, against a gold mapping."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from medsim.core.errors import InputError, OptionError, counted
from medsim.core.progress import Progress
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.mapping.options import DECIDED, MAPPED, MapOptions
from medsim.systems.options import System, system_of, systems_of
from medsim.systems.predictions import exact_mappings, predicted_table
from medsim.systems.ranked_lists import (
    KnownConcepts,
    PredictedLists,
    listing_of,
    with_known_codes,
)
from medsim.systems.rankings import STRATA, ranking_tables
from medsim.terminologies.mappings import cite_codes

_NO_CATEGORY = "no category"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldStandard:
    """A gold mapping, and the predictions of other systems for the same local codes.

    Attributes:
        gold: the right concepts: item_id and concept_id.
        items: the local codes with a right concept or none; see ``ranking_tables``.
        codes: all local codes: query_id, code and text.
        is_a: the hierarchy of the standard.
        predicted: the ranked lists of the systems.
        facts: facts about the gold mapping, for the manifest.
    """

    gold: pl.DataFrame
    items: pl.DataFrame
    codes: pl.DataFrame
    is_a: pl.DataFrame
    predicted: PredictedLists
    facts: dict[str, object]

    def scores(
        self, candidates: pl.DataFrame, mapping: pl.DataFrame | None, progress: Progress
    ) -> dict[str, pl.DataFrame]:
        """Return the tables results, comparison, curve and scored.

        Args:
            candidates: the table candidate.
            mapping: the table mapping, if it has decisions or accepted candidates.
            progress: receives stages.
        """
        rows = candidates.join(self.codes, on="code", maintain_order="left")
        of_map = listing_of(rows.rename({"matched_name": "name", "probability": "score"}))
        answers = {MAPPED: of_map}
        if mapping is not None:
            taken = mapping.filter(decision="exact").join(self.codes, on="code")
            score = pl.col("probability").fill_null(1.0)
            answers[DECIDED] = listing_of(taken.with_columns(name=pl.lit(None), score=score))
        answers |= self.predicted.lists
        answers |= self.predicted.reranked(of_map, self.codes, progress)
        with Store(threads=1) as store:
            for name, frame in (("is_a", self.is_a), ("gold", self.gold)):
                store.put(name, frame)
            store.put("item", self.items.select("item_id", query_id="item_id"))
            lists = {}
            for model, found in answers.items():
                with store.frame_as("answer", found):
                    lists[model] = store.frame("systems/ranked_item")
        # Without scores, all are 1.
        scores = {name: found["score"].drop_nulls() for name, found in lists.items()}
        calibrated = [
            name
            for name, given in scores.items()
            if given.is_between(0, 1).all() and not (given == 1).all()
        ]
        with progress.stage("score against the gold mapping"):
            tables = ranking_tables(
                self.items,
                lists,
                STRATA,
                has_hierarchy=self.is_a.height > 0,
                calibrated=calibrated,
            )
        each = (found.with_columns(model=pl.lit(model)) for model, found in lists.items())
        scored = pl.concat(each).join(self.items.select("item_id", "code"), on="item_id")
        return tables | {"scored": scored}


def read_gold(
    options: MapOptions,
    codes: pl.DataFrame,
    names: pl.DataFrame,
    vocabulary: str | None,
    store: Store,
    progress: Progress,
) -> GoldStandard | None:
    """Return the gold mapping of the options, if any, with the predictions of systems.

    Args:
        options: of the command.
        codes: the local codes with name, names and category.
        names: the names of the standard: concept_id and term.
        vocabulary: of the standard.
        store: the store of the standard.
        progress: receives stages and warnings.

    Raises:
        InputError: the gold mapping or predictions cannot be read or do not fit.
    """
    if options.gold is None:
        return None
    cite_codes(store, vocabulary)
    known = KnownConcepts(concepts=names["concept_id"], cited=store.table("cited_code"))
    codes = codes.with_columns(query_id=pl.int_range(pl.len()), text="name")
    system = system_of(options.gold, "gold")
    gold, items, facts = _gold_items(system, codes, names, known, progress)
    predicted = PredictedLists()
    systems = systems_of(options.predictions)
    predicted.read(systems, codes, [["code"]], known, progress, "LOCAL")
    return GoldStandard(
        gold=gold,
        items=items,
        codes=codes.select("query_id", "code", "text"),
        is_a=store.table("is_a"),
        predicted=predicted,
        facts=facts,
    )


def _gold_items(
    system: System,
    codes: pl.DataFrame,
    names: pl.DataFrame,
    known: KnownConcepts,
    progress: Progress,
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, object]]:
    """Return the right concepts of items, the items, and facts about the gold mapping."""
    if not system.has_table:
        raise OptionError("`gold` is a table, not a function or a model")
    read = predicted_table(system, ("code", "concept"), ("decision", "modifier"))
    progress.warn(*read.warnings)
    table, n_other = exact_mappings(with_known_codes(read, codes["code"]))
    if n_other:
        progress.warn(f"rows of the gold mapping left out: {n_other:,} (not an exact match)")
    rows = table.frame.join(codes, on="code", maintain_order="left")
    if n_out := table.frame["code"].n_unique() - rows["code"].n_unique():
        progress.warn(f"left out {counted(n_out, 'code')} of the gold mapping that LOCAL lacks")
    if not rows.height:
        raise InputError(f"{table.path} has no code of LOCAL with an exact concept or no match")
    given = rows.filter(pl.col("concept") != "")
    given = given.select("query_id", text="concept", score=pl.lit(1.0))
    gold = known.of(given)[0].select(item_id="query_id", concept_id="concept_id")
    ids = known.concepts.implode()
    gold = gold.filter(pl.col("concept_id").is_in(ids))
    if len(given) and not len(gold):
        raise InputError(f"{table.path} has no concept of STANDARD, but such as {given['text'][0]}")
    items = rows.unique("query_id", maintain_order=True).rename({"query_id": "item_id"})
    first = gold.group_by("item_id").agg(cluster=pl.col("concept_id").min())
    items = items.join(first, on="item_id", how="left", maintain_order="left")
    has_concept = pl.col("item_id").is_in(given["query_id"].implode())
    status = pl.when(pl.col("cluster").is_not_null()).then(pl.lit("known")).when(has_concept)
    items = items.with_columns(
        corpus=pl.lit(table.path.name.split(".")[0]),
        type=pl.col("category").replace("", None).fill_null(_NO_CATEGORY),
        status=status.then(pl.lit("unknown_concept")).otherwise(pl.lit("no_concept")),
        cluster=pl.coalesce("cluster", "code"),
        n_named=_n_named(items, names),
    )
    if n_lacking := items.filter(status="unknown_concept").height:
        progress.warn(
            "STANDARD, as it is searched, lacks all concepts of the gold mapping for "
            f"{counted(n_lacking, 'code')}, which count as codes without a match"
        )
    return gold, items, system.provenance(table.sha256)


def _n_named(items: pl.DataFrame, names: pl.DataFrame) -> pl.Series:
    """Return for each item how many concepts have one of its names, ignoring case."""
    local = items.select("item_id", term="names").explode("term")
    local = local.with_columns(lowered_column(local["term"]))
    names = names.with_columns(lowered_column(names["term"]))
    found = (
        local.join(names, on="lower_term")
        .group_by("item_id")
        .agg(pl.col("concept_id").n_unique().cast(pl.Int64))
    )
    joined = items.join(found, on="item_id", how="left", maintain_order="left")
    return joined["concept_id"].fill_null(0)
