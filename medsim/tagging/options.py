"""The options of ``medsim tag``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import OptionError
from medsim.core.options import (
    ModelOptions,
    Option,
    input_field,
    main_field,
    option_field,
    seed_field,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike

RANDOM = "random"
"""The name of random vectors in the results."""


@dataclass(frozen=True, slots=True)
class TagOptions(ModelOptions):
    """The options of ``medsim tag``."""

    corpora: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            "Folders with a train, dev and test file in CoNLL, PubTator or BioC format; or single "
            "PubTator or BioC files, or brat folders, which are split by document.",
            argument=True,
            metavar="CORPUS...",
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], replace(EMBEDDINGS, needed=False)]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    trials: int = main_field(
        3, "Taggers to train per corpus and embedding.", least=1, most=1_000, key="trials"
    )
    epochs: int = main_field(
        10,
        "Maximum training epochs. Training stops earlier when dev shows no gain.",
        least=1,
        most=10_000,
        key="epochs",
    )
    random: int | None = option_field(
        None,
        f"Add a baseline: random vectors of this many dimensions. They are scored as {RANDOM}.",
        least=1,
        most=10_000,
        key="random",
    )
    relu: bool = option_field(
        False, "Use ReLU instead of hard tanh in the hidden layer.", key="relu"
    )
    capitals: bool = option_field(
        False, "Add four features of the capitals of each word to its vector.", key="capitals"
    )
    one_type: bool = option_field(
        False, "Merge all entity types into one. This is usual for NCBI Disease.", key="one_type"
    )
    language: str = input_field(
        ENGLISH, "Language code. It applies to PubTator files.", key="language"
    )
    seed: int = seed_field(0, "Random seed.")

    def check(self) -> None:
        """Raise OptionError if no embedding is named, or one has the name of random vectors."""
        if not self.embeddings and self.random is None:
            raise OptionError("name at least one embedding, such as `embeddings` glove=glove.txt")
        if self.random is not None and RANDOM in self.embeddings:
            raise OptionError(f"`random` takes the name {RANDOM}; rename the embedding")
