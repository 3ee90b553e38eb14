"""The output of a build: its kind, tables, columns and manifest, and its statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.builds.notes import ABOUT, KEYS, NOTES, ORDER
from medsim.core import queries
from medsim.core.config import DEFAULT_STRATEGIES, DIFFICULTIES, available_threads
from medsim.core.errors import OptionError, counted, listed, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, CanonicalTable, Columns, Kind, View, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from medsim.core.config import Dataset, Difficulty, Strategy
    from medsim.core.manifest import Output
    from medsim.core.shown import Summary

PAIR_COLUMNS: Columns = (
    columns(pl.String, "pair_id", "term1", "term2")
    | {"label": pl.Int8, "distance": pl.Int32}
    | columns(pl.String, "concept1", "concept2")
)
"""The columns of a file of pairs; its folders name those of ``SET_COLUMNS``."""

EMBEDDED_PAIR_COLUMNS: Columns = {**PAIR_COLUMNS, "similarity": pl.Float32}
"""The columns of a file of pairs with embedding negatives.

The similarity is the cosine under the embedding; null where a term has no vector.
"""

SET_COLUMNS: Columns = columns(pl.String, "dataset", "difficulty", "negatives")
"""The columns that name a set, in the order of the folders of its file.

No file of pairs has them: pandas and PyArrow refuse a folder whose files repeat a column that
folders name, as they give it another type.
"""

STATS_COLUMNS: Columns = (
    SET_COLUMNS
    | columns(pl.Int64, "n_positives", "n_negatives", "shortfall", "n_terms")
    | columns(pl.Float64, "mean_distance_positives", "mean_distance_negatives")
    | {"median_distance_negatives": pl.Float64}
    | columns(pl.Int32, "min_distance_negatives", "max_distance_negatives")
)
"""The columns of ``stats.parquet``: sizes, Levenshtein distances in code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildManifest(RunManifest):
    """The manifest of a build.

    Attributes:
        source: the terminology that was read.
        embedding: where the embedding of embedding negatives lay, which decides nothing; None
            where there are none.
        skipped: what was left out.
        components: how many connected components the positives join terms to, and the largest.
        shortfall: negatives that could not be made, in all sets together.
    """

    kind: ClassVar[str] = "build"
    source: dict[str, object]
    embedding: dict[str, str] | None = None
    skipped: list[dict[str, object]]
    components: dict[str, int]
    shortfall: int

    @property
    def tables(self) -> dict[str, Output]:
        """Its files of rows by path: all that it has but its card."""
        return {path: one for path, one in self.outputs.items() if path.endswith(".parquet")}


PAIR_FILES = "pairs/dataset=*/difficulty=*/negatives=*/data.parquet"
"""The paths of the files of pairs in a build."""

TERM_FILE = "terminology/term.parquet"
"""The file of a build with the terms that its pairs may have."""

TERM_COLUMNS: Columns = (
    columns(pl.String, "term", "lower_term")
    | {"component": pl.Int32}
    | columns(pl.String, "difficulty")
)
"""The columns of ``terminology/term.parquet``, a row per term in order of text.

Terms that a chain of positives links have the same component. The difficulty is that of the easiest
positive of the term, whatever its case; null where it is in none.
"""


POSITIVE_COLUMNS: Columns = (
    columns(pl.String, "pair_id", "term1", "term2")
    | {"distance": pl.Int32}
    | columns(pl.String, "difficulty", "concept1", "concept2")
    | {"datasets": pl.List(pl.String)}
)
"""The columns of the view of positives, a row per two terms that mean the same."""


FURTHER: Mapping[str, Columns] = {
    "description": {"preferred": pl.Boolean},
    "pair": {"similarity": pl.Float32},
}
"""The columns that only some files of a view have: of a dialect, of embedding negatives."""

CARD = "README.md"
"""The file that describes the others to people, and to the hub of Hugging Face."""


def _described(name: str, files: str, of_files: Columns, *, optional: bool = False) -> View:
    """Return a view with its descriptions."""
    return View(
        files,
        of_files,
        optional=optional,
        about=ABOUT[name],
        notes=NOTES[name],
        further=FURTHER.get(name, {}),
        key=KEYS[name],
        order=ORDER[name],
    )


