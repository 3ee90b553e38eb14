"""What commands print on terminals of 80, 100 and 160 columns, and into a pipe.

The screens are kept in the folder screens. Where a change is meant, write them anew, and look at
the difference:

    WRITE_SCREENS=1 python -m pytest tests/cli/test_screens.py
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from medsim.cli import app
from medsim.core.formats import table

if TYPE_CHECKING:
    import polars as pl

SCREENS = Path(__file__).with_name("screens")
WIDTHS = (80, 100, 160)

OF_HELP = ("", "--help", "build --help", "eval --help", "study --help")
"""Commands whose text is as wide everywhere."""

OF_TABLES = (
    "build --list",
    "stats BUILD",
    "sql BUILD",
    "sql BUILD 'select * from pair order by pair_id, dataset, negatives limit 9'",
    *(
        pytest.param(f"sql BUILD '{statement}'", marks=pytest.mark.slow)
        for statement in (
            "select * from stats order by all",
            "select concept_id, active from concept order by concept_id",
        )
    ),
    "verify BUILD --sample 0",
    "compare RESULTS",
    "compare RESULTS --table standings",
    "compare RESULTS --table coverage",
    "compare RESULTS --table all-auc",
    "compare RESULTS --table rated",
    "wic stats WIC",
    "wic verify WIC",
)
"""Commands that print tables."""


@pytest.fixture(scope="module")
def folders(shared_build, shared_evaluation, shared_benchmark) -> dict[str, Path]:
    return {
        "BUILD": shared_build.folder,
        "RESULTS": shared_evaluation.folder,
        "WIC": shared_benchmark.folder,
    }


def run(command: str, folders: dict[str, Path]) -> Result:
    words = [str(folders.get(word, word)) for word in shlex.split(command)]
    result = CliRunner().invoke(app, words, prog_name="medsim", terminal_width=78)
    assert result.exit_code == 0, result.output
    return result


def check_screen(command: str, found: str) -> None:
    """Compare what a command prints with what is kept."""
    name = "-".join(re.findall(r"\w+", command)[:6]).lower() or "medsim"
    kept = SCREENS / f"{name}.txt"
    if os.environ.get("WRITE_SCREENS"):
        kept.write_text(found, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == found


@pytest.mark.parametrize("command", OF_HELP)
def test_help_is_as_it_is_kept(command: str) -> None:
    text = run(command, {}).stdout

    assert max(map(cell_len, text.splitlines())) <= 80
    check_screen(command, text)


@pytest.mark.parametrize("command", OF_TABLES)
def test_tables_are_as_they_are_kept(
    command: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    screens: dict[int, list[str]] = {width: [] for width in WIDTHS}

    def at_every_width(rendering: object, frame: pl.DataFrame) -> str:
        assert rendering is table
        for width, texts in screens.items():
            texts.append(table.fitted(frame, width))
            assert max(map(cell_len, texts[-1].splitlines())) <= width
        return table.render(frame)

    monkeypatch.setattr("medsim.core.printing._rendered", at_every_width)
    in_pipe = run(command, folders).stdout

    texts = {str(width): "\n\n".join(parts) + "\n" for width, parts in screens.items()}
    texts["a pipe"] = in_pipe
    check_screen(command, "".join(f"== {where}\n{text}" for where, text in texts.items()))


def test_a_terminal_gets_the_first_rows_of_a_statement(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "sql BUILD 'select term1 from pair'"
    n_rows = run(command, folders).stdout.count("\n") - 2
    assert n_rows > 40

    monkeypatch.setattr("medsim.core.printing.terminal_width", lambda: 80)
    shown = run(command, folders)

    assert shown.stdout.count("\n") == 40 + 2
    assert shown.stderr == "the first 40 rows are shown; --format csv prints all\n"
    assert run(f"{command} --format csv", folders).stdout.count("\n") == n_rows + 1


def test_verify_ends_with_a_sentence_unless_it_is_to_be_quiet(folders: dict[str, Path]) -> None:
    said = run("verify BUILD --sample 0", folders)

    assert said.stderr.splitlines()[-1] == "all 24 promises hold"
    assert run("verify BUILD --sample 0 --quiet", folders).stderr == ""


def test_signs_are_explained_where_they_are_printed(folders: dict[str, Path]) -> None:
    said = "+1-0: significantly better than 1, worse than 0; *: best, or not told from it\n"

    assert run("compare RESULTS", folders).stderr == said
    assert run("compare RESULTS --format json", folders).stderr == ""
    assert run("compare RESULTS --table rated", folders).stderr == ""
