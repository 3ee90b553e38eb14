"""Folders that ``datasets`` of Hugging Face reads, and its hub publishes, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.cards import ALL_PAIRS, Card, Config, options_of_splits, set_config
from medsim.builds.datasets import set_keys
from medsim.builds.output import CARD
from medsim.core.errors import OptionError
from medsim.core.manifest import medsim_version
from medsim.core.parquet import write_lazily
from medsim.exports.formats import FORMATS, HUGGINGFACE, ExportFormat, check_passed_on, shards
from medsim.exports.formats.huggingface import CROISSANT, croissant
from medsim.splits.output import Splits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from medsim.builds.datasets import SetKey
    from medsim.builds.output import Build
    from medsim.core.manifest import Skipped
    from medsim.exports.formats import Export

POSITIVES = "positives"
"""The configuration that has each positive once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table of builds that becomes a configuration: a set where it has a key."""

    name: str
    about: str
    view: str = "pair"
    key: SetKey | None = None

    def rows(self, build: Build) -> pl.LazyFrame:
        """Return its rows of a build."""
        if self.view == "positive":
            return build.positives().lazy()
        names = {} if self.key is None else self.key.columns()
        return build.pairs(**names)  # type: ignore[arg-type]  # names of the registered sets


def write_dataset(run: Export) -> list[Skipped]:
    """Write Parquet by configuration and split, a card, and a description in Croissant.

    Raises:
        OptionError: the content may not be passed on, or it is not known whether it may, and
            ``private`` is not set; or there are no pairs.
    """
    build = next(iter(run.splits.values()))
    source, options = build.manifest.source, dict(build.manifest.options)
    if isinstance(run.exported, Splits):
        builds = [one.manifest for one in run.splits.values()]
        options = options_of_splits(builds, run.exported.manifest.options)
    check_passed_on(source, private=run.options.private)
    configs = []
    for table in _tables(build):
        with run.progress.stage(f"write {table.name}") as stage:
            config = _written(run, table)
            stage.found(f"{sum(config.rows.values()):,} rows")
        configs += [config] if config.rows else []
    if not configs:
        raise OptionError(f"{run.exported.folder} has no pairs to export; make a larger build")
    card = Card(
        source=source,
        options=options,
        medsim=medsim_version(),
        configs=configs,
        private=run.options.private,
    )
    run.output.write_text(CROISSANT, croissant(card, run.output), 0)
    run.output.write_text(CARD, card.text(), 0)
    return []


def _tables(build: Build) -> Iterator[_Table]:
    """Yield the tables that become configurations, the default first."""
    yield _Table(name=ALL_PAIRS, about="The pairs of all sets.")
    about = "Each positive once, whatever the sets that have it."
    yield _Table(name=POSITIVES, about=about, view="positive")
    for strategy in build.strategies:
        for key in set_keys(strategy):
            name, about = set_config(key)
            yield _Table(name=name, about=about, key=key)


def _written(run: Export, table: _Table) -> Config:
    """Write the files of a table, none of a split that has no rows of it."""
    files: dict[str, list[str]] = {}
    n_rows: dict[str, int] = {}
    columns: pl.Schema = pl.Schema()
    for split, build in run.splits.items():
        rows = table.rows(build)
        columns = rows.collect_schema()
        count = int(rows.select(pl.len()).collect().item())
        for name, begin, end in shards(table.name, split, count):
            run.output.write_file(name, _writer(build, rows.slice(begin, end - begin)))
            files.setdefault(split, []).append(name)
        if count:
            n_rows[split] = count
    return Config(
        name=table.name,
        about=table.about,
        view=table.view,
        columns={**columns},
        files=files,
        rows=n_rows,
    )


def _writer(build: Build, rows: pl.LazyFrame) -> Callable[[Path], int]:
    """Return a function that writes rows to a file as they come, and counts them."""
    source = build.manifest.source
    metadata = {name: str(source.get(name)) for name in ("name", "release_date", "terms_of_use")}
    return lambda path: write_lazily(rows, path, metadata)


FORMATS.register(
    "huggingface",
    ExportFormat(
        write=write_dataset,
        next="datasets.load_dataset({out!r}) reads it in Python",
        accepts=frozenset({"private"}),
        tables=HUGGINGFACE,
        others={
            CARD: "Card, as that of a build.",
            CROISSANT: "Description in Croissant, with the columns of every table.",
        },
    ),
)
