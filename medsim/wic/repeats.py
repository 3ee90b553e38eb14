"""The train split by how often a sentence may be repeated in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.wic.benchmark import NAMES, RELATED
from medsim.wic.checks.rules import QUOTAS
from medsim.wic.making.candidates import blocks_of
from medsim.wic.making.mentions import content_hashes, forms_of
from medsim.wic.making.splits import Splitter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.wic.benchmark import Benchmark
    from medsim.wic.making.candidates import Blocks
    from medsim.wic.paper_tables import Described

REPEATS = (1, 2, 5, *range(10, 201, 10))
"""The numbers of repeats of which the curve tells."""


def curve(found: Described, language: str, threads: int) -> pl.DataFrame:
    """Return figure 3: the size of train, its concepts and their semantic types.

    There is a row for each number of times that a sentence may occur in train and dev together.
    Each is what ``medsim wic build`` would make with it, from the mentions and relations that the
    folder keeps; test is the same in all.
    """
    if found.made is None:
        raise OptionError(
            f"{found.name} does not keep what train could have; a folder of medsim wic build does"
        )
    made = found.made
    kept = made.mentions()
    lower = pl.Series("lower_term", lowered(kept["term"].to_list()), dtype=pl.String)
    mentions = kept.rename({"start": "start_at", "end": "end_at"}).with_columns(lower)
    options: Mapping[str, Any] = made.manifest.options
    splitter = Splitter(
        blocks=_blocks(made, mentions, language, threads),
        hashes=content_hashes(mentions),
        seed=options["seed"],
        quotas=QUOTAS["test"],
        most_train=options["most_train"],
    )
    rows = []
    for repeats, train in zip(REPEATS, splitter.trains(REPEATS), strict=True):
        concepts = mentions["concept_id"][train.mentions.ravel()].unique()
        row = {"repeats": repeats, "instances": len(train), "concepts": len(concepts)}
        if found.types is not None:
            is_there = pl.col("concept_id").is_in(concepts.implode())
            row["semantic types"] = found.types.filter(is_there)["type_id"].n_unique()
        rows.append(row)
    return pl.DataFrame(rows)


def _blocks(made: Benchmark, mentions: pl.DataFrame, language: str, threads: int) -> Blocks:
    """Return the candidate instances of a benchmark anew."""
    forms = forms_of(mentions["lower_term"].unique(), language)
    names = made.read(NAMES).rename({"term": "lower_term"})
    with Store(threads=threads) as store:
        store.put("form_name", names.join(forms, on="lower_term").select("form_id", "concept_id"))
        store.put("related_concept", made.read(RELATED))
        return blocks_of(store, mentions, forms, threads=threads)
