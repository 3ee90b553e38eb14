"""Ranks models by their headline scores, build by build, and shows them as a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.errors import InputError, counted, listed
from medsim.core.manifest import MANIFEST, medsim_version
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import beginning_of
from medsim.core.shown import number
from medsim.definitions.benchmark import BENCHMARK, benchmark_builds
from medsim.evaluations.output import RESULT
from medsim.evaluations.result_file import read_result, sample_of
from medsim.evaluations.sets import HEADLINE
from medsim.evaluations.statistic import STATISTICS
from medsim.leaderboards.options import KIND_COLUMNS, LEADERBOARD_COLUMNS, LeaderboardOptions
from medsim.leaderboards.rows import IS_DIFFERENT, merged_rows, result_rows
from medsim.pages.markup import write_page
from medsim.pages.page import FINGERPRINT, Chart, Page, PageTable, Section, with_interval
from medsim.pages.readable import headed, rounded, with_ends
from medsim.pages.sentences import ALPHA, is_above
from medsim.statistics.estimates import FEWEST_CLUSTERS, interval_of

_LABEL = STATISTICS[HEADLINE].label
_ENDS = ("low", "high")
_BOARD = ["build_fingerprint", "n_pairs", "n_clusters", "effective"]


@public(LeaderboardOptions)
def leaderboard(options: LeaderboardOptions) -> pl.DataFrame:
    """Rank the models of evaluations by their headline scores, and write them as a page.

    Results on other builds, or on other pairs of a build, are never ranked together. Results that
    cannot be read are left out, with a warning. The page is one file that makes no network
    requests; an earlier report at that path is replaced.

    Returns:
        A row per build and model, the best first, with its rank: 1 plus the number of models that
        are significantly better, by paired tests of two models at p < 0.05. The tests are not
        corrected, so that no rank depends on tests of other models. Rows of
        "medsim-benchmark 1.0" have the mean of the scores on its builds. check says whether the
        score was found again: checked, unchecked, or different, with the reason and no rank.

    Raises:
        InputError: a path does not exist, no result can be read, or none has a headline score.
        OptionError: the extra medsim[report] is not installed, or ``out`` has another ending.
        OutputError: ``out`` exists and is not a report of medsim, or cannot be written.
    """
    progress = progress_of(options.progress)
    results, left_out = [], []
    for file in _files(options.paths, progress):
        name = "/".join(file.parts[-2:])
        try:
            results.append(result_rows(read_result(file)).with_columns(file=pl.lit(name)))
        except InputError as error:
            left_out.append(str(error).replace(str(file.with_suffix("")), name.rpartition(".")[0]))
    rows = pl.concat(results) if results else pl.DataFrame()
    if rows.is_empty():
        nothing = "no result has a headline score; evaluate models on a default build"
        raise InputError(left_out[0] if left_out else nothing)
    rows = merged_rows(rows)
    progress.warn(*(f"left out: {reason}" for reason in left_out))
    if options.checks:
        from medsim.leaderboards.checking import checked  # noqa: PLC0415 — evaluates

        rows = checked(rows, options, progress)
    elif rows.filter(IS_DIFFERENT).height:
        progress.warn("files have different scores of a model; `checks` evaluates it again")
    rows = with_ranks(rows, benchmark_builds())
    if options.out is not None:
        made = partial(leaderboard_page, rows, left_out)
        write_page(options.out, "the leaderboard", made, options.progress)
    return rows


def _files(paths: Iterable[Path], progress: Progress) -> Iterator[Path]:
    """Yield the result files that paths name; other JSON files in a folder are left out."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist")
        files = [path / RESULT] if (path / RESULT).exists() else sorted(path.rglob("*.json"))
        files = [file for file in files if file.name != MANIFEST] if path.is_dir() else [path]
        results = [file for file in files if file == path or _is_result(file)]
        if others := [str(file.relative_to(path)) for file in files if file not in results]:
            what = f"{counted(len(others), 'JSON file')} left out, not a {RESULT}"
            progress.warn(f"{path}: {what}: {listed(others, 5)}")
        if not results:
            raise InputError(f"{path} has no {RESULT}; evaluate a whole build")
        yield from results


def _is_result(file: Path) -> bool:
    """Return whether a file has the name or the beginning of a result, which may be damaged."""
    beginning = beginning_of(file) if file.is_file() else b""
    return file.name == RESULT or (b'"schema"' in beginning and b'"medsim"' in beginning)


