"""Language models that answer prompts through a service; replies are cached on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import numpy as np
import polars as pl
from filelock import FileLock

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, OptionError, OutputError, ServiceError
from medsim.core.options import Option
from medsim.core.reading import open_file
from medsim.embeddings.options import SERVICE, ServiceOptions, parse, parse_named
from medsim.embeddings.services import (
    CHARACTERS_A_TOKEN,
    RefusedError,
    ServiceClient,
    open_service,
    tokens_of,
)
from medsim.wic.models import MODELS, Model, fixed_answers, majority
from medsim.wic.output import REPLIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from medsim.core.progress import Stage
    from medsim.embeddings.services import Service
    from medsim.kernels.types import Flags
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models import Context, ModelAnswers

Messages: TypeAlias = list[dict[str, str]]
"""A chat: each message has a role and a content."""

INSTRUCTION = (
    "You are given two sentences. Each has one target term, which stands in double quotation "
    "marks. Decide whether the two target terms have the same meaning in their sentences, that is, "
    "whether both stand for the same concept. Answer with one word: TRUE if they have the same "
    "meaning, FALSE if they do not."
)
"""The instruction.

The published code of Rouhizadeh et al. (2024) has the same question and labels, targets in
quotation marks and both sentences after it; the paper prints no instruction.
"""

_LAYOUT = "1"  # the version of requests and of the cache
_BYTES_AN_ANSWER, _BYTES_A_TOKEN = 1 << 20, 1 << 6
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"  # the name in newer models of OpenAI

FILTERED = "content_filter"
"""The reason of services for a withheld reply."""

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
        n_completion: tokens of the reply, likewise.
    """

    text: str | None
    refusal: str = ""
    finish: str = ""
    model: str = ""
    n_prompt: int = 0
    n_completion: int = 0

    @property
    def answer(self) -> bool | None:
        """Whether both terms have the same meaning according to the reply; None if unclear."""
        return None if self.refusal or self.finish == FILTERED else parse_answer(self.text or "")

    @property
    def verdict(self) -> str:
        """The verdict on the reply: answered, refused or unclear."""
        if self.answer is not None:
            return "answered"
        is_refused = self.refusal or self.finish == FILTERED or _REFUSAL.search(self.text or "")
        return "refused" if is_refused else "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions(ServiceOptions):
    """The options of a language model."""

    shots: Annotated[
        int, Option("Examples from train before each instance.", least=0, most=100)
    ] = 0
    tokens: Annotated[int, Option("Maximum tokens of a reply.", least=1, most=100_000)] = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmModel(Model):
    """A language model that a service runs."""

    way: ClassVar[str] = "prompted"

    service: Service
    options: LlmOptions

    @classmethod
    def parse(cls, text: str) -> LlmModel:
        """Return the model that a text such as "m=api:https://host/v1,model=M" names."""
        named = parse_named(
            text, "`llms`", "llama=api:http://localhost:8000/v1,model=llama,shots=5"
        )
        if not named.path.startswith(SERVICE):
            raise OptionError(f"`llms` {named.name}= is not a service; begin it with {SERVICE}")
        options = parse(named.options, LlmOptions, "option of LLMs")
        return cls(name=named.name, service=open_service(named.path, options), options=options)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The splits that it needs besides test: train for its examples."""
        return ("train",) if self.options.shots else ()

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return its answers, with all chats.

        If a reply has no clear answer, the instance is not covered. No chat is sent twice: replies
        are cached beside the vectors of encoders.
        """
        chats = self._chats(dataset)
        service = self.service
        decisive = [_LAYOUT, service.url, service.model, self.options.tokens]
        cache = ReplyCache(context.cache and context.cache / canonical_digest(decisive))
        with context.progress.stage(f"ask {self.name} about {len(chats):,} instances") as stage:
            stage.total(len(chats))
            waiting = {json.dumps(chat): chat for chat in chats.values() if cache.get(chat) is None}
            stage.advance(len(chats) - len(waiting))
            for arrived in self._ask(list(waiting.values()), stage):
                cache.add(arrived)
                stage.advance(len(arrived))
            replies = {row: cache.get(chat) or Reply(text=None) for row, chat in chats.items()}
            verdicts = Counter(reply.verdict for reply in replies.values())
            stage.note(", ".join(f"{n:,} {verdict}" for verdict, n in sorted(verdicts.items())))
        labels = dataset.labels
        positive, covered = np.zeros((2, len(labels)), np.bool_)
        for round_ in dataset.rounds:
            positive[round_.test] = majority(labels[round_.train])
            for row in round_.test.tolist():
                answer = replies[row].answer
                if answer is not None:
                    positive[row], covered[row] = answer, True
        table = _table(self.name, dataset, chats, replies)
        return replace(fixed_answers(positive), covered=covered, replies=table)

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, object]:  # noqa: ARG002
        """Return the facts that decide its answers, and a summary of its replies."""
        replies: Any = answers.replies  # a language model has replies
        return {
            "way": self.way,
            "path": self.service.location,
            "model": self.service.model,
            "options": {"shots": self.options.shots, "tokens": self.options.tokens},
            "replies": dict(replies["verdict"].value_counts().sort("verdict").iter_rows()),
            "tokens": {
                name: int(replies[f"{name}_tokens"].sum()) for name in ("prompt", "completion")
            },
            "reported_models": replies["reported_model"].drop_nulls().unique().sort().to_list(),
        }

    def _chats(self, dataset: WicDataset) -> dict[int, Messages]:
        """Return the chat about every tested instance, by its row."""
        left, right = (dataset.quoted(side) for side in (1, 2))
        labels = dataset.labels
        chats: dict[int, Messages] = {}
        for round_ in dataset.rounds:
            shots = [
                ((left[row], right[row]), bool(labels[row]))
                for row in shots_of(round_, labels, self.options.shots)
            ]
            for row in round_.test.tolist():
                chats[row] = messages_of((left[row], right[row]), shots)
        return chats

    def _ask(self, chats: list[Messages], stage: Stage) -> Iterator[list[tuple[Messages, Reply]]]:
        """Yield chats with their replies as they arrive.

        The endpoint is OpenAI's for chats, which many servers share.
        """
        if not chats:
            return
        n_characters = sum(len(message["content"]) for chat in chats for message in chat)
        n_tokens = n_characters // CHARACTERS_A_TOKEN
        stage.say(
            f"{len(chats):,} chats to send, an estimated {n_tokens:,} tokens and at most "
            f"{self.options.tokens:,} for each reply"
        )
        client, limit = ServiceClient(self.service), _LIMIT

        async def reply(messages: Messages) -> Reply:
            nonlocal limit
            key = limit
            body = {"model": self.service.model, "messages": messages, "temperature": 0}
            body[key] = self.options.tokens
            most_bytes = _BYTES_AN_ANSWER + self.options.tokens * _BYTES_A_TOKEN
            try:
                answer = await client.ask("/chat/completions", body, most_bytes)
            except RefusedError as error:
                if error.code == FILTERED:
                    return Reply(text=None, finish=FILTERED)
                if key == _OTHER_LIMIT or _OTHER_LIMIT not in str(error):
                    raise
                limit = _OTHER_LIMIT
                return await reply(messages)
            return read_reply(answer, self.service.location)

        yield from client.ask_all(chats, reply)


