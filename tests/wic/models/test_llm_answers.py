"""Language models on words in context: their prompts and their replies."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.services import Handler, LocalService, says
from fixtures.wic import write_benchmark

from medsim import WicScores, evaluate_wic
from medsim.core.errors import InputError, OptionError, ServiceError
from medsim.core.opened import open_output
from medsim.wic.models.llm import INSTRUCTION
from medsim.wic.output import INSTANCE_REPLIES
from medsim.wic.page import readable_accuracies

pytest.importorskip("httpx2", reason="medsim[api] is not installed")

KEY = "sk-Very-Secret-0123456789"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of three splits with 48 instances in test."""
    return write_benchmark(tmp_path_factory.mktemp("wic"))


def sides_of(content: str) -> list[str]:
    """Return both sentences of a question, without the text before them."""
    return [line.partition(": ")[2] for line in content.splitlines()[-2:]]


def quoted(row: dict[str, Any], side: int) -> str:
    text, start, end = (row[f"{name}{side}"] for name in ("sentence", "start", "end"))
    return f'{text[:start]}"{text[start:end]}"{text[end:]}'


def by_kind(body: dict[str, Any]) -> object:
    """Answer that terms have one meaning if they begin alike."""
    kinds = [side.split('"')[1].split("-")[0] for side in sides_of(body["messages"][-1]["content"])]
    return says("TRUE" if kinds[0] == kinds[1] else "FALSE")


def score(
    service: LocalService, data: Path, out: Path, options: str = "", **others: Any
) -> WicScores:
    llm = f"llm=api:{service.url},model=m{options}"
    return evaluate_wic(data, out, llms=[llm], cache=out.parent / "cache", **others)


