"""The built-in mondo is read from its package."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from fixtures.sources import Read, n_skipped, read_source

from medsim.core.errors import InputError

TERMS = {
    "MONDO:1": {"label": " velp disease ", "synonyms": ["velp", "Velp ", ""], "ancestors": {}},
    "MONDO:2": {"label": "acute velp", "ancestors": {"MONDO:1": 1, "MONDO:0": 2}},
    "MONDO:3": {"label": "obsolete grelb", "deprecated": True, "replaced_by": "MONDO:1"},
    "MONDO:4": {"deprecated": True, "consider": ["obo.MONDO_2", "http://purl.invented/HP_0000001"]},
}


def packed(content: object) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(json.dumps(content).encode())
    return sink.getvalue().to_pybytes()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of files of an invented package."""
    folder = tmp_path / "site" / "cellxgene_ontology_guide" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('was imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    return folder


def read(data: Path, content: object) -> Read:
    (data / "MONDO-ontology-v2025-01-01.json.zst").write_bytes(packed({}))
    (data / "MONDO-ontology-v2026-02-03.json.zst").write_bytes(packed(content))
    return read_source("mondo")


def test_names_parents_and_substitutes_are_those_of_the_newest_file(data: Path) -> None:
    terminology, tables = read(data, TERMS)

    assert terminology.release_date.isoformat() == "2026-02-03"
    assert n_skipped(terminology) == {
        "description is empty": 2,
        "association is of an absent concept": 1,
    }
    active = dict(tables["concept"].select("concept_id", "active").iter_rows())
    assert active == {"MONDO:1": True, "MONDO:2": True, "MONDO:3": False, "MONDO:4": False}
    names = tables["description"].select("description_id", "concept_id", "term", "kind")
    assert names.rows() == [
        ("MONDO:1/1", "MONDO:1", "velp disease", "fsn"),
        ("MONDO:1/2", "MONDO:1", "velp", "synonym"),
        ("MONDO:1/3", "MONDO:1", "Velp", "synonym"),
        ("MONDO:2/1", "MONDO:2", "acute velp", "fsn"),
        ("MONDO:3/1", "MONDO:3", "grelb", "fsn"),
    ]
    assert tables["is_a"].rows() == [("MONDO:2", "MONDO:1")]
    assert tables["association"].rows() == [
        ("MONDO:3", "MONDO:1", "replaced_by", True),
        ("MONDO:4", "HP:0000001", "possibly_equivalent_to", True),
        ("MONDO:4", "MONDO:2", "possibly_equivalent_to", True),
    ]


@pytest.mark.parametrize("content", [[1], {"MONDO:1": 3}, {"MONDO:1": {"label": 4}}, "text"])
def test_a_file_of_another_kind_or_a_damaged_one_is_refused(data: Path, content: object) -> None:
    with pytest.raises(InputError, match=r"v2026-02-03\.json\.zst cannot be read as mondo"):
        read(data, content)
    (data / "MONDO-ontology-v2026-02-03.json.zst").write_bytes(packed(TERMS)[:-9])
    with pytest.raises(InputError, match="cannot be read as mondo"):
        read_source("mondo")


@pytest.mark.usefixtures("data")
def test_a_missing_file_or_package_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"has no MONDO-.*\.json\.zst; install version 1"):
        read_source("mondo")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(InputError, match="cellxgene-ontology-guide is not installed; install"):
        read_source("mondo")
