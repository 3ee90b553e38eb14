"""The options of ``medsim link``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import check_known, check_unique
from medsim.core.options import (
    ModelOptions,
    Option,
    PathOrOutput,
    input_field,
    main_field,
    option_field,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike
from medsim.systems.options import PREDICTIONS_OPTION, SystemLike
from medsim.terminologies.options import extensions_option

SEARCHES = ("exact", "levenshtein", "tfidf")
"""The searches that need no embedding."""

MAX_OFFERED = 25
"""The maximum number of candidates that are shown to a language model, a letter each."""


@dataclass(frozen=True, slots=True)
class LinkOptions(ModelOptions):
    """The options of ``medsim link``."""

    corpora: Annotated[
        Sequence[str | Path],
        Option(
            "PubTator or BioC files, brat folders, or tables of mentions with columns text and "
            "concept. Other names of columns follow the path: mentions.csv,text=NAME,concept=CODE.",
            argument=True,
            metavar="CORPUS...",
        ),
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
    predictions: Annotated[Mapping[str, SystemLike] | None, PREDICTIONS_OPTION] = None
    llms: Sequence[str] = main_field(
        (),
        "Language model that chooses among the candidates of a first search, or none of them, then "
        ",model=M. For example llama=api:http://localhost:8000/v1,model=llama.",
        ("--llm",),
        metavar="NAME=api:URL",
    )
    first_search: str = option_field(
        "tfidf",
        "Search whose candidates language models and rerankers get: exact, levenshtein, tfidf or "
        "the name of an embedding.",
        key="first_search",
    )
    candidates: int = option_field(
        10, "Number of these candidates.", least=1, most=MAX_OFFERED, key="candidates"
    )
    language: str = input_field(ENGLISH, "Language code of names.", key="language")
    extensions: Annotated[Sequence[str | Path], extensions_option("the terminology")] = ()

    def check(self) -> None:
        """Raise OptionError if two models have the same name, or the first search is unknown."""
        llms = [text.partition("=")[0] for text in self.llms]
        searches = [*SEARCHES, *self.embeddings]
        check_unique("models", [*searches, *(self.predictions or {}), *llms])
        check_known("first search", searches, self.first_search)
