"""Models on words in context, end to end on invented benchmarks."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_text
from fixtures.encoders import hidden_of, write_encoder
from fixtures.simulated import answer
from fixtures.tuning import TunableModel, stand_in
from fixtures.wic import invented_instances, write_benchmark, write_instances, write_kinds
from typer.testing import CliRunner

import medsim
from medsim import WicScores, evaluate_wic
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.core.shown import MISSING, why_missing
from medsim.statistics.estimates import wilson
from medsim.statistics.significance import holm, mcnemar
from medsim.wic import GROUPS
from medsim.wic.dataset import read_dataset
from medsim.wic.models import word_vectors
from medsim.wic.models.training import Training
from medsim.wic.output import ACCURACIES, PREDICTIONS, read_instances
from medsim.wic.page import WHY_NO_VALUE, readable_accuracies

pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None or find_spec("onnxruntime") is None,
    reason="medsim[wic] or medsim[onnx] is not installed",
)


@pytest.fixture(scope="module", autouse=True)
def _setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fit perceptrons for fewer epochs, which is enough here, and keep vectors out of the home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("medsim.wic.models.word_vectors._MAX_EPOCHS", 50)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a benchmark, a single file, word vectors and an encoder."""
    folder = tmp_path_factory.mktemp("wic")
    write_benchmark(folder / "data")
    write_instances(folder / "one.json", invented_instances(9, 64, reuse=0.1, wrong=0.15))
    write_kinds(folder / "kinds.txt")
    write_encoder(folder / "encoder")
    return folder


@pytest.fixture(scope="module", params=["data", "one.json"])
def scored(request: pytest.FixtureRequest, place: Path) -> WicScores:
    """Return the scores of every model, by splits and by folds."""
    out = place / f"scores of {request.param}"
    models = models_for(place, request.param)
    return evaluate_wic(place / request.param, out, models=models, people=0.8, threads=2)


def all_models(place: Path) -> list[str]:
    return [
        "random",
        f"words={place / 'kinds.txt'}",
        f"sentences={place / 'kinds.txt'},input=sentence",
        f"targets={place / 'encoder'}",
        f"quoted={place / 'encoder'},input=quoted",
    ]


def models_for(place: Path, data: str) -> list[str]:
    """Return all models; for a single file one of each kind, since each is fitted ten times."""
    models = all_models(place)
    return models if data == "data" else [*models[:2], models[3]]


def accuracy(results: pl.DataFrame, model: str, subset: str = "all") -> float:
    return results.filter(model=model, subset=subset)["accuracy"].item()


def shuffled(path: Path, to: Path) -> np.ndarray:
    """Write the instances of a file in another order, and return the order."""
    instances = read_instances(path)
    order = np.random.default_rng(5).permutation(instances.height)
    write_instances(to, instances[order])
    return order


def test_every_model_is_scored_on_every_part(scored: WicScores) -> None:
    for name, columns in (
        ("results", ACCURACIES.dtypes),
        ("predictions", PREDICTIONS.dtypes),
    ):
        frame = getattr(scored, name)()
        assert frame.schema == pl.Schema(columns)
        assert pl.read_parquet(scored.folder / f"{name}.parquet").equals(frame)
    truth = scored.predictions().with_columns(right=pl.col("prediction") == pl.col("label"))
    for row in scored.results().iter_rows(named=True):
        part = truth.filter(model=row["model"])
        if row["subset"] != "all":
            numbers = {"any_seen": [1, 2], "both_seen": [2], "unseen": [0]}.get(row["subset"])
            of_group = pl.col("cat") == row["subset"]
            part = part.filter(pl.col("seen_terms").is_in(numbers) if numbers else of_group)
        assert row["accuracy"] == part["right"].mean()
        assert row["n_instances"] == part.height
    subsets = set(scored.results()["subset"])
    assert {"all", *GROUPS} < subsets
    assert accuracy(scored.results(), "words") > 0.6
    assert 0.25 < accuracy(scored.results(), "random") < 0.75


