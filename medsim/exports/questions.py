"""Multiple-choice questions: the other name of a term, among names that no chain links to it."""

from __future__ import annotations

import hashlib
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
        OptionError: see ``check_passed_on``; or there are no questions.
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
    terms, first = _distinct(build.terms())
    n_wrong, texts, lower = run.options.choices or _DEFAULT, terms["term"], terms["lower_term"]
    pairs = exported_pairs(run, build, terms)
    pairs = pairs.with_columns(
        *(pl.Series(f"own{n}_id", pairs[f"term{n}_id"]) for n in (1, 2)),
        *(pl.Series(f"term{n}_id", first[pairs[f"term{n}_id"]]) for n in (1, 2)),
    )
    ends = pl.min_horizontal("term1_id", "term2_id"), pl.max_horizontal("term1_id", "term2_id")
    pairs = pairs.filter(pl.struct(low=ends[0], high=ends[1]).is_first_distinct())
    tuples = with_negatives(run, build, terms, pairs, np.unique(first), n_wrong)
    pairs = pairs[tuples.rows]
    wrong = tuples.negatives(slice(len(pairs)))
    with run.progress.stage(f"write {len(pairs):,} questions"):
        asked, right = pairs["own1_id"].to_numpy(), pairs["own2_id"].to_numpy()
        each = np.repeat(pairs["term1_id"].to_numpy(), n_wrong)
        distances = pair_distances(lower, pl.Series(each), pl.Series(wrong.ravel()), run.threads)
        nearest = distances.to_numpy().reshape(wrong.shape).min(axis=1)
        tiers = np.searchsorted([*filter(None, TIERS.values())], nearest)
        seed, hashes = np.uint64(run.options.seed), content_hashes(texts)
        drawn = pair_seeds(seed, hashes, each, wrong.ravel()).reshape(wrong.shape)
        wrong = np.take_along_axis(wrong, drawn.argsort(axis=1), axis=1)
        answer = np.empty(len(pairs), np.int64)
        by_tier = np.lexsort((pair_seeds(seed, hashes, asked, right), tiers))
        answer[by_tier] = np.arange(len(pairs)) % (n_wrong + 1)
        choices = np.empty((len(pairs), n_wrong + 1), np.int32)
        is_right = np.arange(n_wrong + 1) == answer[:, None]
        choices[is_right], choices[~is_right] = right, wrong.ravel()
        term, named = texts.gather(asked), texts.gather(choices.ravel()).reshape(choices.shape)
        kind = Differences(lower).between
        compared = zip(
            lower.gather(np.repeat(asked, n_wrong + 1)), lower.gather(choices.ravel()), strict=True
        )
        kinds = pl.Series([kind(*names).kind for names in compared], dtype=pl.String)
        return pairs.with_columns(
            id=_ids(term, texts.gather(right), named),
            question='Which of these names means the same as "' + term + '"?',
            term=term,
            choices=named.arr.to_list(),
            answer=answer,
            label=pl.Series([*ascii_uppercase]).gather(answer),
            negatives=pl.lit(run.options.negatives or "levenshtein"),
            tier=pl.Series([*TIERS]).gather(tiers),
            differences=kinds.reshape(choices.shape).arr.to_list(),
        ).select(*QUESTION.columns)


def _distinct(terms: pl.DataFrame) -> tuple[pl.DataFrame, Ids]:
    """Link names that are equal without case, accents, hyphens and spaces: they count as one name.

    Returns:
        The terms with the component of all linked names, and the row of the first of equal names
        for each term: int32[n_terms].
    """
    folds = pl.Series([folded(name) for name in terms["lower_term"]])
    _, rows, numbers = np.unique(folds.rank("dense"), return_index=True, return_inverse=True)
    first = rows[numbers].astype(np.int32)
    component = terms["component"].to_numpy()
    linked = components(int(component.max(initial=-1)) + 1, component, component[first])
    return terms.with_columns(component=pl.Series(linked[component])), first


def _ids(terms: pl.Series, right: pl.Series, choices: pl.Series) -> pl.Series:
    """Return identifiers of questions that do not depend on the order of the choices."""
    contents = zip(terms, right, choices, strict=True)
    texts = ("\0".join((term, name, *sorted(names))) for term, name, names in contents)
    return pl.Series([hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts])
