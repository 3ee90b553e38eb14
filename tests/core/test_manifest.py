"""Manifests: written whole, read with care; fingerprints of rows."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.builds.output import BUILD, BuildManifest
from medsim.core.errors import InputError
from medsim.core.kinds import read_manifest
from medsim.core.manifest import MANIFEST, Output, fingerprint, library_versions, medsim_version

if TYPE_CHECKING:
    from pathlib import Path

MADE = BuildManifest(
    medsim="0.1.0",
    libraries={"polars": "2.1.0"},
    source={"name": "caf\u00e9.zip", "release_date": None},
    options={"seed": 0, "language": "en", "synonym_scopes": ["exact"]},
    threads=2,
    skipped=[{"reason": "description is empty", "n_rows": 3}],
    components={"n_components": 5, "largest": 4},
    shortfall=1,
    warnings=["one"],
    outputs={"stats.parquet": Output(rows=20, fingerprint="ab12")},
    stages=[{"name": "read", "seconds": 0.5, "peak_mib": 80}],
)

COLUMNS = {
    "text": ["a", "", None, "caf\u00e9 \U0001d4b3", "a\nb"],
    "number": [1, 0, None, -5, 2**40],
    "real": [0.5, 0.0, None, -1.25, 1e300],
    "flag": [True, False, None, True, False],
}
FRAME = pl.DataFrame(COLUMNS)


# The file


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    MADE.write(tmp_path)
    assert read_manifest(tmp_path, BUILD) == MADE
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_a_manifest_is_plain_json_that_people_can_read(tmp_path: Path) -> None:
    MADE.write(tmp_path)
    text = (tmp_path / MANIFEST).read_text(encoding="utf-8")
    assert json.loads(text)["outputs"] == {"stats.parquet": {"rows": 20, "fingerprint": "ab12"}}
    assert json.loads(text)["kind"] == "build"
    assert "caf\u00e9.zip" in text
    assert text.endswith("}\n")
    assert text.count("\n") > 20


def test_a_manifest_replaces_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("x" * 100_000)
    (tmp_path / f"{MANIFEST}.partial").write_text("left by an interrupted run")
    MADE.write(tmp_path)
    assert read_manifest(tmp_path, BUILD) == MADE


def test_a_folder_without_a_manifest_is_no_finished_build(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"has no manifest\.json: it is no finished build"):
            read_manifest(folder, BUILD)


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": None},
        {"outputs": []},
        {"outputs": {"stats.parquet": 7}},
        {"outputs": {"stats.parquet": {"rows": 1}}},
        {"outputs": {"stats.parquet": {"rows": 1, "fingerprint": "", "more": 1}}},
        {"unheard_of": 1},
        {"kind": "evaluation"},
    ],
)
def test_a_manifest_that_is_not_a_builds_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    MADE.write(tmp_path)
    path = tmp_path / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"manifest\.json .*manifest of") as caught:
        read_manifest(tmp_path, BUILD)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["outputs", "medsim", "options", "stages"])
def test_a_manifest_that_lacks_a_field_is_refused(tmp_path: Path, field: str) -> None:
    MADE.write(tmp_path)
    path = tmp_path / MANIFEST
    found = json.loads(path.read_text())
    del found[field]
    path.write_text(json.dumps(found))
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim"):
        read_manifest(tmp_path, BUILD)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"7", b'"text"', b"\xff\xfe", b'{"outputs": {}}', b"{}" * 2],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim") as caught:
        read_manifest(tmp_path, BUILD)
    assert str(tmp_path / MANIFEST) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.integers(0, 600))
def test_a_manifest_that_is_cut_short_is_refused(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    MADE.write(folder)
    whole = (folder / MANIFEST).read_bytes()
    (folder / MANIFEST).write_bytes(whole[: min(length, len(whole) - 3)])
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim"):
        read_manifest(folder, BUILD)


def test_a_manifest_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(InputError, match="cannot be read as a manifest of medsim"):
        read_manifest(tmp_path, BUILD)


def test_versions_are_those_installed() -> None:
    assert medsim_version().count(".") >= 2
    found = library_versions()
    assert found["polars"] == pl.__version__
    assert {"python", "duckdb", "numba", "numpy", "pyarrow", "rapidfuzz"} <= set(found)


# Fingerprints


def test_a_fingerprint_is_this_on_any_machine() -> None:
    # "medsim verify" compares those of builds that were made long ago.
    expected = "0cb35205496490a4c8ec4e5c171fc8d9a9ec1f9b9de4f0854e87da59d74239b6"
    assert fingerprint(FRAME) == expected
    assert fingerprint(FRAME.drop_nulls()) == (
        "156cb01735405a3ba9482fc13016f12ee6a50a7764c1709cf9434b1ee54f66ab"
    )


def plain_fingerprint(columns: dict[str, list], types: dict[str, str]) -> str:
    """Return the fingerprint of columns, a value at a time."""
    content = b""
    for name, values in columns.items():
        content += f"{name} {types[name]} {len(values)}\n".encode()
        content += b"".join(bytes([value is None]) for value in values)
        if types[name] == "String":
            texts = [(value or "").encode() for value in values]
            content += b"".join(struct.pack("<I", len(text)) for text in texts) + b"".join(texts)
        else:
            code = {"Int64": "<q", "Float64": "<d", "Boolean": "<?"}[types[name]]
            content += b"".join(struct.pack(code, value or 0) for value in values)
    return hashlib.sha256(content).hexdigest()


def test_a_fingerprint_is_that_of_plain_python_with_nulls_and_without() -> None:
    types = {"text": "String", "number": "Int64", "real": "Float64", "flag": "Boolean"}
    for rows in ([0, 1, 2, 3, 4], [0, 1, 3, 4], [2], []):
        columns = {name: [values[row] for row in rows] for name, values in COLUMNS.items()}
        frame = pl.DataFrame(columns, schema=FRAME.schema)
        assert fingerprint(frame) == plain_fingerprint(columns, types)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("row", range(5))
def test_a_fingerprint_changes_with_any_value(column: str, row: int) -> None:
    others: dict[str, list[object]] = {
        "text": ["b", " ", "", "cafe\u0301 \U0001d4b3", "a\n"],
        "number": [2, 1, 0, 5, 2**40 + 1],
        "real": [0.25, 1.0, 0.0, 1.25, 1e299],
        "flag": [False, True, False, None, None],
    }
    changed = {name: list(values) for name, values in COLUMNS.items()}
    changed[column][row] = others[column][row]
    schema = FRAME.schema
    assert fingerprint(pl.DataFrame(changed, schema=schema)) != fingerprint(FRAME)


def test_a_fingerprint_tells_null_from_empty_zero_and_false() -> None:
    frames = [
        pl.DataFrame({"a": [value]}, schema={"a": kind})
        for kind, values in [
            (pl.String, ["", None, "null"]),
            (pl.Int64, [0, None]),
            (pl.Float64, [0.0, None, float("nan")]),
            (pl.Boolean, [False, None, True]),
        ]
        for value in values
    ]
    assert len({fingerprint(frame) for frame in frames}) == len(frames)


def test_a_fingerprint_changes_with_the_order_of_rows_and_columns() -> None:
    variants = [
        FRAME,
        FRAME.reverse(),
        FRAME.select("number", "text", "real", "flag"),
        FRAME.select("text", "number", "real"),
        FRAME.head(4),
        FRAME.clear(),
        pl.concat([FRAME, FRAME.tail(1)]),
    ]
    assert len({fingerprint(frame) for frame in variants}) == len(variants)


def test_a_fingerprint_changes_with_names_and_types_of_columns() -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    variants = [
        frame,
        frame.rename({"a": "b"}),
        frame.cast(pl.Int32),
        frame.cast(pl.UInt64),
        frame.cast(pl.Float64),
        frame.cast(pl.String),
        frame.clear(),
        frame.clear().cast(pl.String),
    ]
    assert len({fingerprint(one) for one in variants}) == len(variants)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["ab", "c"], ["a", "bc"]),
        (["", "ab"], ["ab", ""]),
        (["a", "b"], ["ab"]),
        (["\u00e9"], ["e\u0301"]),
        ([None, "a"], ["a", None]),
    ],
)
def test_a_fingerprint_tells_where_texts_are_cut(
    left: list[str | None], right: list[str | None]
) -> None:
    assert fingerprint(pl.DataFrame({"a": left})) != fingerprint(pl.DataFrame({"a": right}))


def test_a_fingerprint_tells_to_which_column_a_value_belongs() -> None:
    one = pl.DataFrame({"a": ["x"], "b": [""]})
    other = pl.DataFrame({"a": [""], "b": ["x"]})
    assert fingerprint(one) != fingerprint(other)


def in_chunks(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame[at : at + 1] for at in range(frame.height)], rechunk=False)


def test_a_fingerprint_does_not_depend_on_chunks_or_slices() -> None:
    whole = fingerprint(FRAME)
    assert in_chunks(FRAME).n_chunks() == 5
    assert fingerprint(in_chunks(FRAME)) == whole
    padded = pl.concat([FRAME.tail(3), FRAME, FRAME.head(2)])
    assert fingerprint(padded.slice(3, 5)) == whole
    assert fingerprint(in_chunks(padded).slice(3, 5)) == whole
    assert fingerprint(FRAME.filter(pl.repeat(value=True, n=5))) == whole
    assert fingerprint(FRAME.reverse().reverse()) == whole


def test_a_fingerprint_survives_files_and_arrow(tmp_path: Path) -> None:
    whole = fingerprint(FRAME)
    FRAME.write_parquet(tmp_path / "a.parquet", row_group_size=2, compression="snappy")
    assert fingerprint(pl.read_parquet(tmp_path / "a.parquet")) == whole
    again = pl.from_arrow(FRAME.to_arrow())
    assert isinstance(again, pl.DataFrame)
    assert fingerprint(again) == whole


@given(
    st.lists(st.tuples(st.text(max_size=3) | st.none(), st.integers(-3, 3) | st.none()), max_size=5)
)
def test_equal_frames_have_equal_fingerprints(rows: list[tuple[str | None, int | None]]) -> None:
    schema = {"text": pl.String, "number": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    doubled = pl.concat([frame, frame])
    assert fingerprint(doubled.head(len(rows))) == fingerprint(frame)
    assert fingerprint(doubled.tail(len(rows))) == fingerprint(frame)