def with_ranks(rows: pl.DataFrame, benchmark: Mapping[str, str]) -> pl.DataFrame:
    """Return rows, and those of means over the builds of a benchmark, with their ranks.

    Args:
        rows: rows on the same clusters for each build.
        benchmark: the fingerprints of its builds by name.
    """
    rows = pl.concat([rows, *_means(rows, benchmark)], how="diagonal")
    is_part = pl.col("build_fingerprint") != BENCHMARK
    order = [is_part, "build", *_BOARD, IS_DIFFERENT, -pl.col("value"), "model"]
    boards = rows.sort(order).partition_by(_BOARD, maintain_order=True)
    shown = ("build", *LEADERBOARD_COLUMNS)
    rows = pl.concat(board.with_columns(_ranks(board)) for board in boards)
    return rows.select(*shown, pl.exclude(*shown, "changes", "file"))


def _means(rows: pl.DataFrame, benchmark: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """Yield a row for each model with a score on all builds of a benchmark: the mean over these.

    The builds are independent. The changes of the mean are those of each build divided by the
    number of builds, and scaled so that its squared error is the sum of theirs.
    """
    of_benchmark = pl.col("build_fingerprint").is_in([*benchmark.values()])
    chosen = rows.filter(of_benchmark, ~IS_DIFFERENT).sort("build_fingerprint")
    for of_model in chosen.partition_by("key", maintain_order=True):
        if of_model.height < len(benchmark):
            continue
        (mean,) = of_model.select(
            pl.col("n_pairs", "n_covered", "n_clusters").sum(),
            pl.col("value", "gain", "coverage").mean(),
            pl.col("effective").min(),
            pl.col("trained_on", "trained_here", "check").max(),  # yes, unknown, … no; unchecked
        ).to_dicts()
        scale = (1 - 1 / of_model["n_clusters"]).sqrt() / of_model.height
        scale /= math.sqrt(1 - 1 / mean["n_clusters"])
        changes = (of_model["changes"] * scale).explode().to_list()
        row = of_model.row(0, named=True) | dict.fromkeys(("version", *KIND_COLUMNS)) | mean
        row |= dict.fromkeys(("build", "build_fingerprint"), BENCHMARK)
        row |= {"baseline": "of each build", "changes": changes}
        yield pl.DataFrame([row | interval_of(sample_of(row).auc)], rows.schema)


def _ranks(board: pl.DataFrame) -> pl.Series:
    """Return the ranks of the models of a build, which are in descending order of their scores.

    Those whose score differs come last, without a rank.
    """
    kept = board.filter(~IS_DIFFERENT)
    samples = [*map(sample_of, kept.iter_rows(named=True))]
    ranks = [1] * len(samples)
    for higher, lower in combinations(range(len(samples)), 2):
        # p is NaN without a test
        ranks[lower] += samples[higher].difference(samples[lower]).p < ALPHA
    return pl.Series("rank", ranks, pl.Int64).extend_constant(None, board.height - len(samples))


_TRAINED = "trained on this terminology"
_HEADINGS = {
    "value": _LABEL,
    "gain": "above baseline",
    "trained_here": _TRAINED,
    "size": "bytes",
    "size_class": "size",
    "n_parameters": "parameters",
    **{kind: f"against {kind.replace('_', ' or ')}" for kind in KIND_COLUMNS},
}
_AGAINST = (
    "How often a synonym is more similar to a name than a name of another concept that differs in "
    "this way, or is that of a parent or child."
)
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
        *map(rounded, ("gain", *KIND_COLUMNS)),
    )
    shown = ["build", *(name for name in LEADERBOARD_COLUMNS if name not in _ENDS)]
    return headed(texts, shown, **_HEADINGS)


