"""Draws pairs of every dataset of a build for people to judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.datasets import SetKey, set_keys
from medsim.builds.output import PAIR_COLUMNS, Build
from medsim.core.canonical import canonical_digest
from medsim.core.config import check_seed
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.core.terms import lowered
from medsim.kernels.hashing import tie_hashes
from medsim.studies.annotators import annotators_of
from medsim.studies.folder import Study, StudyDraft, write_study
from medsim.studies.instructions import instructions_of
from medsim.studies.output import JUDGED_ITEM_COLUMNS
from medsim.studies.sheets import JUDGEMENT
from medsim.studies.showings import drawn, items_of, showings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PER_CLASS = 30
"""How many positives and negatives of a dataset are judged (Schulz and Juric 2020, section 3.3)."""

_MOST_PER_CLASS = 10_000
_CLASSES = (1, 0)  # labels
_READ = [name for name in PAIR_COLUMNS if name != "distance"]


def sample_study(  # noqa: PLR0913 — an argument an option
    build: str | Path | Build,
    out: str | Path,
    *,
    per_class: int = PER_CLASS,
    annotators: int | str | Sequence[str] = 3,
    title: str = "Do these terms mean the same?",
    instructions: str | Path | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Return the study of a build that it writes to ``out``.

    Of every dataset as many positives and negatives are drawn, uniformly. No pair is drawn twice,
    in either direction and ignoring case, so datasets that share pairs take turns. All annotators
    judge all pairs, each in an order of its own.

    Args:
        build: opened, or its folder.
        out: the folder to write; only what lies in ``annotators`` is for annotators.
        per_class: how many positives, and how many negatives, of each dataset.
        annotators: how many, or their names.
        title: that annotators see.
        instructions: a text file for annotators to read first, paragraphs being parted by empty
            lines; by default what the pairs are to be judged by is said in a few sentences.
        seed: of what is drawn and of its order.
        overwrite: whether an earlier study at ``out`` may be replaced, and its answers be lost.
        progress: told of every stage; silent by default.

    Raises:
        InputError: the folder holds no finished build, or the build has no pairs.
        OptionError: an option is out of range.
        OutputError: ``out`` is taken or cannot be written.
    """
    check_seed(seed)
    if not 1 <= per_class <= _MOST_PER_CLASS:
        raise OptionError(
            f"--per-class {per_class} is out of range; 1 to {_MOST_PER_CLASS:,} are accepted"
        )
    names = annotators_of(annotators, stem="annotator")
    told = instructions_of(JUDGEMENT, instructions)
    opened = build if isinstance(build, Build) else Build(build)
    progress = progress or Progress()
    with progress.stage("draw pairs") as stage:
        items = _drawn_items(opened, per_class, seed)
        stage.found(f"{items.height:,} pairs for each of {len(names)} annotators")
    for warning in _shortfalls(opened, items, per_class):
        progress.warn(warning)
    with progress.stage("write sheets"):
        draft = StudyDraft(
            title=title,
            scale=JUDGEMENT,
            items=items,
            assignment=_assignment(items, names, seed),
            instructions=told,
            notice=_notice(opened),
            source=_provenance(opened),
            options={"per_class": per_class, "seed": seed},
            warnings=progress.warnings,
        )
        return write_study(draft, Path(out), overwrite=overwrite)


