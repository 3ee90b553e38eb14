"""The file result.json of an evaluation: its scores on builds, without terms, to publish."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
import polars as pl
from numpy.lib.format import read_array

from medsim.core.errors import InputError
from medsim.core.reading import LARGEST_FILE, MIB, open_file, read_json, reading
from medsim.definitions.benchmark import BENCHMARK, benchmark_builds
from medsim.embeddings.metrics import WordBags
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import HUB, SERVICE
from medsim.evaluations.baselines import DEFINITION
from medsim.evaluations.output import RESULT, RESULT_VALUES, SUBMITTED
from medsim.evaluations.sets import HEADLINE, WHOLE_SUBSET
from medsim.evaluations.statistic import BASELINE, SampleKind, statistics_of
from medsim.pages.page import format_value
from medsim.statistics.estimates import FEWEST_CLUSTERS
from medsim.statistics.matched import MatchedSample
from medsim.systems.scorers import PREDICTED

if TYPE_CHECKING:
    from medsim.evaluations.run import EvaluationRun
    from medsim.evaluations.scoring import Score
    from medsim.kernels.types import Values

    Limits = dict[str, tuple[float | str, float | str]]

SCHEMA = 3
"""The version of the file's layout."""

ROWS = {
    "models": "name fingerprint kind options address size n_parameters n_dimensions n_vocabulary "
    "trained_on",
    "builds": "name fingerprint source vocabulary version split benchmark strata",
    "headlines": "build model metric value low high n_pairs n_covered baseline gain gain_low "
    "gain_high effective changes",
    "scores": "build dataset difficulty negatives model metric statistic value low high n_pairs "
    "n_covered",
}
"""The lists of the file, and the names in their rows.

address is that of a model on a hub, with its revision, or of a service. size is in bytes, and gain
is the difference from the best baseline. A vocabulary is the short name of a terminology, such as
HPO. split is its name, such as test; null if the build is not a split. benchmark is the name of the
set of builds that the build is part of, if any. strata is "edit distance" for a build with too few
positives to train the spelling classifier, see ``learned_strata``, otherwise null. effective is
the effective number of clusters, and changes are those of the headline score without each cluster
of pairs in turn, in units of 1e-9, in order of the clusters' first pairs. They are in the file
beside it if together they are large. Scores are on the pairs that the model covers.
"""

_HEADLINE = {"statistic": HEADLINE, "version": DEFINITION}
_DECIDING = ("coverage", "independent_pairs")  # options that change a headline score
_DIGITS = 10
_UNIT = 1e-9
_MAX_TEXT = MIB
_TOLERANCE = 1e-5
_HINT = "it is damaged or was edited, so copy it again from its evaluation"
_KINDS: tuple[SampleKind, ...] = ("matched", "beyond", "own_negative", "labelled", "retrieval")
_PUBLIC = (HUB, SERVICE)
_WHOLE = ("size", "n_parameters", "n_dimensions", "n_vocabulary", "n_pairs", "n_covered")
_NUMBERS = ("value", "low", "high", "gain", "gain_low", "gain_high", "effective")
_REQUIRED = "name fingerprint kind options build model metric value n_pairs n_covered effective"

_SHARE: Limits = {"value": (0, 1), "low": (0, "value"), "high": ("value", 1)}
_COUNTS: Limits = {"n_pairs": (0, math.inf), "n_covered": (0, "n_pairs")}
_GAIN: Limits = {"gain": (-1, 1), "gain_low": (-math.inf, "gain"), "gain_high": ("gain", math.inf)}
_LIMITS: Mapping[str, Limits] = {
    "headlines": _SHARE | _GAIN | _COUNTS | {"effective": (0, "n_pairs")},
    "scores": _SHARE | _COUNTS,
}
"""The least and the most that a number can be, or the columns of the row with these numbers."""

