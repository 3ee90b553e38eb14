"""The export for Hugging Face: its files, card and description, and errors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest
from fixtures.cards import CARD, metadata_of, rows_in_table

import medsim
from medsim.core.errors import OptionError

pytestmark = pytest.mark.slow

OBO = """format-version: 1.4
data-version: releases/2024-02-03
ontology: free
property_value: http://purl.org/dc/terms/license https://creativecommons.org/licenses/by/4.0/
"""
STANZA = """
[Term]
id: IN:{0}
name: fever of kind {0}
synonym: "pyrexia, type {0}" EXACT []
"""


def exported(folder: medsim.Build | medsim.Splits, out: Path, **options: object) -> Path:
    return medsim.export(folder, out, to="huggingface", **options).folder


@pytest.fixture(scope="module")
def exports(shared_splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(shared_splits, tmp_path_factory.mktemp("hub") / "out", private=True)


def files_of(metadata, config: str) -> dict[str, list[str]]:
    """Return the files of a configuration by split."""
    (entry,) = (entry for entry in metadata["configs"] if entry["config_name"] == config)
    return {
        files["split"]: files["path"] if isinstance(files["path"], list) else [files["path"]]
        for files in entry["data_files"]
    }


def test_each_set_is_a_configuration_with_the_rows_of_the_build(shared_splits, exports) -> None:
    metadata, n_rows = metadata_of(exports), rows_in_table(exports)

    existing = {path.relative_to(exports).as_posix() for path in exports.rglob("*.parquet")}
    listed = []
    for config in (entry["config_name"] for entry in metadata["configs"]):
        files = files_of(metadata, config)
        for split, build in shared_splits.builds.items():
            if config == "positives":
                rows = build.positives()
            else:
                rows = build.pairs(*([] if config == "pairs" else config.split("-")))
            frames = [pl.read_parquet(exports / path) for path in files.get(split, [])]
            assert n_rows[config][split] == rows.height
            assert bool(frames) == bool(rows.height)
            assert not frames or pl.concat(frames).equals(rows)
        listed += [path for paths in files.values() for path in paths]
    assert sorted(listed) == sorted(existing)
    assert set(shared_splits.names) == files_of(metadata, "pairs").keys()
    assert len(files_of(metadata, "positives")) == 3


def test_all_pairs_have_a_similarity_column_if_some_do(similar_build, tmp_path: Path) -> None:
    folder = exported(similar_build, tmp_path / "out", private=True)

    pairs = pl.read_parquet(folder / "pairs" / "*.parquet")
    assert pairs.equals(similar_build.pairs().select(pairs.columns))
    filled = pairs.group_by("negatives").agg(pl.col("similarity").is_not_null().any())
    assert dict(filled.rows()) == {"random": False, "embedding": True}


def test_the_licence_decides_whether_a_build_is_exported(shared_build, tmp_path: Path) -> None:
    message = r"release\.zip may not be passed on \(SNOMED.*`private`"
    for tool in ("huggingface", "mteb"):
        with pytest.raises(OptionError, match=message):
            medsim.export(shared_build, tmp_path / "no", tool)
    assert not (tmp_path / "no").exists()

    text = (exported(shared_build, tmp_path / "own", private=True) / CARD).read_text("utf-8")
    assert "\n\n> **Share only as the licence of the source allows." in text


@pytest.mark.parametrize("is_free", [True, False])
def test_an_ontology_is_exported_if_its_own_licence_is_known(tmp_path: Path, is_free) -> None:
    head = OBO if is_free else OBO.replace("creativecommons.org", "invented.example")
    (tmp_path / "in.obo").write_text(head + "".join(map(STANZA.format, range(9))), encoding="utf-8")
    build = medsim.build(tmp_path / "in.obo", tmp_path / "build", negatives=["random"])

    if not is_free:
        with pytest.raises(OptionError, match=r"in\.obo is not known to be free to pass on"):
            exported(build, tmp_path / "out")
        return
    folder = exported(build, tmp_path / "out")
    metadata = metadata_of(folder)
    assert metadata["license"] == "cc-by-4.0"
    assert "extra_gated_prompt" not in metadata
    described = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert described["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert (described["datePublished"], described["version"]) == ("2024-02-03", "2024.2.3")
    chosen = exported(build, tmp_path / "kept", private=True)
    assert metadata_of(chosen)["extra_gated_prompt"].startswith("Private")


def test_a_build_without_pairs_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "alone.obo"
    source.write_text(OBO + "\n[Term]\nid: IN:1\nname: fever\n")
    build = medsim.build(source, tmp_path / "build", negatives=["random"])

    with pytest.raises(OptionError, match="build has no pairs"):
        exported(build, tmp_path / "out")
    with pytest.raises(OptionError, match="build has no positives"):
        medsim.export(build, tmp_path / "tasks", "mteb", private=True)


def test_the_description_names_every_file_with_its_digest(exports: Path) -> None:
    described = json.loads((exports / "croissant.json").read_text("utf-8"))

    files = [entry for entry in described["distribution"] if entry["@type"] == "cr:FileObject"]
    assert {entry["contentUrl"] for entry in files} == {
        path.relative_to(exports).as_posix() for path in exports.rglob("*.parquet")
    }
    for entry in files:
        content = (exports / entry["contentUrl"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["contentSize"] == f"{len(content)} B"
