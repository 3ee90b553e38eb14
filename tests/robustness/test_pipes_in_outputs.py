"""A pipe in place of a file of an output is refused, and not waited for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from fixtures.corpora import invented_names, write_ontology
from typer.testing import CliRunner

import medsim
from medsim.cli import app

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("alarm")]

COMMANDS = {
    "split": ["split", "BUILD", "-o", "OUT"],
    "verify": ["verify", "BUILD"],
    "sql": ["sql", "BUILD", "select count(*) from VIEW"],
    "export": ["export", "BUILD", "-o", "OUT", "--for", "jsonl"],
    "audit": ["audit", "BUILD", "-o", "OUT"],
    "diff": ["diff", "BUILD", "WHOLE", "-o", "OUT"],
    "nearest": ["nearest", "BUILD"],
    "report": ["report", "BUILD", "-o", "PAGE"],
}
FILES = {
    "concept": "terminology/concept.parquet",
    "description": "terminology/description.parquet",
    "is_a": "terminology/is_a.parquet",
    "term": "**/term*.parquet",
    "stats": "stats.parquet",
    "pair": "pairs/**/*.parquet",
}
READS = {  # of a command, the views that it must read
    "split": {"concept", "description"},
    "verify": {*FILES},
    "sql": {*FILES},
    "audit": {"concept", "description"},
    "nearest": {"concept", "description"},
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_ontology(tmp_path_factory.mktemp("pipes"), invented_names(3, 20))


@pytest.fixture(scope="module")
def whole(source: Path) -> Path:
    return medsim.build(source, source.parent / "build", negatives=["random"], threads=1).folder


@pytest.mark.some(12)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("view", FILES)
def test_no_command_waits_for_a_pipe(tmp_path: Path, whole: Path, command: str, view: str) -> None:
    folder = tmp_path / "build"
    shutil.copytree(whole, folder)
    file = next(folder.glob(FILES[view]))
    file.unlink()
    os.mkfifo(file)
    places = {"BUILD": folder, "WHOLE": whole, "OUT": tmp_path / "out"}
    places["PAGE"] = tmp_path / "out.html"
    arguments = [str(places.get(part, part)).replace("VIEW", view) for part in COMMANDS[command]]

    result = CliRunner().invoke(app, arguments)

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if view in READS.get(command, ()):
        assert result.exit_code
    if result.exit_code and command != "verify":  # which lists files that are not as written
        assert "is a pipe" in result.stderr or "it is not a file" in result.stderr, result.stderr
