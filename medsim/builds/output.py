"""The output of a build: its kind, tables and manifest.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from medsim.core.config import DIFFICULTIES, DatasetName, Difficulty, Strategy, available_threads
from medsim.core.errors import OptionError, check_known, counted
from medsim.core.kinds import CANONICAL_TABLES, CanonicalTable, Kind, declared_tables
from medsim.core.manifest import Output, RunManifest, combined
from medsim.core.opened import Opened, show_views
from medsim.core.options import several
from medsim.core.shown import Summary

if TYPE_CHECKING:
    import polars as pl

    from medsim.builds.options import SearchOptions

LANGUAGES = ("language1", "language2")
"""The columns of the languages of cross_language."""

_TABLES = declared_tables(__package__)
TERM, PAIR = _TABLES["term"], _TABLES["pair"]
POSITIVE, STATS = _TABLES["positive"], _TABLES["stats"]

CARD = "README.md"
"""The card, which describes the files to people and to Hugging Face's hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildManifest(RunManifest):
    """The manifest of a build.

    Attributes:
        source: the terminology that was read.
        embedding: path of the embedding of embedding negatives; None if there are none. The path
            does not affect the content.
        skipped: rows that were left out.
        components: number of connected components of terms, and the size of the largest.
        shortfall: number of negatives that could not be made, in all sets together.
    """

    kind: ClassVar[str] = "build"
    source: dict[str, object]
    embedding: dict[str, str] | None = None
    skipped: list[dict[str, object]]
    components: dict[str, int]
    shortfall: int

    @property
    def tables(self) -> dict[str, Output]:
        """The files of rows by path: all files except the card."""
        return {path: output for path, output in self.outputs.items() if path.endswith(".parquet")}

    @property
    def digest(self) -> str:
        """A SHA-256 of the fingerprints of its files of rows."""
        return combined(self.tables).fingerprint

    def may_match(self, other: BuildManifest) -> bool:
        """Return whether another build may have the same terminology and language.

        If one of the builds does not know its terminology or language, it may be the same.
        """
        facts = (
            (build.source.get("vocabulary"), build.options.get("language"))
            for build in (self, other)
        )
        return all(None in both or both[0] == both[1] for both in zip(*facts, strict=True))


BUILD = Kind(
    noun="build",
    command="medsim build",
    manifest=BuildManifest,
    views={**CANONICAL_TABLES, "term": TERM, "pair": PAIR, "positive": POSITIVE, "stats": STATS},
    resumed_by="pairs",
)


class Build(Opened[BuildManifest]):
    """A finished build; its content is read when needed."""

    kind = BUILD

    def _summary(self) -> Summary:
        source = self.manifest.source
        sets = [path for path in self.manifest.outputs if path.startswith("pairs/")]
        facts = [
            f"{source.get('name')} of {source.get('release_date') or 'no known date'}",
            counted(len(sets), "set"),
            counted(self._rows_below("pairs/"), "pair"),
            f"negatives {', '.join(self.strategies)}",
        ]
        calls = ['.pairs("fsn_syn", "hard")', ".stats()", "medsim.evaluate(build, …)"]
        shown = ("dataset", "difficulty", "negatives", "n_positives", "n_negatives")
        return Summary(facts, calls, lambda: self.stats().select(shown))

    @property
    def options(self) -> SearchOptions:
        """The options that decided its rows, from its manifest."""
        from medsim.builds.options import SearchOptions, corrections_in  # noqa: PLC0415 — of few commands

        record = self.manifest.options
        return SearchOptions.from_record(record, corrections=corrections_in(record))

    @property
    def strategies(self) -> Sequence[Strategy]:
        """The strategies of its negatives, in the order in which they were made."""
        return self.options.negatives

    def stats(self) -> pl.DataFrame:
        """Return a row per dataset: sizes, mean distances, shortfalls."""
        return self.read(STATS.files)

    def terms(self) -> pl.DataFrame:
        """Return the terms that its pairs can have, the rows of ``TERM``."""
        return self.read_checked(TERM.files)

    @overload
    def pairs(
        self,
        dataset: DatasetName | Sequence[DatasetName] | None = None,
        difficulty: Difficulty | Sequence[Difficulty] | None = None,
        negatives: Strategy | Sequence[Strategy] | None = None,
        *,
        lazy: Literal[False] = False,
    ) -> pl.DataFrame: ...

    @overload
    def pairs(
        self,
        dataset: DatasetName | Sequence[DatasetName] | None = None,
        difficulty: Difficulty | Sequence[Difficulty] | None = None,
        negatives: Strategy | Sequence[Strategy] | None = None,
        *,
        lazy: Literal[True],
    ) -> pl.LazyFrame: ...

    def pairs(
        self,
        dataset: DatasetName | Sequence[DatasetName] | None = None,
        difficulty: Difficulty | Sequence[Difficulty] | None = None,
        negatives: Strategy | Sequence[Strategy] | None = None,
        *,
        lazy: bool = False,
    ) -> pl.DataFrame | pl.LazyFrame:
        """Return the pairs of one dataset, or of several.

        Args:
            dataset: such as "fsn_syn", or a list of datasets; all by default.
            difficulty: "easy" or "hard"; both by default.
            negatives: strategy, such as "levenshtein", or a list; by default all strategies of the
                build. The positives are the same.
            lazy: whether to return a plan instead of rows, for builds that do not fit in memory.

        Returns:
            The columns of a pairs file, then dataset, difficulty and negatives. If only some of the
            files have embedding negatives, similarity is null in the others.

        Raises:
            OptionError: a name is unknown; the message suggests similar ones.
        """
        from medsim.core import queries  # noqa: PLC0415 — of few commands

        datasets = queries.datasets(len(self.options.languages), hierarchy=self.options.hierarchy)
        chosen: dict[str, tuple[Any, Sequence[str]]] = {
            "dataset": (dataset, [known.name for known in datasets]),
            "difficulty": (difficulty, list(DIFFICULTIES)),
            "negatives": (negatives, list(self.strategies)),
        }
        parts = []
        for column, (values, known) in chosen.items():
            if values is not None and not several(values):
                raise OptionError(f"`{column}` is empty; leave it out for all")
            check_known(column, known, *several(values or ()))
            parts.append(several(values or "*"))
        rows = self._scan(*(PAIR.path(*chosen_set) for chosen_set in product(*parts)))
        return rows if lazy else rows.collect()

    def positives(self) -> pl.DataFrame:
        """Return each pair of synonyms once, for all datasets.

        Files of pairs repeat a positive for each strategy of negatives and each dataset; here it
        has one row. If datasets have it in both directions, the smaller (term1, term2) is kept.

        Returns:
            The columns of ``POSITIVE``, with the datasets as a list in order of name; rows are in
            order of pair_id, so the first rows are a sample of all.
        """
        from medsim.core.store import Store  # noqa: PLC0415 — DuckDB, which most commands spare

        with Store(threads=available_threads()) as store:
            show_views(self, store)
            return store.select("from positive")

    def table(self, name: CanonicalTable) -> pl.LazyFrame:
        """Return a canonical table: concept, description, association, is_a or code."""
        check_known("table", CANONICAL_TABLES, name)
        return self._scan(f"terminology/{name}.parquet")


def open_build(folder: str | Path) -> Build:
    """Return the finished build in a folder."""
    return Build(folder)
