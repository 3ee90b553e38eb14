"""The targets of an evaluation: the pairs of its inputs, and of builds their terms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError, counted
from medsim.evaluations.categories import Categories, categories_of
from medsim.evaluations.inputs import EvaluationInput, read_inputs
from medsim.evaluations.linked import LinkedTerms, linked_terms
from medsim.evaluations.ratings.words import read_words
from medsim.evaluations.sets import parts_of_sets, whole_sets, with_parts
from medsim.evaluations.strata import Stratification

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.evaluations.options import EvaluateOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTarget:
    """An input, with the terms for retrieval and the categories for separation.

    Attributes:
        pairs: the input.
        linked: the terms among which linked ones are looked for; None where that is not asked for.
        categories: those that are to be kept apart; None where that is not asked for.
    """

    pairs: EvaluationInput
    linked: LinkedTerms | None
    categories: Categories | None

    @property
    def name(self) -> str:
        """The name of the input."""
        return self.pairs.name

    def provenance(self) -> dict[str, object]:
        """Return the provenance of the input, its categories included."""
        if self.categories is None:
            return self.pairs.provenance
        return {**self.pairs.provenance, "categories": self.categories.provenance()}

    def terms(self) -> pl.Series:
        """Return the terms that need vectors, distinct, in any order."""
        parts = [self.pairs.frame["term1"], self.pairs.frame["term2"]]
        if self.linked is not None:
            parts.append(self.linked.terms["term"])
        if self.categories is not None:
            parts.append(pl.Series(self.categories.terms(), dtype=pl.String))
        return pl.concat([part.rename("term") for part in parts]).unique()


def read_targets(options: EvaluateOptions, progress: Progress) -> list[EvaluationTarget]:
    """Return the targets of an evaluation; OptionError if no input is what an option needs."""
    with progress.stage("read inputs") as stage:
        words = None if options.words is None else read_words(Path(options.words))
        stratification = Stratification(
            words=words,
            bins=tuple(options.bins),
            topic_bins=tuple(options.topic_bins),
            equal_parts=options.equal_parts,
        )
        inputs = read_inputs(options.input_paths, stratification)
        stage.found(", ".join(_size_of(one) for one in inputs))
    for warnings in (words.warnings if words else (), *(one.warnings for one in inputs)):
        for warning in warnings:
            progress.warn(warning)
    _check(options, inputs)
    return [_target(one, options, progress) for one in inputs]


def _size_of(one: EvaluationInput) -> str:
    n_parts = parts_of_sets(one.frame)["dataset"].n_unique() if one.rated else 0
    n_pairs = whole_sets(one.frame).height if one.rated else one.frame.height
    parts = f", {counted(n_parts, 'part')}" if n_parts else ""
    return f"{one.name}: {counted(n_pairs, 'pair')}{parts}"


def _check(options: EvaluateOptions, inputs: list[EvaluationInput]) -> None:
    """Raise OptionError if no input is of the kind that an option is for."""
    rated = [one for one in inputs if one.rated]
    if len(rated) == len(inputs):
        for what, asked in (("retrieval", options.retrieval), ("separation", options.separates)):
            if asked:
                raise OptionError(f"{what} needs a build among the inputs, not only rated files")
    if options.words is not None and not rated:
        raise OptionError("`words` divide rated files into parts, and no input is one")
    named = [with_parts(one.frame)["part"].drop_nulls() for one in rated]
    there = {part for parts in named for part in parts.unique()}
    for option, given, part, what in (
        ("bins", options.bins, "count", "counts of words"),
        ("topic_bins", options.topic_bins, "topics", "numbers of topics"),
    ):
        if given and part not in there:
            raise OptionError(
                f"`{option}` are of {what}, and no pair has both of its words counted in one of "
                "them; say by `words` where the counts stand"
            )
    if options.equal_parts is not None and not there & {"count", "topics"}:
        raise OptionError(
            "`equal_parts` cuts by counts of words and numbers of topics, and none are known; say "
            "by `words` where they stand"
        )


def _target(one: EvaluationInput, options: EvaluateOptions, progress: Progress) -> EvaluationTarget:
    linked = categories = None
    if options.retrieval and one.build is not None:
        with progress.stage(f"link terms of {one.name}") as stage:
            linked = linked_terms(one.build)
            n_linked = int(linked.terms["is_linked"].sum())
            stage.found(f"{n_linked:,} of {linked.terms.height:,} terms have a linked term")
    if options.separates and one.build is not None:
        with progress.stage(f"find categories of {one.name}") as stage:
            named = options.categories or (*options.near, *options.far)
            categories = categories_of(one.build, named, options.n_threads, n_far=len(options.far))
            of_each = (f"{c.name}: {len(c.terms):,} terms" for c in categories.categories)
            stage.found(", ".join(of_each))
    return EvaluationTarget(pairs=one, linked=linked, categories=categories)
