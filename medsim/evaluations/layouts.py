"""The columns of files of rated pairs, as users name them and in published sets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from medsim.core.errors import OptionError, unknown_name
from medsim.core.tables import SEPARATORS

DIRECTIONS = {"similar": True, "different": False}
"""The directions of ratings: whether a higher rating means more similar."""

HOW_TO_NAME = "FILE,term1=NAME,term2=NAME,rating=NAME, with names or numbers of columns"
"""How a user names the columns of a file, for messages."""

_OPTIONS = ("term1", "term2", "rating", "rater", "separator", "higher")
_CHOICES = {"separator": list(SEPARATORS), "higher": list(DIRECTIONS)}
_COMMA_BEFORE_OPTION = re.compile(r",(?=[a-z][a-z0-9_]*=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedColumns:
    """A user's description of a file of rated pairs.

    A column is named as in the file's header, where letter case and spaces may differ, or by its
    number from 1. If all are named by numbers the file may lack a header; the first line is a
    header if its rating is neither a number nor a marker of a missing value.

    Attributes:
        term1: the column of first terms. If all columns are None, the layout of the file gives
            them.
        separator: the character between columns, one of ``medsim.core.tables.SEPARATORS``;
            None detects it.
        higher_is_similar: whether a higher rating means more similar; None means that it does.
        raters: the columns of individual raters, whose agreement is computed; cells may be empty.
            Without ``ratings``, the mean over raters is the rating.
    """

    term1: str | None = None
    term2: str | None = None
    ratings: tuple[str, ...] = ()
    separator: str | None = None
    higher_is_similar: bool | None = None
    raters: tuple[str, ...] = field(default=(), repr=False)  # not in older fingerprints

    def names(self) -> tuple[str, ...]:
        """Return the names of all columns; empty if a layout gives them.

        Raises:
            OptionError: a column is missing.
        """
        rated = (*self.ratings, *self.raters)
        if self.term1 is None and self.term2 is None and not rated:
            return ()
        if not (self.term1 and self.term2 and rated and all(rated)):
            raise OptionError(f"name two terms and a rating: {HOW_TO_NAME}")
        if len(self.raters) == 1:
            raise OptionError("agreement needs two raters; name a single rater as the rating")
        return (self.term1, self.term2, *rated)


def parse_rated(text: str) -> tuple[Path, RatedColumns | None]:
    """Return the path in a text, and the columns that follow it, if any.

    Columns begin at the first comma before one of the options of ``parse_columns``; any other comma
    belongs to the path.
    """
    path, *rest = re.split(rf",(?=(?:{'|'.join(_OPTIONS)})=)", text, maxsplit=1)
    return Path(path), parse_columns(rest[0]) if rest else None


def parse_columns(text: str) -> RatedColumns:
    """Return the columns in a text such as "term1=Name A,term2=Name B,rating=score".

    ``rating`` and ``rater`` may be given several times. ``separator`` is tab, bar, semicolon or
    comma, ``higher`` is similar or different. A comma without an option after it belongs to a name.

    Raises:
        OptionError: an option is unknown, missing, given twice or has a wrong value.
    """
    values_by_name: dict[str, list[str]] = {name: [] for name in _OPTIONS}
    for part in _COMMA_BEFORE_OPTION.split(text):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not value:
            raise OptionError(f"{text!r}: {part!r} is not NAME=VALUE; use {HOW_TO_NAME}")
        if name not in values_by_name:
            raise OptionError(f"{text!r}: {unknown_name('option', name, list(_OPTIONS))}")
        if value not in _CHOICES.get(name, [value]):
            raise OptionError(unknown_name(name, value, list(_CHOICES[name])))
        if values_by_name[name] and name not in {"rating", "rater"}:
            raise OptionError(f"{text!r} gives {name} twice")
        values_by_name[name].append(value)
    first = {name: values[0] for name, values in values_by_name.items() if values}
    columns = RatedColumns(
        term1=first.get("term1"),
        term2=first.get("term2"),
        ratings=tuple(values_by_name["rating"]),
        raters=tuple(values_by_name["rater"]),
        separator=SEPARATORS.get(first.get("separator", "")),
        higher_is_similar=DIRECTIONS.get(first.get("higher", "")),
    )
    columns.names()
    return columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of the files of one published set.

    Column names are in lower case without spaces; those of files are compared in the same form.

    Attributes:
        header: the columns that identify its files; a file may have more. Empty if files have no
            header: then the file has only the columns below, numbered from 1.
        first: for files without a header, the pattern of the cells of the first line, with a tab
            after each; lines may then have additional cells. Empty if any line with the columns
            below fits.
        ratings: name of each rating, and its column. All are on one scale; if there are several,
            their mean is added as a rating.
        raters: the columns of individual raters, whose agreement is computed; cells may be empty.
            Without ``ratings``, the mean over raters is the rating.
        scale: the lowest and the highest rating; None if files of the layout differ.
        sentences: whether the terms are sentences; files with tabs between them quote no cells.
        terminology: the terminology or corpus of the terms; None if files differ.
        source: the paper that made the ratings.
    """

    name: str
    header: tuple[str, ...]
    term1: str = "term1"
    term2: str = "term2"
    first: str = ""
    ratings: dict[str, str] = field(default_factory=lambda: {"mean": "mean"})
    raters: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    sentences: bool = False
    terminology: str | None = None
    source: str


