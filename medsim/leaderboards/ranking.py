"""Ranks models by their headline scores, build by build, and shows them as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.config import MINIMAL
from medsim.core.errors import InputError, counted, listed
from medsim.core.manifest import MANIFEST, medsim_version
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import beginning_of
from medsim.evaluations.output import RESULT
from medsim.evaluations.result_file import read_result
from medsim.evaluations.sets import CONFUSIONS, HEADLINE, with_parts
from medsim.evaluations.statistic import BASELINE, STATISTICS
from medsim.evaluations.training_data import trained_here
from medsim.leaderboards.options import LEADERBOARD_COLUMNS, LeaderboardOptions
from medsim.pages.markup import write_page
from medsim.pages.page import FINGERPRINT, Chart, Page, PageTable, Section, with_interval
from medsim.pages.readable import headed, rounded, with_ends
from medsim.pages.sentences import ALPHA, is_above

_ID = ["build_fingerprint", "key"]
_LABEL = STATISTICS[HEADLINE].label
_CONFUSED = ["build", "model", "part_value"]
_KINDS = ("side", "negation", "number", "parent_child")  # each has a column
_SAME = 1e-4  # scores of one model on machines of other kinds differ less


@public(LeaderboardOptions)
def leaderboard(options: LeaderboardOptions) -> pl.DataFrame:
    """Rank the models of evaluations by their headline scores, and write them as a page.

    Results on builds with different fingerprints are never ranked together. The page is one file
    that makes no network requests; an earlier report at that path is replaced.

    Returns:
        A row per build and model, the best first, with its rank: 1 plus the number of models that
        are significantly better. ranked_by says how models were compared: by paired tests, with
        Bonferroni's correction for all comparisons on the build, if both are in one evaluation;
        else by whether their confidence intervals overlap.

    Raises:
        InputError: a result is missing or damaged, none has a headline score, or two results of a
            model on one build differ.
        OptionError: the extra medsim[report] is not installed, or ``out`` has another ending.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    files = _files(options.paths, progress_of(options.progress))
    rows = ranking_of(map(read_result, files))
    if rows.is_empty():
        raise InputError("no result has a headline score; evaluate models on a default build")
    if options.out is not None:
        write_page(options.out, "the leaderboard", lambda: leaderboard_page(rows), options.progress)
    return rows


def _files(paths: Iterable[Path], progress: Progress) -> Iterator[Path]:
    """Yield the result files that paths name; other JSON files in a folder are left out."""
    for path in paths:
        files = [path / RESULT] if (path / RESULT).exists() else sorted(path.rglob("*.json"))
        files = [file for file in files if file.name != MANIFEST] if path.is_dir() else [path]
        results = [file for file in files if file == path or _is_result(file)]
        if others := [str(file.relative_to(path)) for file in files if file not in results]:
            what = f"{counted(len(others), 'JSON file')} left out, not a {RESULT}"
            progress.warn(f"{path}: {what}: {listed(others, 5)}")
        if not results:
            raise InputError(f"{path} has no {RESULT}; evaluate a build, not a sample of it")
        yield from results


def _is_result(file: Path) -> bool:
    """Return whether a file has the name or the beginning of a result, which may be damaged."""
    beginning = beginning_of(file) if file.is_file() else b""
    return file.name == RESULT or (b'"schema"' in beginning and b'"medsim"' in beginning)


def ranking_of(results: Iterable[Mapping[str, pl.DataFrame]]) -> pl.DataFrame:
    """Return the models of results, each from ``read_result``, with their ranks.

    A model that is in several results, with the same options, has one row.
    """
    boards, tests = [], []
    for result in results:
        models = result["models"].rename({"name": "model"})
        builds = result["builds"].rename({"name": "build", "fingerprint": "build_fingerprint"})
        covered = (
            result["scores"]
            .filter(statistic=HEADLINE)
            .select("build", "model", coverage=pl.col("n_covered") / pl.col("n_pairs"))
        )
        board = result["headlines"].join(models, on="model").join(builds, on="build")
        board = board.join(covered, on=["build", "model"], how="left")
        board = board.join(_confused(result["scores"]), on=["build", "model"], how="left")
        same = pl.concat_str("fingerprint", "options", "metric", "evaluated", separator="\n")
        boards.append(board.with_columns(key=same))
        keys = boards[-1].select("build", "model", *_ID)
        for side, other in (("1", "2"), ("2", "1")):
            both = result["tests"]
            for name in (side, other):
                named = keys.rename({"model": f"model{name}"})
                both = both.join(named, on=["build", f"model{name}"], suffix="_other")
            both = both.filter(pl.col("key") != pl.col("key_other"), pl.col("p").is_not_null())
            tests.append(both.select(*_ID, "key_other", "p"))
    split_name = pl.format("{} {} split", "source", "split")
    rows = pl.concat(boards).with_columns(pl.coalesce(split_name, "build").alias("build"))
    apart = (pl.col("value").max() - pl.col("value").min()).over(_ID) > _SAME
    for model, build, *scores in (
        rows.filter(apart)
        .group_by(_ID, maintain_order=True)
        .agg(
            pl.col("model", "build").first(), low=pl.col("value").min(), high=pl.col("value").max()
        )
        .select("model", "build", "low", "high")
        .iter_rows()
    ):
        low, high = (f"{score:.3f}" for score in scores)
        raise InputError(
            f"{model} has the scores {low} and {high} on {build}; leave one result out"
        )
    rows = rows.sort("trained_on", nulls_last=True, maintain_order=True)
    rows = rows.unique(_ID, keep="first", maintain_order=True)
    rows = _with_ranks(rows, pl.concat(tests))
    declared = rows.select("trained_on", "build", "source", "vocabulary").rows()
    return (
        rows.with_columns(
            trained_here=pl.Series([trained_here(*row) for row in declared], dtype=pl.String)
        )
        .sort("build", "build_fingerprint", -pl.col("value"), "model")
        .select("build", *LEADERBOARD_COLUMNS, pl.exclude("build", *LEADERBOARD_COLUMNS))
    )


