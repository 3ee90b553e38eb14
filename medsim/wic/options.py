"""The options of the commands of words in context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

from medsim.core.config import MOST_COUNT, MOST_SEED, MOST_THREADS
from medsim.core.errors import OptionError
from medsim.core.options import (
    Cache,
    OpenedFolder,
    Option,
    Options,
    Reporting,
    Threads,
    declared,
)
from medsim.corpora import ENGLISH
from medsim.embeddings.given import EmbeddingLike, wrapped
from medsim.terminologies.options import ReadingOptions
from medsim.wic import MOST_REPEATS, Split

Broader = Literal["direct", "any"]
"""Meanings of broader concepts: the parents of a concept, or all its ancestors."""

MOST_REPEATABLE = 1_000_000
"""The largest limit that may be set to the repeats of a sentence."""

MOST_SEEDS = 100
"""The largest number of seeds from which models may be fitted."""

StatisticsTable = Literal["1", "3", "4", "5", "figure-3", "figure-4"]
"""Tables and figures by their numbers in Rouhizadeh et al. (2024)."""

_RECORD = (
    *(option.key for option in declared(ReadingOptions).values() if option.key is not None),
    *("broader", "most_train", "most_repeats", "seed"),
)


@dataclass(frozen=True, slots=True)
class WicBuildOptions(ReadingOptions):
    """The options of ``medsim wic build``."""

    corpora: Annotated[
        Sequence[str | Path],
        Option(
            "Files in PubTator format, such as MedMentions.", argument=True, metavar="CORPUS..."
        ),
    ]
    terminology: Annotated[
        str | Path,
        Option(
            "Source that mentions are linked to, as for medsim build, such as MeSH or UMLS: its "
            "ids, and its codes in other vocabularies, say which concepts mentions stand for.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ]
    out: Annotated[
        str | Path, Option("The folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    _: KW_ONLY
    language: Annotated[
        str,
        Option(
            "Language code of the corpora: of the rules by which sentences are told apart, of "
            "lemmas, and of the terminology's names.",
            key="language",
        ),
    ] = ENGLISH
    broader: Annotated[
        Broader,
        Option(
            "Which concepts are broader than another, and so in no instance with it: direct, its "
            "parents, as the paper has it; or any, all its ancestors.",
            lower=True,
            noun="meaning of broader",
            key="broader",
        ),
    ] = "direct"
    most_train: Annotated[
        int | None,
        Option(
            "Instances of either label that a group has in train at most; all by default.",
            least=1,
            most=MOST_COUNT,
            key="most_train",
        ),
    ] = None
    most_repeats: Annotated[
        int,
        Option(
            "Times that a sentence occurs in train and dev together at most.",
            least=1,
            most=MOST_REPEATABLE,
            key="most_repeats",
        ),
    ] = MOST_REPEATS
    seed: Annotated[int, Option("Seed of all draws.", least=0, most=MOST_SEED, key="seed")] = 0
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace an earlier benchmark at OUT.")] = False
    progress: Reporting = None

    def recorded(self) -> dict[str, object]:
        """Return the options that decide the instances, in the order that manifests have."""
        plain = ReadingOptions.recorded(self)
        return {key: plain[key] for key in _RECORD if key in plain}


@dataclass(frozen=True, slots=True)
class BenchmarkFilesOptions(Options):
    """The options that name the files of a benchmark, whoever made it."""

    data: Annotated[
        str | Path | OpenedFolder,
        Option("A folder with train.json, dev.json, test.json, or one such file.", argument=True),
    ]
    _: KW_ONLY
    split: Annotated[
        Split | None,
        Option(
            "The split of one file: test, dev or train; by default its name says so.",
            noun="split",
        ),
    ] = None
    train: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None
    dev: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None
    test: Annotated[str | Path | None, Option("A file that belongs to DATA.")] = None


@dataclass(frozen=True, slots=True)
class WicStatsOptions(BenchmarkFilesOptions):
    """The options of ``medsim wic stats``."""

    _: KW_ONLY
    table: Annotated[
        StatisticsTable,
        Option(
            "By its number in the paper: 1, corpora; 3, instances, sentences, concepts by split; "
            "4, tokens of target terms; 5, seen terms in test; figure-3, train by repeats of a "
            "sentence; figure-4, semantic types.",
            lower=True,
        ),
    ] = "3"
    threads: Threads = None


@dataclass(frozen=True, slots=True)
class WicEvaluateOptions(Options):
    """The options of ``medsim wic eval``."""

    data: Annotated[
        str | Path | OpenedFolder,
        Option(
            "A folder with train.json, dev.json and test.json as BioWiC is published; or one such "
            "file, which is cross-fitted.",
            argument=True,
        ),
    ]
    out: Annotated[str | Path, Option("The folder of results to write.", ("--out", "-o"))]
    _: KW_ONLY
    models: Annotated[
        Sequence[EmbeddingLike] | Mapping[str, EmbeddingLike],
        Option(
            "random; or an embedding as of medsim eval, with options behind it: input=target or "
            "input=sentence and network=perceptron or network=bilstm of word vectors; input=target "
            "or input=quoted of encoders; tune=yes and loss=online-contrastive or loss=cosine of "
            "transformers; epochs=N, rate=N and batch=N of what PyTorch trains. Python takes "
            "functions, models and vectors as well, each a medsim.Embedding with a name, or all of "
            "them by name.",
            ("--model", "-m"),
            metavar="NAME=PATH",
        ),
    ] = ()
    predictions: Annotated[
        Sequence[str],
        Option(
            "Answers of any other model: CSV, TSV, JSON lines or Parquet with a column prediction, "
            "or score and behind the path ,dev=PATH for those of the dev split.",
            ("--predictions",),
            metavar="NAME=PATH",
        ),
    ] = ()
    llms: Annotated[
        Sequence[str],
        Option(
            "A language model that a service runs, such as llama=api:http://localhost:8000/v1 with "
            "options behind the address: model=M, and shots=N for examples from train.",
            ("--llm",),
            metavar="NAME=api:URL",
        ),
    ] = ()
    train: Annotated[
        str | Path | None,
        Option(
            "A file to fit on, in place of the folder's train.json; as .data.txt, with .gold.txt "
            "beside it, one of WiC."
        ),
    ] = None
    more_train: Annotated[
        Sequence[str | Path],
        Option(
            "A further file to fit on, beside train, such as WiC's train.data.txt.", metavar="FILE"
        ),
    ] = ()
    dev: Annotated[
        str | Path | None,
        Option("A file to choose thresholds on, in place of the folder's dev.json."),
    ] = None
    people: Annotated[
        str | Path | float | None,
        Option(
            "The accuracy of people to compare models with: the folder that medsim study score "
            "wrote of a study of these instances, or a number, such as 0.80 of the published "
            "BioWiC.",
            metavar="SCORES",
        ),
    ] = None
    seed: Annotated[
        int, Option("Seed of folds, of the coin and of what is fitted.", least=0, most=MOST_SEED)
    ] = 0
    seeds: Annotated[
        int,
        Option(
            "Seeds from which each model is fitted, from seed on: accuracies are means over them, "
            "with their standard deviation. Folds and the coin stay as they are.",
            least=1,
            most=MOST_SEEDS,
        ),
    ] = 1
    threads: Annotated[
        int | None,
        Option(
            "Threads to use; all by default. They change no result, but for rounding of encoders' "
            "vectors and what fine-tuning makes of it.",
            least=1,
            most=MOST_THREADS,
        ),
    ] = None
    cache: Cache = None
    overwrite: Annotated[bool, Option("Replace earlier results.")] = False
    progress: Reporting = None

    @property
    def accuracy_of_people(self) -> float | None:
        """The accuracy of people where it is given as a number."""
        try:
            return None if self.people is None else float(str(self.people))
        except ValueError:
            return None

    def check(self) -> None:
        """Raise OptionError for a model that is none, or an accuracy."""
        models = self.models
        object.__setattr__(
            self,
            "models",
            {name: wrapped(given, f"`models` {name!r}") for name, given in models.items()}
            if isinstance(models, Mapping)
            else tuple(wrapped(given, "`models`") for given in models),
        )
        accuracy = self.accuracy_of_people
        if accuracy is not None and not 0 <= accuracy <= 1:
            raise OptionError(f"`people` {self.people} is no accuracy; 0 to 1 are accepted")


@dataclass(frozen=True, slots=True)
class WicVerifyOptions(BenchmarkFilesOptions):
    """The options of ``medsim wic verify``."""

    _: KW_ONLY
    terminology: Annotated[
        str | Path | None,
        Option(
            "Source whose names decide what synonyms are: a file, folder or built-in name. A "
            "folder of medsim wic build keeps such names, and is compared with it.",
            ("--terminology", "-t"),
            metavar="SOURCE",
            or_name=True,
        ),
    ] = None
    progress: Reporting = None
