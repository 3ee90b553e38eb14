"""Ranks models by their headline scores, build by build, and shows them as a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.config import MINIMAL
from medsim.core.errors import InputError, MedsimError, counted, listed
from medsim.core.manifest import MANIFEST, medsim_version
from medsim.core.options import public
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import beginning_of
from medsim.core.shown import number
from medsim.definitions.benchmark import BENCHMARK, benchmark_builds
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import COVERAGES, HUB
from medsim.evaluations.output import RESULT
from medsim.evaluations.result_file import deciding, read_result, sample_of
from medsim.evaluations.sets import CONFUSIONS, HEADLINE, HEADLINE_DATASET, with_parts
from medsim.evaluations.statistic import BASELINE, STATISTICS
from medsim.evaluations.training_data import trained_here
from medsim.leaderboards.options import KIND_COLUMNS, LEADERBOARD_COLUMNS, LeaderboardOptions
from medsim.pages.markup import write_page
from medsim.pages.page import FINGERPRINT, Chart, Page, PageTable, Section, with_interval
from medsim.pages.readable import headed, rounded, with_ends
from medsim.pages.sentences import ALPHA, is_above
from medsim.statistics.estimates import FEWEST_CLUSTERS, interval_of
from medsim.systems.scorers import PREDICTED

_LABEL = STATISTICS[HEADLINE].label
_ENDS = ("low", "high")
_BOARD = ["build_fingerprint", "n_pairs", "n_clusters", "effective"]


ID = ["build_fingerprint", "key"]
"""The columns that identify a row: the build, and the model with its options."""

CHECKED, DIFFERENT, UNCHECKED = "checked", "different", "unchecked"
"""Whether a score was found again, differs (with the reason), or is a claim of its submitter."""

MAX_GAP = 1e-4
"""The scores of one model on machines of other kinds differ less."""

IS_DIFFERENT = pl.col("check").str.starts_with(DIFFERENT)
"""Whether the score of a row differs, so that it has no rank."""

_CONFUSED = ["build", "model", "part_value"]

_SCORED: dict[str, Any] = {"metrics": [*COSINES.values()], "datasets": [HEADLINE_DATASET]}
"""The options of an evaluation that computes little but the headline score."""


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


def result_rows(result: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row per build and model of a result, from ``read_result``."""
    models = result["models"].rename({"name": "model"})
    builds = result["builds"].rename({"name": "build", "fingerprint": "build_fingerprint"})
    rows = result["headlines"].join(models, on="model").join(builds, on="build")
    rows = rows.join(_confused(result["scores"]), on=["build", "model"], how="left")
    split_name = pl.format("{} {} split", "source", "split")
    declared = rows.select("trained_on", "build", "source", "vocabulary").rows()
    return rows.with_columns(
        pl.coalesce(split_name, "build").alias("build"),
        key=pl.concat_str("fingerprint", "options", "metric", "evaluated", separator="\n"),
        coverage=pl.col("n_covered") / pl.col("n_pairs"),
        n_clusters=pl.col("changes").list.len().cast(pl.Int64),
        trained_here=pl.Series([trained_here(*row) for row in declared], dtype=pl.String),
        check=pl.lit(UNCHECKED),
    )


def _confused(scores: pl.DataFrame) -> pl.DataFrame:
    """Return how often a synonym is nearer than a negative of some kinds: build, model, kinds.

    Minimal negatives count, or if there are none Levenshtein negatives.
    """
    found = with_parts(scores.filter(pl.col("model") != BASELINE, statistic=CONFUSIONS[0]))
    best = found.sort(pl.col("negatives") != MINIMAL).unique(_CONFUSED, keep="first")
    return best.pivot("part_value", on_columns=[*KIND_COLUMNS], index=_CONFUSED[:2], values="value")


