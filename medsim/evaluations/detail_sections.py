"""Sections on details: similarities, the worst errors, fixed metrics, retrieval, separation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.shown import number
from medsim.evaluations.conclusions import (
    best_and_worst,
    metric_spread,
    overall_errors,
    retrieval_at_best_metric,
)
from medsim.evaluations.options import PAPER, PAPER_METRICS
from medsim.evaluations.readable import (
    as_in_paper,
    hardest_first,
    headed,
    in_order_of,
    p_text,
    present,
    rounded,
    set_name,
    with_contenders,
)
from medsim.evaluations.retrieval import LENGTHS
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS, statistics_of
from medsim.pages import charts
from medsim.pages.page import Chart, Folded, PageTable, Section, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = ("positives", "negatives")
_AT_ONCE = 5  # embeddings whose worst errors are opened; of one more it is worth no click


def distributions(
    rows: pl.DataFrame, quartiles: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return how similarities of positives and of negatives lie on every set."""
    if rows.is_empty():
        return None
    rows = in_order_of(rows, embeddings)
    drawn = rows.select(
        "kind",
        "x",
        "share",
        choice=set_name(rows, with_kind=True),
        panel=pl.format("{}, {}", "embedding", "metric"),
    )
    chart = Chart(
        title="Similarities of positives and of negatives",
        says="Share of the pairs in each of 40 bins, of every embedding at the metric under which "
        "its AUC is highest, on the pairs that all embeddings cover. The less the two overlap, the "
        "better; scales differ, since metrics do.",
        spec=charts.histograms(
            _KINDS,
            x="similarity",
            panels=distinct(drawn["panel"]),
            columns=2,
            choices=hardest_first(drawn["choice"]),
            independent=True,
        ),
        rows=drawn,
        table=PageTable(
            caption="Quartiles of similarities",
            frame=quartiles.rename({"kind": "of", "n": "pairs", "q1": "25%", "q3": "75%"}),
        ),
    )
    return Section(
        title="Distributions",
        prose="How similar each embedding finds the terms of positives and of negatives.",
        parts=[chart],
    )


