"""The data of an evaluation's report, and its sections on details.

The details are similarities, the worst errors, metrics, retrieval and separation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.config import SET_COLUMNS
from medsim.core.shown import number
from medsim.evaluations import conclusions, readable, sets
from medsim.evaluations.compare import common_pairs, kept_similarities, stored_input
from medsim.evaluations.confusions import rare_kinds
from medsim.evaluations.output import COVERED_TERMS, RETRIEVED, SCORES, Evaluation
from medsim.evaluations.sentences import confusion_sentences
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS, statistics_of
from medsim.kernels.types import Flags, Values
from medsim.pages import charts
from medsim.pages.page import Chart, Folded, PageTable, Section, SectionPart, distinct
from medsim.pages.readable import headed
from medsim.statistics.ranks import histogram, roc_curve

if TYPE_CHECKING:
    from medsim.evaluations.inputs import EvaluationInput


_WORST_TERMS = 10  # terms whose nearest term is not linked, of an embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReportData:
    """The tables that the report of an evaluation shows, besides its manifest.

    Attributes:
        parts: of ``best_metrics``, on the parts of rated sets, which are not in the tables above.
        confusions: of ``best_metrics``, on negatives of one kind and on two rungs of the hierarchy,
            which are not there either.
        confused: see ``confusion_sentences``.
        rare_kinds: a sentence on the kinds that too few negatives have, if there are any.
        distributions: ``SET``, embedding, metric, kind ("positives" or "negatives"), x (a
            similarity), share (in per cent).
        quartiles: ``SET``, embedding, metric, kind, n, q1, median, q3.
        curves: ``SET``, embedding, metric, at, false_positives, true_positives.
        errors: ``SET``, embedding, metric, label, term1, term2, similarity.
        retrieved: input, embedding, index and ``RETRIEVED`` of a few of the worst.
        robustness: ``ROBUSTNESS``.
    """

    results: pl.DataFrame
    comparisons: pl.DataFrame
    coverage: pl.DataFrame
    parts: pl.DataFrame
    confusions: pl.DataFrame
    confused: Sequence[str]
    rare_kinds: Sequence[str]
    distributions: pl.DataFrame
    quartiles: pl.DataFrame
    curves: pl.DataFrame
    errors: pl.DataFrame
    separation: pl.DataFrame
    retrieval: pl.DataFrame
    retrieved: pl.DataFrame
    robustness: pl.DataFrame


def evaluation_data(evaluation: Evaluation) -> EvaluationReportData:
    """Return the data of an evaluation's report."""
    results, comparisons = evaluation.results(), evaluation.comparisons()
    confused = confusion_sentences(results.filter(subset=sets.WHOLE_SUBSET))
    rated = [statistic.name for statistic in statistics_of("rated") if statistic.table == "best"]
    of_parts = sets.parts_of_sets(results), sets.parts_of_sets(comparisons)
    parts, confusions = (
        sets.sort_parts(conclusions.best_metrics(*of_parts, names, baseline=baseline))
        for names, baseline in ((rated, False), ((*sets.CONFUSIONS[:1], *sets.LADDER), True))
    )
    results, comparisons = sets.whole_sets(results), sets.whole_sets(comparisons)
    return EvaluationReportData(
        results=results,
        comparisons=comparisons,
        coverage=sets.whole_sets(evaluation.coverage()),
        parts=parts,
        confusions=confusions,
        confused=confused,
        rare_kinds=rare_kinds(evaluation.pairs()),
        **chart_data_of(evaluation, results, comparisons),
        separation=evaluation.separation(),
        retrieval=evaluation.retrieval(),
        retrieved=_retrieved(evaluation),
        robustness=evaluation.robustness(),
    )


def _retrieved(evaluation: Evaluation) -> pl.DataFrame:
    """Return a few terms whose nearest term is not linked to them, the nearest first."""
    key = ("input", "embedding", "index")
    if not evaluation.retrieval().height:
        return pl.DataFrame(schema={**dict.fromkeys(key, pl.String), **RETRIEVED.dtypes})
    wrong = evaluation.retrieved().filter(~pl.col("nearest_linked"))
    ordered = wrong.drop_nulls("nearest_similarity").sort(
        *key, pl.col("nearest_similarity").neg(), "term"
    )
    of_each = ordered.group_by(key, maintain_order=True).head(_WORST_TERMS)
    return of_each.select(*key, *RETRIEVED.dtypes).collect()


_WORST_PAIRS = 5  # pairs of each kind
_HARDEST = (("hard", "levenshtein"), ("hard", "embedding"))  # sets whose errors are shown
_NAMED = (*SET, "embedding", "metric")
_CHARTS = ("distributions", "quartiles", "curves", "errors")