def cosines_by_hand(instances: pl.DataFrame, encoder: Path) -> np.ndarray:
    """Return the cosines of the mean vectors of targets, token by token."""
    tokenizers = pytest.importorskip("tokenizers", reason="medsim[onnx] is not installed")
    tokenizer = tokenizers.Tokenizer.from_file(str(encoder / "tokenizer.json"))
    tokenizer.no_padding()

    def vector(sentence: str, start: int, end: int) -> np.ndarray:
        tokens = tokenizer.encode(sentence)
        inside = [
            mark == 0 and (min(end, last) - max(start, first)) > 0
            for (first, last), mark in zip(tokens.offsets, tokens.special_tokens_mask, strict=True)
        ]
        return hidden_of(tokens.ids)[inside].mean(axis=0).astype(float)

    cosines = []
    for row in instances.iter_rows(named=True):
        a = vector(row["sentence1"], row["start1"], row["end1"])
        b = vector(row["sentence2"], row["start2"], row["end2"])
        cosines.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    return np.array(cosines)


def test_an_encoder_answers_by_the_threshold_that_is_best_on_dev(
    place: Path, tmp_path: Path
) -> None:
    scores = evaluate_wic(place / "data", tmp_path / "out", models=[f"targets={place / 'encoder'}"])

    dev, test = (read_instances(place / f"data/{name}.json") for name in ("dev", "test"))
    of_dev, of_test = (cosines_by_hand(rows, place / "encoder") for rows in (dev, test))
    labels = (dev["label"] == 1).to_numpy()
    threshold = scores.predictions()["threshold"].unique().item()
    right = [((of_dev >= at) == labels).sum() for at in [*of_dev, np.inf]]
    assert ((of_dev >= threshold) == labels).sum() == max(right)
    predictions = scores.predictions()
    assert np.allclose(predictions["score"], of_test, atol=1e-5)
    assert predictions["prediction"].to_list() == (of_test >= threshold).astype(int).tolist()


def test_results_depend_neither_on_the_order_of_files_nor_on_threads(
    scored: WicScores, tmp_path: Path
) -> None:
    place, data = scored.folder.parent, scored.results()["data"][0]
    for split in ("train", "dev", "test") if data == "data" else ():
        order = shuffled(place / f"data/{split}.json", tmp_path / f"data/{split}.json")
    if data == "one.json":
        order = shuffled(place / data, tmp_path / data)

    models = models_for(place, data)
    again = evaluate_wic(tmp_path / data, tmp_path / "again", models=models, people=0.8, threads=3)

    assert scored.results().equals(again.results())
    for (_, first), (_, second) in zip(
        scored.predictions().group_by("model", maintain_order=True),
        again.predictions().group_by("model", maintain_order=True),
        strict=True,
    ):
        assert first[order].drop("instance").equals(second.drop("instance"))


def test_labels_of_test_are_never_used(place: Path, tmp_path: Path) -> None:
    write_benchmark(tmp_path / "data")
    test = read_instances(tmp_path / "data/test.json")
    write_instances(
        tmp_path / "data/test.json", test.with_columns(label=(1 - pl.col("label")).cast(pl.Int8))
    )

    first, second = (
        evaluate_wic(folder / "data", tmp_path / folder.name, models=all_models(place)[1:4])
        for folder in (place, tmp_path)
    )

    assert first.predictions().drop("label").equals(second.predictions().drop("label"))
    assert np.isclose(accuracy(second.results(), "words"), 1 - accuracy(first.results(), "words"))


def test_labels_of_a_fold_do_not_change_its_predictions(place: Path, tmp_path: Path) -> None:
    instances, models = read_instances(place / "one.json"), all_models(place)[1:4:2]
    predictions = evaluate_wic(place / "one.json", tmp_path / "out", models=models).predictions()
    is_first = pl.Series(predictions.filter(model="words")["fold"] == 1)
    label = pl.when(is_first).then(1 - pl.col("label")).otherwise("label").cast(pl.Int8)
    write_instances(tmp_path / "one.json", instances.with_columns(label=label))

    again = evaluate_wic(tmp_path / "one.json", tmp_path / "again", models=models).predictions()

    columns = ("model", "instance", "prediction", "score")
    assert predictions.filter(fold=1).select(columns).equals(again.filter(fold=1).select(columns))
    assert not predictions["score"].equals(again["score"])


