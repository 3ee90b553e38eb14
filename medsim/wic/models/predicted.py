"""A model whose predictions are in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from medsim.core.errors import InputError, OptionError, check_known
from medsim.core.reading import expanded, reading
from medsim.core.tables import TextTable, read_table
from medsim.embeddings.options import parse_named
from medsim.kernels.types import Flags, Rows, Values
from medsim.wic.dataset import IDENTITY, WicDataset
from medsim.wic.models import MODELS, ModelAnswers, WicModel, fixed_answers, threshold_answers

if TYPE_CHECKING:
    from medsim.wic.models import Context


_ANSWERS = {
    **dict.fromkeys(("1", "1.0", "t", "true", "yes"), True),
    **dict.fromkeys(("0", "0.0", "f", "false", "no"), False),
}
_COLUMNS = ("prediction", "score", *IDENTITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedModel(WicModel):
    """A model whose predictions are in a file.

    Attributes:
        file: its answers or scores on the test split.
        dev: its scores on the dev split, if ``file`` has scores only.
    """

    way: ClassVar[str] = "file"

    file: Path
    dev: Path | None

    @classmethod
    def parse(cls, text: str) -> PredictedModel:
        """Return the model that a text such as "llm=answers.csv" names."""
        example = "llm=answers.csv,dev=dev-answers.csv"
        name, path, options = parse_named(text, "`predictions`", example)
        check_known("option of predictions", ["dev"], *options)
        dev = options.get("dev")
        return cls(name=name, file=expanded(path), dev=None if dev is None else expanded(dev))

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:  # noqa: ARG002
        """Return the answers in the file, or the answers by a threshold on its scores."""
        given, given_scores, sha256 = read_predictions(self.file, dataset.instances[dataset.tested])
        digests = {str(self.file): sha256}
        scores = np.full(dataset.instances.height, np.nan)
        if given_scores is not None:
            scores[dataset.tested] = given_scores
        if self.dev is not None and (
            given is not None or dataset.is_crossed or not len(dataset.dev)
        ):
            raise OptionError(
                f"dev={self.dev} does not apply: {self.file} has predictions, or {dataset.name} no "
                "dev split; leave it out, or add `dev`"
            )
        if given is not None:
            positive = np.zeros(len(scores), np.bool_)
            positive[dataset.tested] = given
            return replace(fixed_answers(positive, scores), digests=digests)
        if self.dev is not None:
            _, of_dev, sha256 = read_predictions(self.dev, dataset.instances[dataset.dev])
            if of_dev is None:
                raise OptionError(f"{self.dev} has no column 'score', unlike {self.file}")
            scores[dataset.dev] = of_dev
            digests[str(self.dev)] = sha256
        elif not dataset.is_crossed:
            raise OptionError(
                f"{self.file} has only scores; add scores of the dev split to choose a threshold: "
                f"`predictions` {self.name}={self.file},dev=PATH"
            )
        answers = threshold_answers(dataset, lambda _round: scores, lambda round_: round_.dev)
        return replace(answers, digests=digests)


MODELS.register(PredictedModel.way, PredictedModel)


def read_predictions(
    path: Path, instances: pl.DataFrame
) -> tuple[Flags | None, Values | None, str]:
    """Return the predictions in a file.

    A file is CSV, TSV, Parquet or JSON lines, with a column ``prediction`` (1, T, true or yes; 0,
    F, false or no; letter case does not matter), a column ``score``, or both. Rows are in the order
    of the instances, or have the columns of ``instances.IDENTITY``. An error names the line.

    Returns:
        bool[n_instances], whether both terms have one meaning; float64[n_instances], scores that
        are higher if the same meaning is more likely; and the SHA-256 of the file. Answers or
        scores are None if the file lacks them.
    """
    with reading(path, "predictions"):
        table = read_table(path, (), _COLUMNS)
        columns = table.frame.columns
        if "prediction" not in columns and "score" not in columns:
            raise InputError(f"{path} has neither a column 'prediction' nor a column 'score'")
        rows = _rows_of(table, instances)
        answers = _answers(table)[rows] if "prediction" in columns else None
        scores = _scores(table)[rows] if "score" in columns else None
        return answers, scores, table.sha256


def _answers(table: TextTable) -> Flags:
    answers = pl.Series(
        [_ANSWERS.get(cell.lower()) for cell in table.frame["prediction"]], dtype=pl.Boolean
    )
    table.refuse(answers.is_null(), "prediction", "is not 1, 0, T, F, true, false, yes or no")
    return answers.to_numpy()


def _scores(table: TextTable) -> Values:
    scores = table.frame["score"].cast(pl.Float64, strict=False).fill_null(math.nan)
    table.refuse(~scores.is_finite(), "score", "is not a finite number such as 0.85")
    return scores.to_numpy()


def _rows_of(table: TextTable, instances: pl.DataFrame) -> Rows:
    """Return the row of each instance in the file: int[n_instances]."""
    columns = [name for name in IDENTITY if name in table.frame.columns]
    if not columns:
        if table.frame.height != instances.height:
            raise InputError(
                f"{table.path} has {table.frame.height:,} rows for {instances.height:,} instances; "
                f"give a row for each in order, or columns {', '.join(IDENTITY)}"
            )
        return np.arange(instances.height)
    if len(columns) < len(IDENTITY):
        raise InputError(
            f"{table.path} has {', '.join(columns)}; give all of {', '.join(IDENTITY)}, or none "
            "for rows in the order of the instances"
        )
    keys = instances.select(pl.col(IDENTITY).cast(pl.String).str.strip_chars())
    given = table.frame.select(IDENTITY)
    numbered = given.with_row_index("row")
    unknown = numbered.join(keys, on=IDENTITY, how="anti")["row"]
    table.refuse(numbered["row"].is_in(unknown.implode()), "sentence1", "is not of an instance")
    table.refuse(given.is_duplicated(), "sentence1", "is of an instance that several rows have")
    rows = keys.join(numbered, on=IDENTITY, how="left", maintain_order="left")["row"]
    if rows.has_nulls():
        raise InputError(f"{table.path} has no instance {rows.is_null().arg_true()[0] + 1}")
    return rows.cast(pl.Int64).to_numpy()
