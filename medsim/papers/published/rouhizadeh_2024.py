"""Computes the tables of Rouhizadeh et al. (2024): the benchmark BioWiC, and scores of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from medsim.builds.build import is_output
from medsim.core.errors import OptionError, counted
from medsim.papers.printed import Cells, printed_papers
from medsim.papers.published import PAPERS, Computed, Facts, Paper
from medsim.wic.build import build_wic
from medsim.wic.describe import describe_wic
from medsim.wic.evaluate import evaluate_wic
from medsim.wic.models import model_of
from medsim.wic.output import Benchmark
from medsim.wic.page import ROUHIZADEH_2024

if TYPE_CHECKING:
    from medsim.papers.options import ReproduceOptions

_Table: TypeAlias = Literal["1", "3", "figure-3", "4", "5"]
_PUBLISHED = (".json", ".jsonl", ".parquet")
_LABELS = printed_papers()["rouhizadeh-2024"].labels
_CORPORA, _COLUMNS, _SEEN = (_LABELS[of] for of in ("corpora", "columns", "subsets"))
_NOT_COUNTED = "this needs another corpus, a built benchmark, UMLS, or is not counted by medsim"


def steps(options: ReproduceOptions) -> list[str]:
    """Return what will be done."""
    made = f"build words in context with {options.terminology} (2 minutes)"
    models = counted(len(options.models), "embedding")
    scored = [f"score {models} and a random model (a minute for word vectors)"]
    return [
        made if options.terminology is not None else "read the published files",
        *(scored if options.models else []),
        "compute the tables",
    ]


def computed(options: ReproduceOptions, out: Path) -> tuple[dict[str, Computed], Facts]:
    """Return the computed tables by name, and the facts about the terminology."""
    for name, model in options.models.items():
        model_of(model, name)  # before the slow steps
    data, sources = _data(options, out / "wic")
    tables = {"6": Computed(missing="no embeddings were given")}
    for name in get_args(_Table):
        try:
            rows = describe_wic(data, table=name, threads=options.threads)
        except OptionError as error:
            tables[name.replace("-", " ")] = Computed(missing=str(error))
        else:
            tables[name.replace("-", " ")] = Computed(_cells(name, rows), _NOT_COUNTED)
    if options.models:
        scores = evaluate_wic(
            data,
            out / "scores",
            models={"random": "random", **options.models},
            seed=options.seed,
            threads=options.threads,
            cache=options.cache,
            overwrite=True,
            progress=options.progress,
        )
        rows = scores.results().filter(pl.col("subset").is_in(list(_SEEN)))
        cells = {
            (row["model"], _SEEN[row["subset"]]): f"{row['accuracy']:.2f}"
            for row in rows.iter_rows(named=True)
        }
        tables["6"] = Computed(cells, "no model of this name was given, or it needs WiC's data")
    return tables, sources


def _data(options: ReproduceOptions, folder: Path) -> tuple[str | Benchmark, Facts]:
    """Return the published files or the benchmark, and the facts about its terminology."""
    if options.terminology is None:
        published, *others = options.input_paths
        if others or (Path(published).is_file() and Path(published).suffix not in _PUBLISHED):
            raise OptionError("corpora need `terminology`; published files are one folder")
        return published, {}
    if is_output(folder):
        benchmark = Benchmark(folder)
    else:
        benchmark = build_wic(
            options.input_paths,
            options.terminology,
            folder,
            seed=options.seed,
            threads=options.threads,
            progress=options.progress,
        )
    return benchmark, {options.terminology: {**benchmark.manifest.terminology}}


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


PAPERS.register("rouhizadeh-2024", Paper(citation=ROUHIZADEH_2024, steps=steps, computed=computed))
