"""Computes the tables of Chiu et al. (2018): scores of models on rated pairs and on tasks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.tables import read_table
from medsim.core.terms import lowered
from medsim.evaluations.compare import compare
from medsim.evaluations.correlate import correlate
from medsim.evaluations.evaluate import evaluate
from medsim.evaluations.sets import whole_sets
from medsim.pages.sentences import ALPHA
from medsim.papers.printed import printed_papers
from medsim.papers.published import PAPERS, Computed, Paper, Reproduced, check_results, files_of
from medsim.papers.published.schulz_2020 import check_rated, rated_set
from medsim.tagging.page import CHIU_2018

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation
    from medsim.papers.options import ReproduceOptions
    from medsim.papers.printed import Cells

_COSINES = ("avg_cos", "cos")
_FIGURES = list(product(("count", "topics"), ("Bio-SimVerb", "Bio-SimLex")))
_SCORE = "{:.3f} of {:,} pairs"
_NO_FILE = "no such rated file was given, or files do not say it"
_ASSOCIATED = {"true": "associated", "false": "unassociated"}
_OWN = ("Bio-SimLex", "Bio-SimVerb")
_PHRASES = printed_papers()["chiu-2018"].labels["phrases"]


def computed(options: ReproduceOptions, out: Path) -> Reproduced:
    """Return what was computed.

    The paper compares cosines, and scores each model on the pairs that it covers.
    """
    check_rated(options.input_paths, options)
    results = out / ("results" if options.words is None else "results-by-words")
    check_results(results, options.input_paths, options)
    evaluation: Any = evaluate(
        options.input_paths,
        options.models,
        results,
        metrics=_COSINES,
        words=options.words,
        equal_parts=None if options.words is None else 3,
        seed=options.seed,
        threads=options.threads,
        cache=options.cache,
        progress=options.progress,
    )
    name = pl.struct("input", "dataset").map_elements(_column, pl.String)
    pairs = whole_sets(evaluation.pairs().collect()).with_columns(set=name)
    sizes: tuple[Cells, Cells] = ({}, {})  # of others and of the paper's own sets
    types: Cells = {}
    for (of,), frame in pairs.group_by("set", maintain_order=True):
        sizes[of in _OWN][str(of), "Pairs"] = f"{frame.height:,}"
        if of in _OWN:
            words = frame.unpivot(["term1", "term2"])["value"].to_list()
            types[str(of), "Word types"] = f"{len({*lowered(words)}):,}"
    is_single = ~pl.concat_str("term1", "term2").str.contains(r"[\s-]")
    is_scored = (pl.col("metric") != _COSINES[0]) | (options.phrases != "skipped") | is_single
    scores = (
        pairs.join(evaluation.scores().collect(), on=["input", "pair_id"])
        .drop_nulls("similarity")
        .filter(is_scored)
        .group_by("embedding", "set", maintain_order=True)
        .agg(pl.corr("similarity", "rating", method="spearman").alias("value"), pl.len())
        .drop_nans("value")
    )
    about = evaluation.manifest
    given = files_of(options.tasks, options.words, *options.pairs, *options.people)
    return Reproduced(
        tables={
            "text 1 types": Computed(types, _NO_FILE),
            "text 2 biomedical": Computed(sizes[0], _NO_FILE),
            "text 3 size": Computed(sizes[1], _NO_FILE),
            "5": Computed({row[:2]: _SCORE.format(*row[2:]) for row in scores.iter_rows()}),
            **_of_tasks(options, scores),
            **_of_people(options),
            **_of_parts(options, evaluation),
        },
        inputs={**about.inputs, **about.embeddings, **given},
        remarks={"Phrases": _PHRASES[options.phrases or "averaged"]},
    )


def _of_tasks(options: ReproduceOptions, scores: pl.DataFrame) -> dict[str, Computed]:
    """Return table 6 and the number of its significant correlations."""
    if options.tasks is None:
        return {"text 5 significance": Computed(missing="no scores of tasks were given")}
    table = scores.pivot("set", index="embedding", values="value").rename({"embedding": "model"})
    pairs = correlate(table, options.tasks, correction="none", progress=options.progress)
    tested = pairs.drop_nulls("r").select("set", "task", "r", "p")
    cells = {(of, task): f"{r:.2f} (p = {p:.2f})" for of, task, r, p in tested.iter_rows()}
    n_significant = tested.filter(pl.col("p") < ALPHA).height
    count = {("Table 6", "Significant correlations"): f"{n_significant or 'none'} of {len(cells)}"}
    missing = "the models and tasks that were given are those of one table"
    return {"6": Computed(cells), "text 5 significance": Computed(count, missing)}


def _of_people(options: ReproduceOptions) -> dict[str, Computed]:
    """Return the numbers on raters and on the choice of pairs."""
    agreement: Cells = {}
    for folder in options.people:
        rows = read_table(Path(folder, "agreement.csv"), ("pairs", "iaa1", "iaa2")).frame
        means = rows.filter(pairs="mean of groups").rows() or rows.rows()  # a study of one group
        if (name := rated_set(Path(folder).name)) in {of for of, _ in agreement}:
            raise OptionError(f"`people` has two folders of {name}; give one of them")
        for label, text in zip(("IAA-1", "IAA-2"), means[-1][1:] if means else (), strict=False):
            if text:  # without outliers
                agreement[name, label] = f"{float(text):.2f}"
    quarters: Cells = {}
    for path in options.pairs:
        chosen = read_table(Path(path), ("domain", "associated")).frame
        for domain, associated, n in chosen.group_by(chosen.columns).len().iter_rows():
            if associated.lower() not in _ASSOCIATED:
                raise InputError(f"{path}: associated is {associated!r}, not true or false")
            kind = _ASSOCIATED[associated.lower()]
            quarters[f"{domain.capitalize()}, {kind}", rated_set(Path(path).stem)] = f"{n:,}"
        n_general = chosen.filter(domain="general").height
        quarters["General, all", rated_set(Path(path).stem)] = f"{n_general:,}"
    return {
        "text 5 agreement": Computed(agreement, "no scores of a study were given"),
        "text 3 quarters": Computed(quarters, "no such pairs were given"),
    }


def _of_parts(options: ReproduceOptions, evaluation: Evaluation) -> dict[str, Computed]:
    """Return the scores on thirds of the sets, which figures show, and the sizes of these."""
    figures: dict[tuple[str, str], Cells] = {figure: {} for figure in _FIGURES}
    missing = "no rated file or table of words gives such counts"
    if options.words is not None:
        parts = compare(evaluation, table="parts", subset="own", progress=options.progress)
        for row in parts.drop_nulls("value").iter_rows(named=True):
            figure = row["part"], rated_set(row["input"])
            if figure in figures and row["embedding"] != "baseline":
                score = _SCORE.format(row["value"], row["n_pairs"])
                figures[figure][row["embedding"], row["part_value"]] = score
    return {f"figure {n}": Computed(of, missing) for n, of in enumerate(figures.values(), 1)}


def _column(row: Mapping[str, str]) -> str:
    """Return the name of a rated set; files with several ratings have a set for each."""
    name = rated_set(row["input"])
    return name if row["dataset"] in ("mean", "score") else f"{name} {row['dataset']}"


PAPERS.register("chiu-2018", Paper(citation=CHIU_2018, computed=computed))
