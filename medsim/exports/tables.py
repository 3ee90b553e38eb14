"""The files of rows that exports write: what a row is, and what each column holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.output import PAIR, POSITIVE
from medsim.core.kinds import View, columns

if TYPE_CHECKING:
    from collections.abc import Mapping

_DRAWN = "Drawn from the seed."
_SPLIT = (
    "SPLIT is train, validation or test; of one split that is exported alone, its name; of a build "
    "that was not split, train."
)
_ANCHOR = "Term that others are compared with."
_POSITIVE = "Term that means the same as the anchor."
_NEGATIVE = "Term that does not mean the same, the N-th hard negative."
_SENTENCES = {"sentence1": "The first term.", "sentence2": "The second term."}

SAPBERT: Mapping[str, View] = {
    "names": View(
        "SPLIT.txt",
        columns(pl.String, "concept", "name1", "name2"),
        about=f"A line per two names of one concept, its parts between two bars. {_SPLIT}",
        notes={
            "concept": "Identifier of the concept.",
            "name1": "A name of the concept.",
            "name2": "Another name of it.",
        },
        order=_DRAWN,
    )
}
"""The lines of ``medsim export --for sapbert``."""

JSONL: Mapping[str, View] = {
    "tuples": View(
        "SPLIT.jsonl",
        {
            "query": pl.String(),
            "pos": pl.List(pl.String),
            "neg": pl.List(pl.String),
            **columns(pl.String, "pair_id", "concept1", "concept2"),
            "distance": pl.Int32(),
        },
        about=f"An object of JSON a line, for each positive with its hard negatives. {_SPLIT}",
        notes={
            "query": _ANCHOR,
            "pos": "The one term that means the same, as a list.",
            "neg": "The hard negatives, terms that do not mean the same.",
            "pair_id": PAIR.notes["pair_id"],
            "concept1": "Concept that gives the query.",
            "concept2": "Concept that gives the positive.",
            "distance": PAIR.notes["distance"],
        },
        key=("query", "pos"),
        order=_DRAWN,
    )
}
"""The lines of ``medsim export --for jsonl``."""

SENTENCE_TRANSFORMERS: Mapping[str, View] = {
    "pair": View(
        "pair/SPLIT-*.parquet",
        columns(pl.String, "anchor", "positive"),
        about=f"A row per positive. {_SPLIT}",
        notes={"anchor": _ANCHOR, "positive": _POSITIVE},
        key=("anchor", "positive"),
        order=_DRAWN,
    ),
    "pair-class": View(
        "pair-class/SPLIT-*.parquet",
        {**columns(pl.String, "sentence1", "sentence2"), "label": pl.Int64},
        about=(
            "A row per positive, and per negative that the build itself has of the strategy. "
            f"{_SPLIT}"
        ),
        notes={**_SENTENCES, "label": "1 where the terms mean the same, else 0."},
        key=("sentence1", "sentence2"),
        order=_DRAWN,
    ),
    "n-tuple": View(
        "n-tuple/SPLIT-*.parquet",
        columns(pl.String, "anchor", "positive"),
        about=f"A row per positive that has all its hard negatives. {_SPLIT}",
        notes={"anchor": _ANCHOR, "positive": _POSITIVE, "negative_N": _NEGATIVE},
        further={"negative_N": pl.String},
        key=("anchor", "positive"),
        order=_DRAWN,
    ),
}
"""The files of ``medsim export --for sentence-transformers``."""

MTEB: Mapping[str, View] = {
    "pairs": View(
        "pairs/*.parquet",
        {**columns(pl.String, "sentence1", "sentence2"), "labels": pl.Int8},
        about="A row per pair of a set, for pair classification.",
        notes={**_SENTENCES, "labels": "1 where the terms mean the same, else 0."},
        key=("sentence1", "sentence2"),
        order="As in the set.",
    ),
    "terms": View(
        "terms.parquet",
        {**columns(pl.String, "id", "text"), "group": pl.Int32, "is_query": pl.Boolean},
        about="A row per term that a pair may have, for retrieval.",
        notes={
            "id": "Number of the term, from 0, as text.",
            "text": "The term.",
            "group": "Connected component: linked terms have the same.",
            "is_query": "Whether the term is looked up: it is linked to another.",
        },
        key=("id",),
        order="By text.",
    ),
    "rated": View(
        "rated/*.parquet",
        {**columns(pl.String, "sentence1", "sentence2"), "score": pl.Float64},
        about="A row per pair of a rated file that has the rating.",
        notes={**_SENTENCES, "score": "The rating, on the scale of the file."},
        order="As in the file.",
    ),
}
"""The files of ``medsim export --for mteb``."""

HUGGINGFACE: Mapping[str, View] = {
    "positives": View(
        "positives/SPLIT-*.parquet",
        POSITIVE.dtypes,
        about=f"{POSITIVE.about} {_SPLIT}",
        notes=POSITIVE.notes,
        key=POSITIVE.key,
        order=POSITIVE.order,
    ),
    "pairs": View(
        "*/SPLIT-*.parquet",
        PAIR.dtypes,
        about=(
            "A row per pair and set: pairs has all sets, and every other folder the set that it "
            f"is named after. {_SPLIT}"
        ),
        notes=PAIR.notes,
        further={name: one.dtype for name, one in PAIR.columns.items() if name not in PAIR.dtypes},
        order="One set after the other, each in its own order.",
    ),
}
"""The files of ``medsim export --for huggingface``."""