def merged_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per build and model, with declared training data if a row has it.

    If files have different scores or intervals of a model, each has a row, and check says so. The
    name and the version of a build are those that most of its rows have.
    """
    named = (pl.col(name).mode().sort().first() for name in ("build", "version"))
    rows = rows.with_columns(name.over("build_fingerprint") for name in named)
    ends = (pl.col(name) for name in ("value", "low", "high"))
    is_apart = pl.any_horizontal((end.max() - end.min()).over(ID) > MAX_GAP for end in ends)
    claims = pl.format("{} in {}", pl.col("value").round(3), "file").str.join(", ").over(ID)
    rows = rows.sort("trained_on", nulls_last=True, maintain_order=True).with_columns(
        check=pl.when(is_apart).then(pl.format(f"{DIFFERENT}: {{}}", claims)).otherwise("check"),
        claim=pl.when(is_apart).then("file"),
    )
    return rows.unique([*ID, "claim"], keep="first", maintain_order=True).drop("claim")


def checked(rows: pl.DataFrame, options: LeaderboardOptions, progress: Progress) -> pl.DataFrame:
    """Return rows with the column check, after evaluating models again.

    Raises:
        InputError: a build or an embedding of the options cannot be read.
    """
    found = pl.concat([rows.clear(), *_found(rows, options, progress)], how="diagonal").unique(ID)
    found = found.select(*ID, "fingerprint", "value", "changes")
    both = rows.join(found, on=ID, how="left", suffix="_found", maintain_order="left")
    return rows.with_columns(check=pl.Series([*map(_state, both.iter_rows(named=True))]))


def _state(row: Mapping[str, Any]) -> str:
    """Return whether score and changes are those that were found, as far as machines may differ."""
    if (value := row["value_found"]) is None:
        return str(row["check"])
    changes, others = (np.array(row[name]) for name in ("changes", "changes_found"))
    is_same = row["fingerprint"] == row["fingerprint_found"] and len(changes) == len(others)
    is_same &= abs(row["value"] - value) <= MAX_GAP
    if is_same and np.linalg.norm(changes - others) <= MAX_GAP:
        return CHECKED
    return f"{DIFFERENT}: {value:.3f} found"


def _found(
    rows: pl.DataFrame, options: LeaderboardOptions, progress: Progress
) -> Iterator[pl.DataFrame]:
    """Yield the rows of new evaluations; a model of a hub that cannot be had gives a warning.

    Services are not asked, since the address in a result would get the terms of the build.
    """
    from medsim.evaluations.evaluate import evaluate  # noqa: PLC0415 — imports more

    texts = {deciding({"coverage": name, "independent_pairs": False}): name for name in COVERAGES}
    rows = rows.filter(pl.col("evaluated").is_in([*texts]))
    for name in rows.filter(metric=PREDICTED)["model"].unique().sort():
        progress.warn(f"{name} stays unchecked: it is a system without vectors")
    jobs: list[tuple[Mapping[str, Any], str, str | None]] = [
        (options.embeddings or {}, text, None)
        for text in rows["evaluated"].unique(maintain_order=True)
    ]
    on_hub = rows.filter(pl.col("address").str.starts_with(HUB)).unique("key", maintain_order=True)
    names = ("model", "address", "options", "evaluated", "key")
    for model, address, chosen, text, key in on_hub.select(names).iter_rows():
        jobs.append(({model: f"{address},{chosen.replace(', ', ',')}".rstrip(",")}, text, key))
    if not any(models for models, *_ in jobs):
        progress.warn("nothing is checked: no model is on a hub; name models with `embeddings`")
    for models, text, key in (job for job in jobs if job[0]):
        try:
            with TemporaryDirectory() as folder:
                out, coverage = Path(folder) / "results", texts[text]
                evaluate(
                    options.checks, models, out, coverage=coverage, **_SCORED, progress=progress
                )
                again = result_rows(read_result(out / RESULT))
                yield again if key is None else again.with_columns(key=pl.lit(key))
        except MedsimError as error:
            if key is None:
                raise
            progress.warn(f"{listed([*models])} stays unchecked: {error}")


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
