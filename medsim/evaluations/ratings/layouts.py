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
        first: of files without a header, the cells that a line may begin with; then a line may have
            more cells than are read. Empty where that is not told.
        ratings: name of each rating, and its column. All are on one scale; where there are several,
            their mean is one more.
        raters: the columns of the raters whose agreement is told; some may not have rated a pair.
            Where there is no rating, the mean of theirs is one.
        low: the lowest rating; None, as is the highest, where files of the layout differ.
        sentences: whether the terms are sentences; files with tabs between them quote no cells.
        terminology: that the terms were taken from, or the corpus; None where files differ.
        source: the paper that made the ratings.
    """

    name: str
    header: tuple[str, ...]
    term1: str = "term1"
    term2: str = "term2"
    first: frozenset[str] = frozenset()
    ratings: dict[str, str] = field(default_factory=lambda: {"mean": "mean"})
    raters: tuple[str, ...] = ()
    low: float | None
    high: float | None
    higher_is_similar: bool = True
    sentences: bool = False
    terminology: str | None
    source: str

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and the highest rating; None where files of the layout differ."""
        return None if self.low is None or self.high is None else (self.low, self.high)


_RATERS = tuple(f"rater{letter}" for letter in "abcde")
_ANNOTATORS = tuple(f"annotator{letter}" for letter in "abcde")

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
    Layout(
        name="EHR-Rel",
        header=("snomedlabel1", "snomedlabel2", *_RATERS, "meanrating"),
        term1="snomedlabel1",
        term2="snomedlabel2",
        ratings={"mean": "meanrating"},
        raters=_RATERS,
        low=0.0,
        high=3.0,
        terminology="SNOMED CT",
        source="Schulz, Levy-Kramer, Van Assel, Kepes and Hammerla 2020, COLING",
    ),
    Layout(
        name="BIOSSES",
        header=("sentence1", "sentence2", *_ANNOTATORS),
        term1="sentence1",
        term2="sentence2",
        ratings={},
        raters=_ANNOTATORS,
        low=0.0,
        high=4.0,
        sentences=True,
        terminology="TAC",
        source="So\u011fanc\u0131o\u011flu, Öztürk and Özgür 2017, Bioinformatics 33(14)",
    ),
    Layout(
        name="STS",
        header=("sentence1", "sentence2", "score"),
        term1="sentence1",
        term2="sentence2",
        ratings={"score": "score"},
        low=None,
        high=None,
        sentences=True,
        terminology=None,
        source="Cer, Diab, Agirre, Lopez-Gazpio and Specia 2017, SemEval; BIOSSES and other sets "
        "are passed around with these columns too",
    ),
    Layout(
        name="STS benchmark",
        header=(),
        first=frozenset({"main-captions", "main-forum", "main-forums", "main-news"}),
        term1="6",
        term2="7",
        ratings={"score": "5"},
        low=0.0,
        high=5.0,
        sentences=True,
        terminology="captions, forums and news",
        source="Cer, Diab, Agirre, Lopez-Gazpio and Specia 2017, SemEval",
    ),
)
"""The layouts that are recognised; of those that fit, the one that names most columns is taken."""
