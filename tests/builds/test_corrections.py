"""Corrections of the terminology by people change the corrected pairs of a build."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import medsim
from medsim.builds.options import Correction
from medsim.builds.positives import read_corrections
from medsim.core.errors import InputError

COLUMNS = "term1,term2,judged\n"


def pairs_of(build: medsim.Build, label: int, negatives: str | None = None) -> set[frozenset[str]]:
    """Return the pairs with a label, ignoring direction and case."""
    rows = build.pairs(negatives=negatives).filter(label=label).select("term1", "term2")
    return {frozenset({left.lower(), right.lower()}) for left, right in rows.iter_rows()}


def corrections(folder: Path, *rows: tuple[str, str, str]) -> Path:
    file = folder / "corrections.csv"
    pl.DataFrame(rows, schema=["term1", "term2", "judged"], orient="row").write_csv(file)
    return file


def test_corrected_pairs_are_neither_positives_nor_negatives(
    shared_release: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    wrong = sorted(tuple(sorted(pair)) for pair in pairs_of(shared_build, 1))[3]
    same = sorted(tuple(sorted(pair)) for pair in pairs_of(shared_build, 0, "levenshtein"))[5]
    file = corrections(
        tmp_path,
        (wrong[1].upper(), wrong[0], "not_same"),
        (same[0], same[1], "same"),
        ("no such term", same[1], "same"),
    )
    spaced = [
        Correction(term1=f" {left}", term2=f"{right}\t", same=judged == "same")
        for left, right, judged in pl.read_csv(file).rows()
    ]

    built = medsim.build(shared_release, tmp_path / "out", corrections=file)
    again = medsim.build(shared_release, tmp_path / "again", corrections=spaced)

    assert pairs_of(again, 1) == pairs_of(built, 1)
    assert pairs_of(built, 1) == pairs_of(shared_build, 1) - {frozenset(wrong)}
    assert frozenset(same) not in pairs_of(built, 0)
    assert medsim.verify(tmp_path / "out", sample=50).holds
    skipped = {row["reason"]: row["n_rows"] for row in built.manifest.skipped}
    assert skipped["a correction of an unknown term"] == 1
    assert skipped["a positive judged not to mean the same"] >= 1
    assert any("1 of 3 corrections" in warning for warning in built.manifest.warnings)


@pytest.mark.slow
def test_verify_finds_a_build_that_ignores_its_corrections(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    wrong = min(tuple(sorted(pair)) for pair in pairs_of(shared_build, 1))
    shutil.copytree(shared_build.folder, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["options"]["corrections"] = [[*wrong, False]]
    manifest.write_text(json.dumps(content))

    findings = medsim.verify(tmp_path / "out", sample=0).findings

    assert findings.filter(check="positives")["violations"].item() > 0


@pytest.mark.slow
@pytest.mark.full
def test_shards_carry_the_corrections_to_the_merge(
    shared_release: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    wrong = min(tuple(sorted(pair)) for pair in pairs_of(shared_build, 1))
    file = corrections(tmp_path, (*wrong, "not_same"))
    whole = medsim.build(shared_release, tmp_path / "whole", corrections=file)
    for shard in ("1/2", "2/2"):
        medsim.build_shard(shared_release, tmp_path / "out", shard=shard, corrections=file)
    file.unlink()

    merged = medsim.merge(tmp_path / "out")

    assert merged.manifest.outputs == whole.manifest.outputs
    assert merged.manifest.outputs != shared_build.manifest.outputs


def test_order_repetition_and_direction_of_corrections_do_not_matter(tmp_path: Path) -> None:
    first = corrections(tmp_path, ("b", "a", "same"), ("é", "x", "not_same"), ("a", "b", "same"))
    pairs = read_corrections(first)
    second = corrections(tmp_path, ("é", "x", "not_same"), ("b", "a", "same"))

    assert read_corrections(second) == pairs
    assert [(pair.term1, pair.term2, pair.same) for pair in pairs] == [
        ("b", "a", True),
        ("é", "x", False),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("term1,term2\na,b\n", "no column 'judged'"),
        (COLUMNS + "a,b,maybe\n", "line 2: judged 'maybe' is neither same nor not_same"),
        (
            COLUMNS + "a,b,same\nB,A,not_same\n",
            "line 2 and line 3 contradict each other on 'B' and",
        ),
        (COLUMNS + "a,A,same\n", "line 2: 'a' and 'A' are not two terms"),
        (COLUMNS + "a,,same\n", "line 2: 'a' and '' are not two terms"),
        (COLUMNS + "a,b\n", "line 2 has 2 cells, the header 3"),
        (COLUMNS + '"a,b,same\n', "cannot be cut"),
        ("", "is empty"),
    ],
)
def test_a_wrong_file_of_corrections_is_rejected_with_the_line(
    tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "corrections.csv"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        read_corrections(file)


def test_corrections_in_python_are_checked_like_a_table() -> None:
    def read(*rows: tuple[str, str, bool]) -> list[tuple[str, str, bool]]:
        pairs = [Correction(term1=left, term2=right, same=same) for left, right, same in rows]
        return [(pair.term1, pair.term2, pair.same) for pair in read_corrections(pairs)]

    assert read(("b", "c", True), ("a", "b", False), ("C", "B", True)) == [
        ("a", "b", False),
        ("b", "c", True),
    ]
    with pytest.raises(InputError, match="`corrections`: number 1 and number 2 contradict each"):
        read(("a", "b", True), ("B", "A", False))
    with pytest.raises(InputError, match="number 1: ' a' and 'A ' are not two terms"):
        read((" a", "A ", True))
    with pytest.raises(InputError, match="`corrections`: number 1: 'A' and 'a' are not two terms"):
        read(("A", "a", True))
    with pytest.raises(InputError, match="`corrections`: number 2: '' and 'b' are not two terms"):
        read(("a", "b", True), ("", "b", True))