def roc_curves(
    rows: pl.DataFrame, results: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return the ROC curves of embeddings on every set."""
    if rows.is_empty():
        return None
    drawn = rows.select(
        "at",
        "false_positives",
        "true_positives",
        choice=set_name(rows, with_kind=True),
        contender="embedding",
    )
    key, areas = [*SET, "embedding", "metric"], ["auc", "average_precision"]
    scores = results.filter(pl.col("subset") == "common", pl.col("statistic").is_in(areas))
    table = (
        rows.select(key)
        .unique(maintain_order=True)
        .join(
            scores.pivot("statistic", index=key, values="value"),
            on=key,
            how="left",
            maintain_order="left",
        )
    )
    chart = Chart(
        title="Positives found, and negatives taken for them",
        says="For every threshold, the share of positives that are at least as similar, against "
        "that of negatives; nearer the upper left is better, and the dashed diagonal is a coin. "
        "Every embedding at the metric under which its AUC is highest.",
        spec=charts.curves(embeddings, hardest_first(drawn["choice"])),
        rows=drawn,
        table=PageTable(
            caption="Areas under the curves", frame=headed(table, [*key, *areas]), view="results"
        ),
        narrow=True,
    )
    return Section(
        title="ROC curves",
        prose="How many positives each embedding finds at the price of how many false ones.",
        parts=[chart],
    )


def errors(
    pairs: pl.DataFrame, retrieved: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return the worst errors as examples."""
    parts = [
        *_pair_errors(in_order_of(pairs, embeddings)),
        *_retrieval_errors(in_order_of(retrieved, embeddings)),
    ]
    if not parts:
        return None
    return Section(
        title="Worst errors",
        prose="Where each embedding is most wrong at its best metric, on hard positives and the "
        "nearest negatives, among pairs of which it knows every word: negatives that it finds most "
        "similar, positives that it finds least similar; and terms whose nearest term means "
        "something else.",
        parts=parts,
    )


def _pair_errors(pairs: pl.DataFrame) -> list[Folded]:
    folded: list[Folded] = []
    for of_set in pairs.partition_by(*SET, maintain_order=True):
        name = set_name(of_set, with_kind=True)[0]
        embeddings = of_set["embedding"].unique(maintain_order=True)
        shown = len(embeddings) if len(embeddings) <= _AT_ONCE + 1 else _AT_ONCE
        of_first = of_set.filter(pl.col("embedding").is_in(embeddings[:shown].implode()))
        tables = _error_tables(of_first)
        folded.append(Folded(summary=f"Pairs of {name}", tables=tables, opened=not folded))
        if len(embeddings) > shown:
            of_others = of_set.filter(pl.col("embedding").is_in(embeddings[shown:].implode()))
            others = f"Pairs of {name}: {len(embeddings) - shown} further embeddings"
            folded.append(Folded(summary=others, tables=_error_tables(of_others)))
    return folded


def _error_tables(pairs: pl.DataFrame) -> list[PageTable]:
    """Return a table for each embedding and label."""
    groups = pairs.group_by("embedding", "metric", "label", maintain_order=True)
    return [
        PageTable(
            caption=f"{'Positives' if label else 'Negatives'} found "
            f"{'least' if label else 'most'} similar by {embedding} ({metric})",
            frame=group.select("term1", "term2", "similarity"),
        )
        for (embedding, metric, label), group in groups
    ]


def _retrieval_errors(retrieved: pl.DataFrame) -> list[Folded]:
    columns = (
        "term",
        "nearest_term",
        "nearest_similarity",
        "linked_term",
        "linked_similarity",
        "rank",
    )
    folded = []
    groups = retrieved.group_by("input", "embedding", "index", maintain_order=True)
    for (name, embedding, index), group in groups:
        title = f"Terms of {name} whose nearest term means something else, by {embedding} ({index})"
        table = PageTable(caption=title, frame=headed(group, columns))
        folded.append(Folded(summary=title, tables=[table]))
    return folded


def fixed_metrics(fixed: pl.DataFrame) -> Section | None:
    """Return each embedding at the metric that the paper fixes for its kind."""
    parts: list[Chart | PageTable] = []
    for at, one in PAPER.items():
        if not one.fixed:
            continue
        rows = fixed.filter(statistic=one.table)
        if one.negatives:
            rows = rows.filter(negatives=one.negatives)
        if rows["value"].null_count() == rows.height:
            continue
        label = STATISTICS[one.table].label
        of = f", {one.negatives} negatives" if one.negatives else ""
        caption = f"{label[0].upper()}{label[1:]}{of}; table {at} of the paper"
        parts += [
            PageTable(caption=caption, frame=frame) for frame in map(_upright, as_in_paper(rows))
        ]
    if not parts:
        return None
    return Section(
        title="Fixed metrics",
        prose=f"Every word embedding under {PAPER_METRICS[0]} and every other under "
        f"{PAPER_METRICS[1]}, compared with each other at these. A cell has the value, how many "
        "others it is significantly better (+) and worse (\u2212) than after Bonferroni's "
        "correction, and a star for the best and what cannot be told from it. A dash is a missing "
        "value, as the leaderboard explains.",
        parts=parts,
    )


def _upright(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row per embedding, or per set where these are more."""
    index = ["embedding", "metric"]
    sets = frame.drop(index, strict=False)
    if sets.width <= frame.height or not {*index} <= {*frame.columns}:
        return frame
    names = frame.select(pl.concat_str(index, separator=" ", ignore_nulls=True)).to_series()
    return sets.transpose(include_header=True, header_name="set", column_names=names.to_list())


def spread_of_metrics(results: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how much each embedding's scores vary with the metric."""
    parts = [
        chart
        for at, one in PAPER.items()
        if one.table.startswith("spread-")
        and (chart := _spread(results, at, one.table.removeprefix("spread-"), embeddings))
    ]
    if not parts:
        return None
    return Section(
        title="Variance between metrics",
        prose="How much it matters by which metric two terms are compared: the variance of a "
        "score over the metrics of an embedding, on one set.",
        parts=parts,
    )


def _spread(results: pl.DataFrame, at: str, name: str, embeddings: Sequence[str]) -> Chart | None:
    spread = metric_spread(results, (name,))
    if spread.is_empty():
        return None
    statistic = STATISTICS[name]
    row = f"{statistic.of} pairs"
    rows = charts.points(
        spread, y=pl.lit(row), value="median", ends=("least", "greatest"), contender="embedding"
    )
    table = headed(spread, pl.exclude("statistic"))
    return Chart(
        title=f"Variance of {statistic.label} between metrics",
        says="Points are medians over the sets, bars go from the least to the greatest; "
        f"{at.replace('-', ' ')} of the paper.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(
                title=f"variance of {statistic.label}", scale={"zero": True}, digits=".2g"
            ),
            y=[row],
            names=("embedding", ""),
        ),
        rows=rows,
        table=PageTable(
            caption=f"Variance of {statistic.label} over the metrics of an embedding",
            frame=table,
            formats=dict.fromkeys(("least", "median", "greatest"), ".2g"),
        ),
    )


