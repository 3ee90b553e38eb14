"""What an evaluation is made on: the pairs of its inputs, and of builds their terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.opened import Build
from medsim.evaluations.categories import Categories, categories_of
from medsim.evaluations.inputs import EvaluationInput, read_inputs
from medsim.evaluations.linked import LinkedTerms, linked_terms
from medsim.evaluations.ratings.words import read_words
from medsim.evaluations.sets import parts_of_sets, whole_sets
from medsim.evaluations.strata import Stratification

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.progress import Progress
    from medsim.evaluations.run_key import EvaluationConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTarget:
    """An input, and what of it is looked at beside its pairs.

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
        """Return what the manifest says of the input, its categories included."""
        if self.categories is None:
            return self.pairs.provenance
        return {**self.pairs.provenance, "categories": self.categories.provenance()}

    def provenance_beside(self, known: Mapping[str, object]) -> dict[str, object]:
        """Return the provenance, with the fingerprints of earlier results where they are the same.

        Earlier versions made other fingerprints of some texts. Results that have one of these keep
        it, so that they can be added to.

        Args:
            known: provenance of the input in earlier results; empty where there are none.
        """
        own = self.provenance()
        fingerprint, categories = known.get("fingerprint"), known.get("categories")
        if fingerprint is not None and fingerprint == self.pairs.earlier_fingerprint:
            own = {**own, "fingerprint": fingerprint}
        if self.categories is not None and isinstance(categories, dict):
            fingerprint = categories.get("fingerprint")
            if fingerprint == self.categories.earlier_fingerprint():
                told = {**self.categories.provenance(), "fingerprint": fingerprint}
                own = {**own, "categories": told}
        return own

    def terms(self) -> pl.Series:
        """Return the terms that need vectors, distinct, in any order."""
        parts = [self.pairs.frame["term1"], self.pairs.frame["term2"]]
        if self.linked is not None:
            parts.append(self.linked.terms["term"])
        if self.categories is not None:
            parts.append(pl.Series(self.categories.terms(), dtype=pl.String))
        return pl.concat([part.rename("term") for part in parts]).unique()


def read_targets(config: EvaluationConfig, progress: Progress) -> list[EvaluationTarget]:
    """Return what a config asks to evaluate on.

    Raises:
        InputError: an input is missing, unfinished or damaged.
        OptionError: what is asked for needs a build, and there is none.
    """
    with progress.stage("read inputs") as stage:
        words = None if config.words is None else read_words(config.words)
        inputs = read_inputs(config.inputs, Stratification(words=words, bins=config.bins))
        stage.found(", ".join(_counted(one) for one in inputs))
    for warning in words.warnings if words else ():
        progress.warn(warning)
    for one in inputs:
        for warning in one.warnings:
            progress.warn(warning)
    if all(one.rated for one in inputs):
        for what, asked in (("retrieval", config.retrieval), ("separation", config.separation)):
            if asked:
                raise OptionError(f"{what} needs a build among the inputs, not only rated files")
    _check_cut(config, inputs)
    return [
        EvaluationTarget(
            pairs=one,
            linked=_linked(one, config, progress),
            categories=_categories(one, config, progress),
        )
        for one in inputs
    ]


def _counted(one: EvaluationInput) -> str:
    whole = whole_sets(one.frame)
    n_parts = parts_of_sets(one.frame)["dataset"].n_unique()
    return f"{one.name}: {whole.height:,} pairs{f', {n_parts} parts' if n_parts else ''}"


def _check_cut(config: EvaluationConfig, inputs: list[EvaluationInput]) -> None:
    """Raise OptionError if there is nothing that what is asked for could cut into parts."""
    if config.words is not None and not any(one.rated for one in inputs):
        raise OptionError("--words cuts rated files into parts, and there is none among the inputs")
    counted = pl.col("dataset").str.contains("/count=", literal=True)
    if config.bins and all(one.frame.filter(counted).is_empty() for one in inputs):
        raise OptionError(
            "--bins are of counts of words, and no pair has both of its words counted in one of "
            "them; say by --words where the counts stand"
        )


def _linked(
    one: EvaluationInput, config: EvaluationConfig, progress: Progress
) -> LinkedTerms | None:
    if not config.retrieval or one.rated:
        return None
    with progress.stage(f"link terms of {one.name}") as stage:
        linked = linked_terms(Build(str(one.provenance["path"])), config.threads)
        n_linked = int(linked.terms["is_linked"].sum())
        stage.found(f"{n_linked:,} of {linked.terms.height:,} terms have a linked term")
    return linked


def _categories(
    one: EvaluationInput, config: EvaluationConfig, progress: Progress
) -> Categories | None:
    if not config.separation or one.rated:
        return None
    with progress.stage(f"find categories of {one.name}") as stage:
        build = Build(str(one.provenance["path"]))
        found = categories_of(build, config.categories or None, config.threads)
        stage.found(", ".join(f"{c.name}: {len(c.terms):,} terms" for c in found.categories))
    return found