def test_rounds_of_one_file_share_no_sentence_and_no_pair_of_terms(place: Path) -> None:
    benchmark = read_dataset(place / "one.json", seed=3)

    rows = list(benchmark.instances.iter_rows(named=True))

    def keys(row: int) -> set[object]:
        instance = rows[row]
        pair = frozenset((instance["term1"].lower(), instance["term2"].lower()))
        return {pair, instance["sentence1"], instance["sentence2"]}

    tested = np.concatenate([round_.test for round_ in benchmark.rounds])
    assert sorted(tested.tolist()) == list(range(len(rows)))
    assert len(benchmark.rounds) == 10
    for round_ in benchmark.rounds:
        known_keys = {key for row in round_.train for key in keys(row)}
        assert not known_keys & {key for row in round_.test for key in keys(row)}
        assert set(round_.held_back) < set(round_.train) == set(round_.dev)
        fitted = set(round_.train) - set(round_.held_back)
        known_keys = {key for row in fitted for key in keys(row)}
        assert not known_keys & {key for row in round_.held_back for key in keys(row)}


def written(path: Path, *pairs: tuple[str, str, int]) -> Path:
    """Return a file of instances of pairs of terms with labels, no sentence twice."""
    start = len(path.stem) + 3
    rows = []
    for number, (term1, term2, label) in enumerate(pairs):
        row: dict[str, object] = {"cat": "synonyms", "label": label}
        for n, term in (("1", term1), ("2", term2)):
            row[f"term{n}"] = term
            row[f"sentence{n}"] = f"{path.stem} a {term} is here {2 * number + int(n)}"
            row[f"start{n}"], row[f"end{n}"] = start, start + len(term)
        rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_terms_are_seen_if_train_has_them_in_any_case(tmp_path: Path) -> None:
    written(tmp_path / "train.json", ("Fever", "pain", 1), ("gout", "ache", 0))
    tested = [("fever", "ACHE", 1), ("fever", "rash", 0), ("rash", "pains", 0)]
    written(tmp_path / "test.json", *tested)

    scores = evaluate_wic(tmp_path, tmp_path / "out", models=["random"])

    assert scores.predictions()["seen_terms"].to_list() == [2, 1, 0]
    parts = scores.results().select("subset", "n_instances").rows()
    assert parts == [
        *[("all", 3), ("synonyms", 3)],
        *[("any_seen", 2), ("both_seen", 1), ("unseen", 1)],
    ]
    test = tmp_path / "test.json"
    alone = evaluate_wic(test, tmp_path / "b", models=["random"], dev=test).predictions()
    assert alone["seen_terms"].null_count() == 3


def test_uncovered_instances_get_the_most_frequent_label(tmp_path: Path) -> None:
    pairs = [("fever", "pain", 1), ("pain", "gout", 0), ("fever", "gout", 1), ("pain", "pain", 1)]
    written(tmp_path / "train.json", *pairs)
    written(tmp_path / "test.json", ("zzz", "pain", 0), ("fever", "yyy", 1), ("pain", "fever", 1))
    rows = {"fever": [1, 0], "pain": [0.5, 1], "gout": [0, -1]}
    model = f"words={write_text(tmp_path / 'words.txt', rows, header=True)}"

    scores = evaluate_wic(tmp_path, tmp_path / "out", models=[model])

    assert scores.predictions()["covered"].to_list() == [False, False, True]
    assert scores.predictions()["prediction"].to_list()[:2] == [1, 1]
    assert scores.predictions()["score"].null_count() == 2
    assert scores.results().filter(subset="all")["n_uncovered"].to_list() == [2]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert "words cannot score 2 instances" in manifest["warnings"][-1]


