"""Damaged input gives one line that names the location, exit code 1, and no output."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.release import MODEL, Release, random_release
from typer.testing import CliRunner

import medsim
from medsim.cli import app

pytestmark = pytest.mark.slow

CONCEPTS = "Full/Terminology/sct2_Concept_Full_INT_{day}.txt"
DESCRIPTIONS = "Full/Terminology/sct2_Description_Full-en_INT_{day}.txt"
ASSOCIATIONS = "Full/Refset/Content/der2_cRefset_AssociationFull_INT_{day}.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random_release(6, 15).write_folder(tmp_path / "release", "Full")
    return tmp_path / "release"


def file_of(folder: Path, name: str) -> Path:
    return folder / name.format(day=random_release(6, 15).day())


def edit(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change a file by its lines, which include their line ends."""
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def replace_line(number: int, change: Callable[[bytes], bytes]) -> Callable[[list[bytes]], list]:
    def changed(lines: list[bytes]) -> list[bytes]:
        return [*lines[: number - 1], change(lines[number - 1]), *lines[number:]]

    return changed


def set_value(column: int, value: bytes) -> Callable[[bytes], bytes]:
    def changed(line: bytes) -> bytes:
        values = line.rstrip(b"\r\n").split(b"\t")
        values[column] = value
        return b"\t".join(values) + b"\r\n"

    return changed


def build(source: Path, tmp_path: Path, *options: str) -> str:
    """Run a build that must fail, and return its error line."""
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["build", str(source), "-o", str(out), *options])
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    errors = [line for line in result.stderr.splitlines() if not line.startswith("warning")]
    assert len(errors) == 1, result.stderr
    assert errors[0].startswith("error: ")
    assert not out.exists()
    assert not list(tmp_path.glob(".out.*"))
    return errors[0]


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        (
            DESCRIPTIONS,
            replace_line(5, lambda line: line.replace(b"\t", b" ", 1)),
            "line 5 has 7 tabs",
        ),
        (DESCRIPTIONS, lambda lines: [*lines[:-1], lines[-1][:30]], "is the file cut short?"),
        (DESCRIPTIONS, replace_line(4, lambda _: b"1\t2\xff\r\n"), "line 4 is not UTF-8: byte"),
        (DESCRIPTIONS, replace_line(3, set_value(7, b"a\rb")), "line 3 has a carriage return"),
        (
            CONCEPTS,
            replace_line(2, set_value(1, b"20201332")),
            "line 2 has a wrong value (the effectiveTime '20201332'",
        ),
        (
            CONCEPTS,
            replace_line(2, set_value(2, b"yes")),
            "line 2 has a wrong value (the active 'yes', neither 0 nor 1",
        ),
        (CONCEPTS, replace_line(2, set_value(0, b"")), "line 2 has a wrong value (no id)"),
        (CONCEPTS, lambda _: [], "is empty; an RF2 file has"),
        (CONCEPTS, replace_line(1, lambda _: b"a\tb\r\n"), "line 1 is not the header"),
        (ASSOCIATIONS, lambda _: [b"\xff\xfe\x00"], "is UTF-16 text"),
        (
            ASSOCIATIONS,
            lambda lines: [*lines, set_value(6, b"1")(lines[1])],
            "differ from each other",
        ),
    ],
)
def test_damaged_line_is_named(
    folder: Path, tmp_path: Path, name: str, change: Callable[[list[bytes]], list[bytes]], text: str
) -> None:
    path = file_of(folder, name)
    edit(path, change)

    error = build(folder, tmp_path)

    assert path.name in error
    assert text in error


def test_missing_file_or_language_names_what_is_expected(folder: Path, tmp_path: Path) -> None:
    message = "no active descriptions in language '{}'; languages found: {}"
    assert message.format("xx", "en") in build(folder, tmp_path, "--language", "xx")
    for path in folder.rglob("*.txt"):
        edit(path, lambda lines: lines[:1])
    assert message.format("en", "none") in build(folder, tmp_path)
    file_of(folder, DESCRIPTIONS).unlink()
    assert "no description file sct2_Description" in build(folder, tmp_path)


def test_date_needs_history_and_must_not_be_in_the_future(folder: Path, tmp_path: Path) -> None:
    random_release(6, 15).write_folder(tmp_path / "snapshot", "Snapshot")

    assert "--as-of needs full history" in build(
        tmp_path / "snapshot", tmp_path, "--as-of", "2020-01-01"
    )
    assert "--as-of 1900-01-01 is before" in build(folder, tmp_path, "--as-of", "1900-01-01")


