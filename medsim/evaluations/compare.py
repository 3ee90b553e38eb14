"""The tables of an evaluation: scores, metrics, significance, separation, one for an article."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from medsim.core.config import DIFFICULTIES, SET_COLUMNS, checked_threads
from medsim.core.errors import InputError, OptionError, check_known
from medsim.core.kinds import Columns, columns
from medsim.core.opened import reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import Progress, progress_of
from medsim.core.shown import MISSING
from medsim.core.table_formats import BOLD
from medsim.core.terms import is_multi_word
from medsim.evaluations import conclusions, sets
from medsim.evaluations.confusions import rare_kinds
from medsim.evaluations.inputs import EvaluationInput
from medsim.evaluations.layouts import LAYOUTS
from medsim.evaluations.options import SEPARATION_TABLES, CompareOptions
from medsim.evaluations.output import SCORES, SET_COMPARISONS, SET_PAIRS, Evaluation
from medsim.evaluations.readable import LABELS, apart, set_name
from medsim.evaluations.run import resampling_of
from medsim.evaluations.scoring import ScoredModel, score_sets, warn_of_reach
from medsim.evaluations.sentences import (
    confusion_sentences,
    result_sentences,
    sample_sentences,
)
from medsim.evaluations.sets import FEW, SET
from medsim.evaluations.statistic import BASELINE, tabulated_names
from medsim.kernels.types import Flags, Values
from medsim.pages.readable import percent, with_ends
from medsim.pages.sentences import ALPHA

_SUMMARIZED = {"best", "standings"}  # tables that open with the result in sentences
_USUAL = {*_SUMMARIZED, "parts"}  # tables with the usual statistic of each set


@public(CompareOptions)
def compare(options: CompareOptions) -> pl.DataFrame:
    """Return a table of an evaluation with a row per value.

    The table "best" has every embedding, and the best baseline without a model, at its best metric
    by the headline score, AUC or, for ratings, Spearman's correlation; "standings" the standings of
    embeddings over all these sets of 30 pairs or more; "article" the headline and chosen sets of
    30 pairs or more, with the difference to the best embedding or to ``baseline``. A statistic,
    such as "auc", has every embedding at its best metric by that statistic; "all-auc" every metric;
    "standings-auc" the number of metrics of the same embedding that are significantly better or
    worse; "spread-auc" the smallest, median and largest variance over an embedding's metrics.
    "confusions" has the scores on negatives of one kind; "ladder" those of each rung of the
    hierarchy against the next; "parts" the best metrics on parts of rated sets; "rated" the rated
    sets; "coverage" the pairs without vectors; "overlap" the shared vocabularies; "retrieval" the
    scores of retrieval; "robustness" those of altered names; "separation" the errors of categories
    at each embedding's best and worst metric; "categories" the mean similarities there;
    "all-separation" the errors at every metric; "separation-terms" the terms with the fewest and
    the most errors. The number of a table or figure of Schulz and Juric (AAAI 2020), such as "C.1"
    or "figure-B.1", gives the table with the same content.

    At fixed metrics embeddings are compared again, with the tests of ``evaluate`` and the
    similarities that the evaluation keeps.

    Raises:
        InputError: the folder holds no finished evaluation, or none with such results.
        OptionError: a name is unknown.
    """
    return compared(options)[0]


def compared(options: CompareOptions) -> tuple[pl.DataFrame, list[str]]:
    """Return the table of ``compare``, and sentences about it.

    For the tables "best" and "standings" these are its result, see ``result_sentences``; for the
    table "article" and those of the paper the note below it. The last is about a sample.
    """
    source = options.evaluation
    evaluation = source if isinstance(source, Evaluation) else Evaluation(folder_of(source))
    name, sample = options.paper.table, sample_sentences(evaluation.manifest.options)
    with reading_output(evaluation):
        if name in _WHOLE:
            return _WHOLE[name](evaluation), []
        if name == "article":
            rows = article_rows(evaluation, options)
            return rows, [
                *article_note(rows, evaluation.manifest.inputs, options.correction),
                *sample,
            ]
        if name == "retrieval":
            rows = evaluation.retrieval().filter(subset=options.subset)
            return _checked(rows, evaluation, "retrieval"), []
        if name == "robustness":
            return _checked(evaluation.robustness(), evaluation, "noise"), []
        if name in SEPARATION_TABLES:
            return separation_table(evaluation, name), []
        rows, sentences = _scores(evaluation, name, options)
        if options.numbered and "n_better" in rows.columns:
            sentences = [_test_note(evaluation, name.rpartition("-")[2], options.correction)]
        return rows, [*sentences, *sample]


def _scores(
    evaluation: Evaluation, name: str, options: CompareOptions
) -> tuple[pl.DataFrame, list[str]]:
    """Return a table of scores, and sentences as ``compared`` does.

    An evaluation on minimal negatives alone has only confusions.
    """
    if name == "best" and {*evaluation.results()["statistic"]} == {sets.CONFUSIONS[0]}:
        name = "confusions"
    of_sets = sets.parts_of_sets if name in {"parts", "confusions", "ladder"} else sets.whole_sets
    results, comparisons = of_sets(evaluation.results()), of_sets(evaluation.comparisons())
    if options.paper.negatives:
        of_strategy = pl.col("negatives") == options.paper.negatives
        results, comparisons = results.filter(of_strategy), comparisons.filter(of_strategy)
    if name == "parts":
        _checked(results, evaluation, "words")
    subset, correction = options.subset, options.correction
    kind, _, statistic = name.rpartition("-")
    statistics = tabulated_names(best=True) if name in _USUAL else (statistic,)
    statistics = {"confusions": sets.CONFUSIONS, "ladder": sets.LADDER}.get(name, statistics)
    results = results.filter(pl.col("statistic").is_in(list(statistics)))
    if results.is_empty():
        raise InputError(f"{evaluation.folder} has no {statistics[0]}: no input has such pairs")
    if kind == "spread":
        return conclusions.metric_spread(results, statistics, subset=subset), []
    if metrics := _fixed_metrics(evaluation, results, options):
        threads, progress = checked_threads(options.threads), progress_of(options.progress)
        results = results.filter(pl.col("embedding") != BASELINE, subset=subset)
        results = conclusions.at_metrics(results, metrics)
        common = results.filter(subset="common")
        comparisons = comparisons_at(evaluation, common, threads, progress)
    best_metrics = partial(conclusions.best_metrics, subset=subset, correction=correction)
    further: dict[str, Any] = {"every": True} if kind else {"baseline": not options.numbered}
    rows = best_metrics(results, comparisons, statistics, **further)
    if kind == "standings":
        tested = conclusions.with_standing(rows.drop_nulls("value"))
        return tested.select(*_SCORED, "embedding", "metric", "n_better", "n_worse"), []
    if options.numbered:
        sizes = results.select(*SET, n_in_set="n_pairs").unique()
        return sets.with_facts(rows, sizes), []
    if name in _SUMMARIZED:
        tests = comparisons if subset == "common" else comparisons.clear()
        sentences = result_sentences(rows, tests, correction)
        models = rows.filter(pl.col("embedding") != BASELINE)
        sentences += confusion_sentences(evaluation.results().filter(subset=sets.WHOLE_SUBSET))
        in_order, standings = conclusions.headline_first, conclusions.embedding_standings
        return in_order(rows) if name == "best" else standings(models), sentences
    rare = rare_kinds(evaluation.pairs()) if name == "confusions" else []
    return sets.with_parts(sets.sort_parts(rows)) if of_sets is sets.parts_of_sets else rows, rare


def _fixed_metrics(
    evaluation: Evaluation, results: pl.DataFrame, options: CompareOptions
) -> Sequence[str]:
    """Return the chosen metrics, or those of the paper's table; see ``at_metrics``.

    A word embedding counts as GloVe if its name or file name contains "glove", in any case.
    """
    if options.metrics or not options.paper.glove_metric:
        return options.metrics or options.paper.metrics
    of_words = results.filter(pl.col("metric").str.starts_with("avg_"))["embedding"].unique().sort()
    files = {name: Path(str(evaluation.manifest.embeddings[name].get("path"))) for name in of_words}
    glove = [name for name, file in files.items() if "glove" in f"{name}/{file.name}".lower()]
    return (*options.paper.metrics, *(f"{name}={options.paper.glove_metric}" for name in glove))


_TESTS = {"accuracy": "McNemar's test", "auc": "DeLong's test", "spearman": "BCa bootstrap"}


def _test_note(evaluation: Evaluation, statistic: str, correction: str) -> str:
    """Return a sentence on the significance test of a statistic."""
    test = _TESTS[statistic]
    if statistic != "spearman":  # rated pairs have no clusters
        test += (
            " on pairs as independent"
            if evaluation.manifest.options["independent_pairs"]
            else " by clusters of pairs that share terms"
        )
    return f"Significance: {test}, level {ALPHA}, {correction.capitalize()}'s correction."


def _checked(rows: pl.DataFrame, evaluation: Evaluation, option: str) -> pl.DataFrame:
    """Return rows; raise InputError if there are none."""
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such results; evaluate with `{option}`")
    return rows


def stored_input(evaluation: Evaluation, name: str) -> EvaluationInput:
    """Return the pairs of an input that an evaluation keeps."""
    manifest, pairs = evaluation.manifest, evaluation.read(SET_PAIRS.path(name))
    return EvaluationInput.of_run(name, manifest.inputs[name], pairs, manifest.options)


def common_pairs(evaluation: Evaluation, input_: EvaluationInput) -> Flags:
    """Return a mask of the pairs that all embeddings cover under any metric, bool[n_pairs]."""
    below, outputs = f"scores/input={input_.name}/", evaluation.manifest.outputs
    paths = {path.rsplit("/", 2)[0]: path for path in outputs if path.startswith(below)}
    common = np.ones(input_.pairs.height, np.bool_)
    for path in paths.values():
        common &= ~np.isnan(kept_similarities(evaluation, path, input_))
    return common


def kept_similarities(evaluation: Evaluation, path: str, input_: EvaluationInput) -> Values:
    """Return the similarities of an input's pairs, NaN where a term is not covered."""
    frame = evaluation.read(path, ("pair_id", "similarity"))
    if not frame["pair_id"].equals(input_.pairs["pair_id"]):
        raise InputError(f"{evaluation.folder / path} does not hold the pairs of its input")
    values: Values = frame["similarity"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return values


def comparisons_at(
    evaluation: Evaluation, fixed: pl.DataFrame, threads: int, progress: Progress
) -> pl.DataFrame:
    """Return comparisons of embeddings at one metric each, by the tests of ``evaluate``.

    ``fixed`` are results on common pairs, with each embedding once per set and statistic; their
    sets, embeddings and metrics are used. Returns ``SET_COMPARISONS``.
    """
    resampling = resampling_of(evaluation.manifest.options, threads)
    frames = [pl.DataFrame(schema=SET_COMPARISONS.dtypes)]
    for (name,), of_input in fixed.group_by("input", maintain_order=True):
        input_ = stored_input(evaluation, str(name))
        chosen = of_input.select("embedding", "metric").unique().sort("embedding")
        models = [
            ScoredModel(
                embedding=embedding,
                metric=metric,
                similarities=kept_similarities(
                    evaluation, SCORES.path(input_.name, embedding, metric), input_
                ).astype(np.float32),
            )
            for embedding, metric in chosen.iter_rows()
        ]
        keys = {*of_input.select(SET_COLUMNS).iter_rows()}
        pair_sets = [each for each in input_.sets if tuple(each.key_columns().values()) in keys]
        if input_.rated:
            warn_of_reach(models, resampling, progress)
        with progress.stage(f"compare embeddings on {name}") as stage:
            frames.append(score_sets(input_, pair_sets, models, resampling, stage)[1])
    return pl.concat(frames)


def separation_table(evaluation: Evaluation, name: str) -> pl.DataFrame:
    """Return a table of the separation of categories, one of ``SEPARATION_TABLES``.

    The table "separation" has the error over all triples of each embedding at its best and its
    worst metric, for each far category and, if there are several, for all together; "categories"
    the mean similarities at these metrics; "all-separation" the errors at every metric;
    "separation-terms" the terms of the first near category with the lowest and the highest error.

    Raises:
        InputError: the evaluation has no such results.
    """
    if name == "separation-terms":
        outputs = evaluation.manifest.outputs
        if not any(path.endswith("/terms.parquet") for path in outputs if "metric=" in path):
            raise InputError(
                f"{evaluation.folder} has no errors of terms; evaluate with `near` and `far`"
            )
        return conclusions.extreme_terms(evaluation.separated().collect())
    rows = _checked(evaluation.separation(), evaluation, "separation")
    errors = conclusions.errors_of(rows)
    if errors.is_empty():
        raise InputError(f"{evaluation.folder} has no errors: too few terms have a vector")
    if name == "all-separation":
        return errors
    if name == "separation":
        return conclusions.best_and_worst(errors)
    means = rows.drop_nulls("category1").select(
        *("input", "embedding", "metric", "category1", "category2", "n_terms1", "n_terms2"),
        "mean_similarity",
    )
    overall = conclusions.best_and_worst(conclusions.overall_errors(rows)).drop(
        "far", "n_triples", "n_errors"
    )
    return overall.join(means, on=["input", "embedding", "metric"], maintain_order="left_right")


RATED_COLUMNS: Columns = (
    columns(pl.String, "input")
    | columns(pl.Int64, "size")
    | columns(pl.Float64, "low", "high")
    | columns(pl.String, "terminology")
    | columns(pl.Float64, "multi_word")
    | columns(pl.Int64, "raters")
    | columns(pl.Float64, "iaa1", "iaa2")
)
"""The columns of the table of rated sets; low and high are the ends of the rating scale.

iaa1 is the mean of Spearman's correlations of every two raters. iaa2 is that of each rater with the
mean of the others; compare it with an embedding's correlation with the mean of all.
"""


def rated_sets(evaluation: Evaluation) -> pl.DataFrame:
    """Return ``RATED_COLUMNS``, a row per rated file.

    The size is that of the rating that most pairs have; multi_word is the share of terms with white
    space inside, over both terms of every pair. Facts that a file's layout does not give are null.

    Raises:
        InputError: no input is a rated file.
    """
    terminologies = {layout.name: layout.terminology for layout in LAYOUTS}
    pairs = sets.whole_sets(evaluation.pairs().filter(pl.col("rating").is_not_null()).collect())
    rows = []
    for (name,), of_input in pairs.group_by("input", maintain_order=True):
        ratings = of_input.partition_by("dataset", maintain_order=True)
        largest = max(ratings, key=len)
        terms = pl.concat([largest["term1"], largest["term2"].alias("term1")]).to_frame("term")
        about: Mapping[str, Any] = evaluation.manifest.inputs[str(name)]
        low, high = about["range"] or (None, None)
        rows.append(
            {
                **about.get("agreement", {}),
                "input": name,
                "size": largest.height,
                "low": low,
                "high": high,
                "terminology": terminologies.get(about["layout"]),
                "multi_word": terms.select(is_multi_word(pl.col("term")).mean()).item(),
            }
        )
    if not rows:
        raise InputError(f"{evaluation.folder} has no rated file among its inputs")
    return pl.DataFrame(rows, schema=RATED_COLUMNS)


def covered_sets(evaluation: Evaluation) -> pl.DataFrame:
    """Return ``COVERAGE`` of whole sets, and the size of each embedding.

    n_vocabulary is the number of its words or terms, null if it can embed any text; n_dimensions is
    that of its vectors.
    """
    embeddings = [{**about, "embedding": n} for n, about in evaluation.manifest.embeddings.items()]
    schema = {"embedding": pl.String, "n_vocabulary": pl.Int64, "n_dimensions": pl.Int64}
    sizes = pl.DataFrame(embeddings, schema)
    rows = sets.whole_sets(evaluation.coverage())
    return rows.join(sizes, on="embedding", how="left", maintain_order="left")


_WHOLE = {"rated": rated_sets, "coverage": covered_sets, "overlap": Evaluation.overlap}
"""Functions that return whole tables, by name."""


_RATED, _HEADLINE = pl.col("difficulty").is_null(), pl.col("difficulty").eq_missing(sets.ALL_KINDS)
_IS_MODEL = pl.col("embedding") != BASELINE
_SCORED = [*SET, "statistic"]


def article_rows(evaluation: Evaluation, options: CompareOptions) -> pl.DataFrame:
    """Return every embedding and the best baseline at their best metric on the chosen sets.

    Sets with fewer than ``FEW`` pairs are left out, and reported.

    Returns:
        A row per set, statistic and embedding, the headline first and rated sets last: the columns
        of a set, statistic, embedding, metric, value, low, high, n_pairs, coverage (the share of
        pairs with vectors); best, and among_best (null for the baseline); whether the value is
        significantly above the best baseline, above_baseline (null without a test); and from the
        paired comparison with ``reference``, the embedding with the highest value on the set or the
        chosen one: difference, difference_low, difference_high, p (corrected), null where there is
        none. In a set the highest value is first.

    Raises:
        InputError: no chosen set has enough pairs.
        OptionError: a dataset, statistic or embedding is unknown, or no set is chosen.
    """
    results, tests = map(sets.whole_sets, (evaluation.results(), evaluation.comparisons()))
    statistics = (sets.HEADLINE, *options.statistics) if options.statistics else ()
    statistics = statistics or tabulated_names(best=True)
    every = conclusions.best_metrics(
        results, tests, statistics, correction=options.correction, baseline=True
    )
    every = every.filter((pl.col("n_pairs") > 0) | ~_HEADLINE)
    chosen = _shown_sets(conclusions.with_standing(every), options)
    is_few = pl.col("n_pairs").max().over(SET) < FEW
    rows = chosen.filter(~is_few)
    if small := _headings_of(chosen.filter(is_few)).unique(maintain_order=True).to_list():
        progress_of(options.progress).say(f"left out, fewer than {FEW} pairs: {'; '.join(small)}")
    if rows.is_empty():
        raise InputError(f"{evaluation.folder} has no such set of {FEW} pairs; choose other sets")
    embeddings = sorted({*rows["embedding"]})
    if options.baseline:
        check_known("embedding", embeddings, options.baseline)
    best = _IS_MODEL & (pl.col("value") == pl.col("value").filter(_IS_MODEL).max().over(_SCORED))
    leader = pl.col("embedding").filter(best).first().over(_SCORED)
    rows = rows.with_columns(
        best=pl.when(_IS_MODEL).then(best),
        reference=pl.lit(options.baseline) if options.baseline else leader,
    ).drop("n_better", "n_worse")
    columns = ("embedding1", "embedding2", "difference", "low", "high")
    names = ("embedding", "reference", "difference", "difference_low", "difference_high")
    tests = sets.both_ways(tests.filter(pl.col("between") != "metrics"))
    both = tests.select(*SET, *columns, statistic="of", p=f"p_{options.correction}")
    both = both.rename(dict(zip(columns, names, strict=True)))
    is_above = (pl.col("difference") > 0) & (pl.col("p") < ALPHA)
    above = both.filter(reference=BASELINE).select(*_SCORED, "embedding", above_baseline=is_above)
    share = pl.col("n_covered") / pl.col("n_pairs")
    covered = results.filter(pl.col("subset").is_in(["own", sets.WHOLE_SUBSET])).select(
        *_SCORED, "embedding", "metric", coverage=share
    )
    for facts in (both, above, covered):
        rows = sets.with_facts(rows, facts)
    return rows


def _shown_sets(rows: pl.DataFrame, options: CompareOptions) -> pl.DataFrame:
    """Return the rows of the headline and of the chosen sets, in the order of the columns.

    If nothing is chosen, there is only the headline, or without one the usual and all rated sets.
    """
    rated_names = rows.filter(_RATED)["input"]
    known = sorted({*rows.filter(~_RATED)["dataset"], *rated_names})
    check_known("dataset", known, *options.datasets)
    chosen = (
        pl.col("dataset").is_in(options.datasets or [sets.HEADLINE_DATASET])
        & pl.col("difficulty").is_in(options.difficulty or DIFFICULTIES)
        & pl.col("negatives").is_in(options.negatives or ["random"])
    )
    if (options.difficulty or options.negatives) and rows.filter(chosen).is_empty():
        raise OptionError("no set has these `datasets`, `difficulty` and `negatives`")
    chosen |= _RATED & pl.col("input").is_in(options.datasets or rated_names.implode())
    asked = options.datasets or options.difficulty or options.negatives or options.statistics
    chosen &= pl.lit(bool(asked)) | ~(_HEADLINE & (pl.col("n_pairs") >= FEW)).any()
    is_other = pl.col("statistic") != sets.HEADLINE
    order = [_RATED, is_other, *map(pl.col, _SCORED), ~_IS_MODEL, -pl.col("value")]
    return rows.filter((_HEADLINE & ~is_other) | chosen).sort(*order, "embedding", nulls_last=True)


def _headings_of(rows: pl.DataFrame) -> pl.Series:
    """Return the heading of each row's set, with the statistic if it is not the usual one."""
    kind = pl.format("{} {}, {}", "dataset", "difficulty", "negatives")
    label = pl.col("statistic").replace(LABELS)
    name = pl.when(_HEADLINE).then(label).when(_RATED).then(set_name(rows)).otherwise(kind)
    usual = _HEADLINE | pl.col("statistic").is_in(tabulated_names(best=True))
    name = pl.when(usual).then(name).otherwise(pl.format("{}: {}", name, label))
    if rows.filter(~_RATED)["input"].n_unique() > 1:
        name = pl.when(_RATED).then(name).otherwise(pl.format("{}: {}", "input", name))
    return rows.select(name.alias("set")).to_series()


def article_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ``article_rows`` for reading: a row per embedding, a column per set.

    The best of each set is bold if it is not known to be no better than the best baseline, and a
    dagger marks embeddings that do not differ significantly from the best. Each headline, or else
    the first set, also has columns with the coverage and the differences.
    """
    mark = pl.when(pl.col("among_best") & ~pl.col("best")).then(pl.lit("\N{DAGGER}"))
    bold = pl.when(pl.col("best") & pl.col("above_baseline").fill_null(True)).then(pl.lit(BOLD))
    cell = pl.concat_str(
        bold.otherwise(pl.lit("")),
        with_ends("value", "low", "high").fill_null(MISSING),
        mark.otherwise(pl.lit("")),
    )
    between = with_ends("difference", "difference_low", "difference_high").fill_null(MISSING)
    named = rows.with_columns(cell=cell, difference=between, set=_headings_of(rows))
    named = named.with_columns(apart("set", ["model"]), percent("coverage"))
    table = named.select("embedding").unique(maintain_order=True)
    is_main = _HEADLINE & (pl.col("statistic") == sets.HEADLINE)
    main = named.filter(
        is_main if named.filter(is_main).height else pl.col("set") == named["set"][0]
    )
    for (name,), of_set in named.group_by("set", maintain_order=True):
        shown = {str(name): pl.col("cell")}
        if name in main["set"]:
            of = f" on {of_set['input'][0]}" if main["set"].n_unique() > 1 else ""
            reference = of_set["reference"].fill_null("the best")[0]
            shown[f"coverage{of}"] = pl.col("coverage").fill_null(MISSING)
            shown[f"difference to {reference}{of}"] = pl.col("difference")
        columns = of_set.select("embedding", **shown)
        table = table.join(columns, on="embedding", how="left", maintain_order="left")
    return table.select(
        pl.col("embedding").alias("model"),
        pl.exclude("embedding").fill_null(MISSING),
    )


def article_note(
    rows: pl.DataFrame, inputs: Mapping[str, Mapping[str, Any]], correction: str
) -> list[str]:
    """Return the sentences below the table; the mark of the best precedes the first.

    ``inputs`` are those of the evaluation's manifest.
    """
    of_sets = rows.group_by(_headings_of(rows), "statistic", maintain_order=True)
    sizes = of_sets.agg(pl.max("n_pairs")).iter_rows()
    columns = [f"{LABELS[statistic]} on {n_pairs:,} pairs" for _, statistic, n_pairs in sizes]
    of_embedding = rows.group_by("embedding", maintain_order=True)
    metrics = of_embedding.agg(pl.col("metric").unique().sort().str.join(", ")).iter_rows()
    used = [f"{name} {listed_names}" for name, listed_names in metrics]
    releases = [
        f"{source['name']} of {source.get('release_date') or 'no known date'}"
        for name in rows["input"].unique(maintain_order=True)
        for source in [inputs[name].get("source")]
        if source
    ]
    tests = f"paired tests, level {ALPHA}, {correction.capitalize()}'s correction"
    marks = "the best model, if it is significantly better than the best baseline"
    if rows.filter(pl.col("among_best") & ~pl.col("best")).height:
        marks += "; \N{DAGGER}: not significantly different from the best model"
    return [
        f"{marks} ({tests}).",
        *([f"Releases: {'; '.join(releases)}."] if releases else []),
        f"Columns: {'; '.join(columns)}, with 95% confidence intervals.",
        f"Metrics: {'; '.join(used)}.",
        "The baseline is the best without a model.",
    ]