def test_every_model_is_compared_with_the_best_by_mcnemar(scored: WicScores) -> None:
    right = {
        name: (part["prediction"] == part["label"]).to_numpy()
        for (name,), part in scored.predictions().group_by("model", maintain_order=True)
    }
    best = max(right, key=lambda name: right[name].mean())
    others = [name for name in right if name != best]
    p = holm(np.array([mcnemar(right[best], right[name]).p for name in others]))
    expected = dict(zip(others, p.tolist(), strict=True)) | {best: None}
    whole = scored.results().filter(subset="all")
    assert dict(whole.select("model", "p").iter_rows()) == expected
    assert scored.results().filter(pl.col("subset") != "all")["p"].null_count() > 0


def test_human_accuracy_comes_from_a_study_of_the_same_instances(
    place: Path, tmp_path: Path
) -> None:
    study = medsim.instances_study(place / "data", tmp_path / "study", size=12, common=4)
    wrong = set(study.items()["item_id"][:3])

    def reply(_: str, item: dict) -> str:
        return ("not_same", "same")[item["label"] ^ (item["item_id"] in wrong)]

    answer(study, tmp_path / "answers", reply)
    people = medsim.score_study(study, [tmp_path / "answers"], tmp_path / "scores", resamples=0)
    expected = people.table("accuracy").filter(annotator="mean")["accuracy"].item()

    scores = evaluate_wic(
        place / "data", tmp_path / "out", models=["random"], people=tmp_path / "scores"
    )

    assert scores.people == expected < 1
    difference = accuracy(scores.results(), "random") - expected
    shown = readable_accuracies(scores.results(), scores.people)["to people"].item()
    assert shown.replace("\N{MINUS SIGN}", "-") == f"{difference:+.3f}"
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["options"]["people"] == expected
    with pytest.raises(InputError, match="scores other instances than"):
        evaluate_wic(
            place / "one.json", tmp_path / "b", models=["random"], people=tmp_path / "scores"
        )


@pytest.mark.parametrize(
    ("people", "kind", "message"),
    [
        (80, OptionError, "`people` 80 is not an accuracy between 0 and 1"),
        ("nan", OptionError, "`people` nan is not an accuracy"),
        ("nowhere", InputError, "there is no folder nowhere"),
        ("scored", InputError, "has no scores of medsim study instances"),
    ],
)
def test_an_invalid_human_accuracy_is_refused(
    scored: WicScores, place: Path, tmp_path: Path, people, kind, message: str
) -> None:
    value = scored.folder if people == "scored" else people
    with pytest.raises(kind, match=message):
        evaluate_wic(place / "data", tmp_path / "out", models=["random"], people=value)


def test_predictions_of_a_file_are_used_unchanged(place: Path, tmp_path: Path) -> None:
    test = read_instances(place / "data/test.json")
    labels = test["label"].to_numpy()
    wrong = tmp_path / "wrong.csv"
    test.select(prediction=1 - pl.col("label")).write_csv(wrong)

    scores = evaluate_wic(place / "data", tmp_path / "out", predictions=[f"llm={wrong}"])

    assert scores.predictions()["prediction"].to_list() == (1 - labels).tolist()
    with pytest.raises(OptionError, match=r"wrong\.csv does not apply: .* has predictions"):
        evaluate_wic(place / "data", tmp_path / "b", predictions=[f"llm={wrong},dev={wrong}"])
    assert accuracy(scores.results(), "llm") == 0
    ends = scores.results().filter(subset="all").select("low", "high").row(0)
    assert ends == (0, pytest.approx(wilson(0, len(labels)).high))


def scores_of(instances: pl.DataFrame, path: Path) -> Path:
    """Return a file of scores; instances with label 1 have scores above 5."""
    scores = pl.col("label") * 4 + 3 + pl.int_range(pl.len()) / 1000
    instances.select(score=scores).write_csv(path)
    return path


