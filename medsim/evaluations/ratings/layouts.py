"""Published sets of rated pairs, each as its files are laid out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of the files of one published set.

    Column names are in lower case without spaces; a file's own are compared so.

    Attributes:
        header: the columns that tell its files; a file may have more. Empty where there is no
            header: then the columns below are numbers from 1, and there are no others.
        ratings: name of each rating, and its column. All are on one scale; where there are several,
            their mean is one more.
        terminology: that the terms were taken from, or the corpus.
        source: the paper that made the ratings.
    """

    name: str
    header: tuple[str, ...]
    term1: str = "term1"
    term2: str = "term2"
    ratings: dict[str, str] = field(default_factory=lambda: {"mean": "mean"})
    low: float
    high: float
    higher_is_similar: bool = True
    terminology: str
    source: str


LAYOUTS = (
    Layout(
        name="Hliaoutakis",
        header=("term1", "term2", "mesh1", "mesh2", "score"),
        ratings={"score": "score"},
        low=0.0,
        high=1.0,
        terminology="MeSH",
        source="Hliaoutakis 2005, Semantic similarity measures in MeSH, Technical University of "
        "Crete",
    ),
    Layout(
        name="Pedersen",
        header=("term1", "term2", "physician", "coder"),
        ratings={"physicians": "physician", "coders": "coder"},
        low=1.0,
        high=4.0,
        terminology="UMLS",
        source="Pedersen, Pakhomov, Patwardhan and Chute 2007, J Biomed Inform 40(3)",
    ),
    Layout(
        name="MiniMayoSRS",
        header=("physicians", "coders", "term1", "term2"),
        ratings={"physicians": "physicians", "coders": "coders"},
        low=1.0,
        high=4.0,
        terminology="UMLS",
        source="Pakhomov, Pedersen, McInnes, Melton, Ruggieri and Chute 2011, J Biomed Inform "
        "44(2), from the pairs of Pedersen et al. 2007",
    ),
    # Descriptions in circulation differ on which end means related. The file leaves no doubt: what
    # it rates highest are near synonyms, a fifth of it are unrelated controls at 1 exactly, and the
    # pair that it shares with UMNSRS is in the upper third of both.
    Layout(
        name="MayoSRS",
        header=("mean", "cui1", "cui2", "term1", "term2"),
        low=1.0,
        high=10.0,
        terminology="UMLS",
        source="Pakhomov, Pedersen, McInnes, Melton, Ruggieri and Chute 2011, J Biomed Inform "
        "44(2)",
    ),
    Layout(
        name="UMNSRS",
        header=("mean", "stdev", "term1", "term2", "cui1", "cui2"),
        low=0.0,
        high=1600.0,
        terminology="UMLS",
        source="Pakhomov, McInnes, Adam, Liu, Pedersen and Melton 2010, AMIA Annual Symposium; "
        "the mods: Pakhomov, Finley, McEwan, Wang and Melton 2016, Bioinformatics 32(23)",
    ),
    Layout(
        name="Bio-SimLex",
        header=(),
        term1="1",
        term2="2",
        ratings={"mean": "3"},
        low=0.0,
        high=10.0,
        terminology="PubMed",
        source="Chiu, Pyysalo, Vulić and Korhonen 2018, BMC Bioinformatics 19:33, which has "
        "Bio-SimVerb in the same layout",
    ),
)
"""The layouts that are recognised; of those that fit, the one that names most columns is taken."""
