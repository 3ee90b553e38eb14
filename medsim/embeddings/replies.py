"""Replies of language models: their columns in tables, and the answers in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from medsim.core.kinds import Column

Messages: TypeAlias = list[dict[str, str]]
"""A chat: each message has a role and a content."""

FILTERED = "content_filter"
"""The reason of services for a withheld reply."""

_SHOWN = 60  # characters of a reply in a warning
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_BEFORE = re.compile(  # if the prompt opened the thought, and words follow it
    r"\A.*</think>(?=.*[^\W\d_])", re.DOTALL | re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_OR = r"(?:(?=[^\w/]*+/)|\W*+(?:or|and)\b)\W*+"  # each character of it is read once or twice
_CHOICE = re.compile(
    rf"\b(?:(?:true|yes){_OR}(?:false|no)|(?:false|no){_OR}(?:true|yes))\b", re.IGNORECASE
)
_TRUTHS = {"true": True, "false": False}
_YES_OR_NO = {"yes": True, "no": False}
_LEADING = frozenset({"answer", "label", "the", "is", "response", "output", "final"})
_NEGATED = re.compile(
    r"(?:\bnot|n['\u2019]t|\bneither|\bnor)\s+(?:\w+\s+)?[\"'*]*(?:true|false)\b", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"\b(?:i(?:['\u2019]m| am) (?:sorry|unable|not able)|i (?:cannot|can['\u2019]?t|won['\u2019]t)"
    r"|as an ai)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply of a language model from a service.

    Attributes:
        text: None if there is none.
        refusal: the service's text of a refusal; empty if there is none.
        finish: the service's reason for the end of the reply.
        model: as the service reports it.
        n_prompt: tokens of the prompt, as counted by the service; 0 if unknown.
        n_completion: tokens of the reply, as counted by the service; 0 if unknown.
    """

    text: str | None
    refusal: str = ""
    finish: str = ""
    model: str = ""
    n_prompt: int = 0
    n_completion: int = 0

    @property
    def content(self) -> str:
        """The text without thoughts, between <think> and </think> or before a single </think>.

        It is empty if the service withheld the reply.
        """
        withheld = self.refusal or self.finish == FILTERED
        return "" if withheld else _BEFORE.sub(" ", _THOUGHT.sub(" ", self.text or ""))

    def verdict(self, answer: object) -> str:
        """Return the verdict on the reply, given the answer in it: answered, refused or unclear."""
        if answer is not None:
            return "answered"
        is_refused = self.refusal or self.finish == FILTERED or _REFUSAL.search(self.text or "")
        return "refused" if is_refused else "unclear"

    def row(self, messages: Messages, answer: object) -> dict[str, object]:
        """Return a row of ``reply_columns`` for the reply to a chat."""
        return {
            "messages": json.dumps(messages, ensure_ascii=False),
            "reply": self.text,
            "refusal": self.refusal or None,
            "finish": self.finish or None,
            "verdict": self.verdict(answer),
            "prediction": answer,
            "prompt_tokens": self.n_prompt,
            "completion_tokens": self.n_completion,
            "reported_model": self.model or None,
        }


_text, _whole = partial(Column, pl.String), partial(Column, pl.Int64)


def reply_columns(prediction: Column) -> dict[str, Column]:
    """Return the columns of tables of replies, with the column of their answers."""
    return {
        "messages": _text("The chat that was sent, as JSON."),
        "reply": _text("Text of the reply; null if there is none."),
        "refusal": _text("Text that the service marks as a refusal; null if there is none."),
        "finish": _text("Reason for the end of the reply, from the service; null if unknown."),
        "verdict": _text("answered, refused or unclear."),
        "prediction": prediction,
        "prompt_tokens": _whole("Tokens of the chat, as the service counted; 0 if it did not."),
        "completion_tokens": _whole(
            "Tokens of the reply, as the service counted; 0 if it did not."
        ),
        "reported_model": _text("Name of the model, from the service; null if unknown."),
    }


_IS_REFUSED = pl.col("verdict") == "refused"
COUNTED = {
    "refused": _IS_REFUSED.sum(),
    "unclear": pl.col("prediction").is_null().sum() - _IS_REFUSED.sum(),
    "prompt_tokens": pl.col("prompt_tokens").sum(),
    "completion_tokens": pl.col("completion_tokens").sum(),
}
"""The counts of a model's replies, by column."""


def chat_of(instruction: str, shots: Sequence[tuple[str, str]], question: str) -> Messages:
    """Return the chat that asks a question, after examples with their answers.

    The instruction comes before the first example, since some models have no system message.
    """
    texts = [text for shot in shots for text in shot] + [question]
    texts[0] = f"{instruction}\n\n{texts[0]}"
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def noted(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the number of replies by verdict, for the end of a stage; see ``Reply.row``."""
    verdicts = Counter(str(row["verdict"]) for row in rows)
    return ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(verdicts.items()))


_ADVICE = "; try shots=5, or another model (all replies are in the view replies)"


def unanswered(
    rows: Sequence[Mapping[str, Any]], model: str, max_tokens: int, advice: str = _ADVICE
) -> list[str]:
    """Return a warning if replies were cut before an answer, or if most have no answer."""
    without = [row for row in rows if row["prediction"] is None]
    if n_cut := sum(row["finish"] == "length" for row in without):
        cut = f"tokens={max_tokens} cuts {n_cut:,} of {len(rows):,} replies before an answer"
        return [f"{model}: {cut}; raise it (models that reason first need thousands)"]
    if 2 * len(without) <= len(rows):
        return []
    example = without[0]["refusal"] or without[0]["reply"]
    shown = repr(example[:_SHOWN]) if example else "an empty one"
    unclear = f"no clear answer in {len(without):,} of {len(rows):,} replies, such as {shown}"
    return [f"{model}: {unclear}{advice}"]


def parse_answer(text: str) -> bool | None:
    """Return the answer in a text: true or yes, false or no; None if there is none.

    The first word counts, or the word after a phrase such as "The answer is". Otherwise true or
    false, or else yes or no, counts if the text has only one of the two and does not negate it.
    Case, punctuation and phrases that offer both do not count.

    Args:
        text: ``Reply.content``.
    """
    plain = _CHOICE.sub(" ", text)
    words = [word.casefold() for word in _WORD.findall(plain)]
    first = next((word for word in words if word not in _LEADING), "")
    answers = _TRUTHS | _YES_OR_NO
    if first in answers:
        return answers[first]
    if _NEGATED.search(plain):
        return None
    for meanings in (_TRUTHS, _YES_OR_NO):
        values = {meanings[word] for word in words if word in meanings}
        if values:
            return values.pop() if len(values) == 1 else None
    return None
