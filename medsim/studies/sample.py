"""Draws pairs of every dataset of a build for people to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.builds.datasets import SetKey, set_keys
from medsim.builds.output import PAIR, Build
from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, counted
from medsim.core.opened import reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import progress_of
from medsim.core.terms import lowered
from medsim.kernels.packing import tie_hashes
from medsim.studies.folder import Study, StudyDraft, draw_id, presentations_of, write_study
from medsim.studies.options import SampleOptions, annotators_of
from medsim.studies.output import JUDGED_ITEMS
from medsim.studies.sheets import JUDGEMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLASSES = (1, 0)  # labels
_READ = [name for name in PAIR.dtypes if name != "distance"]


@public(SampleOptions)
def sample_study(options: SampleOptions) -> Study:
    """Return the study of a build that it writes to ``out``.

    Of every dataset as many positives and negatives are drawn, uniformly. No pair is drawn twice,
    in either direction and ignoring case, so datasets that share pairs take turns. All annotators
    judge all pairs, each in an order of its own. Only what lies in ``annotators`` is for them.

    Raises:
        InputError: the folder holds no finished build, or the build has no pairs.
        OptionError: an option is out of range.
        OutputError: ``out`` is taken or cannot be written.
    """
    names = annotators_of(options.annotators, stem="annotator")
    build, progress = Build(folder_of(options.build)), progress_of(options.progress)
    with reading_output(build), progress.stage("draw pairs") as stage:
        items = _drawn_items(build, options.per_class, options.seed)
        stage.found(f"{items.height:,} pairs for each of {len(names)} annotators")
    for warning in _shortfalls(build, items, options.per_class):
        progress.warn(warning)
    with progress.stage("write sheets"):
        content = [(path, one.fingerprint) for path, one in sorted(build.manifest.outputs.items())]
        draft = StudyDraft(
            scale=JUDGEMENT,
            items=items,
            assignment=pl.concat(presentations_of(options.seed, name, items) for name in names),
            notice=_notice(build),
            source={
                "kind": "build",
                "path": str(build.folder),
                "fingerprint": canonical_digest(content),
                "redistributable": build.manifest.source.get("redistributable"),
                "name": build.manifest.source.get("name"),
            },
        )
        return write_study(draft, options, progress)


def drawn_counts(items: pl.DataFrame) -> pl.DataFrame:
    """Return how many pairs of every dataset the items of a study have, in order of name."""
    return (
        items.group_by("dataset", "difficulty", "negatives")
        .agg(
            (pl.col("label") == 1).sum().cast(pl.Int64).alias("n_positives"),
            (pl.col("label") == 0).sum().cast(pl.Int64).alias("n_negatives"),
        )
        .sort("dataset", "difficulty", "negatives")
    )


def _drawn_items(build: Build, per_class: int, seed: int) -> pl.DataFrame:
    """Return ``JUDGED_ITEMS``: the pairs that are drawn, in order of item_id.

    Every class of every dataset has its pairs in an order of its own, and takes its next that no
    other has taken, one at a time in turn; so what datasets share is shared out evenly.
    """
    keys = [key for strategy in build.strategies for key in set_keys(strategy)]
    longest = per_class * len(keys) * len(_CLASSES)  # others can have taken all but per_class
    waiting = [
        (key, label, _ranked(pairs.filter(label=label), key, label, seed, longest))
        for key, pairs in ((key, build.read(key.path, _READ)) for key in keys)
        for label in _CLASSES
    ]
    taken: set[tuple[str, ...]] = set()
    rows = []
    for _ in range(per_class):
        for key, label, ranked in waiting:
            for row in ranked:
                pair = tuple(sorted(lowered((row["term1"], row["term2"]))))
                if pair not in taken:
                    taken.add(pair)
                    item_id = draw_id(seed, "item", row["pair_id"])
                    rows.append({**row, **key.columns(), "label": label, "item_id": item_id})
                    break
    if not rows:
        raise InputError(f"{build.folder} has no pairs to judge")
    return pl.DataFrame(rows, schema=JUDGED_ITEMS.dtypes).sort("item_id")


def _ranked(
    pairs: pl.DataFrame, key: SetKey, label: int, seed: int, longest: int
) -> Iterator[dict[str, Any]]:
    """Return the pairs of a class in the order in which it takes them, no more than it can need."""
    ids = pairs["pair_id"].str.to_integer(base=16, dtype=pl.UInt64).to_numpy()
    of_class = np.uint64(int(draw_id(str(key), label), 16))
    ranks = pl.Series("rank", tie_hashes(np.uint64(seed), of_class, ids))
    return (
        pairs.with_columns(ranks)
        .bottom_k(longest, by="rank")
        .sort("rank")
        .drop("rank")
        .iter_rows(named=True)
    )


def _shortfalls(build: Build, items: pl.DataFrame, per_class: int) -> Iterator[str]:
    """Yield a warning for each dataset that has fewer pairs than were asked for."""
    counts = {"/".join(row[:3]): row[3:] for row in drawn_counts(items).iter_rows()}
    for strategy in build.strategies:
        for key in set_keys(strategy):
            n_positives, n_negatives = counts.get(str(key), (0, 0))
            if min(n_positives, n_negatives) < per_class:
                yield (
                    f"{key} has {counted(n_positives, 'positive')} and "
                    f"{counted(n_negatives, 'negative')} to draw, not {per_class} of each"
                )


def _notice(build: Build) -> str | None:
    source = build.manifest.source
    if source.get("redistributable") is not False:
        return None
    terms = source.get("terms_of_use") or ""
    return (
        f"This holds terms of {source.get('name')}, which must not be passed on unless its licence "
        f"allows it. {terms}"
    ).strip()
