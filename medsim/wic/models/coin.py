"""A model with random answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from medsim.wic.dataset import coin_flips
from medsim.wic.models import MODELS, ModelAnswers, WicModel, fixed_answers

if TYPE_CHECKING:
    from medsim.wic.dataset import WicDataset
    from medsim.wic.models import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class CoinModel(WicModel):
    """A model with random answers, from a hash of the seed and of each instance."""

    way: ClassVar[str] = "coin"

    def answers(self, dataset: WicDataset, context: Context) -> ModelAnswers:
        """Return random answers."""
        return fixed_answers(coin_flips(dataset.instances, context.seed))


MODELS.register(CoinModel.way, CoinModel)
