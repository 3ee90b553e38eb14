"""The notebook of the documentation runs, and prints what it says.

After a change, run it again, which stores its output:

    python tests/docs/test_notebook.py
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "how-to" / "notebook.ipynb"
PATIENCE = 300  # seconds for a cell


def executed(folder: Path) -> Any:
    """Return the notebook after a run in a folder, without times and sizes of pictures.

    Progress on the standard error stream is left out, since it differs from run to run.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    compiled = os.environ.get("NUMBA_CACHE_DIR") or str(Path(users, "medsim"))  # of all tests
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    paths = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": compiled}
    paths["XDG_CACHE_HOME"] = str(folder / "caches")
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=PATIENCE, record_timing=False, resources=place)
    client.execute(cwd=str(folder), env={**os.environ, **paths})
    for cell in notebook.cells:
        cell.metadata.clear()
        if "outputs" in cell:
            cell.outputs = [item for item in cell.outputs if item.get("name") != "stderr"]
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).clear()
    return notebook


def printed(notebook: Any) -> list[str]:
    """Return the texts that cells print; markup and pictures differ with versions of libraries."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [item["data"]["text/plain"] if "data" in item else item["text"] for item in outputs]


def test_the_notebook_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for name in ("nbclient", "ipykernel", "altair", "vl_convert"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    kept = nbformat.read(NOTEBOOK, as_version=4)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own libraries
        notebook = executed(tmp_path)

    assert len(kept.cells) == 10
    assert printed(notebook) == printed(kept)
    pictures = [o for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    assert sum("image/png" in item["data"] for item in pictures) == 1


def test_the_notebook_names_no_path_of_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")

    assert not any(place in text for place in ("/home/", "/tmp/", "/root/", str(ROOT)))  # noqa: S108 — none is opened


if __name__ == "__main__":
    import nbformat

    with TemporaryDirectory() as made:
        nbformat.write(executed(Path(made)), NOTEBOOK)
