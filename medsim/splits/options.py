"""Options of splits, and the parser of ratios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from medsim.builds.options import MOVED_EMBEDDING, NEW_FOLDER, VerifyOptions
from medsim.core.errors import OptionError
from medsim.core.options import (
    ModelOptions,
    Option,
    PathOrOutput,
    input_field,
    main_field,
    option_field,
    seed_field,
)
from medsim.embeddings.options import EmbeddingLike

Rule = Literal["hash", "category", "release"]
"""The rules for splitting."""

SPLIT_NAMES = ("train", "validation", "test")
"""The names of splits, in order; validation is optional."""

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


@dataclass(frozen=True, slots=True)
class SplitOptions(ModelOptions):
    """The options of ``medsim split``."""

    to_address = "resumed"

    build: Annotated[PathOrOutput, Option("The folder of a build.", argument=True, metavar="BUILD")]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    ratios: str = main_field(
        "80/10/10",
        "Relative sizes of train, validation and test. Two numbers are train and test.",
        metavar="N/N/N",
        key="ratios",
    )
    by: Rule = main_field(
        "hash",
        "How to assign concepts to splits. hash: at random; category: each category into one "
        "split; release: concepts that are new since an earlier release into test.",
        lower=True,
        noun="rule",
        key="by",
    )
    test_categories: Sequence[str] = option_field(
        (),
        "Categories to put in test (--by category). Put a name with a comma in double quotes.",
        listed=True,
        key="test_categories",
        kept_empty=False,
    )
    since: PathOrOutput | None = option_field(
        None,
        "An earlier release, for --by release: the folder of a build, or a source, which is built "
        "with default options first.",
        metavar="EARLIER",
        or_name=True,
    )
    embedding: Annotated[EmbeddingLike | None, MOVED_EMBEDDING] = None
    seed: int = seed_field(
        0, "Random seed. It is used by the rule; negatives keep the seed of the build."
    )

    def check(self) -> None:
        """Raise OptionError for options that do not fit each other."""
        shares_of(self.ratios)
        if self.test_categories and self.by != "category":
            raise OptionError("`test_categories` needs `by` category")
        if (self.since is not None) != (self.by == "release"):
            raise OptionError("`by` release and `since` need each other; add the other one")


@dataclass(frozen=True, slots=True)
class AnyVerifyOptions(VerifyOptions):
    """The options of ``medsim verify``."""

    _: KW_ONLY
    build: PathOrOutput | None = input_field(
        None,
        "Build that was split. Verification checks that the splits have all its positives, and "
        "that its concepts are split by the rule.",
        metavar="BUILD",
    )


def shares_of(ratios: str) -> dict[str, Fraction]:
    """Return the share of each split, with sum 1, from ratios such as "80/10/10"."""
    numbers = [part.strip() for part in ratios.split("/")]
    names = {2: (SPLIT_NAMES[0], SPLIT_NAMES[-1]), 3: SPLIT_NAMES}.get(len(numbers), ())
    parts = [Fraction(number) for number in numbers if _NUMBER.fullmatch(number)]
    if len(parts) != len(numbers) or len(parts) != len(names) or not all(parts):
        raise OptionError(f"`ratios` {ratios!r} must be 2 or 3 positive numbers, such as 80/10/10")
    return {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}
