"""Computes the tables of Schulz and Juric (2020)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from medsim.builds.build import build, is_output
from medsim.builds.options import BuildOptions
from medsim.builds.output import Build
from medsim.builds.stats import table_2
from medsim.core.errors import InputError, OptionError
from medsim.core.shown import MISSING
from medsim.embeddings.embedded_terms import open_source
from medsim.embeddings.options import embedding_spec
from medsim.evaluations.compare import compare
from medsim.evaluations.evaluate import evaluate
from medsim.evaluations.layouts import parse_rated
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.ratings import read_rated
from medsim.evaluations.readable import readable_tables
from medsim.evaluations.separation import RF2_CATEGORIES
from medsim.pages.page import SCHULZ_2020, format_value
from medsim.pages.readable import rounded
from medsim.papers.options import PUBLISHED, ReproduceOptions
from medsim.papers.printed import Cells, printed_papers
from medsim.papers.published import (
    PAPERS,
    Computed,
    Paper,
    Reproduced,
    check_earlier,
    name_and_date,
)
from medsim.studies.asking import sample_study
from medsim.studies.score import score_study
from medsim.terminologies.sources import find_source

_PRINTED = printed_papers()["schulz-2020"]
_DATASETS, _METRICS, _KINDS = (_PRINTED.labels[of] for of in ("datasets", "metrics", "ratings"))
_RATED = ("Hliaoutakis", "MiniMayoSRS", "MayoSRS", "Bio-SimLex", "Bio-SimVerb")
_CATEGORIES = "DP,TP DP,Org TP,Org DP,DP TP,TP Org,Org"  # of similarities
_TABLES = {table.name: table for table in _PRINTED.tables}
_NAMES = {row for name in ("5", "6", "A.1", "D.1") for row in _TABLES[name].rows}  # of embeddings
_OF_COMPARE = [name for name in _TABLES if not name.startswith("text") and name not in ("2", "3")]
_PERCENT = partial(re.compile(r"^0\.\d+|^1\.0+").sub, lambda score: f"{100 * float(score[0]):.1f}")
_WHOLE = partial(re.compile(r"\d+\.\d+").sub, lambda share: f"{float(share[0]):.0f}")
_CENTS = partial(re.compile(r"(?<=\.\d\d)0\b").sub, "")
_ROUNDED = dict.fromkeys(("4", "B.1", "C.2", "C.3"), _CENTS)  # correlations and AUC
_UNITS = {"5": _PERCENT, "C.1": _PERCENT, "1": _WHOLE, "A.1": _WHOLE, **_ROUNDED}
_STANDINGS = ("B.2", "B.3", "B.4", "B.5", "C.4", "C.5", "C.6", "C.7", "C.8")  # some embeddings each
_WITH_OTHERS = ("B.2", "C.4")  # those of them with embeddings of other names
_ORDER = "none pair_cos pair_r pair_rho pair_tau fJ mJ avg_cos avg_r avg_rho avg_tau cos r rho tau"
_SPELLINGS = {**_DATASETS, **_METRICS}
_WORDS = re.compile("|".join(_SPELLINGS))
_printed = partial(_WORDS.sub, lambda match: _SPELLINGS[match[0]])
_SIZE = re.compile(r"([\d,]+) of ([\d,]+)")
_COUNTS = re.compile(r"((?<=\d) \w+)? \+(\d+)\u2212(\d+)")
_MISSING = _PRINTED.labels["missing"]
_NO_CATEGORIES = "; evaluate with `separation`", _MISSING["categories"]


def computed(options: ReproduceOptions, out: Path) -> Reproduced:
    """Return what was computed."""
    release, *rated = options.input_paths
    check_rated(rated, options)
    check_earlier(options, out)
    shared: dict[str, Any] = {"threads": options.threads, "progress": options.progress}
    built = _built(release, out / "build", options)
    concepts, study = built.read("terminology/concept.parquet", ["concept_id"]), out / "study"
    if not is_output(study):
        sample_study(built, study, seed=options.seed, progress=options.progress)
    source = built.manifest.source
    other = "" if source["release_date"] == PUBLISHED.isoformat() else "another release"
    if source["source"] != "rf2" or source["redistributable"]:  # SNOMED CT is licensed
        other = "another terminology"
    sets = table_2(built)
    share = {("Multi-word terms", "Value"): f"{sets['multi_word'][-1]:.0%}"}
    tables = {"2": Computed(cells := _of_build(sets), _MISSING["2"], other)}
    tables["text 3.2"] = Computed(share, other=other)
    given = {row for (row, column), text in cells.items() if column == "Size" and text != "0"}
    given |= {*map(_embedding, options.models)}
    if options.answers is None:
        reason = f"no answers were given; have {study}/annotators judged, then use --answers"
        tables["3"] = Computed(missing=reason)
    else:
        scores = score_study(study, [options.answers], **shared).table()
        tables["3"] = Computed(_of_study(scores), "too few answers, or all are equal", other)
    asked = {"inputs": [built.folder, *rated], "out": out / "results", "independent_pairs": True}
    asked["separation"] = {*RF2_CATEGORIES} <= {*concepts["concept_id"]}
    evaluation: Any = evaluate(**options.values_for(EvaluateOptions) | asked)
    for name in _OF_COMPARE:
        try:
            rows = compare(evaluation, table=name, **shared)
        except InputError as error:
            reason = str(error).replace(str(evaluation.folder), "the evaluation")
            tables[name] = Computed(missing=reason.replace(*_NO_CATEGORIES))
        else:
            cells = _cells(name, rows)
            of_pairs = other if name[0] not in "14B" and name not in ("A.2", "figure B.1") else ""
            tables[name] = Computed(cells, partial(_why, name, cells, given), of_pairs)
    return Reproduced(
        tables=tables,
        sources={str(source["name"]): {**source}},
        inputs={**evaluation.manifest.inputs, **evaluation.manifest.embeddings},
        remarks=_remarks(built, other),
    )


def _remarks(built: Build, other: str) -> dict[str, str]:
    """Return what the build is, and how its options and rules differ from the paper's."""
    source, made = built.manifest.source, built.manifest.options
    free = {name: made.get(name) for name in ("seed", "as_of")}
    standard = {**BuildOptions(as_published=True).recorded(), **free}
    names = (name for name in {**standard, **made} if made.get(name) != standard.get(name))
    unlike = {name: made.get(name, "none") for name in names}
    return {
        "Terminology": f"{name_and_date(source, made.get('as_of'))} ({other or 'as printed'})",
        "Build": f"not made as published: {format_value(unlike)}" if unlike else "as published",
        "Rules of the authors' code": ", ".join(built.options.published_rules) or "none applied",
    }


