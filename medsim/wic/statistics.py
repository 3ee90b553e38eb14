"""Numbers of a benchmark by split: of instances, of their terms, and of their corpora."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.terms import lowered
from medsim.wic import GROUPS, SPLITS
from medsim.wic.output import WIC_STATISTIC_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medsim.wic.corpora.mentions import Corpora

_Row = tuple[str, str, str, str, int]


def statistics_of(
    instances: pl.DataFrame, mentions: pl.DataFrame, corpora: Corpora
) -> pl.DataFrame:
    """Return all numbers of a benchmark: ``WIC_STATISTIC_COLUMNS``.

    They are those of the three tables in which Rouhizadeh et al. (2024) describe BioWiC.
    """
    rows = [*_of_splits(instances), *_of_terms(instances), *_of_corpora(instances)]
    for one in sorted(corpora.corpora, key=lambda one: one.corpus):
        chosen = mentions.filter(pl.col("place").struct.field("c") == one.corpus).height
        numbers = {
            "documents": one.n_documents,
            "sentences": one.n_sentences,
            "mentions": one.n_mentions,
            "sentences with a concept": chosen,
        }
        rows += [("corpora", "", one.corpus, what, number) for what, number in numbers.items()]
    return pl.DataFrame(rows, schema=WIC_STATISTIC_COLUMNS, orient="row")


def _of_splits(instances: pl.DataFrame) -> Iterator[_Row]:
    """Yield numbers of instances by group, split and label."""
    for group in (*GROUPS, "all"):
        own = instances if group == "all" else instances.filter(cat=group)
        counts = Counter(own.select("split", "label").iter_rows())
        for split in SPLITS:
            yield "splits", split, group, "true", counts[split, 1]
            yield "splits", split, group, "false", counts[split, 0]


def _of_terms(instances: pl.DataFrame) -> Iterator[_Row]:
    """Yield how many terms, pairs of terms, sentences and concepts each split has."""
    in_train: set[str] = set()
    for split in SPLITS:  # train is the first
        own = instances.filter(split=split)
        firsts, seconds = (lowered(own[name].to_list()) for name in ("term1", "term2"))
        terms = {*firsts, *seconds}
        if split == "train":
            in_train = terms
        numbers = {
            "instances": own.height,
            "terms": len(terms),
            "pairs of terms": len(set(map(frozenset, zip(firsts, seconds, strict=True)))),
            "terms in train": len(terms & in_train),
            "sentences": len({*own["sentence1"], *own["sentence2"]}),
            "concepts": len({*own["concept1"], *own["concept2"]}),
        }
        yield from (("terms", split, "all", what, number) for what, number in numbers.items())


def _of_corpora(instances: pl.DataFrame) -> Iterator[_Row]:
    """Yield how many sides of instances come from each corpus, by split."""
    for split in SPLITS:
        own = instances.filter(split=split)
        sides = pl.concat([own["corpus1"], own["corpus2"].alias("corpus1")])
        for corpus, number in sides.value_counts().sort("corpus1").iter_rows():
            yield "corpora", split, corpus, "sides of instances", number