def test_scores_of_a_file_need_scores_on_dev(place: Path, tmp_path: Path) -> None:
    data = place / "data"
    test, dev = (
        scores_of(read_instances(data / f"{name}.json"), tmp_path / f"{name}.csv")
        for name in ("test", "dev")
    )

    scores = evaluate_wic(data, tmp_path / "out", predictions=[f"llm={test},dev={dev}"])

    assert accuracy(scores.results(), "llm") == 1
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"]["llm"]["files"] == {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (test, dev)
    }
    assert 3.1 < scores.predictions()["threshold"].unique().item() < 7
    with pytest.raises(OptionError, match=r"has only scores; .*`predictions` llm=.*,dev=PATH"):
        evaluate_wic(data, tmp_path / "b", predictions=[f"llm={test}"])
    predictions = tmp_path / "said.csv"
    read_instances(data / "dev.json").select(prediction="label").write_csv(predictions)
    with pytest.raises(OptionError, match=r"said\.csv has no column 'score'"):
        evaluate_wic(data, tmp_path / "b", predictions=[f"llm={test},dev={predictions}"])


def test_a_score_equal_to_the_threshold_from_dev_is_true(tmp_path: Path) -> None:
    written(tmp_path / "dev.json", ("a", "b", 0), ("c", "d", 1))
    written(tmp_path / "test.json", ("a", "b", 1), ("c", "d", 1), ("e", "f", 1))
    for name, scores in (("dev", ["-1", "2"]), ("test", ["0.5", "0.49", "3"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["score", *scores]), encoding="utf-8")
    files = f"llm={tmp_path / 'test.csv'},dev={tmp_path / 'dev.csv'}"

    scores = evaluate_wic(tmp_path, tmp_path / "out", predictions=[files])

    assert scores.predictions()["threshold"].to_list() == [0.5] * 3
    assert scores.predictions()["prediction"].to_list() == [1, 0, 1]


def test_scores_of_a_single_file_are_cross_fitted(place: Path, tmp_path: Path) -> None:
    path = scores_of(read_instances(place / "one.json"), tmp_path / "scores.csv")

    scores = evaluate_wic(place / "one.json", tmp_path / "out", predictions=[f"llm={path}"])

    assert accuracy(scores.results(), "llm") == 1
    folds = scores.predictions().group_by("fold").agg(pl.col("threshold").n_unique())
    assert sorted(folds.rows()) == [(fold, 1) for fold in range(1, 11)]
    other = scores_of(read_instances(place / "one.json"), tmp_path / "other.csv")
    with pytest.raises(OptionError, match=r"other\.csv does not apply: .*one.json no dev split"):
        evaluate_wic(place / "one.json", tmp_path / "b", predictions=[f"llm={path},dev={other}"])


def test_a_bilstm_without_known_words_in_train_covers_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_vectors, "prepare_torch", lambda _name, _threads: None)
    (tmp_path / "few.txt").write_text("velp 1 2\norl 2 1\n", encoding="utf-8")
    test = written(tmp_path / "test.json", ("velp", "orl", 1), ("velp", "orl", 0))

    scores = evaluate_wic(
        test,
        tmp_path / "out",
        models=[f"lstm={tmp_path / 'few.txt'},input=target,network=bilstm"],
        train=place / "data" / "train.json",
        dev=place / "data" / "dev.json",
    )

    assert scores.predictions()["score"].null_count() == scores.predictions().height


@pytest.mark.parametrize("data", ["data", "one.json"])
def test_fine_tuning_uses_no_instance_for_testing_or_thresholds(
    place: Path, tmp_path: Path, monkeypatch, data: str
) -> None:
    folder = stand_in(tmp_path / "model", monkeypatch)

    scores = evaluate_wic(
        place / data, tmp_path / "out", models=[f"tuned={folder},tune=yes,epochs=2"]
    )

    training = Training(epochs=2, rate=2e-5, batch=32)
    benchmark = read_dataset(place / data, seed=0)
    kinds = [
        [term.partition("-")[0] for term in benchmark.instances[benchmark.tested][f"term{side}"]]
        for side in "12"
    ]
    alike = [float(first == second) for first, second in zip(*kinds, strict=True)]
    assert scores.predictions()["score"].to_list() == alike
    assert len(TunableModel.made) == len(benchmark.rounds)
    thresholds = np.full(len(benchmark.labels), np.nan)
    thresholds[benchmark.tested] = scores.predictions()["threshold"]
    every_kind = [benchmark.instances[f"term{side}"].str.head(2).to_list() for side in "12"]
    for model, round_ in zip(TunableModel.made, benchmark.rounds, strict=True):
        alike = np.array([every_kind[0][row] == every_kind[1][row] for row in round_.held_back])
        labels = benchmark.labels[round_.held_back]
        n_right = [((alike >= at) == labels).sum() for at in (-np.inf, 0.5, np.inf)]
        cut = (-np.inf, 0.5, np.inf)[int(np.argmax(n_right))]
        assert (thresholds[round_.test] == cut).all()
        assert model.tuning == (training, 0)
        assert model.held_back.labels.tolist() == labels.tolist()
        fitted = set(round_.train) - set(round_.held_back)
        rows = benchmark.instances[sorted(fitted)]
        truth = sorted(zip(rows["sentence1"], rows["sentence2"], rows["label"], strict=True))
        pairs = [(a.replace('"', ""), b.replace('"', ""), int(c)) for a, b, c in model.pairs]
        assert sorted(pairs) == truth