_N_KEYS = {"models": 1, "builds": 1, "headlines": 2, "scores": 7}
"""The number of columns of the key of each list."""


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a list of the file as a table."""
    dtypes: dict[str, Any] = dict.fromkeys(_WHOLE, pl.Int64) | dict.fromkeys(_NUMBERS, pl.Float64)
    dtypes["changes"] = pl.List(pl.Int64)
    return pl.DataFrame(rows, {key: dtypes.get(key, pl.String) for key in ROWS[name].split()})


def values_of(build: str, headlines: Iterable[Score]) -> pl.DataFrame:
    """Return the changes of headline scores without each cluster: build, model, metric, values."""
    rows = []
    for score in headlines:
        changes = np.rint((score.sample.left_out - score.sample.auc.value) / _UNIT).astype(np.int64)
        rows.append((build, score.embedding, score.metric, score.sample.effective, changes))
    kept = _table("headlines", ()).select("build", "model", "metric", "effective", "changes")
    return pl.DataFrame(rows, kept.schema, orient="row")


def write_result(
    run: EvaluationRun, results: pl.DataFrame, comparisons: pl.DataFrame, values: pl.DataFrame
) -> None:
    """Write the file of a run, from ``SET_RESULTS``, ``SET_COMPARISONS`` and ``values_of``.

    Models have the metric of their headline score. Without a build, or with a sample of pairs, no
    file is written.
    """
    builds = {name: about for name, about in run.inputs.items() if "source" in about}
    if not builds or run.options.sample is not None:
        return
    names = {"input": "build", "embedding": "model", "embedding1": "model", "metric2": "baseline"}
    results, comparisons = (table.rename(names, strict=False) for table in (results, comparisons))
    kinds = [statistic.name for kind in _KINDS for statistic in statistics_of(kind, tested=True)]
    scores = results.drop_nulls("value").filter(
        pl.col("build").is_in(list(builds)),
        pl.col("statistic").is_in(kinds),
        pl.col("subset").is_in(["own", WHOLE_SUBSET]),
    )
    headlines = scores.filter(pl.col("model") != BASELINE, statistic=HEADLINE)
    kept = pl.concat([headlines, scores.filter(model=BASELINE)])
    gains = comparisons.filter(of=HEADLINE, between="baseline").select(
        *("build", "model", "baseline", pl.col("difference").alias("gain")),
        pl.col("low", "high").name.prefix("gain_"),
    )
    headlines = headlines.join(values, on=["build", "model", "metric"], maintain_order="left")
    of_benchmark = dict.fromkeys(benchmark_builds().values(), BENCHMARK)
    rows: dict[str, list[dict[str, Any]]] = {
        "models": [
            {"n_parameters": (n := about.get("n_vocabulary")) and n * about["n_dimensions"]}
            | {**about, "name": name, "kind": _kind(about)}
            | {"options": format_value(about["options"])}
            | ({"address": path} if (path := str(about["path"])).startswith(_PUBLIC) else {})
            for name, about in run.embeddings.items()
        ],
        "builds": [
            {**about["source"], "name": name, "fingerprint": about["fingerprint"]}
            | {"source": about["source"]["name"], "version": about["source"].get("release_date")}
            | {"split": about["options"].get("split", {}).get("name")}
            | {"benchmark": of_benchmark.get(about["fingerprint"]), "strata": about.get("strata")}
            for name, about in builds.items()
        ],
        "headlines": headlines.join(gains, on=["build", "model"], how="left").to_dicts(),
        "scores": scores.join(kept, on=["model", "metric"], how="semi").to_dicts(),
    }
    parts = {"schema": str(SCHEMA), "headline": json.dumps(_HEADLINE)}
    parts |= {"medsim": json.dumps(run.metadata["medsim"]), "libraries": run.metadata["libraries"]}
    parts["options"] = json.dumps(run.options.recorded())
    parts |= {name: json.dumps(value) for name, value in run.submitted.items()}
    parts |= {name: _lines(_table(name, of_part)) for name, of_part in rows.items()}
    if sum(map(len, parts.values())) > _MAX_TEXT:
        table = _table("headlines", rows["headlines"])
        arrays = {str(at): row.to_numpy() for at, row in enumerate(table["changes"])}
        run.output.write_file(RESULT_VALUES, partial(_write_arrays, arrays))
        parts["headlines"] = _lines(table.with_columns(changes=None))
    text = ",\n".join(f'"{name}": {part}' for name, part in parts.items())
    run.output.write_text(RESULT, "{\n" + text + "\n}\n", headlines.height)


def _lines(table: pl.DataFrame) -> str:
    """Return a table as JSON with a line per row."""
    table = table.with_columns(pl.col(pl.Float64).round_sig_figs(_DIGITS))
    return "[\n" + table.write_ndjson().strip().replace("\n", ",\n") + "\n]"


def _write_arrays(arrays: Mapping[str, Values], path: Path) -> int:
    """Write arrays by name, and return their number."""
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return len(arrays)


def _kind(about: Mapping[str, Any]) -> str:
    """Return the kind of a model, from its record in the manifest."""
    kinds = {
        "system": PREDICTED in about["metrics"],
        "word vectors": COSINES[WordBags] in about["metrics"],
        "service": str(about["path"]).startswith(SERVICE),
        "static": about["format"] == "model2vec",
        "term vectors": about.get("n_vocabulary") is not None,
        "function": "identity" in about,
    }
    return next((kind for kind, fits in kinds.items() if fits), "encoder")


def _check(tables: Mapping[str, pl.DataFrame]) -> None:
    """Raise ValueError if a number is impossible, or if rows contradict each other."""
    rows = tables["headlines"]
    for name in ("model", "build"):
        is_listed = pl.col(name).is_in(tables[f"{name}s"]["name"].implode())
        _refuse(rows.filter(~is_listed), f"headlines: {name} is not listed")
    for name, n_keys in _N_KEYS.items():
        key = pl.struct(tables[name].columns[:n_keys])
        _refuse(tables[name].filter(key.is_duplicated()), f"{name}: listed twice")
    for name, limits in _LIMITS.items():
        for column, (low, high) in limits.items():
            least, most = (pl.col(end) if isinstance(end, str) else end for end in (low, high))
            is_possible = pl.col(column).is_between(least - _TOLERANCE, most + _TOLERANCE)
            wrong = tables[name].filter(pl.col(column).is_not_null(), ~is_possible.fill_null(False))
            where = wrong.select(column, *wrong.columns[: _N_KEYS[name]])
            _refuse(where, f"{name}: not from {low} to {high}")
    effective, n_changes = pl.col("effective"), pl.col("changes").list.len()
    wrong = rows.filter(effective >= FEWEST_CLUSTERS, effective > n_changes)
    _refuse(wrong.select("build", "model"), "headlines: changes are missing")
    for row in rows.iter_rows(named=True):
        ends, auc = np.array([row["low"], row["high"]], np.float64), sample_of(row).auc
        if not np.allclose(ends, [auc.low, auc.high], 0, _TOLERANCE, equal_nan=True):
            shown = {name: row[name] for name in ("value", "low", "high", "build", "model")}
            _refuse(pl.DataFrame([shown]), "headlines: the changes give another interval")
    of_file = tables["scores"].filter(statistic=HEADLINE).rename({"value": "found"})
    of_file = of_file.select("build", "model", "metric", "found")
    of_baseline = {"model": pl.lit(BASELINE), "metric": pl.col("baseline")}
    of_baseline["value"] = pl.col("value") - pl.col("gain")
    baselines = rows.drop_nulls("gain").select("build", **of_baseline)
    same = pl.concat([rows.select("build", "model", "metric", "value"), baselines])
    same = same.join(of_file, on=["build", "model", "metric"], how="left")
    is_other = (pl.col("found") - pl.col("value")).abs() > _TOLERANCE
    is_other |= ~pl.col("value").is_between(-_TOLERANCE, 1 + _TOLERANCE)
    _refuse(same.filter(is_other), "headlines and scores contradict each other")


def sample_of(row: Mapping[str, Any]) -> MatchedSample:
    """Return the sample of a headline score, a row from ``read_result``."""
    left_out = row["value"] + np.array(row["changes"], np.float64)
    return MatchedSample.of(row["value"], left_out, row["n_pairs"], row["effective"])


def _refuse(wrong: pl.DataFrame, about: str) -> None:
    """Raise ValueError if there are wrong rows, with the values of the first."""
    for row in wrong.head(1).to_dicts():
        facts = (f"{name} {value!r}" for name, value in row.items() if value is not None)
        raise ValueError(f"{about}: {', '.join(facts)}")


def deciding(options: Mapping[str, Any]) -> str:
    """Return the options of an evaluation that change a headline score, as text."""
    return format_value({name: options.get(name) for name in _DECIDING})


def read_result(path: Path) -> dict[str, pl.DataFrame]:
    """Return the lists of a file as tables by name.

    Models also have the version of medsim, the submitter, the date, and the options of the
    evaluation that change scores. ``changes`` are float64 differences.

    Raises:
        InputError: the file is not as ``write_result`` writes it.
    """
    with reading(path, f"{RESULT} of medsim eval", _HINT):
        content = read_json(path)
        found = {"schema": content["schema"], **content.get("headline", {})}
        if found != {"schema": SCHEMA, **_HEADLINE}:
            raise InputError(
                f"{path} was made by another version of medsim, with another headline score or "
                "layout; run medsim eval again"
            )
        tables = {name: _table(name, content[name]) for name in ROWS}
        for name, table in tables.items():
            required = [key for key in _REQUIRED.split() if key in table.columns]
            if table.drop_nulls(required).height < table.height:
                raise ValueError(f"a value is missing in {name}")
        changes = _changes(path, tables["headlines"]) * _UNIT
        tables["headlines"] = tables["headlines"].with_columns(changes=changes)
        _check(tables)
        run = {"evaluated": deciding(content["options"]), "medsim": str(content["medsim"])}
        run |= {name: content.get(name) for name in SUBMITTED}
        about = {name: pl.lit(value, pl.String) for name, value in run.items()}
        tables["models"] = tables["models"].with_columns(**about)
    return tables


def _changes(path: Path, rows: pl.DataFrame) -> pl.Series:
    """Return the changes of headline scores, from the file beside if rows lack them."""
    if not rows["changes"].null_count():
        return rows["changes"]
    beside = path.with_suffix(Path(RESULT_VALUES).suffix)
    form = f"{RESULT_VALUES} of medsim eval"
    with reading(beside, form, _HINT), open_file(beside) as file, ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > LARGEST_FILE:
            raise ValueError("it is too large")
        changes = [read_array(archive.open(f"{at}.npy")) for at in range(rows.height)]
        if any(values.dtype.kind != "i" or values.ndim != 1 for values in changes):
            raise ValueError("its arrays are not rows of whole numbers")
    return pl.Series([values.tolist() for values in changes], dtype=pl.List(pl.Int64))
