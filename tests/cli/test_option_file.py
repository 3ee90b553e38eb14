"""Options from medsim.toml, or from [tool.medsim] of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from medsim.cli import app
from medsim.core.console import between_commas, comma_joined

OWN, SHARED = "medsim.toml", "pyproject.toml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object, text: str = "", name: str = OWN) -> Result:
    Path(name).write_text(text, encoding="utf-8")
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (OWN, "[stats]\nformat = 'csv'\n"),
        (SHARED, "[tool.medsim.stats]\nformat = 'csv'\n"),
        (SHARED, "[tool]\nmedsim.stats.format = 'csv'\n"),
    ],
)
def test_command_line_overrides_the_option_file(shared_build, name: str, text: str) -> None:
    if name == OWN:  # takes precedence
        Path(SHARED).write_text("[tool.medsim.stats]\nformat = 'json'\n", encoding="utf-8")

    assert run("stats", shared_build.folder, text=text, name=name).stdout.startswith("dataset,")
    result = run("stats", shared_build.folder, "--format", "json", text=text, name=name)
    assert result.stdout.startswith("[{")


def test_verbose_prints_the_source_of_options(shared_build) -> None:
    text = "[stats]\nformat = 'csv'\n"

    assert run("stats", shared_build.folder, text=text).stderr == ""
    result = run("stats", shared_build.folder, "--verbose", text=text).stderr
    assert result == "options: --format from medsim.toml\n"


def test_lists_and_tables_of_values_are_parsed_as_on_the_command_line() -> None:
    text = "[eval]\nmetric = ['cos', 'avg_cos']\nout = 'r'\n[eval.embedding]\none = 'nowhere.txt'\n"

    result = run("eval", "rated.csv", text=text)

    assert (result.exit_code, "rated.csv" in result.stderr) == (1, True)
    result = run("eval", "rated.csv", text=text.replace("'cos'", "'kos'"))
    assert "unknown metric 'kos'" in result.stderr
    assert "(--embedding, --out and --metric from medsim.toml)" in result.stderr


def test_groups_of_commands_have_nested_tables() -> None:
    result = run("study", "sample", "nowhere", "-o", "s", text="[study.sample]\nannotators = 3\n")
    assert "nowhere" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[bild]\nseed = 1", "medsim.toml: unknown command 'bild'; did you mean build or rebuild?"),
        ("[build]\nsede = 1", "medsim.toml: build: unknown option 'sede'; did you mean seed"),
        ("[build]\nsource = 'hpo'", "medsim.toml: build: unknown option 'source'"),
        ("[study]\nsampel = {}", "medsim.toml: study: unknown command 'sampel'; did you mean"),
        ("seed = 1", "medsim.toml: unknown command 'seed'"),
        ("build = 1", "medsim.toml: build takes a table of options, not int"),
        ("[build]\nthreads = true", "medsim.toml: build: threads takes a value, not bool"),
        ("[build]\noverwrite = 1", "medsim.toml: build: overwrite takes true or false, not int"),
        ("[build]\nseed = {a = 1}", "medsim.toml: build: seed takes a value, not dict"),
        ("[build]\nseed = [[1]]", "medsim.toml: build: seed takes a text or a number, not list"),
        ("[build]\nseed = -1", "--seed -1 is out of range; 0 to"),
        ("[build]\npool = 'sett'", "unknown pool 'sett'; did you mean set? (--pool from medsim."),
        ("[build\n", "medsim.toml is not TOML ("),
        ("[build]\nas-of = 'x'\n\N{REPLACEMENT CHARACTER}", "medsim.toml is not TOML ("),
    ],
)
def test_errors_in_a_file_are_one_line(text: str, message: str) -> None:
    result = run("build", "nowhere.obo", text=text)

    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_value_of_wrong_type_is_refused_as_on_the_command_line() -> None:
    result = run("build", "nowhere.obo", text="[build]\nthreads = 2.5\n")

    assert result.exit_code == 2
    assert "'--threads'" in result.stderr
    assert "(from medsim.toml)" in result.stderr


def test_help_does_not_read_the_file() -> None:
    assert run("--help", text="[build\n").exit_code == 0
    assert run(text="[build\n").exit_code == 0


@pytest.mark.parametrize(
    ("text", "values"),
    [('"a, b",c', ("a, b", "c")), ("a, b", ("a", "b")), (" ", ()), ('5" x, y', ('5" x', "y"))],
)
def test_values_between_commas_have_commas_in_quotes(text: str, values: tuple[str, ...]) -> None:
    assert between_commas(text) == values
    assert between_commas(comma_joined(values)) == values


def test_value_that_is_not_a_table_is_one_line(shared_build) -> None:
    result = run("stats", shared_build.folder, text="[tool]\nmedsim = 3\n", name=SHARED)
    assert result.exit_code != 0
    assert "[tool.medsim] takes a table of commands, not int" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "text", ["# medsim\n[project\n", "# medsim\n[tool]\nother = 1\n", "tool = 3 # of medsim\n"]
)
def test_file_of_other_tools_has_no_options(shared_build, text: str) -> None:
    assert run("stats", shared_build.folder, text=text, name=SHARED).exit_code == 0