MODELS.register(LlmModel.way, LlmModel)


def _table(
    name: str, dataset: WicDataset, chats: dict[int, Messages], replies: dict[int, Reply]
) -> pl.DataFrame:
    """Return all chats of a model, in order of the instances: ``REPLIES``."""
    rows = []
    for instance, row in enumerate(dataset.tested.tolist(), start=1):
        reply = replies[row]
        rows.append(
            {
                "model": name,
                "instance": instance,
                "messages": json.dumps(chats[row], ensure_ascii=False),
                "reply": reply.text,
                "refusal": reply.refusal or None,
                "finish": reply.finish or None,
                "verdict": reply.verdict,
                "prediction": reply.answer,
                "prompt_tokens": reply.n_prompt,
                "completion_tokens": reply.n_completion,
                "reported_model": reply.model or None,
            }
        )
    return pl.DataFrame(rows, schema=REPLIES.dtypes)


def replies_of(answers: Iterable[ModelAnswers]) -> pl.DataFrame | None:
    """Return the replies of all language models: ``REPLIES``; None without any."""
    frames = [answer.replies for answer in answers if answer.replies is not None]
    return pl.concat(frames) if frames else None


def messages_of(sides: tuple[str, str], shots: Sequence[tuple[tuple[str, str], bool]]) -> Messages:
    """Return the chat that asks about an instance, after examples with their answers.

    The instruction comes before the first example, since some models have no system message.

    Args:
        sides: both sentences, each with its target in double quotes.
        shots: the same of each example, with its label.
    """
    messages: Messages = []
    for pair, label in shots:
        messages.append({"role": "user", "content": _question(pair)})
        messages.append({"role": "assistant", "content": str(label).upper()})
    messages.append({"role": "user", "content": _question(sides)})
    messages[0]["content"] = f"{INSTRUCTION}\n\n{messages[0]['content']}"
    return messages


