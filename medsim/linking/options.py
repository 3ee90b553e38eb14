"""The options of ``medsim link``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    Cache,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    Threads,
    input_field,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike
from medsim.terminologies.options import extensions_option


@dataclass(frozen=True, slots=True)
class LinkOptions(Options):
    """The options of ``medsim link``."""

    corpora: Annotated[
        Sequence[str | Path],
        Option("PubTator or BioC files, or brat folders.", argument=True, metavar="CORPUS..."),
    ]
    terminology: Annotated[
        PathOrOutput,
        Option(
            "Terminology whose names are searched: a folder of a build, or a source.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ]
    embeddings: Annotated[Mapping[str, EmbeddingLike], replace(EMBEDDINGS, needed=False)]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    language: str = input_field(ENGLISH, "Language code of names.", key="language")
    extensions: Annotated[Sequence[str | Path], extensions_option("the terminology")] = ()
    threads: Threads = None
    cache: Cache = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if an embedding has the name of a baseline."""
        for name in {"exact", "levenshtein", "tfidf"} & {*self.embeddings}:
            raise OptionError(f"{name} is the name of a baseline; rename the embedding")
