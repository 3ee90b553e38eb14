"""The command line: output, errors, exit codes and help."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest
from fixtures.categories import categorised_release
from fixtures.commands import commands
from fixtures.program import program
from typer.testing import CliRunner

from medsim.cli import app
from medsim.core import opened
from medsim.embeddings.formats import FORMATS
from medsim.embeddings.options import EmbeddingOptions
from medsim.embeddings.services import RefusedError
from medsim.evaluations.options import TABLES
from medsim.terminologies.sources import SOURCES

COMMAND_OF = commands()
COMMANDS = sorted(COMMAND_OF)
FORMATS_OF_TABLES = ["table", "json", "csv", "md", "latex", "html"]


def run(*arguments: str | Path, **options):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


@pytest.fixture(scope="module")
def out(shared_build) -> Path:
    return shared_build.folder


def page(name: str) -> str:
    """Return the text of a page of the documentation."""
    return (Path(__file__).parents[2] / "docs" / name).read_text(encoding="utf-8")


def test_the_documentation_lists_the_commands() -> None:
    index = page("reference/commands/index.md")
    listed = re.findall(r"(?m)^\| \[`medsim ([\w ]+)`", index)

    assert sorted(listed) == COMMANDS


def test_list_of_sources_says_how_to_recognise_and_get_them() -> None:
    result = run("build", "--list", "--format", "json")

    assert result.exit_code == 0
    actual = json.loads(result.stdout)
    assert {row["source"] for row in actual} == {*SOURCES.all(), "extension", "mappings"}
    assert {row["kind"] for row in actual} == {"built-in", "format", "supplement"}
    assert {row["example"] for row in actual} > {"medsim build desc2026.xml -o mesh"}
    assert actual[0]["kind"] == "built-in"
    assert {row["known_by"] for row in actual} > {"MRCONSO.RRF, or a folder or archive with it"}
    assert all(all(row.values()) for row in actual)


def test_documentation_names_every_format_option_and_table() -> None:
    of_embeddings = [*FORMATS.all(), *(field.name for field in fields(EmbeddingOptions))]
    for names, text in (
        (of_embeddings, page("reference/embeddings.md")),
        (TABLES, page("reference/evaluation.md")),
    ):
        assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.parametrize("group", sorted({name.split()[0] for name in COMMANDS if " " in name}))
def test_a_group_without_a_command_shows_its_help(group: str) -> None:
    result = run(group)

    assert result.exit_code == 2
    assert result.stderr.strip() == run(group, "--help").stdout.strip()
    assert len(result.stderr.splitlines()) > 10


def example_of(command: str) -> list[str]:
    """Return the words of the example in the help of a command."""
    example = re.search(
        r"Example: medsim (.*)", inspect.cleandoc(COMMAND_OF[command].help), re.DOTALL
    )
    assert example is not None
    return shlex.split(" ".join(example[1].split()))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help_with_an_example_that_parses(command: str) -> None:
    result = run(*command.split(), "--help")

    assert result.exit_code == 0
    assert "Writes" in result.stdout
    words = example_of(command)
    depth = len(command.split())
    assert words[:depth] == command.split()
    assert COMMAND_OF[command].make_context(command, words[depth:])
    for parameter in COMMAND_OF[command].params:
        if parameter.name != "help":
            assert getattr(parameter, "help", None), (command, parameter.name)


WRITTEN = ["--out", "--then", "--cache"]
"""The options that name files or folders to write."""

TO_STORES = {"build", "split", "export", "eval", "map", "nearest", "merge"}
"""The commands whose output may be at an address of an object store."""


@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_is_not_a_place_to_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = {flag for parameter in COMMAND_OF[command].params for flag in parameter.opts}
    assert ("-o" in flags) == ("--out" in flags)
    for flag, scheme in product(flags & {*WRITTEN}, ["s3", "gs", "az", "hdfs", "file", "HTTPS"]):
        if flag == "--out" and command in TO_STORES and scheme in {"s3", "gs"}:
            continue
        result = run(*example_of(command), flag, f"{scheme}://bucket/out.html")

        fault = f"{flag} takes a local path, not the address {scheme}://bucket/out.html"
        assert (result.exit_code, result.stderr) == (1, f"error: {fault}\n")
    assert not [*tmp_path.iterdir()]


def test_a_path_with_a_drive_or_a_colon_is_not_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (r"C:\release.zip", "s3:b.zip"):
        result = run("synth", "--concepts", "20", "-o", name)
        assert result.exit_code == 0, result.stderr


def test_sql_prints_the_rows_of_a_piped_statement(out: Path) -> None:
    statement = "select label, count(*) as n from pair group by label order by label\n"

    result = run("sql", out, "--format", "json", input=statement)

    assert [row["label"] for row in json.loads(result.stdout)] == [0, 1]


def test_sql_without_a_statement_lists_the_views(out: Path) -> None:
    result = run("sql", out, "--format", "json", input="")

    views = {row["view"]: row for row in json.loads(result.stdout)}
    tables = ["concept", "description", "association", "is_a", "code", "term"]
    assert list(views) == [*tables, "pair", "positive", "stats"]
    assert views["stats"]["rows"] == 20
    assert "term1 varchar" in views["pair"]["columns"]
    assert "negatives varchar" in views["pair"]["columns"]


def test_sql_reads_another_output_under_its_name(out: Path) -> None:
    joined = "select count(*) as n from stats join new.stats using (dataset, difficulty, negatives)"

    result = run("sql", out, "--with", f"new={out}", "--format", "json", joined)

    assert json.loads(result.stdout) == [{"n": 20}]
    views = run("sql", out, "--with", f"new={out}", "--format", "csv", input="").stdout
    assert "\nnew.stats,20," in views
    for named in ("new", f"new={out}/none"):
        assert run("sql", out, "--with", named, joined).exit_code == 1


def test_sql_refuses_other_statements(out: Path) -> None:
    result = run("sql", out, f"copy pair to '{out}/x.csv'")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: expected one select statement")
    assert result.stderr.count("\n") == 1
    assert not (out / "x.csv").exists()


def test_verify_exits_with_3_and_names_broken_promises(out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    stats = pl.read_parquet(copy / "stats.parquet")
    stats.with_columns(pl.col("n_terms") + 1).write_parquet(copy / "stats.parquet")

    result = run("verify", copy, "--sample", "0")

    assert result.exit_code == 3
    *_, fingerprint, stats_line, outcome, error = result.stderr.splitlines()
    assert fingerprint.startswith("fingerprint: Every file matches its fingerprint in")
    assert stats_line.endswith("1 violation, such as stats.parquet")
    assert outcome == "2 of 23 guarantees do not hold"
    assert error == f"error: {copy}: fingerprint, stats do not hold"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "out of memory"),
        (RefusedError("`memory` is bad", 401, ""), "--memory is bad"),
    ],
)
def test_errors_are_one_line(
    out: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    monkeypatch.setattr(opened, "open_output", Mock(side_effect=error))

    result = run("sql", out, "select 1")

    assert (result.exit_code, result.stderr) == (1, f"error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["build", "nowhere.zip", "-o", "x"], 1, "no file or folder 'nowhere.zip'\n"),
        (["build", "hpoo", "-o", "x"], 1, "did you mean hpo?"),
        (["wic", "build", "x.txt", "-t", "mesh"], 2, "Missing option"),
        (["build", "hpo", "-o", "x", "--seed", "-1"], 1, "--seed -1 is out of range"),
        (["build", "hpo", "-o", "x", "--synonyms", "exakt"], 1, "did you mean exact or"),
        (["build", "hpo", "-o", "x", "--as-of", "yesterday"], 2, "yesterday"),
        (["build", "hpo", "-o", "x", "--format", "pdf"], 1, "unknown format 'pdf'; known: csv"),
        (["sql", "x", "\udcff"], 1, r"STATEMENT '\udcff' is not UTF-8; write it in UTF-8"),
        (["stats", "nowhere"], 1, "there is no folder nowhere"),
        (["sql", "`seed`", "select 1"], 1, "error: there is no folder `seed`"),
        (
            ["verify", "nowhere"],
            1,
            "there is no folder nowhere; medsim build or medsim split makes one",
        ),
        (["verify", "nowhere", "--sample", "-1"], 1, "--sample -1 is out of range"),
        (["sql", "nowhere", "--threads", "9" * 20], 1, f"--threads {'9' * 20} is out of range"),
        (["compare", "nowhere", "--table", "acuracy"], 1, "did you mean accuracy"),
        (["bild"], 2, "bild"),
        (["study", "piars"], 2, "piars"),
        (["study", "pairs", "nowhere.csv", "-o", "x.csv"], 1, "are biomedical: add --biomedical"),
        (["build", "hpo", "-o", "x", "--shard", "one"], 1, "--shard 'one' is not a shard"),
        (["stats", "x" * 300], 1, "File name too long"),
        (["synth", "-o", "x" * 300, "--concepts", "9"], 1, "File name too long"),
        (["stats", "no\nwhere\x1b[31m"], 1, r"there is no folder no\nwhere\x1b[31m"),
    ],
)
def test_invalid_arguments_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run(*arguments)

    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1 or code == 2
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_unwritable_table_is_one_line(out: Path) -> None:
    command = f"{shlex.join((str(program()), 'stats', str(out)))} >/dev/full"

    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)

    assert result.returncode == 1
    assert result.stderr == "error: cannot write the table: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "names", "expected"),
    [
        (
            "import medsim.cli",
            "sys.modules.keys() & {'numpy', 'polars', 'duckdb', 'numba'}",
            "set()",
        ),
        (
            "from medsim.cli import app; app(['--help'], standalone_mode=False)",
            "sys.modules.keys() & {'numpy', 'polars', 'duckdb', 'numba'}",
            "set()",
        ),
        (
            "from medsim.cli import app; app(['wic', 'stats', '--help'], standalone_mode=False)",
            "{one.split('.')[1] for one in sys.modules if one.endswith('.commands')}",
            "{'wic'}",
        ),
    ],
    ids=["the program imports nothing slow", "nor its help", "a command its own package"],
)
def test_commands_import_only_what_they_need(code: str, names: str, expected: str) -> None:
    program = f"import sys; {code}; sys.exit({names} != {expected})"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.slow
def test_the_package_runs_as_a_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "medsim", "--version"], capture_output=True, text=True, check=True
    )

    assert re.fullmatch(r"medsim \d+\.\d+\.\d+\n", ran.stdout)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of two embeddings on a build and a rated file."""
    folder = tmp_path_factory.mktemp("evaluated")
    categorised_release(5, 60).write_zip(folder / "release.zip", "Snapshot")
    assert run("build", folder / "release.zip", "-o", folder / "out").exit_code == 0
    (folder / "rated.tsv").write_text("a b\tc\t3\nb\tc\t1\na\tb\t2\na\tc\t5\n", encoding="utf-8")
    (folder / "words.csv").write_text("word,count\na,5\nb,7\nc,70\n", encoding="utf-8")
    (folder / "one.txt").write_text(
        "a 1 2 0\nb 3 1 1\nc 0 1 4\norl 1 0 2\nnub 2 2 1\ndar 3 0 1\nfen 1 4 1\n", encoding="utf-8"
    )
    (folder / "two.txt").write_text(
        "a 1 2 2\nb 1 1 3\nc 2 1 4\nbim 1 3 2\nnub 2 0 1\ndar 0 3 1\nfen 4 1 1\n", encoding="utf-8"
    )
    result = run(
        "eval",
        *(folder / "out", f"{folder / 'rated.tsv'},term1=1,term2=2,rating=3"),
        *("--embedding", f"one={folder / 'one.txt'}", "-e", f"two={folder / 'two.txt'},case=lower"),
        *("-o", folder / "results", "--resamples", "100"),
        *("--cache", folder / "cache", "--retrieval", "--separation"),
        *("--words", folder / "words.csv", "--bins", "1,10"),
    )
    assert result.exit_code == 0, result.output
    assert "spearman" in result.stdout
    assert "compare pairs of rated with one" in result.stderr
    return folder / "results"


