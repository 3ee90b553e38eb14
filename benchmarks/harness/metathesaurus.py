"""Invents a release of UMLS of any size, with as many names of a concept as the real one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_CHUNK = 100_000  # concepts
_MEAN_NAMES = 2.9  # of a concept; their number falls geometrically, so that pairs are 7.3 a concept
_MOST_WORDS = 6
_SYLLABLES = tuple(a + b for a in "bcdfghklmnprstvz" for b in ("a", "e", "i", "o", "u", "ol", "er"))
_VOCABULARIES = ("SNOMEDCT_US", "MSH", "NCI", "MEDCIN", "ICD10CM", "OMIM", "RXNORM", "LNC")
_SPANISH = 0.1  # of the names
_RETIRED = 0.01  # of the concepts, that another one replaces


def write_metathesaurus(folder: Path, concepts: int, seed: int) -> None:
    """Write MRCONSO.RRF, MRREL.RRF and MRSTY.RRF of some concepts, the same for a seed."""
    folder.mkdir(parents=True)
    words = _words(np.random.default_rng(seed))
    for first in range(0, concepts, _CHUNK):
        rng = np.random.default_rng([seed, first])
        numbers = np.arange(first, min(first + _CHUNK, concepts))
        is_retired = rng.random(len(numbers)) < _RETIRED
        _append(folder / "MRCONSO.RRF", _atoms(rng, words, numbers, is_retired))
        _append(folder / "MRREL.RRF", _relations(rng, numbers, is_retired))
        types = pl.DataFrame({"cui": _cuis(numbers)}).with_columns(
            *_texts(tui="T047", stn="B2.2.1.2.1", sty="Disease or Syndrome", atui="", cvf="")
        )
        _append(folder / "MRSTY.RRF", types)


def _words(rng: np.random.Generator) -> pl.Series:
    """Return 40,000 invented words, some with a letter beyond ASCII."""
    drawn = rng.integers(0, len(_SYLLABLES), (40_000, 4))
    lengths = rng.integers(2, 5, len(drawn))
    made = [
        "".join(_SYLLABLES[at] for at in row[:length])
        for row, length in zip(drawn.tolist(), lengths.tolist(), strict=True)
    ]
    return pl.Series(
        word.replace("e", "\u00e9", 1) if place % 100 == 0 else word
        for place, word in enumerate(made)
    )


def _atoms(
    rng: np.random.Generator,
    words: pl.Series,
    numbers: NDArray[np.int64],
    is_retired: NDArray[np.bool_],
) -> pl.DataFrame:
    """Return rows of MRCONSO.RRF: names that share words, each in one vocabulary or more."""
    n_names = rng.geometric(1 / _MEAN_NAMES, len(numbers))
    concept = np.repeat(np.arange(len(numbers)), n_names)
    lengths = rng.integers(2, _MOST_WORDS + 1, len(numbers))[concept]
    drawn = rng.integers(0, len(words), (len(numbers), _MOST_WORDS))[concept]
    changed = rng.integers(0, 3, len(concept))
    drawn[np.arange(len(concept)), changed] = rng.integers(0, len(words), len(concept))
    parts = [
        words.gather(drawn[:, place]).zip_with(
            pl.Series(lengths > place), pl.Series([None], dtype=pl.String)
        )
        for place in range(_MOST_WORDS)
    ]
    texts = pl.DataFrame({str(place): part for place, part in enumerate(parts)})
    name = texts.select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series()
    is_first = np.r_[True, concept[1:] != concept[:-1]]
    is_spanish = (rng.random(len(concept)) < _SPANISH) & ~is_first
    rows = np.repeat(np.arange(len(concept)), 1 + rng.poisson(0.4, len(concept)))
    aui = pl.Series(numbers[0] * 100 + np.arange(len(rows)), dtype=pl.Int64)
    sab = pl.Series(_VOCABULARIES).gather(rng.integers(0, len(_VOCABULARIES), len(rows)))
    term = name.str.slice(0, 1).str.to_uppercase() + name.str.slice(1)
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
            "str": term.gather(rows),
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
    """Return rows of MRREL.RRF: a parent of each concept, and what replaces retired ones."""
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
    """Write rows to the end of a file, a bar behind each value."""
    with path.open("ab") as file:
        rows.with_columns(end=pl.lit("")).write_csv(
            file, include_header=False, separator="|", quote_style="never"
        )
