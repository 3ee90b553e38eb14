"""Folds, and files of WiC to fit on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.wic import invented_instances, write_benchmark, write_instances, write_kinds
from hypothesis import given, settings
from hypothesis import strategies as st

from medsim import evaluate_wic, verify_wic
from medsim.core.errors import InputError
from medsim.wic.dataset import coin_flips, folds_of, linked_components, read_dataset, read_wic
from medsim.wic.output import read_instances


def keys_of(instance: dict) -> set[object]:
    pair = frozenset((instance["term1"].lower(), instance["term2"].lower()))
    return {pair, instance["sentence1"], instance["sentence2"]}


def by_networkx(instances: pl.DataFrame) -> list[set[int]]:
    import networkx as nx

    graph = nx.Graph()
    rows = list(instances.iter_rows(named=True))
    graph.add_nodes_from(range(len(rows)))
    for row, first in enumerate(rows):
        for other, right in enumerate(rows[:row]):
            if keys_of(first) & keys_of(right):
                graph.add_edge(row, other)
    return list(nx.connected_components(graph))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(0, 0.5))
def test_instances_are_linked_by_sentences_and_pairs_of_terms(
    seed: int, n: int, reuse: float
) -> None:
    instances = invented_instances(seed, n, reuse=reuse)

    component_of = linked_components(instances)

    for part in by_networkx(instances):
        assert {int(component_of[row]) for row in part} == {min(part)}


def test_the_case_and_the_sides_of_a_pair_of_terms_do_not_matter() -> None:
    plain = invented_instances(1, 2, reuse=0)
    mirrored = plain.with_columns(
        term1=pl.col("term2").str.to_uppercase(),
        term2=pl.col("term1"),
        sentence1=pl.col("sentence2") + " again",
        sentence2=pl.col("sentence1") + " again",
    )

    assert linked_components(pl.concat([plain, mirrored])).tolist() == [0, 1, 0, 1]


def test_folds_have_one_size_and_a_large_part_is_placed_first() -> None:
    folds = folds_of(invented_instances(1, 83, reuse=0), 0)
    assert sorted(np.bincount(folds).tolist()) == [8] * 7 + [9] * 3

    sentence = pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("shared")).otherwise("sentence1")
    instances = invented_instances(1, 10, reuse=0).with_columns(sentence1=sentence)

    assert np.bincount(folds_of(instances, 0, 2)).tolist() == [5, 5]


@settings(max_examples=25)
@given(st.permutations(range(40)))
def test_folds_do_not_depend_on_the_order_of_instances(order: list[int]) -> None:
    instances = invented_instances(2, 40)

    assert np.array_equal(folds_of(instances, 7)[order], folds_of(instances[order], 7))
    assert not np.array_equal(folds_of(instances, 1), folds_of(instances, 2))


def test_fewer_parts_make_fewer_folds_and_two_parts_are_refused(tmp_path: Path) -> None:
    instances = invented_instances(1, 3, reuse=0)

    assert sorted(folds_of(instances, 0).tolist()) == [0, 1, 2]
    path = write_instances(tmp_path / "one.json", instances[:2])
    with pytest.raises(InputError, match="cannot be split into three folds"):
        read_dataset(path, seed=0)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "json"])
def test_files_of_the_package_datasets_are_read_as_json_is(tmp_path: Path, suffix: str) -> None:
    instances = invented_instances(1, 40, reuse=0)
    listed, other = tmp_path / "listed", tmp_path / "other"
    for split, rows in (("dev", instances[:20]), ("test", instances[20:])):
        for folder in (listed, other):
            folder.mkdir(exist_ok=True)
        write_instances(listed / f"{split}.json", rows)
        wide = rows.with_columns(pl.col(pl.Int8, pl.Int32).cast(pl.Int64))
        path = other / f"{split}.{suffix}"
        wide.write_parquet(path) if suffix == "parquet" else wide.write_ndjson(path)

    expected, read = (read_dataset(folder, seed=0) for folder in (listed, other))

    assert read.instances.equals(expected.instances)
    assert set(read.files) == {"dev", "test"}
    assert verify_wic(other).findings.equals(verify_wic(listed).findings)


def test_errors_in_json_lines_and_parquet_name_the_place(tmp_path: Path) -> None:
    rows = invented_instances(1, 2, reuse=0)
    lines = rows.write_ndjson()
    (tmp_path / "one.json").write_text(lines.replace("}", "", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"one\.json: line 1 is not JSON"):
        read_instances(tmp_path / "one.json")
    rows.drop("label").write_parquet(tmp_path / "one.parquet")
    with pytest.raises(InputError, match=r"one\.parquet: instance 1: label is missing"):
        read_instances(tmp_path / "one.parquet")
    (tmp_path / "two.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"two\.parquet cannot be read as instances"):
        read_instances(tmp_path / "two.parquet")


def test_a_coin_is_fair_and_ignores_labels() -> None:
    instances = invented_instances(4, 1600, reuse=0)

    flips = coin_flips(instances, 3)

    n_right = int(np.count_nonzero(flips == (instances["label"] == 1).to_numpy()))
    assert abs(np.count_nonzero(flips) - 800) < 4 * 20  # four standard deviations
    assert abs(n_right - 800) < 4 * 20
    relabelled = instances.with_columns(label=(1 - pl.col("label")).cast(pl.Int8))
    assert np.array_equal(coin_flips(relabelled, 3), flips)
    assert np.array_equal(coin_flips(instances.reverse(), 3), flips[::-1])
    assert not np.array_equal(coin_flips(instances, 4), flips)


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
def test_terms_are_the_tokens_at_the_positions(end: str, tmp_path: Path) -> None:
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
        (LINES, "T\n", r"has 2 lines and .*train.gold.txt has 1; expected a label"),
        (LINES, "T\ntrue\n", r"train.gold.txt: line 2 is 'true', not T or F"),
        (
            "orl\tN\t1\tThe orl\tThe orl\n",
            "T\n",
            r"train.data.txt: line 1 is 'orl.*; expected word",
        ),
        ("orl\tN\t1-1\tThe orl\n", "T\n", r"train.data.txt: line 1 .*two sentences"),
        ("orl\tN\t1-2\tThe orl\tThe orl\n", "T\n", r"line 1: sentence 2 has no token 2"),
    ],
)
def test_errors_name_the_line(data, gold, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_wic(written(tmp_path, data, gold))
    (tmp_path / "train.gold.txt").unlink()
    with pytest.raises(InputError, match=r"train.gold.txt"):
        read_wic(tmp_path / "train.data.txt")


def test_more_train_is_used_like_instances_of_train(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="medsim[wic] is not installed")
    data = write_benchmark(tmp_path / "data")
    more = invented_instances(77, 40)
    general = as_wic(tmp_path / "wic", more)
    model = [f"words={write_kinds(tmp_path / 'kinds.txt')}"]
    train = read_instances(data / "train.json")
    for name, instances in (("both", pl.concat([train, more])), ("alone", more)):
        for split in ("dev", "test"):
            rows = read_instances(data / f"{split}.json")
            write_instances(tmp_path / f"{name}/{split}.json", rows)
        write_instances(tmp_path / f"{name}/train.json", instances)

    both = evaluate_wic(data, tmp_path / "1", models=model, more_train=[general])
    alone = evaluate_wic(data, tmp_path / "2", models=model, train=general)

    for dataset, name in ((both, "both"), (alone, "alone")):
        expected = evaluate_wic(tmp_path / name, tmp_path / f"of {name}", models=model)
        assert dataset.predictions().equals(expected.predictions())
    assert not both.predictions()["score"].equals(alone.predictions()["score"])


def test_more_train_is_in_no_fold_of_a_single_file(tmp_path: Path) -> None:
    benchmark = invented_instances(9, 64, reuse=0.1)
    path = write_instances(tmp_path / "one.json", benchmark)
    general = as_wic(tmp_path / "wic", invented_instances(5, 12))

    plain = read_dataset(path, seed=3)
    dataset = read_dataset(path, more_train=[general], seed=3)

    further = set(range(64, 76))
    assert dataset.instances.height == 76
    assert dataset.tested.tolist() == dataset.dev.tolist() == list(range(64))
    for round_, other in zip(dataset.rounds, plain.rounds, strict=True):
        assert set(round_.train) == set(other.train) | further
        assert set(round_.dev) == set(other.dev)
        assert np.array_equal(round_.test, other.test)
        assert np.array_equal(round_.held_back, other.held_back)
    assert dataset.fitted == "cross-fitted in 10 folds and train.data.txt"
    assert dataset.files["more_train 1"]["path"] == str(general)
    assert dataset.n_leaked() == 0
    assert read_dataset(path, more_train=[path], seed=3).n_leaked() == 64