_RETRIEVED = {one.name: one.label for one in statistics_of("retrieval")}
_ENDS = ("low", "high")


def retrieval(
    rows: pl.DataFrame, comparisons: pl.DataFrame, embeddings: Sequence[str]
) -> Section | None:
    """Return how often embeddings find a term that means the same."""
    parts: list[Chart | PageTable] = []
    for (name,), of_input in rows.drop_nulls("value").group_by("input", maintain_order=True):
        at_best = retrieval_at_best_metric(of_input.filter(subset="common"))
        common = with_contenders(in_order_of(at_best, embeddings))
        if common.height:
            parts.append(_by_difficulty(str(name), common, of_input))
            parts += _by_length(str(name), common)
            compared = comparisons.filter(input=name, dataset="retrieval")
            parts += _differences(str(name), compared)
    if not parts:
        return None
    return Section(
        title="Retrieval",
        prose="For each term that has others of the same meaning, whether one of them is among "
        "those that the embedding finds nearest, of all terms that the build draws from and that "
        "have a vector. A term without a vector counts as not found; of terms that are equally "
        "near, those of another meaning come first.",
        parts=parts,
    )


def _by_difficulty(name: str, common: pl.DataFrame, rows: pl.DataFrame) -> Chart:
    every = rows.with_columns(pl.col("difficulty", "length").fill_null("all"))
    lowest = common.group_by("index").agg(pl.min("recall")).drop_nulls().sort("index")
    exactness = "".join(
        f" The index {index} finds {number(100 * recall, '.1f')}% of the true nearest terms, "
        "or more."
        for index, recall in lowest.iter_rows()
    )
    drawn = charts.points(
        common.filter(pl.col("length").is_null(), pl.col("statistic").is_in(list(_RETRIEVED))),
        panel=pl.col("statistic").replace_strict(_RETRIEVED),
        y=pl.col("difficulty").fill_null("all"),
        ends=_ENDS,
    )
    return Chart(
        title=f"What is found on {name}",
        says="Share of the terms for which a term of the same meaning is among the first 1, 5 or "
        "10, and the mean of 1 / rank, with 95% intervals. A term is easy if one of the same "
        f"meaning differs by at most 5 edits.{exactness}",
        spec=charts.dots(
            distinct(drawn["contender"]),
            x=charts.ValueAxis(title="share of terms, or mean of 1 / rank", scale={"zero": True}),
            y=present(("all", "easy", "hard"), drawn["y"]),
            panels=present(list(_RETRIEVED.values()), drawn["panel"]),
            names=("embedding", "terms"),
        ),
        rows=drawn,
        table=PageTable(
            caption=f"Retrieval on {name}, with 95% intervals",
            frame=headed(every, pl.exclude("input", "signature")),
            view="retrieval",
        ),
    )


def _by_length(name: str, common: pl.DataFrame) -> list[Chart]:
    first = common.filter(
        pl.col("difficulty").is_null(), pl.col("statistic") == "accuracy_at_1"
    ).drop_nulls("length")
    if first.is_empty():
        return []
    words = {length: f"{length} word{'' if length == '1' else 's'}" for length in LENGTHS}
    drawn = charts.points(first, y=pl.col("length").replace_strict(words), ends=_ENDS)
    columns = ("contender", "length", "value", "low", "high", "n_terms")
    table = headed(first, columns, contender="embedding", value="found first")
    return [
        Chart(
            title=f"What is found first on {name}, by length",
            says="Share of the terms of so many words whose nearest term means the same, with 95% "
            "intervals.",
            spec=charts.dots(
                distinct(drawn["contender"]),
                x=charts.ValueAxis(title="share of terms", scale={"zero": True}),
                y=present(list(words.values()), drawn["y"]),
                names=("embedding", "length"),
            ),
            rows=drawn,
            table=PageTable(caption=f"Found first on {name}, by length", frame=table),
        )
    ]


