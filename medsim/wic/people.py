"""The accuracy of people on a benchmark, as a study of its instances found it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from medsim.core.errors import InputError
from medsim.core.opened import open_output
from medsim.core.tables import read_table

if TYPE_CHECKING:
    from medsim.core.opened import Opened
    from medsim.wic.dataset import WicDataset

_SCORES, _TABLE = "scores", "accuracy.csv"


def accuracy_of_people(folder: str | Path, dataset: WicDataset) -> float:
    """Return the mean accuracy of people.

    Args:
        folder: of the scores of a study of instances.
        dataset: the study must be of its test split.

    Raises:
        InputError: the folder holds no such scores, or those of other instances.
    """
    folder = Path(folder)
    opened: Opened[Any] = open_output(folder)
    if opened.kind.name != _SCORES or _TABLE not in opened.manifest.outputs:
        raise InputError(
            f"{folder} has no scores of people on instances; medsim study score writes them of "
            "what medsim study instances made"
        )
    if opened.manifest.source["fingerprint"] != dataset.files["test"]["fingerprint"]:
        raise InputError(
            f"{folder} has scores of people on other instances than those of "
            f"{dataset.files['test']['path']}"
        )
    found = read_table(folder / _TABLE, ("annotator", "accuracy")).frame
    return float(found.filter(annotator="mean")["accuracy"].item())
