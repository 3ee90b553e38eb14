"""The options of ``medsim tag``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.config import MOST_SEED, checked_threads
from medsim.core.errors import OptionError
from medsim.core.options import Cache, Option, Options, Reporting, Threads
from medsim.corpora import ENGLISH
from medsim.embeddings.given import EmbeddingLike, wrapped_by_name
from medsim.embeddings.options import EMBEDDINGS

RANDOM = "random"
"""The name of vectors that are drawn."""

_MOST_TRIALS = 1_000
_MOST_EPOCHS = 10_000
_MOST_DIMENSIONS = 10_000


@dataclass(frozen=True, slots=True)
class TagOptions(Options):
    """The options of ``medsim tag``."""

    corpora: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            "Folders with a file of each split, whose names have train, dev and test in them, in "
            "CoNLL's layout or PubTator format; or files in PubTator format, which are split by "
            "document.",
            argument=True,
            metavar="CORPUS...",
            many=True,
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], EMBEDDINGS]
    out: Annotated[
        str | Path, Option("The folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    _: KW_ONLY
    trials: Annotated[
        int,
        Option(
            "Taggers that are trained for each corpus and embedding, each from its own first "
            "weights.",
            least=1,
            most=_MOST_TRIALS,
            key="trials",
        ),
    ] = 3
    epochs: Annotated[
        int,
        Option(
            "The most times that a tagger sees the train split; it stops before where the dev "
            "split shows no gain.",
            least=1,
            most=_MOST_EPOCHS,
            key="epochs",
        ),
    ] = 10
    random: Annotated[
        int | None,
        Option(
            f"Also score, under the name {RANDOM}, vectors of so many dimensions that are drawn by "
            "chance: what a tagger learns from the corpus alone.",
            least=1,
            most=_MOST_DIMENSIONS,
            key="random",
        ),
    ] = None
    one_type: Annotated[
        bool,
        Option(
            "Take all entities of a corpus for one type, as is usual for NCBI Disease.",
            key="one_type",
        ),
    ] = False
    dev_share: Annotated[
        float,
        Option(
            "The share of documents that becomes the dev split of a single file.",
            least=0.01,
            most=0.49,
            key="dev_share",
        ),
    ] = 0.1
    test_share: Annotated[
        float,
        Option(
            "The share of documents that becomes the test split of a single file.",
            least=0.01,
            most=0.49,
            key="test_share",
        ),
    ] = 0.2
    language: Annotated[
        str, Option("Language code of texts in PubTator format.", key="language")
    ] = ENGLISH
    seed: Annotated[
        int,
        Option(
            "Seed of first weights, the order of words, and the bootstrap.",
            least=0,
            most=MOST_SEED,
            key="seed",
        ),
    ] = 0
    conll: Annotated[
        bool,
        Option(
            "Also write the splits as OUT/conll/CORPUS/train.tsv and so on; they hold the text of "
            "the corpora."
        ),
    ] = False
    threads: Threads = None
    cache: Cache = None
    overwrite: Annotated[bool, Option("Replace earlier results at OUT.")] = False
    progress: Reporting = None

    @property
    def n_threads(self) -> int:
        """The threads to use."""
        return checked_threads(self.threads)

    def check(self) -> None:
        """Raise OptionError where no embedding is named, or one as drawn vectors are."""
        if not self.embeddings and self.random is None:
            raise OptionError("name at least one embedding, such as `embeddings` glove=glove.txt")
        if self.random is not None and RANDOM in self.embeddings:
            raise OptionError(f"`random` and an embedding are both named {RANDOM}; rename the last")
        named = wrapped_by_name(self.embeddings, "embeddings")
        object.__setattr__(self, "embeddings", named)
