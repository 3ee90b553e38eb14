"""The sets of pairs that statistics are computed on: their names and parts."""

from __future__ import annotations

import polars as pl

from medsim.core import queries
from medsim.core.config import PARENT_CHILD, SET_COLUMNS, DatasetName
from medsim.evaluations.statistic import BASELINE
from medsim.statistics.strata import PROPERTIES

SET = ("input", *SET_COLUMNS)
"""The columns that name a set of pairs."""

HEADLINE = "auc_beyond_spelling"
"""The statistic of the headline score."""

HEADLINE_DATASET: DatasetName = "syn_syn"
HEADLINE_NEGATIVES = ("levenshtein", "random")
"""The dataset and the negatives of the pairs that the headline score is computed on."""

IN_HEADLINE = pl.col("negatives").is_in(HEADLINE_NEGATIVES)
IN_HEADLINE &= pl.col("dataset") == HEADLINE_DATASET
"""Whether a row of pairs is in one of these sets."""

ALL_KINDS = "all"
"""The difficulty and the negatives of the set of these pairs."""

WHOLE_SUBSET = "build"
"""The subset of results on this set, which depend only on the model and the build."""

NEGATIVE_KINDS = ("difference", "relation")
"""The columns of pairs that divide the negatives, see ``medsim.evaluations.confusions``."""

CONFUSIONS = ("synonym_nearer", "auc_of_kind")
"""The statistics of negatives of one kind."""

RUNGS = ("synonym", "parent", "grandparent", "sibling", "unrelated")
"""The relations of names to a child's, from the nearest; see ``sql/evaluations/ladder.sql``."""

LADDER = ("rung_nearer",)
"""The statistic of the pairs of two rungs."""

FEW = 30
"""Sets of fewer pairs are marked or left out, as their statistics are too uncertain."""

_PART = rf"/(?<part>{'|'.join((*PROPERTIES, *NEGATIVE_KINDS, 'rung'))})=(?<part_value>.*)$"


def with_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the columns ``part`` and ``part_value``, from the name of the set.

    Args:
        frame: rows with the column ``dataset``, such as results. In "mean/count=10-99", a part of a
            rated set, "count" is the part and "10-99" its value. Both are null for whole sets.
    """
    groups = pl.col("dataset").str.extract_groups(_PART).struct
    return frame.with_columns(groups.field("part"), groups.field("part_value"))


def whole_sets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of whole sets."""
    return with_parts(frame).filter(pl.col("part").is_null()).select(frame.columns)


def parts_of_sets(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of parts of rated sets."""
    return with_parts(frame).filter(pl.col("part").is_not_null()).select(frame.columns)


def sort_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows of parts grouped by rating, bins in ascending order, rungs from the nearest."""
    parts = with_parts(frame)
    whole = pl.col("dataset").str.replace(_PART, "")
    begin = pl.col("part_value").str.extract(r"^([0-9.]+)").cast(pl.Float64)
    places = {rung: at for at, rung in enumerate(RUNGS)}
    rung = pl.when(part="rung").then(pl.col("part_value").replace_strict(places, default=None))
    keys = ("input", whole, "part", begin, rung, "part_value")
    return parts.sort(*keys, nulls_last=True, maintain_order=True).select(frame.columns)


def in_sets_of(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of those sets that other rows have."""
    return rows.join(others.select(SET), on=SET, how="semi", nulls_equal=True)


def with_facts(rows: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return rows, in their order, with facts on the columns that both have; nulls are equal."""
    on = [name for name in facts.columns if name in rows.columns]
    return rows.join(facts, on=on, how="left", nulls_equal=True, maintain_order="left")


def both_ways(comparisons: pl.DataFrame, compared: str = "embedding") -> pl.DataFrame:
    """Return comparisons of embeddings or metrics, then each from the other side."""
    turned = {f"{compared}1": f"{compared}2", f"{compared}2": f"{compared}1"}
    others = comparisons.rename({**turned, "low": "high", "high": "low"})
    others = others.with_columns(-pl.col("difference", "low", "high"))
    return pl.concat([comparisons, others.select(comparisons.columns)])


def of_synonyms(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows without those of parent_child, which are of another task, unless all are."""
    is_other = rows["dataset"] == PARENT_CHILD
    return rows if is_other.all() else rows.filter(~is_other)


def with_enough_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with at least ``FEW`` pairs; all of a statistic if no model has so many.

    For the headline score the pairs that a model does not cover count too.
    """
    in_set = pl.when(difficulty=ALL_KINDS).then(pl.col("n_pairs").max().over(SET))
    enough = in_set.otherwise("n_pairs") >= FEW
    of_model = enough & (pl.col("embedding") != BASELINE)
    return rows.filter(enough | ~of_model.any().over("statistic"))


def in_means(rows: pl.DataFrame) -> pl.Series:
    """Return a mask of the rows in a mean over sets.

    These are the sets with enough pairs that are not contained in another such set: the pairs of
    fsn_syn are also in syn_syn, and would count twice.
    """
    name = ("statistic", *SET)
    large_sets = {*with_enough_pairs(rows).select(name).iter_rows()}
    containers = {part: dataset.name for dataset in queries.datasets() for part in dataset.contains}
    return pl.Series(
        [
            key in large_sets and (*key[:2], containers.get(key[2]), *key[3:]) not in large_sets
            for key in rows.select(name).iter_rows()
        ],
        dtype=pl.Boolean,
    )