def _drawn_items(build: Build, per_class: int, seed: int) -> pl.DataFrame:
    """Return ``JUDGED_ITEM_COLUMNS``: the pairs that are drawn, in order of item_id.

    Every class of every dataset has its pairs in an order of its own, and takes its next that no
    other has taken, one at a time in turn; so what datasets share is shared out evenly.
    """
    keys = [key for strategy in build.strategies for key in set_keys(strategy)]
    n_classes = len(keys) * len(_CLASSES)
    longest = per_class * n_classes  # of which others can have taken all but per_class
    waiting = [
        (key, label, _ranked(pairs.filter(label=label), key, label, seed, longest))
        for key, pairs in ((key, build.read(key.path, _READ)) for key in keys)
        for label in _CLASSES
    ]
    taken: set[tuple[str, ...]] = set()
    rows = []
    for _ in range(per_class):
        for key, label, ranked in waiting:
            row = _next(ranked, taken)
            if row is not None:
                item_id = drawn(seed, "item", row["pair_id"])
                rows.append({**row, **key.columns(), "label": label, "item_id": item_id})
    if not rows:
        raise InputError(f"{build.folder} has no pairs to judge")
    return pl.DataFrame(rows, schema=JUDGED_ITEM_COLUMNS).sort("item_id")


def _next(
    ranked: Iterator[dict[str, object]], taken: set[tuple[str, ...]]
) -> dict[str, object] | None:
    """Return the next pair that is not taken, and take it; None where there is no more."""
    for row in ranked:
        pair = tuple(sorted(lowered((str(row["term1"]), str(row["term2"])))))
        if pair not in taken:
            taken.add(pair)
            return row
    return None


def _ranked(
    pairs: pl.DataFrame, key: SetKey, label: int, seed: int, longest: int
) -> Iterator[dict[str, object]]:
    """Return the pairs of a class in the order in which it takes them, no more than it can need."""
    ids = pairs["pair_id"].str.to_integer(base=16, dtype=pl.UInt64).to_numpy()
    of_class = np.uint64(int(drawn(str(key), label), 16))
    ranks = pl.Series("rank", tie_hashes(np.uint64(seed), of_class, ids))
    return (
        pairs.with_columns(ranks)
        .bottom_k(longest, by="rank")
        .sort("rank")
        .drop("rank")
        .iter_rows(named=True)
    )


def drawn_counts(study: Study) -> pl.DataFrame:
    """Return how many pairs of every dataset a study has, in order of name."""
    return _counts(study.items())


def _counts(items: pl.DataFrame) -> pl.DataFrame:
    return (
        items.group_by("dataset", "difficulty", "negatives")
        .agg(
            (pl.col("label") == 1).sum().cast(pl.Int64).alias("n_positives"),
            (pl.col("label") == 0).sum().cast(pl.Int64).alias("n_negatives"),
        )
        .sort("dataset", "difficulty", "negatives")
    )


def _shortfalls(build: Build, items: pl.DataFrame, per_class: int) -> Iterator[str]:
    """Yield a warning for each dataset that has fewer pairs than were asked for."""
    counts = {"/".join(row[:3]): row[3:] for row in _counts(items).iter_rows()}
    for strategy in build.strategies:
        for key in set_keys(strategy):
            n_positives, n_negatives = counts.get(str(key), (0, 0))
            if min(n_positives, n_negatives) < per_class:
                yield (
                    f"{key} has {n_positives} positives and {n_negatives} negatives to draw, not "
                    f"{per_class} of each"
                )


def _assignment(items: pl.DataFrame, annotators: Sequence[str], seed: int) -> pl.DataFrame:
    shown = items_of(items)
    return pl.concat(showings_of(seed, name, shown) for name in annotators)


def _notice(build: Build) -> str | None:
    source = build.manifest.source
    if source.get("redistributable") is not False:
        return None
    terms = source.get("terms_of_use") or ""
    return (
        f"This holds terms of {source.get('name')}, which must not be passed on unless its licence "
        f"allows it. {terms}"
    ).strip()


def _provenance(build: Build) -> dict[str, object]:
    """Return what the manifest says of the build."""
    outputs = build.manifest.outputs
    content = [(path, outputs[path].fingerprint) for path in sorted(outputs)]
    return {
        "kind": "build",
        "path": str(build.folder),
        "fingerprint": canonical_digest(content),
        "redistributable": build.manifest.source.get("redistributable"),
        "name": build.manifest.source.get("name"),
    }
