"""The options of reading a terminology, and of the commands that write releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from medsim.core.config import MAX_SEED
from medsim.core.errors import OptionError
from medsim.core.options import (
    Option,
    Options,
    Reporting,
    input_field,
    input_option,
    main_field,
    main_option,
    option_field,
    output_option,
)

SynonymScope = Literal["exact", "narrow", "broad", "related"]

SOURCE_OPTION = Option(
    "Release of SNOMED CT (RF2), UMLS, RxNorm, LOINC, OMOP or MeSH (folder, zip or tar), an "
    ".obo, .owl, .ttl, .json (OBO graph or FHIR) or .xml file, a table of names (.csv and others), "
    "or a built-in name such as hpo.",
    argument=True,
    or_name=True,
)
"""The declaration of a terminology's location."""


def extensions_option(of: str = "the source") -> Option:
    """Return the declaration of extensions, of a release that help calls ``of``."""
    return input_option(
        f"RF2 extension or Delta files, or mappings (SSSOM or a FHIR ConceptMap), to read together "
        f"with {of}. Repeat it for several.",
        ("--with",),
        metavar="PATH",
    )


_ZIP = main_option("Zip file to write.", ("--out", "-o"))
_OVERWRITE = output_option(
    "Replace OUT if it exists. Only a release that medsim wrote is replaced."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions(Options):
    """The options of reading a terminology; a source accepts the language and some others.

    Attributes:
        keeps_columns: whether a table of names also fills the table ``local_row``, with a row per
            concept: concept_id; frequency, the sum over its rows, null if none has one; and kept,
            a JSON object with the distinct values of its columns without a role, as text.
    """

    keeps_columns: ClassVar[bool] = False

    language: str = input_field("en", "Language code of names.", key="language")
    as_of: date | None = input_field(
        None,
        "Read the state at this date (Full RF2 only). The newest state by default.",
        key="as_of",
    )
    dialect: str | None = input_field(
        None,
        "RF2 dialect, such as en-GB; default: all. Only its names are read. The identifier of a "
        "language reference set works too.",
        key="dialect",
        kept_empty=False,
    )
    extensions: Annotated[Sequence[str | Path], extensions_option()] = ()
    synonyms: Sequence[SynonymScope] = input_field(
        ("exact",),
        "Synonym scopes to read. They apply to OBO, OWL, MeSH and LOINC.",
        listed=True,
        lower=True,
        noun="synonym scope",
        key="synonym_scopes",
    )
    vocabularies: Sequence[str] = input_field(
        (),
        "Vocabularies of UMLS, RxNorm or OMOP to read, such as MSH,SNOMEDCT_US. All by default.",
        listed=True,
        key="vocabularies",
        kept_empty=False,
    )
    columns: Sequence[str] = input_field(
        (),
        "Columns of a table, such as concept=ID,term=LABEL. Others are synonyms, kind, language, "
        "active, obsolete, replaced_by, parent, category and frequency (ignored by builds). "
        "Numbers from 1 are for text without a header. separator=; separates synonyms, missing=- "
        "is the marker of missing values, and table=NAME is the table of a database or the sheet "
        "of a workbook. By default, columns have their usual names.",
        listed=True,
        metavar="ROLE=NAME",
        key="columns",
        kept_empty=False,
    )
    standard_concepts: bool = input_field(
        False, "Read only standard concepts (OMOP only).", key="standard_concepts", kept_empty=False
    )

    @property
    def languages(self) -> Sequence[str]:
        """The languages to read."""
        return [self.language]

    @property
    def by_concepts(self) -> bool:
        """Whether RF2's associations are followed by their concepts, not by their identifiers."""
        return False


@dataclass(frozen=True, slots=True)
class ConvertOptions(ReadingOptions):
    """The options of ``medsim convert``."""

    source: Annotated[str | Path, SOURCE_OPTION]
    out: Annotated[str | Path, _ZIP]
    _: KW_ONLY
    overwrite: Annotated[bool, _OVERWRITE] = False
    progress: Reporting = None


@dataclass(frozen=True, slots=True)
class SynthOptions(Options):
    """The options of ``medsim synth``."""

    out: Annotated[str | Path, _ZIP]
    _: KW_ONLY
    concepts: int = main_field(
        10_000,
        "Number of active concepts. A quarter more are retired.",
        least=1,
        most=9_000_000,  # limited by the identifiers of RF2
    )
    then: str | Path | None = main_field(
        None,
        "Zip file for a second release, half a year later, with changes in concepts, names and "
        "associations.",
    )
    seed: int = option_field(0, "Random seed.", least=0, most=MAX_SEED)
    overwrite: Annotated[bool, _OVERWRITE] = False
    progress: Reporting = None

    def check(self) -> None:
        """Raise OptionError if the second release would replace the first."""
        if self.then is not None and Path(self.then).absolute() == Path(self.out).absolute():
            raise OptionError("`then` and `out` are the same file; choose another one")
