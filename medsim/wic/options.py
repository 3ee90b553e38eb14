"""The options of the commands of words in context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from medsim.builds.options import NEW_FOLDER
from medsim.core.config import MAX_SEED, MAX_THREADS
from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    ModelOptions,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    Threads,
    input_field,
    machine_field,
    main_field,
    option_field,
    seed_field,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.options import EmbeddingLike, wrap
from medsim.terminologies.options import ReadingOptions, extensions_option
from medsim.wic import MAX_REPEATS, SIMILARITY

Broader = Literal["direct", "any"]
"""Meanings of broader concepts: the parents of a concept, or all its ancestors."""

StatisticsTable = Literal["1", "3", "4", "5", "figure-3", "figure-4"]
"""Tables and figures by their numbers in Rouhizadeh et al. (2024)."""


@dataclass(frozen=True, slots=True)
class WicBuildOptions(ReadingOptions):
    """The options of ``medsim wic build``."""

    corpora: Annotated[
        Sequence[str | Path],
        Option("PubTator or BioC files, or brat folders.", argument=True, metavar="CORPUS..."),
    ]
    terminology: Annotated[
        str | Path,
        Option(
            "Terminology of the concepts, as for medsim build. Its ids, and its codes in "
            "other vocabularies, link mentions to concepts.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    language: str = input_field(
        ENGLISH, "Language code. It applies to sentences, lemmas and names.", key="language"
    )
    broader: Broader = option_field(
        "direct",
        "Do not pair a concept with its parents (direct) or any ancestors (any). The paper "
        "excludes the parents.",
        lower=True,
        noun="meaning of broader",
        key="broader",
    )
    label_similarity: float = option_field(
        SIMILARITY,
        "Terms of the group label_similarity share more than this part of their characters, in "
        "order. The released BioWiC has 0.70, its paper 0.75.",
        least=0.5,
        most=0.99,
        key="label_similarity",
    )
    max_train: int | None = option_field(
        None,
        "Maximum train instances per group and label. All by default.",
        least=1,
        key="max_train",
    )
    max_repeats: int = option_field(
        MAX_REPEATS,
        "Maximum uses of a sentence in train and dev together.",
        least=1,
        most=1_000_000,
        key="max_repeats",
    )
    seed: int = seed_field(0, "Random seed.")
    threads: Threads = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class BenchmarkFilesOptions(Options):
    """The options that name the files of any benchmark."""

    data: Annotated[
        PathOrOutput,
        Option("A folder with train.json, dev.json, test.json, or one such file.", argument=True),
    ]
    _: KW_ONLY


@dataclass(frozen=True, slots=True)
class WicStatsOptions(BenchmarkFilesOptions):
    """The options of ``medsim wic stats``."""

    _: KW_ONLY
    table: StatisticsTable = main_field(
        "3",
        "Number in the paper: 1, corpora; 3, splits; 4, tokens per term; 5, seen terms in test; "
        "figure-3, train by repeats of a sentence; figure-4, semantic types.",
        lower=True,
    )
    threads: Threads = None


def _wrapped(models: Any, where: str) -> object:
    """Return models, each from ``wrap``; raise OptionError if one is not an embedding."""
    if isinstance(models, Mapping):
        return {name: wrap(model, f"{where} {name!r}") for name, model in models.items()}
    return tuple(wrap(model, where) for model in models)


@dataclass(frozen=True, slots=True)
class WicEvaluateOptions(ModelOptions):
    """The options of ``medsim wic eval``."""

    data: Annotated[
        PathOrOutput,
        Option(
            "A folder with train.json, dev.json and test.json; or one such file, for which models "
            "are cross-validated.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, Option("Folder to write.", ("--out", "-o"))]
    _: KW_ONLY
    models: Sequence[EmbeddingLike] | Mapping[str, EmbeddingLike] = main_field(
        (),
        "random, or an embedding as for medsim eval, then options: ,input= ,network= ,tune= "
        ",epochs= ,rate= ,batch=. input=target, sentence or quoted; network=perceptron or bilstm, "
        "on word vectors; tune=yes, to fine-tune transformers; epochs=N, rate=N and batch=N of "
        "training. In Python also functions, models and vectors, each a medsim.Embedding with a "
        "name, or a dict of them by name.",
        ("--model", "-m"),
        metavar="NAME=PATH",
        read=_wrapped,
    )
    predictions: Sequence[str] = main_field(
        (),
        "Predictions of another model, then optionally ,dev=PATH. A table has a column "
        "prediction, or a column score; then dev=PATH names the scores on dev.",
        ("--predictions",),
        metavar="NAME=PATH",
    )
    llms: Sequence[str] = main_field(
        (),
        "Language model, then ,model=M and optionally ,shots=N. For example "
        "llama=api:http://localhost:8000/v1,model=llama,shots=5, with 5 examples from train.",
        ("--llm",),
        metavar="NAME=api:URL",
    )
    train: str | Path | None = input_field(
        None, "Training file instead of train.json. WiC's train.data.txt works too."
    )
    more_train: Sequence[str | Path] = input_field(
        (), "Additional training file. It may be WiC's train.data.txt.", metavar="FILE"
    )
    dev: str | Path | None = input_field(
        None, "Dev file instead of dev.json. Thresholds are chosen on it."
    )
    people: str | Path | float | None = input_field(
        None,
        "Human accuracy, or scores of a study. A number, such as 0.80 for BioWiC, or a folder of "
        "medsim study score on these instances.",
        metavar="SCORES",
    )
    seed: int = option_field(0, "Random seed.", least=0, most=MAX_SEED)
    seeds: int = option_field(
        1,
        "Number of random seeds to train with. Means and standard deviations are reported.",
        least=1,
        most=100,
    )
    threads: int | None = machine_field(
        None,
        "Threads to use; default: all. They change only the rounding of encoders and training.",
        least=1,
        most=MAX_THREADS,
    )

    @property
    def accuracy_of_people(self) -> float | None:
        """The accuracy of people if it was given as a number, else None."""
        try:
            return None if self.people is None else float(str(self.people))
        except ValueError:
            return None

    def check(self) -> None:
        """Raise OptionError if the accuracy is out of range."""
        accuracy = self.accuracy_of_people
        if accuracy is not None and not 0 <= accuracy <= 1:
            raise OptionError(f"`people` {self.people} is not an accuracy between 0 and 1")


@dataclass(frozen=True, slots=True)
class WicVerifyOptions(BenchmarkFilesOptions):
    """The options of ``medsim wic verify``."""

    _: KW_ONLY
    terminology: str | Path | None = input_field(
        None,
        "Terminology whose names define synonyms. A folder of medsim wic build keeps such names, "
        "and is compared with it.",
        ("--terminology", "-t"),
        metavar="SOURCE",
        or_name=True,
    )
    extensions: Annotated[Sequence[str | Path], extensions_option("the terminology")] = ()
    progress: Reporting = None
