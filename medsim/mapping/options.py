"""The options of ``medsim map``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import OptionError, check_unique
from medsim.core.options import (
    ModelOptions,
    Option,
    PathOrOutput,
    input_field,
    main_field,
    output_field,
    seed_field,
)
from medsim.corpora import ENGLISH
from medsim.decisions import DECISIONS_OPTION
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike
from medsim.systems.options import PREDICTIONS_OPTION, SystemLike
from medsim.terminologies.options import extensions_option

MAPPED, DECIDED = "map", "decided"
"""The names of the candidates, and of what is decided or accepted, among the models scored."""

MAX_CANDIDATES = 20
"""The maximum number of candidates of a local code."""

_SCHEMES = ("https://", "http://", "urn:")


@dataclass(frozen=True, slots=True)
class MapOptions(ModelOptions):
    """The options of ``medsim map``."""

    to_address = "whole"

    local: Annotated[
        PathOrOutput,
        Option(
            "The local names: a table with a code and a name per row (.csv, .xlsx and others), "
            "or any other source or build.",
            argument=True,
        ),
    ]
    standard: Annotated[
        PathOrOutput,
        Option("The standard: a folder of a build, or a source.", argument=True, or_name=True),
    ]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    embeddings: Annotated[Mapping[str, EmbeddingLike] | None, replace(EMBEDDINGS, needed=False)] = (
        None
    )
    k: int = main_field(
        5,
        "Maximum number of candidates of each local code.",
        ("--k", "-k"),
        least=1,
        most=MAX_CANDIDATES,
        key="k",
    )
    decisions: Annotated[Sequence[str | Path], DECISIONS_OPTION] = ()
    accept: float | None = main_field(
        None,
        "Also accept undecided first candidates of at least this probability.",
        least=0.5,
        most=1,
        key="accept",
    )
    gold: SystemLike | None = input_field(
        None,
        "Right concepts of local codes, to score the mapping: a table with columns code and "
        "concept, or SSSOM. A code without a concept has no match. Other names of columns follow "
        "the path, as in gold.csv,code=LOCAL,concept=TARGET.",
        metavar="FILE",
    )
    predictions: Annotated[Mapping[str, SystemLike] | None, PREDICTIONS_OPTION] = None
    columns: Sequence[str] = input_field(
        (),
        "Columns of LOCAL, such as concept=CODE,term=NAME; also synonyms, category and frequency. "
        "By default, columns have their usual names. Others are kept.",
        listed=True,
        metavar="ROLE=NAME",
        key="columns",
        kept_empty=False,
    )
    language: str = input_field(ENGLISH, "Language code of names.", key="language")
    local_language: str | None = input_field(
        None,
        "Language code of names of LOCAL, if it is another. A table without a column of languages "
        "is read whole.",
        key="local_language",
        kept_empty=False,
    )
    extensions: Annotated[Sequence[str | Path], extensions_option("STANDARD")] = ()
    vocabularies: Sequence[str] = input_field(
        (),
        "Vocabularies of STANDARD to search (UMLS, RxNorm and OMOP); default: all.",
        listed=True,
        key="vocabularies",
        kept_empty=False,
    )
    categories: Sequence[str] = input_field(
        (),
        "Search only concepts of a category: a semantic type such as disorder, or a concept, "
        "which stands for itself and its descendants. Several are possible.",
        ("--category",),
        metavar="CATEGORY",
        key="categories",
        kept_empty=False,
    )
    prefix: str = output_field(
        "local=https://example.org/local/",
        "Prefix of local codes and the address that it stands for, in SSSOM and FHIR.",
        metavar="NAME=ADDRESS",
        key="prefix",
    )
    seed: int = seed_field(0, "Random seed.")

    def check(self) -> None:
        """Raise OptionError if the prefix is malformed, or predictions cannot be scored."""
        if self.predictions and self.gold is None:
            raise OptionError("`predictions` are scored against a `gold` mapping; give it too")
        check_unique("models", [MAPPED, DECIDED, *(self.predictions or {})])
        name, address = self.prefix_and_address
        is_name = name.replace(".", "_").replace("-", "_").isidentifier()
        # A colon at the end would be YAML's.
        is_address = address.startswith(_SCHEMES) and address.split() == [address.rstrip(":")]
        if not (is_name and is_address):
            raise OptionError(
                f"`prefix` takes a prefix and an address, such as lab=https://lab.example/, not "
                f"{self.prefix!r}"
            )

    @property
    def prefix_and_address(self) -> tuple[str, str]:
        """The prefix of local codes and the address that it stands for."""
        name, _, address = self.prefix.partition("=")
        return name, address