_RATERS = tuple(f"rater{letter}" for letter in "abcde")
_ANNOTATORS = tuple(f"annotator{letter}" for letter in "abcde")

LAYOUTS = (
    Layout(
        name="Hliaoutakis",
        header=("term1", "term2", "mesh1", "mesh2", "score"),
        ratings={"score": "score"},
        scale=(0.0, 1.0),
        terminology="MeSH",
        source="Hliaoutakis 2005, Semantic similarity measures in MeSH, Technical University of "
        "Crete",
    ),
    Layout(
        name="Pedersen",
        header=("term1", "term2", "physician", "coder"),
        ratings={"physicians": "physician", "coders": "coder"},
        scale=(1.0, 4.0),
        terminology="UMLS",
        source="Pedersen, Pakhomov, Patwardhan and Chute 2007, J Biomed Inform 40(3)",
    ),
    Layout(
        name="MiniMayoSRS",
        header=("physicians", "coders", "term1", "term2"),
        ratings={"physicians": "physicians", "coders": "coders"},
        scale=(1.0, 4.0),
        terminology="UMLS",
        source="Pakhomov, Pedersen, McInnes, Melton, Ruggieri and Chute 2011, J Biomed Inform "
        "44(2), from the pairs of Pedersen et al. 2007",
    ),
    # Descriptions of this set differ on which end of the scale means related. In the file, high
    # ratings do: the highest are near synonyms, a fifth of the pairs are unrelated controls rated
    # exactly 1, and the one pair that UMNSRS also has is in the upper third of both.
    Layout(
        name="MayoSRS",
        header=("mean", "cui1", "cui2", "term1", "term2"),
        scale=(1.0, 10.0),
        terminology="UMLS",
        source="Pakhomov, Pedersen, McInnes, Melton, Ruggieri and Chute 2011, J Biomed Inform "
        "44(2)",
    ),
    Layout(
        name="UMNSRS",
        header=("mean", "stdev", "term1", "term2", "cui1", "cui2"),
        scale=(0.0, 1600.0),
        terminology="UMLS",
        source="Pakhomov, McInnes, Adam, Liu, Pedersen and Melton 2010, AMIA Annual Symposium; "
        "the mods: Pakhomov, Finley, McEwan, Wang and Melton 2016, Bioinformatics 32(23)",
    ),
    Layout(
        name="UMNSRS without a header",
        header=(),
        first=r"([^\t]+\t){2}[0-9]{3,4}(\.[0-9]+)?\t",  # other sets have ratings below 100
        term1="1",
        term2="2",
        ratings={"mean": "3"},
        scale=(0.0, 1600.0),
        terminology="UMLS",
        source="as UMNSRS, in the repository of Chiu et al. 2018, BMC Bioinformatics 19:33",
    ),
    Layout(
        name="SimVerb-3500",
        header=(),
        first=r"([^\t]+\t){2}V\t.*",
        term1="1",
        term2="2",
        ratings={"mean": "4"},
        scale=(0.0, 10.0),
        terminology="VerbNet",
        source="Gerz, Vulić, Hill, Reichart and Korhonen 2016, EMNLP",
    ),
    Layout(
        name="Bio-SimLex",
        header=(),
        term1="1",
        term2="2",
        ratings={"mean": "3"},
        scale=(0.0, 10.0),
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
        scale=(0.0, 3.0),
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
        scale=(0.0, 4.0),
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
        sentences=True,
        source="Cer, Diab, Agirre, Lopez-Gazpio and Specia 2017, SemEval; BIOSSES and other sets "
        "are also distributed with these columns",
    ),
    Layout(
        name="STS benchmark",
        header=(),
        first=r"main-(captions|forums?|news)\t.*",
        term1="6",
        term2="7",
        ratings={"score": "5"},
        scale=(0.0, 5.0),
        sentences=True,
        terminology="captions, forums and news",
        source="Cer, Diab, Agirre, Lopez-Gazpio and Specia 2017, SemEval",
    ),
)
"""The known layouts; if several fit a file, the one that names the most columns is used."""
