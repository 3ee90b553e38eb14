"""The folder of a study's scores."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.core.manifest import medsim_version
from medsim.core.output import claimed
from medsim.core.tables.guard import guarded
from medsim.studies.output import SCORES, ScoresManifest
from medsim.studies.sheets.label_studio import annotated_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from medsim.studies.folder import Study
    from medsim.studies.score import Scores
    from medsim.studies.sheets.answers import Answers


def write_scores(
    scores: Scores,
    study: Study,
    found: Answers,
    options: dict[str, object],
    out: Path,
    *,
    overwrite: bool,
) -> None:
    """Write tables as CSV, and answers for Label Studio, to a folder that appears whole or not."""
    files = [{"name": path.name, "sha256": _digest(path)} for path in found.files]
    with claimed(out, SCORES, overwrite=overwrite) as output:
        for name, table in scores.tables.items():
            output.write_text(f"{name}.csv", _for_spreadsheets(name, table), table.height)
        for sheet in study.sheets():
            own = dict(
                found.frame.filter(annotator=sheet.annotator)["entry_id", "value"].iter_rows()
            )
            if own:
                text = annotated_tasks(sheet, own)
                output.write_text(f"label_studio/{sheet.annotator}.json", text, len(own))
        ScoresManifest(
            medsim=medsim_version(),
            study_id=scores.study_id,
            answers=files,
            options=options,
            warnings=list(scores.warnings),
            outputs=dict(sorted(output.outputs.items())),
        ).write(output.folder)
        output.publish()


def _for_spreadsheets(name: str, table: pl.DataFrame) -> str:
    """Return a table as CSV that a spreadsheet shows as it stands and runs nothing of.

    The rated set is for programs: its terms stand as they are.
    """
    if name != "rated":
        text = (pl.col(name) for name, kind in table.schema.items() if kind == pl.String)
        table = table.with_columns(one.map_elements(guarded, pl.String) for one in text)
    return table.write_csv(include_bom=True)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
