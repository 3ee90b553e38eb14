"""Training of PyTorch models: batches, the learning rate, and the epoch whose weights are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from medsim.core.errors import needing
from medsim.core.options import Option, Options
from medsim.kernels.types import Flags, Rows, Values
from medsim.statistics.ranks import label_counts
from medsim.statistics.scores import average_precision

MAX_WARMUP = 1_000
"""The steps of warm-up of the learning rate, as in the code of Rouhizadeh et al. (2024)."""

_WARMUP_SHARE = 0.2  # of all steps, if that is fewer: 1,000 steps are 19% of those on BioWiC
_DECAY = 0.01  # of weights, as in sentence-transformers
_LONGEST_STEP = 1.0  # the largest norm of a gradient, as there


@dataclass(frozen=True, slots=True, kw_only=True)
class Training(Options):
    """The options of training.

    Attributes:
        epochs: the number of passes over the instances.
        rate: the highest learning rate of AdamW.
        batch: instances per step.
    """

    epochs: Annotated[int, Option("Passes over the instances.", least=1, most=1_000)]
    rate: Annotated[float, Option("Learning rate.", least=1e-9, most=1)]
    batch: Annotated[int, Option("Instances per step.", least=1, most=100_000)]


def prepare_torch(needed_by: str, threads: int) -> None:
    """Set the number of threads of PyTorch in this process; raise OptionError without PyTorch."""
    with needing(f"{needed_by} needs PyTorch", "baselines"):
        import torch  # noqa: PLC0415 — an extra
    torch.set_num_threads(threads)


def train(
    module: Any,
    loss: Callable[[Rows], Any],
    quality: Callable[[], float],
    n_instances: int,
    training: Training,
    *,
    seed: int,
    advance: Callable[[int], None],
) -> int:
    """Train a module in place, and return the epoch whose weights are kept, from 1.

    ``loss`` returns the loss of the instances with the numbers int[n_batch], and ``quality`` the
    average precision on held-back instances (``precision_of``).

    The optimiser is AdamW. The learning rate rises linearly in the first 1,000 steps, or in the
    first fifth if that is fewer, and then falls linearly to 0. The weights after the epoch with the
    highest quality are kept, the first of equal ones, or the last if it is NaN. Rouhizadeh et al.
    (2024) trained in the same way, with the routine of sentence-transformers.

    PyTorch's global random state, which decides dropout and initial weights, is restored
    afterwards. The order of sums depends on threads and machine, and training amplifies such
    differences, so the same seed gives nearly, but not always exactly, the same model.
    """
    import torch  # noqa: PLC0415 — an extra

    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [each for each in parameters if each.ndim > 1], "weight_decay": _DECAY},
        {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=training.rate)
    n_steps = training.epochs * math.ceil(n_instances / training.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: relative_rate(step, n_steps)
    )
    draw = np.random.default_rng(seed)
    best, best_epoch, weights = -math.inf, 0, {}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for epoch in range(1, training.epochs + 1):
            module.train()
            order = draw.permutation(n_instances)
            for rows in np.split(order, range(training.batch, n_instances, training.batch)):
                optimiser.zero_grad()
                loss(rows).backward()
                torch.nn.utils.clip_grad_norm_(parameters, _LONGEST_STEP)
                optimiser.step()
                schedule.step()
                advance(len(rows))
            module.eval()
            reached = quality()
            if not best >= reached:  # also true for NaN
                best, best_epoch = reached, epoch
                state = module.state_dict()
                weights = {name: value.clone() for name, value in state.items()}
    module.load_state_dict(weights)
    return best_epoch


def relative_rate(step: int, n_steps: int) -> float:
    """Return the learning rate of a step, counted from 0, as a share of the highest."""
    warmup = min(MAX_WARMUP, max(1, round(_WARMUP_SHARE * n_steps)))
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (n_steps - step) / max(1, n_steps - warmup))


def precision_of(scores: Values, labels: Flags) -> float:
    """Return the average precision of scores, NaN if all labels are the same.

    Both are float64[n_instances] and bool[n_instances].
    """
    _, n_positive, n_negative = label_counts(scores, labels)
    return average_precision(n_positive, n_negative)
