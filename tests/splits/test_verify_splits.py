"""Verification finds errors in splits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.builds import alter, run

import medsim
from medsim.builds.options import VerifyOptions
from medsim.builds.output import BuildManifest
from medsim.core.errors import OptionError
from medsim.core.files import digest_of
from medsim.core.manifest import fingerprint
from medsim.splits import verify as split_checks

pytestmark = pytest.mark.slow


@pytest.fixture
def copied(shared_splits: medsim.Splits, tmp_path: Path) -> Path:
    shutil.copytree(shared_splits.folder, tmp_path / "splits")
    return tmp_path / "splits"


def alter_split(folder: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the rows of a file of a split, and update both manifests."""
    split, _, file = name.partition("/")
    alter(folder / split, file, change)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    changed = pl.read_parquet(folder / name, hive_partitioning=False)
    manifest["outputs"][name] = {"rows": changed.height, "fingerprint": fingerprint(changed)}
    digest = digest_of(folder / split / "manifest.json")
    manifest["outputs"][f"{split}/manifest.json"]["fingerprint"] = digest
    path.write_text(json.dumps(manifest))


def broken(folder: Path) -> list[str]:
    return medsim.verify(folder, sample=1, threads=1).broken


def test_unchanged_splits_keep_their_promises(
    shared_splits: medsim.Splits, shared_build: medsim.Build
) -> None:
    result = medsim.verify(shared_splits, build=shared_build, sample=1_000_000)

    assert result.holds
    assert result.findings["split"].unique(maintain_order=True).to_list() == [
        "train",
        "validation",
        "test",
        "",
    ]
    whole = result.findings.filter(split="")["check"].to_list()
    checks = ["files", "fingerprint", "concept", "term", "pair", "group", "rule", "stats"]
    assert whole == [*checks, "build", "positives"]


@pytest.mark.full
def test_a_concept_recorded_in_another_split_is_found(copied: Path) -> None:
    other = pl.when(pl.int_range(pl.len()) == 0).then(
        pl.when(pl.col("split") == "train").then(pl.lit("test")).otherwise(pl.lit("train"))
    )
    alter(
        copied, "concepts.parquet", lambda rows: rows.with_columns(split=other.otherwise("split"))
    )

    assert {"concept", "rule"} <= set(broken(copied))


@pytest.mark.full
def test_a_term_of_another_split_is_found(copied: Path, shared_splits: medsim.Splits) -> None:
    pairs = shared_splits["test"].pairs("fsn_syn")
    shown = pairs["term1"][0].upper()
    alter_split(
        copied,
        "train/terminology/description.parquet",
        lambda rows: pl.concat(
            [
                rows,
                rows.head(1).with_columns(
                    term=pl.lit(shown), active=pl.lit(value=False), description_id=pl.lit("zz")
                ),
            ]
        ),
    )
    assert broken(copied) == ["term"]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda folder: (folder / "stats.parquet").unlink(), "files"),
        (lambda folder: (folder / "more.txt").write_text("more"), "files"),
        (lambda folder: (folder / "test/stats.parquet").unlink(), "files"),
        (
            lambda folder: (folder / "test/manifest.json").write_text(
                (folder / "test/manifest.json").read_text() + " "
            ),
            "fingerprint",
        ),
        (
            lambda folder: (
                pl.read_parquet(folder / "concepts.parquet")
                .reverse()
                .write_parquet(folder / "concepts.parquet")
            ),
            "fingerprint",
        ),
        (lambda folder: (folder / "README.md").unlink(), "files"),
        (lambda folder: (folder / "README.md").write_text("another card"), "fingerprint"),
    ],
    ids=["stats", "stranger", "missing", "manifest", "concepts", "no card", "card"],
)
def test_a_changed_file_is_found(
    copied: Path, change: Callable[[Path], object], check: str
) -> None:
    change(copied)

    assert check in broken(copied)


def test_the_exit_code_says_whether_promises_hold(copied: Path) -> None:
    (copied / "more.txt").write_text("more")

    result = run("verify", copied)

    assert result.exit_code == 3
    assert f"{copied}: files do not hold" in result.output


@pytest.mark.full
def test_the_build_must_be_the_one_that_was_split(
    shared_splits: medsim.Splits, shared_build: medsim.Build
) -> None:
    with pytest.raises(OptionError, match="is not the build that was split"):
        medsim.verify(shared_splits, build=shared_splits["train"], sample=0)
    with pytest.raises(OptionError, match="`build` is for splits"):
        medsim.verify(shared_build, build=shared_build)


def test_a_positive_that_differs_from_the_build_is_found(
    shared_splits: medsim.Splits,
    shared_build: medsim.Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Path(shutil.copytree(shared_build.folder, tmp_path / "build"))
    first = pl.col("pair_id") == pl.col("pair_id").filter(pl.col("label") == 1).first()
    longer = pl.when(first).then(pl.col("distance") + 1).otherwise("distance").alias("distance")
    pairs = "pairs/dataset=fsn_syn/difficulty=hard/negatives=random/data.parquet"
    alter(other, pairs, lambda rows: rows.with_columns(longer))
    same = property(lambda _: shared_splits.manifest.build)
    monkeypatch.setattr(BuildManifest, "digest", same)
    options = VerifyOptions(folder=shared_splits)

    findings = split_checks.check_against_build(
        shared_splits, medsim.open(other), options, 1, medsim.Progress()
    )

    assert {row.check: len(row.violations) for row in findings} == {"build": 0, "positives": 2}
