"""Releases replace files only on request, and no command writes to its inputs."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import polars as pl
import pytest
from fixtures.umls import random_metathesaurus

import medsim
from medsim.core.errors import InputError, OutputError
from medsim.terminologies.sources import source_paths

OBO = """format-version: 1.2

[Term]
id: IN:1
name: invented fever
synonym: "heat that was made up" EXACT []
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "invented.obo"
    path.write_text(OBO)
    (tmp_path / "link.zip").symlink_to(path)
    os.link(path, tmp_path / "hard.zip")
    return path


@pytest.mark.parametrize("out", ["in/invented.obo", "in/../link.zip", "hard.zip"])
def test_a_source_is_not_converted_onto_itself(tmp_path: Path, source: Path, out: str) -> None:
    for overwrite in (False, True):
        with pytest.raises(OutputError, match=r"invented\.obo(,| is) an input"):
            medsim.convert(source, tmp_path / out, overwrite=overwrite)
    assert source.read_text() == OBO


def test_existing_files_are_only_replaced_on_request(tmp_path: Path, source: Path) -> None:
    release, diary, published = (tmp_path / f"{name}.zip" for name in ("release", "diary", "sct"))
    diary.write_text("precious")
    with zipfile.ZipFile(published, "w") as archive:
        archive.writestr("SnomedCT/Full/Terminology/sct2_Concept_Full.txt", "id")
    (tmp_path / "dangling.zip").symlink_to("nothing.zip")
    before = {path: path.read_bytes() for path in (diary, published)}
    for name, said in (
        ("diary", "is there already|was not written by medsim"),
        ("sct", "is there already|was not written by medsim"),
        ("dangling", "is not a file"),
        ("no/r", "there is no folder"),
    ):
        for over in (False, True):
            out = tmp_path / f"{name}.zip"
            with pytest.raises(OutputError, match=said):
                medsim.synth(out, concepts=5, overwrite=over)
            with pytest.raises(OutputError, match=said):
                medsim.convert(source, out, overwrite=over)
    assert before == {path: path.read_bytes() for path in (diary, published)}

    medsim.convert(source, release)
    with pytest.raises(OutputError, match="add `overwrite` to replace it"):
        medsim.synth(release, concepts=5)
    with zipfile.ZipFile(release) as archive:
        assert "Converted" in archive.namelist()[0]
    medsim.synth(release, concepts=5, overwrite=True)
    with zipfile.ZipFile(release) as archive:
        assert "Invented" in archive.namelist()[0]


def test_no_output_is_written_into_a_source_or_over_it(tmp_path: Path, source: Path) -> None:
    given, corpus = source.parent, tmp_path / "corpus.txt"
    for write in (
        lambda: medsim.build(given, tmp_path / "in"),
        lambda: medsim.build_shard(given, given / "out", shard="1/2"),
        lambda: medsim.build(tmp_path / "hard.zip", given, cache=given),
        lambda: medsim.build_wic([corpus], given, given / "out"),
    ):
        with pytest.raises(OutputError, match=r"in(,| is) an input"):
            write()
    assert {path.name for path in given.iterdir()} == {"invented.obo"}
    assert not (tmp_path / ".in.lock").exists()


def test_inputs_of_every_kind_are_not_written_to(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in ("rated.csv", "words.vec", "model.onnx", "corrections.csv"):
        (out / name).write_text("precious")
    (tmp_path / "words.vec").write_text("a 1\n")

    for write in (
        lambda: medsim.evaluate(f"{out / 'rated.csv'},term1=A", {"w": tmp_path / "words.vec"}, out),
        lambda: medsim.evaluate(source, {"w": f"{out / 'words.vec'},case=keep"}, out),
        lambda: medsim.build(source, out, corrections=out / "corrections.csv", overwrite=True),
        lambda: medsim.evaluate_wic(source, out, models=[f"m={out / 'model.onnx'},input=quoted"]),
    ):
        with pytest.raises(OutputError, match=r"out holds .*, an input of this command"):
            write()
    with pytest.raises(OutputError, match=r"nothing(,| is) an input"):
        medsim.build(source, tmp_path / "nothing", cache=tmp_path / "nothing")
    assert {path.read_text() for path in out.iterdir()} == {"precious"}


def test_a_built_in_name_is_not_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hpo").mkdir()

    assert source_paths("hpo") == []
    with pytest.raises(OutputError, match=r"hpo(,| is) an input"):
        medsim.build("./hpo", "hpo/out")


def test_a_folder_that_is_named_by_a_dot_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = random_metathesaurus(2).write(tmp_path / "META")
    monkeypatch.chdir(release)
    build = medsim.build(".", tmp_path / "out", negatives=["random"], threads=1)
    assert build.manifest.source["name"] == release.name


def test_a_release_is_written_in_the_requested_language(tmp_path: Path) -> None:
    release = random_metathesaurus(2).write(tmp_path / "META")
    build = medsim.build(release, tmp_path / "out", negatives=["random"], threads=1)
    names = build.table("description").collect()
    language = names.filter(pl.col("language") != "en")["language"].to_list()[0]

    rows = medsim.convert(release, tmp_path / "out.zip", language=language)

    written = dict(rows.select("table", "rows").iter_rows())["description"]
    assert written == names.filter(language=language).height
    with pytest.raises(InputError, match="no active descriptions in language 'xx'; languages"):
        medsim.convert(release, tmp_path / "other.zip", language="xx")
    assert not (tmp_path / "other.zip").exists()


def test_a_zip_with_false_sizes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MRCONSO.RRF", b"0" * 100_000)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 20  # its packed size in the list of entries
    content[at : at + 4] = (50_000).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(InputError, match="its entries claim more bytes than it has"):
        medsim.build(path, tmp_path / "out")
