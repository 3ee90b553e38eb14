"""Shares pairs of words out among groups of raters, who say how similar they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.config import check_seed
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.studies.annotators import annotators_of
from medsim.studies.folder import Study, StudyDraft, write_study
from medsim.studies.instructions import instructions_of
from medsim.studies.output import GRADED_ITEM_COLUMNS
from medsim.studies.pair_files import read_pairs
from medsim.studies.sheets import GRADED
from medsim.studies.showings import drawn, items_of, showings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_SIZE, CONSISTENCY, DUPLICATES = 120, 50, 50
"""Pairs of a page, pairs that all rate, pairs that a rater sees twice (Chiu et al. 2018)."""

_LEAST_RATERS = 2  # of a group: one alone agrees with nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sharing:
    """How pairs are shared out.

    Attributes:
        raters: their names, those of a group together.
        n_groups: of raters; each has pairs of its own.
        n_consistency: pairs that all rate.
        n_duplicates: pairs that each rater sees twice.
        seed: of all draws.
    """

    raters: tuple[str, ...]
    n_groups: int
    n_consistency: int
    n_duplicates: int
    seed: int

    def group_of(self, rater: int) -> int:
        """Return the group of a rater by its place; groups are as equal as they can be."""
        return rater * self.n_groups // len(self.raters) + 1

    def check(self, n_pairs: int) -> None:
        """Raise OptionError if that many pairs cannot be shared out so."""
        n_raters = len(self.raters)
        if self.n_groups < 1 or n_raters < _LEAST_RATERS * self.n_groups:
            raise OptionError(
                f"{n_raters} raters cannot make {self.n_groups} groups of {_LEAST_RATERS} or more"
            )
        if self.n_consistency < 0 or n_pairs - self.n_consistency < self.n_groups:
            raise OptionError(
                f"--consistency {self.n_consistency} does not fit {n_pairs:,} pairs and "
                f"{self.n_groups} groups; each group needs a pair of its own"
            )
        n_seen = self.n_consistency + (n_pairs - self.n_consistency) // self.n_groups
        if not 0 <= self.n_duplicates <= n_seen:
            raise OptionError(
                f"--duplicates {self.n_duplicates} does not fit: a rater sees {n_seen:,} pairs"
            )


def grade_study(  # noqa: PLR0913 — an argument an option
    pairs: str | Path,
    out: str | Path,
    *,
    raters: int | str | Sequence[str] = 12,
    groups: int = 4,
    consistency: int | None = None,
    duplicates: int = DUPLICATES,
    page_size: int = PAGE_SIZE,
    title: str = "How similar are these words?",
    instructions: str | Path | None = None,
    notice: str | None = None,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Return the graded study of pairs that it writes to ``out``.

    Every group of raters has pairs of its own beside the consistency set, which all rate; every
    rater sees some pairs twice, about half of the others lying between.

    Args:
        pairs: a CSV or TSV file with the columns term1 and term2; others are kept for results.
        out: the folder to write; only what lies in ``annotators`` is for raters.
        raters: how many, or their names, those of a group together.
        groups: of raters.
        consistency: how many pairs all rate; 50 by default, none where there is one group.
        duplicates: how many pairs each rater sees twice.
        page_size: how many pairs are shown before a pause; 0 for no pauses.
        title: that raters see.
        instructions: a text file for raters to read first; by default what similar means is said.
        notice: what must be known before a sheet is passed on; by default nothing.
        seed: of what is drawn and of its order.
        overwrite: whether an earlier study at ``out`` may be replaced, and its answers be lost.
        progress: told of every stage; silent by default.

    Raises:
        InputError: the file cannot be read, or holds a pair twice.
        OptionError: an option is out of range, or the pairs are too few for it.
        OutputError: ``out`` is taken or cannot be written.
    """
    check_seed(seed)
    if page_size < 0:
        raise OptionError(f"--page-size {page_size} is negative; 0 is for no pauses")
    path, progress = Path(pairs), progress or Progress()
    sharing = _Sharing(
        raters=annotators_of(raters, stem="rater"),
        n_groups=groups,
        n_consistency=(CONSISTENCY if groups > 1 else 0) if consistency is None else consistency,
        n_duplicates=duplicates,
        seed=seed,
    )
    told = instructions_of(GRADED, instructions)
    with progress.stage("share pairs out") as stage:
        frame = read_pairs(path, progress)
        sharing.check(frame.height)
        items = _items(frame, sharing)
        assignment = _assignment(items, sharing)
        most = max(assignment["position"].to_list())
        stage.found(f"{items.height:,} pairs, up to {most:,} for each of {len(sharing.raters)}")
    with progress.stage("write sheets"):
        draft = StudyDraft(
            title=title,
            scale=GRADED,
            items=items,
            assignment=assignment,
            instructions=told,
            notice=notice,
            page_size=page_size,
            source=_provenance(path),
            options={
                "groups": groups,
                "consistency": sharing.n_consistency,
                "duplicates": duplicates,
                "seed": seed,
            },
            warnings=progress.warnings,
        )
        return write_study(draft, Path(out), overwrite=overwrite)


def shares_of(study: Study) -> pl.DataFrame:
    """Return how many pairs each rater of a graded study sees, and which group it is of."""
    shown = study.assignment().join(study.items().select("item_id", "group"), on="item_id")
    first = pl.col("showing") == 1
    return (
        shown.group_by("annotator")
        .agg(
            pl.col("group").max().alias("group"),
            ((pl.col("group") > 0) & first).sum().cast(pl.Int64).alias("n_of_group"),
            ((pl.col("group") == 0) & first).sum().cast(pl.Int64).alias("n_of_all"),
            (~first).sum().cast(pl.Int64).alias("n_twice"),
        )
        .sort("annotator")
    )


def _items(pairs: pl.DataFrame, sharing: _Sharing) -> pl.DataFrame:
    """Return pairs with item_id and the group that rates them, 0 for all, in order of item_id."""
    seed = sharing.seed
    ids = [drawn(seed, "item", *pair) for pair in pairs.select("term1", "term2").iter_rows()]
    frame = pairs.with_columns(pl.Series("item_id", ids, dtype=pl.String))
    ranks = pl.Series("rank", [drawn(seed, "group", item_id) for item_id in ids], dtype=pl.String)
    place = pl.int_range(pl.len(), dtype=pl.Int32) - sharing.n_consistency
    group = pl.when(place < 0).then(0).otherwise(place % sharing.n_groups + 1)
    return (
        frame.with_columns(ranks)
        .sort("rank")
        .with_columns(group.cast(pl.Int32).alias("group"))
        .drop("rank")
        .sort("item_id")
        .select(*GRADED_ITEM_COLUMNS, pl.exclude(GRADED_ITEM_COLUMNS))
    )


def _assignment(items: pl.DataFrame, sharing: _Sharing) -> pl.DataFrame:
    frames = []
    for at, rater in enumerate(sharing.raters):
        own = items_of(items.filter(pl.col("group").is_in([0, sharing.group_of(at)])))
        ranked = sorted(own, key=lambda item: drawn(sharing.seed, "twice", rater, item.item_id))
        repeated = ranked[: sharing.n_duplicates]
        frames.append(showings_of(sharing.seed, rater, own, repeated))
    return pl.concat(frames)


def _provenance(path: Path) -> dict[str, object]:
    """Return what the manifest says of the file of pairs."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    return {"kind": "pairs", "path": str(path), "fingerprint": digest}
