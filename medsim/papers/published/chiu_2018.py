"""Computes the tables of Chiu et al. (2018): scores of models on rated pairs and on tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import counted
from medsim.evaluations.compare import compare
from medsim.evaluations.correlate import correlate
from medsim.evaluations.evaluate import evaluate
from medsim.papers.published import PAPERS, Computed, Facts, Paper
from medsim.papers.published.schulz_2020 import check_rated, rated_set
from medsim.tagging.page import CHIU_2018

if TYPE_CHECKING:
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

_COSINES = ("avg_cos", "cos")
_NO_TASKS = "no scores of tasks were given; add --tasks"


def steps(options: ReproduceOptions) -> list[str]:
    """Return what will be done."""
    models = counted(len(options.models), "embedding")
    rated = counted(len(options.input_paths), "rated file")
    return [
        f"evaluate {models} on {rated} (a minute for word vectors)",
        "correlate the scores with those of the tasks, and compute the tables"
        if options.tasks
        else "compute the tables",
    ]


def computed(options: ReproduceOptions, out: Path) -> tuple[dict[str, Computed], Facts]:
    """Return the computed tables by name, and no facts about a terminology.

    The paper compares cosines, and scores each model on the pairs that it covers.
    """
    check_rated(options.input_paths)
    shared: dict[str, Any] = {"threads": options.threads, "progress": options.progress}
    evaluation = evaluate(
        options.input_paths,
        options.models,
        out / "results",
        metrics=_COSINES,
        seed=options.seed,
        cache=options.cache,
        **shared,
    )
    rated = compare(evaluation, table="rated", **shared)
    sizes = {rated_set(row["input"]): row["size"] for row in rated.iter_rows(named=True)}
    scores = compare(evaluation, table="spearman", subset="own", **shared).filter(
        pl.col("embedding") != "baseline", pl.col("value").is_not_null()
    )
    cells: Cells = {
        (row["embedding"], _column(row)): f"{row['value']:.3f} of {row['n_pairs']:,} pairs"
        for row in scores.iter_rows(named=True)
    }
    tables = {
        "text 3 size": Computed({(name, "Pairs"): f"{size:,}" for name, size in sizes.items()}),
        "5": Computed(cells),
        "6": Computed(missing=_NO_TASKS),
    }
    if options.tasks is not None:
        table = scores.with_columns(
            column=pl.struct("input", "dataset").map_elements(_column, pl.String)
        ).pivot("column", index="embedding", values="value")
        pairs = correlate(
            table.rename({"embedding": "model"}), options.tasks, progress=options.progress
        )
        tables["6"] = Computed(
            {
                (row["set"], row["task"]): f"{row['r']:.2f}"
                for row in pairs.drop_nulls("r").iter_rows(named=True)
            }
        )
    return tables, {}


def _column(row: dict[str, str]) -> str:
    """Return the name of a rated set; files with several ratings have a set for each."""
    name = rated_set(row["input"])
    return name if row["dataset"] in ("mean", "score") else f"{name} {row['dataset']}"


PAPERS.register("chiu-2018", Paper(citation=CHIU_2018, steps=steps, computed=computed))
