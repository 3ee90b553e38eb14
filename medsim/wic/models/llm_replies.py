"""Replies of language models: read from a service's answer, understood, and kept on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from medsim.core.errors import OutputError, ServiceError
from medsim.core.reading import open_file
from medsim.embeddings.services import is_count, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.wic.models.llm_prompts import Messages

ANSWERED, REFUSED, UNCLEAR = "answered", "refused", "unclear"
"""The verdicts on a reply."""

FILTERED = "content_filter"
"""The name that services give to a reply that they keep back."""

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_BEFORE = re.compile(  # where the prompt opened the thought, and words follow it
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
    """A reply of a language model, as its service gave it.

    Attributes:
        text: None where there is none.
        refusal: the text by which the service marks a refusal; empty where it marks none.
        finish: why the reply ended, as the service names it.
        model: as the service reports it.
        n_prompt: tokens of the question, as the service counted them; 0 where it does not say.
        n_completion: tokens of the reply, likewise.
    """

    text: str | None
    refusal: str = ""
    finish: str = ""
    model: str = ""
    n_prompt: int = 0
    n_completion: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for a field of another type, from a service or from the cache."""
        for name, value in asdict(self).items():
            if name.startswith("n_"):
                fits = is_count(value)
            else:
                fits = isinstance(value, str) or (name == "text" and value is None)
            if not fits:
                raise ValueError(f"a {name} that is {type(value).__name__}: {value!r}"[:300])

    @property
    def answer(self) -> bool | None:
        """Whether both terms have one meaning by the reply; None where it does not say."""
        return None if self.refusal or self.finish == FILTERED else understood(self.text or "")

    @property
    def verdict(self) -> str:
        """One of ``ANSWERED``, ``REFUSED``, ``UNCLEAR``."""
        if self.answer is not None:
            return ANSWERED
        is_refused = self.refusal or self.finish == FILTERED or _REFUSAL.search(self.text or "")
        return REFUSED if is_refused else UNCLEAR


def understood(text: str) -> bool | None:
    """Return the answer that a text gives: true or yes, false or no; None where it gives none.

    The first word counts, or the one after words such as "The answer is". Else what the text says
    of true and false, and else of yes and no, counts if it says one of both alone and does not
    negate it. Case, punctuation, the choice of both, and what stands between <think> and </think>,
    or before </think> alone, do not count.
    """
    plain = _CHOICE.sub(" ", _BEFORE.sub(" ", _THOUGHT.sub(" ", text)))
    words = [word.casefold() for word in _WORD.findall(plain)]
    first = next((word for word in words if word not in _LEADING), "")
    if first in {**_TRUTHS, **_YES_OR_NO}:
        return {**_TRUTHS, **_YES_OR_NO}[first]
    if _NEGATED.search(plain):
        return None
    for known in (_TRUTHS, _YES_OR_NO):
        said = {known[word] for word in words if word in known}
        if said:
            return said.pop() if len(said) == 1 else None
    return None


def read_reply(answer: Mapping[str, Any], location: str) -> Reply:
    """Return the reply in a service's answer to a chat.

    Raises:
        ServiceError: there is no choice with a message in it, or a text of it is something else.
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
    try:
        return Reply(
            text=_plain(content),
            refusal=_plain(message.get("refusal") or ""),
            finish=_plain(choice.get("finish_reason") or ""),
            model=_plain(answer.get("model") or ""),
            n_prompt=tokens_of(answer, "prompt_tokens"),
            n_completion=tokens_of(answer, "completion_tokens"),
        )
    except ValueError as error:
        raise ServiceError(f"{location} answers with {error}") from error


def _plain(value: Any) -> Any:
    """Return a text without what is no Unicode, as JSON may escape it; else what was given."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


class ReplyCache:
    """The replies of one model, a line each in a file that is only ever added to.

    A line begins with the SHA-256 of the rest, so one that was cut or damaged is no reply, and
    neither is one that a service could not have given: its chat is asked again.

    Args:
        folder: None keeps nothing beyond this object.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / "replies.jsonl"
        self._replies: dict[str, Reply] = {}
        if self._path is not None:
            with suppress(OSError), open_file(self._path) as stream:
                for line in stream.read().split(b"\n"):
                    self._take(line)

    def get(self, messages: Messages) -> Reply | None:
        """Return the reply to a chat; None where it has not been asked."""
        return self._replies.get(_key(messages))

    def add(self, replies: Sequence[tuple[Messages, Reply]]) -> None:
        """Keep chats with their replies; they are on the disk when this returns."""
        own = {_key(messages): reply for messages, reply in replies}
        self._replies.update(own)
        if self._path is None:
            return
        lines = b"\n".join(_line(key, reply) for key, reply in own.items())
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with (
                FileLock(self._path.with_suffix(".lock")),
                self._path.open("ab") as stream,
            ):
                stream.write(b"\n" + lines)  # which ends what a killed process left
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise OutputError(
                f"cannot keep replies in {self._path}: {error.strerror or error}"
            ) from error

    def _take(self, line: bytes) -> None:
        digest, _, content = line.partition(b" ")
        if hashlib.sha256(content).hexdigest().encode("ascii") == digest:
            with suppress(ValueError, TypeError):  # kept before it was checked
                key, fields = json.loads(content)
                self._replies[key] = Reply(**fields)


def _line(key: str, reply: Reply) -> bytes:
    content = json.dumps([key, asdict(reply)]).encode("ascii")
    return hashlib.sha256(content).hexdigest().encode("ascii") + b" " + content


def _key(messages: Messages) -> str:
    return hashlib.sha256(json.dumps(messages).encode()).hexdigest()
