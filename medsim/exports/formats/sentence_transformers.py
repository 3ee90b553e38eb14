"""Training data for sentence-transformers: pairs, labelled pairs, and tuples with negatives."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.cards import front_matter, licence_of
from medsim.core.kinds import Column, Table
from medsim.core.manifest import medsim_version
from medsim.core.parquet import write_batches
from medsim.exports.formats import ANCHOR_NOTE, DRAWN, FORMATS, SPLIT_NOTE, ExportFormat, shards
from medsim.exports.hard_negatives import OPTIONS_OF_TUPLES, tuples_of
from medsim.exports.positives import check_some, exported_pairs, split_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from medsim.core.manifest import Skipped
    from medsim.exports.formats import Export
    from medsim.exports.positives import SplitTerms

    Batches = Callable[[int, int], Iterator[pl.DataFrame]]

_ABOUT = {
    "pair": "terms that mean the same, for losses that take other rows of a batch as negatives.",
    "pair-class": "pairs that mean the same (label 1) and the hard negatives of the build (0).",
    "n-tuple": "terms that mean the same, and terms that are hard to tell from the anchor.",
}
"""The configurations, named as in the data sets that sentence-transformers publishes."""

_PAIR, _LABELLED, _TUPLE = _ABOUT
_ROWS_AT_ONCE = 1 << 16


def write_sentence_transformers(run: Export) -> list[Skipped]:
    """Write a folder a configuration, and README.md; see ``medsim.exports.formats.ExportFormat``.

    Losses take columns by their order, so there are no others. ``load_dataset`` finds the files of
    each configuration and split by the head of README.md.
    """
    skipped: list[Skipped] = []
    folder = _Folder(run)
    for split, build in run.splits.items():
        terms = split_terms(build)
        tuples = tuples_of(run, build, terms)
        skipped += tuples.skipped
        columns = ["anchor", "positive"]
        pairs = partial(_texts, tuples.pairs, terms, columns)
        folder.write((_PAIR, split), columns, tuples.pairs.height, pairs)
        strategy = run.options.negatives or "levenshtein"
        if strategy in build.strategies:
            labelled = exported_pairs(run, build, terms, strategy, least_label=0)
            sentences = ["sentence1", "sentence2", "label"]
            batches = partial(_texts, labelled, terms, sentences)
            folder.write((_LABELLED, split), sentences, labelled.height, batches)
        else:
            run.progress.warn(
                f"{build.folder} has no {strategy} negatives of its own, so {_LABELLED} is left "
                f"out; it has {' and '.join(build.strategies)}, see `negatives`"
            )
        if tuples.n_negatives:
            negatives = [f"negative_{number + 1}" for number in range(tuples.n_negatives)]
            folder.write((_TUPLE, split), [*columns, *negatives], len(tuples.rows), tuples.batches)
    run.output.write_text("README.md", folder.readme(), 0)
    return skipped


def _texts(
    pairs: pl.DataFrame, terms: SplitTerms, columns: Sequence[str], begin: int, end: int
) -> Iterator[pl.DataFrame]:
    """Yield some pairs at a time, with their terms under the names of the first two columns."""
    for rows in pairs[begin:end].iter_slices(_ROWS_AT_ONCE):
        yield rows.with_columns(
            terms.texts.gather(rows["term1_id"]).alias(columns[0]),
            terms.texts.gather(rows["term2_id"]).alias(columns[1]),
        )


class _Folder:
    """The files of one export, which are noted for the head of README.md."""

    def __init__(self, run: Export) -> None:
        self.run = run
        self._splits: dict[str, list[str]] = {}

    def write(
        self, place: tuple[str, str], columns: Sequence[str], n_rows: int, batches: Batches
    ) -> None:
        """Write the rows of one configuration and split, to files of at most a million rows.

        Args:
            place: the names of the configuration and the split.
            columns: in the order in which losses take them.
            n_rows: how many there are.
            batches: yields those from one row to before another, some at a time.
        """
        if not n_rows:  # load_dataset takes no split without rows
            return
        config, split = place
        schema = {name: pl.Int64() if name == "label" else pl.String() for name in columns}
        with self.run.progress.stage(f"write {config} of {split}") as stage:
            for name, begin, end in shards(config, split, n_rows):
                write = partial(write_batches, schema=schema, batches=batches(begin, end))
                self.run.output.write_file(name, write)
            stage.found(f"{n_rows:,} rows")
        self._splits.setdefault(config, []).append(split)

    def readme(self) -> str:
        """Return the head by which ``load_dataset`` finds the files, and a line on each.

        Raises:
            OptionError: there is no file.
        """
        check_some(self.run, len(self._splits))
        source = self.run.exported.manifest.source
        licence = licence_of(source)
        configs = [
            {
                "config_name": config,
                "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in splits],
                **({"default": True} if config == next(reversed(self._splits)) else {}),
            }
            for config, splits in self._splits.items()
        ]
        of, day = source.get("name"), source.get("release_date") or "of no known date"
        return "\n".join(
            (
                front_matter({**licence.metadata(), "configs": configs}),
                *("", f"# Training pairs of {of}", ""),
                f"Made by medsim {medsim_version()} of {of}, release {day}, for",
                "sentence-transformers; `manifest.json` says how.",
                "",
                *(f"- `{config}`: {_ABOUT[config]}" for config in self._splits),
                *("", f"Terms of use: {licence.terms or 'not known'}", ""),
            )
        )


_ANCHOR = Column(pl.String, ANCHOR_NOTE)
_POSITIVE = Column(pl.String, "Term that means the same as the anchor.")
_NEGATIVE = Column(
    pl.String, "Term that does not mean the same, the N-th hard negative.", in_some_files=True
)
_TABLES = {
    _PAIR: Table(
        f"{_PAIR}/SPLIT-*.parquet",
        f"A row per positive. {SPLIT_NOTE}",
        {"anchor": _ANCHOR, "positive": _POSITIVE},
        key=("anchor", "positive"),
        order=DRAWN,
    ),
    _LABELLED: Table(
        f"{_LABELLED}/SPLIT-*.parquet",
        "A row per positive, and per negative that the build itself has of the strategy. "
        f"{SPLIT_NOTE}",
        {
            "sentence1": Column(pl.String, "The first term."),
            "sentence2": Column(pl.String, "The second term."),
            "label": Column(pl.Int64, "1 where the terms mean the same, else 0."),
        },
        key=("sentence1", "sentence2"),
        order=DRAWN,
    ),
    _TUPLE: Table(
        f"{_TUPLE}/SPLIT-*.parquet",
        f"A row per positive that has all its hard negatives. {SPLIT_NOTE}",
        {"anchor": _ANCHOR, "positive": _POSITIVE, "negative_N": _NEGATIVE},
        key=("anchor", "positive"),
        order=DRAWN,
    ),
}

FORMATS.register(
    "sentence-transformers",
    ExportFormat(
        write=write_sentence_transformers,
        next="datasets.load_dataset({out!r}, 'pair') reads pairs in Python",
        accepts=OPTIONS_OF_TUPLES,
        tables=_TABLES,
        others={"README.md": "Head by which datasets finds the files, with terms of use."},
    ),
)
