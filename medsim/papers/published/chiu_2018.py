"""Computes the tables of Chiu et al. (2018): scores of models on rated pairs and on tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from medsim.core.errors import InputError, OptionError, listed
from medsim.core.progress import progress_of
from medsim.core.tables import read_table
from medsim.core.terms import lowered
from medsim.evaluations.compare import compare
from medsim.evaluations.correlate import correlate, read_model_scores
from medsim.evaluations.evaluate import evaluate
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.sets import whole_sets
from medsim.pages.sentences import ALPHA
from medsim.papers import published
from medsim.papers.printed import printed_papers
from medsim.papers.published.schulz_2020 import check_rated, rated_set
from medsim.statistics.estimates import FEWEST_FOR_TEST
from medsim.studies.options import DomainsOptions
from medsim.studies.words import kept_words, read_frequencies
from medsim.tagging.page import CHIU_2018

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation
    from medsim.papers.options import ReproduceOptions

_Numbers: TypeAlias = dict[tuple[str, str, str], object]
"""Cells by table, row and column: texts, or numbers that are counted."""

_COSINES = ("avg_cos", "cos")
_FIGURES = list(product(("count", "topics"), ("Bio-SimVerb", "Bio-SimLex")))
_SCORES = {"6": "5", "8": "7", "9": "5"}  # the tables of scores of tables of correlations
_WINDOW = re.compile(r"win(dow)?\W*\d", re.IGNORECASE)
_CLASSES = {"Bio-SimLex": "Nouns", "Bio-SimVerb": "Verbs"}
_PAPER = printed_papers()["chiu-2018"]
_MODELS, _PHRASES = (_PAPER.labels[of] for of in ("models", "phrases"))


def computed(options: ReproduceOptions, out: Path) -> published.Reproduced:
    """Return what was computed.

    The paper compares cosines, and scores each model on the pairs that it covers.
    """
    check_rated(options.input_paths, options)
    published.check_earlier(options, out)
    numbers = _of_people(options.people)
    for path in map(Path, options.pairs):
        numbers |= _counted("pairs", path, rated_set(path.stem))
    given = options.values_for(EvaluateOptions)
    given["out"] = out / ("results" if options.words is None else "results-by-words")
    equal_parts = None if options.words is None else 3
    evaluation: Any = evaluate(**given, metrics=_COSINES, equal_parts=equal_parts)
    name = pl.struct("input", "dataset").map_elements(_column, pl.String)
    pairs = whole_sets(evaluation.pairs().collect()).with_columns(set=name)
    for (of,), frame in pairs.group_by("set", maintain_order=True):
        table = "text 3 size" if of in _CLASSES else "text 2 biomedical"
        numbers[table, str(of), "Pairs"] = frame.height
        if of in _CLASSES:
            words = frame.unpivot(["term1", "term2"])["value"].to_list()
            numbers["text 1 types", str(of), "Word types"] = len({*lowered(words)})
    is_single = ~pl.concat_str("term1", "term2").str.contains(r"[\s-]")
    is_scored = (pl.col("metric") != _COSINES[0]) | (options.phrases != "skipped") | is_single
    scores = (
        pairs.join(evaluation.scores().collect(), on=["input", "pair_id"])
        .drop_nulls("similarity")
        .filter(is_scored)
        .group_by(pl.col("embedding").alias("model"), "set", maintain_order=True)
        .agg(pl.corr("similarity", "rating", method="spearman").alias("value"), pl.len())
        .drop_nans("value")
    )
    for model, of, value, n in scores.iter_rows():
        numbers |= _scored(_SCORES[_table_of(model)], model, of, value, n)
    if options.tasks is not None:
        numbers |= _of_tasks(options, scores)
    if options.words is not None:
        numbers |= _of_words(Path(options.words)) | _of_parts(options, evaluation)
    tables: dict[str, published.Computed] = {}
    for (table, row, column), cell in numbers.items():
        text = f"{cell:,}" if isinstance(cell, int) else str(cell)
        tables.setdefault(table, published.Computed()).cells[row, column] = text
    about = evaluation.manifest
    whole = [name for name, of in about.embeddings.items() if _COSINES[0] not in of["metrics"]]
    phrases = [_PHRASES[options.phrases or "averaged"]] * (len(whole) < len(about.embeddings))
    phrases += [f"{listed(whole)}: {_PHRASES['whole']}"] if whole else []
    return published.Reproduced(
        tables=tables,
        inputs={**about.inputs, **about.embeddings},
        remarks={"Phrases": " ".join(phrases)},
    )


def _of_tasks(options: ReproduceOptions, scores: pl.DataFrame) -> _Numbers:
    """Return tables 6, 8 and 9, each of the models that belong to it, and what they show."""
    numbers: _Numbers = {}
    tasks = read_model_scores(str(options.tasks), progress_of(options.progress))
    sides = [side.pivot("set", index="model", values="value") for side in (scores, tasks)]
    for table in _SCORES:
        is_of = pl.col("model").map_elements(_table_of, pl.String) == table
        models, tasks_of = (side.filter(is_of) for side in sides)
        if models.join(tasks_of, on="model").height < FEWEST_FOR_TEST:
            continue
        tests = correlate(models, tasks_of, correction="none", progress=options.progress)
        for of, task, r, p in tests.drop_nulls("r").select("set", "task", "r", "p").iter_rows():
            numbers[table, of, task] = f"{r:.2f}"
            numbers[table, of, f"{task}, p"] = f"{p:.3f}"
        count = f"{tests.filter(pl.col('p') < ALPHA).height or 'none'} of {tests['r'].count()}"
        numbers["text 5 significance", f"Table {table}", "Significant correlations"] = count
    return numbers


def _table_of(model: str) -> str:
    """Return the number of the table of correlations that a model belongs to, by its name."""
    return "8" if _WINDOW.search(model) else _MODELS.get(model, "6")


def _scored(table: str, row: str, column: str, value: float, n_pairs: int) -> _Numbers:
    """Return the cells of a score: its value, and the number of its pairs."""
    return {(table, row, column): f"{value:.3f}", (table, row, f"{column}, pairs"): n_pairs}


def _of_people(folders: Sequence[str | Path]) -> _Numbers:
    """Return the numbers in the scores of studies on domains, associations and ratings."""
    numbers: _Numbers = {}
    for folder in map(Path, folders):
        name = rated_set(folder.name)
        kinds = [kind for kind in ("domains", "confirmed") if (folder / f"{kind}.csv").is_file()]
        found = _counted(kinds[0], folder, _CLASSES.get(name, name)) if kinds else {}
        if not kinds:
            agreement = read_table(folder / "agreement.csv", ("pairs", "iaa1", "iaa2")).frame
            means = agreement.filter(pairs="mean of groups").rows() or agreement.rows()
            for label, text in zip(("IAA-1", "IAA-2"), means[-1][1:], strict=True):
                if text:  # without outliers; of one group, a study has no mean
                    found["text 5 agreement", name, label] = f"{float(text):.2f}"
        if {key for key in found if key[2] != "Value"} & numbers.keys():
            raise OptionError(f"`people` has two folders of {name}; give one of them")
        numbers |= found
    return numbers


def _counted(kind: str, path: Path, of: str) -> _Numbers:
    """Return how many rows of a file, or files of a folder, have the values that are counted."""
    numbers: _Numbers = {}
    for place, (file, columns, values) in _PAPER.counted[kind].items():
        rows = read_table(path / file, (*columns, *values)).frame
        has_values = [pl.col(name).str.contains(f"(?i)^{text}$") for name, text in values.items()]
        table, row, column = (*place.split(": "), of)[:3]
        numbers[table, row, column] = rows.filter(*has_values).select(columns).n_unique()
    if not any(numbers.values()):
        raise InputError(f"{path} has no row with a value that is counted, such as true")
    return numbers


def _of_words(path: Path) -> _Numbers:
    """Return the numbers of words before and after the filters of ``medsim study domains``."""
    numbers: _Numbers = {}
    topics: set[str] = set()
    for word_class, column in (("noun", "Nouns"), ("verb", "Verbs")):
        with suppress(InputError, OptionError):  # no such class, or no lemmas
            rows = read_frequencies(path, word_class)
            numbers["text 3 filters", "Before filters", column] = rows["word"].n_unique()
            if rows["topics"].dtype == pl.List(pl.String):
                topics |= {*rows["topics"].explode().drop_nulls()}
                numbers["text 3 frequency", "Broad Subject Terms", "Value"] = len(topics)
            options = DomainsOptions(words=path, out="", word_class=word_class)
            numbers["text 3 filters", "After filters", column] = kept_words(options).frame.height
    return numbers


def _of_parts(options: ReproduceOptions, evaluation: Evaluation) -> _Numbers:
    """Return the scores on thirds of the sets, which figures show, and the sizes of these."""
    numbers: _Numbers = {}
    parts = compare(evaluation, table="parts", subset="own", progress=options.progress)
    for row in parts.drop_nulls("value").iter_rows(named=True):
        figure = row["part"], rated_set(row["input"])
        if figure in _FIGURES and row["embedding"] != "baseline":
            at = f"figure {_FIGURES.index(figure) + 1}", row["embedding"], row["part_value"]
            numbers |= _scored(*at, row["value"], row["n_pairs"])
    return numbers


def _column(row: Mapping[str, str]) -> str:
    """Return the name of a rated set; files with several ratings have a set for each."""
    name = rated_set(row["input"])
    return name if row["dataset"] in ("mean", "score") else f"{name} {row['dataset']}"


published.PAPERS.register("chiu-2018", published.Paper(citation=CHIU_2018, computed=computed))
