"""Manifests, written atomically and checked when read, and fingerprints of rows."""

from __future__ import annotations

import hashlib
import json
import struct
from datetime import date
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.builds.output import BUILD, Build, BuildManifest
from medsim.core import canonical
from medsim.core.errors import InputError
from medsim.core.kinds import read_manifest
from medsim.core.manifest import MANIFEST, Output, fingerprint, library_versions, medsim_version

if TYPE_CHECKING:
    from pathlib import Path

MADE = BuildManifest(
    medsim=medsim_version(),
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


def test_manifest_round_trips_and_replaces_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("x" * 100_000)
    (tmp_path / f"{MANIFEST}.partial").write_text("left by an interrupted run")
    MADE.write(tmp_path)
    assert read_manifest(tmp_path, BUILD) == MADE
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]
    text = (tmp_path / MANIFEST).read_text(encoding="utf-8")
    assert json.loads(text)["outputs"] == {"stats.parquet": {"rows": 20, "fingerprint": "ab12"}}
    assert json.loads(text)["kind"] == "build"
    assert "caf\u00e9.zip" in text
    assert text.endswith("}\n")
    assert text.count("\n") > 20


def test_folder_without_a_manifest_is_not_a_finished_build(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a finished build: it has no manifest\.json"):
        Build(tmp_path)
    with pytest.raises(InputError, match=r"there is no folder .*nowhere; medsim build makes one"):
        Build(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": []},
        {"outputs": {"stats.parquet": 7}},
        {"outputs": {"stats.parquet": {"rows": 1}}},
        {"outputs": {"stats.parquet": {"rows": 1, "fingerprint": "", "more": 1}}},
        {"unheard_of": 1},
        {"kind": "evaluation"},
        *({lacking: None} for lacking in ("outputs", "medsim", "options", "stages")),
    ],
)
def test_manifest_of_another_output_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    MADE.write(tmp_path)
    path = tmp_path / MANIFEST
    content = json.loads(path.read_text()) | change
    path.write_text(
        json.dumps({name: value for name, value in content.items() if value is not None})
    )
    refused = r"manifest\.json .*manifest of|of kind 'evaluation', not a build"
    with pytest.raises(InputError, match=refused) as caught:
        read_manifest(tmp_path, BUILD)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"\xff\xfe", b'{"kind": "bui', None])
def test_a_damaged_manifest_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / MANIFEST
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.json cannot be read as a manifest") as caught:
        read_manifest(tmp_path, BUILD)
    assert "\n" not in str(caught.value)


def test_versions_are_of_the_installed_libraries() -> None:
    assert medsim_version().count(".") >= 2
    result = library_versions()
    assert result["polars"] == pl.__version__
    assert {"python", "duckdb", "numba", "numpy", "pyarrow", "rapidfuzz"} <= set(result)


# Fingerprints


def test_fingerprint_has_a_fixed_value() -> None:
    # "medsim verify" compares fingerprints of builds that are years old.
    expected = "0cb35205496490a4c8ec4e5c171fc8d9a9ec1f9b9de4f0854e87da59d74239b6"
    assert fingerprint(FRAME) == expected
    assert fingerprint(FRAME.drop_nulls()) == (
        "156cb01735405a3ba9482fc13016f12ee6a50a7764c1709cf9434b1ee54f66ab"
    )


def plain_fingerprint(columns: dict[str, list], types: dict[str, str]) -> str:
    """Return the fingerprint of columns, computed one value at a time."""
    content = b""
    for name, values in columns.items():
        content += f"{name} {types[name]} {len(values)}\n".encode()
        content += b"".join(bytes([value is None]) for value in values)
        if types[name] == "String":
            texts = [(value or "").encode() for value in values]
            content += b"".join(struct.pack("<I", len(text)) for text in texts) + b"".join(texts)
        else:
            code = {"Int64": "<q", "Float64": "<d", "Boolean": "<?"}[types[name]]
            content += b"".join(struct.pack(code, 0 if item is None else item) for item in values)
    return hashlib.sha256(content).hexdigest()


TYPES = {"text": "String", "number": "Int64", "real": "Float64", "flag": "Boolean"}
VALUES = (st.text(max_size=3), st.integers(-3, 3), st.floats(allow_nan=False), st.booleans())


@given(st.lists(st.tuples(*(strategy | st.none() for strategy in VALUES)), max_size=5))
def test_fingerprint_matches_plain_python(rows: list[tuple]) -> None:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(TYPES)}
    frame = pl.DataFrame(columns, schema=FRAME.schema)
    assert fingerprint(frame) == plain_fingerprint(columns, TYPES)
    assert fingerprint(pl.concat([frame, frame]).tail(len(rows))) == fingerprint(frame)


def test_different_frames_have_different_fingerprints() -> None:
    frame = pl.DataFrame({"a": ["a", "bc"], "b": [1, 0]})
    variants = [
        *(frame, frame.reverse(), frame.select("b", "a"), frame.drop("b"), frame.head(1)),
        *(frame.clear(), pl.concat([frame, frame]), frame.rename({"a": "c"})),
        *(frame.cast({"b": kind}) for kind in (pl.Int32, pl.UInt64, pl.Float64, pl.String)),
        *(frame.with_columns(b=pl.Series([1, None])), frame.with_columns(b=pl.Series([1, -1]))),
        *(pl.DataFrame({"a": texts, "b": [1, 0]}) for texts in (["ab", "c"], ["", "abc"])),
        *(pl.DataFrame({"a": [variant]}) for variant in ("", "null", 0, 0.0, float("nan"), True)),
        *(pl.Series("a", [None], kind).to_frame() for kind in (pl.String, pl.Int64, pl.Boolean)),
        *(pl.DataFrame({"a": [text]}) for text in ("\u00e9", "e\u0301")),
        *(pl.DataFrame({"a": [left], "b": [right]}) for left, right in (("x", ""), ("", "x"))),
    ]
    assert len({fingerprint(variant) for variant in variants}) == len(variants)


def test_a_missing_date_is_not_the_first_day_of_its_type() -> None:
    days = pl.DataFrame({"day": [date(2026, 1, 1), None]})
    assert fingerprint(days) != fingerprint(days.fill_null(date(1970, 1, 1)))


def in_chunks(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame[at : at + 1] for at in range(frame.height)], rechunk=False)


def test_a_fingerprint_does_not_depend_on_chunks_or_slices() -> None:
    whole = fingerprint(FRAME)
    assert in_chunks(FRAME).n_chunks() == 5
    assert fingerprint(in_chunks(FRAME)) == whole
    padded = pl.concat([FRAME.tail(3), FRAME, FRAME.head(2)])
    assert fingerprint(padded.slice(3, 5)) == whole
    assert fingerprint(in_chunks(padded).slice(3, 5)) == whole


def test_fingerprint_is_the_same_for_lazy_rows_and_parts_of_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = fingerprint(FRAME)
    assert fingerprint(FRAME.lazy()) == expected
    for at_once in (1, 2, 5):
        monkeypatch.setattr(canonical, "_TEXTS", at_once)
        assert fingerprint(FRAME) == expected
        assert fingerprint(pl.concat([FRAME.head(2), FRAME.tail(3)]).lazy()) == expected
