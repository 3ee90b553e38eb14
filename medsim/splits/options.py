"""Options of splits, and the shares that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from medsim.builds.options import VerifyOptions
from medsim.core.config import MOST_SEED
from medsim.core.errors import OptionError
from medsim.core.options import Cache, OpenedFolder, Option, Options, Reporting, Threads
from medsim.embeddings.given import EmbeddingLike, wrapped

Rule = Literal["hash", "category", "release"]
"""The rules by which groups are shared out."""

SPLIT_NAMES = ("train", "validation", "test")
"""The names of splits, in this order; a set of splits may lack validation."""

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class SplitOptions(Options):
    """The options of ``medsim split``."""

    build: Annotated[
        str | Path | OpenedFolder, Option("The folder of a build.", argument=True, metavar="BUILD")
    ]
    out: Annotated[
        str | Path, Option("The folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    _: KW_ONLY
    ratios: Annotated[
        str,
        Option(
            "Relative sizes of train, validation and test, or of train and test alone.",
            metavar="N/N/N",
            key="ratios",
        ),
    ] = "80/10/10"
    by: Annotated[
        Rule,
        Option(
            "Rule by which concepts are split: hash (at random), category (each category into one "
            "split) or release (what is new since an earlier build into test).",
            lower=True,
            noun="rule",
            key="by",
        ),
    ] = "hash"
    test_categories: Annotated[
        Sequence[str],
        Option(
            "Categories of the test split (rule category), in double quotes where a name has a "
            "comma; the others go to the other splits.",
            listed=True,
            key="test_categories",
            kept_empty=False,
        ),
    ] = ()
    since: Annotated[
        str | Path | OpenedFolder | None,
        Option(
            "The folder of a build of an earlier release (rule release).",
            metavar="EARLIER_BUILD",
        ),
    ] = None
    embedding: Annotated[
        EmbeddingLike | None,
        Option(
            "Embedding of the build's embedding negatives, if it was moved, or was given in "
            "Python.",
            ("--embedding", "-e"),
            metavar="NAME=PATH",
        ),
    ] = None
    cache: Cache = None
    seed: Annotated[
        int,
        Option(
            "Seed of the hash; negatives keep the seed of the build.",
            least=0,
            most=MOST_SEED,
            key="seed",
        ),
    ] = 0
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace an earlier set of splits at OUT.")] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError for options that do not fit each other."""
        shares_of(self.ratios)
        if self.embedding is not None:
            object.__setattr__(self, "embedding", wrapped(self.embedding, "`embedding`"))
        if self.test_categories and self.by != "category":
            raise OptionError("`test_categories` is for `by` category alone; leave one out")
        if self.since is not None and self.by != "release":
            raise OptionError("`since` is for `by` release alone; leave one out")
        if self.since is None and self.by == "release":
            raise OptionError("`by` release needs a build of an earlier release; add `since`")


@dataclass(frozen=True, slots=True)
class AnyVerifyOptions(VerifyOptions):
    """The options of ``medsim verify``."""

    _: KW_ONLY
    build: Annotated[
        str | Path | OpenedFolder | None,
        Option(
            "The build that was split; whether the splits have all its positives, and its concepts "
            "as the rule says, is checked too.",
            metavar="BUILD",
        ),
    ] = None


def shares_of(ratios: str) -> dict[str, Fraction]:
    """Return the share of each split, which are 1 together, of ratios such as "80/10/10"."""
    numbers = [part.strip() for part in ratios.split("/")]
    names = SPLIT_NAMES if len(numbers) == len(SPLIT_NAMES) else (SPLIT_NAMES[0], SPLIT_NAMES[-1])
    if len(numbers) != len(names) or not all(map(_NUMBER.fullmatch, numbers)):
        raise OptionError(
            f"`ratios` {ratios!r} is neither three numbers, such as 80/10/10, nor two, such as "
            "80/20, of train and test"
        )
    parts = [Fraction(number) for number in numbers]
    if not all(parts):
        raise OptionError(
            f"`ratios` {ratios!r} leaves a split empty; each number is more than 0, and two "
            "numbers, such as 80/20, make no validation split"
        )
    return {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}