def _why(table: str, cells: Cells, given: Collection[str], row: str, column: str) -> str:
    """Return why a cell of a table of ``compare`` is missing; sets with pairs are given too."""
    known = {*chain(*cells), "Subset Size", *given}
    if column in _TABLES["2"].rows and column not in known:
        return _MISSING["2"]
    if table != "1" and (row not in known or (column in _NAMES and column not in known)):
        return "give an embedding of this name"
    if table[0] in "14B" and not {row, column} <= known:
        return "give this rated file"
    return _MISSING.get(table, _MISSING[""])


def _built(release: str, folder: Path, options: ReproduceOptions) -> Build:
    """Return the build of a release; the release may be a build."""
    for place in (release, folder):
        if is_output(place):
            return Build(place)
    return build(
        release,
        folder,
        as_of=PUBLISHED if find_source(release)[0].name == "rf2" else None,
        as_published=True,
        seed=options.seed,
        threads=options.threads,
        progress=options.progress,
    )


def check_rated(paths: Sequence[str], options: ReproduceOptions) -> None:
    """Raise an error if a rated file or embedding cannot be opened, or a set has two files."""
    for name, model in options.models.items():
        open_source(embedding_spec(model, name))
    files: dict[str, str] = {}
    for path in paths:
        place, columns = parse_rated(path)
        read_rated(place, columns)
        name = rated_set(place.stem)
        if name in files:
            raise OptionError(f"{files[name]} and {path} are both {name}; give one of them")
        files[name] = path


def rated_set(name: str) -> str:
    """Return the paper's name of a rated file, or the name if the paper does not have it."""
    stem, _, kind = name.partition(": ")
    plain = re.sub(r"[\W_]", "", stem).lower()
    if "umnsrs" in plain:
        return f"UMNSRS-{'Sim' if 'sim' in plain else 'Rel'}{'-mod' if 'mod' in plain else ''}"
    known = next((one for one in _RATED if one.replace("-", "").lower() in plain), stem)
    return f"{known} {_KINDS.get(kind, kind)}".strip()


def _embedding(name: str) -> str:
    """Return the paper's spelling of an embedding, or the name if the paper does not have it."""
    if name == "(pairs)":
        return "Subset Size"
    plain = {re.sub(r"[\W_]", "", one).lower(): one for one in _NAMES}
    return plain.get(re.sub(r"[\W_]", "", name).lower(), name)


