"""Computes the tables of Chiu et al. (2018): scores of models on rated pairs and on tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import counted
from medsim.core.tables import read_table
from medsim.evaluations.compare import compare
from medsim.evaluations.correlate import correlate
from medsim.evaluations.evaluate import evaluate
from medsim.pages.sentences import ALPHA
from medsim.papers.printed import printed_papers
from medsim.papers.published import PAPERS, Computed, Paper, Reproduced, files_of, scores_of
from medsim.papers.published.schulz_2020 import check_rated, rated_set
from medsim.tagging.page import CHIU_2018

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

_COSINES = ("avg_cos", "cos")
_NO_TASKS = "no scores of tasks were given; add --tasks"
_FIGURES = {("Bio-SimVerb", "count"): 1, ("Bio-SimLex", "count"): 2}
_FIGURES |= {("Bio-SimVerb", "topics"): 3, ("Bio-SimLex", "topics"): 4}
_THIRDS = 3
_SIZES = ("text 2 general", "text 2 biomedical", "text 3 size")


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


def computed(options: ReproduceOptions, out: Path) -> Reproduced:
    """Return what was computed.

    The paper compares cosines, and scores each model on the pairs that it covers.
    """
    check_rated(options.input_paths)
    shared: dict[str, Any] = {"threads": options.threads, "progress": options.progress}
    evaluation = evaluate(
        options.input_paths,
        options.models,
        out / ("results" if options.words is None else "results-by-words"),
        metrics=_COSINES,
        words=options.words,
        equal_parts=None if options.words is None else _THIRDS,
        seed=options.seed,
        cache=options.cache,
        **shared,
    )
    rated = compare(evaluation, table="rated", **shared)
    sizes = {rated_set(row["input"]): row["size"] for row in rated.iter_rows(named=True)}
    scores = compare(evaluation, table="spearman", subset="own", **shared).filter(
        pl.col("embedding") != "baseline", pl.col("value").is_not_null()
    )
    if options.phrases == "skipped":
        scores = _without_phrases(evaluation, scores)
    cells = {
        (row["embedding"], _column(row)): f"{row['value']:.3f} of {row['n_pairs']:,} pairs"
        for row in scores.iter_rows(named=True)
    }
    phrases = {
        "averaged": "the vectors of the words of a phrase are averaged. The paper's code looks up "
        "the whole phrase, and so covers 25 or 26 instead of 85 pairs of MayoSRS with GloVe",
        "skipped": "pairs with a phrase are skipped for word vectors, as in the paper's code",
    }
    return Reproduced(
        tables={
            **{
                table.name: Computed(
                    {(name, "Pairs"): f"{n:,}" for name, n in sizes.items() if name in table.rows},
                    "no such rated file was given, or this command does not compute it",
                )
                for table in printed_papers()["chiu-2018"].tables
                if table.name in _SIZES
            },
            "5": Computed(cells),
            **_of_tasks(options, scores),
            **_of_people(options),
            **_of_parts(options, evaluation),
        },
        inputs={
            **evaluation.manifest.inputs,
            **files_of([*filter(None, (options.tasks, options.words)), *options.pairs]),
            **files_of(options.people),
        },
        models=evaluation.manifest.embeddings,
        remarks={"Phrases": phrases[options.phrases or "averaged"]},
    )


def _without_phrases(evaluation: Evaluation, scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with those of averaged words on pairs of single words only."""
    similarities = evaluation.scores().filter(metric=_COSINES[0]).drop_nulls("similarity")
    single = evaluation.pairs().filter(~pl.concat_str("term1", "term2").str.contains(r"[\s-]"))
    of_words = (
        single.join(similarities, on=["input", "pair_id"])
        .group_by("input", "dataset", "embedding")
        .agg(
            value=pl.corr("similarity", "rating", method="spearman"),
            n_pairs=pl.len().cast(pl.Int64),
        )
        .collect()
    )
    keys = ["input", "dataset", "embedding"]
    of_words = of_words.join(scores, on=keys, how="semi")
    return pl.concat([scores.join(of_words, on=keys, how="anti"), of_words], how="diagonal")


def _of_tasks(options: ReproduceOptions, scores: pl.DataFrame) -> dict[str, Computed]:
    """Return table 6 and the number of its significant correlations."""
    if options.tasks is None:
        return {name: Computed(missing=_NO_TASKS) for name in ("6", "text 5 significance")}
    table = scores.with_columns(
        column=pl.struct("input", "dataset").map_elements(_column, pl.String)
    ).pivot("column", index="embedding", values="value")
    pairs = correlate(
        table.rename({"embedding": "model"}),
        options.tasks,
        correction="none",
        progress=options.progress,
    ).drop_nulls("r")
    cells = {
        (row["set"], row["task"]): f"{row['r']:.2f} (p = {row['p']:.2f})"
        for row in pairs.iter_rows(named=True)
    }
    n_significant = pairs.filter(pl.col("p") < ALPHA).height
    count = {("Table 6", "Significant correlations"): f"{n_significant or 'none'} of {len(cells)}"}
    missing = "the models and tasks that were given are those of one table"
    return {"6": Computed(cells), "text 5 significance": Computed(count, missing)}


def _of_people(options: ReproduceOptions) -> dict[str, Computed]:
    """Return the numbers on raters and on the choice of pairs."""
    agreement: Cells = {}
    for folder in options.people:
        rows = scores_of(Path(folder), "agreement", ("pairs", "raters", "iaa1", "iaa2"))
        *_, row = rows.filter(pairs="mean of groups").iter_rows(named=True)  # without outliers
        name = rated_set(Path(folder).name)
        agreement |= {(name, f"IAA-{n}"): f"{float(row[f'iaa{n}']):.2f}" for n in (1, 2)}
    quarters: Cells = {}
    for path in options.pairs:
        chosen = read_table(Path(path), ("domain", "associated")).frame
        for (domain, associated), rows in chosen.group_by("domain", "associated"):
            quarter = "associated" if str(associated).lower() == "true" else "unassociated"
            label = f"{str(domain).capitalize()}, {quarter}"
            quarters[label, rated_set(Path(path).stem)] = f"{rows.height:,}"
    return {
        "text 5 agreement": Computed(agreement, "no scores of a study were given; add --people"),
        "text 3 quarters": Computed(quarters, "no such pairs were given; add --pairs"),
    }


def _of_parts(options: ReproduceOptions, evaluation: Evaluation) -> dict[str, Computed]:
    """Return the scores on thirds of the sets, which figures show, and the sizes of these."""
    figures: dict[int, Cells] = {number: {} for number in _FIGURES.values()}
    missing = "no rated file or table of words gives such counts; add --words"
    if options.words is not None:
        parts = compare(evaluation, table="parts", subset="own", progress=options.progress)
        for row in parts.drop_nulls("value").iter_rows(named=True):
            number = _FIGURES.get((rated_set(row["input"]), row["part"]))
            if number is not None and row["embedding"] != "baseline":
                text = f"{row['value']:.3f} of {row['n_pairs']:,} pairs"
                figures[number][row["embedding"], str(row["part_value"])] = text
    return {f"figure {n}": Computed(cells, missing) for n, cells in figures.items()}


def _column(row: Mapping[str, str]) -> str:
    """Return the name of a rated set; files with several ratings have a set for each."""
    name = rated_set(row["input"])
    return name if row["dataset"] in ("mean", "score") else f"{name} {row['dataset']}"


PAPERS.register("chiu-2018", Paper(citation=CHIU_2018, steps=steps, computed=computed))
