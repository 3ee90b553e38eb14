"""Multiple-choice questions: the other name of a term, among names that no chain links to it."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.positives import content_hashes, pair_distances
from medsim.core.errors import OptionError
from medsim.exports.formats import check_passed_on
from medsim.exports.hard_negatives import OPTIONS_OF_TUPLES, with_negatives
from medsim.exports.positives import exported_pairs
from medsim.kernels.components import components
from medsim.kernels.drawing import pair_seeds
from medsim.neighbours.difference import Differences, folded
from medsim.questions.question import QUESTION, TIERS

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.exports.formats import Export
    from medsim.kernels.types import Ids

OPTIONS_OF_QUESTIONS = OPTIONS_OF_TUPLES - {"n_negatives"} | {"choices", "private"}
"""The options of questions that formats accept."""

_DEFAULT = 3  # wrong names


def questions_by_split(run: Export) -> dict[str, pl.DataFrame]:
    """Return the questions of each split, ``medsim.questions.question.QUESTION``.

    Raises:
        OptionError: there are no questions, or the licence forbids sharing; see
            ``check_passed_on``.
    """
    check_passed_on(run.exported.manifest.source, private=run.options.private)
    questions = {name: _questions(run, build) for name, build in run.splits.items()}
    if not any(map(len, questions.values())):
        fault = "has no questions for these `datasets`, `difficulty` and `choices`; choose others"
        raise OptionError(f"{run.exported.folder} {fault}")
    return questions


def _questions(run: Export, build: Build) -> pl.DataFrame:
    """Return the questions of a split, in an order drawn from the seed.

    The right name is equally often at each position, in each tier and in all tiers together.
    """
    terms, n_wrong = build.terms(), run.options.choices or _DEFAULT
    names, numbers = _distinct(terms)
    pairs, ends = exported_pairs(run, build, terms, n_languages=1), ("term1_id", "term2_id")
    either = pl.min_horizontal(ends), pl.max_horizontal(ends)
    pairs = pairs.with_columns(pl.Series(end, numbers[pairs[end]]) for end in ends).filter(
        pl.col(ends[0]) != pl.col(ends[1]),
        pl.col("pair_id") == pl.min("pair_id").over(either),
    )
    tuples = with_negatives(run, build, names, pairs, n_wrong)
    pairs = pairs[tuples.rows]
    shape = (len(pairs), n_wrong + 1)
    with run.progress.stage(f"write {len(pairs):,} questions"):
        asked, right = (pairs[end].to_numpy() for end in ends)
        wrong, seed = tuples.negatives(slice(len(pairs))), np.uint64(run.options.seed)
        hashes, each = content_hashes(names["term"]), np.repeat(asked, n_wrong)
        drawn = pair_seeds(seed, hashes, each, wrong.ravel()).reshape(wrong.shape)
        wrong = np.take_along_axis(wrong, drawn.argsort(axis=1), axis=1)
        distances = pair_distances(
            names["lower_term"], pl.Series(each), pl.Series(wrong.ravel()), run.threads
        )
        nearest = distances.to_numpy().reshape(wrong.shape).min(axis=1)
        tiers = np.searchsorted([*filter(None, TIERS.values())], nearest)
        answer = np.empty(len(pairs), np.int64)
        by_tier = np.lexsort((pair_seeds(seed, hashes, asked, right), tiers))
        answer[by_tier] = np.arange(len(pairs)) % shape[1]
        is_right = np.arange(shape[1]) == answer[:, None]
        ids = np.empty(shape, np.int32)
        ids[is_right], ids[~is_right] = right, wrong.ravel()
        term, lower = names["term"].gather(asked), names["lower_term"]
        compared = lower.gather(np.repeat(asked, shape[1])), lower.gather(ids.ravel())
        between = Differences(lower).between
        kinds = [between(*both).kind for both in zip(*compared, strict=True)]
        return pairs.with_columns(
            id="pair_id",
            question='Which of these names means the same as "' + term + '"?',
            term=term,
            choices=names["term"].gather(ids.ravel()).reshape(shape).arr.to_list(),
            answer=answer,
            label=pl.Series([*ascii_uppercase]).gather(answer),
            negatives=pl.lit(run.options.negatives or "levenshtein"),
            distance=pair_distances(lower, pl.Series(asked), pl.Series(right), run.threads),
            tier=pl.Series([*TIERS]).gather(tiers),
            differences=pl.Series(kinds, dtype=pl.String).reshape(shape).arr.to_list(),
        ).select(*QUESTION.columns)


def _distinct(terms: pl.DataFrame) -> tuple[pl.DataFrame, Ids]:
    """Return each name once: names that are equal without case, accents, hyphens and spaces.

    Returns:
        The first term of equal names, in order of text, with the component of all linked names; and
        the row of each term's name in it: int32[n_terms].
    """
    folds = pl.Series([folded(name) for name in terms["lower_term"]])
    _, rows, numbers = np.unique(folds.rank("dense"), return_index=True, return_inverse=True)
    component = terms["component"].to_numpy()
    ends = component, component[rows[numbers]]
    linked = components(int(component.max(initial=-1)) + 1, *ends)[component]
    in_order = np.argsort(rows)
    names = terms.with_columns(component=pl.Series(linked))[rows[in_order]]
    return names, np.argsort(in_order).astype(np.int32)[numbers]
