"""Shares pairs of words out among groups of raters, who say how similar they are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.studies.folder import Study, StudyDraft, write_study
from medsim.studies.inputs import instructions_of, read_pairs
from medsim.studies.options import GradeOptions
from medsim.studies.output import GRADED_ITEM_COLUMNS
from medsim.studies.people import annotators_of
from medsim.studies.presentations import draw_id, presentations_of
from medsim.studies.sheets import GRADED

if TYPE_CHECKING:
    from collections.abc import Sequence


@public(GradeOptions)
def grade_study(options: GradeOptions) -> Study:
    """Return the graded study of pairs that it writes to ``out``.

    Every group of raters has pairs of its own beside the consistency set, which all rate; every
    rater sees some pairs twice, about half of the others lying between. Pages are equal in length,
    and each has an equal share of the group's own pairs, of the consistency set and of the pairs
    that are seen again: of 500, 50 and 50 with 120 a page, it has 100, 10 and 10 (Chiu et al.
    2018). Only what lies in ``annotators`` is for raters.

    Raises:
        InputError: the file cannot be read, or holds a pair twice.
        OptionError: an option is out of range, or the pairs are too few for it.
        OutputError: ``out`` is taken or cannot be written.
    """
    raters = annotators_of(options.raters, stem="rater")
    instructions = instructions_of(GRADED, options.instructions)
    path, progress = Path(options.pairs), progress_of(options.progress)
    with progress.stage("share pairs out") as stage:
        table = read_pairs(path, progress)
        _check_shares(options, table.frame.height)
        items = _items(table.frame, options)
        n_seen = _most_seen(items, options)
        n_pages = math.ceil(n_seen / options.page_size) if options.page_size else 1
        assignment = _assignment(items, raters, options, n_pages)
        most = max(assignment["position"].to_list())
        stage.found(f"{items.height:,} pairs, up to {most:,} for each of {len(raters)}")
    with progress.stage("write sheets"):
        draft = StudyDraft(
            scale=GRADED,
            items=items,
            assignment=assignment,
            instructions=instructions,
            notice=options.notice,
            page_size=math.ceil(n_seen / n_pages) if options.page_size else 0,
            source={"kind": "pairs", "path": str(path), "fingerprint": table.sha256},
            warnings=progress.warnings,
        )
        return write_study(draft, options)


def shares_of(study: Study) -> pl.DataFrame:
    """Return how many pairs each rater of a graded study sees, and which group it is of."""
    shown = study.assignment().join(study.items().select("item_id", "group"), on="item_id")
    first = pl.col("showing") == 1
    return (
        shown.group_by("annotator")
        .agg(
            pl.col("group").max().alias("group"),
            ((pl.col("group") > 0) & first).sum().cast(pl.Int64).alias("n_of_group"),
            ((pl.col("group") == 0) & first).sum().cast(pl.Int64).alias("n_of_all"),
            (~first).sum().cast(pl.Int64).alias("n_twice"),
        )
        .sort("annotator")
    )


def _check_shares(options: GradeOptions, n_pairs: int) -> None:
    """Raise OptionError if that many pairs cannot be shared out so."""
    groups, consistency = options.groups, options.n_consistency
    if n_pairs - consistency < groups:
        raise OptionError(
            f"`consistency` {consistency} does not fit {n_pairs:,} pairs and {groups} groups; each "
            "group needs a pair of its own"
        )
    n_seen = consistency + (n_pairs - consistency) // groups
    if options.duplicates > n_seen:
        raise OptionError(
            f"`duplicates` {options.duplicates} does not fit: a rater sees {n_seen:,} pairs"
        )


def _items(pairs: pl.DataFrame, options: GradeOptions) -> pl.DataFrame:
    """Return pairs with item_id and the group that rates them, 0 for all, in order of item_id."""
    seed = options.seed
    ids = [draw_id(seed, "item", *pair) for pair in pairs.select("term1", "term2").iter_rows()]
    ranks = [draw_id(seed, "group", item_id) for item_id in ids]
    place = pl.int_range(pl.len(), dtype=pl.Int32) - options.n_consistency
    group = pl.when(place < 0).then(0).otherwise(place % options.groups + 1)
    return (
        pairs.with_columns(
            pl.Series("item_id", ids, dtype=pl.String), pl.Series("rank", ranks, dtype=pl.String)
        )
        .sort("rank")
        .with_columns(group.cast(pl.Int32).alias("group"))
        .drop("rank")
        .sort("item_id")
        .select(*GRADED_ITEM_COLUMNS, pl.exclude(GRADED_ITEM_COLUMNS))
    )


def _most_seen(items: pl.DataFrame, options: GradeOptions) -> int:
    """Return how many presentations the raters of the largest group see."""
    sizes: dict[int, int] = dict(items["group"].value_counts().iter_rows())
    return sizes.pop(0, 0) + max(sizes.values()) + options.duplicates


def _assignment(
    items: pl.DataFrame, raters: Sequence[str], options: GradeOptions, n_pages: int
) -> pl.DataFrame:
    frames = []
    for at, rater in enumerate(raters):
        group = at * options.groups // len(raters) + 1  # groups are as equal as they can be
        own = items.filter(pl.col("group").is_in([0, group]))
        frames.append(presentations_of(options.seed, rater, own, options.duplicates, n_pages))
    return pl.concat(frames)
