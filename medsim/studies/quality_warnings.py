"""Warnings that the scores of a study are less certain than they look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.studies.agreement.rater_agreement import LEAST_AGREEMENT
from medsim.studies.graded import OUTLIERS
from medsim.studies.sheets import JUDGEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.studies.folder import Study
    from medsim.studies.sheets.answers import Answers


def warnings_of_answers(study: Study, found: Answers, leave_out: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each way in which answers are missing."""
    counting = found.missing.filter(~found.missing["annotator"].is_in(list(leave_out)))
    if found.absent:
        yield f"no answers of {', '.join(found.absent)}; scores are of the others alone"
    items, answered = study.items()["item_id"], found.frame["item_id"].unique()
    if n_items := len(items) - len(answered):
        yield f"{n_items:,} of {len(items):,} pairs were answered by nobody and are left out"
    if study.scale is JUDGEMENT and counting.height == 1:
        yield "one annotator alone: its judgements are the ground truth, which nothing confirms"
    for name, n_entries, n_answered, _ in counting.iter_rows():
        if 2 * n_answered < n_entries:
            yield f"{name} answered less than half; `leave_out` scores without"


def warnings_of_raters(
    tables: Mapping[str, pl.DataFrame], leave_out: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence on outlying raters of a graded study, and one where hardly any agree."""
    if "raters" not in tables:
        return
    suspect = tables["raters"].filter(pl.col("outlier") & pl.col("accepted"))["rater"].to_list()
    if suspect:
        yield (
            f"{', '.join(suspect)} hardly agree with the others, see the table raters; "
            f"`leave_out` {OUTLIERS} scores without"
        )
    whole = tables["agreement"].filter(pairs="all", raters="all")["iaa1"].to_list()
    if not leave_out and any(value is not None and value < LEAST_AGREEMENT for value in whole):
        yield f"raters hardly agree at all (IAA-1 {whole[0]:.2f}): no rating of theirs says much"