def _of_build(rows: pl.DataFrame) -> Cells:
    """Return table 2."""
    return {
        (f"{_DATASETS[row['dataset']]} {row['difficulty']}", label): (
            f"{row[name]:,}" if name == "size" else f"{row[name]:.2f}"
        )
        for row in rows.filter(pl.col("dataset") != "all").iter_rows(named=True)
        for name, label in _PRINTED.labels["sizes"].items()
        if row[name] is not None
    }


def _of_study(rows: pl.DataFrame) -> Cells:
    """Return table 3."""
    cells = {}
    for row in rows.drop_nulls("difficulty").iter_rows(named=True):
        column = f"{_DATASETS[row['dataset']]} {row['difficulty']} {row['negatives']}"
        cells["NaN", column] = f"{row['no_ground_truth']:.0%}"
        for name, label in _PRINTED.labels["measures"].items():
            if row[name] is not None:
                cells[label, column] = f"{row[name]:.2f}"
    return cells


def _cells(table: str, values: pl.DataFrame) -> Cells:
    """Return a table of ``compare`` with the paper's labels and units."""
    if table in _ROUNDED:
        values = values.with_columns(pl.col("value").round(2))
    values = values.drop_nulls("n_vocabulary") if table == "A.1" else values
    (frame, *_), rows = readable_tables(values), {*_TABLES[table].rows}
    if table == "B.1" and "metric" in frame.columns:  # the best one is the same on all sets
        metric = (pl.lit(" ") + pl.col("metric")).fill_null("")
        frame = frame.with_columns(pl.exclude("embedding", "metric") + metric)
    if table == "1":
        scores = pl.concat_str("low", "high", separator="-").str.replace_all(",", "")
        names = {"size": "Size", "terminology": "Source", "multi_word": "MW"}
        frame = frame.select(pl.col("input"), scores.alias("Scores"), pl.col(*names)).rename(names)
    elif table == "A.1":
        covered = [column for column in frame.columns if column.endswith("covered")]
        frame = frame.select(
            pl.col("embedding"),
            pl.format("{} x {}", rounded("n_vocabulary", ","), "n_dimensions").alias("Size"),
            pl.concat_str(covered, separator=" / ").str.replace_all("%", "").alias("Coverage (%)"),
        )
    elif table == "A.2" and "embedding" not in frame.columns:
        return {}  # fewer than two vocabularies
    elif table == "A.2":
        frame = frame.rename({"average": "Av"})
    elif table in ("6", "D.1"):
        frame = frame.select("embedding", "metric", "overlap_error", pl.col("^sim.*$"))
        similarities = (f"sim({of})" for of in _CATEGORIES.split())
        heads = ["metric (best/worst)", "O (best/worst)", *similarities]
        frame = frame.rename(dict(zip(frame.columns[1:], heads, strict=False)))
    frame = frame.drop("metric", "statistic", "n_sets", strict=False)
    label = rated_set if table == "1" else _embedding
    cells = {
        (label(str(row[0])), _column(name)): _as_printed(_printed(str(text)), name)
        for row in frame.iter_rows()
        for name, text in zip(frame.columns[1:], row[1:], strict=True)
        if text is not None and (text != MISSING or table in _STANDINGS)
    }
    if table in _UNITS:
        cells = {key: _UNITS[table](text) for key, text in cells.items()}
    if table not in _STANDINGS:
        return cells
    listed = {key: text.replace(MISSING, "none").split(", ") for key, text in cells.items()}
    return {
        key: "; ".join(text.replace(" ", ": ") for text in sorted(texts, key=_place))
        for key, texts in listed.items()
        if key[0] in rows or (table in _WITH_OTHERS and key[0] not in _NAMES)
    }


def _place(counted: str) -> int:
    """Return the place of a metric with its counts in the paper's order."""
    return _ORDER.split().index(counted.split(maxsplit=1)[0])


def _as_printed(text: str, column: str) -> str:
    """Return a cell with counts as "+5/-2", and with the compared pairs in the paper's unit."""
    if size := _SIZE.fullmatch(text):
        n, n_all = (int(number.replace(",", "")) for number in size.groups())
        return f"{n / n_all:.1%}" if _WORDS.match(column) else f"{n}/{n_all}"
    text = _COUNTS.sub(r" +\2/-\3\1", text)
    return re.sub(r" \+0/-0| \*|(?<=\d)/-0\b|(?<= )\+0/", "", text)


def _column(name: str) -> str:
    """Return the paper's label of a column: a set of pairs, or an embedding."""
    return _embedding(rated_set(_printed(name)))


PAPERS.register("schulz-2020", Paper(citation=SCHULZ_2020, computed=computed))
