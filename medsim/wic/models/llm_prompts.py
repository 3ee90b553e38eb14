"""The messages by which a language model is asked whether two terms have one meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from medsim.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.kernels.types import Flags
    from medsim.wic.dataset import Round

Messages: TypeAlias = list[dict[str, str]]
"""A chat: each message has a role and a content."""

INSTRUCTION = (
    "You are given two sentences. Each has one target term, which stands in double quotation "
    "marks. Decide whether the two target terms have the same meaning in their sentences, that is, "
    "whether both stand for the same concept. Answer with one word: TRUE if they have the same "
    "meaning, FALSE if they do not."
)
"""The instruction, in the words of this package.

The published code of Rouhizadeh et al. (2024) asks the same, with the same labels, targets in
quotation marks and both sentences after it; the paper prints no instruction.
"""

LABELS = {True: "TRUE", False: "FALSE"}
"""The answers that are asked for."""


def messages_of(sides: tuple[str, str], shots: Sequence[tuple[tuple[str, str], bool]]) -> Messages:
    """Return the chat that asks about an instance, after examples with their answers.

    The instruction stands before the first example, since some models know no system message.

    Args:
        sides: both sentences, each with its target in double quotes.
        shots: those of the examples, with their labels.
    """
    messages: Messages = []
    for pair, label in shots:
        messages.append({"role": "user", "content": _question(pair)})
        messages.append({"role": "assistant", "content": LABELS[label]})
    messages.append({"role": "user", "content": _question(sides)})
    messages[0]["content"] = f"{INSTRUCTION}\n\n{messages[0]['content']}"
    return messages


def shots_of(one: Round, labels: Flags, n_shots: int) -> list[int]:
    """Return the rows of a round's examples, as many True as False, or one more of either.

    They are the first of the training instances, whose order is drawn from their content.

    Raises:
        InputError: there are too few.
    """
    if not n_shots:
        return []
    train = one.train
    first = bool(len(train)) and bool(labels[train[0]])
    wanted = {first: -(-n_shots // 2), not first: n_shots // 2}
    chosen = [train[labels[train] == label][:n] for label, n in wanted.items()]
    rows = np.concatenate(chosen)
    if len(rows) < n_shots:
        raise InputError(
            f"train has {np.count_nonzero(labels[train]):,} True and "
            f"{np.count_nonzero(~labels[train]):,} False instances, too few for {n_shots:,} shots"
        )
    return [int(row) for row in train if row in set(rows.tolist())]


def _question(sides: tuple[str, str]) -> str:
    return f"sentence1: {sides[0]}\nsentence2: {sides[1]}"
