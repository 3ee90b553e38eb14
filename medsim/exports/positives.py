"""The exported pairs of a split, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.cards import licence_of
from medsim.builds.output import PAIR
from medsim.core import queries
from medsim.core.config import DIFFICULTIES
from medsim.core.errors import OptionError
from medsim.core.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from medsim.builds.output import Build
    from medsim.core.config import Strategy
    from medsim.exports.formats import Export


def exported_pairs(
    run: Export,
    build: Build,
    terms: pl.DataFrame,
    negatives: Strategy | None = None,
    *,
    n_languages: int = 2,
) -> pl.DataFrame:
    """Return the pairs of the chosen datasets and difficulty, each once regardless of direction.

    Args:
        run: the export; its options give the sets and the seed of the order.
        build: build of one split.
        terms: terms of that build, ``medsim.builds.output.TERM``; row ``i`` has the id ``i``.
        negatives: strategy of the negatives; None for positives alone.
        n_languages: 1 to leave out cross_language, unless it is chosen.

    Returns:
        pair_id, term1_id, term2_id, label, distance, concept1, concept2; in an order drawn from
        the seed that depends only on the content of pairs.
    """
    usual = [dataset.name for dataset in queries.datasets(n_languages)]
    names: Sequence[str] = run.options.datasets or usual
    difficulties = [run.options.difficulty] if run.options.difficulty else DIFFICULTIES
    chosen = [(name, difficulty) for name in names for difficulty in difficulties]
    strategy = negatives or build.strategies[0]  # positives are the same for all
    build.pairs(negatives=strategy)  # raises an error if one of its files is missing
    with (
        run.progress.stage("choose pairs") as stage,
        Store(threads=run.threads, spill=run.output.spill) as store,
    ):
        store.view_files(build.folder, {"pair": PAIR.files})
        sets = pl.DataFrame(chosen, {"dataset": pl.String, "difficulty": pl.String}, orient="row")
        store.put("chosen_set", sets)
        store.put("term", terms.select("term").with_row_index("term_id"))
        pairs = store.frame(
            "exports/distinct_pair",
            negatives=strategy,
            least_label=0 if negatives else 1,
            seed=str(run.options.seed),
        )
        stage.note(f"{pairs.height:,}")
    return pairs.with_columns(pl.col("term1_id", "term2_id").cast(pl.Int32))


def check_some(run: Export, n_positives: int) -> None:
    """Raise OptionError if there is nothing to export."""
    if not n_positives:
        fault = "has no positives for these `datasets` and `difficulty`; choose others"
        raise OptionError(f"{run.exported.folder} {fault}")


def check_passed_on(source: Mapping[str, object], *, private: bool) -> None:
    """Raise OptionError if content may not be passed on, unless the export is private."""
    licence = licence_of(source)
    if licence.allows_passing_on or private:
        return
    is_known = licence.allows_passing_on is False
    fault = "may not be passed on" if is_known else "is not known to be free to pass on"
    raise OptionError(
        f"{source.get('name')} {fault} ({licence.terms}); add `private` to keep it to yourself"
    )
