"""The output of entity linking: its kind, its tables and their columns, its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import polars as pl

from medsim.core.kinds import Column, Kind, Table
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary

DEPTH = 100
"""The number of names that each search returns."""

_text, _number, _whole = (partial(Column, dtype) for dtype in (pl.String, pl.Float64, pl.Int64))
_id = partial(Column, pl.Int32)
_MODEL = _text("Name of the embedding, or of the baseline: exact, levenshtein or tfidf.")

LINK_SCORES = Table(
    "results.parquet",
    "A row per corpus, type of mention, stratum, model and statistic.",
    {
        "corpus": _text("Name of the corpus."),
        "type": _text("Type of the mentions in the corpus, or all."),
        "stratum": _text(
            "all: mentions of one known concept; of these name and not_name, whether the mention "
            "is a name of the terminology; homonym, a name of several concepts; abbreviation. Not "
            "in all: composite, of several concepts; unknown_concept and no_concept, only counted."
        ),
        "model": _MODEL,
        "statistic": _text("accuracy_at_1, accuracy_at_5 or mrr."),
        "value": _number("The statistic, 0 to 1; null if no mention is scored."),
        "low": _number("Lower end of the 95% confidence interval by document; null if none."),
        "high": _number("Upper end of the 95% confidence interval; null if none."),
        "n_mentions": _whole("Number of mentions of the stratum."),
        "n_documents": _whole("Number of documents with these mentions."),
    },
    key=("corpus", "type", "stratum", "model", "statistic"),
    order="All types of each corpus first; then by type, corpus, stratum and model.",
)

MENTION = Table(
    "mentions.parquet",
    "A row per mention of the corpora.",
    {
        "mention_id": _id("Number of the mention, from 0."),
        "corpus": _text("Name of the corpus."),
        "document_id": _text("Identifier of the document in the corpus."),
        "start": _id("First character of the mention in title, a space, abstract; from 0."),
        "end": _id("One past its last character."),
        "term": _text("Text of the mention."),
        "type": _text("Type of the mention in the corpus."),
        "status": _text(
            "known: it has one concept; composite: several, or a part without a known one; "
            "unknown_concept: codes that no concept has; no_concept: no code."
        ),
        "concepts": _text("Its known concepts, joined by a bar; null if there is none."),
        "n_named": _whole("Number of concepts with the mention as a name, ignoring case."),
        "is_abbreviation": Column(
            pl.Boolean,
            "Whether it is a word of 2 to 10 characters with at least two capitals, which are "
            "more than half of it.",
        ),
    },
    key=("mention_id",),
    order="As in the corpora.",
)

LINK = Table(
    "links.parquet",
    "A row per model and mention that has a known concept.",
    {
        "model": _MODEL,
        "mention_id": _id("Number of the mention."),
        "rank": _id(
            "Rank of its concept, the first one for composite mentions, among all concepts; null "
            f"if it has none of the nearest {DEPTH} names."
        ),
        "nearest_concept": _text("The concept that was found first; null if none was found."),
        "nearest_name": _text("The name by which it was found; null if none was found."),
        "score": Column(
            pl.Float32,
            "Similarity to that name: 1 for exact, minus the edit distance for levenshtein, else "
            "the cosine; null if none was found.",
        ),
    },
    key=("model", "mention_id"),
    order="By model, baselines first, then by mention_id.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingManifest(RunManifest):
    """The manifest of entity linking.

    Attributes:
        corpora: by name: file, SHA-256, and numbers of documents and mentions.
        terminology: the facts about the terminology.
        dictionary: numbers of names and concepts, the fingerprint of both, and that of the build;
            the latter is None for a source.
        embeddings: by name: path, format, fingerprint and options.
        skipped: items left out of the corpora, with reasons.
    """

    kind: ClassVar[str] = "linking"
    corpora: dict[str, dict[str, object]]
    terminology: dict[str, object]
    dictionary: dict[str, object]
    embeddings: dict[str, dict[str, object]]
    skipped: list[dict[str, object]]


LINKING = Kind(
    noun="linking",
    command="medsim link",
    manifest=LinkingManifest,
    views={"results": LINK_SCORES, "mention": MENTION, "link": LINK},
)


class Linking(Opened[LinkingManifest]):
    """Scores of entity linking, as ``medsim link`` writes them; tables are read when needed."""

    kind = LINKING

    def _summary(self) -> Summary:
        facts = [str(self.manifest.terminology["name"]), *self.manifest.corpora]
        return self._summarized(facts, [".results()", ".mentions()", ".links()"], self.results)

    def results(self) -> pl.DataFrame:
        """Return a row per corpus, type, stratum, model and statistic: ``LINK_SCORES``."""
        return self._checked(LINK_SCORES.files)

    def mentions(self) -> pl.DataFrame:
        """Return a row per mention: ``MENTION``."""
        return self._checked(MENTION.files)

    def links(self) -> pl.DataFrame:
        """Return the rank of each mention's concept by each model: ``LINK``."""
        return self._checked(LINK.files)
