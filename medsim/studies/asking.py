"""Writes the studies in which a few people answer the same questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.studies.folder import StudyDraft, write_study
from medsim.studies.inputs import instructions_of
from medsim.studies.presentations import presentations_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.core.progress import Progress
    from medsim.studies.asking_options import AskedOptions
    from medsim.studies.folder import Study
    from medsim.studies.sheets import Scale


def write_asked(
    scale: Scale,
    items: pl.DataFrame,
    shown: Sequence[str],
    source: dict[str, object],
    options: AskedOptions,
    progress: Progress,
) -> Study:
    """Return the study of items that it writes to ``out``.

    Args:
        scale: of the study.
        items: with item_id, in its order; where they have a group, annotators see those of group 0
            and of their own, which count from 1.
        shown: the columns of items that annotators see.
        source: of the items, for the manifest.
        options: of the study.
        progress: told of the stage.
    """
    instructions = instructions_of(scale, options.instructions)
    with progress.stage("write sheets") as stage:
        assignment = pl.concat(
            presentations_of(options.seed, name, own, shown=shown)
            for name, own in _shared_out(items, options.names)
        )
        stage.found(f"{items.height:,} {scale.noun}s for {len(options.names)} annotators")
        draft = StudyDraft(
            scale=scale,
            items=items,
            assignment=assignment,
            instructions=instructions,
            notice=options.notice,
            source=source,
            warnings=progress.warnings,
        )
        return write_study(draft, options)


def shown_counts(study: Study) -> pl.DataFrame:
    """Return how many items each annotator sees, and how many of them others see as well."""
    shown = study.assignment().with_columns(common=pl.len().over("item_id") > 1)
    return (
        shown.group_by("annotator")
        .agg(
            pl.len().cast(pl.Int64).alias(f"n_{study.scale.noun}s"),
            pl.col("common").sum().cast(pl.Int64).alias("n_common"),
        )
        .sort("annotator")
    )


def _shared_out(items: pl.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    for number, name in enumerate(names, start=1):
        seen = items.filter(pl.col("group").is_in([0, number])) if "group" in items else items
        yield name, seen