def _differences(name: str, compared: pl.DataFrame) -> list[PageTable]:
    """Return which embeddings find more than others, on all terms by the exact index."""
    if compared.is_empty():
        return []
    columns = ("score", "embeddings", "difference", "low", "high", "p_bonferroni", "n_pairs")
    frame = headed(
        compared.with_columns(
            score=pl.col("of").replace(_RETRIEVED),
            embeddings=pl.format("{} \N{MINUS SIGN} {}", "embedding1", "embedding2"),
            p_bonferroni=pl.col("p_bonferroni").map_elements(p_text, pl.String),
        ),
        columns,
        p_bonferroni="p after Bonferroni",
        n_pairs="terms",
    )
    caption = (
        f"Differences on {name} with 95% intervals, on all terms by the exact index; terms that "
        "are linked to each other count as one cluster"
    )
    return [PageTable(caption=caption, frame=frame)]


_MEASURES = [one.name for one in statistics_of("separation")]
_LARGEST = 20  # categories that a heat map shows
_LABELLED = 6  # categories up to which its cells have room for numbers


def separation(rows: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return how well embeddings keep categories apart; see ``SEPARATION``."""
    overall = overall_errors(rows)
    if overall.is_empty():
        return None
    parts = []
    for (name,), of_input in overall.group_by("input", maintain_order=True):
        parts.append(_errors(str(name), of_input, rows.filter(input=name), embeddings))
        among = rows.drop_nulls("category1").join(
            best_and_worst(of_input).filter(standing="best"),
            on=["input", "embedding", "metric"],
            how="semi",
            maintain_order="left",
        )
        if among.height:
            parts.append(_means(str(name), among, embeddings))
    return Section(
        title="Category separation",
        prose="Whether terms of near categories, or of one category, lie nearer to each other than "
        "to terms of another (Schulz and Juric 2020, section 5.3).",
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
        says=f"{statistic.help} 0 is perfect, and the dashed line at 0.5 is chance where no "
        "similarities tie, since ties are errors. Filled: the best metric of an embedding. Each "
        "is scored on the terms that it covers.",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title=statistic.label, line=charts.CHANCE, scale={"zero": True}),
            y=sorted(set(drawn["y"])),
            names=("embedding", "metric"),
        ),
        rows=drawn,
        table=PageTable(caption=f"Category separation on {name}", frame=table),
    )


def _means(name: str, among: pl.DataFrame, embeddings: Sequence[str]) -> Chart:
    sizes = among.group_by("category1").agg(pl.col("n_terms1").max())
    largest = sizes.sort("n_terms1", "category1", descending=[True, False]).head(_LARGEST)
    named = among["category1"].unique(maintain_order=True)
    categories = named.filter(named.is_in(largest["category1"].implode())).to_list()
    shown = among.filter(
        pl.col("category1").is_in(categories), pl.col("category2").is_in(categories)
    )
    drawn = (
        in_order_of(shown, embeddings)
        .drop_nulls("mean_similarity")
        .select(
            panel=pl.format("{}, {}", "embedding", "metric"),
            y="category1",
            x="category2",
            value="mean_similarity",
            label=rounded("mean_similarity") if len(categories) <= _LABELLED else pl.lit(""),
        )
    )
    left = len(sizes) - len(categories)
    smallest = "smallest category is" if left == 1 else f"{left} smallest categories are"
    rest = f" The {smallest} in the table above only." if left else ""
    names = {"panel": "embedding, metric", "y": "category", "x": "other category"}
    return Chart(
        title=f"Mean similarity within and across categories of {name}",
        says="Each cell is the mean over all pairs of terms of the two categories, of an embedding "
        "at the metric of its least error; darker is more similar, by each embedding's "
        f"own scale. The diagonal should stand out.{rest}",
        spec=charts.heat(
            x=categories,
            y=categories,
            value="mean similarity",
            names=("category", "other category"),
            panels=distinct(drawn["panel"]),
        ),
        rows=drawn,
        table=PageTable(
            caption=f"Mean similarities of {name}",
            frame=headed(drawn, [*names, "value"], **names, value="mean similarity"),
            view="separation",
        ),
    )
