"""A bidirectional LSTM over the words of both sides, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from medsim.embeddings.sources import WORDS
from medsim.wic.models import MODELS, SENTENCE, TARGET, TrainedModel, round_name, threshold_answers
from medsim.wic.models.perceptron import embedded_sides
from medsim.wic.models.training import TRAINING_OPTIONS, Fitted, Training, prepare_torch, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from medsim.kernels.types import Flags, Rows, Values
    from medsim.wic.dataset import Round, WicDataset
    from medsim.wic.models import Context, ModelAnswers
    from medsim.wic.models.perceptron import WordPairs

N_UNITS = 128
"""Hidden units in either direction (Rouhizadeh et al. 2024)."""

_SCORED_AT_ONCE = 256  # instances, whose words are padded to the longest side


@dataclass(frozen=True, slots=True, kw_only=True)
class BilstmModel(TrainedModel):
    """A bidirectional LSTM over word vectors."""

    way: ClassVar[str] = "bilstm"
    gives: ClassVar[str] = WORDS
    accepts: ClassVar[tuple[str, ...]] = ("input", "network", *TRAINING_OPTIONS)
    inputs: ClassVar[tuple[str, ...]] = (SENTENCE, TARGET)
    default: ClassVar[Training] = Training(epochs=20, rate=1e-3, batch=32)

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return the answers of a BiLSTM that is fitted in every round, by a threshold.

        Both the epoch and the threshold are chosen on instances that it was not fitted on. An
        instance with a side without known words is not covered and not used for fitting. Rouhizadeh
        et al. (2024) do not say how they trained theirs.
        """
        prepare_torch("a BiLSTM over word vectors", context.threads)
        words, covered = embedded_sides(self, dataset, context)

        def scores_in(round_: Round) -> Values:
            train = round_.train[~np.isin(round_.train, round_.held_back)]
            train, held_back, test = (
                rows[covered[rows]] for rows in (train, round_.held_back, round_.test)
            )
            covered_round = replace(round_, train=train, held_back=held_back, test=test)
            scores = np.full(len(covered), np.nan)
            if not len(train):
                return scores
            with context.progress.stage(f"fit {round_name(self.name, round_)}") as stage:
                stage.total(self.training.epochs * len(train))
                log_odds, epoch = bilstm_scores(
                    words, dataset.labels, covered_round, self.training, context.seed, stage.advance
                )
                stage.note(f"{len(train):,} instances, epoch {epoch} kept")
            scores[np.concatenate([held_back, test])] = log_odds
            return scores

        return threshold_answers(dataset, scores_in, lambda round_: round_.held_back)


MODELS.register(BilstmModel.way, BilstmModel)


def bilstm_scores(
    pairs: WordPairs,
    labels: Flags,
    round_: Round,
    training: Training,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[Values, int]:
    """Return log-odds that instances are True, and the epoch whose weights were kept.

    A bidirectional LSTM reads the word vectors of the first side, a vector of zeros, and the second
    side. Its last states in both directions go to one output neuron (Rouhizadeh et al. 2024,
    who do not say how the sides are combined: if each were read separately, a neuron could not
    compare them). Word vectors are not changed. The loss is the binary cross-entropy; see
    ``medsim.wic.models.training.train``.

    Returns:
        float64[n_held_back + n_test], and a number from 1.
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
        both = [torch.cat([first, gap, second]) for first, second in zip(left, right, strict=True)]
        _, (states, _) = module["lstm"](pack_sequence(both, enforce_sorted=False))
        return module["output"](torch.cat([states[0], states[1]], dim=1))[:, 0]

    def loss(rows: Rows) -> Any:
        chosen = round_.train[rows]
        return torch.nn.functional.binary_cross_entropy_with_logits(log_odds(chosen), truth[chosen])

    def scores(rows: Rows) -> Values:
        batches = np.split(rows, range(_SCORED_AT_ONCE, len(rows), _SCORED_AT_ONCE))
        with torch.no_grad():
            parts = [log_odds(batch).numpy() for batch in batches if len(batch)]
        return np.concatenate([np.zeros(0), *parts])

    check, truths = round_.held_back, labels[round_.held_back]
    fitted = Fitted(module=module, loss=loss, scores=lambda: scores(check), labels=truths)
    epoch = train(fitted, len(round_.train), training, seed=seed, advance=advance)
    return scores(np.concatenate([round_.held_back, round_.test])), epoch
