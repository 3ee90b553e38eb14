"""Computes the tables of Rouhizadeh et al. (2024): the benchmark BioWiC, and scores of models."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from medsim.builds.build import is_output
from medsim.core.errors import InputError, OptionError
from medsim.core.files import digest_of
from medsim.core.tables import read_table
from medsim.papers.printed import Cells, printed_papers
from medsim.papers.published import (
    PAPERS,
    Computed,
    Paper,
    Reproduced,
    check_seed,
    files_of,
    name_and_date,
)
from medsim.wic.build import build_wic
from medsim.wic.describe import describe_wic
from medsim.wic.evaluate import evaluate_wic
from medsim.wic.models import model_of
from medsim.wic.output import ALL_INSTANCES, Benchmark, WicScores, split_files
from medsim.wic.page import ROUHIZADEH_2024

if TYPE_CHECKING:
    from medsim.embeddings.options import EmbeddingLike
    from medsim.papers.options import ReproduceOptions

_Table: TypeAlias = Literal["1", "3", "figure-3", "4", "5"]
_PUBLISHED = (".json", ".jsonl", ".parquet")
_LABELS = printed_papers()["rouhizadeh-2024"].labels
_CORPORA, _COLUMNS, _SEEN = (_LABELS[of] for of in ("corpora", "columns", "subsets"))


def computed(options: ReproduceOptions, out: Path) -> Reproduced:
    """Return what was computed."""
    if len(options.people) > 1:
        raise OptionError("`people` is one folder of scores for this paper")
    models = {name: _trained(model, name, options) for name, model in options.models.items()}
    data = _data(options, out / "wic")
    benchmark = data if isinstance(data, Benchmark) else None
    source = {} if benchmark is None else {**benchmark.manifest.terminology}
    other = "another terminology" if source and source["source"] != "umls" else ""
    tables = dict.fromkeys(("6", "figure 5"), Computed(missing="no embeddings were given"))
    for name in get_args(_Table):
        label = name.replace("-", " ")
        try:
            rows = describe_wic(data, table=name, threads=options.threads)
        except OptionError as error:
            tables[label] = Computed(missing=str(error))
        else:
            of_pairs = "" if name == "1" else other
            tables[label] = Computed(cells := _cells(name, rows), partial(_why, cells), of_pairs)
    tables["text 4.2"] = Computed(missing="no scores of a study were given")
    if options.people:
        tables["text 4.2"] = Computed(_of_people(Path(options.people[0])), "no such annotator")
    remarks = {"Terminology": name_and_date(source)} if source else {}
    files = [] if benchmark else [*split_files(Path(str(data))).values()]
    inputs = files_of(*options.people, *files)
    if benchmark is not None:
        inputs |= {str(corpus["name"]): corpus for corpus in benchmark.manifest.corpora}
        inputs["benchmark"] = {"options": benchmark.manifest.options, "source": source}
    if models:
        scores = evaluate_wic(
            data if benchmark or len(files) > 1 else files[0],  # a single split is cross-fitted
            out / "scores",
            models={"random": "random", **models},
            people=options.people[0] if options.people else None,
            seed=options.seed,
            threads=options.threads,
            cache=options.cache,
            overwrite=True,
            progress=options.progress,
        )
        inputs |= scores.manifest.models
        if "folds" in scores.manifest.fitted:
            other = "another split than test, cross-fitted"
            remarks["Thresholds"] = "cross-fitted on the only split that was given."
        tables |= _of_models(scores, other)
    return Reproduced(
        tables=tables,
        sources={str(source["name"]): source} if source else {},
        inputs=inputs,
        remarks=remarks,
    )


def _trained(model: EmbeddingLike, name: str, options: ReproduceOptions) -> EmbeddingLike:
    """Return a model, to be fine-tuned if it is a transformer and that is asked for."""
    known = model_of(model, name)  # before the slow steps
    is_path = isinstance(model, (str, Path)) and known.way == "cosine"
    return f"{model!s},tune=yes" if options.train and is_path else model


def _of_models(scores: WicScores, other: str) -> dict[str, Computed]:
    """Return table 6 and figure 5, with models under the names of what they are."""
    labels = {
        name: name if facts["way"] in ("coin", "fine-tuned") else f"{name} ({facts['way']})"
        for name, facts in scores.manifest.models.items()
    }
    rows = scores.results().select("model", "subset", "accuracy")
    cells = {
        (labels[model], _SEEN[subset]): f"{accuracy:.2f}"
        for model, subset, accuracy in rows.iter_rows()
        if subset in _SEEN
    }
    whole = rows.filter(pl.col("subset") == ALL_INSTANCES, pl.col("model") != "random")
    figure = {
        (labels[model], "Fine-tuned" if labels[model] == model else "Accuracy"): f"{accuracy:.2f}"
        for model, _, accuracy in whole.iter_rows()
    }
    for summary in ("min", "mean", "median", "max"):
        value = whole.select(getattr(pl.col("accuracy"), summary)()).item()
        figure[f"{summary} of all models", "Accuracy"] = f"{value:.2f}"
    missing = "no model of this name was fine-tuned or asked, or it needs the data of WiC"
    return {name: Computed(of, missing, other) for name, of in (("6", cells), ("figure 5", figure))}


def _of_people(folder: Path) -> Cells:
    """Return the agreement and the accuracy of people, from the scores of their study."""
    accuracies = read_table(folder / "accuracy.csv", ("annotator", "accuracy")).frame.rows()
    if not accuracies:
        raise InputError(f"{folder / 'accuracy.csv'} has no rows; score the study again")
    kappa = read_table(folder / "agreement.csv", ("kappa",)).frame["kappa"].drop_nulls()
    texts = {f"Accuracy, annotator {n}": text for n, (_, text) in enumerate(accuracies[:-1], 1)}
    texts |= {"Accuracy, mean": accuracies[-1][1], "Cohen's kappa": kappa[0] if len(kappa) else ""}
    return {(row, "Value"): f"{float(text):.2f}" for row, text in texts.items() if text}


def _data(options: ReproduceOptions, folder: Path) -> str | Benchmark:
    """Return the published files or the benchmark that medsim built."""
    if options.terminology is None:
        published, *others = options.input_paths
        if others or (Path(published).is_file() and Path(published).suffix not in _PUBLISHED):
            raise OptionError("corpora need `terminology`; published files are one folder")
        return Benchmark(published) if is_output(published) else published
    if is_output(folder):
        check_seed(made := Benchmark(folder), options)
        files = {corpus["sha256"] for corpus in made.manifest.corpora}
        is_same = files == {*map(digest_of, map(Path, options.input_paths))}
        if not is_same or made.manifest.terminology["name"] != Path(options.terminology).name:
            raise OptionError(f"{folder} is of other corpora; name another `out`")
        return made
    return build_wic(
        options.input_paths,
        options.terminology,
        folder,
        seed=options.seed,
        threads=options.threads,
        progress=options.progress,
    )


def _why(cells: Cells, row: str, column: str) -> str:
    """Return why a cell of a table of the benchmark is missing."""
    known = {*chain(*cells)}
    for split in ("Train", "Dev", "Test"):
        if split in (row, column[: len(split)]) and not {split, f"{split} #"} & known:
            return f"give {split.lower()}.json"
    if row in _CORPORA.values():
        return f"the corpus {row} was not given"
    if column.startswith(("Unique CUIs", "Unique semantic")):
        return "it needs a benchmark built with UMLS"
    if "All" in row + column and not {"Train", "Train #"} & known:
        return "give all splits"
    return "medsim does not compute it from what was given"


def _cells(table: str, rows: pl.DataFrame) -> Cells:
    """Return a table of ``describe_wic`` with the paper's labels."""
    if table == "1":  # the paper counts sentences with an annotation
        rows = rows.drop("sentences").rename({"sentences with a mention": "sentences"})
    label, *columns = rows.columns
    has_shares = any(column.endswith(" %") for column in columns)
    cells = {}
    for row in rows.iter_rows(named=True):
        name = str(row[label])
        corpora = (corpus for key, corpus in _CORPORA.items() if key in name.lower())
        label_of_row = next(corpora, name) if table == "1" else name.capitalize()
        for column in columns:
            text = column.removesuffix(" %")
            head = _COLUMNS.get(text, text.capitalize()) if table != "5" else text.capitalize()
            if has_shares:
                head += " %" if column != text else " #"
            if row[column] is not None:
                is_whole = isinstance(row[column], int)
                number = f"{row[column]:,}" if is_whole else row[column]
                cells[label_of_row, head] = number if isinstance(number, str) else f"{number:.1f}"
    return cells


PAPERS.register("rouhizadeh-2024", Paper(citation=ROUHIZADEH_2024, computed=computed))