def _confused(scores: pl.DataFrame) -> pl.DataFrame:
    """Return how often a synonym is nearer than a negative of some kinds: build, model, kinds.

    Minimal negatives count, or if there are none Levenshtein negatives.
    """
    found = with_parts(scores.filter(pl.col("model") != BASELINE, statistic=CONFUSIONS[0]))
    best = found.sort(pl.col("negatives") != MINIMAL).unique(_CONFUSED, keep="first")
    return best.pivot("part_value", on_columns=[*_KINDS], index=_CONFUSED[:2], values="value")


def _with_ranks(rows: pl.DataFrame, tests: pl.DataFrame) -> pl.DataFrame:
    """Return rows with rank and ranked_by, in memory linear in the models and tests.

    Intervals count the models whose interval is above; tested pairs then replace their share of
    this count. A model without an interval has its value instead. If several results test a pair,
    the largest p-value counts.
    """
    low, high = pl.min_horizontal("low", "value"), pl.max_horizontal("high", "value")
    n_not_above = low.sort().search_sorted(high, side="right").cast(pl.Int64)
    rows = rows.with_columns(
        n_above=(pl.len() - n_not_above).over("build_fingerprint"),
        n_others=pl.len().over("build_fingerprint").cast(pl.Int64) - 1,
    )
    ends = rows.select(*_ID, "value", "n_others", low=low, high=high)
    n_comparisons = pl.col("n_others") * (pl.col("n_others") + 1) / 2
    is_significant = pl.col("p") * n_comparisons < ALPHA
    by_test = is_significant & (pl.col("value") < pl.col("value_other"))
    by_intervals = pl.col("high") < pl.col("low_other")
    other = ["build_fingerprint", "key_other"]
    pairs = tests.group_by(*_ID, "key_other").agg(pl.col("p").max()).join(ends, on=_ID)
    pairs = pairs.join(ends, left_on=other, right_on=_ID, suffix="_other")
    changes = pairs.group_by(_ID).agg(
        change=by_test.cast(pl.Int64).sum() - by_intervals.cast(pl.Int64).sum(), n_tested=pl.len()
    )
    rows = rows.join(changes, on=_ID, how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("change", "n_tested").fill_null(0))
    by_tests = pl.when(pl.col("n_tested") > 0).then(pl.lit("paired tests"))
    by_others = pl.when(pl.col("n_tested") < pl.col("n_others")).then(pl.lit("intervals"))
    ranked_by = pl.concat_str(by_tests, by_others, separator=" and ", ignore_nulls=True)
    rank = 1 + pl.col("n_above") + pl.col("change")
    rows = rows.with_columns(rank=rank, ranked_by=ranked_by.replace("", None))
    return rows.drop("n_above", "n_others", "change", "n_tested")


_TRAINED = "trained on this terminology"
_HEADINGS = {
    "value": _LABEL,
    "gain": "above baseline",
    "trained_here": _TRAINED,
    "size": "bytes",
    "size_class": "size",
    **{kind: f"against {kind.replace('_', ' or ')}" for kind in _KINDS},
}
_AGAINST = (
    "How often a synonym is more similar to a name than a name of another concept that differs in "
    "this way, or is that of a parent or child."
)
_ENDS = ("low", "high")
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
        *map(rounded, ("gain", *_KINDS)),
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
        "synonyms from other terms that look equally alike.",
        signature=f"medsim {medsim_version()}, "
        f"leaderboard@{canonical_digest(rows.select('key', 'build_fingerprint').rows())[:12]}",
        sections=[_section(board) for board in boards],
        words={
            _LABEL: STATISTICS[HEADLINE].help,
            _TRAINED: "Yes if a declared source is the terminology, contains it or is part of it. "
            "Such a score may not hold for other terminologies. No if all sources are collections "
            "of texts. medsim does not check declarations.",
            "coverage": "The share of the pairs of this score that have vectors.",
            "above baseline": "The score minus that of the best baseline without a model.",
            **{_HEADINGS[kind]: _AGAINST for kind in _KINDS},
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
        title=f"{_LABEL} on {title}",
        says="Bars are 95% confidence intervals. Filled points have rank 1. The dashed line is the "
        f"best baseline without a model ({best['baseline']}).",
        spec=charts.ranking(
            board["model"].to_list(),
            charts.ValueAxis(title=_LABEL, line=best["value"] - (best["gain"] or 0)),
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
        result=[f"{listed(leaders)} {says} an {_LABEL} of {with_interval(best)}."],
        prose=f"The fingerprint of the build is {best['build_fingerprint'][:FINGERPRINT]}. A rank "
        "is 1 plus the number of models that are significantly better. Two models of one "
        "evaluation are compared by a paired test (p below 0.05 after Bonferroni's correction for "
        "all comparisons on the build), others by whether their confidence intervals overlap.",
        parts=[table, chart],
    )
