"""Warnings that the scores of a study are less certain than they look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import listed
from medsim.studies.agreement.outliers import LEAST_AGREEMENT
from medsim.studies.graded import OUTLIERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.studies.folder import Study
    from medsim.studies.sheets.answers import Answers

_PATTERN = 10  # ratings in a row of which the page warns as well
_PATTERNS = {
    "longest_run": "are equal",
    "longest_alternation": "take turns between two values",
}


def warnings_of_answers(study: Study, found: Answers, leave_out: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each way in which answers are missing."""
    counting = found.missing.filter(~found.missing["annotator"].is_in(list(leave_out)))
    if found.absent:
        yield f"no answers of {', '.join(found.absent)}; scores are of the others alone"
    items, answered = study.items()["item_id"], found.frame["item_id"].unique()
    if n_items := len(items) - len(answered):
        noun = study.scale.noun
        yield f"{n_items:,} of {len(items):,} {noun}s were answered by nobody and are left out"
    if counting.height == 1 and not study.scale.graded:
        yield "one annotator alone: nothing confirms its answers"
    for name, n_entries, n_answered, _ in counting.iter_rows():
        if 2 * n_answered < n_entries:
            yield f"{name} answered less than half; `leave_out` scores without"


def warnings_of_raters(
    tables: Mapping[str, pl.DataFrame], leave_out: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence on each rater of a graded study whose ratings are suspect.

    That is an outlier, or one with a pattern over ten ratings in a row or more (Chiu et al. 2018);
    and one sentence where hardly any agree.
    """
    if "raters" not in tables:
        return
    for column, pattern in _PATTERNS.items():
        rows = tables["raters"].filter(pl.col(column) >= _PATTERN)
        for name, length in rows.select("rater", column).iter_rows():
            yield f"{length} ratings of {name} in a row {pattern}"
    suspect = tables["raters"].filter(pl.col("outlier") & pl.col("accepted"))["rater"].to_list()
    if suspect:
        yield (
            f"{listed(suspect)} hardly agree{'s' * (len(suspect) == 1)} with the others, "
            "see the table raters; "
            f"`leave_out` {OUTLIERS} scores without"
        )
    whole = tables["agreement"].filter(pairs="all", raters="all")["iaa1"].to_list()
    if not leave_out and any(value is not None and value < LEAST_AGREEMENT for value in whole):
        yield f"raters hardly agree at all (IAA-1 {whole[0]:.2f}): no rating of theirs says much"
