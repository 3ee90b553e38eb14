"""Every kind of output is listed, opened and readable by SQL as declared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.builds import selected

from medsim.builds.output import BUILD
from medsim.core.errors import InputError
from medsim.core.kinds import Column, Kind, declared_columns
from medsim.core.opened import OUTPUTS, class_of, open_output
from medsim.core.output import claimed
from medsim.evaluations.output import Evaluation
from medsim.exports.formats import EXPORT_FORMATS
from medsim.studies.folder import Study
from medsim.wic.output import WIC

if TYPE_CHECKING:
    from pathlib import Path

    import medsim


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_kind_is_listed_and_its_tables_are_described(name: str) -> None:
    kind = class_of(name).kind
    assert isinstance(kind, Kind)
    assert kind.name == name
    tables = {**kind.views, **kind.unseen}
    if name == "export":
        tables |= {
            view: table
            for form in EXPORT_FORMATS.all().values()
            for view, table in form.tables.items()
        }

    assert tables
    for view, declared in tables.items():
        assert declared.about.endswith("."), view
        for table in declared.variants.values() or (declared,):
            assert table.about.endswith("."), view
            assert table.dtypes, view
            described = {*table.all_columns(), *table.folder_columns()}
            assert described == set(table.notes), view
            assert set(table.key) <= described, view
            assert all(note.endswith(".") for note in table.notes.values()), view
            assert not table.order or table.order.endswith("."), view
    assert all(about.endswith(".") for about in (*kind.others.values(), *kind.recorded.values()))


def test_entries_declare_columns_in_all_files_or_only_in_some() -> None:
    groups = {"word": {"word": Column(pl.String, "The word.")}}
    entries = ["word?", ["count", "Int64?", "Its count."], ["topics", "List[String]", "Topics."]]

    assert declared_columns(entries, groups) == {
        "word": Column(pl.String, "The word.", in_some_files=True),
        "count": Column(pl.Int64, "Its count.", in_some_files=True),
        "topics": Column(pl.List(pl.String), "Topics."),
    }
    assert declared_columns(["word"], groups) == groups["word"]


def test_every_column_of_a_build_is_described(shared_build: medsim.Build) -> None:
    for view in shared_build.views()["view"]:
        described = selected(shared_build, f"describe {view}")["column_name"].to_list()
        surplus = set(BUILD.views[view].notes) - set(described)

        assert set(described) <= set(BUILD.views[view].notes), view
        in_some = {"preferred", "similarity", "language1", "language2"}
        assert surplus <= in_some, view  # only in some builds


def test_an_output_of_another_kind_is_named(
    shared_study: medsim.Study, shared_benchmark: medsim.Benchmark, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="study is a study, not an evaluation"):
        open_output(shared_study.folder, Evaluation)
    with pytest.raises(InputError, match="wic is a benchmark, not a study"):
        open_output(shared_benchmark.folder, Study)
    with pytest.raises(InputError, match="is not a finished output of medsim"):
        open_output(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "poem"}')
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim"):
        open_output(tmp_path)


def test_output_of_another_version_must_be_rebuilt(
    shared_study: medsim.Study, tmp_path: Path
) -> None:
    content = json.loads((shared_study.folder / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(content | {"medsim": "0.0.1"}))

    with pytest.raises(InputError, match=r"was made by medsim 0\.0\.1; run medsim study"):
        open_output(tmp_path)


def test_kind_without_resuming_starts_from_the_beginning(tmp_path: Path) -> None:
    leftover = tmp_path / ".out.unfinished" / "instances.parquet"
    leftover.parent.mkdir()
    leftover.write_text("of a run that was killed")
    leftover.with_name("job.json").write_text('{"job": null, "digests": {}}')

    with claimed(tmp_path / "out", WIC, overwrite=False) as output:
        assert sorted(path.name for path in output.folder.iterdir()) == ["job.json", "spill"]
