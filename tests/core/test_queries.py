"""Finding SQL files and reading their headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from medsim.core import queries
from medsim.core.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUERY = """\
-- Pairs of names, and
-- of more names.
--
-- A paragraph that explains; it has no fields.
--
-- reads   name; term
-- writes  paired: a row per pair,
--         key (a, b)
-- params  $as_of date: the day
--         $seed text
-- cites   A, section 1
-- cites   B, section 2
-- order   7
-- contains first, second third

-- writes  this is no header any more
select '$' as money from name where day < $as_of and x = $seed and y = $seed;
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder of SQL files that replaces medsim's."""
    for name, order in [
        ("builds/datasets/paired", 7),
        ("builds/datasets/early", 2),
        ("builds/checks/odd", 1),
    ]:
        path = tmp_path / f"{name}.sql"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(QUERY.replace("-- order   7", f"-- order   {order}"), encoding="utf-8")
    (tmp_path / "builds/datasets" / "notes.txt").write_text("no query")
    (tmp_path / "macros").mkdir()
    monkeypatch.setattr(queries, "sql_folder", lambda: tmp_path)
    queries.query.cache_clear()
    queries.datasets.cache_clear()
    yield tmp_path
    queries.query.cache_clear()
    queries.datasets.cache_clear()


@pytest.mark.usefixtures("folder")
def test_a_header_gives_a_sentence_and_fields() -> None:
    query = queries.query("builds/datasets/paired")
    assert (query.name, query.text) == ("builds/datasets/paired", QUERY)
    assert query.sentence == "Pairs of names, and of more names."
    assert query.header == {
        "reads": ("name; term",),
        "writes": ("paired: a row per pair,", "key (a, b)"),
        "params": ("$as_of date: the day", "$seed text"),
        "cites": ("A, section 1", "B, section 2"),
        "order": ("7",),
        "contains": ("first, second third",),
    }


@pytest.mark.usefixtures("folder")
def test_a_dataset_is_registered_by_its_header() -> None:
    assert queries.names("builds/checks") == ["builds/checks/odd"]
    early, paired = queries.datasets()
    assert (early.name, early.order) == ("early", 2)
    assert (paired.name, paired.order, paired.query) == ("paired", 7, "builds/datasets/paired")
    assert paired.contains == {"first", "second", "third"}
    assert queries.dataset("paired") == paired
    with pytest.raises(OptionError, match=r"^unknown dataset 'pared'; did you mean paired\?$"):
        queries.dataset("pared")


def test_datasets_are_in_this_order() -> None:
    associations = ["possibly_equivalent_to", "replaced_by", "same_as"]
    result = {dataset.name: dataset.contains for dataset in queries.datasets()}
    assert list(result) == [*associations, "fsn_syn", "syn_syn", "cross_language", "parent_child"]
    of_one_language = [dataset.name for dataset in queries.datasets(1, hierarchy=False)]
    assert of_one_language == [*associations, "fsn_syn", "syn_syn"]
    assert result.pop("syn_syn") == {"fsn_syn"}
    assert not any(result.values())
