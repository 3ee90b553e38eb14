"""Builds, splits and exports as ``datasets`` loads them and mlcroissant checks them."""

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
    """Return ``load_dataset`` with a cache of its own."""
    datasets.disable_progress_bars()
    cache = tmp_path_factory.mktemp("cache")
    return lambda path, name=None: datasets.load_dataset(str(path), name, cache_dir=str(cache))


@pytest.fixture(scope="module")
def exported(shared_splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("hub") / "out"
    return medsim.export(shared_splits, out, to="huggingface", private=True).folder


def frame_of(loaded) -> pl.DataFrame:
    """Return the rows of a split that was loaded."""
    return pl.DataFrame(loaded.data.table)


@pytest.mark.parametrize("kind", ["build", "similar build", "splits", "split", "export"])
def test_every_configuration_is_loaded_with_the_rows_that_its_card_tells(
    shared_build, similar_build, shared_splits, exported: Path, load, kind: str
) -> None:
    folder = {
        "build": shared_build.folder,
        "similar build": similar_build.folder,
        "splits": shared_splits.folder,
        "split": shared_splits["test"].folder,
        "export": exported,
    }[kind]

    told = rows_in_table(folder)
    names = [one["config_name"] for one in metadata_of(folder)["configs"]]
    assert datasets.get_dataset_config_names(str(folder)) == names
    for name in names:
        found = {split: rows.num_rows for split, rows in load(folder, name).items()}
        assert found == {split: n_rows for split, n_rows in told[name].items() if n_rows}
    assert load(folder)["train" if kind != "split" else "test"].num_rows > 100


def test_losses_get_their_columns_in_order(shared_build, load, tmp_path: Path) -> None:
    made = medsim.export(shared_build, tmp_path / "out", "sentence-transformers", n_negatives=2)

    assert {name: load(made.folder, name)["train"].column_names for name in (None, "pair")} == {
        None: ["anchor", "positive", "negative_1", "negative_2"],
        "pair": ["anchor", "positive"],
    }
    labelled = load(made.folder, "pair-class")["train"]
    assert labelled.column_names == ["sentence1", "sentence2", "label"]
    assert set(labelled["label"]) == {0, 1}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what mlcroissant calls
def test_the_description_is_sound_and_reads_the_rows(
    shared_splits, exported: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = mlcroissant.Dataset(jsonld=str(exported / "croissant.json"))

    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert not caplog.records
    for name, rows in (("fsn_syn-hard-random", "pairs"), ("positives", "positives")):
        read = [
            {field.removeprefix(f"{name}/"): text_of(value) for field, value in record.items()}
            for record in islice(dataset.records(name), 10_000)
        ]
        known = [
            {"split": split, **row}
            for split, build in shared_splits.builds.items()
            for row in (
                build.positives()
                if rows == "positives"
                else build.pairs("fsn_syn", "hard", "random").collect()
            ).iter_rows(named=True)
        ]
        assert sorted(read, key=repr) == sorted(known, key=repr)


def text_of(value: object) -> object:
    """Return the value of a record, whose texts mlcroissant gives as bytes."""
    if isinstance(value, list):
        return [text_of(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value
