"""The options of ``medsim reproduce``."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from medsim.core.errors import InputError, OptionError, listed
from medsim.core.options import Cache, Option, Options, Reporting, Threads, main_field, seed_field
from medsim.embeddings.options import EMBEDDINGS, EmbeddingLike, wrap, wrap_by_name
from medsim.papers.printed import printed_papers

_PAPERS = listed(
    [f"{name} ({about.authors})" for name, about in printed_papers().items()], word="or"
)
_INPUTS = "; ".join(f"{name}: {about.inputs}" for name, about in printed_papers().items())

PUBLISHED = dt.date(2019, 1, 31)
"""The release of SNOMED CT that Schulz and Juric used."""


@dataclass(frozen=True, slots=True)
class ReproduceOptions(Options):
    """The options of ``medsim reproduce``."""

    paper: Annotated[
        str,
        Option(
            f"The paper: {_PAPERS}.",
            argument=True,
            choices=tuple(printed_papers()),
            metavar="PAPER",
            key="paper",
        ),
    ]
    inputs: Annotated[
        str | Path | Sequence[str | Path],
        Option(f"{_INPUTS}.", argument=True, metavar="INPUT..."),
    ]
    out: Annotated[str | Path, Option("Folder to write, or to continue.", ("--out", "-o"))]
    _: KW_ONLY
    embeddings: Annotated[
        Mapping[str, EmbeddingLike] | None, replace(EMBEDDINGS, heading="Main options", read=None)
    ] = None
    answers: str | Path | None = main_field(
        None, "schulz-2020: the folder of the answers that annotators sent back.", metavar="FOLDER"
    )
    tasks: str | Path | None = main_field(
        None,
        "chiu-2018: a table with a row per model and a column per task, as for medsim correlate.",
        metavar="FILE",
    )
    words: str | Path | None = main_field(
        None, "chiu-2018: words with counts, for figures 1 to 4 and numbers.", metavar="FILE"
    )
    pairs: Sequence[str | Path] = main_field(
        (), "chiu-2018: pairs of medsim study pairs, a file named after each set.", metavar="FILE"
    )
    phrases: Literal["averaged", "skipped"] | None = main_field(
        None,
        "chiu-2018: averaged words (the default), or skipped pairs, as in the paper's code.",
        key="phrases",
        kept_empty=False,
    )
    people: Sequence[str | Path] = main_field(
        (), "chiu-2018, rouhizadeh-2024: study scores, named after their set.", metavar="FOLDER"
    )
    terminology: str | None = main_field(
        None, "rouhizadeh-2024: the terminology whose concepts the corpora name.", metavar="SOURCE"
    )
    train: bool = main_field(
        False,
        "rouhizadeh-2024: fine-tune transformers on the train split, as in the paper.",
        key="train",
        kept_empty=False,
    )
    seed: int = seed_field(0, "Random seed.")
    threads: Threads = None
    cache: Cache = None
    progress: Reporting = None

    @property
    def models(self) -> Mapping[str, EmbeddingLike]:
        """The embeddings by name; empty if there are none."""
        return self.embeddings or {}

    @property
    def input_paths(self) -> list[str]:
        """The inputs as texts; Python callers may give a single path."""
        inputs = self.inputs
        return [str(inputs)] if isinstance(inputs, (str, Path)) else [str(path) for path in inputs]

    def check(self) -> None:
        """Check that options fit the paper, and that its files exist, before the slow steps.

        Raises:
            InputError: a file or folder does not exist.
            OptionError: an option is missing, or the paper does not have it.
        """
        models = {
            name: wrap(given, f"`embeddings` {name!r}") for name, given in self.models.items()
        }
        paper = printed_papers()[self.paper]
        if paper.needs_embeddings:  # else the models have options of their own
            wrap_by_name(models, "`embeddings`")
        object.__setattr__(self, "embeddings", models)
        if not self.input_paths:
            raise OptionError("name at least one input")
        if not self.models and paper.needs_embeddings:
            raise OptionError("name at least one of `embeddings`, such as glove=vectors.txt")
        for name in sorted({name for of in printed_papers().values() for name in of.options}):
            owners = [owner for owner, about in printed_papers().items() if name in about.options]
            if getattr(self, name) and self.paper not in owners:
                raise OptionError(f"`{name}` is for {listed(owners)}")
        for path in (self.answers, self.tasks, self.words, *self.pairs, *self.people):
            if path is not None and not Path(path).exists():
                raise InputError(f"{path} does not exist")
        if self.train and not self.models:
            raise OptionError("`train` needs `embeddings`")
