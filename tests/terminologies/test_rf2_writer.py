"""RF2 releases that medsim writes."""

from __future__ import annotations

import zipfile
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.disks import disk_that_is_full_after

from medsim.core.errors import InputError, OutputError
from medsim.terminologies.rf2_writer import COLUMNS, ReleaseWriter, release_writer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

ROOT = "SnomedCT_Invented_PRODUCTION_20260101T120000Z"
ORIGIN = {"origin": "synthetic", "redistributable": True, "terms": "Invented."}
DESCRIPTION = {
    "id": [11, 12],
    "effectiveTime": [date(2025, 7, 1), date(2026, 1, 1)],
    "active": [True, False],
    "moduleId": [1, 1],
    "conceptId": [21, 21],
    "languageCode": ["en", "en"],
    "typeId": [3, 3],
    "term": ['"Brandix" ulcer, so-called', "Béranger's µ ΛΟΙΜΟΣ & [D]"],
    "caseSignificanceId": [4, 4],
}


def release(path: Path, *, overwrite: bool = False) -> AbstractContextManager[ReleaseWriter]:
    return release_writer(path, release_date=date(2026, 1, 1), origin=ORIGIN, overwrite=overwrite)


def descriptions(**columns: object) -> pl.DataFrame:
    return pl.DataFrame(DESCRIPTION | columns)


def test_every_table_has_its_standard_place_and_header(tmp_path: Path) -> None:
    with release(tmp_path / "r.zip") as writer:
        for release_type in ("Full", "Snapshot"):
            for table in COLUMNS:
                assert writer.write(table, release_type, []) == 0

    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        headers = {name.split("/", 1)[1]: archive.read(name).decode() for name in names[1:]}
    assert names[0] == f"{ROOT}/medsim-origin.json"
    row = "id\teffectiveTime\tactive\tmoduleId\t"
    name = row + "conceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\r\n"
    ends = "relationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId\r\n"
    member = row + "refsetId\treferencedComponentId\t"
    assert headers == {
        f"{kind}/{file.format(kind)}_INT_20260101.txt": text
        for kind in ("Full", "Snapshot")
        for file, text in {
            "Terminology/sct2_Concept_{}": row + "definitionStatusId\r\n",
            "Terminology/sct2_Description_{}-en": name,
            "Terminology/sct2_Relationship_{}": f"{row}sourceId\tdestinationId\t{ends}",
            "Refset/Content/der2_cRefset_Association{}": member + "targetComponentId\r\n",
            "Refset/Language/der2_cRefset_Language{}-en": member + "acceptabilityId\r\n",
            "Refset/Map/der2_sRefset_SimpleMap{}": member + "mapTarget\r\n",
        }.items()
    }


def test_rows_are_written_without_quotes_and_escapes(tmp_path: Path) -> None:
    shuffled = descriptions(other=[1, 2]).select(pl.all().reverse())[::-1]
    with release(tmp_path / "r.zip") as writer:
        assert writer.write("description", "Full", [shuffled[:1], shuffled[1:]]) == 2

    with zipfile.ZipFile(tmp_path / "r.zip") as archive:
        text = archive.read(archive.namelist()[1])
    assert text.decode().split("\r\n")[1:] == [
        '11\t20250701\t1\t1\t21\ten\t3\t"Brandix" ulcer, so-called\t4',
        "12\t20260101\t0\t1\t21\ten\t3\tBéranger's µ ΛΟΙΜΟΣ & [D]\t4",
        "",
    ]


@pytest.mark.parametrize("broken", ["a\tb", "a\rb", "a\nb"])
def test_a_term_that_rf2_cannot_express_is_named_and_the_earlier_file_stays(
    tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "r.zip"
    with release(path):
        pass
    earlier = path.read_bytes()
    frames = [descriptions(), descriptions(term=["fine", broken])]

    with (
        pytest.raises(InputError, match="description 12 "),
        release(path, overwrite=True) as writer,
    ):
        writer.write("description", "Full", frames)

    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == earlier


def test_a_finished_release_replaces_an_earlier_one_on_request(tmp_path: Path) -> None:
    path = tmp_path / "r.zip"
    with release(path):
        assert not path.exists()
    earlier = path.read_bytes()
    with release(path, overwrite=True) as writer:
        writer.write("concept", "Full", [])
        assert path.read_bytes() == earlier
    assert path.read_bytes() != earlier

    path.unlink()
    with pytest.raises(OutputError, match="is there already; add `overwrite`"), release(path):
        path.write_text("precious")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "precious"


def test_a_full_disk_is_a_one_line_error_and_leaves_nothing(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(1 << 60, size=(20_000, 2)).astype(str)
    frame = pl.select(
        id=noise[:, 0], effectiveTime=20260101, active=1, moduleId=1, definitionStatusId=noise[:, 1]
    )

    with (
        disk_that_is_full_after(100_000),
        pytest.raises(OutputError, match=r"^cannot write .*r\.zip: File too large$"),
        release(tmp_path / "r.zip") as writer,
    ):
        writer.write("concept", "Full", [frame] * 5)

    assert list(tmp_path.iterdir()) == []
