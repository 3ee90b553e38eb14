"""Options of builds, of their shards and of their verification."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from medsim.core.config import (
    DEFAULT_STRATEGIES,
    EASY_DISTANCE,
    MAX_COUNT,
    MAX_SEED,
    MINIMAL,
    STRATEGIES,
    PoolScope,
    Strategy,
)
from medsim.core.errors import OptionError
from medsim.core.options import (
    OVERWRITE,
    Cache,
    MakingOptions,
    Option,
    Options,
    PathOrOutput,
    Reporting,
    Threads,
    declared,
    input_field,
    input_option,
    machine_field,
    machine_option,
    main_field,
    main_option,
    option_field,
    seed_field,
)
from medsim.embeddings.options import NAMED_BY, EmbeddingLike, wrap
from medsim.terminologies.options import SOURCE_OPTION, ReadingOptions, extensions_option

PublishedRule = Literal["repeats", "history", "direction", "two_steps"]
"""The rules of the code of Schulz and Juric that differ from medsim's."""

SAMPLE = 100
"""First terms of each set that verification searches again by brute force, by default."""

MAX_NAMES = 1_000
"""The default maximum of names of a concept; HPO, MeSH and the Gene Ontology stay below it."""

BUILD_FOLDER = Option("The folder of a build.", argument=True, metavar="OUT")
NEW_FOLDER = main_option("Folder to write. It appears complete or not at all.", ("--out", "-o"))
MOVED_EMBEDDING = input_option(
    "Path of the build's embedding, if it was moved. It is also needed if it was given in Python.",
    ("--embedding", "-e"),
    metavar="NAME=PATH",
    read=wrap,
)

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A pair of terms that people judged differently from the terminology.

    Attributes:
        term1: the first term.
        term2: the second term; neither order nor case matters.
        same: whether they mean the same.
    """

    term1: str
    term2: str
    same: bool


def corrections_in(options: Mapping[str, Any]) -> tuple[Correction, ...]:
    """Return the corrections among the options of a build's manifest."""
    return tuple(
        Correction(term1=term1, term2=term2, same=same)
        for term1, term2, same in options.get("corrections", [])
    )


@dataclass(frozen=True, slots=True)
class SearchOptions(ReadingOptions):
    """The options that builds and shards have in common."""

    source: Annotated[str | Path, SOURCE_OPTION] = "hpo"
    out: Annotated[str | Path, NEW_FOLDER] = "build"
    _: KW_ONLY
    language: str = input_field(
        "en",
        "Language code of names. With several, such as en,es, there is also the dataset "
        "cross_language, of names in two of them; all other datasets are in the first.",
        key="language",
    )
    pool: PoolScope = option_field(
        "set",
        "Draw negatives from the terms of the set, or of the whole terminology. set: the terms of "
        "the same dataset; terminology: all names of eligible concepts, and the terms of all "
        "positives.",
        lower=True,
        key="pool",
    )
    negatives: Sequence[Strategy] = main_field(
        DEFAULT_STRATEGIES,
        "Strategies for negatives. minimal makes all names that differ in one word, such as a "
        "side or number.",
        listed=True,
        lower=True,
        noun="strategy of negatives",
        key="strategies",
    )
    corrections: str | Path | Sequence[Correction] = input_field(
        (),
        "Corrections to the terminology, from study score or the report of an audit. Pairs that do "
        "not mean the same are removed from the positives, and pairs that do from the negatives.",
    )
    max_names: int | None = option_field(
        None,
        "Stop if a concept has more names than this; default: 1,000. The number of pairs grows "
        "with the square of the number of names.",
        least=1,
        most=MAX_COUNT,
        key="max_names",
        kept_empty=False,
    )
    as_published: bool = option_field(
        False, "Apply all rules of the code of Schulz and Juric that differ from medsim's."
    )
    published_rules: Sequence[PublishedRule] = option_field(
        (),
        "Apply only these rules of the code of Schulz and Juric; the page As published of the "
        "documentation explains them.",
        listed=True,
        key="published_rules",
        kept_empty=False,
    )
    hierarchy: bool = option_field(
        False,
        "Add the dataset parent_child: the main names of a concept and of its parent. Its "
        "negatives are not from ancestors or descendants.",
        key="hierarchy",
        kept_empty=False,
    )
    seed: int = seed_field(0, "Random seed. It decides draws, ties and the order of rows.")
    threads: Threads = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    @property
    def languages(self) -> Sequence[str]:
        """The languages of names, the first of all datasets in one language first."""
        return self.language.split(",")

    @property
    def by_concepts(self) -> bool:
        """Whether associations are followed by their concepts."""
        return "history" in self.published_rules

    @property
    def loaded_corrections(self) -> Sequence[Correction]:
        """The corrections; empty unless they have been read."""
        return () if isinstance(self.corrections, (str, Path)) else self.corrections

    def check(self) -> None:
        """Put strategies in the order in which they are made.

        Raises:
            OptionError: no strategy or language is given, or one is given twice; or only minimal
                negatives with a hierarchy.
        """
        languages = [language.strip().lower() for language in self.languages]
        if "" in languages:
            raise OptionError("`language` needs codes with commas between them, such as en,es")
        if len({*languages}) < len(languages):
            raise OptionError(f"`language` {self.language!r} names a language twice")
        object.__setattr__(self, "language", ",".join(languages))
        ordered = tuple(name for name in STRATEGIES if name in self.negatives)
        if not ordered or len(ordered) < len(self.negatives):
            raise OptionError(
                f"`negatives` must name one or more of {', '.join(STRATEGIES)}, each only once"
            )
        object.__setattr__(self, "negatives", ordered)
        rules = get_args(PublishedRule) if self.as_published else self.published_rules
        if self.published_rules and {*rules} != {*self.published_rules}:
            raise OptionError("give `as_published`, for all rules, or `published_rules`, not both")
        object.__setattr__(self, "published_rules", tuple(sorted({*rules})))
        if self.hierarchy and ordered == (MINIMAL,):
            raise OptionError("`hierarchy` does not apply to minimal `negatives`; leave it out")

    def check_shared_out(self, option: str) -> None:
        """Raise OptionError if an option of the Levenshtein search is given without that search."""
        if "levenshtein" not in self.negatives:
            raise OptionError(
                f"`{option}` is for Levenshtein negatives, which `negatives` lacks; leave it out"
            )

    def parameters(self) -> dict[str, object]:
        """Return the options that affect the rows, as queries take them."""
        options = declared(type(self)).items()
        return {name: getattr(self, name) for name, option in options if option.key is not None}

    def recorded(self) -> dict[str, object]:
        """Return what affects the rows, except the embedding; corrections must have been read."""
        record = Options.recorded(self)
        record |= {"easy_distance": EASY_DISTANCE, "strategies": record.pop("strategies")}
        if self.loaded_corrections:
            record["corrections"] = [[c.term1, c.term2, c.same] for c in self.loaded_corrections]
        return record