BUILD = Kind(
    noun="build",
    command="medsim build",
    manifest=BuildManifest,
    views={
        **{  # builds of earlier versions have no codes
            name: _described(name, f"terminology/{name}.parquet", table, optional=name == "code")
            for name, table in CANONICAL_TABLES.items()
        },
        "term": _described("term", TERM_FILE, TERM_COLUMNS, optional=True),
        "pair": _described("pair", PAIR_FILES, PAIR_COLUMNS),
        "positive": View(
            columns=POSITIVE_COLUMNS,
            query="builds/views/positive",
            about=ABOUT["positive"],
            notes=NOTES["positive"],
            key=KEYS["positive"],
            order=ORDER["positive"],
        ),
        "stats": _described("stats", "stats.parquet", STATS_COLUMNS),
    },
    resumed_by="pairs",
    others={CARD: "Card: what the build is and holds, its limits, licence and citation."},
    recorded={
        "easy_distance": "Largest distance of an easy positive, in code points.",
        "strategies": "Strategies of negatives, in the order in which they were made.",
        "corrections": "Pairs that people judged otherwise, and whether they mean the same.",
        "embedding": "Of embedding negatives: name, fingerprint and options of the embedding.",
        "split": "Of a split: its name, the options of medsim split, and what was split.",
    },
)


class Build(Opened[BuildManifest]):
    """A finished build; what it holds is read when it is asked for."""

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
        calls = ['.pairs("fsn_syn", "hard").collect()', ".stats()", "medsim.evaluate(build, …)"]
        shown = ("dataset", "difficulty", "negatives", "n_positives", "n_negatives")
        return self._summarized(facts, calls, lambda: self.stats().select(shown))

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The strategies of its negatives, in the order in which they were made."""
        named = self.manifest.options.get("strategies")
        return tuple(named) if isinstance(named, list) else DEFAULT_STRATEGIES

    def stats(self) -> pl.DataFrame:
        """Return a row per dataset: sizes, mean distances, shortfalls."""
        return self.read("stats.parquet")

    def pairs(
        self,
        dataset: Dataset | None = None,
        difficulty: Difficulty | None = None,
        negatives: Strategy | None = None,
    ) -> pl.LazyFrame:
        """Return the pairs of one dataset, or of all that fit.

        Args:
            dataset: such as "fsn_syn"; all by default.
            difficulty: "easy" or "hard"; both by default.
            negatives: such as "levenshtein"; all strategies of the build by default. The
                positives are the same.

        Returns:
            The columns of a pairs file, then dataset, difficulty and negatives. Where files with
            embedding negatives are among others, similarity is null in those.

        Raises:
            OptionError: a name is unknown; the message suggests near ones.
        """
        chosen: dict[str, tuple[str | None, Sequence[str]]] = {
            "dataset": (dataset, [known.name for known in queries.datasets()]),
            "difficulty": (difficulty, list(DIFFICULTIES)),
            "negatives": (negatives, list(self.strategies)),
        }
        for column, (value, known) in chosen.items():
            if value is not None and value not in known:
                raise OptionError(unknown_name(column, value, list(known)))
        parts = [f"{column}={value or '*'}" for column, (value, _) in chosen.items()]
        return self._scan(f"pairs/{'/'.join(parts)}/data.parquet")

    def positives(self) -> pl.DataFrame:
        """Return each two terms that mean the same once, whichever datasets have them.

        Files of pairs have a positive once for each strategy of negatives, and in each dataset that
        it is in; here it has one row. Where datasets have it in both directions, the one that is
        smaller by (term1, term2) stays.

        Returns:
            ``POSITIVE_COLUMNS``, the datasets as a list in order of name; rows are in order of
            pair_id, so that the first are a sample of all.
        """
        with self._store(threads=available_threads()) as store:
            return store.select("from positive")

    def table(self, name: CanonicalTable) -> pl.LazyFrame:
        """Return a canonical table: concept, description, association, is_a or code."""
        if isinstance(name, str) and name in BUILD.views and name not in CANONICAL_TABLES:
            known = listed(list(CANONICAL_TABLES))
            raise OptionError(
                f'{name} is a view, not one of the tables {known}; read it as .sql("from {name}")'
            )
        if name not in CANONICAL_TABLES:
            raise OptionError(unknown_name("table", name, list(CANONICAL_TABLES)))
        return self._scan(f"terminology/{name}.parquet")


def open_build(folder: str | Path) -> Build:
    """Return the finished build in a folder."""
    return Build(folder)
