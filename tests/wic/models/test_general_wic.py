"""Instances of WiC are read, and are for fitting alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.wic import invented_instances, write_benchmark, write_instances, write_kinds

from medsim import evaluate_wic
from medsim.core.errors import InputError
from medsim.wic.benchmark import read_instances
from medsim.wic.dataset import read_dataset, read_wic

LINES = "orl\tN\t1-3\tThe orl\u00e9 fell .\tI saw an orl .\ngo\tV\t1-0\tShe  went home\tGo !\n"


def written(folder: Path, data: str = LINES, gold: str = "T\nF\n", name: str = "train") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.gold.txt").write_text(gold, encoding="utf-8")
    path = folder / f"{name}.data.txt"
    path.write_text(data, encoding="utf-8")
    return path


def as_wic(folder: Path, instances: pl.DataFrame) -> Path:
    """Return a file of WiC that has the same sides and labels."""
    lines, labels = [], []
    for row in instances.iter_rows(named=True):
        places = [row[f"sentence{n}"][: row[f"start{n}"]].count(" ") for n in (1, 2)]
        text = f"{row['term1']}\tN\t{places[0]}-{places[1]}\t{row['sentence1']}\t{row['sentence2']}"
        lines.append(text)
        labels.append("FT"[row["label"]])
    return written(folder, "\n".join(lines) + "\n", "\n".join(labels) + "\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_terms_are_the_tokens_at_their_places(end: str, tmp_path: Path) -> None:
    path = written(tmp_path, LINES.replace("\n", end), f"T{end}F{end}{end}")

    first, second = read_wic(path).to_dicts()

    assert (first["term1"], first["start1"], first["end1"]) == ("orl\u00e9", 4, 8)
    assert (first["term2"], first["start2"], first["end2"]) == ("orl", 9, 12)
    assert (second["term1"], second["start1"], second["term2"]) == ("went", 5, "Go")
    assert (first["sentence2"], second["sentence1"]) == ("I saw an orl .", "She  went home")
    assert [first["label"], second["label"]] == [1, 0]
    assert first["cat"] is None


@pytest.mark.parametrize(
    ("data", "gold", "message"),
    [
        (LINES, "T\n", r"has 2 lines and .*train.gold.txt 1; a label is needed"),
        (LINES, "T\ntrue\n", r"train.gold.txt: line 2 is 'true', not T or F"),
        ("orl\tN\t1\tThe orl\tThe orl\n", "T\n", r"train.data.txt: line 1 is 'orl.*; WiC has word"),
        ("orl\tN\t1-1\tThe orl\n", "T\n", r"train.data.txt: line 1 .*two sentences"),
        ("orl\tN\t1-2\tThe orl\tThe orl\n", "T\n", r"line 1: sentence 2 has 2 tokens, none at p"),
    ],
)
def test_faults_are_named_by_their_line(data, gold, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_wic(written(tmp_path, data, gold))


def test_labels_must_be_there(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "train.gold.txt").unlink()
    with pytest.raises(InputError, match=r"train.gold.txt"):
        read_wic(path)


def test_it_is_fitted_on_as_the_same_instances_in_train_are(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="medsim[wic] is not installed")
    data = write_benchmark(tmp_path / "data")
    more = invented_instances(77, 40)
    general = as_wic(tmp_path / "wic", more)
    model = [f"words={write_kinds(tmp_path / 'kinds.txt')}"]
    train = read_instances(data / "train.json")
    for name, instances in (("both", pl.concat([train, more])), ("alone", more)):
        for split in ("dev", "test"):
            write_instances(
                tmp_path / f"{name}/{split}.json", read_instances(data / f"{split}.json")
            )
        write_instances(tmp_path / f"{name}/train.json", instances)

    both = evaluate_wic(data, tmp_path / "1", models=model, more_train=[general])
    alone = evaluate_wic(data, tmp_path / "2", models=model, train=general)

    for found, name in ((both, "both"), (alone, "alone")):
        expected = evaluate_wic(tmp_path / name, tmp_path / f"of {name}", models=model)
        assert found.predictions.equals(expected.predictions)
    assert not both.predictions["score"].equals(alone.predictions["score"])


def test_it_is_in_no_fold_of_one_file(tmp_path: Path) -> None:
    own = invented_instances(9, 64, reuse=0.1)
    path = write_instances(tmp_path / "one.json", own)
    general = as_wic(tmp_path / "wic", invented_instances(5, 12))

    plain = read_dataset(path, seed=3)
    found = read_dataset(path, more_train=[general], seed=3)

    further = set(range(64, 76))
    assert found.instances.height == 76
    assert found.tested.tolist() == found.dev.tolist() == list(range(64))
    for one, other in zip(found.rounds, plain.rounds, strict=True):
        assert set(one.train) == set(other.train) | further
        assert set(one.dev) == set(other.dev)
        assert np.array_equal(one.test, other.test)
        assert np.array_equal(one.held_back, other.held_back)
    assert found.fitted == "cross-fitted in 10 folds and train.data.txt"
    assert found.files["more_train 1"]["path"] == str(general)
    assert found.n_known() == 0
    assert read_dataset(path, more_train=[path], seed=3).n_known() == 64
