"""What the building of a benchmark of words in context is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from medsim.core.config import MOST_SEED
from medsim.core.options import Option, Reporting, Threads
from medsim.terminologies.options import ReadingOptions

BROADER = ("direct", "any")
"""Which concepts are broader than a concept: its parents, or all its ancestors."""

_RECORD = ("language", "as_of", "synonym_scopes", "vocabularies", "broader", "most_train", "seed")


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
        ),
    ]
    out: Annotated[
        str | Path, Option("The folder to write; it appears whole or not at all.", ("--out", "-o"))
    ]
    _: KW_ONLY
    broader: Annotated[
        str,
        Option(
            "Which concepts are broader than another, and so in no instance with it: direct, its "
            "parents, as the paper has it; or any, all its ancestors.",
            lower=True,
            choices=BROADER,
            noun="meaning of broader",
            key="broader",
        ),
    ] = "direct"
    most_train: Annotated[
        int | None,
        Option(
            "Instances of either label that a group has in train at most; all by default.",
            least=1,
            key="most_train",
        ),
    ] = None
    seed: Annotated[int, Option("Of all draws.", least=0, most=MOST_SEED, key="seed")] = 0
    threads: Threads = None
    overwrite: Annotated[bool, Option("Replace an earlier benchmark at OUT.")] = False
    progress: Reporting = None

    def recorded(self) -> dict[str, object]:
        """Return the options that decide the instances, in the order that manifests have."""
        plain = ReadingOptions.recorded(self)
        return {key: plain[key] for key in _RECORD if key in plain}
