"""Replies of language models: how they are read, and how they are cached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fixtures.services import says

from medsim.core.errors import ServiceError
from medsim.embeddings.chats import ReplyCache, read_reply
from medsim.embeddings.replies import Reply, parse_answer


def test_a_damaged_line_of_the_cache_is_ignored(tmp_path: Path) -> None:
    chats = [[{"role": "user", "content": f"{number} §"}] for number in range(3)]
    cache = ReplyCache(tmp_path)
    for number, chat in enumerate(chats):
        cache.add([(chat, Reply(text=f"TRUE {number}", n_prompt=number))])
    path = tmp_path / "replies.jsonl"
    first, second, third = path.read_bytes().strip().split(b"\n")
    path.write_bytes(first + b"\n" + second.replace(b"TRUE", b"FALSE") + b"\n" + third[:-9])

    cache = ReplyCache(tmp_path)
    assert [cache.get(chat) for chat in chats] == [Reply(text="TRUE 0"), None, None]
    cache.add([(chats[2], Reply(text="no"))])
    assert ReplyCache(tmp_path).get(chats[2]) == Reply(text="no")


@pytest.mark.parametrize(
    "n_tokens", [10**30, 10**400, 2**32, -1, True, 1.5, float("nan"), "7", None, [7]], ids=ascii
)
def test_an_impossible_count_is_ignored(n_tokens: object) -> None:
    usage = {"prompt_tokens": n_tokens, "completion_tokens": 2}

    reply = read_reply(says("TRUE") | {"usage": usage}, "x")

    assert (reply.n_prompt, reply.n_completion) == (0, 2)


@pytest.mark.parametrize("field", ["model", "finish_reason", "refusal"])
@pytest.mark.parametrize("value", [{"a": 1}, ["m"], 3, True])
def test_a_value_that_is_not_text_counts_as_none(field: str, value: object) -> None:
    answer: Any = says("TRUE")
    place = {"model": answer, "finish_reason": answer["choices"][0]}
    place.get(field, answer["choices"][0]["message"])[field] = value

    reply = read_reply(answer, "x")

    attribute = {"finish_reason": "finish"}.get(field, field)
    assert (reply.text, getattr(reply, attribute)) == ("TRUE", "")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("TRUE", True),
        ("true // false? false", False),
        ("true - and - false: neither", None),
        ("false.", False),
        (" **TRUE**\n", True),
        ('"Yes"', True),
        ("No, they differ.", False),
        ("Answer: TRUE", True),
        ("The label is FALSE, since they do not mean the same.", False),
        ("They have the same meaning, so the label is TRUE.", True),
        ("TRUE. It would be FALSE if one were a drug.", True),
        ("TRUE or FALSE? FALSE", False),
        ("True/False: true", True),
        ("FALSE or TRUE? TRUE.", True),
        ("Answer (FALSE/TRUE): TRUE", True),
        ("it may be false </think> TRUE", True),
        ("<think>a</think>TRUE</think>\n", True),
        ("<think>false? no</think>\nTRUE", True),
        ("<think>it is true that", None),
        ("Both terms are drugs: yes", True),
        ("There is no doubt: TRUE", True),
        ("This is not true", None),
        ("It isn't FALSE", None),
        ("Could be true, could be false", None),
        ("I cannot say TRUE or FALSE", None),
        ("Truely yesterday", None),
        ("", None),
        ("同じ", None),
    ],
)
def test_answers_are_found_in_texts(text: str, answer: object) -> None:
    assert parse_answer(Reply(text=text).content) is answer


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (says("TRUE"), "answered"),
        (says("I'm sorry, but I can't"), "refused"),
        (says(None, refusal="I will not"), "refused"),
        (says("TRUE", refusal="no"), "refused"),
        (says("hm"), "unclear"),
        (says(None), "unclear"),
    ],
)
def test_verdicts(answer: dict[str, object], verdict: str) -> None:
    reply = read_reply(answer, "x")

    assert reply.verdict(parse_answer(reply.content)) == verdict


def test_contents_in_parts_are_joined_and_invalid_text_is_replaced() -> None:
    parts = [{"type": "text", "text": "TR"}, {"type": "text", "text": "UE \ud800"}, 3]
    assert read_reply(says(parts), "x").text == "TRUE ?"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [{}, {"choices": []}, {"choices": [3]}, {"choices": [{"text": "x"}]}],
)
def test_an_answer_without_message_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(ServiceError, match=r"^x answers with"):
        read_reply(answer, "x")