def damaged_zip(path: Path, damage: str) -> None:
    """Write a release as a zip, with one kind of damage."""
    random_release(6, 15).write_zip(path, "Full")
    data = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "no zip":
        path.write_bytes(b"PK\x03\x04 and nothing more")
    elif damage == "corrupted":
        at = data.index(b"sct2_Description") + 200
        path.write_bytes(data[:at] + bytes(64) + data[at + 64 :])
    else:
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("sct2_Concept_Snapshot_zeros.txt", bytes(8 << 20))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("truncated", "cannot be read as a zip"),
        ("no zip", "cannot be read as a zip"),
        ("corrupted", "download it again, or unpack it first"),
        ("bomb", "like a zip bomb"),
    ],
)
def test_untrusted_zip_is_not_read(tmp_path: Path, damage: str, message: str) -> None:
    damaged_zip(tmp_path / "release.zip", damage)

    error = build(tmp_path / "release.zip", tmp_path)

    assert message in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.zip"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"format-version: 1.2\n\n[Term]\nid: IN:1\nnam e\n", "line 5: not OBO"),
        (b"format-version: 1.2\n\n[Term]\nid: IN:1\nname: \xff\n", "line 5 is not UTF-8"),
        (b"", "has no [Term]"),
        (b"\x00\x01\x02" * 100, "OBO"),
    ],
)
def test_damaged_ontology_is_named_with_its_line(tmp_path: Path, text: bytes, message: str) -> None:
    (tmp_path / "invented.obo").write_bytes(text)

    assert message in build(tmp_path / "invented.obo", tmp_path)


def test_program_prints_one_line_for_a_damaged_ontology(tmp_path: Path) -> None:
    (tmp_path / "invented.obo").write_bytes(b"[Term]\nid: IN:1\nname: \xff\n")
    arguments = ["build", tmp_path / "invented.obo", "-o", tmp_path / "out"]
    command = [sys.executable, "-m", "medsim", *arguments]
    run = subprocess.run(command, check=False, capture_output=True, text=True)

    assert (
        len(run.stderr.splitlines()) == 1
    )  # DuckDB prints a message at exit if a connection is open


def test_rows_shared_by_two_editions_count_once(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "release" / "Extension"
    copy.mkdir()
    for name in (CONCEPTS, DESCRIPTIONS):
        path = file_of(folder, name)
        (copy / path.name.replace("_INT_", "_XX_")).write_bytes(path.read_bytes())
    n_rows = sum(len(path.read_bytes().splitlines()) - 1 for path in copy.iterdir())

    together = medsim.build(folder, tmp_path / "together", negatives=["random"])
    for path in copy.iterdir():
        path.unlink()
    alone = medsim.build(folder, tmp_path / "alone", negatives=["random"])

    skipped = {row["reason"]: row["n_rows"] for row in together.manifest.skipped}
    assert skipped["row occurs in several files"] == n_rows
    assert together.manifest.outputs == alone.manifest.outputs


def test_unusual_files_side_by_side_are_distinguished(tmp_path: Path) -> None:
    release = random_release(6, 15)
    usual, odd = (
        tmp_path / "plain" / "release",
        tmp_path / "all" / "release",
    )  # cards have the file names
    release.write_folder(usual, "Full")
    for release_type in ("Full", "Snapshot"):
        release.write_folder(odd, release_type, name_style="mono")
    (odd / "sct2_Concept_Delta_INT_20200131.txt").write_text("not read")
    (odd / "__MACOSX").mkdir()
    (odd / "__MACOSX" / "sct2_Concept_Full_INT_20200131.txt").write_text("not read")
    (odd / "._sct2_Concept_Full_INT_20200131.txt").write_text("not read")

    plain = medsim.build(usual, tmp_path / "out1", negatives=["random"])
    every = medsim.build(odd, tmp_path / "out2", negatives=["random"])

    assert plain.manifest.outputs == every.manifest.outputs
    assert all("Snapshot" in file["name"] for file in every.manifest.source["files"])


def build_of_one_concept(folder: Path, *synonyms: str, negatives: tuple[str, ...]) -> medsim.Build:
    release = Release()
    release.named("101", "Bear fever (disorder)", *synonyms)
    release.association("101", "101", "same_as", module=MODEL)
    release.is_a("101", "101")
    release.write_folder(folder / "release", "Snapshot")
    return medsim.build(folder / "release", folder / "out", negatives=negatives)


def test_one_concept_makes_a_build(tmp_path: Path) -> None:
    build = build_of_one_concept(tmp_path, "Bear pyrexia", negatives=("random",))

    assert build.stats()["n_positives"].sum() == 2
    assert build.stats()["n_negatives"].sum() == 0
    assert build.manifest.shortfall == 2
    assert medsim.verify(tmp_path / "out").holds


def test_quotes_and_long_terms_are_read_unchanged(tmp_path: Path) -> None:
    terms = ['"Quoted fever', "'; drop table term; --", "x" * 10_000, "a\x00b", "\\N", "#7"]

    build = build_of_one_concept(tmp_path, *terms, negatives=("random",))

    pairs = build.pairs("fsn_syn", negatives="random")
    assert sorted(pairs["term2"]) == sorted(terms)
