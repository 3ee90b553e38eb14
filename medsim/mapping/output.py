"""The output of ``medsim map``: its kind, tables and manifest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import polars as pl

from medsim.core.errors import counted
from medsim.core.kinds import Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.shown import Summary
from medsim.systems.rankings import RANKING_TABLES, RankedOutput

_TABLES = declared_tables(__package__, model={"model": RANKING_TABLES["results"].columns["model"]})
_TABLES |= {name: replace(table, optional=True) for name, table in RANKING_TABLES.items()}
LOCAL, CANDIDATE, MAPPING, OPEN_DECISION, STANDARD_NAME = (
    _TABLES[name] for name in ("local", "candidate", "mapping", "open_decision", "standard_name")
)

_BANDS = (0.95, 0.8, 0.5, 0.0)


def at_least(probability: pl.Expr) -> pl.Expr:
    """Return the lower bound of the band of a probability."""
    return pl.coalesce(pl.when(probability >= least).then(least) for least in _BANDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingManifest(RunManifest):
    """The manifest of a mapping.

    Attributes:
        local: the facts about the local names.
        standard: the facts about the standard.
        embeddings: by name: path, format, fingerprint and options.
        decisions: the files of decisions: name and SHA-256.
        gold: the gold mapping: path, format and fingerprint; None without one.
        systems: the scored systems by name: path, format and fingerprint.
    """

    kind: ClassVar[str] = "mapping"
    local: dict[str, object]
    standard: dict[str, object]
    embeddings: dict[str, dict[str, object]]
    decisions: list[dict[str, str]]
    gold: dict[str, object] | None
    systems: dict[str, dict[str, object]]


NAME_MAPPING = Kind(
    noun="mapping",
    command="medsim map",
    manifest=MappingManifest,
    views=_TABLES,
)


class NameMapping(RankedOutput[MappingManifest]):
    """A finished mapping; its tables are read when needed."""

    kind = NAME_MAPPING

    def _summary(self) -> Summary:
        n_codes = counted(self._rows_below("local.parquet"), "code")
        facts = [str(self.manifest.standard["name"]), n_codes]
        calls = [".counts()", ".candidates()", ".mappings()"]
        return Summary(facts, calls, self.counts)

    def local(self) -> pl.DataFrame:
        """Return a row per local code: ``LOCAL``."""
        return self.read_checked(LOCAL.files)

    def candidates(self) -> pl.DataFrame:
        """Return a row per local code and candidate: ``CANDIDATE``."""
        return self.read_checked(CANDIDATE.files)

    def mappings(self) -> pl.DataFrame:
        """Return a row per local code and concept that it is mapped to: ``MAPPING``."""
        return self.read_checked(MAPPING.files)

    def open_decisions(self) -> pl.DataFrame:
        """Return a row per decision that does not hold: ``OPEN_DECISION``."""
        return self.read_checked(OPEN_DECISION.files)

    def standard_names(self) -> pl.DataFrame:
        """Return a row per name of a concept of the standard: ``STANDARD_NAME``."""
        return self.read_checked(STANDARD_NAME.files)

    @property
    def is_scored(self) -> bool:
        """Whether it was scored against a gold mapping."""
        return self.manifest.gold is not None

    def scored(self) -> pl.DataFrame:
        """Return a row per model and code of the gold mapping; none without a gold mapping."""
        return self._scored("scored")

    def counts(self) -> pl.DataFrame:
        """Return the number of codes by status, those undecided by probability.

        Returns:
            status; at_least, the probability of the first candidate, null if decided; codes; and
            expected_right, the sum of the probabilities.
        """
        probability, asked = (
            pl.col("probability").fill_null(0),
            pl.col("status").is_in(["undecided", "accepted"]),
        )
        counted_codes = (
            self.local()
            .group_by("status", at_least=pl.when(asked).then(at_least(probability)))
            .agg(
                codes=pl.len().cast(pl.Int64),
                expected_right=pl.when(asked.first()).then(probability.sum().round(2)),
            )
        )
        return counted_codes.sort("status", "at_least", descending=[False, True])
