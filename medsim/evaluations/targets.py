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
    from collections.abc import Mapping

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

    def provenance_beside(self, known: Mapping[str, object]) -> dict[str, object]:
        """Return the provenance, with the fingerprints of earlier results where they are the same.

        Earlier versions made other fingerprints of some texts. Results that have one of these keep
        it, so that they can be added to.
        """
        own = self.provenance()
        fingerprint, categories = known.get("fingerprint"), known.get("categories")
        if fingerprint is not None and fingerprint == self.pairs.earlier_fingerprint:
            own = {**own, "fingerprint": fingerprint}
        if self.categories is not None and isinstance(categories, dict):
            fingerprint = categories.get("fingerprint")
            if fingerprint == self.categories.earlier_fingerprint():
                kept = {**self.categories.provenance(), "fingerprint": fingerprint}
                own = {**own, "categories": kept}
        return own

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
        stratification = Stratification(words=words, bins=tuple(options.bins))
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
    counted = (with_parts(one.frame).filter(part="count") for one in rated)
    if options.bins and all(frame.is_empty() for frame in counted):
        raise OptionError(
            "`bins` are of counts of words, and no pair has both of its words counted in one of "
            "them; say by `words` where the counts stand"
        )


def _target(one: EvaluationInput, options: EvaluateOptions, progress: Progress) -> EvaluationTarget:
    linked = categories = None
    if options.retrieval and one.build is not None:
        with progress.stage(f"link terms of {one.name}") as stage:
            linked = linked_terms(one.build, options.n_threads)
            n_linked = int(linked.terms["is_linked"].sum())
            stage.found(f"{n_linked:,} of {linked.terms.height:,} terms have a linked term")
    if options.separates and one.build is not None:
        with progress.stage(f"find categories of {one.name}") as stage:
            categories = categories_of(one.build, options.categories, options.n_threads)
            of_each = (f"{c.name}: {len(c.terms):,} terms" for c in categories.categories)
            stage.found(", ".join(of_each))
    return EvaluationTarget(pairs=one, linked=linked, categories=categories)
