"""Language models on words in context: their prompts and answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.embeddings.chats import LanguageModel
from medsim.embeddings.replies import Messages, chat_of, noted, parse_answer, unanswered
from medsim.kernels.types import Flags
from medsim.wic.models import MODELS, Context, ModelAnswers, WicModel, fixed_answers, frequent_label
from medsim.wic.output import INSTANCE_REPLIES

if TYPE_CHECKING:
    from medsim.wic.dataset import Round, WicDataset

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmModel(WicModel):
    """A language model that a service runs."""

    way: ClassVar[str] = "prompted"

    language_model: LanguageModel

    @classmethod
    def parse(cls, text: str) -> LlmModel:
        """Return the model that a text such as "m=api:https://host/v1,model=M" names."""
        language_model = LanguageModel.parse(text)
        return cls(name=language_model.name, language_model=language_model)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The splits that it needs besides test: train for its examples."""
        return ("train",) if self.language_model.options.shots else ()

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return its answers, with all chats.

        If a reply has no clear answer, the instance is not covered.
        """
        chats = self._chats(dataset)
        with context.progress.stage(f"ask {self.name} about {len(chats):,} instances") as stage:
            arrived = self.language_model.replies(list(chats.values()), context.cache, stage)
            replies = dict(zip(chats, arrived, strict=True))
            answers = {row: parse_answer(reply.content) for row, reply in replies.items()}
            rows = [
                {
                    "model": self.name,
                    "instance": number,
                    **replies[row].row(chats[row], answers[row]),
                }
                for number, row in enumerate(dataset.tested.tolist(), start=1)
            ]
            stage.note(noted(rows))
        context.progress.warn(*unanswered(rows, self.name, self.language_model.options.tokens))
        labels = dataset.labels
        positive, covered = np.zeros((2, len(labels)), np.bool_)
        for round_ in dataset.rounds:
            positive[round_.test] = frequent_label(labels[round_.train])
        for row, answer in answers.items():
            if answer is not None:
                positive[row], covered[row] = answer, True
        table = pl.DataFrame(rows, schema=INSTANCE_REPLIES.dtypes)
        return replace(fixed_answers(positive), covered=covered, replies=table)

    def recorded(self, answers: ModelAnswers, context: Context) -> dict[str, object]:  # noqa: ARG002
        """Return the facts that decide its answers."""
        replies: Any = answers.replies  # a language model has replies
        return {"way": self.way, **self.language_model.recorded(replies)}

    def _chats(self, dataset: WicDataset) -> dict[int, Messages]:
        """Return the chat about every tested instance, by its row."""
        left, right = (dataset.quoted(side) for side in (1, 2))
        labels = dataset.labels
        chats: dict[int, Messages] = {}
        for round_ in dataset.rounds:
            shots = [
                (_question(left[row], right[row]), str(bool(labels[row])).upper())
                for row in shots_of(round_, labels, self.language_model.options.shots)
            ]
            for row in round_.test.tolist():
                chats[row] = chat_of(INSTRUCTION, shots, _question(left[row], right[row]))
        return chats


MODELS.register(LlmModel.way, LlmModel)


def shots_of(round_: Round, labels: Flags, n_shots: int) -> list[int]:
    """Return the rows of a round's examples, as many True as False, or one more of either.

    They are the first of the training instances, whose order is drawn from their content; labels
    are bool[n_instances].

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


def _question(left: str, right: str) -> str:
    return f"sentence1: {left}\nsentence2: {right}"