def rows(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def statistics(scores: WicScores, model: str = "llm") -> dict[str, float]:
    rows = scores.results().filter(model=model, subset="all")
    counts = ("accuracy", "refused", "unclear", "prompt_tokens", "completion_tokens")
    return rows.select(counts).row(0, named=True)


def test_a_language_model_is_scored_like_any_other(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    service.chat = by_kind

    scores = score(service, data, tmp_path / "out", models=["random"])

    test = rows(data / "test.json")
    right = [
        (row["term1"].split("-")[0] == row["term2"].split("-")[0]) == bool(row["label"])
        for row in test
    ]
    assert statistics(scores) == {
        "accuracy": np.mean(right),
        "refused": 0,
        "unclear": 0,
        "prompt_tokens": 4800,
        "completion_tokens": 96,
    }
    assert set(scores.results().filter(model="llm")["subset"]) > {"all", "synonyms"}
    table = readable_accuracies(scores.results())
    assert table.filter(model="llm")["tokens in"].item() == "4,800"
    assert table.filter(model="random")["tokens in"].item() == "–"  # noqa: RUF001
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"]["llm"] == {
        "way": "prompted",
        "path": f"api:{service.url}",
        "model": "m",
        "options": {"shots": 0, "tokens": 16},
        "reported_models": ["m-1"],
    }
    replies = pl.read_parquet(tmp_path / "out/replies.parquet")
    assert replies.equals(scores.replies())
    assert replies.schema == pl.Schema(INSTANCE_REPLIES.dtypes)
    sent = {json.dumps(body["messages"]): body for _, _, body in service.requests}
    for instance, row in zip(test, replies.iter_rows(named=True), strict=True):
        messages = json.loads(row["messages"])
        assert sides_of(messages[-1]["content"]) == [quoted(instance, 1), quoted(instance, 2)]
        assert messages[0]["content"].startswith(INSTRUCTION)
        body = sent[json.dumps(messages)]
        assert (body["temperature"], body["max_tokens"], body["model"]) == (0, 16, "m")
        assert row["prediction"] == (row["reply"] == "TRUE")
    assert service.requests[0][0] == "/v1/chat/completions"


@pytest.mark.parametrize("n_shots", [1, 4, 5])
def test_shots_are_balanced_training_instances_with_their_labels(
    service: LocalService, data: Path, tmp_path: Path, n_shots: int
) -> None:
    score(service, data, tmp_path / "out", f",shots={n_shots}")

    train = {(quoted(row, 1), quoted(row, 2)): row["label"] for row in rows(data / "train.json")}
    first, *others = [body["messages"] for _, _, body in service.requests]
    assert [message["role"] for message in first] == ["user", "assistant"] * n_shots + ["user"]
    shots = [
        (tuple(sides_of(question["content"])), answer["content"])
        for question, answer in zip(first[:-1:2], first[1::2], strict=True)
    ]
    assert [train[sides] for sides, _ in shots] == [int(answer == "TRUE") for _, answer in shots]  # type: ignore[index]
    assert abs(2 * sum(answer == "TRUE" for _, answer in shots) - n_shots) <= 1
    assert len({sides for sides, _ in shots}) == n_shots
    assert all(messages[:-1] == first[:-1] for messages in others)
    assert sum(message["content"].count(INSTRUCTION) for message in first) == 1


def test_shots_depend_on_the_content_of_train_and_not_on_its_order(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    score(service, data, tmp_path / "one", ",shots=5")
    turned = tmp_path / "turned.json"
    turned.write_text(json.dumps(rows(data / "train.json")[::-1]), encoding="utf-8")
    n_requests = len(service.requests)

    score(service, data, tmp_path / "two", ",shots=5", train=turned)

    assert len(service.requests) == n_requests == 48


def test_a_single_file_has_shots_from_other_folds(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    scores = score(service, data / "train.json", tmp_path / "out", ",shots=2")

    assert scores.replies() is not None
    folds = scores.predictions()["fold"].to_list()
    fold_of = {
        (quoted(row, 1), quoted(row, 2)): fold
        for row, fold in zip(rows(data / "train.json"), folds, strict=True)
    }
    for fold, text in zip(folds, scores.replies()["messages"], strict=True):
        *shots, question = [sides_of(message["content"]) for message in json.loads(text)[::2]]
        assert fold_of[tuple(question)] == fold  # type: ignore[index]
        assert all(fold_of[tuple(pair)] != fold for pair in shots)  # type: ignore[index]


def test_replies_without_an_answer_get_the_majority_of_train(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    train = [row for row in rows(data / "train.json") if row["label"] == 1]
    mostly_true = tmp_path / "true.json"
    mostly_true.write_text(json.dumps(train), encoding="utf-8")
    replies = [says("I'm sorry, I cannot."), says("Maybe."), says(None), says("", refusal="No.")]
    service.chat = lambda _: replies[len(service.requests) % 4]

    scores = score(service, data, tmp_path / "out", ",concurrency=1", train=mostly_true)

    assert scores.predictions()["prediction"].to_list() == [1] * 48
    assert not scores.predictions()["covered"].any()
    counts = statistics(scores)
    assert (counts["refused"], counts["unclear"]) == (24, 24)
    assert scores.results().filter(subset="all")["n_uncovered"].item() == 48
    example, uncovered = open_output(tmp_path / "out").manifest.warnings
    assert uncovered.startswith("llm gives no clear answer to 48 instances, which get")
    assert example.startswith("llm: no clear answer in 48 of 48 replies, such as ")


def test_replies_that_were_cut_need_more_tokens(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    service.chat = lambda _: says("<think>Both stand for", finish="length")

    score(service, data, tmp_path / "out", ",tokens=9")

    cut, _ = open_output(tmp_path / "out").manifest.warnings
    assert cut.startswith("llm: tokens=9 cuts 48 of 48 replies before an answer")


def test_no_chat_is_sent_twice_and_an_interrupted_run_continues(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    service.chat = by_kind

    def refuse(handler: Handler, _body: object) -> None:
        handler.reply({"error": {"message": "no more credit"}}, 402)

    service.faults.extend([lambda handler, body: handler.reply(by_kind(body))] * 20 + [refuse] * 9)
    with pytest.raises(ServiceError, match="HTTP 402, no more credit"):
        score(service, data, tmp_path / "out")
    service.faults.clear()
    scores = score(service, data, tmp_path / "out")
    n_requests = len(service.requests)
    again = score(service, data, tmp_path / "again")

    assert len(service.requests) == n_requests
    assert again.predictions().equals(scores.predictions())
    answered = [json.dumps(body["messages"]) for _, _, body in service.requests[:20]]
    later = [json.dumps(body["messages"]) for _, _, body in service.requests[-28:]]
    assert max(Counter(answered + later).values()) == 1
    score(service, data, tmp_path / "longer", ",tokens=64")  # may change replies
    assert len(service.requests) == n_requests + 48


def test_a_reply_longer_than_its_tokens_allow_is_refused(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    service.chat = lambda _: says("true" + "/" * (1 << 21))

    with pytest.raises(ServiceError, match="answers with more than 1 MiB"):
        score(service, data, tmp_path / "out", ",concurrency=1")


def test_a_reply_withheld_by_a_filter_is_a_refusal(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    error = {"error": {"message": "filtered", "code": "content_filter"}}
    service.faults.append(lambda handler, _body: handler.reply(error, 400))

    assert statistics(score(service, data, tmp_path / "out"))["refused"] == 1


def test_models_with_another_name_for_the_token_limit_work(
    service: LocalService, data: Path, tmp_path: Path
) -> None:
    def strict(handler: Handler, body: dict[str, Any]) -> None:
        if "max_tokens" in body:
            message = "Unsupported parameter: use 'max_completion_tokens' instead."
            handler.reply({"error": {"message": message}}, 400)
        else:
            handler.reply(by_kind(body))

    service.always = strict

    scores = score(service, data, tmp_path / "out", ",concurrency=1,tokens=64")

    assert statistics(scores)["completion_tokens"] == 96
    assert len(service.requests) == 49
    assert service.requests[-1][2]["max_completion_tokens"] == 64
    error = {"error": {"message": "Unsupported parameter: temperature."}}
    service.always = lambda handler, _body: handler.reply(error, 400)
    with pytest.raises(ServiceError, match="Unsupported parameter: temperature"):
        score(service, data, tmp_path / "other", ",concurrency=1")
    assert "max_tokens" in service.requests[-1][2]  # after another error it is not sent again


def test_no_file_has_the_key(
    service: LocalService, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def echo(body: dict[str, Any]) -> object:
        text = f"{body['max_tokens']} TRUE {KEY}"
        return json.dumps(says(text, refusal="", note=KEY) | {"model": KEY}).encode()

    monkeypatch.setenv("MEDSIM_API_KEY", KEY)
    service.chat = echo
    scores = score(service, data, tmp_path / "out")

    assert service.requests[0][1]["Authorization"] == f"Bearer {KEY}"
    assert scores.replies() is not None
    assert set(scores.replies()["reported_model"]) == {"…"}
    assert set(scores.replies()["reply"]) == {"16 TRUE …"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    assert not any(KEY.encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llm=model.gguf", "`llms` llm= is not a service; begin it with api:"),
        ("llm=api:http://h/v1", "needs the name of a model"),
        ("llm=api:http://h/v1,model=m,shot=5", "unknown option of LLMs 'shot'; did you mean shots"),
        ("llm=api:http://h/v1,model=m,shots=few", "shots='few' is not a number"),
        ("llm=api:http://h/v1,model=m,shots=101", "`shots` 101 is out of range"),
    ],
)
def test_an_invalid_model_is_refused(data: Path, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        evaluate_wic(data, tmp_path / "out", llms=[text])


def test_shots_need_enough_training_instances(data: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.json"
    few.write_text(json.dumps(rows(data / "train.json")[:3]), encoding="utf-8")
    llm = "llm=api:http://127.0.0.1:9/v1,model=m,shots=5"

    with pytest.raises(InputError, match="train has 3 True and 0 False instances, too few for 5"):
        evaluate_wic(data, tmp_path / "out", llms=[llm], train=few)
    with pytest.raises(OptionError, match=r"llm needs train\.json, which test\.json lacks"):
        evaluate_wic(data / "test.json", tmp_path / "out", llms=[llm], dev=data / "dev.json")
