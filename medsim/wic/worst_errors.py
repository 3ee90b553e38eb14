"""The confident wrong answers of models on words in context, with the sentences asked about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.manifest import fingerprint
from medsim.pages.page import Folded, PageTable, Section
from medsim.wic.benchmark import read_instances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.wic.output import WicEvaluation

_SHOWN = 5  # wrong answers of each kind
_AROUND = 80  # characters of a sentence on either side of its term
_CUT = "\N{HORIZONTAL ELLIPSIS}"
_COLUMNS = ["term 1", "sentence 1", "term 2", "sentence 2", "group", "score"]
_KINDS = {0: "Taken for one meaning, which it is not", 1: "Taken for two meanings, which it is not"}
"""What is wrong with an answer, by the right one."""


def worst_errors(opened: WicEvaluation, models: Sequence[str]) -> Section | None:
    """Return the wrong answers with the highest and with the lowest scores of each model.

    Results keep no sentences: they are read from the file that models were asked about, where it
    still lies there and is the same. A model without scores is as sure of one answer as of another,
    and is left out; of one with several seeds the first counts.
    """
    wrong = _wrong_answers(opened)
    if wrong.is_empty():
        return None
    path = Path(opened.manifest.files["test"]["path"])
    instances = _asked_about(path, opened.manifest.files["test"]["fingerprint"])
    if instances is None:
        return Section(
            title="Worst errors",
            prose=f"The sentences of wrong answers are not shown, since {path} is not there "
            "any more, or has changed since models were asked about it. If that path is relative, "
            "make this page in the folder where the models were scored.",
            parts=[],
        )
    shown = _with_sentences(wrong, instances)
    known = [model for model in models if model in set(shown["model"])]
    return Section(
        title="Worst errors",
        prose="The wrong answers of which each model is surest, by its score. Of a long sentence "
        "the part around the term is shown. Sentences are those of the benchmark, so this page may "
        "be passed on only as these may.",
        parts=[
            Folded(summary=f"Wrong answers of {model}", tables=_tables(shown, model), opened=not at)
            for at, model in enumerate(known)
        ],
    )


def _wrong_answers(opened: WicEvaluation) -> pl.DataFrame:
    """Return the answers that are shown, in order: of each model and label the surest ones."""
    predictions = opened.read("predictions.parquet")
    if not {"score", "prediction", "seed"} <= set(predictions.columns):  # of the version before
        return predictions.clear()
    first_seed = pl.col("seed").is_null() | (pl.col("seed") == pl.col("seed").min().over("model"))
    wrong = predictions.filter(
        first_seed,
        pl.col("score").is_finite(),
        pl.col("covered"),
        pl.col("prediction") != pl.col("label"),
    )
    sureness = pl.when(pl.col("label") == 0).then("score").otherwise(-pl.col("score"))
    surest = wrong.sort(sureness, "instance", descending=[True, False])
    return surest.group_by("model", "label", maintain_order=True).head(_SHOWN)


def _asked_about(path: Path, digest: str) -> pl.DataFrame | None:
    """Return the instances of a file; None where it is not the one that models were asked about."""
    try:
        instances = read_instances(path)
    except InputError:
        return None
    return instances if fingerprint(instances) == digest else None


def _with_sentences(wrong: pl.DataFrame, instances: pl.DataFrame) -> pl.DataFrame:
    numbered = instances.drop("cat", "label").with_row_index("instance", offset=1)
    numbered = numbered.with_columns(pl.col("instance").cast(wrong["instance"].dtype))
    found = wrong.join(numbered, on="instance", how="left", maintain_order="left")
    return found.select(
        "model",
        "label",
        *(pl.col(f"term{side}").alias(f"term {side}") for side in "12"),
        *(
            pl.struct(text=f"sentence{side}", start=f"start{side}", end=f"end{side}")
            .map_elements(lambda one: _around(one["text"], one["start"], one["end"]), pl.String)
            .alias(f"sentence {side}")
            for side in "12"
        ),
        pl.col("cat").str.replace_all("_", " ").alias("group"),
        "score",
    )


def _around(sentence: str, start: int, end: int) -> str:
    """Return the part of a sentence around its term, with an ellipsis where it is cut."""
    before, after = sentence[:start], sentence[end:]
    if len(before) > _AROUND:
        before = _CUT + before[-_AROUND:].partition(" ")[2]
    if len(after) > _AROUND:
        after = after[:_AROUND].rpartition(" ")[0] + _CUT
    return f"{before}{sentence[start:end]}{after}"


def _tables(shown: pl.DataFrame, model: str) -> list[PageTable]:
    return [
        PageTable(caption=f"{caption}, by {model}", frame=of_label.select(_COLUMNS))
        for label, caption in _KINDS.items()
        if (of_label := shown.filter(model=model, label=label)).height
    ]
