"""A bidirectional LSTM that reads the words of both sides, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from medsim.wic.models.training import Fitted, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.embeddings.metrics import WordBags
    from medsim.kernels.types import Flags, Ids, Rows, Values
    from medsim.wic.models.training import Training

N_UNITS = 128
"""Hidden units in either direction (Rouhizadeh et al. 2024)."""

_ASKED_AT_ONCE = 256  # instances, whose words are padded to the longest side


@dataclass(frozen=True, slots=True, kw_only=True)
class WordPairs:
    """Instances as the words of both sides.

    Attributes:
        bags: the words of each text in order.
        left: int[n_instances], the text of the first side, which has a word at least.
        right: int[n_instances], that of the second.
    """

    bags: WordBags
    left: Ids
    right: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class BilstmRound:
    """The instances of a round, by their numbers.

    Attributes:
        train: to fit on.
        held_back: by which the epoch is chosen.
        asked: whose scores are wanted.
    """

    train: Rows
    held_back: Rows
    asked: Rows


def bilstm_scores(
    pairs: WordPairs,
    labels: Flags,
    one: BilstmRound,
    training: Training,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Values, int]:
    """Return log-odds that instances are True, and the epoch whose weights were kept.

    A bidirectional LSTM reads the word vectors of the first side, a vector of zeros, and those of
    the second. Its last states in both directions go to one output neuron (Rouhizadeh et al. 2024,
    who do not say how the sides meet: were each read by itself, a neuron could not compare them).
    Word vectors stay as they are. The loss is the binary cross-entropy; see
    ``medsim.wic.models.training.train``.

    Returns:
        float64[n_asked], and a number from 1.
    """
    import torch  # noqa: PLC0415 — an extra
    from torch.nn.utils.rnn import pack_sequence  # noqa: PLC0415 — as above

    vectors = torch.from_numpy(np.array(pairs.bags.vectors, np.float32))
    words = torch.from_numpy(np.array(pairs.bags.words, np.int64))
    truth = torch.from_numpy(labels.astype(np.float32))
    starts, gap = pairs.bags.starts, torch.zeros(1, vectors.shape[1])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = torch.nn.ModuleDict(
            {
                "lstm": torch.nn.LSTM(vectors.shape[1], N_UNITS, bidirectional=True),
                "output": torch.nn.Linear(2 * N_UNITS, 1),
            }
        )

    def log_odds(rows: Rows) -> Any:
        left, right = (
            [vectors[words[starts[at] : starts[at + 1]]] for at in side[rows]]
            for side in (pairs.left, pairs.right)
        )
        both = [torch.cat([one, gap, other]) for one, other in zip(left, right, strict=True)]
        _, (states, _) = module["lstm"](pack_sequence(both, enforce_sorted=False))
        return module["output"](torch.cat([states[0], states[1]], dim=1))[:, 0]

    def loss(rows: Rows) -> Any:
        own = one.train[rows]
        return torch.nn.functional.binary_cross_entropy_with_logits(log_odds(own), truth[own])

    def scores(rows: Rows) -> Values:
        batches = np.split(rows, range(_ASKED_AT_ONCE, len(rows), _ASKED_AT_ONCE))
        with torch.no_grad():
            found = [log_odds(batch).numpy() for batch in batches if len(batch)]
        return np.concatenate([np.zeros(0), *found])

    check, truths = one.held_back, labels[one.held_back]
    fitted = Fitted(module=module, loss=loss, scores=lambda: scores(check), labels=truths)
    kept = train(fitted, len(one.train), training, seed=seed, advance=advance)
    return scores(one.asked), kept
