"""The pairs and similarities that a finished evaluation keeps, and comparisons made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.layout import pairs_path, scores_path
from medsim.evaluations.output import COMPARISON_COLUMNS
from medsim.evaluations.run_key import are_independent, resampling_of
from medsim.evaluations.scoring import ScoredModel, fixed_comparisons, warn_of_reach
from medsim.evaluations.sets import SET_COLUMNS

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.evaluations.comparisons import Row
    from medsim.evaluations.output import Evaluation
    from medsim.kernels.types import Flags, Values


def stored_input(evaluation: Evaluation, name: str) -> EvaluationInput:
    """Return the pairs of an input that an evaluation keeps."""
    provenance = evaluation.manifest.inputs[name]
    return EvaluationInput(
        name=name,
        rated=provenance["kind"] == "rated",
        frame=evaluation.read(pairs_path(name)),
        provenance=provenance,
        independent=are_independent(evaluation.manifest.options),
    )


def common_pairs(evaluation: Evaluation, one: EvaluationInput) -> Flags:
    """Return which pairs all embeddings cover, bool[n_pairs]; the same under any metric."""
    below = f"scores/input={one.name}/embedding="
    paths = {
        path.removeprefix(below).split("/")[0]: path
        for path in evaluation.manifest.outputs
        if path.startswith(below)
    }
    common = np.ones(one.pairs.height, np.bool_)
    for path in paths.values():
        common &= ~np.isnan(similarities_of(evaluation, path, one))
    return common


def similarities_of(evaluation: Evaluation, path: str, one: EvaluationInput) -> Values:
    """Return the similarities of an input's pairs, NaN where a term is not covered."""
    frame = evaluation.read(path, ("pair_id", "similarity"))
    if not frame["pair_id"].equals(one.pairs["pair_id"]):
        raise InputError(f"{evaluation.folder / path} does not hold the pairs of its input")
    values: Values = frame["similarity"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return values


def comparisons_at(
    evaluation: Evaluation, fixed: pl.DataFrame, threads: int, progress: Progress
) -> pl.DataFrame:
    """Return comparisons of embeddings at one metric each, by the tests of ``evaluate``.

    Of ``fixed``, which are results on common pairs with each embedding once a set and statistic,
    the sets, statistics, embeddings and metrics count. Returned are ``COMPARISON_COLUMNS``.
    """
    resampling = resampling_of(evaluation.manifest.options, threads)
    rows: list[Row] = []
    for (name,), of_input in fixed.group_by("input", maintain_order=True):
        one = stored_input(evaluation, str(name))
        common = common_pairs(evaluation, one)
        chosen = of_input.select("embedding", "metric").unique().sort("embedding")
        models = [
            ScoredModel(
                embedding=embedding,
                metric=metric,
                similarities=similarities_of(
                    evaluation, scores_path(one.name, embedding, metric), one
                ).astype(np.float32),
                signature="",
            )
            for embedding, metric in chosen.iter_rows()
        ]
        statistics = set(of_input["statistic"])
        wanted = set(of_input.select(SET_COLUMNS).iter_rows())
        sets = [pair_set for pair_set in one.sets() if tuple(pair_set.named().values()) in wanted]
        if one.rated:
            warn_of_reach(models, resampling, progress)
        with progress.stage(f"compare embeddings on {name}") as stage:
            stage.total(len(sets))
            for pair_set in sets:
                where: Row = {"input": one.name, **pair_set.named()}
                found = fixed_comparisons(pair_set, common, models, statistics, resampling)
                rows += (where | row for row in found)
                stage.advance()
    return pl.DataFrame(rows, schema=COMPARISON_COLUMNS, orient="row")
