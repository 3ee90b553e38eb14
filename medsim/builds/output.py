"""The output of a build: its kind, tables, columns and manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from medsim.core.config import DIFFICULTIES, DatasetName, Difficulty, Strategy, available_threads
from medsim.core.errors import OptionError, counted, unknown_name
from medsim.core.kinds import CANONICAL_TABLES, CanonicalTable, Column, Kind, Table, both
from medsim.core.manifest import Output, RunManifest
from medsim.core.opened import Opened, show_views
from medsim.core.shown import Summary

if TYPE_CHECKING:
    from medsim.builds.options import SearchOptions

_SET = {
    "dataset": Column(
        pl.String,
        "fsn_syn, syn_syn, same_as, replaced_by or possibly_equivalent_to; in builds in several "
        "languages also cross_language.",
    ),
    "difficulty": Column(
        pl.String, "easy if the positives of the set have a distance of at most 5, else hard."
    ),
    "negatives": Column(pl.String, "Strategy of negatives: random, levenshtein or embedding."),
}
LANGUAGES = ("language1", "language2")
"""The columns of the languages of cross_language."""

_PAIR_ID = Column(
    pl.String,
    "Identifier of the pair, made from its two terms in order: the same in every set, build and "
    "release.",
)
_DISTANCE = Column(pl.Int32, "Levenshtein distance of the lower-cased terms, in code points.")

TERM = Table(
    "terminology/term.parquet",
    "A row per term that can be in a pair of the build, in order of text.",
    {
        "term": Column(pl.String, "The term as the terminology spells it."),
        "lower_term": Column(
            pl.String, "The term in lower case and Unicode's form C (NFC), for comparisons."
        ),
        "component": Column(
            pl.Int32, "Connected component of the positives; no negative joins two of its terms."
        ),
        "difficulty": Column(
            pl.String,
            "easy if a positive of the term, in any case, has a distance of at most 5, else hard; "
            "null if the term is in no positive.",
        ),
    },
    key=("term",),
    order="By term.",
    optional=True,
)
"""The terms that can be in pairs."""

PAIR = Table(
    "pairs/dataset=*/difficulty=*/negatives=*/data.parquet",
    "A row per pair of terms and set. A set is a dataset of one difficulty with negatives of one "
    "strategy; the same positives are in the sets of every strategy.",
    {
        "pair_id": _PAIR_ID,
        "term1": Column(pl.String, "The anchor, for which negatives are chosen."),
        "term2": Column(pl.String, "The second term."),
        "label": Column(pl.Int8, "1 if the terms mean the same (positive), else 0 (negative)."),
        "distance": _DISTANCE,
        "concept1": Column(pl.String, "Concept of term1; a negative has its positive's concept."),
        "concept2": Column(
            pl.String, "Concept of the second term; for a negative, the smallest identifier."
        ),
        "similarity": Column(
            pl.Float32,
            "Cosine of the terms in the embedding that chose the negatives, -1 to 1; null if a "
            "term has no vector, and in sets of other strategies.",
            in_some_files=True,
        ),
        **both(
            "language",
            "Language of the {} term, as a code such as en; null in datasets of one language.",
            partial(Column, pl.String, in_some_files=True),
        ),
        **_SET,
    },
    key=("pair_id",),
    order="Drawn from the seed, so that the first rows are a sample of all.",
)
"""The pairs of all sets; only sets of embedding negatives have the similarity, and only those of
cross_language the languages.

