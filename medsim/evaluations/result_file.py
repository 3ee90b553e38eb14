"""The file result.json of an evaluation: its scores on builds, without terms, to publish."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.reading import read_json, reading
from medsim.embeddings.metrics import WordBags
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import SERVICE
from medsim.evaluations.baselines import DEFINITION
from medsim.evaluations.output import RESULT
from medsim.evaluations.sets import HEADLINE, WHOLE_SUBSET
from medsim.evaluations.statistic import BASELINE, SampleKind, statistics_of
from medsim.pages.page import format_value

if TYPE_CHECKING:
    from medsim.evaluations.run import EvaluationRun

    Limits = dict[str, tuple[float | str, float | str]]

SCHEMA = 2
"""The version of the file's layout."""

ROWS = {
    "models": "name fingerprint kind options size n_dimensions n_vocabulary trained_on",
    "builds": "name fingerprint source vocabulary version split",
    "headlines": "build model metric value low high baseline gain gain_low gain_high",
    "tests": "build model1 model2 difference low high p",
    "scores": "build dataset difficulty negatives model metric statistic value low high n_pairs "
    "n_covered",
}
"""The lists of the file, and the names in their rows.

size is in bytes, and gain is the difference from the best baseline. A vocabulary is the short name
of a terminology, such as HPO. split is its name, such as test; null if the build is not a split.
Scores are on the pairs that the model covers.
"""

_HEADLINE = {"statistic": HEADLINE, "version": DEFINITION}
_DECIDING = ("coverage", "independent_pairs")  # options that change a headline score
_DIGITS = 7
_TOLERANCE = 1e-5
_HINT = "it is damaged or was edited, so copy it again from its evaluation"
_KINDS: tuple[SampleKind, ...] = ("matched", "beyond", "own_negative", "labelled", "retrieval")
_WHOLE = ("size", "n_dimensions", "n_vocabulary", "n_pairs", "n_covered")
_NUMBERS = ("value", "low", "high", "gain", "gain_low", "gain_high", "difference", "p")
_REQUIRED = ("name", "fingerprint", "kind", "options", "build", "model", "metric", "value")

_EXPECTED = "the difference of the headline scores"
_SHARE: Limits = {"value": (0, 1), "low": (0, "value"), "high": ("value", 1)}
_DIFFERENCE: Limits = {"low": (-math.inf, "difference"), "high": ("difference", math.inf)}
_GAIN: Limits = {"gain": (-1, 1), "gain_low": (-math.inf, "gain"), "gain_high": ("gain", math.inf)}
_LIMITS: Mapping[str, Limits] = {
    "headlines": _SHARE | _GAIN,
    "tests": {"difference": (_EXPECTED, _EXPECTED), **_DIFFERENCE, "p": (0, 1)},
    "scores": _SHARE | {"n_pairs": (0, math.inf), "n_covered": (0, "n_pairs")},
}
"""The least and the most that a number can be, or the columns of the row with these numbers."""

