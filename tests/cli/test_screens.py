"""Output of commands on terminals of 80, 100 and 160 columns, and into a pipe.

The screens are stored in the folder screens. After an intended change, write them again, and review
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
from fixtures.screens import inputs_in, write_inputs
from rich.cells import cell_len
from typer.testing import CliRunner, Result

from medsim.cli import app
from medsim.core.printing import quoted
from medsim.core.table_formats import TABLE_FORMATS, TableFormat

if TYPE_CHECKING:
    import polars as pl

pytestmark = pytest.mark.slow

SCREENS = Path(__file__).with_name("screens")
WIDTHS = (80, 100, 160)

OF_HELP = ("", "--help", "build --help", "eval --help", "study --help")
"""Commands whose text has the same width everywhere."""

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
    "verify BUILD --sample 0 --seed 1",
    "compare RESULTS",
    "compare RESULTS --table standings",
    "compare RESULTS --table coverage",
    "compare RESULTS --table all-auc",
    "compare RESULTS --table rated",
    "wic stats WIC",
    "wic verify WIC",
)
"""Commands that print tables."""

OF_OUTPUTS = (
    "synth -o release.zip --concepts 20",
    "convert RELEASE -o converted.zip",
    "diff BUILD ONTOLOGY -o changes",
    "build RELEASE -o build --negatives random",
    "split BUILD -o splits --ratios 60/20/20",
    "audit BUILD -o audit --since RELEASE",
    "export SPLITS -o out --for jsonl --n-negatives 2",
    "export BUILD -o out --for duckdb",
    "export BUILD -o out --for mteb --private --datasets fsn_syn",
    "export BUILD -o out --for sapbert",
    "export BUILD -o out --for sentence-transformers --datasets fsn_syn",
    "export BUILD -o out --for huggingface --private",
    "eval BUILD RATED -e one=VECTORS -o results --metric avg_cos --resamples 100",
    "report RESULTS -o report.html",
    "correlate MODELS TASKS",
    "tag CORPUS -e own=VECTORS -o tags --trials 2 --epochs 2 --random 4",
    "study sample BUILD -o study --per-class 2 --annotators ada,ben",
    "study score STUDY ANSWERS --resamples 100",
    "study score STUDY ANSWERS -o scores --resamples 100 --table agreement",
    "study score STUDY ANSWERS --resamples 100 --table annotators",
    "study score STUDY ANSWERS --resamples 100 --table disagreements",
    "study score STUDY ANSWERS --resamples 100 --table corrections",
    "study score STUDY ANSWERS --resamples 100 --table missing",
    "study grade PAIRS -o study --raters 4 --consistency 6 --duplicates 3",
    "study score GRADED RATINGS -o scores --resamples 100",
    "study score GRADED RATINGS --resamples 100 --table raters",
    "study score GRADED RATINGS --resamples 100 --table parts",
    "study instances WIC -o study --annotators ada,ben --size 20 --common 8",
    "study domains WORDS -o study --annotators ada,ben --no-lemmas",
    "study inspect PAIRS -o study --annotators ada,ben",
    "study pairs WORDS -o pairs.csv --biomedical LIST --norms NORMS --size 4 --no-lemmas",
    "wic build CORPUS --terminology ONTOLOGY -o wic",
    "wic eval WIC -o scores -m random -m words=VECTORS",
    "wic stats WIC --table 4",
)
"""Commands that write an output, and commands that use it."""


@pytest.fixture(scope="module")
def folders(shared_build, shared_evaluation, shared_benchmark) -> dict[str, Path]:
    return {
        "BUILD": shared_build.folder,
        "RESULTS": shared_evaluation.folder,
        "WIC": shared_benchmark.folder,
    }


@pytest.fixture(scope="module")
def inputs(
    folders, once, shared_release, shared_build, shared_splits, shared_study
) -> dict[str, Path]:
    input_folders = once("screens", lambda to: write_inputs(to, shared_build, shared_study))
    return {
        **folders,
        **inputs_in(input_folders),
        "RELEASE": shared_release,
        "SPLITS": shared_splits.folder,
        "STUDY": shared_study.folder,
        "ONTOLOGY": folders["WIC"].parent / "velpish.obo",
    }


def run(command: str, folders: dict[str, Path]) -> Result:
    words = [
        re.sub(r"[A-Z]{3,}$", lambda match: str(folders.get(match[0], match[0])), word)
        for word in shlex.split(command)
    ]
    result = CliRunner().invoke(app, words, prog_name="medsim", terminal_width=78)
    assert result.exit_code == 0, result.output
    return result


def check_screen(command: str, screen: str) -> None:
    """Compare the output of a command with the stored screen."""
    left_out = r" (?:-[oem]|--resamples|--metric) \S+"
    words = re.findall(r"\w+", re.sub(left_out, "", command))
    name = "-".join(words[:6]).lower() or "medsim"
    path = SCREENS / f"{name}.txt"
    if os.environ.get("WRITE_SCREENS"):
        path.write_text(screen, encoding="utf-8")
    rewrite = "to store it: WRITE_SCREENS=1 just test tests/cli/test_screens.py"
    assert path.read_text(encoding="utf-8") == screen, rewrite


@pytest.mark.parametrize("command", OF_HELP)
def test_help_matches_the_stored_screen(command: str) -> None:
    text = run(command, {}).stdout

    assert max(map(cell_len, text.splitlines())) <= 80
    check_screen(command, text)


def masked(messages: str, folders: dict[str, Path]) -> str:
    """Return lines of messages without differences between runs and machines."""
    for word, folder in sorted(folders.items(), key=lambda item: -len(str(item[1]))):
        messages = messages.replace(str(folder), word)
    messages = re.sub(r"(?m)^.*(?:compile the search|: compiling).*\n", "", messages)
    messages = re.sub(r"\(\d+\.\d s\b[^)]*\)", "(0.0 s)", messages)
    return re.sub(r"\d+\.\d MB", "0.0 MB", messages)


@pytest.mark.some(5)
@pytest.mark.parametrize("command", OF_TABLES)
def test_tables_match_the_stored_screens(
    command: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_screen(command, screens_of(command, folders, monkeypatch))


@pytest.mark.some(12)
@pytest.mark.parametrize("command", OF_OUTPUTS)
def test_messages_match_the_stored_screens(
    command: str, inputs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))

    check_screen(command, screens_of(command, inputs, monkeypatch, messages=True))


def screens_of(
    command: str,
    folders: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    *,
    messages: bool = False,
) -> str:
    """Return the output of a command at every width, and into pipes."""
    screens: dict[int, list[str]] = {width: [] for width in WIDTHS}

    def at_every_width(rendering: TableFormat, frame: pl.DataFrame) -> str:
        assert rendering is TABLE_FORMATS["table"]
        for width, texts in screens.items():
            texts.append(rendering.fitted(frame, width)[0])
            assert max(map(cell_len, texts[-1].splitlines())) <= width
            assert not {*re.findall(r" is the same as (\w+)", " ".join(texts[-1].split()))} & {
                *names_below(texts[-1])
            }
        return rendering.render(frame)

    monkeypatch.setattr("medsim.core.printing._rendered", at_every_width)
    result = run(command, folders)

    texts = {str(width): "\n\n".join(parts) + "\n" for width, parts in screens.items()}
    texts["a pipe"] = result.stdout
    if messages:
        texts["messages"] = masked(result.stderr, folders)
    return "".join(f"== {where}\n{text}" for where, text in texts.items())


def names_below(text: str) -> list[str]:
    """Return the words of the line that names columns that do not fit."""
    return re.findall(r"\w+", text.partition(" more column")[2])


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


def test_messages_next_to_tables(folders: dict[str, Path]) -> None:
    result = run("verify BUILD --sample 0 --seed 1", folders)
    assert result.stderr.splitlines()[-1].startswith("all 23 guarantees hold for a sample: ")
    assert run("verify BUILD --sample 0 --quiet", folders).stderr == ""

    missing, signs = run("compare RESULTS", folders).stderr.splitlines()
    assert signs.endswith("worse than 0; *: not significantly different from the best")
    assert missing.startswith("\N{EN DASH}: no pair is covered (build possibly_equivalent_to easy ")
    for options in ("--format json", "--table rated"):
        assert run(f"compare RESULTS {options}", folders).stderr == ""


@pytest.mark.parametrize(
    ("name", "shown"), [("öut-1", "öut-1"), ("a b", "'a b'"), ("$(x)", "'$(x)'"), ("it's", None)]
)
def test_paths_in_next_steps_are_quoted_for_the_shell(name: str, shown: str | None) -> None:
    assert quoted(Path(name)) == (shown or shlex.quote(name))
    assert shlex.split(quoted(name)) == [name]
