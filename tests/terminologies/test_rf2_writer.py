"""RF2 releases as medsim writes them."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from fixtures.disks import disk_that_is_full_after
from hypothesis import given
from hypothesis import strategies as st

from medsim.core import files
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.terminologies.rf2_writer import COLUMNS, ReleaseWriter, release_writer
from medsim.terminologies.sctid import LARGEST_ITEM, check_digits, sctids

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    assert headers == {
        f"{release_type}/{file}": text
        for release_type in ("Full", "Snapshot")
        for file, text in {
            f"Terminology/sct2_Concept_{release_type}_INT_20260101.txt": row
            + "definitionStatusId\r\n",
            f"Terminology/sct2_Description_{release_type}-en_INT_20260101.txt": name,
            f"Terminology/sct2_TextDefinition_{release_type}-en_INT_20260101.txt": name,
            f"Terminology/sct2_Relationship_{release_type}_INT_20260101.txt": row
            + "sourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\t"
            "modifierId\r\n",
            f"Refset/Content/der2_cRefset_Association{release_type}_INT_20260101.txt": row
            + "refsetId\treferencedComponentId\ttargetComponentId\r\n",
            f"Refset/Language/der2_cRefset_Language{release_type}-en_INT_20260101.txt": row
            + "refsetId\treferencedComponentId\tacceptabilityId\r\n",
            f"Refset/Map/der2_sRefset_SimpleMap{release_type}_INT_20260101.txt": row
            + "refsetId\treferencedComponentId\tmapTarget\r\n",
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


def test_the_origin_says_whether_the_content_may_be_passed_on(tmp_path: Path) -> None:
    origin = {"origin": "hpo", "redistributable": None, "terms": "Ask «them»."}
    path, day = tmp_path / "r.zip", date(2026, 1, 1)
    with release_writer(path, release_date=day, origin=origin, edition="HPO"):
        pass

    with zipfile.ZipFile(path) as archive:
        found = json.loads(
            archive.read("SnomedCT_HPO_PRODUCTION_20260101T120000Z/medsim-origin.json")
        )
    assert found.pop("writer").startswith("medsim")
    assert found == {"origin": "hpo", "redistributable": None, "terms": "Ask «them»."}


@pytest.mark.parametrize("broken", ["a\tb", "a\rb", "a\nb"])
def test_a_term_that_rf2_cannot_express_is_named_by_its_id(tmp_path: Path, broken: str) -> None:
    frame = descriptions(term=["fine", broken])

    with pytest.raises(InputError, match="description 12 "), release(tmp_path / "r.zip") as writer:
        writer.write("description", "Full", [frame])

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, InputError])
def test_what_fails_midway_leaves_the_earlier_file_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "r.zip"
    with release(path):
        pass
    earlier = path.read_bytes()

    def frames() -> Iterator[pl.DataFrame]:
        yield descriptions()
        raise failure

    with pytest.raises(failure), release(path, overwrite=True) as writer:
        writer.write("description", "Full", frames())

    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == earlier


@pytest.mark.parametrize("nameless", [True, False])
def test_a_finished_release_replaces_an_earlier_one_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, nameless: bool
) -> None:
    if not nameless:  # as on file systems that know no such files
        monkeypatch.setattr(files, "_NAMELESS", 0)
    path = tmp_path / "r.zip"
    with release(path):
        assert not path.exists()
    earlier = path.read_bytes()

    with pytest.raises(OutputError, match="is there already; add `overwrite`"), release(path):
        pass
    with release(path, overwrite=True) as writer:
        writer.write("concept", "Full", [])
        assert path.read_bytes() == earlier

    assert list(tmp_path.iterdir()) == [path]
    assert zipfile.ZipFile(path).namelist() != zipfile.ZipFile(io.BytesIO(earlier)).namelist()


@pytest.mark.parametrize("nameless", [True, False])
def test_a_file_that_appears_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, nameless: bool
) -> None:
    if not nameless:
        monkeypatch.setattr(files, "_NAMELESS", 0)
    path = tmp_path / "r.zip"

    with pytest.raises(OutputError, match="is there already"), release(path):
        path.write_text("precious")

    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "precious"


def test_only_a_release_that_medsim_wrote_is_ever_replaced(tmp_path: Path) -> None:
    path = tmp_path / "r.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SnomedCT/Full/Terminology/sct2_Concept_Full.txt", "id")
    published = path.read_bytes()

    for overwrite in (False, True):
        with pytest.raises(OutputError), release(path, overwrite=overwrite):
            pass

    assert path.read_bytes() == published


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(tmp_path: Path) -> None:
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


def test_a_path_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a folder"), release(tmp_path):
        pass
    with pytest.raises(OutputError, match="there is no folder"), release(tmp_path / "no/r.zip"):
        pass


def test_check_digits_are_those_of_published_identifiers() -> None:
    numbers = np.array([11668000, 90000000000001200, 90000000000000300])

    assert check_digits(numbers).tolist() == [3, 4, 1]


@given(st.integers(10**9, 10**17))
def test_a_check_digit_tells_a_wrong_digit_and_exchanged_neighbours(number: int) -> None:
    text = f"{number}{check_digits(np.array([number])).item()}"
    places = range(len(text))
    changed = {f"{text[:at]}{digit}{text[at + 1 :]}" for at in places for digit in range(10)}
    changed |= {f"{text[:at]}{text[at:][1::-1]}{text[at + 2 :]}" for at in places}
    wrong = np.array([int(one) for one in changed - {text} if one[0] != "0"])

    assert not np.any(check_digits(wrong // 10) == wrong % 10)


def test_identifiers_hold_item_namespace_and_partition() -> None:
    items = np.array([1, 42, LARGEST_ITEM])

    for component, partition in (("concept", 10), ("description", 11), ("relationship", 12)):
        ids = sctids(items, component)
        numbers = [int(f"{item}1000999{partition}") for item in items.tolist()]
        assert (ids // 10).tolist() == numbers
        assert np.array_equal(check_digits(ids // 10), ids % 10)


@pytest.mark.parametrize("item", [0, -1, LARGEST_ITEM + 1])
def test_item_numbers_that_do_not_fit_are_refused(item: int) -> None:
    with pytest.raises(OptionError, match=f"from {item} to {item}"):
        sctids(np.array([item]), "concept")
