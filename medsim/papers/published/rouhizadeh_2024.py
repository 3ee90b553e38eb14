"""Computes the tables of Rouhizadeh et al. (2024): the benchmark BioWiC, and scores of models."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import polars as pl

from medsim.builds.build import is_output
from medsim.core.errors import InputError, OptionError
from medsim.core.manifest import combined
from medsim.core.tables import read_table
from medsim.embeddings.options import EmbeddingLike
from medsim.papers.options import ReproduceOptions
from medsim.papers.printed import Cells, printed_papers
from medsim.papers.published import (
    PAPERS,
    Computed,
    Paper,
    Reproduced,
    check_earlier,
    files_of,
    name_and_date,
)
from medsim.wic.build import build_wic
from medsim.wic.describe import describe_wic
from medsim.wic.evaluate import evaluate_wic
from medsim.wic.models import model_of
from medsim.wic.output import ALL_INSTANCES, Benchmark, WicScores, split_files
from medsim.wic.page import ROUHIZADEH_2024

_Table: TypeAlias = Literal["1", "3", "figure-3", "4", "5"]
_ALWAYS: tuple[_Table, ...] = ("3", "4", "5")  # others need a folder of medsim wic build
_PUBLISHED = (".json", ".jsonl", ".parquet")
_LABELS = printed_papers()["rouhizadeh-2024"].labels
_TERMS = next(of for of in printed_papers()["rouhizadeh-2024"].tables if of.name == "4")
_CORPORA, _COLUMNS, _SEEN = (_LABELS[of] for of in ("corpora", "columns", "subsets"))


def computed(options: ReproduceOptions, out: Path) -> Reproduced:
    """Return what was computed."""
    if len(options.people) > 1:
        raise OptionError("`people` is one folder of scores for this paper")
    models = {name: _trained(model, name, options) for name, model in options.models.items()}
    data = _data(options, out)
    benchmark = data if isinstance(data, Benchmark) else None
    source = {} if benchmark is None else {**benchmark.manifest.terminology}
    other = "another terminology" if source and source["source"] != "umls" else ""
    if not other and not _is_biowic(describe_wic(data, table="4")):
        other = "another benchmark"
    tables: dict[str, Computed] = {}
    for name in _ALWAYS if benchmark is None else get_args(_Table):
        with suppress(OptionError):  # table 5 needs train and test
            cells = _cells(name, describe_wic(data, table=name, threads=options.threads))
            why, of_pairs = partial(_why, name, cells), "" if name == "1" else other
            tables[name.replace("-", " ")] = Computed(cells, why, of_pairs)
    if options.people:
        tables["text 4.2"] = Computed(_of_people(Path(options.people[0])), other=other)
    remarks = {"Benchmark": other or "BioWiC, by the numbers of its terms in table 4"}
    files = [] if benchmark else [*split_files(Path(str(data))).values()]
    inputs = files_of("split", *files)
    if benchmark is not None:
        about = benchmark.manifest
        remarks["Terminology"] = name_and_date(source, about.options.get("as_of"))
        inputs |= {str(corpus["name"]): {"kind": "corpus", **corpus} for corpus in about.corpora}
        digest = combined(about.outputs).fingerprint
        inputs["benchmark"] = {"kind": "benchmark", "options": about.options, "source": source}
        inputs["benchmark"] |= {"path": str(benchmark.folder), "fingerprint": digest}
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
        inputs |= {name: {"kind": "model", **of} for name, of in scores.manifest.models.items()}
        if "folds" in scores.manifest.fitted:
            other = other or "another split than test, cross-fitted"
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
    return {"6": Computed(cells, other=other), "figure 5": Computed(figure, other=other)}


def _of_people(folder: Path) -> Cells:
    """Return the agreement and the accuracy of people, from the scores of their study."""
    columns = ("annotator", "accuracy", "n_instances")
    *accuracies, mean = read_table(folder / "accuracy.csv", columns).frame.rows() or [()]
    if not accuracies:
        raise InputError(f"{folder / 'accuracy.csv'} has no rows; score the study again")
    agreements = read_table(folder / "agreement.csv", ("kappa", "n_pairs")).frame.rows()
    kappa, n_common = agreements[0] if agreements else ("", "")
    texts = {f"Accuracy, annotator {n}": row[1] for n, row in enumerate(accuracies, 1)}
    texts |= {"Accuracy, mean": mean[1], "Cohen's kappa": kappa}
    cells = {(row, "Value"): f"{float(text):.2f}" for row, text in texts.items() if text}
    cells["Annotators", "Value"] = str(len(accuracies))
    counts = {"Instances per annotator": accuracies[0][2], "Instances in common": n_common}
    return cells | {(row, "Value"): text for row, text in counts.items() if text}


def _data(options: ReproduceOptions, out: Path) -> str | Benchmark:
    """Return the published files or the benchmark that medsim built."""
    if options.terminology is None:
        published, *others = options.input_paths
        if others or (Path(published).is_file() and Path(published).suffix not in _PUBLISHED):
            raise OptionError("corpora need `terminology`; published files are one folder")
        return Benchmark(published) if is_output(published) else published
    check_earlier(options, out)
    if is_output(out / "wic"):
        return Benchmark(out / "wic")
    return build_wic(
        options.input_paths,
        options.terminology,
        out / "wic",
        seed=options.seed,
        threads=options.threads,
        progress=options.progress,
    )


def _why(table: str, cells: Cells, row: str, column: str) -> str:
    """Return why a cell of a table of the benchmark is missing."""
    known = {*chain(*cells)}
    for split in ("Train", "Dev", "Test"):
        if split in (row, column[: len(split)]) and not {split, f"{split} #"} & known:
            return f"give {split.lower()}.json"
    if row in _CORPORA.values():
        return f"give the corpus {row}"
    if table in ("3", "4") and "All" in row + column:
        return "give all splits"
    return "the benchmark has no such instances"


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
            head = _COLUMNS.get(text, text.capitalize())
            if has_shares:
                head += " %" if column != text else " #"
            if isinstance(row[column], float):
                cells[label_of_row, head] = f"{row[column]:.{0 if has_shares else 1}f}"
            elif row[column] is not None:
                cells[label_of_row, head] = str(row[column])
    return cells


def _is_biowic(rows: pl.DataFrame) -> bool:
    """Return whether dev, test or both have as many terms of each length as those of BioWiC."""
    counts = {at: n for at, n in _cells("4", rows).items() if at[1] in ("Dev #", "Test #")}
    return counts != {} and counts.items() <= _TERMS.printed.items()


PAPERS.register("rouhizadeh-2024", Paper(citation=ROUHIZADEH_2024, computed=computed))