def leaderboard_page(rows: pl.DataFrame, left_out: Sequence[str] = ()) -> Page:
    """Return the page of the rows of ``leaderboard``, with a section for each build.

    ``left_out`` has a sentence on each result that is not among the rows.
    """
    boards = rows.partition_by(_BOARD, maintain_order=True)
    n_of = Counter(board["build_fingerprint"][0] for board in boards)
    n_builds = len({*rows["build_fingerprint"]} - {BENCHMARK})
    reasons = PageTable(
        caption="Results left out", frame=pl.DataFrame({"reason": left_out}), headed=False
    )
    others = [Section(title="Results left out", parts=[reasons])] if left_out else []
    models = counted(rows["model"].n_unique(), "model")
    return Page(
        title="Leaderboard",
        lead=f"{models} on {counted(n_builds, 'build')}, ranked by how well they separate "
        "synonyms from other terms that look equally alike.",
        signature=f"medsim {medsim_version()}, "
        f"leaderboard@{canonical_digest(rows.select('key', 'build_fingerprint').rows())[:12]}",
        sections=[
            *(
                _section(board, is_repeated=n_of[board["build_fingerprint"][0]] > 1)
                for board in boards
            ),
            *others,
        ],
        words={
            _LABEL: STATISTICS[HEADLINE].help,
            _TRAINED: "Yes if a declared source is the terminology, contains it or is part of it. "
            "Such a score may not hold for other terminologies. No if all sources are collections "
            "of texts. medsim does not check declarations.",
            "check": "checked: the model was evaluated again with the same score. different: with "
            "another score, so the row has no rank. unchecked: it was not evaluated again.",
            "coverage": "The share of the pairs of this score that have vectors.",
            "above baseline": "The score minus that of the best baseline without a model.",
            **{_HEADINGS[kind]: _AGAINST for kind in KIND_COLUMNS},
        },
    )


def _section(board: pl.DataFrame, *, is_repeated: bool) -> Section:
    """Return the section of a board; ``is_repeated`` if its build has another, on other pairs."""
    from medsim.pages import charts  # noqa: PLC0415 — an extra

    name, digest = pl.col("model"), pl.col("fingerprint").str.head(FINGERPRINT // 2)
    unique = pl.when(name.is_duplicated()).then(pl.format("{}@{}", name, digest)).otherwise(name)
    digits = pl.col("fingerprint").str.head(FINGERPRINT)
    board = board.with_columns(unique, size_class=_SIZE_CLASS, fingerprint=digits)
    best = board.row(0, named=True)
    title = " ".join(filter(None, (best["build"], best["version"])))
    title += f", {best['n_pairs']:,} pairs" if is_repeated else ""
    leaders = board.filter(rank=1)["model"].to_list()
    says = "leads with" if len(leaders) == 1 else "share the first rank; the best has"
    chance = STATISTICS[HEADLINE].chance or 0.0
    if not any(is_above(row, chance) for row in board.drop_nulls("rank").to_dicts()):
        leaders = ["No model"]
        says = f"is significantly better than chance ({chance:g}); {best['model']} has"
    elif (best["gain"] or 0) < 0:
        leaders, baseline = ["No model"], number(best["value"] - best["gain"], ".3f")
        says = f"is above the baseline {best['baseline'].replace('_', ' ')} ({baseline}); "
        says += f"{best['model']} has"
    of_build = f"The fingerprint of the build is {best['build_fingerprint'][:FINGERPRINT]}."
    if best["build_fingerprint"] == BENCHMARK:
        of_build = f"Means over {listed(list(benchmark_builds()))}, of models with a score on all."
    facts = ["coverage", "trained_on", "options", "n_dimensions", "n_parameters", "size"]
    facts += ["address", "submitter", "date", "medsim"]
    facts = [name for name in facts if board[name].count()]
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
            board, y="model", contender=pl.lit(""), ends=_ENDS, filled=pl.col("rank").eq_missing(1)
        ),
        table=PageTable(caption="Scores", frame=headed(board, LEADERBOARD_COLUMNS, **_HEADINGS)),
    )
    return Section(
        title=title,
        result=[f"{listed(leaders)} {says} an {_LABEL} of {with_interval(best)}."],
        prose=f"{of_build} {_verdicts(board)}",
        parts=[table, chart],
    )


def _verdicts(board: pl.DataFrame) -> str:
    """Return how ranks are made, and how many false verdicts to expect among those on a build."""
    n_models = board["rank"].count() if board["effective"][0] >= FEWEST_CLUSTERS else 0
    n_pairs = math.comb(n_models, 2)
    expected = (
        f": among {counted(n_pairs, 'pair')} of models, about {number(ALPHA * n_pairs, '.2g')} "
        "false verdicts are expected if none differed"
    )
    return (
        "A rank is 1 plus the number of models that are significantly better. Every two models are "
        f"compared by a paired test at {ALPHA:.0%}, which does not depend on other models"
        f"{expected if n_pairs else ''}. Unchecked rows are claims of their submitters."
    )