def test_fitting_a_bilstm_uses_no_instance_for_testing_or_thresholds(
    place: Path, tmp_path: Path, monkeypatch
) -> None:
    rounds, calls = read_dataset(place / "one.json", seed=0).rounds, []

    def by_shared_words(pairs, labels, round_, training, seed, advance) -> tuple[np.ndarray, int]:
        assert training == Training(epochs=3, rate=0.01, batch=8)
        advance(training.epochs * len(round_.train))
        calls.append((round_, seed, labels))
        bags, starts = pairs.bags, pairs.bags.starts
        words = [set(bags.words[starts[n] : starts[n + 1]]) for n in range(len(starts) - 1)]
        rows = np.concatenate([round_.held_back, round_.test])
        sides = zip(pairs.left[rows], pairs.right[rows], strict=True)
        return np.array([float(not words[a].isdisjoint(words[b])) for a, b in sides]), 1

    monkeypatch.setattr(word_vectors, "prepare_torch", lambda _name, _threads: None)
    monkeypatch.setattr(word_vectors, "bilstm_scores", by_shared_words)
    options = "input=target,network=bilstm,epochs=3,rate=1e-2,batch=8"

    scores = evaluate_wic(
        place / "one.json",
        tmp_path / "out",
        models=[f"lstm={place / 'kinds.txt'},{options}", "random"],
        seed=0,
        seeds=2,
    )

    assert [seed for _, seed, _ in calls] == [0] * len(rounds) + [1] * len(rounds)
    for (round_, _, _), expected in zip(calls, [*rounds, *rounds], strict=True):
        held_back, test = set(expected.held_back), set(expected.test)
        assert set(round_.train) == set(expected.train) - held_back
        assert set(round_.held_back) == held_back
        assert set(round_.test) == test
    assert accuracy(scores.results(), "lstm") > 0.6
    models = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))["models"]
    assert models["lstm"]["way"] == "bilstm"
    assert models["lstm"]["options"] == {"epochs": "3", "rate": "0.01", "batch": "8"}


def test_seeds_give_a_mean_accuracy_and_its_deviation(place: Path, tmp_path: Path) -> None:
    models = [f"words={place / 'kinds.txt'},input=sentence", "random"]
    alone = evaluate_wic(place / "data", tmp_path / "alone", models=models[:1], seed=4)

    scores = evaluate_wic(place / "data", tmp_path / "out", models=models, seed=4, seeds=3)

    predictions = scores.predictions().filter(model="words")
    assert predictions.filter(seed=4).equals(alone.predictions())
    right = predictions.with_columns(right=pl.col("prediction") == pl.col("label"))
    each = [right.filter(seed=seed)["right"].mean() for seed in (4, 5, 6)]
    assert len(set(each)) > 1
    assert accuracy(scores.results(), "words") == pytest.approx(np.mean(each))
    deviations = scores.results().filter(subset="all")["deviation"]
    assert deviations.to_list() == [pytest.approx(np.std(each, ddof=1)), None]
    assert scores.predictions().filter(model="random")["seed"].null_count() == len(predictions) // 3
    readable = readable_accuracies(scores.results())
    assert readable["over seeds"].to_list() == [f"± {np.std(each, ddof=1):.3f}", MISSING]
    assert why_missing(readable, WHY_NO_VALUE).startswith(
        "no over seeds where a model is fitted from one seed, or not fitted"
    )