MADE = [name for name in TABLES[1:] if name not in {"ladder", "robustness"}]  # have their own tests


@pytest.mark.parametrize(
    ("table", "form"),
    [*product(["best", "separation"], FORMATS_OF_TABLES), *product(MADE, ["json"])],
)
def test_every_table_is_printed_in_its_format(
    evaluated: Path, table: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("medsim.evaluations.compare.FEW", 1)  # the sets are small
    result = run("compare", evaluated, "--table", table, "--format", form)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip()
    if form == "json":
        assert isinstance(json.loads(result.stdout), list)


def test_categories_without_vectors_have_no_table(evaluated: Path, tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("a 1 2\n", encoding="utf-8")
    arguments = ("-e", f"none={tmp_path / 'none.txt'}", "-o", tmp_path / "results", "--separation")
    assert run("eval", evaluated.parent / "out", *arguments).exit_code == 0
    result = run("compare", tmp_path / "results", "--table", "separation")
    assert result.stderr.endswith("has no errors: too few terms have a vector\n")


def test_unknown_subset_or_comparison_is_refused(evaluated: Path, out: Path) -> None:
    for arguments, message in (
        ([evaluated, "--subset", "all"], "unknown subset 'all'"),
        ([out], "is a build, not an evaluation; medsim eval makes one"),
    ):
        result = run("compare", *arguments)
        assert result.exit_code == 1
        assert message in result.stderr
