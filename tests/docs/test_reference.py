"""The reference matches the declarations in the code, and covers all that the program writes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.commands import commands
from fixtures.every_output import manifests_in, write_every_output
from typer.testing import CliRunner

import medsim
from docs.tools.reference import REFERENCE, lists, pages, written
from docs.tools.table_pages import PARTS, TITLES, file_of
from medsim.cli import app
from medsim.core.opened import open_output
from medsim.embeddings.metrics import METRICS
from medsim.evaluations.statistic import STATISTICS
from medsim.systems.scorers import PREDICTED

if TYPE_CHECKING:
    from fixtures.shared import Once

ROOT = Path(__file__).parents[2]
COMMANDS = commands()
CELL = re.compile(r"(?<!\\)\|")
PLACEHOLDER = re.compile(r"[A-Z]{1,}")


@cache
def text_of(name: str) -> str:
    """Return the text of a page of the reference."""
    return (REFERENCE / name).read_text(encoding="utf-8")


def command_page(name: str) -> str:
    return text_of(f"commands/{name.replace(' ', '-')}.md")


# The pages


def test_the_pages_are_up_to_date() -> None:
    made, on_disk = pages(), written()

    assert on_disk.keys() == made.keys(), "run: just reference"
    assert [name for name in made if made[name] != on_disk[name]] == [], "run: just reference"
    for path, text in lists().items():
        assert path.read_text(encoding="utf-8") == text, f"{path}; run: just reference"


# Commands


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_page_has_all_of_its_help(name: str) -> None:
    page = command_page(name)

    ask = {"prog_name": "medsim", "env": {"COLUMNS": "400"}}
    shown = CliRunner().invoke(app, [*name.split(), "--help"], **ask).stdout

    usage = re.search(r"^Usage: (.*)$", shown, re.MULTILINE)
    assert usage is not None
    assert f"\n{usage[1]}\n" in page
    plain = " ".join(page.replace("\\", "").split())
    head = re.split(r"(?m)^(?:Arguments|Main options|Output):", shown[usage.end() :])[0]
    for paragraph in filter(None, re.split(r"\n\s*\n", head)):
        assert " ".join(paragraph.split()).removeprefix("Example: ") in plain
    for flags in re.findall(r"(?m)^  ((?:-\w, )?--[\w-]+)", shown):
        for flag in flags.split(", "):
            assert f"`{flag}`" in page, flag
    codes = re.findall(r"`(\d+)`", page[page.index("[Exit codes]") :])
    assert {"0", "1", "2", "130", *re.findall(r"[Ee]xit code (\d+)", shown)} <= {*codes}


def test_the_index_has_every_command() -> None:
    listed = re.findall(r"(?m)^\| \[`medsim ([\w ]+)`\]", text_of("commands/index.md"))

    assert sorted(listed) == sorted(COMMANDS)


def test_every_function_with_options_has_a_command() -> None:
    functions = {
        name
        for name in medsim.__all__
        if isinstance(getattr(getattr(medsim, name), "options", None), type)
    }
    linked = {
        link for name in COMMANDS for link in re.findall(r"#medsim\.(\w+)\)", command_page(name))
    }

    assert len(functions) > 20
    assert functions <= linked
    assert linked - functions <= {"Build"}


def test_the_environment_has_every_exit_code_and_variable() -> None:
    page = text_of("environment.md")
    codes = {code for item in COMMANDS.values() for code in item.callback.exit_codes}
    variables = set()
    for path in (ROOT / "medsim").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "environ" in source:
            variables |= set(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', source))

    (failed,) = re.findall(r"(?m)^\| 3 \| (.*) \|$", page)
    failing = {name for name, item in COMMANDS.items() if 3 in item.callback.exit_codes}

    assert failing == {*re.findall(r"`([a-z ]+)`", failed)}
    assert codes == {0, 1, 2, 3, 130}
    assert codes == set(map(int, re.findall(r"(?m)^\| (\d+) \|", page)))
    assert {"MEDSIM_API_KEY", "XDG_CACHE_HOME"} <= variables
    assert [item for item in sorted(variables) if f"`{item}`" not in page] == []


# Statistics and metrics


def test_every_statistic_and_metric_is_listed() -> None:
    headings = re.findall(r"(?m)^### `(\w+)`$", text_of("statistics.md"))
    rows = re.findall(r"(?m)^\| `(\w+)` \|", text_of("metrics.md"))

    assert sorted(headings) == sorted(STATISTICS)
    assert sorted(rows) == sorted([*METRICS.all(), PREDICTED])


# Tables


@dataclass
class ListedTable:
    """A table on a page: the path of its files, its columns, and the rest of its text."""

    path: str
    text: str
    columns: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def column(self, name: str) -> tuple[str, bool] | None:
        """Return the type of a column and whether it may be null; a capital is any name."""
        if name in self.columns:
            return self.columns[name]
        for listed, found_column in self.columns.items():
            parts = (re.escape(part) for part in PLACEHOLDER.split(listed))
            if re.fullmatch(".+".join(parts), name):
                return found_column
        return None


def columns_in(text: str) -> dict[str, tuple[str, bool]]:
    """Return the type of every column in a text, and whether it may be null."""
    rows = [CELL.split(line) for line in re.findall(r"(?m)^\| (`.*) \|$", text)]
    return {
        name: (dtype.strip(), "null" in note)
        for names, dtype, note in (cells for cells in rows if len(cells) == 3)
        for name in re.findall(r"`([^`]+)`", names)
    }


def tables_of(kind: str) -> list[ListedTable]:
    """Return the tables of the pages of a kind of output."""
    names = (file_of(kind), *(file_of(f"{kind}_{part}") for part in PARTS.get(kind, ())))
    return [table for name in names for table in tables_in(text_of(f"tables/{name}"))]


def tables_in(text: str) -> list[ListedTable]:
    tables = []
    common = columns_in(text.partition("\n## Common columns\n")[2].partition("\n## ")[0])
    for part in re.split(r"(?m)^#{2,3} ", text)[1:]:
        path = re.search(r"(?m)^`([^`]+)`$", part)
        table = ListedTable(path[1] if path else "", part)
        table.columns = columns_in(part)
        if listed := re.search(r"(?m)^\[Common columns\]\(#common-columns\): (.*)\.$", part):
            table.columns |= {name: common[name] for name in re.findall(r"`([^`]+)`", listed[1])}
        if table.columns:
            tables.append(table)
    return tables


def other_files(kind: str) -> list[str]:
    page = text_of(f"tables/{file_of(kind)}")
    return re.findall(r"(?m)^\| `([^`]+)` \| [^|]*\|$", page)


def matches(path: str, pattern: str) -> bool:
    return fnmatch(path, pattern.replace("SPLIT", "*"))


@pytest.fixture(scope="module")
def manifests(
    once: Once,
    shared_build: medsim.Build,
    similar_build: medsim.Build,
    shared_splits: medsim.Splits,
    shared_study: medsim.Study,
    shared_benchmark: medsim.Benchmark,
) -> dict[Path, dict]:
    """The manifests of outputs of every kind, by their folders."""
    made = once(
        "every-output",
        lambda folder: write_every_output(folder, shared_build, shared_splits, shared_study),
    )
    shared = (shared_build, similar_build, shared_splits, shared_study, shared_benchmark)
    return manifests_in(made, *(output.folder for output in shared))


def files_of(folder: Path, manifest: dict) -> list[str]:
    """Return the files that lie in an output, without those of builds that splits hold."""
    inner = tuple(f"{name}/" for name in manifest.get("splits", ()))
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = (path.relative_to(folder).as_posix() for path in paths)
    return [name for name in names if name != "manifest.json" and not name.startswith(inner or "/")]


def read(path: Path) -> pl.DataFrame:
    if path.suffix == ".parquet":
        return pl.read_parquet(path, hive_partitioning=False)
    return pl.read_csv(path, infer_schema_length=None)


def is_of(listed: str, dtype: pl.DataType, *, typed: bool) -> bool:
    """Return whether a column has the listed type; CSV only distinguishes text and numbers."""
    if typed:
        return listed == re.sub(r"list\((\w+)\)", r"list of \1", str(dtype).lower())
    if dtype.is_integer():  # of CSV: whole numbers all the same
        return "int" in listed or "float" in listed
    return dtype.is_numeric() == ("float" in listed) and (dtype == pl.Boolean) == (
        listed == "boolean"
    )


def faults_of(table: ListedTable, frame: pl.DataFrame, *, typed: bool) -> list[str]:
    """Return the differences between a page and a file."""
    faults = []
    for name, dtype in frame.schema.items():
        known, n_nulls = table.column(name), frame[name].null_count()
        if known is None:
            faults.append(f"{name} is not listed")
        elif (typed or name in table.columns) and not (
            n_nulls == frame.height
            or (not typed and name == "answer" and dtype.is_integer())  # a text, such as 0 to 6
            or is_of(known[0], dtype, typed=typed)
        ):
            faults.append(f"{name} is {dtype}, not {known[0]}")
        elif not known[1] and n_nulls and (typed or dtype.is_numeric()):
            faults.append(f"{name} has nulls")
    key = re.search(r"(?m)^- Key: (.*)$", table.text)
    columns = re.findall(r"`(\w+)`", key[1]) if key else []
    if columns and {*columns} <= {*frame.columns} and frame.select(columns).is_duplicated().any():
        faults.append(f"{columns} is no key")
    return faults


@pytest.mark.full
@pytest.mark.slow
def test_every_written_file_is_listed_with_its_columns(manifests) -> None:
    kinds, n_tables = set(), 0
    for folder, manifest in manifests.items():
        kind = manifest["kind"]
        kinds.add(kind)
        listed, others = tables_of(kind), other_files(kind)
        for name in files_of(folder, manifest):
            tables = [item for item in listed if matches(name, item.path)]
            if not tables or Path(name).suffix not in {".parquet", ".csv"}:
                assert tables or any(fnmatch(name, item) for item in others), (folder, name)
                continue
            frame = read(folder / name)
            typed = name.endswith(".parquet")
            faults = [faults_of(item, frame, typed=typed) for item in tables]
            assert [] in faults, (folder.name, name, faults)
            n_tables += 1
    assert kinds == TITLES.keys()
    assert n_tables > 100


@pytest.mark.slow
def test_the_views_of_statements_are_listed_with_their_columns(manifests) -> None:
    seen = set()
    for folder, manifest in manifests.items():
        kind = manifest["kind"]
        if kind == "export":
            continue
        listed = tables_of(kind)
        for view, _, columns in open_output(folder).views().iter_rows():
            tables = [t for t in listed if t.text.replace("\\", "").startswith(f"{view}\n")]
            names = re.findall(r"(?:^|, )([\w .-]+?) [\w\[\]]+(?=,|$)", columns)
            assert any(all(table.column(name) for name in names) for table in tables), (kind, view)
            seen.add((kind, view))
    assert len(seen) > 40


# Manifests


def fields_in(section: str) -> set[str]:
    return set(re.findall(r"(?m)^\| `(\w+)` \|", section))


def options_in(section: str) -> set[str]:
    """Return the keys in the lines on options."""
    return set(re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^- .*", section))))


@pytest.mark.slow
def test_every_field_of_a_manifest_is_listed(manifests) -> None:
    page = text_of("manifest.md") + text_of("manifest-kinds.md")
    sections = dict(re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", page))
    of_kind = {
        kind[1]: section
        for section in sections.values()
        if (kind := re.search(r"`kind` is `(\w+)`", section))
    }
    common = fields_in(sections["In every manifest"])
    for folder, manifest in manifests.items():
        head, _, options = of_kind[manifest["kind"]].partition("Its `options`")
        assert manifest.keys() <= common | fields_in(head), folder
        assert {"kind", "medsim", "options", "warnings", "outputs"} <= manifest.keys()
        assert manifest["options"].keys() <= options_in(options), folder
        for part in manifest["outputs"].values():
            assert part.keys() == fields_in(sections["A file of outputs"])
        for part in manifest.get("stages", ()):
            assert part.keys() == fields_in(sections["A stage"])
        for part in manifest.get("skipped", ()):
            assert part.keys() == fields_in(sections["An entry of skipped"])
        source = manifest.get("terminology") or manifest.get("source") or {}
        if "terms_of_use" in source:
            assert source.keys() == fields_in(sections["A terminology"])
            for file in source["files"]:
                assert file.keys() == fields_in(sections["A file of a terminology"])
    assert of_kind.keys() == {part["kind"] for part in manifests.values()}
