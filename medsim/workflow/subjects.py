"""What an evaluation is made on: the pairs of its inputs, and of builds their terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.errors import OptionError
from medsim.workflow.inputs import EvaluationInput, read_inputs
from medsim.workflow.linked import LinkedTerms, linked_terms
from medsim.workflow.opened import Build

if TYPE_CHECKING:
    from medsim.progress import Progress
    from medsim.workflow.evaluation_job import EvaluationConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An input, and what of it is looked at beside its pairs.

    Attributes:
        pairs: the input.
        linked: the terms among which linked ones are looked for; None where that is not asked for.
    """

    pairs: EvaluationInput
    linked: LinkedTerms | None

    @property
    def name(self) -> str:
        """The name of the input."""
        return self.pairs.name

    def terms(self) -> pl.Series:
        """Return the terms that need vectors, distinct, in any order."""
        parts = [self.pairs.frame["term1"], self.pairs.frame["term2"]]
        if self.linked is not None:
            parts.append(self.linked.terms["term"])
        return pl.concat([part.rename("term") for part in parts]).unique()


def read_subjects(config: EvaluationConfig, progress: Progress) -> list[Subject]:
    """Return what a config asks to evaluate on.

    Raises:
        InputError: an input is missing, unfinished or damaged.
        OptionError: what is asked for needs a build, and there is none.
    """
    with progress.stage("read inputs") as stage:
        inputs = read_inputs(config.inputs)
        stage.found(", ".join(f"{one.name}: {one.frame.height:,} pairs" for one in inputs))
    for one in inputs:
        for warning in one.warnings:
            progress.warn(warning)
    if config.retrieval and all(one.rated for one in inputs):
        raise OptionError("--retrieval needs a build among the inputs; rated files link no terms")
    return [Subject(pairs=one, linked=_linked(one, config, progress)) for one in inputs]


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
