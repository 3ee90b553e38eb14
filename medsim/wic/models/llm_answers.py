"""The answers of language models that are asked in words, through a service."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.embeddings.services import CHARACTERS_A_TOKEN, RefusedError, ServiceClient
from medsim.wic.models.answers import majority, unscored
from medsim.wic.models.encoder_answers import quoted, targets_of
from medsim.wic.models.llm_prompts import messages_of, shots_of
from medsim.wic.models.llm_replies import FILTERED, Reply, ReplyCache, read_reply
from medsim.wic.output import REPLIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from medsim.core.progress import Stage
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models.answers import ModelAnswers, Setting
    from medsim.wic.models.llm_prompts import Messages
    from medsim.wic.models.model_specs import LlmModel

_LAYOUT = "1"  # changes whenever replies are asked for or kept otherwise than before
_BYTES_AN_ANSWER, _BYTES_A_TOKEN = 1 << 20, 1 << 6
_LIMIT, _OTHER_LIMIT = "max_tokens", "max_completion_tokens"  # as newer models of OpenAI name it


def llm_answers(dataset: WicDataset, spec: LlmModel, setting: Setting) -> ModelAnswers:
    """Return the answers of a language model, with all that was said.

    Where a reply is no answer, the instance is not covered. No chat is asked twice: replies are
    kept beside the vectors of encoders.
    """
    chats = _chats(dataset, spec)
    folder = None if setting.cache is None else setting.cache / _identity(spec)
    kept = ReplyCache(folder)
    with setting.progress.stage(f"ask {spec.name} about {len(chats):,} instances") as stage:
        stage.total(len(chats))
        waiting = {json.dumps(chat): chat for chat in chats.values() if kept.get(chat) is None}
        stage.advance(len(chats) - len(waiting))
        for arrived in _asked(spec, list(waiting.values()), stage):
            kept.add(arrived)
            stage.advance(len(arrived))
        replies = {row: kept.get(chat) or Reply(text=None) for row, chat in chats.items()}
        verdicts = [one.verdict for one in replies.values()]
        stage.found(", ".join(f"{verdicts.count(one):,} {one}" for one in sorted({*verdicts})))
    return _answers(dataset, chats, replies)


def _answers(
    dataset: WicDataset, chats: dict[int, Messages], replies: dict[int, Reply]
) -> ModelAnswers:
    """Return the answers that replies give; they and their chats are by row."""
    labels = dataset.labels
    positive, covered = np.zeros((2, len(labels)), np.bool_)
    for one in dataset.rounds:
        positive[one.test] = majority(labels[one.train])
        for row in one.test.tolist():
            answer = replies[row].answer
            if answer is not None:
                positive[row], covered[row] = answer, True
    table = _table(dataset, chats, replies)
    return replace(unscored(positive), covered=covered, replies=table)


def _chats(dataset: WicDataset, spec: LlmModel) -> dict[int, Messages]:
    """Return the chat about every instance that is asked about, by its row."""
    left, right = (quoted(targets_of(dataset.instances, side)) for side in (1, 2))
    labels = dataset.labels
    chats: dict[int, Messages] = {}
    for one in dataset.rounds:
        shots = [
            ((left[row], right[row]), bool(labels[row]))
            for row in shots_of(one, labels, spec.options.shots)
        ]
        chats.update(
            {row: messages_of((left[row], right[row]), shots) for row in one.test.tolist()}
        )
    return chats


def _identity(spec: LlmModel) -> str:
    """Return the name of the folder with a model's replies: of all that decides them."""
    return canonical_digest([_LAYOUT, spec.service.url, spec.service.model, spec.options.tokens])


def _asked(
    spec: LlmModel, chats: list[Messages], stage: Stage
) -> Iterator[list[tuple[Messages, Reply]]]:
    """Yield chats with their replies, those together that arrive together."""
    if not chats:
        return
    n_characters = sum(len(message["content"]) for chat in chats for message in chat)
    n_tokens = n_characters // CHARACTERS_A_TOKEN
    stage.tell(
        f"{len(chats):,} chats to ask, an estimated {n_tokens:,} tokens and at most "
        f"{spec.options.tokens:,} for each reply"
    )
    client = ServiceClient(spec.service)
    yield from client.ask_all(chats, _Chat(spec, client).reply)


class _Chat:
    """Asks a language model by the endpoint for chats that OpenAI and many servers share."""

    def __init__(self, spec: LlmModel, client: ServiceClient) -> None:
        self._spec = spec
        self._client = client
        self._limit = _LIMIT
        self._most_bytes = _BYTES_AN_ANSWER + spec.options.tokens * _BYTES_A_TOKEN

    async def reply(self, messages: Messages) -> Reply:
        """Return the reply to a chat."""
        limit = self._limit
        body = {
            "model": self._spec.service.model,
            "messages": messages,
            "temperature": 0,
            limit: self._spec.options.tokens,
        }
        try:
            answer = await self._client.ask("/chat/completions", body, self._most_bytes)
        except RefusedError as error:
            if error.code == FILTERED:
                return Reply(text=None, finish=FILTERED)
            if limit == _OTHER_LIMIT or _OTHER_LIMIT not in str(error):
                raise
            self._limit = _OTHER_LIMIT
            return await self.reply(messages)
        return read_reply(answer, self._spec.service.location)


def _table(
    dataset: WicDataset, chats: dict[int, Messages], replies: dict[int, Reply]
) -> pl.DataFrame:
    """Return all that was said, in order of the instances: ``REPLIES`` but the model."""
    rows = []
    for instance, row in enumerate(dataset.tested.tolist(), start=1):
        reply = replies[row]
        rows.append(
            {
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
    columns = {name: dtype for name, dtype in REPLIES.dtypes.items() if name != "model"}
    return pl.DataFrame(rows, schema=columns)


def replies_of(answers: Mapping[str, ModelAnswers]) -> pl.DataFrame | None:
    """Return the replies of all language models: ``REPLIES``; None without any."""
    frames = [
        one.replies.select(pl.lit(name).alias("model"), pl.all())
        for name, one in answers.items()
        if one.replies is not None
    ]
    return pl.concat(frames) if frames else None


def said_in_short(replies: pl.DataFrame) -> dict[str, object]:
    """Return how many replies had each verdict, their tokens and the models, for a manifest."""
    verdicts = replies["verdict"].value_counts().sort("verdict")
    return {
        "replies": dict(verdicts.iter_rows()),
        "tokens": {name: int(replies[f"{name}_tokens"].sum()) for name in ("prompt", "completion")},
        "reported_models": replies["reported_model"].drop_nulls().unique().sort().to_list(),
    }