Folders name the set. No file repeats these columns: pandas and PyArrow would refuse the folder.
"""

POSITIVE = Table(
    about="A row per pair of synonyms: one row even if several datasets, strategies and directions "
    "have the pair.",
    columns={
        "pair_id": _PAIR_ID,
        "term1": Column(
            pl.String,
            "The first term. If datasets have the pair in both directions, it is the first in "
            "order of text.",
        ),
        "term2": Column(pl.String, "The second term."),
        "distance": _DISTANCE,
        "difficulty": Column(pl.String, "easy if the distance is at most 5, else hard."),
        "concept1": Column(pl.String, "Concept of the first term; if several, the smallest."),
        "concept2": Column(pl.String, "Concept of the second term."),
        "datasets": Column(pl.List(pl.String), "Datasets with the pair, in either direction."),
    },
    key=("pair_id",),
    order="By pair_id, so that the first rows are a sample of all.",
    query="builds/views/positive",
)
"""Pairs of synonyms, each once."""

STATS = Table(
    "stats.parquet",
    "A row per set: its size and the Levenshtein distances of its pairs.",
    {
        **_SET,
        "n_positives": Column(pl.Int64, "Number of positives."),
        "n_negatives": Column(pl.Int64, "Number of negatives."),
        "shortfall": Column(pl.Int64, "Negatives missing because no allowed term was left."),
        "n_terms": Column(pl.Int64, "Number of different terms in the positives."),
        "mean_distance_positives": Column(
            pl.Float64, "Mean Levenshtein distance of the positives; null if there are none."
        ),
        "mean_distance_negatives": Column(
            pl.Float64, "Mean Levenshtein distance of the negatives; null if there are none."
        ),
        "median_distance_negatives": Column(pl.Float64, "Their median; null if there are none."),
        "min_distance_negatives": Column(pl.Int32, "Their minimum; null if there are none."),
        "max_distance_negatives": Column(pl.Int32, "Their maximum; null if there are none."),
    },
    key=("dataset", "difficulty", "negatives"),
    order="By dataset, difficulty and negatives.",
)
"""The sizes of sets and their Levenshtein distances."""

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


BUILD = Kind(
    noun="build",
    command="medsim build",
    manifest=BuildManifest,
    views={**CANONICAL_TABLES, "term": TERM, "pair": PAIR, "positive": POSITIVE, "stats": STATS},
    resumed_by="pairs",
    others={CARD: "Card: contents, limits, licence and citation of the build."},
    recorded={
        "easy_distance": "Largest distance of an easy positive, in code points.",
        "corrections": "Pairs that people judged differently, and whether they mean the same.",
        "embedding": "Name, fingerprint and options of the embedding of embedding negatives.",
        "split": "For a split: its name, the options of medsim split, and the build.",
    },
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
        calls = ['.pairs("fsn_syn", "hard").collect()', ".stats()", "medsim.evaluate(build, …)"]
        shown = ("dataset", "difficulty", "negatives", "n_positives", "n_negatives")
        return self._summarized(facts, calls, lambda: self.stats().select(shown))

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
        return self._checked(TERM.files)

    def pairs(
        self,
        dataset: DatasetName | None = None,
        difficulty: Difficulty | None = None,
        negatives: Strategy | None = None,
    ) -> pl.LazyFrame:
        """Return the pairs of one dataset, or of several.

        Args:
            dataset: such as "fsn_syn"; all by default.
            difficulty: "easy" or "hard"; both by default.
            negatives: strategy, such as "levenshtein"; by default all strategies of the build.
                The positives are the same.

        Returns:
            The columns of a pairs file, then dataset, difficulty and negatives. If only some of the
            files have embedding negatives, similarity is null in the others.

        Raises:
            OptionError: a name is unknown; the message suggests similar ones.
        """
        from medsim.core import queries  # noqa: PLC0415 — of few commands

        datasets = queries.datasets(len(self.options.languages))
        chosen: dict[str, tuple[str | None, Sequence[str]]] = {
            "dataset": (dataset, [known.name for known in datasets]),
            "difficulty": (difficulty, list(DIFFICULTIES)),
            "negatives": (negatives, list(self.strategies)),
        }
        for column, (value, known) in chosen.items():
            if value is not None and value not in known:
                raise OptionError(unknown_name(column, value, list(known)))
        parts = [f"{column}={value or '*'}" for column, (value, _) in chosen.items()]
        return self._scan(f"pairs/{'/'.join(parts)}/data.parquet")

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
        if name not in CANONICAL_TABLES:
            raise OptionError(unknown_name("table", name, list(CANONICAL_TABLES)))
        return self._scan(f"terminology/{name}.parquet")


def open_build(folder: str | Path) -> Build:
    """Return the finished build in a folder."""
    return Build(folder)