def test_the_manifest_records_data_models_and_options(scored: WicScores) -> None:
    manifest = json.loads((scored.folder / "manifest.json").read_text(encoding="utf-8"))

    assert manifest["kind"] == "wic_evaluation"
    assert (manifest["data"], manifest["fitted"], set(manifest["files"])) in (
        ("one.json", "cross-fitted in 10 folds", {"test"}),
        ("data", "models fitted on train, thresholds chosen on dev", {"train", "dev", "test"}),
    )
    assert manifest["options"] == {"seed": 0, "seeds": 1, "people": 0.8}
    assert manifest["models"]["targets"]["input"] == "target"
    assert manifest["models"]["targets"]["way"] == "cosine"
    assert len(manifest["models"]["words"]["fingerprint"]) == 64
    names = {"predictions", "results"}
    assert set(manifest["outputs"]) == {f"{name}.parquet" for name in names}


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("words", "is not NAME=PATH, such as minilm"),
        ("random,input=target", "a name has at most 100"),
        ("a=random,input=target", "input=target does not fit; accepted: none"),
        ("words={}/kinds.txt,input=quoted", r"input=quoted does not fit.*target, sentence"),
        (
            "words={}/kinds.txt,tune=yes",
            "tune=yes needs sentence-transformers or transformers, not",
        ),
        ("words={}/kinds.txt,tune=maybe", "unknown tune 'maybe'"),
        ("words={}/kinds.txt,epochs=3", "epochs=3 does not fit; accepted: input, network"),
        ("words={}/kinds.txt,network=gru", "unknown network 'gru'"),
        (
            "words={}/kinds.txt,network=bilstm,rate=2",
            "`rate` 2.0 is out of range; 1e-09 to 1 are",
        ),
        (
            "words={}/kinds.txt,network=bilstm,batch=0",
            "`batch` 0 is out of range; 1 to 100000 are",
        ),
        ("onnx={}/encoder,network=bilstm", "network=bilstm does not fit; accepted: input, tune"),
        ("a={tunable},epochs=3", "epochs=3 does not fit; accepted: input, tune"),
        ("words={}/kinds.txt,inputs=target", "unknown option of models 'inputs'"),
        ("onnx={}/encoder,input=sentence", r"input=sentence does not fit.*target, quoted"),
        ("words={}/kinds.txt,keys=terms", "does not fit|embeds whole terms"),
        ("a={tunable},tune=yes,epochs=0", "`epochs` 0 is out of range; 1 to 1000 are"),
        ("a={tunable},tune=yes,epochs=many", "epochs='many' is not a number"),
        ("a={tunable},input=target", r"input=target does not fit .*accepted: quoted"),
        ("", "name at least one model"),
        ("random random", "two models are named 'random'"),
    ],
)
def test_invalid_models_are_refused(place, tmp_path: Path, monkeypatch, model, says) -> None:
    tunable = stand_in(tmp_path / "model", monkeypatch)
    models = model.format(place, tunable=tunable).split()
    with pytest.raises(OptionError, match=says):
        evaluate_wic(place / "data", tmp_path / "out", models=models)
    assert not (tmp_path / "out").exists()