@dataclass(frozen=True, slots=True)
class BuildOptions(SearchOptions):
    """The options of ``medsim build``."""

    to_address = "resumed"

    _: KW_ONLY
    embedding: EmbeddingLike | None = main_field(
        None,
        f"Model that finds the nearest terms for --negatives embedding. {NAMED_BY}",
        ("--embedding", "-e"),
        metavar="NAME=PATH",
        read=wrap,
    )
    cache: Cache = None
    dask: str | None = machine_field(
        None,
        "Address of a Dask scheduler, or local. It runs the search for nearest terms; "
        "local means processes on this machine. The result does not depend on it. A "
        'script that uses local needs if __name__ == "__main__".',
        metavar="ADDRESS",
    )

    def check(self) -> None:
        """Raise OptionError for options that do not fit each other."""
        SearchOptions.check(self)
        if ("embedding" in self.negatives) != (self.embedding is not None):
            raise OptionError(
                "`negatives` embedding and `embedding` NAME=PATH need each other; add the other one"
            )
        if self.dask is not None:
            self.check_shared_out("dask")


@dataclass(frozen=True, slots=True)
class ShardOptions(SearchOptions):
    """The options of one shard of a build, ``medsim build --shard``."""

    to_address = "whole"

    _: KW_ONLY
    shard: Annotated[
        str,
        machine_option(
            "Search only shard I of N, such as 3/7; join shards with medsim merge.", metavar="I/N"
        ),
    ]

    @property
    def number_and_total(self) -> tuple[int, int]:
        """The number of the shard, from 1, and the number of shards."""
        if match := _SHARD.fullmatch(self.shard.strip()):
            number, total = int(match[1]), int(match[2])
            if 1 <= number <= total:
                return number, total
        raise OptionError(f"`shard` {self.shard!r} is not a shard such as 3/7, the third of seven")

    def check(self) -> None:
        """Raise OptionError for options that do not fit each other."""
        SearchOptions.check(self)
        if "embedding" in self.negatives:
            raise OptionError("`shard` is not for embedding negatives; build them in one piece")
        self.check_shared_out("shard")
        _ = self.number_and_total


@dataclass(frozen=True, slots=True)
class MergeOptions(MakingOptions):
    """The options of ``medsim merge``."""

    to_address = "resumed"

    out: Annotated[str | Path, BUILD_FOLDER]
    _: KW_ONLY
    source: str | Path | None = input_field(
        None, "Path of the source, if it was moved.", or_name=True
    )
    extensions: Annotated[
        Sequence[str | Path], extensions_option("the source, if they were moved")
    ] = ()


@dataclass(frozen=True, slots=True)
class WarmOptions(Options):
    """The options of ``medsim warm``; the command line has none."""

    _: KW_ONLY
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class StatsOptions(Options):
    """The options of ``medsim stats``."""

    out: Annotated[str | Path, BUILD_FOLDER]


@dataclass(frozen=True, slots=True)
class VerifyOptions(Options):
    """The options of ``medsim verify``, except those for splits."""

    folder: Annotated[
        PathOrOutput, Option("The folder of a build or of splits.", argument=True, metavar="OUT")
    ]
    _: KW_ONLY
    sample: int | Literal["all"] = main_field(
        SAMPLE,
        "Terms per set to search again by brute force.",
        metavar="N|all",
        noun="number of first terms",
        least=0,
        most=MAX_COUNT,
    )
    seed: int | None = option_field(
        None,
        "Random seed. It decides the sample; by default a new seed is used and printed.",
        least=0,
        most=MAX_SEED,
    )
    embedding: Annotated[EmbeddingLike | None, MOVED_EMBEDDING] = None
    cache: Cache = None
    threads: Threads = None
    progress: Reporting = None
