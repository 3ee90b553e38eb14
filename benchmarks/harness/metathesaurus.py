"""Invents a release of UMLS of any size, with as many names per concept as the real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies.synthetic.concepts import ConceptNames, Draws, Wording

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_CHUNK = 100_000  # concepts
_MEAN_NAMES = 2.9  # per concept, geometrically distributed, which gives 5.5 pairs
_OTHER_WORDINGS = np.array(
    [
        Wording[name]
        for name in Wording.__members__
        if name not in {"PLAIN", "DEFINITION", "UPPER", "TITLE"}
    ]
)
_VOCABULARIES = ("SNOMEDCT_US", "MSH", "NCI", "MEDCIN", "ICD10CM", "OMIM", "RXNORM", "LNC")
_SPANISH = 0.1  # of the names
_RETIRED = 0.01  # share of concepts that another concept replaces


def write_metathesaurus(folder: Path, concepts: int, seed: int) -> None:
    """Write MRCONSO.RRF, MRREL.RRF and MRSTY.RRF of invented concepts, which a seed decides."""
    folder.mkdir(parents=True)
    names = ConceptNames(Draws(seed))
    for first in range(0, concepts, _CHUNK):
        rng = np.random.default_rng([seed, first])
        numbers = np.arange(first, min(first + _CHUNK, concepts))
        is_retired = rng.random(len(numbers)) < _RETIRED
        _append(folder / "MRCONSO.RRF", _atoms(rng, names, numbers, is_retired))
        _append(folder / "MRREL.RRF", _relations(rng, numbers, is_retired))
        types = pl.DataFrame({"cui": _cuis(numbers)}).with_columns(
            *_texts(tui="T047", stn="B2.2.1.2.1", sty="Disease or Syndrome", atui="", cvf="")
        )
        _append(folder / "MRSTY.RRF", types)


def _atoms(
    rng: np.random.Generator,
    names: ConceptNames,
    numbers: NDArray[np.int64],
    is_retired: NDArray[np.bool_],
) -> pl.DataFrame:
    """Return rows of MRCONSO.RRF: names of the concepts, each in one vocabulary or more."""
    n_names = np.minimum(rng.geometric(1 / _MEAN_NAMES, len(numbers)), len(_OTHER_WORDINGS))
    concept = np.repeat(np.arange(len(numbers)), n_names)
    place = np.arange(len(concept)) - np.repeat(np.cumsum(n_names) - n_names, n_names)
    is_first = place == 0
    turn = rng.integers(0, len(_OTHER_WORDINGS), len(numbers))[concept] + place
    other = _OTHER_WORDINGS[turn % len(_OTHER_WORDINGS)]
    wording = np.where(is_first, Wording.PLAIN, other)
    name = names.wordings(numbers).gather(wording * len(numbers) + concept)
    is_spanish = (rng.random(len(concept)) < _SPANISH) & ~is_first
    rows = np.repeat(np.arange(len(concept)), 1 + rng.poisson(0.4, len(concept)))
    aui = pl.Series(numbers[0] * 100 + np.arange(len(rows)), dtype=pl.Int64)
    sab = pl.Series(_VOCABULARIES).gather(rng.integers(0, len(_VOCABULARIES), len(rows)))
    flags = {
        "lat": pl.Series(is_spanish).replace_strict({True: "SPA", False: "ENG"}),
        "ts": pl.Series(is_first).replace_strict({True: "P", False: "S"}),
        "suppress": pl.Series(is_retired[concept]).replace_strict({True: "O", False: "N"}),
    }
    of_name = {name: values.gather(rows) for name, values in flags.items()}
    return pl.DataFrame(
        {
            "cui": _cuis(numbers[concept]).gather(rows),
            "aui": "A" + aui.cast(pl.String).str.zfill(9),
            "sab": sab,
            "code": pl.Series(numbers[concept]).cast(pl.String).gather(rows),
            "str": name.gather(rows),
            **of_name,
        }
    ).select(
        "cui",
        "lat",
        "ts",
        *_texts(lui="L1", stt="PF", sui="S1", ispref="Y"),
        "aui",
        *_texts(saui="", scui="", sdui=""),
        "sab",
        *_texts(tty="PT"),
        "code",
        "str",
        *_texts(srl="0"),
        "suppress",
        *_texts(cvf=""),
    )


def _relations(
    rng: np.random.Generator, numbers: NDArray[np.int64], is_retired: NDArray[np.bool_]
) -> pl.DataFrame:
    """Return rows of MRREL.RRF: a parent of each concept, and substitutes of retired ones."""
    parents = rng.integers(0, numbers + 1)
    retired = numbers[is_retired]
    return pl.DataFrame(
        {
            "cui1": _cuis(np.r_[numbers, rng.integers(0, numbers[-1] + 1, len(retired))]),
            "cui2": _cuis(np.r_[parents, retired]),
            "rel": ["PAR"] * len(numbers) + ["RO"] * len(retired),
            "rela": [""] * len(numbers) + ["replaced_by"] * len(retired),
        }
    ).select(
        "cui1",
        *_texts(aui1="A1", stype1="AUI"),
        "rel",
        "cui2",
        *_texts(aui2="A1", stype2="AUI"),
        "rela",
        *_texts(rui="R1", srui="", sab="MTH", sl="MTH", rg="", dir="", suppress="N", cvf=""),
    )


def _cuis(numbers: NDArray[np.int64]) -> pl.Series:
    return "C" + pl.Series(numbers).cast(pl.String).str.zfill(7)


def _texts(**values: str) -> list[pl.Expr]:
    return [pl.lit(value).alias(name) for name, value in values.items()]


def _append(path: Path, rows: pl.DataFrame) -> None:
    """Append rows to a file, with a bar after each value."""
    with path.open("ab") as file:
        rows.with_columns(end=pl.lit("")).write_csv(
            file, include_header=False, separator="|", quote_style="never"
        )
