"""Builds, splits and exports, loaded by ``datasets`` and checked by mlcroissant."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from fixtures.cards import metadata_of, rows_in_table

import medsim

_REASON = "medsim[tools] is not installed"
datasets = pytest.importorskip("datasets", reason=_REASON)
mlcroissant = pytest.importorskip("mlcroissant", reason=_REASON)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory):
    """Return ``load_dataset`` with a separate cache."""
    datasets.disable_progress_bars()
    cache = tmp_path_factory.mktemp("cache")
    return lambda path, name=None: datasets.load_dataset(str(path), name, cache_dir=str(cache))


@pytest.fixture(scope="module")
def exported(shared_splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hub") / "out"
    return medsim.export(shared_splits, out, to="huggingface", private=True).folder


def frame_of(loaded) -> pl.DataFrame:
    """Return the rows of a loaded split."""
    return pl.DataFrame(loaded.data.table)


@pytest.mark.parametrize("kind", ["build", "similar build", "splits", "split", "export"])
def test_every_configuration_loads_the_rows_of_its_card(
    shared_build, similar_build, shared_splits, exported: Path, load, kind: str
) -> None:
    folder = {
        "build": shared_build.folder,
        "similar build": similar_build.folder,
        "splits": shared_splits.folder,
        "split": shared_splits["test"].folder,
        "export": exported,
    }[kind]

    in_card = rows_in_table(folder)
    names = [row["config_name"] for row in metadata_of(folder)["configs"]]
    assert datasets.get_dataset_config_names(str(folder)) == names
    for name in names:
        loaded = {split: rows.num_rows for split, rows in load(folder, name).items()}
        assert loaded == {split: n_rows for split, n_rows in in_card[name].items() if n_rows}
    assert load(folder)["train" if kind != "split" else "test"].num_rows > 100


def test_the_folder_of_pairs_loads_with_the_columns_of_its_folders(shared_build, load) -> None:
    folder = shared_build.folder / "pairs"
    pairs = pl.read_parquet(folder)

    rows = datasets.Dataset.from_polars(pairs)

    assert {"dataset", "difficulty", "negatives"} < set(rows.column_names) == set(pairs.columns)
    assert rows.num_rows == load(folder)["train"].num_rows == pairs.height > 100


def test_columns_are_in_the_order_of_losses(shared_build, load, tmp_path: Path) -> None:
    export = medsim.export(shared_build, tmp_path / "out", "sentence-transformers", n_negatives=2)

    assert {name: load(export.folder, name)["train"].column_names for name in (None, "pair")} == {
        None: ["anchor", "positive", "negative_1", "negative_2"],
        "pair": ["anchor", "positive"],
    }
    labelled = load(export.folder, "pair-class")["train"]
    assert labelled.column_names == ["sentence1", "sentence2", "label"]
    assert set(labelled["label"]) == {0, 1}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # from libraries of mlcroissant
def test_the_description_is_valid_and_reads_the_rows(
    shared_splits, exported: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = mlcroissant.Dataset(jsonld=str(exported / "croissant.json"))

    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert not caplog.records
    for name, rows in (("fsn_syn-hard-random", "pairs"), ("positives", "positives")):
        actual = [
            {field.removeprefix(f"{name}/"): text_of(value) for field, value in record.items()}
            for record in islice(dataset.records(name), 10_000)
        ]
        expected = [
            {"split": split, **row}
            for split, build in shared_splits.builds.items()
            for row in (
                build.positives()
                if rows == "positives"
                else build.pairs("fsn_syn", "hard", "random")
            ).iter_rows(named=True)
        ]
        assert sorted(actual, key=repr) == sorted(expected, key=repr)


def text_of(value: object) -> object:
    """Return the value of a record with bytes as text, since mlcroissant returns bytes."""
    if isinstance(value, list):
        return [text_of(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value