_PAIR = ["build", "model1", "model2"]
_N_KEYS = {"models": 1, "builds": 1, "headlines": 2, "tests": 3, "scores": 7}
"""The number of columns of the key of each list."""


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a list of the file as a table."""
    dtypes = dict.fromkeys(_WHOLE, pl.Int64) | dict.fromkeys(_NUMBERS, pl.Float64)
    return pl.DataFrame(rows, {key: dtypes.get(key, pl.String) for key in ROWS[name].split()})


def write_result(run: EvaluationRun, results: pl.DataFrame, comparisons: pl.DataFrame) -> None:
    """Write the file of a run, from ``SET_RESULTS`` and ``SET_COMPARISONS``.

    Models have the metric of their headline score. Without a build, or with a sample of pairs, no
    file is written.
    """
    builds = {name: about for name, about in run.inputs.items() if "source" in about}
    if not builds or run.options.sample is not None:
        return
    names = {"input": "build", "embedding": "model", "embedding1": "model1", "embedding2": "model2"}
    results, comparisons = (table.rename(names, strict=False) for table in (results, comparisons))
    kinds = [statistic.name for kind in _KINDS for statistic in statistics_of(kind, tested=True)]
    scores = results.drop_nulls("value").filter(
        pl.col("build").is_in(list(builds)),
        pl.col("statistic").is_in(kinds),
        pl.col("subset").is_in(["own", WHOLE_SUBSET]),
    )
    headlines = scores.filter(pl.col("model") != BASELINE, statistic=HEADLINE)
    kept = pl.concat([headlines, scores.filter(model=BASELINE)])
    tests = comparisons.filter(of=HEADLINE)
    gains = tests.filter(between="baseline").select(
        *("build", pl.col("model1").alias("model"), pl.col("metric2").alias("baseline")),
        *(pl.col("difference").alias("gain"), pl.col("low", "high").name.prefix("gain_")),
    )
    rows: dict[str, list[dict[str, Any]]] = {
        "models": [
            {**about, "name": name, "kind": _kind(about), "options": format_value(about["options"])}
            for name, about in run.embeddings.items()
        ],
        "builds": [
            {**about["source"], "name": name, "fingerprint": about["fingerprint"]}
            | {"source": about["source"]["name"], "version": about["source"].get("release_date")}
            | {"split": about["options"].get("split", {}).get("name")}
            for name, about in builds.items()
        ],
        "headlines": headlines.join(gains, on=["build", "model"], how="left").to_dicts(),
        "tests": tests.filter(between="embeddings").to_dicts(),
        "scores": scores.join(kept, on=["model", "metric"], how="semi").to_dicts(),
    }
    parts = {"schema": str(SCHEMA), "headline": json.dumps(_HEADLINE)}
    parts |= {"medsim": json.dumps(run.metadata["medsim"]), "libraries": run.metadata["libraries"]}
    parts["options"] = json.dumps(run.options.recorded())
    for name, of_part in rows.items():
        table = _table(name, of_part).with_columns(pl.col(pl.Float64).round_sig_figs(_DIGITS))
        parts[name] = "[\n" + table.write_ndjson().strip().replace("\n", ",\n") + "\n]"
    text = ",\n".join(f'"{name}": {part}' for name, part in parts.items())
    run.output.write_text(RESULT, "{\n" + text + "\n}\n", headlines.height)


def _kind(about: Mapping[str, Any]) -> str:
    """Return the kind of a model, from its record in the manifest."""
    kinds = {
        "word vectors": COSINES[WordBags] in about["metrics"],
        "service": str(about["path"]).startswith(SERVICE),
        "static": about["format"] == "model2vec",
        "term vectors": about.get("n_vocabulary") is not None,
        "function": "identity" in about,
    }
    return next((kind for kind, fits in kinds.items() if fits), "encoder")


def _check(tables: Mapping[str, pl.DataFrame]) -> None:
    """Raise ValueError if a number is impossible, or if rows contradict each other."""
    rows, tests = tables["headlines"], tables["tests"]
    for name in ("model", "build"):
        is_listed = pl.col(name).is_in(tables[f"{name}s"]["name"].implode())
        _refuse(rows.filter(~is_listed), f"headlines: {name} is not listed")
    for name, n_keys in _N_KEYS.items():
        key = pl.struct(tables[name].columns[:n_keys])
        _refuse(tables[name].filter(key.is_duplicated()), f"{name}: listed twice")
    swapped = tests.select("build", model1="model2", model2="model1")
    _refuse(tests.join(swapped, on=_PAIR, how="semi"), "tests: compared twice or with itself")
    for side in ("1", "2"):
        values = rows.select("build", pl.col("model", "value").name.suffix(side))
        tests = tests.join(values, on=["build", f"model{side}"], how="left")
    expected = (pl.col("value1") - pl.col("value2")).alias(_EXPECTED)
    for name, limits in _LIMITS.items():
        table = tests.with_columns(expected) if name == "tests" else tables[name]
        for column, (low, high) in limits.items():
            least, most = (pl.col(end) if isinstance(end, str) else end for end in (low, high))
            is_possible = pl.col(column).is_between(least - _TOLERANCE, most + _TOLERANCE)
            wrong = table.filter(pl.col(column).is_not_null(), ~is_possible.fill_null(False))
            limit = low if low == high else f"from {low} to {high}"
            where = wrong.select(column, *table.columns[: _N_KEYS[name]])
            _refuse(where, f"{name}: not {limit}")


def _refuse(wrong: pl.DataFrame, about: str) -> None:
    """Raise ValueError if there are wrong rows, with the values of the first."""
    for row in wrong.head(1).to_dicts():
        facts = (f"{name} {value!r}" for name, value in row.items() if value is not None)
        raise ValueError(f"{about}: {', '.join(facts)}")


def read_result(path: Path) -> dict[str, pl.DataFrame]:
    """Return the lists of a file as tables by name.

    Models also have the version of medsim, and the options of the evaluation that change scores.

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
            required = [key for key in _REQUIRED if key in table.columns]
            if table.drop_nulls(required).height < table.height:
                raise ValueError(f"a value is missing in {name}")
        _check(tables)
        options = {name: content["options"].get(name) for name in _DECIDING}
        run = {"evaluated": pl.lit(format_value(options)), "medsim": pl.lit(str(content["medsim"]))}
    return tables | {"models": tables["models"].with_columns(**run)}
