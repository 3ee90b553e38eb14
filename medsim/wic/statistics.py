"""Numbers of a benchmark by split: of instances, of their terms, and of their corpora."""

from __future__ import annotations

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
        of_group = instances if group == "all" else instances.filter(pl.col("cat") == group)
        for split in SPLITS:
            labels = of_group.filter(pl.col("split") == split)["label"]
            yield "splits", split, group, "true", int((labels == 1).sum())
            yield "splits", split, group, "false", int((labels == 0).sum())


def _of_terms(instances: pl.DataFrame) -> Iterator[_Row]:
    """Yield how many terms, pairs of terms, sentences and concepts each split has."""
    in_train = _terms_of(instances.filter(pl.col("split") == "train"))
    for split in SPLITS:
        own = instances.filter(pl.col("split") == split)
        terms = _terms_of(own)
        sentences = set(own["sentence1"]) | set(own["sentence2"])
        numbers = {
            "instances": own.height,
            "terms": len(terms),
            "pairs of terms": len(_pairs_of_terms(own)),
            "terms in train": len(terms & in_train),
            "sentences": len(sentences),
            "concepts": len(set(own["concept1"]) | set(own["concept2"])),
        }
        yield from (("terms", split, "all", what, number) for what, number in numbers.items())


def _of_corpora(instances: pl.DataFrame) -> Iterator[_Row]:
    """Yield how many sides of instances come from each corpus, by split."""
    for split in SPLITS:
        own = instances.filter(pl.col("split") == split)
        sides = pl.concat([own["corpus1"], own["corpus2"].alias("corpus1")])
        for corpus, number in sides.value_counts().sort("corpus1").iter_rows():
            yield "corpora", split, corpus, "sides of instances", number


def _terms_of(instances: pl.DataFrame) -> set[str]:
    return set(lowered(instances["term1"].to_list())) | set(lowered(instances["term2"].to_list()))


def _pairs_of_terms(instances: pl.DataFrame) -> set[tuple[str, ...]]:
    firsts, seconds = (lowered(instances[column].to_list()) for column in ("term1", "term2"))
    return {tuple(sorted(pair)) for pair in zip(firsts, seconds, strict=True)}
