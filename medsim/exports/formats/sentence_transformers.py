"""Training data for sentence-transformers: pairs, labelled pairs, and tuples with negatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, cast

import polars as pl

from medsim.builds.cards import front_matter, licence_of
from medsim.core.config import Strategy
from medsim.core.manifest import medsim_version
from medsim.core.parquet import write_batches
from medsim.core.table_formats import plain_markdown
from medsim.exports.formats import Export, ExportFormat, shards
from medsim.exports.output import TRAINING_TABLES
from medsim.exports.pairs import (
    OPTIONS_OF_TUPLES,
    check_some,
    exported_pairs,
    exported_terms,
    tuples_of,
)

_Batches: TypeAlias = Callable[[int, int], Iterator[pl.DataFrame]]

_ABOUT = {
    "pair": "terms that mean the same, for losses with in-batch negatives.",
    "pair-class": "pairs that mean the same (label 1) and the hard negatives of the build (0).",
    "n-tuple": "terms that mean the same, and terms that are hard to tell from the anchor.",
}
"""The configurations, named as in the datasets that sentence-transformers publishes."""

_PAIR, _LABELLED, _TUPLE = _ABOUT
_ROWS_AT_ONCE = 1 << 16


def write_sentence_transformers(run: Export) -> None:
    """Write a folder per configuration, and README.md; see ``medsim.exports.formats.ExportFormat``.

    Losses use columns by position, so there are no other columns. ``load_dataset`` finds the files
    of each configuration and split in the header of README.md.
    """
    written: dict[str, list[str]] = {}  # splits by configuration

    def write(config: str, split: str, columns: Sequence[str], n_rows: int, rows: _Batches) -> None:
        """Write the rows of a configuration and split; losses use the columns in this order."""
        if not n_rows:  # load_dataset does not accept a split without rows
            return
        schema = {name: pl.Int64() if name == "label" else pl.String() for name in columns}
        with run.progress.stage(f"write {config} of {split}") as stage:
            for name, begin, end in shards(config, split, n_rows):
                batches = partial(write_batches, schema=schema, batches=rows(begin, end))
                run.output.write_file(name, batches)
            stage.note(f"{n_rows:,} rows")
        written.setdefault(config, []).append(split)

    for split, build in run.splits.items():
        terms = exported_terms(run, build)
        tuples = tuples_of(run, build, terms)
        columns = ["anchor", "positive"]
        pairs = partial(_texts, tuples.pairs, terms, columns)
        write(_PAIR, split, columns, tuples.pairs.height, pairs)
        strategy = cast("Strategy", run.options.negatives or "levenshtein")
        if strategy in build.strategies:
            labelled = exported_pairs(run, build, terms, strategy)
            sentences = ["sentence1", "sentence2", "label"]
            rows = partial(_texts, labelled, terms, sentences)
            write(_LABELLED, split, sentences, labelled.height, rows)
        else:
            run.progress.warn(
                f"{build.folder} has no {strategy} negatives, so {_LABELLED} is left out; choose "
                f"`negatives` {' or '.join(build.strategies)}"
            )
        if tuples.names:
            write(_TUPLE, split, [*columns, *tuples.names], len(tuples.rows), tuples.batches)
    check_some(run, len(written))
    run.output.write_text("README.md", _readme(run, written), 0)


def _texts(
    pairs: pl.DataFrame, terms: pl.DataFrame, columns: Sequence[str], begin: int, end: int
) -> Iterator[pl.DataFrame]:
    """Yield pairs in batches, with their terms under the names of the first two columns."""
    for rows in pairs[begin:end].iter_slices(_ROWS_AT_ONCE):
        yield rows.with_columns(
            terms["term"].gather(rows["term1_id"]).alias(columns[0]),
            terms["term"].gather(rows["term2_id"]).alias(columns[1]),
        )


def _readme(run: Export, written: dict[str, list[str]]) -> str:
    """Return the header for ``load_dataset``, and a line about each configuration."""
    source = run.exported.manifest.source
    licence = licence_of(source)
    configs = [
        {
            "config_name": config,
            "data_files": [{"split": split, "path": f"{config}/{split}-*"} for split in splits],
            **({"default": True} if config == next(reversed(written)) else {}),
        }
        for config, splits in written.items()
    ]
    terminology = plain_markdown(str(source.get("name")))
    day = source.get("release_date") or "of no known date"
    return "\n".join(
        (
            front_matter({**licence.metadata(), "configs": configs}),
            *("", f"# Training pairs of {terminology}", ""),
            f"Made by medsim {medsim_version()} of {terminology}, release {day}, for",
            "sentence-transformers; see `manifest.json` for details.",
            "",
            *(f"- `{config}`: {_ABOUT[config]}" for config in written),
            *("", f"Terms of use: {plain_markdown(licence.terms) or 'not known'}", ""),
        )
    )


ExportFormat(
    write=write_sentence_transformers,
    next="datasets.load_dataset({out!r}, 'pair') reads pairs in Python",
    accepts=OPTIONS_OF_TUPLES,
    tables={name: TRAINING_TABLES[name] for name in _ABOUT},
    others={"README.md": "Header for the library datasets, with terms of use."},
).register("sentence-transformers")
