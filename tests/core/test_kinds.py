"""Every kind of output is found, opened and seen by SQL as it is declared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.builds import selected
from fixtures.previous import unpacked

from medsim.builds.output import BUILD
from medsim.core.errors import InputError
from medsim.core.kinds import Kind
from medsim.core.opened import _CLASSES, _class_of, open_output
from medsim.core.output import claimed
from medsim.evaluations.output import Evaluation
from medsim.exports.formats import FORMATS
from medsim.studies.folder import Study
from medsim.wic.output import WIC

if TYPE_CHECKING:
    import medsim

OUTPUTS = {
    "build": "build",
    "results": "evaluation",
    "study": "study",
    "graded": "study",
    "scored": "scores",
    "scored_graded": "scores",
    "wic/benchmark": "wic",
    "wic/scores": "wic_evaluation",
}
"""The kinds of the outputs in the archives of the version before, by their place."""

NEW = {"export", "splits", "tagging"}
"""The kinds of which the version before had none."""

ADDED = {"n_pairs_oov", "category_error"}
"""The columns that tables have had since."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(tmp_path_factory.mktemp("outputs"))


def test_every_kind_is_found_by_the_name_in_its_manifests() -> None:
    assert set(OUTPUTS.values()) | NEW == set(_CLASSES)
    for name in _CLASSES:
        found = _class_of(name)
        assert found is not None
        assert isinstance(found.kind, Kind)
        assert found.kind.name == name


@pytest.mark.parametrize(("place", "name"), OUTPUTS.items())
def test_sql_sees_the_declared_views_with_their_columns(
    outputs: Path, place: str, name: str
) -> None:
    opened = open_output(outputs / place)

    assert opened.kind.name == name
    views = opened.views().rows_by_key("view", named=True, unique=True)
    declared = opened.kind.views
    assert views
    assert {view for view, one in declared.items() if not one.optional} <= set(views)
    with opened._store(threads=1) as store:
        for view, row in views.items():
            assert store.select(f"from {view}").height == row["rows"]
    for view in views.keys() - opened.kind.derived:
        files = sorted((outputs / place).glob(declared[view].files))
        assert {file.relative_to(opened.folder).as_posix() for file in files} <= set(
            opened.manifest.outputs
        )
        if columns := declared[view].dtypes:
            for file in (one for one in files if one.suffix == ".parquet"):
                found = pl.read_parquet_schema(file)
                expected = [one for one in columns.items() if one[0] not in ADDED]
                assert list(found.items())[: len(expected)] == expected, file


@pytest.mark.parametrize("name", _CLASSES)
def test_every_table_and_column_is_described(name: str) -> None:
    kind = _class_of(name).kind
    tables = {**kind.views, **kind.unseen}
    if name == "export":
        tables |= {
            view: one for form in FORMATS.all().values() for view, one in form.tables.items()
        }

    assert tables
    for view, declared in tables.items():
        assert declared.about.endswith("."), view
        for one in declared.variants.values() or (declared,):
            assert one.about.endswith("."), view
            assert one.dtypes, view
            known = {*one.dtypes, *one.further, *one.folder_columns()}
            assert known == set(one.notes), view
            assert set(one.key) <= known, view
            assert all(note.endswith(".") for note in one.notes.values()), view
            assert not one.order or one.order.endswith("."), view
    assert all(about.endswith(".") for about in (*kind.others.values(), *kind.recorded.values()))


def test_every_column_that_a_build_has_is_described(shared_build: medsim.Build) -> None:
    for view in shared_build.views()["view"]:
        described = selected(shared_build, f"describe {view}")["column_name"].to_list()
        surplus = set(BUILD.views[view].notes) - set(described)

        assert set(described) <= set(BUILD.views[view].notes), view
        assert surplus <= {"preferred", "similarity"}, view  # of some builds alone


def test_scores_are_read_from_csv_with_their_types(outputs: Path) -> None:
    statement = "select typeof(alpha) from quality limit 1"

    assert selected(open_output(outputs / "scored"), statement).item() == "DOUBLE"


def test_an_output_of_another_kind_is_named(outputs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="study is a study, not an evaluation"):
        open_output(outputs / "study", Evaluation)
    with pytest.raises(InputError, match="scores is an evaluation of words in context, not a stud"):
        open_output(outputs / "wic" / "scores", Study)
    with pytest.raises(InputError, match="it is no finished output of medsim"):
        open_output(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "poem"}')
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim"):
        open_output(tmp_path)


def test_a_kind_that_is_not_resumed_starts_afresh(tmp_path: Path) -> None:
    left = tmp_path / ".out.unfinished" / "instances.parquet"
    left.parent.mkdir()
    left.write_text("of a run that was killed")
    left.with_name("job.json").write_text('{"job": null, "digests": {}}')

    with claimed(tmp_path / "out", WIC, overwrite=False) as output:
        assert sorted(path.name for path in output.folder.iterdir()) == ["job.json", "spill"]
