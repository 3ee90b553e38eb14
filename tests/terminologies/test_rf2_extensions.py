"""Extensions and Delta files that are read together with an edition."""

from __future__ import annotations

import json
import re
import zipfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.release import DAY, Release
from fixtures.sources import n_skipped, read_source
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.core.kinds import CANONICAL_TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LATER = "20200731"
EXTENSION_MODULE = "11000172109"


def edition() -> Release:
    """Return an edition with two concepts, whose names are accepted in British English."""
    release = Release()
    for number, name in enumerate(("velp (disorder)", "murn (disorder)")):
        release.concept(f"10{number}")
        release.description(f"10{number}", name, id=f"50{number}")
        release.description(f"10{number}", f"sore {name[:4]}", "synonym", id=f"51{number}")
        release.accepted(f"50{number}", acceptability="preferred")
    release.is_a("101", "100")
    return release


def extension() -> Release:
    """Return an extension that names, retires and replaces concepts of the edition."""
    release = Release()
    release.description("100", "velpen", "synonym", id="900", time=LATER, module=EXTENSION_MODULE)
    release.accepted("900", time=LATER, acceptability="preferred")
    release.concept("101", active=False, time=LATER)
    release.named("200", "newer murn (disorder)", time=LATER)
    release.association("101", "200", "replaced_by", time=LATER)
    release.description("101", "sore murn", "synonym", id="511")  # the edition has the same row
    return release


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two invented releases, half a year apart."""
    folder = tmp_path_factory.mktemp("pair")
    first, second = folder / "first.zip", folder / "second.zip"
    medsim.synth(first, concepts=60, then=second, seed=3)
    return first, second


def lines_of(release: Path, form: str) -> dict[str, list[bytes]]:
    with zipfile.ZipFile(release) as archive:
        names = [name for name in archive.namelist() if form in name]
        return {name: archive.read(name).splitlines(keepends=True) for name in names}


def write_lines(path: Path, files: Mapping[str, list[bytes]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, lines in files.items():
            archive.writestr(name, b"".join(lines))
    return path


def write_delta(
    path: Path, pair: tuple[Path, Path], change: Callable[[bytes], bytes] = bytes
) -> Path:
    """Write the rows of a release that an earlier one lacks, as Delta files."""
    first, second = (
        {re.sub(r"\d{8}", "", name): (name, lines) for name, lines in each.items()}
        for each in (lines_of(release, "Full") for release in pair)
    )
    delta = {}
    for key, (name, lines) in second.items():
        header, *rows = lines
        known = set(first[key][1])
        delta[name.replace("Full", "Delta")] = [
            header,
            *(change(row) for row in rows if row not in known),
        ]
    return write_lines(path, delta)


def assert_same_tables(actual: dict, expected: dict, *without: str) -> None:
    for table in CANONICAL_TABLES:
        columns = [name for name in expected[table].columns if name not in without]
        assert_frame_equal(actual[table].select(columns), expected[table].select(columns))


@pytest.mark.parametrize("form", ["Full", "Snapshot"])
def test_delta_files_make_the_next_release_of_an_edition(
    pair: tuple[Path, Path], tmp_path: Path, form: str
) -> None:
    delta = write_delta(tmp_path / "delta.zip", pair)
    base = write_lines(tmp_path / "base.zip", lines_of(pair[0], form))
    expected, tables = read_source(pair[1])

    terminology, read = read_source(base, extensions=[delta])

    assert_same_tables(read, tables)
    assert terminology.name == "base.zip + delta.zip"
    assert terminology.release_date == expected.release_date
    assert [form in file.name for file in terminology.files].count(True) == 4
    assert ["Delta" in file.name for file in terminology.files].count(True) == 4
    assert any(read["concept"]["effective_time"] > date(2026, 1, 31))


def test_unpublished_rows_are_the_newest_and_have_no_date(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    delta = write_delta(
        tmp_path / "delta.zip", pair, lambda row: re.sub(rb"^(\S+\t)\d{8}", rb"\1", row)
    )
    _, tables = read_source(pair[1])
    before = read_source(pair[0])[1]

    _, read = read_source(pair[0], extensions=[delta])

    assert_same_tables(read, tables, "effective_time")
    new = tables["description"].filter(
        pl.col("effective_time") > before["description"]["effective_time"].max()
    )
    undated = read["description"].filter(pl.col("effective_time").is_null())
    assert undated["description_id"].to_list() == new["description_id"].to_list()
    day = before["description"]["effective_time"].max()
    _, then = read_source(pair[0], extensions=[delta], as_of=day)
    assert_same_tables(then, read_source(pair[0], as_of=day)[1])


@pytest.mark.parametrize("form", ["Full", "Snapshot"])
@pytest.mark.parametrize("dialect", [None, "en-GB"])
def test_an_extension_is_united_with_its_edition(
    tmp_path: Path, form: str, dialect: str | None
) -> None:
    both = tmp_path / "both"
    edition().write_folder(both / "edition", form)
    extension().write_folder(both / "extension", form)
    zipped = extension().write_zip(tmp_path / "extension.zip", form)

    terminology, tables = read_source(both / "edition", extensions=[zipped], dialect=dialect)

    assert_same_tables(tables, read_source(both, dialect=dialect)[1])
    names = set(tables["description"]["term"])
    british = {"velp", "murn", "velpen"}
    assert names == (british if dialect else british | {"sore velp", "sore murn", "newer murn"})
    assert tables["concept"].select("concept_id", "active").rows() == [
        ("100", True),
        ("101", False),
        ("200", True),
    ]
    assert tables["association"].select("source_id", "target_id", "kind").rows() == [
        ("101", "200", "replaced_by")
    ]
    assert n_skipped(terminology)["row occurs in several files"] == 1
    assert terminology.release_date == date(2020, 7, 31)


def test_the_state_before_an_extension_is_that_of_the_edition(tmp_path: Path) -> None:
    base = edition().write_zip(tmp_path / "edition.zip", "Full")
    added = extension().write_zip(tmp_path / "extension.zip", "Full")
    day = date.fromisoformat(DAY)

    assert_same_tables(
        read_source(base, extensions=[added], as_of=day)[1], read_source(base, as_of=day)[1]
    )
    extension().write_zip(added, "Snapshot")
    with pytest.raises(OptionError, match=r"extension\.zip has .* as a Snapshot only"):
        read_source(base, extensions=[added], as_of=day)


def as_delta(release: Release, path: Path) -> Path:
    files = release.files("Full").items()
    return write_lines(path, {name.replace("Full", "Delta"): [data] for name, data in files})


def test_delta_files_are_ignored_beside_others_and_refused_alone(tmp_path: Path) -> None:
    base = edition().write_folder(tmp_path / "edition", "Full")
    delta = as_delta(extension(), tmp_path / "delta.zip")

    for place in (delta, tmp_path / "edition"):
        for file in (tmp_path / "edition").rglob("*Full*.txt"):
            file.rename(file.with_name(file.name.replace("Full", "Delta")))
        with pytest.raises(InputError, match=rf"{place.name} has only Delta files, .*`extensions`"):
            read_source(place)
    edition().write_folder(tmp_path / "edition", "Full")
    with zipfile.ZipFile(delta, "a") as archive:
        for name, content in edition().files("Snapshot").items():
            archive.writestr(name, content)
    terminology, tables = read_source(base, extensions=[delta])
    assert not any("Delta" in file.name for file in terminology.files)
    assert_same_tables(tables, read_source(base)[1])


def test_an_extension_without_rf2_files_or_with_other_rows_is_an_error(tmp_path: Path) -> None:
    base = edition().write_folder(tmp_path / "edition", "Snapshot")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty is empty$"):
        read_source(base, extensions=[tmp_path / "empty"])
    with pytest.raises(InputError, match=r"no file or folder .*nowhere"):
        read_source(base, extensions=[tmp_path / "nowhere"])
    for time, day in ((DAY, DAY), ("", "")):
        first, second = Release(), Release()
        first.named("100", "velp (disorder)", time=time)
        second.concept("100", active=False, time=time)
        zips = [
            release.write_zip(tmp_path / f"{at}.zip", "Snapshot")
            for at, release in enumerate((first, second))
        ]
        with pytest.raises(InputError, match=rf"id 100 and effectiveTime {day} differ"):
            read_source(zips[0], extensions=[zips[1]])


def test_terms_of_use_are_those_of_all_releases(pair: tuple[Path, Path], tmp_path: Path) -> None:
    added = extension().write_zip(tmp_path / "extension.zip", "Snapshot")

    invented = read_source(pair[0])[0]
    assert invented.redistributable
    united = read_source(pair[0], extensions=[added])[0]
    assert united.redistributable is False
    assert united.terms_of_use.startswith(f"{invented.terms_of_use}; SNOMED CT content is licensed")


@pytest.mark.full
def test_every_command_that_reads_a_source_takes_extensions(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    first, _ = pair
    delta = write_delta(tmp_path / "delta.zip", pair)

    def ran(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    out = tmp_path / "build"
    ran("build", first, "--with", delta, "-o", out, "--negatives", "random")
    source = json.loads((out / "manifest.json").read_text())["source"]
    assert source["name"] == "first.zip + delta.zip"
    assert len(source["files"]) == 8
    built = medsim.open(out)
    expected = medsim.build(pair[1], tmp_path / "later", negatives=["random"])
    assert_frame_equal(built.pairs(), expected.pairs())

    audit = medsim.audit(first, tmp_path / "audit", extensions=[delta])
    assert audit.manifest.source == source
    assert audit.findings().equals(medsim.audit(expected, tmp_path / "audit2").findings())
    before = medsim.build(first, tmp_path / "before", negatives=["random"])
    diff = medsim.diff(before, first, tmp_path / "diff", extensions=[delta])
    assert diff.summary().equals(medsim.diff(before, expected, tmp_path / "diff2").summary())
    assert diff.manifest.new["source"] == source
    converted = medsim.convert(first, tmp_path / "converted.zip", extensions=[delta])
    assert converted.equals(medsim.convert(pair[1], tmp_path / "converted2.zip"))

    for call in (medsim.audit, lambda *args, **kwargs: medsim.diff(first, *args, **kwargs)):
        with pytest.raises(
            OptionError, match=r"`extensions` does not apply to .*, which is a build"
        ):
            call(out, tmp_path / "no", extensions=[delta])
    refused = CliRunner().invoke(app, ["build", str(first), "--with", str(first), "-o", str(first)])
    assert refused.exit_code == 1
    assert "is an input of this command" in refused.stderr


@pytest.mark.full
def test_shards_read_the_extensions_again(pair: tuple[Path, Path], tmp_path: Path) -> None:
    delta = write_delta(tmp_path / "delta.zip", pair)
    options = {"extensions": [delta], "negatives": ["levenshtein"]}
    whole = medsim.build(pair[0], tmp_path / "whole", **options)

    for number in (1, 2):
        medsim.build_shard(pair[0], tmp_path / "out", shard=f"{number}/2", **options)
    moved = delta.rename(tmp_path / "moved.zip")
    with pytest.raises(InputError, match=r"no file or folder .*delta\.zip"):
        medsim.merge(tmp_path / "out")
    moved.rename(delta)
    assert medsim.merge(tmp_path / "out").manifest.outputs == whole.manifest.outputs


def test_the_warning_of_an_extension_alone_names_the_option(tmp_path: Path) -> None:
    release = Release()
    release.named("10", "Grelb extension (disorder)", "grelb")
    for number in range(6):
        release.description(f"{20 + number}", f"murn {number}", "synonym")
    alone = release.write_zip(tmp_path / "alone.zip", "Snapshot")

    result = CliRunner().invoke(app, ["convert", str(alone), "-o", str(tmp_path / "out.zip")])

    assert "alone.zip lacks the concepts of 6 descriptions; if it is an extension" in result.stderr
    assert "--with" in result.stderr
