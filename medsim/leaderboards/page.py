"""The page of a leaderboard, and its table for a terminal."""

from __future__ import annotations

import math

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.errors import counted, listed
from medsim.core.manifest import medsim_version
from medsim.evaluations.sets import HEADLINE
from medsim.evaluations.statistic import STATISTICS
from medsim.leaderboards.options import LEADERBOARD_COLUMNS
from medsim.pages.page import FINGERPRINT, Chart, Page, PageTable, Section, with_interval
from medsim.pages.readable import headed, rounded, with_ends
from medsim.pages.sentences import is_above

_TRAINED = "trained on this terminology"
_HEADINGS = {"value": "matched AUC", "gain": "above baseline", "trained_here": _TRAINED}
_ENDS = ("low", "high")
_HEADINGS |= {"size": "bytes", "size_class": "size"}
_SIZES = {"to 10 MB": 1e7, "to 100 MB": 1e8, "over 100 MB": math.inf}
_SIZE_CLASS = pl.coalesce(
    *(pl.when(pl.col("size") <= most).then(pl.lit(name)) for name, most in _SIZES.items()),
    pl.lit("not known"),
)


def readable_board(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of ``leaderboard`` for a terminal, with intervals as text."""
    texts = rows.with_columns(
        pl.concat_str("build", "version", separator=" ", ignore_nulls=True).alias("build"),
        with_ends("value", *_ENDS).alias("value"),
        rounded("gain"),
    )
    shown = [
        "build",
        *LEADERBOARD_COLUMNS[:2],
        "metric",
        *(name for name in LEADERBOARD_COLUMNS[2:] if name not in _ENDS),
    ]
    return headed(texts, shown, **_HEADINGS)


def leaderboard_page(rows: pl.DataFrame) -> Page:
    """Return the page of the rows of ``leaderboard``, with a section for each build."""
    boards = rows.partition_by("build_fingerprint", maintain_order=True)
    models = counted(rows["model"].n_unique(), "model")
    return Page(
        title="Leaderboard",
        lead=f"{models} on {counted(len(boards), 'build')}, ranked by how well they separate "
        "synonyms from other terms of similar spelling.",
        signature=f"medsim {medsim_version()}, "
        f"leaderboard@{canonical_digest(rows.select('key', 'build_fingerprint').rows())[:12]}",
        sections=[_section(board) for board in boards],
        words={
            "matched AUC": STATISTICS[HEADLINE].help,
            _TRAINED: "Yes if a declared source is the terminology, contains it or is part of it. "
            "Such a score may not hold for other terminologies. No if all sources are collections "
            "of texts. medsim does not check declarations.",
            "coverage": "The share of the matched pairs that have vectors.",
            "above baseline": "The matched AUC minus that of the best baseline without a model.",
        },
    )


def _section(board: pl.DataFrame) -> Section:
    from medsim.pages import charts  # noqa: PLC0415 — an extra

    name, digest = pl.col("model"), pl.col("fingerprint").str.head(FINGERPRINT // 2)
    unique = pl.when(name.is_duplicated()).then(pl.format("{}@{}", name, digest)).otherwise(name)
    digits = pl.col("fingerprint").str.head(FINGERPRINT)
    board = board.with_columns(unique, size_class=_SIZE_CLASS, fingerprint=digits)
    best = board.row(0, named=True)
    title = " ".join(filter(None, (best["build"], best["version"])))
    leaders = board.filter(rank=1)["model"].to_list()
    says = "leads with" if len(leaders) == 1 else "share the first rank; the best has"
    chance = STATISTICS[HEADLINE].chance or 0.0
    if not any(is_above(row, chance) for row in board.to_dicts()):
        leaders = ["No model"]
        says = f"is significantly better than chance ({chance:g}); {best['model']} has"
    facts = ["coverage", "trained_on", "metric", "options", "n_dimensions", "size", "medsim"]
    table = PageTable(
        caption=f"Models on {title}",
        frame=headed(
            board, [*LEADERBOARD_COLUMNS, "size_class", *facts, "fingerprint"], **_HEADINGS
        ),
        filters=("kind", "size", _TRAINED),
    )
    chart = Chart(
        title=f"Matched AUC on {title}",
        says="Bars are 95% confidence intervals. Filled points have rank 1. The dashed line is the "
        f"best baseline without a model ({best['baseline']}).",
        spec=charts.ranking(
            board["model"].to_list(),
            charts.ValueAxis(title="matched AUC", line=best["value"] - (best["gain"] or 0)),
        ),
        rows=charts.points(
            board.with_columns(contender=pl.lit(""), first=pl.col("rank") == 1),
            y="model",
            ends=_ENDS,
            filled="first",
        ),
        table=PageTable(caption="Scores", frame=headed(board, LEADERBOARD_COLUMNS, **_HEADINGS)),
    )
    return Section(
        title=title,
        result=[f"{listed(leaders)} {says} a matched AUC of {with_interval(best)}."],
        prose=f"The fingerprint of the build is {best['build_fingerprint'][:FINGERPRINT]}. A rank "
        "is 1 plus the number of models that are significantly better. Two models of one "
        "evaluation are compared by a paired test (p below 0.05 after Bonferroni's correction for "
        "all comparisons on the build), others by whether their confidence intervals overlap.",
        parts=[table, chart],
    )
