"""Language models that answer chats through a service; replies are cached on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from filelock import FileLock

from medsim.core.canonical import canonical_digest
from medsim.core.errors import OptionError, OutputError, ServiceError
from medsim.core.options import option_field
from medsim.core.progress import Stage
from medsim.core.reading import open_file
from medsim.embeddings.options import SERVICE, ServiceOptions, parse, parse_named
from medsim.embeddings.replies import FILTERED, Messages, Reply
from medsim.embeddings.services import (
    CHARACTERS_A_TOKEN,
    RefusedError,
    Service,
    ServiceClient,
    open_service,
    tokens_of,
)

if TYPE_CHECKING:
    import polars as pl

_LAYOUT = "1"  # the version of requests and of the cache
_BYTES_AN_ANSWER, _BYTES_A_TOKEN = 1 << 20, 1 << 6
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"  # the name in newer models of OpenAI


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmOptions(ServiceOptions):
    """The options of a language model."""

    shots: int = option_field(0, "Examples from train before each instance.", least=0, most=100)
    tokens: int = option_field(16, "Maximum tokens of a reply.", least=1, most=100_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A language model that a service runs.

    Attributes:
        option_type: the class of its options.
        example: text that names such a model, for messages.
    """

    option_type: ClassVar[type[LlmOptions]] = LlmOptions
    example: ClassVar[str] = "llama=api:http://localhost:8000/v1,model=llama,shots=5"

    name: str
    service: Service
    options: LlmOptions

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the model that a text such as "m=api:https://host/v1,model=M" names."""
        name, address, given = parse_named(text, "`llms`", cls.example)
        if not address.startswith(SERVICE):
            raise OptionError(f"`llms` {name}= is not a service; begin it with {SERVICE}")
        options = parse(given, cls.option_type, "option of LLMs")
        return cls(name=name, service=open_service(address, options), options=options)

    def replies(
        self, chats: Sequence[Messages], cache_folder: Path | None, stage: Stage
    ) -> list[Reply]:
        """Return the reply to each chat.

        No chat is sent twice: replies are cached beside the vectors of encoders.
        """
        cache, waiting = self._waiting(chats, cache_folder)
        stage.total(len(chats))
        stage.advance(len(chats) - len(waiting))
        for arrived in self._ask(waiting, stage):
            cache.add(arrived)
            stage.advance(len(arrived))
        return [cache.get(chat) or Reply(text=None) for chat in chats]

    def n_tokens(self, chats: Sequence[Messages], cache_folder: Path | None) -> int:
        """Return the estimated tokens of chats without a cached reply, and at most of replies."""
        _, waiting = self._waiting(chats, cache_folder)
        return _n_tokens(waiting) + len(waiting) * self.options.tokens

    def _waiting(
        self, chats: Sequence[Messages], cache_folder: Path | None
    ) -> tuple[ReplyCache, list[Messages]]:
        """Return the cache of replies, and the distinct chats without a cached reply."""
        decisive = [_LAYOUT, self.service.url, self.service.model, self.options.tokens]
        cache = ReplyCache(cache_folder and cache_folder / canonical_digest(decisive))
        waiting = {json.dumps(chat): chat for chat in chats if cache.get(chat) is None}
        return cache, list(waiting.values())

    def recorded(self, replies: pl.DataFrame) -> dict[str, object]:
        """Return the facts that decide its answers.

        Args:
            replies: with ``reply_columns``.
        """
        names = {option.name for option in fields(self.options)}
        names -= {option.name for option in fields(ServiceOptions)}
        return {
            "path": self.service.location,
            "model": self.service.model,
            "options": {name: getattr(self.options, name) for name in sorted(names)},
            "reported_models": replies["reported_model"].drop_nulls().unique().sort().to_list(),
        }

    def _ask(self, chats: list[Messages], stage: Stage) -> Iterator[list[tuple[Messages, Reply]]]:
        """Yield chats with their replies as they arrive.

        The endpoint is OpenAI's for chats, which many servers share.
        """
        if not chats:
            return
        stage.say(
            f"{len(chats):,} chats to send, an estimated {_n_tokens(chats):,} tokens and at most "
            f"{self.options.tokens:,} for each reply"
        )
        client, limit = ServiceClient(self.service), _LIMIT

        async def reply(messages: Messages) -> Reply:
            nonlocal limit
            key = limit
            body = {"model": self.service.model, "messages": messages, "temperature": 0}
            body[key] = self.options.tokens
            max_bytes = _BYTES_AN_ANSWER + self.options.tokens * _BYTES_A_TOKEN
            try:
                answer = await client.ask("/chat/completions", body, max_bytes)
            except RefusedError as error:
                if error.code == FILTERED:
                    return Reply(text=None, finish=FILTERED)
                if key == _OTHER_LIMIT or _OTHER_LIMIT not in str(error):
                    raise
                limit = _OTHER_LIMIT
                return await reply(messages)
            return read_reply(answer, self.service.location)

        yield from client.ask_all(chats, reply)


def _n_tokens(chats: Sequence[Messages]) -> int:
    n_characters = sum(len(message["content"]) for chat in chats for message in chat)
    return n_characters // CHARACTERS_A_TOKEN


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
