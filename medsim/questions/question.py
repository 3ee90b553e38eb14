"""The columns of multiple-choice questions, which `medsim export` writes."""

from __future__ import annotations

from functools import partial

import polars as pl

from medsim.core.kinds import Column, Table

TIERS = {"1": 1, "2-3": 3, "4-5": 5, "6+": None}
"""The tiers of questions, each with its largest distance between a term and a wrong name."""

_text = partial(Column, pl.String)
QUESTION = Table(
    about="A row per multiple-choice question. One choice is another name of the term; no chain of "
    "positives links the other choices to it.",
    columns={
        "id": _text("Identifier of the question: that of the pair of the term and the right name."),
        "question": _text("The question, an English sentence."),
        "term": _text("The term in the question."),
        "choices": Column(pl.List(pl.String), "The names to choose from."),
        "answer": Column(pl.Int64, "Position of the right name among the choices, from 0."),
        "label": _text("Letter of the right name: A for the first choice."),
        "concept1": _text("Concept of the term."),
        "concept2": _text("Concept of the right name."),
        "negatives": _text("Strategy of the wrong names: random, levenshtein or embedding."),
        "distance": Column(pl.Int32, "Levenshtein distance of the term and the right name."),
        "tier": _text(f"Distance of the term and the nearest wrong name: {', '.join(TIERS)}."),
        "differences": Column(
            pl.List(pl.String), "How each choice differs from the term, as a kind of medsim audit."
        ),
    },
    key=("id",),
    order="Drawn from the seed.",
)
"""Multiple-choice questions of an export with `choices`."""