def test_a_missing_split_that_a_model_needs_is_an_error(place: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_instances(data / "test.json", invented_instances(1, 16))
    words, encoder = f"words={place / 'kinds.txt'}", f"encoder={place / 'encoder'}"

    with pytest.raises(OptionError, match=r"words needs train\.json, which data lacks"):
        evaluate_wic(data, tmp_path / "out", models=[words])
    with pytest.raises(OptionError, match=r"encoder needs dev\.json, which data lacks"):
        evaluate_wic(data, tmp_path / "out", models=[encoder])
    splits = {name: place / f"data/{name}.json" for name in ("train", "dev")}
    evaluate_wic(data, tmp_path / "out", models=[words, encoder], **splits)
    again = evaluate_wic(data / "test.json", tmp_path / "b", models=[words, encoder], **splits)
    assert again.predictions()["fold"].null_count() == 32


def test_files_without_instances_or_with_a_misplaced_term_are_refused(tmp_path: Path) -> None:
    rows = invented_instances(1, 3).to_dicts()
    rows[1] |= {"start2": 0}
    (tmp_path / "one.json").write_text(json.dumps(rows), encoding="utf-8")
    write_instances(tmp_path / "empty.json", invented_instances(1, 0))
    for name, says in {
        "one.json": "instance 2: sentence2 has",
        "empty.json": "has no instance",
        "": "has no test.json",
        "no": "does not exist",
    }.items():
        with pytest.raises(InputError, match=says):
            evaluate_wic(tmp_path / name, tmp_path / "out", models=["random"])
    with pytest.raises(InputError, match=r"^\. is a folder"):
        evaluate_wic(tmp_path / "one.json", tmp_path / "out", models=["random"], train="")


def run(place: Path, tmp_path: Path, *arguments: str):
    models = [word for model in all_models(place) for word in ("-m", model)]
    command = ["wic", "eval", str(place / "data"), "-o", str(tmp_path / "out"), *models]
    return CliRunner().invoke(app, [*command, "--cache", str(tmp_path / "cache"), *arguments])


def test_the_command_prints_all_columns_for_programs(place: Path, tmp_path: Path) -> None:
    rows = run(place, tmp_path, "--format", "csv")

    assert pl.read_csv(rows.stdout.encode()).columns == list(ACCURACIES.dtypes)


def test_data_leakage_gives_a_warning(place: Path, tmp_path: Path) -> None:
    warnings = evaluate_wic(
        place / "data", tmp_path / "known", models=["random"], train=place / "data" / "test.json"
    )
    manifest = json.loads((warnings.folder / "manifest.json").read_text(encoding="utf-8"))
    n_instances = len(read_instances(place / "data" / "test.json"))
    assert manifest["warnings"][0].startswith(f"{n_instances} of {n_instances} instances share")
    fresh = evaluate_wic(place / "data", tmp_path / "fresh", models=["random"]).folder
    assert json.loads((fresh / "manifest.json").read_text(encoding="utf-8"))["warnings"] == []


def test_the_report_says_which_model_is_best_and_which_are_no_better_than_a_coin(
    scored: WicScores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("altair", reason="medsim[report] is not installed")
    monkeypatch.setattr("medsim.pages.markup._library", lambda *_: "")

    page = medsim.write_report(scored.folder, tmp_path / "scores.html").read_text("utf-8")

    text = html.unescape(re.sub("<[^>]+>", "", page))
    whole = scored.results().filter(subset="all")
    ranking = whole.sort("accuracy", descending=True, maintain_order=True)
    best, value, low, high = ranking.select("model", "accuracy", "low", "high").row(0)
    p = dict(ranking.select("model", "p").iter_rows())
    near, *_ = [n for n in ranking["model"][1:] if p[n] >= 0.05]  # none leads on so few instances
    gap = value - ranking.filter(model=near)["accuracy"].item()
    gap = f"{gap:.3f}, corrected p = {p[near]:.3f}"
    value = f"{value:.3f} (95% CI {low:.3f} to {high:.3f})"
    said = f"“{best}” has the highest accuracy, {value}, but cannot be distinguished from “{near}”"
    assert f"{said} (difference {gap})" in text
    like_people = whole.filter(pl.col("low") <= 0.8, pl.col("high") >= 0.8)["model"].to_list()
    names = " and ".join(f"“{name}”" for name in like_people[-2:]) if like_people else "no model"
    said = r"Not significantly different from human accuracy \(0.800\): "
    assert re.search(rf"{said}[^.]*{names}\.", text)
    assert re.search(r"Not significantly better than guessing \(0.500\): [^.]*“random”", text)
    assert page.index("Accuracy of each model") < page.index("Accuracies by part")
