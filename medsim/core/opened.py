"""Finished outputs, opened for reading."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import queries
from medsim.core.config import DEFAULT_STRATEGIES, DIFFICULTIES, checked_threads
from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.manifest import (
    BUILD,
    EVALUATION,
    MANIFEST,
    NAMED,
    WIC,
    WIC_EVALUATION,
    EvaluationManifest,
    Manifest,
    fingerprint,
    kind_of,
    read_manifest,
)
from medsim.core.schema import CANONICAL_TABLES
from medsim.core.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAIR_FILES = "pairs/dataset=*/difficulty=*/negatives=*/data.parquet"
"""Where the files of pairs lie in a build."""

VIEWS = {
    **{table: f"terminology/{table}.parquet" for table in CANONICAL_TABLES},
    "term": "terminology/term.parquet",
    "pair": PAIR_FILES,
    "stats": "stats.parquet",
}
"""The views of a build that SQL statements see, and the files that they read."""

EVALUATION_VIEWS = {
    "results": "results.parquet",
    "comparisons": "comparisons.parquet",
    "coverage": "coverage.parquet",
    "overlap": "overlap.parquet",
    "pair": "pairs/input=*/data.parquet",
    "term": "coverage/input=*/embedding=*/terms.parquet",
    "word": "coverage/input=*/embedding=*/words.parquet",
    "retrieval": "retrieval.parquet",
    "retrieved": "retrieval/input=*/embedding=*/metric=*/index=*/data.parquet",
    "separation": "separation.parquet",
    "score": "scores/input=*/embedding=*/metric=*/data.parquet",
}
"""The views of an evaluation that SQL statements see, if it has the files that they read."""

WIC_VIEWS = {
    "instance": "instances.parquet",
    "mention": "mentions.parquet",
    "name": "relations/name.parquet",
    "related": "relations/related.parquet",
    "statistics": "statistics.parquet",
}
"""The views of a benchmark of words in context that SQL statements see."""

WIC_EVALUATION_VIEWS = {
    "results": "results.parquet",
    "comparisons": "comparisons.parquet",
    "predictions": "predictions.parquet",
}
"""The views of an evaluation of words in context that SQL statements see."""


class Opened:
    """A finished output; what it holds is read when it is asked for.

    Args:
        folder: where it lies.
        views: the files of each view that SQL statements see.

    Attributes:
        folder: where it lies.
    """

    def __init__(self, folder: str | Path, views: Mapping[str, str]) -> None:
        self.folder = Path(folder)
        self._views = views

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.folder)!r})"

    def read(self, path: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows of one file, without the columns that folders name.

        Args:
            path: inside the folder, as the manifest has it.
            columns: those that are read; all by default.

        Raises:
            InputError: it cannot be read.
        """
        try:
            return pl.read_parquet(
                self.folder / path,
                columns=None if columns is None else list(columns),
                hive_partitioning=False,
                glob=False,
            )
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _unreadable(self.folder / path, error) from error

    def sql(self, statement: str, *, threads: int | None = None) -> pl.DataFrame:
        """Return the rows of one read-only SQL statement.

        It sees the views that ``views`` lists and nothing else: no other files, no network.

        Raises:
            StatementError: it is no single select, or cannot be run.
        """
        with self._store(checked_threads(threads)) as store:
            return store.select(statement)

    def views(self) -> pl.DataFrame:
        """Return the views that statements see: their columns and numbers of rows."""
        with self._store(1) as store:
            rows = [_describe(store, view) for view in self._views]
        return pl.DataFrame(rows, schema=["view", "rows", "columns"], orient="row")

    def _store(self, threads: int) -> Store:
        store = Store(threads=threads)
        folder = self.folder.resolve()
        store.view_parquet(folder, self._views)
        store.lock_down(folder)
        return store

    def _scan(self, files: str) -> pl.LazyFrame:
        try:
            return pl.scan_parquet(
                f"{glob.escape(str(self.folder))}/{files}",
                hive_partitioning="=" in files,
                try_parse_hive_dates=False,
                missing_columns="insert",  # those of the first file: embedding negatives' is first
            )
        except (OSError, pl.exceptions.PolarsError) as error:
            raise _unreadable(self.folder / files, error) from error


