"""The output of entity linking: its kind, tables and manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.shown import Summary
from medsim.systems.rankings import RANKING_TABLES, RankedOutput

DEPTH = 100
"""The number of names that each search returns."""

_RANK = (
    "Rank of its concept, the first one for composite mentions, among all concepts; null without a "
    f"known concept, or if it has none of the nearest {DEPTH} names."
)
_MODEL = {"model": RANKING_TABLES["results"].columns["model"]}
_TABLES = RANKING_TABLES | declared_tables(
    __package__, model=_MODEL, rank={"rank": Column(pl.Int32, _RANK)}
)
MENTION, LINK = _TABLES["mention"], _TABLES["link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingManifest(RunManifest):
    """The manifest of entity linking.

    Attributes:
        corpora: by name: file, SHA-256, and numbers of documents and mentions.
        terminology: the facts about the terminology.
        dictionary: numbers of names and concepts, the fingerprint of both, and that of the build;
            the latter is None for a source.
        embeddings: by name: path, format, fingerprint and options.
        systems: systems without vectors by name: path, format, and fingerprint or model.
        skipped: items left out of the corpora, with reasons.
    """

    kind: ClassVar[str] = "linking"
    corpora: dict[str, dict[str, object]]
    terminology: dict[str, object]
    dictionary: dict[str, object]
    embeddings: dict[str, dict[str, object]]
    systems: dict[str, dict[str, object]]
    skipped: list[dict[str, object]]


LINKING = Kind(
    noun="linking",
    command="medsim link",
    manifest=LinkingManifest,
    views=_TABLES,
)


class Linking(RankedOutput[LinkingManifest]):
    """Scores of entity linking, as ``medsim link`` writes them; tables are read when needed."""

    kind = LINKING

    def _summary(self) -> Summary:
        facts = [str(self.manifest.terminology["name"]), *self.manifest.corpora]
        return Summary(facts, [".results()", ".mentions()", ".links()"], self.results)

    def mentions(self) -> pl.DataFrame:
        """Return a row per mention: ``MENTION``."""
        return self.read_checked(MENTION.files)

    def links(self) -> pl.DataFrame:
        """Return the rank of each mention's concept by each model: ``LINK``."""
        return self.read_checked(LINK.files)