def shots_of(round_: Round, labels: Flags, n_shots: int) -> list[int]:
    """Return the rows of a round's examples, as many True as False, or one more of either.

    They are the first of the training instances, whose order is drawn from their content.

    Raises:
        InputError: there are too few.
    """
    if not n_shots:
        return []
    train = round_.train
    first = bool(len(train)) and bool(labels[train[0]])
    n_by_label = {first: -(-n_shots // 2), not first: n_shots // 2}
    chosen = [train[labels[train] == label][:n] for label, n in n_by_label.items()]
    rows = np.concatenate(chosen)
    if len(rows) < n_shots:
        raise InputError(
            f"train has {np.count_nonzero(labels[train]):,} True and "
            f"{np.count_nonzero(~labels[train]):,} False instances, too few for {n_shots:,} shots"
        )
    return [int(row) for row in train if row in set(rows.tolist())]


def _question(sides: tuple[str, str]) -> str:
    return f"sentence1: {sides[0]}\nsentence2: {sides[1]}"


def parse_answer(text: str) -> bool | None:
    """Return the answer in a text: true or yes, false or no; None if there is none.

    The first word counts, or the word after a phrase such as "The answer is". Otherwise true or
    false, or else yes or no, counts if the text has only one of the two and does not negate it.
    Case, punctuation, phrases that offer both, and text between <think> and </think>, or before a
    single </think>, do not count.
    """
    plain = _CHOICE.sub(" ", _BEFORE.sub(" ", _THOUGHT.sub(" ", text)))
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


def read_reply(answer: Mapping[str, Any], location: str) -> Reply:
    """Return the reply in a service's answer to a chat.

    Raises:
        ServiceError: the answer has no message.
    """
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise ServiceError(f"{location} answers without choices that have a message")
    content = message.get("content")
    if isinstance(content, list):  # of parts, each with its text
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return Reply(
        text=None if content is None else _text(content),
        refusal=_text(message.get("refusal")),
        finish=_text(choice.get("finish_reason")),
        model=_text(answer.get("model")),
        n_prompt=tokens_of(answer, "prompt_tokens"),
        n_completion=tokens_of(answer, "completion_tokens"),
    )


def _text(value: Any) -> str:
    """Return a text without lone surrogates, which JSON may escape; anything else is empty."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


class ReplyCache:
    """The replies of one model, one per line in an append-only file.

    A line begins with the SHA-256 of the rest. The chat of a truncated or damaged reply is sent
    again.

    Args:
        folder: None keeps replies only in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / "replies.jsonl"
        self._replies: dict[str, Reply] = {}
        if self._path is not None:
            with suppress(OSError), open_file(self._path) as stream:
                for line in stream.read().split(b"\n"):
                    digest, _, content = line.partition(b" ")
                    if _sha256(content) == digest:
                        key, fields = json.loads(content)
                        self._replies[key] = Reply(**fields)

    def get(self, messages: Messages) -> Reply | None:
        """Return the reply to a chat; None if it has not been sent."""
        return self._replies.get(_key(messages))

    def add(self, replies: Sequence[tuple[Messages, Reply]]) -> None:
        """Keep chats with their replies; they are on the disk when this returns."""
        by_key = {_key(messages): reply for messages, reply in replies}
        self._replies.update(by_key)
        if self._path is None:
            return
        contents = [json.dumps([key, asdict(reply)]).encode() for key, reply in by_key.items()]
        lines = b"\n".join(b"%b %b" % (_sha256(content), content) for content in contents)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_suffix(".lock")), self._path.open("ab") as stream:
                stream.write(b"\n" + lines)  # the line break ends a line of a killed process
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(f"cannot cache replies in {self._path}: {error}") from error


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _key(messages: Messages) -> str:
    return _sha256(json.dumps(messages).encode()).decode()
