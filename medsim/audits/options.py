"""The options of ``medsim audit``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated

from medsim.audits import KINDS, SEVERITIES
from medsim.builds.options import NEW_FOLDER
from medsim.core.errors import OptionError
from medsim.core.options import (
    NAMED_PATH,
    ModelOptions,
    Option,
    PathOrOutput,
    declared,
    main_field,
    output_field,
)
from medsim.decisions import DECISIONS_OPTION
from medsim.embeddings.options import NAMED_BY, EmbeddingLike, wrap
from medsim.terminologies.options import ReadingOptions, extensions_option

_LANGUAGE = replace(declared(ReadingOptions)["language"], kept_empty=False)
_CHOICES = (*SEVERITIES, *KINDS)

MAX_DISTANCE = 4
"""The maximum edit distance of near names."""


@dataclass(frozen=True, slots=True)
class AuditOptions(ModelOptions):
    """The options of ``medsim audit``."""

    source: Annotated[
        PathOrOutput,
        Option(
            "The release to audit: a folder of a build, or a source.",
            argument=True,
            metavar="SOURCE",
            or_name=True,
        ),
    ]
    out: Annotated[str | Path, NEW_FOLDER]
    _: KW_ONLY
    distance: int = main_field(
        2,
        "Maximum edit distance of near names. It is 1 for names of at most 8 characters.",
        least=1,
        most=MAX_DISTANCE,
        key="distance",
    )
    only: Sequence[str] = main_field(
        (),
        "Kinds or severities of findings to search for; default: all.",
        listed=True,
        lower=True,
        choices=_CHOICES,
        noun="kind of finding",
        metavar="KIND,...",
        key="only",
        kept_empty=False,
    )
    extensions: Annotated[Sequence[str | Path], extensions_option("SOURCE")] = ()
    language: Annotated[str | None, _LANGUAGE] = None
    columns: Annotated[Sequence[str], declared(ReadingOptions)["columns"]] = ()
    decisions: Annotated[Sequence[str | Path], DECISIONS_OPTION] = ()
    categories: Sequence[str] = main_field(
        (),
        "Keep only findings on a concept of a category: the concept that is given, and its "
        "descendants. Several are possible.",
        ("--category",),
        metavar="[NAME=]CONCEPT_ID",
        key="categories",
        kept_empty=False,
    )
    since: PathOrOutput | None = main_field(
        None,
        "Mark the findings that are new since an earlier release: the folder of its audit or "
        "build, or a source.",
        metavar="OLD",
        or_name=True,
    )
    embedding: EmbeddingLike | None = main_field(
        None,
        "Embedding model that judges the names too. The audit lists unlinked names that the "
        "model takes for the same, and synonyms that it takes for unrelated. "
        f"{NAMED_BY}",
        ("--embedding", "-e"),
        metavar=NAMED_PATH,
        read=wrap,
    )
    candidate_mappings: bool = output_field(
        False,
        "Also write undecided pairs of severity warning as mappings (skos:closeMatch).",
        key="candidate_mappings",
        kept_empty=False,
    )

    @property
    def kinds(self) -> dict[str, Mapping[str, str]]:
        """The kinds of findings that are searched for, by name."""
        return {
            name: kind
            for name, kind in KINDS.items()
            if not self.only or {name, kind["severity"]} & {*self.only}
            if kind["group"] != "model" or self.embedding is not None
        }

    def check(self) -> None:
        """Raise OptionError for kinds that can have no findings."""
        self._check_searched("only", self.only)
        if self.language and "," in self.language:
            raise OptionError(f"`language` {self.language} is not one code, such as en")

    def _check_searched(self, option: str, names: Sequence[str]) -> None:
        """Raise OptionError if a kind or severity that an option names is not searched for."""
        searched = {*self.kinds, *(kind["severity"] for kind in self.kinds.values())}
        if left := [name for name in names if name not in searched]:
            why = "is not searched for; change `only` or add `embedding`"
            raise OptionError(f"`{option}` names {left[0]}, which {why}")


@dataclass(frozen=True, slots=True)
class AuditCommandOptions(AuditOptions):
    """The options of ``medsim audit`` on the command line, which Python does not need all."""

    _: KW_ONLY
    fail_on: Sequence[str] = main_field(
        (),
        "Kinds or severities, as in --only, whose findings set exit code 3; with --since only new "
        "findings.",
        listed=True,
        lower=True,
        choices=_CHOICES,
        noun="kind of finding",
        metavar="KIND,...",
    )

    def check(self) -> None:
        """Raise OptionError for kinds that are unknown or can have no findings."""
        AuditOptions.check(self)
        self._check_searched("fail_on", self.fail_on)
