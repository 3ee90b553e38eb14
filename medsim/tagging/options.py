"""The options of ``medsim tag``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    Cache,
    Option,
    Options,
    Reporting,
    Threads,
    input_option,
    main_option,
    output_option,
    seed_option,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike

RANDOM = "random"
"""The name of random vectors in the results."""


_share = partial(input_option, least=0.01, most=0.49)


@dataclass(frozen=True, slots=True)
class TagOptions(Options):
    """The options of ``medsim tag``."""

    corpora: Annotated[
        str | Path | Sequence[str | Path],
        Option(
            "Folders with a train, dev and test file in CoNLL, PubTator or BioC format; or single "
            "PubTator or BioC files, or brat folders, which are split by document.",
            argument=True,
            metavar="CORPUS...",
            many=True,
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], replace(EMBEDDINGS, needed=False)]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    trials: Annotated[
        int,
        main_option(
            "Taggers to train per corpus and embedding.", least=1, most=1_000, key="trials"
        ),
    ] = 3
    epochs: Annotated[
        int,
        main_option(
            "Maximum training epochs. Training stops earlier when dev shows no gain.",
            least=1,
            most=10_000,
            key="epochs",
        ),
    ] = 10
    random: Annotated[
        int | None,
        Option(
            f"Add a baseline: random vectors of this many dimensions. They are scored as {RANDOM}.",
            least=1,
            most=10_000,
            key="random",
        ),
    ] = None
    relu: Annotated[
        bool, Option("Use ReLU instead of hard tanh in the hidden layer.", key="relu")
    ] = False
    capitals: Annotated[
        bool,
        Option("Add four features of the capitals of each word to its vector.", key="capitals"),
    ] = False
    one_type: Annotated[
        bool,
        Option("Merge all entity types into one. This is usual for NCBI Disease.", key="one_type"),
    ] = False
    dev_share: Annotated[
        float, _share("Share of documents in dev. It applies to single files.", key="dev_share")
    ] = 0.1
    test_share: Annotated[
        float, _share("Share of documents in test. It applies to single files.", key="test_share")
    ] = 0.2
    language: Annotated[
        str, input_option("Language code. It applies to PubTator files.", key="language")
    ] = ENGLISH
    seed: Annotated[int, seed_option("Random seed.")] = 0
    conll: Annotated[
        bool,
        output_option(
            "Also write the splits in CoNLL format. They contain the text of the corpora "
            "and are at OUT/conll/CORPUS/*.tsv."
        ),
    ] = False
    threads: Threads = None
    cache: Cache = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if no embedding is named, or one has the name of random vectors."""
        if not self.embeddings and self.random is None:
            raise OptionError("name at least one embedding, such as `embeddings` glove=glove.txt")
        if self.random is not None and RANDOM in self.embeddings:
            raise OptionError(f"`random` takes the name {RANDOM}; rename the embedding")
