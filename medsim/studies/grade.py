"""Shares pairs of words out among groups of raters, who say how similar they are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import read_table
from medsim.core.terms import lowered
from medsim.evaluations.ratings.properties import PAIR_PROPERTIES, property_in
from medsim.studies.folder import Study, StudyDraft, draw_id, presentations_of, write_study
from medsim.studies.options import GradeOptions, annotators_of
from medsim.studies.output import GRADED_ITEMS, RATED_COLUMNS
from medsim.studies.sheets import GRADED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.core.tables import Table

_SIDES = ("term1", "term2")
_TAKEN = frozenset({*GRADED_ITEMS.dtypes, *RATED_COLUMNS} - set(_SIDES))


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
    path, progress = Path(options.pairs), progress_of(options.progress)
    with progress.stage("share pairs out") as stage:
        table = read_pairs(path, progress)
        _check_shares(options, table.frame.height)
        items = _items(table.frame, options)
        sizes: dict[int, int] = dict(items["group"].value_counts().iter_rows())
        n_seen = sizes.pop(0, 0) + max(sizes.values()) + options.duplicates  # of the largest group
        n_pages = math.ceil(n_seen / options.page_size) if options.page_size else 1
        assignment = _assignment(items, raters, options, n_pages)
        most = max(assignment["position"].to_list())
        stage.found(f"{items.height:,} pairs, up to {most:,} for each of {len(raters)}")
    with progress.stage("write sheets"):
        draft = StudyDraft(
            scale=GRADED,
            items=items,
            assignment=assignment,
            notice=options.notice,
            page_size=math.ceil(n_seen / n_pages) if options.page_size else 0,
            source={"kind": "pairs", "path": str(path), "fingerprint": table.sha256},
        )
        return write_study(draft, options, progress)


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
        .select(*GRADED_ITEMS.dtypes, pl.exclude(GRADED_ITEMS.dtypes))
    )


def _assignment(
    items: pl.DataFrame, raters: Sequence[str], options: GradeOptions, n_pages: int
) -> pl.DataFrame:
    frames = []
    for at, rater in enumerate(raters):
        group = at * options.groups // len(raters) + 1  # groups are as equal as they can be
        own = items.filter(pl.col("group").is_in([0, group]))
        frames.append(presentations_of(options.seed, rater, own, options.duplicates, n_pages))
    return pl.concat(frames)


def read_pairs(path: Path, progress: Progress | None = None) -> Table:
    """Return the pairs of a table: term1, term2, and its other columns as text.

    Raises:
        InputError: the file cannot be read, lacks a column or has one whose name medsim gives, or
            a pair has one term alone or stands twice; the message names the line.
    """
    table = read_table(path, _SIDES, known=None)
    for warning in table.warnings:
        progress_of(progress).warn(warning)
    for name in table.frame.columns:
        if name in _TAKEN:
            raise InputError(f"{path}: the column {name!r} has a name that medsim gives; rename it")
    if table.frame.is_empty():
        raise InputError(f"{path} has no pairs")
    for side in _SIDES:
        table.refuse(table.frame[side] == "", side, "is empty")
    _check_properties(table)
    seen: dict[tuple[str, ...], str] = {}
    for location, (term1, term2, *_) in table.rows():
        pair = tuple(sorted(lowered([term1, term2])))
        if pair[0] == pair[1]:
            raise InputError(f"{path}: {location}: both terms are {term1!r}")
        if (known := seen.setdefault(pair, location)) != location:
            raise InputError(f"{path}: {known} and {location} have the same pair")
    return table


def _check_properties(table: Table) -> None:
    """Raise InputError if a column that an evaluation reads holds what it would refuse."""
    for column in PAIR_PROPERTIES:
        if column not in table.frame.columns:
            continue
        for at, cell in zip(table.at, table.frame[column], strict=True):
            try:
                property_in(column, cell)
            except InputError as error:
                raise InputError(f"{table.path}: {table.unit} {at}: {error}") from error