class Build(Opened):
    """A finished build; what it holds is read when it is asked for.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds no finished build.

    Attributes:
        folder: where it lies.
        manifest: what it says of itself.
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder, views_of(Path(folder)))
        self.manifest: Manifest = read_manifest(self.folder, Manifest)

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies of its negatives, in the order in which they were made."""
        named = self.manifest.options.get("strategies")
        return tuple(named) if isinstance(named, list) else DEFAULT_STRATEGIES

    def stats(self) -> pl.DataFrame:
        """Return a row per dataset: sizes, mean distances, shortfalls."""
        return self.read("stats.parquet")

    def pairs(
        self,
        dataset: str | None = None,
        difficulty: str | None = None,
        negatives: str | None = None,
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
        chosen = {
            "dataset": (dataset, [known.name for known in queries.datasets()]),
            "difficulty": (difficulty, list(DIFFICULTIES)),
            "negatives": (negatives, list(self.strategies)),
        }
        for column, (value, known) in chosen.items():
            if value is not None and value not in known:
                raise OptionError(unknown_name(column, value, known))
        parts = [f"{column}={value or '*'}" for column, (value, _) in chosen.items()]
        return self._scan(f"pairs/{'/'.join(parts)}/data.parquet")

    def table(self, name: str) -> pl.LazyFrame:
        """Return a canonical table: concept, description, association, is_a or code.

        Raises:
            OptionError: there is no such table.
        """
        if name not in CANONICAL_TABLES:
            raise OptionError(unknown_name("table", name, list(CANONICAL_TABLES)))
        return self._scan(f"terminology/{name}.parquet")


class Evaluation(Opened):
    """A finished evaluation; what it holds is read when it is asked for.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds no finished evaluation.

    Attributes:
        folder: where it lies.
        manifest: what it says of itself.
    """

    def __init__(self, folder: str | Path) -> None:
        there = {view: files for view, files in EVALUATION_VIEWS.items() if _any(folder, files)}
        super().__init__(folder, there)
        self.manifest: EvaluationManifest = read_manifest(self.folder, EvaluationManifest)

    def results(self) -> pl.DataFrame:
        """Return a row per input, dataset, subset, embedding, metric and statistic."""
        return self._table("results.parquet")

    def comparisons(self) -> pl.DataFrame:
        """Return a row per two embeddings, or two metrics of one, that a test compared."""
        return self._table("comparisons.parquet")

    def coverage(self) -> pl.DataFrame:
        """Return a row per dataset and embedding: terms and pairs without vectors."""
        return self._table("coverage.parquet")

    def overlap(self) -> pl.DataFrame:
        """Return a row per two embeddings: how many words of the terms both have."""
        return self._table("overlap.parquet")

    def retrieval(self) -> pl.DataFrame:
        """Return a row per input, embedding, subset, difficulty, length and statistic."""
        return self._table("retrieval.parquet")

    def separation(self) -> pl.DataFrame:
        """Return a row per input, embedding, metric and two categories."""
        return self._table("separation.parquet")

    def retrieved(self) -> pl.LazyFrame:
        """Return what every embedding found for each term that is linked to another."""
        return self._scan(EVALUATION_VIEWS["retrieved"])

    def pairs(self) -> pl.LazyFrame:
        """Return the pairs of all inputs, a row per pair of a dataset."""
        return self._scan(EVALUATION_VIEWS["pair"])

    def scores(self) -> pl.LazyFrame:
        """Return the similarity of every pair under every embedding and metric."""
        return self._scan(EVALUATION_VIEWS["score"])

    def _table(self, path: str) -> pl.DataFrame:
        """Return the rows of a file, which must be those that the manifest tells of.

        Raises:
            InputError: there is no such file, or it holds other rows.
        """
        known = self.manifest.outputs.get(path)
        if known is None:
            raise InputError(f"{self.folder} has no {path}; run medsim eval again to add it")
        frame = self.read(path)
        if fingerprint(frame) != known.fingerprint:
            raise InputError(
                f"{self.folder / path} does not hold the rows that its manifest tells of; run "
                "medsim eval again to make it anew"
            )
        return frame


def open_build(folder: str | Path) -> Build:
    """Return the finished build in a folder.

    Raises:
        InputError: the folder holds none.
    """
    return Build(folder)


def open_output(folder: str | Path) -> Build | Evaluation:
    """Return the finished build or evaluation in a folder.

    Raises:
        InputError: the folder holds neither.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; name that of a build or of an evaluation")
    if not (place / MANIFEST).exists():
        raise InputError(
            f"{place} has no {MANIFEST}: it is no finished build or evaluation; make one with "
            "medsim build or medsim eval"
        )
    kind = kind_of(place)
    if kind in NAMED and kind not in {BUILD, EVALUATION}:
        raise InputError(f"{place} is {NAMED[kind]}, not a build or an evaluation")
    return Evaluation(folder) if kind == EVALUATION else Build(folder)


def open_views(folder: str | Path) -> Opened:
    """Return a finished output of any kind that SQL statements can see.

    Raises:
        InputError: the folder holds none.
    """
    views = {WIC: WIC_VIEWS, WIC_EVALUATION: WIC_EVALUATION_VIEWS}.get(kind_of(Path(folder)) or "")
    return open_output(folder) if views is None else Opened(folder, views)


def views_of(folder: Path) -> dict[str, str]:
    """Return the views of the build in a folder; builds of earlier versions lack the later ones."""
    missing = {view for view in ("code", "term") if not (folder / VIEWS[view]).exists()}
    return {view: files for view, files in VIEWS.items() if view not in missing}


def _unreadable(path: Path, error: Exception) -> InputError:
    """Return what to say of a file that cannot be read: the first line of the library's words."""
    said = str(error).strip().splitlines()
    return InputError(f"{path} cannot be read ({said[0] if said else type(error).__name__})")


def _any(folder: str | Path, files: str) -> bool:
    """Return whether a folder has files of a pattern."""
    return next(Path(folder).glob(files), None) is not None


def _describe(store: Store, view: str) -> tuple[str, int, str]:
    columns: Sequence[tuple[str, str]] = (
        store.select(f"describe {view}").select("column_name", "column_type").rows()
    )
    n_rows = int(store.select(f"from {view} select count(*)").item())
    return view, n_rows, ", ".join(f"{name} {kind.lower()}" for name, kind in columns)
