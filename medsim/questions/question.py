"""The columns of multiple-choice questions, which `medsim export` writes."""

from __future__ import annotations

import polars as pl

from medsim.builds.output import PAIR
from medsim.core.kinds import Column, Table

TIERS = {"1": 1, "2-3": 3, "4-5": 5, "6+": None}
"""The tiers of questions, each with its largest distance between a term and a wrong name."""

QUESTION = Table(
    about="A row per multiple-choice question. One choice is another name of the term; no chain of "
    "positives links the other choices to it.",
    columns={
        "id": Column(
            pl.String, "Identifier of the question, made from its term, right name and wrong names."
        ),
        "question": Column(pl.String, "The question, an English sentence."),
        "term": Column(pl.String, "The term in the question."),
        "choices": Column(pl.List(pl.String), "The names to choose from."),
        "answer": Column(pl.Int64, "Position of the right name among the choices, from 0."),
        "label": Column(pl.String, "Letter of the right name: A for the first choice."),
        "concept1": Column(pl.String, "Concept of the term."),
        "concept2": Column(pl.String, "Concept of the right name."),
        "negatives": Column(
            pl.String, "Strategy of the wrong names: random, levenshtein or embedding."
        ),
        "distance": PAIR.columns["distance"],
        "tier": Column(
            pl.String,
            f"Distance of the term and the wrong name nearest to it: {', '.join(TIERS)}.",
        ),
        "differences": Column(
            pl.List(pl.String),
            "How each choice differs from the term: a kind of near-duplicate of `medsim audit`, or "
            "other.",
        ),
    },
    key=("id",),
    order="Drawn from the seed.",
)
"""Multiple-choice questions of an export with `choices`."""
