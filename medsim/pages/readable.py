"""Tables for reading: headings of columns, and numbers as text."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from medsim.core.data import toml_of
from medsim.core.shown import number

_HEADINGS = toml_of(__package__, "headings.toml")


def headed(frame: pl.DataFrame, columns: Iterable[str] | pl.Expr, **names: str) -> pl.DataFrame:
    """Return columns of a frame under their headings.

    A heading is from ``names`` or ``headings.toml``, else the name with spaces and without "n_".
    """
    headings = _HEADINGS | names
    return frame.select(columns).rename(
        lambda name: headings.get(name, name.removeprefix("n_").replace("_", " "))
    )


def rounded(column: str, form: str = ".3f") -> pl.Expr:
    """Return numbers as texts, by default with three decimals; nulls stay."""
    return pl.col(column).map_elements(lambda value: number(value, form), pl.String)


def with_ends(value: str, low: str, high: str) -> pl.Expr:
    """Return values as texts, followed by the ends of their intervals, if any, in brackets."""
    ends = pl.format(" [{}, {}]", rounded(low), rounded(high)).fill_null("")
    return pl.concat_str(rounded(value), ends)


def percent(column: str) -> pl.Expr:
    """Return shares as texts in per cent, with one decimal."""
    return pl.format("{}%", cents(pl.col(column), ".1f")).alias(column)


def cents(share: pl.Expr, form: str) -> pl.Expr:
    """Return shares as texts in per cent, without the sign."""
    return (share * 100).map_elements(lambda value: number(value, form), pl.String)
