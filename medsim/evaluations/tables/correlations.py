"""Correlations of intrinsic with extrinsic scores: what each says, and tables of them."""

from __future__ import annotations

import math

import polars as pl

from medsim.statistics.correlation import FEWEST_FOR_TEST, PearsonTest, smallest_detectable

ALPHA = 0.05
"""The level of significance."""

STRONG = 0.5
"""A large correlation (Cohen 1988, section 3.2); what could not show it has too few models."""

COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "set": pl.String,
    "statistic": pl.String,
    "task": pl.String,
    "r": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "t": pl.Float64,
    "p": pl.Float64,
    "p_holm": pl.Float64,
    "n_models": pl.Int64,
    "smallest_r": pl.Float64,
    "verdict": pl.String,
}
"""The columns of correlations, a row per intrinsic set and extrinsic task."""

STARS = {0.001: "***", 0.01: "**", 0.05: "*"}
"""What a cell shows of p after Holm's correction, by the level that it is below."""

_UNDEFINED = "–"  # noqa: RUF001 — an en dash, as tables have it


def too_few(n_models: int) -> str | None:
    """Return what to say where so few models could hardly show a large correlation, else None."""
    if n_models <= FEWEST_FOR_TEST:
        return f"too few models: {n_models} cannot show any correlation"
    smallest = smallest_detectable(n_models)
    if smallest <= STRONG:
        return None
    return f"too few models: only |r| ≥ {smallest:.2f} could show at 80% power"


def verdict(found: PearsonTest, p_holm: float, n_tests: int) -> str:
    """Return in words what a correlation shows.

    Args:
        found: the correlation and its test.
        p_holm: its p after Holm's correction.
        n_tests: how many tests it was corrected for.
    """
    if found.n < FEWEST_FOR_TEST:
        return f"undefined: {found.n} models have both scores; {FEWEST_FOR_TEST} are needed"
    if math.isnan(found.r.value):
        return "undefined: all models have the same score on one side"
    if p_holm < ALPHA:
        return "significant"
    before = f" after correction for {n_tests} tests" if found.p < ALPHA else ""
    more = too_few(found.n)
    if more is None:
        more = f"|r| ≥ {smallest_detectable(found.n):.2f} could show at 80% power"
    return f"not significant{before}; {more}"


def readable_correlations(rows: pl.DataFrame) -> pl.DataFrame:
    """Return correlations as they are to be read: a row per set, a column per task.

    A cell has r and the ``STARS`` of its corrected p; the last columns how many models there were
    and the smallest correlation that so many are likely to show. The shape is that of tables 6, 8
    and 9 of Chiu et al. (BMC Bioinformatics 2018).

    Args:
        rows: ``COLUMNS``.
    """
    taken = {"set", "statistic", "models", "detectable r"}
    table = []
    for (name, statistic), of_set in rows.group_by("set", "statistic", maintain_order=True):
        cells = {
            f"{task} (task)" if task in taken else task: _cell(r, p)
            for task, r, p in of_set.select("task", "r", "p_holm").iter_rows()
        }
        n_models = sorted(set(of_set["n_models"].to_list()))
        smallest = [r for r in of_set["smallest_r"] if r is not None]
        table.append(
            {
                "set": name,
                "statistic": statistic,
                **cells,
                "models": " to ".join(str(n) for n in dict.fromkeys((n_models[0], n_models[-1]))),
                "detectable r": f"{max(smallest):.2f}" if smallest else _UNDEFINED,
            }
        )
    found = pl.DataFrame(table, infer_schema_length=None)
    return found if found["statistic"].null_count() == 0 else found.drop("statistic")


def _cell(r: float | None, p: float | None) -> str:
    if r is None or p is None:
        return _UNDEFINED
    stars = next((stars for level, stars in STARS.items() if p < level), "")
    return f"{r:.3f}{stars}".replace("-", "\N{MINUS SIGN}")
