"""The file result.json of an evaluation: its scores on builds, without terms, to publish."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError
from medsim.core.kinds import columns
from medsim.core.reading import read_json, reading
from medsim.embeddings.metrics import WordBags
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import SERVICE
from medsim.evaluations.output import RESULT
from medsim.evaluations.scoring import headline_metric
from medsim.evaluations.sets import BASELINE, MATCHED_SUBSET, SET_COLUMNS
from medsim.evaluations.statistic import statistics_of, tabulated_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medsim.core.kinds import Columns
    from medsim.evaluations.run import Run

SCHEMA = 1
"""The version of the file's layout."""

HEADLINE = statistics_of("matched")[0].name
"""The statistic of the headline score."""

_OPTIONAL: Columns = (
    columns(pl.Int64, "size", "n_dimensions", "n_vocabulary", "n_pairs", "n_covered")
    | columns(pl.Float64, "low", "high", "gain", "gain_low", "gain_high", "difference", "p")
    | columns(pl.String, "trained_on", "source", "vocabulary", "version", "baseline")
    | columns(pl.String, *SET_COLUMNS)
)
_REQUIRED: Columns = columns(pl.Float64, "value") | columns(
    pl.String,
    *("name", "fingerprint", "kind", "options", "build", "model", "model1", "model2"),
    *("metric", "statistic"),
)
ROWS = {
    "models": "name fingerprint kind options size n_dimensions n_vocabulary trained_on",
    "builds": "name fingerprint source vocabulary version",
    "headlines": "build model metric value low high baseline gain gain_low gain_high",
    "tests": "build model1 model2 difference low high p",
    "scores": "build dataset difficulty negatives model metric statistic value low high n_pairs "
    "n_covered",
}
"""The lists of the file, and the names in their rows.

size is in bytes, and gain is the difference from the best baseline. A vocabulary is a short name of
the terminology, such as HPO. Scores are those of pairs that the model covers.
"""

_DIGITS = 7


def write_result(run: Run, results: pl.DataFrame, comparisons: pl.DataFrame) -> None:
    """Write the file of a run, from ``RESULTS`` and ``COMPARISONS``; nothing without a build."""
    sources = {name: about["source"] for name, about in run.inputs.items() if "source" in about}
    if not sources:
        return
    scores, tests = (
        table.filter(pl.col("input").is_in(list(sources))).rename({"input": "build"})
        for table in (_at_headline_metrics(results), comparisons.filter(of=HEADLINE))
    )
    gains = tests.filter(between="baseline").select(
        *("build", pl.col("embedding1").alias("model"), pl.col("metric2").alias("baseline")),
        *(pl.col("difference").alias("gain"), pl.col("low", "high").name.prefix("gain_")),
    )
    of_models = scores.filter(pl.col("model") != BASELINE, statistic=HEADLINE)
    pairwise = tests.filter(between="embeddings")
    rows: dict[str, list[dict[str, Any]]] = {
        "models": [
            {"name": name, **about, "kind": _kind(about), "options": _options(about)}
            for name, about in run.embeddings.items()
        ],
        "builds": [
            {"name": name, "fingerprint": run.inputs[name]["fingerprint"], "source": about["name"]}
            | {"vocabulary": about.get("vocabulary"), "version": about.get("release_date")}
            for name, about in sources.items()
        ],
        "headlines": of_models.join(gains, on=["build", "model"], how="left").to_dicts(),
        "tests": pairwise.rename({"embedding1": "model1", "embedding2": "model2"}).to_dicts(),
        "scores": scores.to_dicts(),
    }
    head = {"schema": SCHEMA, "medsim": run.metadata["medsim"]}
    head |= {"libraries": json.loads(run.metadata["libraries"]), "options": run.options.recorded()}
    parts = {name: json.dumps(value) for name, value in head.items()}
    for name, of_part in rows.items():
        lines = (json.dumps({k: row.get(k) for k in ROWS[name].split()}) for row in of_part)
        parts[name] = "[\n" + ",\n".join(lines) + "\n]"
    text = "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"
    run.output.write_text(RESULT, text, of_models.height)


def _at_headline_metrics(results: pl.DataFrame) -> pl.DataFrame:
    """Return the scores of baselines, and of each model at the metric of its headline score."""
    names = [*tabulated_names(best=True), *tabulated_names()]
    names += [statistic.name for statistic in statistics_of("retrieval")]
    scores = results.drop_nulls("value").filter(
        pl.col("statistic").is_in(names), pl.col("subset").is_in(["own", MATCHED_SUBSET])
    )
    metrics = scores.group_by("embedding").agg("metric").iter_rows()
    at = {embedding: headline_metric(of_one) for embedding, of_one in metrics}
    chosen = pl.col("embedding").replace_strict(at, return_dtype=pl.String)
    at_metric = (pl.col("embedding") == BASELINE) | (pl.col("metric") == chosen)
    rounded = pl.col(pl.Float64).round_sig_figs(_DIGITS)
    return scores.filter(at_metric).rename({"embedding": "model"}).with_columns(rounded)


def _options(about: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in about["options"].items())


def _kind(about: Mapping[str, Any]) -> str:
    """Return the kind of a model, from its record in the manifest."""
    if COSINES[WordBags] in about["metrics"]:
        return "word vectors"
    if str(about["path"]).startswith(SERVICE):
        return "service"
    if about["format"] == "model2vec":
        return "static"
    if about.get("n_vocabulary") is not None:
        return "term vectors"
    return "function" if "identity" in about else "encoder"


def read_result(path: Path) -> dict[str, pl.DataFrame]:
    """Return the lists of a file as tables, by name.

    Models also have the version of medsim and the options of the evaluation.

    Raises:
        InputError: the file is not as ``write_result`` writes it.
    """
    with reading(path, f"{RESULT} of medsim eval", "copy it again from its evaluation"):
        content = read_json(path)
        if (schema := content["schema"]) != SCHEMA:
            raise InputError(f"{path} has schema {schema!r}, not {SCHEMA}; run medsim eval again")
        tables = {
            name: pl.DataFrame(
                content[name],
                {key: (_OPTIONAL | _REQUIRED)[key] for key in keys.split()},
                orient="row",
            )
            for name, keys in ROWS.items()
        }
        for name, table in tables.items():
            required = [key for key in table.columns if key in _REQUIRED]
            if table.select(required).null_count().sum_horizontal().sum():
                raise ValueError(f"a value is missing in {name}")
        if not tables["headlines"]["value"].is_between(0, 1).all():
            raise ValueError("a headline score is not from 0 to 1")
        tables["models"] = tables["models"].with_columns(
            medsim=pl.lit(str(content["medsim"])), evaluated=pl.lit(json.dumps(content["options"]))
        )
    return tables