def chart_data_of(
    evaluation: Evaluation, results: pl.DataFrame, comparisons: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """Return the data of charts, as ``EvaluationReportData`` has them, of labelled pairs.

    Each embedding is at the metric of its highest AUC. Only pairs that all embeddings cover are
    used. One file of similarities is in memory at a time.
    """
    best = conclusions.best_metrics(results, comparisons, ("auc",)).drop_nulls("value")
    frames_of: dict[str, list[pl.DataFrame]] = {chart: [] for chart in _CHARTS}
    for of_input in best.partition_by("input", maintain_order=True):
        for chart, frame in _of_input(evaluation, of_input):
            frames_of[chart].append(frame)
    return {
        chart: pl.concat(frames).sort(*SET, "embedding", maintain_order=True)
        if frames
        else pl.DataFrame(schema=dict.fromkeys(_NAMED, pl.String))
        for chart, frames in frames_of.items()
    }


def _of_input(evaluation: Evaluation, best: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    name = best["input"][0]
    input_ = stored_input(evaluation, name)
    pair_sets = {tuple(pair_set.key_columns().values()): pair_set for pair_set in input_.sets}
    common = common_pairs(evaluation, input_)
    for of_metric in best.partition_by("embedding", "metric", maintain_order=True):
        embedding, metric = of_metric.select("embedding", "metric").row(0)
        similarities = kept_similarities(evaluation, SCORES.path(name, embedding, metric), input_)
        whole = _whole(evaluation, embedding, input_)
        for key in of_metric.select(SET_COLUMNS).iter_rows():
            is_common = common[pair_sets[key].rows]
            rows, labels = pair_sets[key].rows[is_common], pair_sets[key].values[is_common] == 1
            names = dict(zip(_NAMED, (name, *key, embedding, metric), strict=True))
            named = [pl.lit(value, pl.String).alias(column) for column, value in names.items()]
            values = similarities[rows]
            for chart, frame in _of_set(values, labels):
                yield chart, frame.select(*named, pl.all())
            if key[1:] in _HARDEST:
                is_known = whole[rows] if whole[rows].any() else np.ones(len(rows), np.bool_)
                rows = rows[is_known]
                worst = _worst(values[is_known], labels[is_known])
                pairs = input_.pairs[rows[worst["at"]]].select("term1", "term2")
                frame = worst.select("label", *pairs, "similarity")
                yield "errors", frame.select(*named, pl.all())


def _whole(evaluation: Evaluation, embedding: str, input_: EvaluationInput) -> Flags:
    """Return whether an embedding knows all words of each pair, bool[n_pairs]."""
    path = COVERED_TERMS.path(input_.name, embedding)
    terms = evaluation.read(path, ("term", "n_unknown_words"))
    partly = terms.filter(pl.col("n_unknown_words") > 0)["term"].implode()
    lacking = pl.any_horizontal(pl.col("term1", "term2").is_in(partly))
    is_whole: Flags = input_.pairs.select(~lacking).to_series().to_numpy()
    return is_whole


def _of_set(similarities: Values, labels: Flags) -> Iterator[tuple[str, pl.DataFrame]]:
    middles, shares = histogram(similarities, labels)
    for kind, share, mask in zip(
        ("positives", "negatives"), shares, (labels, ~labels), strict=True
    ):
        yield "distributions", pl.DataFrame({"kind": kind, "x": middles, "share": 100 * share})
        q1, median, q3 = map(float, np.quantile(similarities[mask], (0.25, 0.5, 0.75)))
        ends = {"kind": [kind], "n": [int(mask.sum())], "q1": q1, "median": median, "q3": q3}
        yield "quartiles", pl.DataFrame(ends)
    false, true = roc_curve(similarities, labels)
    at = np.arange(len(false))
    yield "curves", pl.DataFrame({"at": at, "false_positives": false, "true_positives": true})


def _worst(similarities: Values, labels: Flags) -> pl.DataFrame:
    """Return the most similar negatives and the least similar positives, with their ranks.

    Ties are ordered by pair_id.
    """
    every = pl.DataFrame({"label": labels.astype(np.int8), "similarity": similarities})
    ranked = every.with_row_index("at").sort("similarity", maintain_order=True)
    least = ranked.filter(label=1).head(_WORST_PAIRS)
    most = ranked.sort("similarity", descending=True, maintain_order=True).filter(label=0)
    return pl.concat([most.head(_WORST_PAIRS), least])


def distributions(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return the distributions of similarities of positives and negatives on every set."""
    if data.distributions.is_empty():
        return None
    rows = readable.in_order_of(data.distributions, embeddings)
    drawn = rows.select(
        "kind",
        "x",
        "share",
        choice=readable.set_name(rows, with_kind=True),
        panel=pl.format("{}, {}", "embedding", "metric"),
    )
    quartiles = data.quartiles.rename({"kind": "label", "n": "pairs", "q1": "25%", "q3": "75%"})
    chart = Chart(
        title="Similarities of positives and of negatives",
        says="The histograms show how similar positives and negatives are, in 40 bins, on the "
        "pairs that all embeddings cover. Less overlap is better. Each embedding is shown with the "
        "metric that gives it the highest AUC; the scales of metrics differ.",
        spec=charts.histograms(
            ("positives", "negatives"),
            x="similarity",
            panels=distinct(drawn["panel"]),
            choices=readable.hardest_first(drawn["choice"]),
            independent=True,
        ),
        rows=drawn,
        table=PageTable(caption="Quartiles of similarities", frame=quartiles),
    )
    return Section(title="Distributions", parts=[chart])


def roc_curves(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return the ROC curves of embeddings on every set."""
    rows = data.curves
    if rows.is_empty():
        return None
    drawn = rows.select(
        "at",
        "false_positives",
        "true_positives",
        choice=readable.set_name(rows, with_kind=True),
        contender="embedding",
    )
    key, areas = [*SET, "embedding", "metric"], ["auc", "average_precision"]
    scores = data.results.filter(pl.col("statistic").is_in(areas), subset="common")
    table = scores.join(rows, on=key, how="semi").pivot("statistic", index=key, values="value")
    chart = Chart(
        title="True positives against false positives",
        says="Each point is a threshold of similarity. Its height is the share of positives at or "
        "above it, and its distance from the left is the share of negatives at or above it. Closer "
        "to the upper left is better, and the dashed diagonal is chance. Each embedding is shown "
        "with the metric that gives it the highest AUC.",
        spec=charts.curves(embeddings, readable.hardest_first(drawn["choice"])),
        rows=drawn,
        table=PageTable(
            caption="Areas under the curves",
            frame=headed(table, [*key, *areas], **readable.LABELS),
            view="results",
        ),
        narrow=True,
    )
    return Section(title="ROC curves", parts=[chart])


def errors(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return the worst errors as examples."""
    pairs = _pair_errors(readable.in_order_of(data.errors, embeddings))
    terms = _retrieval_errors(readable.in_order_of(data.retrieved, embeddings))
    if not pairs + terms:
        return None
    of_pairs = (
        "The negatives that an embedding finds most similar and the positives that it finds least "
        "similar, with the metric that gives it the highest AUC. The examples are from the hard "
        "sets with Levenshtein or embedding negatives, and all embeddings cover them. With "
        "--coverage any, a pair with a word that an embedding lacks is shown only if there is no "
        "other pair."
    )
    of_terms = "The last lists have terms whose nearest term means something else."
    return Section(
        title="Worst errors",
        prose=" ".join([of_pairs] * bool(pairs) + [of_terms] * bool(terms)),
        parts=pairs + terms,
    )


def _pair_errors(pairs: pl.DataFrame) -> list[Folded]:
    folded: list[Folded] = []
    groups = pairs.group_by(*SET, "embedding", "metric", maintain_order=True)
    for (*_, embedding, metric), group in groups:
        name = f"{readable.set_name(group, with_kind=True)[0]}, by {embedding} ({metric})"
        kinds = {0: "Most similar negatives of", 1: "Least similar positives of"}
        tables = [
            PageTable(caption=f"{kind} {name}", frame=rows.select("term1", "term2", "similarity"))
            for label, kind in kinds.items()
            if (rows := group.filter(label=label)).height
        ]
        folded.append(Folded(summary=f"Pairs of {name}", tables=tables, opened=not folded))
    return folded


def _retrieval_errors(retrieved: pl.DataFrame) -> list[Folded]:
    linked = ("linked_term", "linked_similarity", "rank")
    folded = []
    groups = retrieved.group_by("input", "embedding", "index", maintain_order=True)
    for (name, embedding, index), group in groups:
        title = f"Terms of {name} whose nearest term means something else, by {embedding} ({index})"
        frame = headed(
            group, ("term", "nearest_term", "nearest_similarity", *linked), rank="its rank"
        )
        folded.append(Folded(summary=title, tables=[PageTable(caption=title, frame=frame)]))
    return folded


_RETRIEVED = {one.name: one.label for one in statistics_of("retrieval")}


def retrieval(rows: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how often embeddings find a synonym."""
    parts = []
    for (name,), of_input in rows.drop_nulls("value").group_by("input", maintain_order=True):
        of_all = of_input.filter(subset="common")
        common = readable.with_contenders(readable.in_order_of(of_all, embeddings))
        if common.height:
            parts.append(_by_difficulty(str(name), common, of_input))
    if not parts:
        return None
    return Section(
        title="Retrieval",
        prose="How often is a synonym of a term among its nearest terms, of all terms of the build "
        "that have a vector? A term without a vector counts as not found; of equally near terms, "
        "synonyms come last. Differences are in the table under “Significance”.",
        parts=parts,
    )


def robustness(rows: pl.DataFrame) -> Section | None:
    """Return how often the concepts of altered names are found."""
    if rows.is_empty():
        return None
    frame = readable.readable_robustness(rows)
    caption = "Accuracy on altered names, of the accuracy on the unaltered names"
    return Section(
        title="Robustness",
        prose="How often is the concept of a name with typing errors or other noise found first, "
        "or among the first 5? Only names are altered that stay nearest to their concept by "
        "Levenshtein distance, so this baseline is near 1.",
        parts=[PageTable(caption=caption, frame=frame, view="robustness")],
    )


def _by_difficulty(name: str, common: pl.DataFrame, rows: pl.DataFrame) -> Chart:
    every = rows.with_columns(pl.col("difficulty", "length").fill_null("all"))
    lowest = common.group_by("index").agg(pl.min("recall")).drop_nulls().sort("index")
    exactness = "".join(
        f" The index {index} finds at least {number(100 * recall, '.1f')}% of the nearest terms."
        for index, recall in lowest.iter_rows()
    )
    drawn = charts.points(
        common.filter(pl.col("length").is_null(), pl.col("statistic").is_in(list(_RETRIEVED))),
        panel=pl.col("statistic").replace_strict(_RETRIEVED),
        y=pl.col("difficulty").fill_null("all"),
        ends=("low", "high"),
    )
    return Chart(
        title=f"Synonyms found on {name}",
        says="Share of the terms with a synonym among the first 1, 5 or 10, and the mean of "
        "1 / rank, with 95% confidence intervals. A term is easy if a synonym differs by at most 5 "
        f"edits.{exactness}",
        spec=charts.dots(
            distinct(drawn["contender"]),
            x=charts.ValueAxis(title="share of terms, or mean of 1 / rank", scale={"zero": True}),
            y=readable.present(("all", "easy", "hard"), drawn["y"]),
            panels=readable.present(list(_RETRIEVED.values()), drawn["panel"]),
            names=("embedding", "terms"),
        ),
        rows=drawn,
        table=PageTable(
            caption=f"Retrieval on {name}, with 95% confidence intervals",
            frame=headed(every, pl.exclude("input", "signature")),
            view="retrieval",
        ),
    )


_MEASURES = [one.name for one in statistics_of("separation")]


def category_separation(rows: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how well embeddings keep categories apart; see ``SEPARATION``."""
    overall = conclusions.overall_errors(rows)
    if overall.is_empty():
        return None
    parts: list[SectionPart] = []
    for (name,), of_input in overall.group_by("input", maintain_order=True):
        parts.append(_errors(str(name), of_input, rows.filter(input=name), embeddings))
        among = rows.drop_nulls("category1").join(
            conclusions.best_and_worst(of_input).filter(standing="best"),
            on=["input", "embedding", "metric"],
            how="semi",
            maintain_order="left",
        )
        if among.height:
            columns = ("embedding", "metric", "category1", "category2", "mean_similarity")
            caption = f"Mean similarities of {name}, at the metric with the smallest error"
            frame = headed(readable.in_order_of(among, embeddings), columns)
            table = PageTable(caption=caption, frame=frame, view="separation")
            parts.append(Folded(summary=caption, tables=[table]))
    return Section(
        title="Category separation",
        prose="Whether terms of one category, or of near categories, are nearer to each other than "
        "to terms of another category (Schulz and Juric 2020, section 5.3).",
        parts=parts,
    )


def _errors(
    name: str, overall: pl.DataFrame, every: pl.DataFrame, embeddings: Sequence[str]
) -> Chart:
    error, statistic = pl.col("value"), STATISTICS[overall["statistic"][0]]
    drawn = charts.points(
        overall, y="metric", contender="embedding", filled=error == error.min().over("embedding")
    )
    table = headed(
        every.with_columns(pl.col("category1", "category2").fill_null("all")),
        pl.exclude("input", "signature", *(set(_MEASURES) - {statistic.name})),
    )
    return Chart(
        title=f"{statistic.label.capitalize()} on {name}",
        says=f"{statistic.help} 0 is perfect, and the dashed line at 0.5 is chance without ties, "
        "which count as errors. Filled: the best metric of an embedding. Each embedding is scored "
        "on the terms that it covers.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title=statistic.label, line=charts.CHANCE, scale={"zero": True}),
            y=sorted(set(drawn["y"])),
            names=("embedding", "metric"),
        ),
        rows=drawn,
        table=PageTable(caption=f"Category separation on {name}", frame=table),
    )
