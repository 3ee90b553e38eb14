"""The report of an evaluation, with its sections on scores, standings and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.page import words_of_sets
from medsim.core.config import MINIMAL
from medsim.core.errors import counted, listed
from medsim.embeddings.metrics import METRICS
from medsim.evaluations import detail_sections, readable
from medsim.evaluations.baselines import BASELINES
from medsim.evaluations.chart import score_points
from medsim.evaluations.conclusions import (
    best_metrics,
    embedding_standings,
    with_standing,
)
from medsim.evaluations.detail_sections import EvaluationReportData, evaluation_data
from medsim.evaluations.sentences import main_set, result_sentences, sample_sentences
from medsim.evaluations.sets import (
    ALL_KINDS,
    FEW,
    HEADLINE,
    SET,
    both_ways,
    of_synonyms,
    with_enough_pairs,
    with_parts,
)
from medsim.evaluations.statistic import BASELINE, STATISTICS, Statistic, tabulated_names
from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    Folded,
    Page,
    PageTable,
    Section,
    SectionPart,
    distinct,
    facts,
    license_notice,
    report,
)
from medsim.pages.readable import headed, rounded
from medsim.pages.sentences import ALPHA, p_text
from medsim.systems.scorers import PREDICTED, PREDICTED_MEANING

if TYPE_CHECKING:
    from medsim.evaluations.output import Evaluation, EvaluationManifest

_ALIKE = (
    "Synonyms are compared only with negatives that a spelling classifier finds equally likely to "
    "be synonyms."
)


def meanings_of(results: pl.DataFrame) -> dict[str, str]:
    """Return the meanings of the terms that a page on these results uses."""
    used = {column: {*results[column].drop_nulls()} for column in (*SET, "metric", "statistic")}
    metrics = {name: f"A metric: {entry.describes}." for name, entry in METRICS.all().items()}
    metrics[PREDICTED] = f"A metric: {PREDICTED_MEANING}."
    metrics |= {name: f"A baseline: {entry.describes}." for name, entry in BASELINES.items()}
    return {
        **words_of_sets(used),
        **({readable.ALIKE: _ALIKE} if HEADLINE in used["statistic"] else {}),
        **{name: text for name, text in metrics.items() if name in used["metric"]},
        **{
            entry.label: f"{entry.help} {entry.interval}".rstrip()
            for name, entry in STATISTICS.items()
            if name in used["statistic"]
        },
    }


def coverage(covered: pl.DataFrame) -> Section | None:
    """Return the number of terms and pairs of each set without a vector."""
    if covered.is_empty():
        return None
    percents = {
        f"% of {what}": 100 * pl.col(f"n_{what}_uncovered") / pl.col(f"n_{what}") for what in _OF
    }
    counts = [name for what in _OF for name in (f"n_{what}", f"n_{what}_uncovered", f"% of {what}")]
    columns = (*readable.set_columns(covered), "embedding", *counts, "n_pairs_common")
    numbers = PageTable(
        caption="Terms and pairs without vectors",
        frame=headed(covered.with_columns(**percents), columns),
        view="coverage",
        formats=dict.fromkeys(percents, ",.1f"),
    )
    but = _but_headline(covered)
    prose = (
        "A word embedding covers a term if it has vectors for all its words; with --coverage any, "
        f"a vector for one word is enough. Only pairs that all embeddings cover are compared{but}."
        if covered["n_terms_uncovered"].sum()
        else "Every embedding covers every term: no pair is left out."
    )
    folded = Folded(summary=numbers.caption, tables=[numbers])
    return Section(title="Coverage", prose=prose, parts=[folded])


_COMMANDS = (
    "medsim compare RESULTS --table all-auc     # every metric; retrieval, separation, …\n"
    "medsim sql RESULTS                         # lists the views\n"
    'medsim sql RESULTS "select embedding, metric, statistic, value, low, high, signature from '
    "results where subset = 'common'\""
)
_TO_CITE = (
    "To cite a single score, give its signature, which identifies the inputs, options and versions "
    "(the column signature of the view results)."
)
_OF = ("terms", "pairs")
_MAX_LISTED = 4  # names that the beginning of the page lists


def page_of(evaluation: Evaluation) -> Page:
    """Return the report of an evaluation; see ``evaluation_page``."""
    return evaluation_page(evaluation.manifest, evaluation_data(evaluation))


def evaluation_page(manifest: EvaluationManifest, data: EvaluationReportData) -> Page:
    """Return the report of an evaluation; a section without data is left out."""
    options = ", ".join(f"{k} {v}" for k, v in manifest.options.items() if v or type(v) is int)
    best = with_standing(
        best_metrics(data.results, data.comparisons, tabulated_names(best=True), baseline=True)
    )
    embeddings = standing_order(best, list(manifest.embeddings))
    sections = [
        main_result(best, data, manifest.options),
        detail_sections.errors(data, embeddings),
        score_boards(best, embeddings),
        confusions(data, embeddings),
        significance(data.comparisons, embeddings),
        accuracy(data, embeddings),
        detail_sections.distributions(data, embeddings),
        detail_sections.roc_curves(data, embeddings),
        by_subset(data.parts),
        metrics(data, embeddings),
        detail_sections.retrieval(data.retrieval, embeddings),
        detail_sections.robustness(data.robustness),
        detail_sections.category_separation(data.separation, embeddings),
        coverage(data.coverage),
    ]
    recorded = [
        *(facts(f"Input {name}", about.items()) for name, about in manifest.inputs.items()),
        *(facts(f"Embedding {name}", about.items()) for name, about in manifest.embeddings.items()),
    ]
    return report(
        manifest,
        "results",
        title="How well embeddings represent medical terms",
        lead=f"{listed(embeddings, _MAX_LISTED)} on {listed([*manifest.inputs], _MAX_LISTED)}.",
        sections=[section for section in sections if section is not None],
        notice=license_notice(manifest.inputs),
        signature=options,
        words=meanings_of(data.results),
        parts=[Folded(summary="Inputs and embeddings", tables=recorded), _TO_CITE],
        commands=_COMMANDS,
    )


_FILLED = (
    "The points of the best embedding, of all that are not significantly different from it (p at "
    "least 0.05 after Bonferroni's correction) and of the baseline are filled."
)


def score_boards(best: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return each embedding at its best metric on every set, with standings over all."""
    if best.is_empty():
        return None
    parts: list[SectionPart] = []
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        rows = best.filter(statistic=statistic.name).drop_nulls("value")
        if rows.height:
            parts.append(_standings(rows.filter(pl.col("embedding") != BASELINE), statistic))
            groups = [rows] if statistic.kind == "rated" else rows.partition_by("input")
            parts += (_board(group, statistic, [*embeddings, BASELINE]) for group in groups)
    return Section(
        title="Standings",
        prose="The score of each embedding with its best metric. Scores are on the pairs that all "
        f"embeddings cover{_but_headline(best)}.{_missing(best)}",
        parts=parts,
    )


def by_subset(parts: pl.DataFrame) -> Section | None:
    """Return each embedding at its best metric on the parts of rated sets."""
    if parts.is_empty():
        return None
    groups = with_standing(parts.drop_nulls("value")).group_by("statistic", maintain_order=True)
    return Section(
        title="By subset",
        prose="Parts of rated sets: pairs whose words have about the same frequency, about the "
        f"same number of topics or the same domain, and associated pairs.{_missing(parts)}",
        parts=[
            _board_table(group, STATISTICS[str(name)], "parts of rated sets")
            for (name,), group in groups
        ],
    )


_NEGATIVES = "Negatives by how their terms differ, and by the relation of their concepts."
_CONFUSIONS = {
    "synonym_nearer": "How often a synonym is nearer than a negative, by kind of negative",
    "rung_nearer": "How often a name of a rung, from synonym to sibling, is nearer than one of the "
    "next",
}


def confusions(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return how often synonyms are nearer than negatives of each kind, and rungs than the next."""
    parts = []
    rows = with_standing(with_parts(data.confusions.drop_nulls("value")))
    if rows.is_empty():
        return None
    rows = rows.sort("statistic", descending=True, maintain_order=True)
    for (of,), compared in rows.group_by("statistic", maintain_order=True):
        statistic = STATISTICS[str(of)]
        name = pl.format("{}: {}", "input", pl.col("part_value").str.replace("_", " or "))
        minimal = pl.when(negatives=MINIMAL).then(pl.lit(", minimal")).otherwise(pl.lit(""))
        name = pl.concat_str(name, minimal)
        charted = score_points(compared, y=compared.select(name).to_series())
        chart = Chart(
            title=_CONFUSIONS[statistic.name],
            says=_explained(statistic),
            spec=charts.dots(
                [*embeddings, BASELINE],
                x=charts.ValueAxis(title=statistic.label, line=statistic.chance),
                y=distinct(charted["y"]),
            ),
            rows=charted,
            table=_board_table(compared, statistic, "negatives of one kind, or two rungs"),
        )
        parts.append(chart)
    return Section(
        title="Confusions",
        prose=" ".join([_NEGATIVES, *data.rare_kinds]),
        parts=parts,
    )


def _but_headline(rows: pl.DataFrame) -> str:
    """Return the exception to the statement that scores are on the common pairs."""
    has_headline = rows["difficulty"].eq(ALL_KINDS).any()
    return f", except for the {readable.LABELS[HEADLINE]}" if has_headline else ""


def _missing(rows: pl.DataFrame) -> str:
    """Return a sentence on missing values; empty if there are none."""
    why = readable.why_scores_missing(rows)
    return f" Some scores are missing: {why}." if why else ""


def _left_out(best: pl.DataFrame) -> str:
    """Return a sentence on the sets that are not in the chart; empty if all are."""
    if with_enough_pairs(best).height == best.height:
        return ""
    return f" Sets with fewer than {FEW} pairs are not plotted; the table shows them in grey."


def _explained(statistic: Statistic[Any]) -> str:
    """Return what the points, bars and line of a chart of scores mean."""
    line = "" if statistic.chance is None else " The dashed line is chance."
    covered = (
        " Pairs, in the table, are those with vectors."
        if statistic.kind in {"matched", "beyond"}
        else ""
    )
    return f"{statistic.help}{covered} Bars are 95% confidence intervals.{line} {_FILLED}"


def _standings(best: pl.DataFrame, statistic: Statistic[Any]) -> PageTable:
    return PageTable(
        caption=f"Standings by {statistic.label} over all sets with at least {FEW} pairs. Wins and "
        "losses are significant differences. The mean leaves out sets whose pairs are all in "
        "another set.",
        frame=headed(
            embedding_standings(best),
            pl.exclude("statistic"),
            n_among_best="among the best on",
            n_better="wins",
            n_worse="losses",
            mean=f"mean {statistic.label}",
        ),
        view="results",
    )


def _board(best: pl.DataFrame, statistic: Statistic[Any], embeddings: Sequence[str]) -> Chart:
    label, is_rated = statistic.label, statistic.kind == "rated"
    drawn = with_enough_pairs(best)
    rows = score_points(
        drawn, panel=readable.set_kind(drawn), y=readable.set_name(drawn), n="n_pairs"
    )
    where = "rated pairs" if is_rated else best["input"][0]
    return Chart(
        title=f"{label[0].upper()}{label[1:]} on {where}",
        says=f"{_explained(statistic)}{_left_out(best)}",
        spec=charts.dots(
            embeddings,
            x=charts.ValueAxis(title=label, line=statistic.chance),
            y=distinct(rows["y"]),
            panels=() if is_rated else distinct(rows["panel"]),
            sized=True,
        ),
        rows=rows.drop("panel") if is_rated else rows,
        table=_board_table(best, statistic, where),
    )


def _board_table(best: pl.DataFrame, statistic: Statistic[Any], where: str) -> PageTable:
    """Return a table of embeddings at their best metrics, in which small sets are marked."""
    names = ("metric", "value", "low", "high", "n_pairs", "n_better", "n_worse", "among_best")
    frame = headed(best, [*readable.set_columns(best), "embedding", *names], value=statistic.label)
    return PageTable(caption=f"{statistic.label} on {where}", frame=frame, few=FEW, view="results")


def accuracy(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return the accuracy of each embedding by difficulty and strategy."""
    best = best_metrics(data.results, data.comparisons, ("accuracy",), baseline=True)
    boards = with_standing(best.drop_nulls("value")).partition_by("input", maintain_order=True)
    if not boards:
        return None
    return Section(
        title="Accuracy",
        prose="How many pairs are classified correctly, with the most accurate metric of each "
        "embedding? The threshold is chosen on the same pairs. The view results also has "
        "accuracy_heldout, on one half of the pairs with a threshold chosen on the other half.",
        parts=[_board(rows, STATISTICS["accuracy"], [*embeddings, BASELINE]) for rows in boards],
    )


def standing_order(best: pl.DataFrame, embeddings: Sequence[str]) -> list[str]:
    """Return embeddings in the order of their standings, by the first available statistic."""
    models = best.filter(pl.col("embedding") != BASELINE).drop_nulls("value")
    for name in tabulated_names(best=True):
        rows = with_enough_pairs(models.filter(statistic=name))
        if rows.height:
            ranked = embedding_standings(rows)["embedding"].to_list()
            return ranked + sorted(set(embeddings) - set(ranked))
    return sorted(embeddings)


def main_result(
    best: pl.DataFrame, data: EvaluationReportData, options: Mapping[str, Any]
) -> Section | None:
    """Return the result in a few sentences, with the chart of the most informative set."""
    scored = of_synonyms(best.drop_nulls("value"))
    for statistic in map(STATISTICS.__getitem__, tabulated_names(best=True)):
        rows = scored.filter(statistic=statistic.name)
        if rows.height:
            return Section(
                title="Result",
                parts=[_chart(main_set(with_enough_pairs(rows)), statistic)],
                result=[
                    *result_sentences(best, data.comparisons),
                    *data.confused,
                    *sample_sentences(options),
                ],
            )
    return None


def _chart(key: pl.DataFrame, statistic: Statistic[Any]) -> Chart:
    label, where = statistic.label, key["name"][0]
    which = "its main" if statistic.name == HEADLINE else "its best"
    kind = readable.set_kind(key)[0].replace(", ", " pairs with ").replace("levensh", "Levensh")
    why = f" The chart shows the largest set of {kind}." if " with " in kind else ""
    return Chart(
        title=f"{label[0].upper()}{label[1:]} on {where}, {counted(key['n_pairs'][0], 'pair')}",
        says=f"{_explained(statistic)} Each embedding is shown with {which} metric.{why}",
        spec=charts.ranking(
            distinct(key["embedding"]), charts.ValueAxis(title=label, line=statistic.chance)
        ),
        rows=score_points(key, pl.lit(""), y="embedding"),
        table=_board_table(key, statistic, where),
    )


_MAX_WIDE = 3  # embeddings up to which cells can be wide


def metrics(data: EvaluationReportData, embeddings: Sequence[str]) -> Section | None:
    """Return every embedding under every metric."""
    main = tabulated_names(best=True)
    every = best_metrics(data.results, data.comparisons, main, every=True).drop_nulls("value")
    if every.is_empty():
        return None
    rows = every.select(
        choice=_choice(every, "statistic"),
        y="metric",
        x="embedding",
        value="value",
        label=rounded("value"),
    )
    names = distinct(every.sort("embedding", "metric")["metric"])  # those of a kind together
    index = [*readable.set_columns(every), "statistic", "embedding"]
    wide = every.pivot("metric", index=index, values="value").select(*index, *names)
    n_embeddings = every["embedding"].n_unique()
    chart = Chart(
        title="Scores by metric",
        says="The chart shows the score and the set that you choose. Scores are on the pairs that "
        f"all embeddings cover{_but_headline(every)}. Darker is higher. A cell is empty if the "
        "metric does not apply to the embedding or has no value.",
        spec=charts.heat(
            x=readable.present(embeddings, every["embedding"]),
            y=names,
            value="value",
            names=("metric", "embedding"),
            choices=readable.hardest_first(rows["choice"]),
        ),
        rows=rows,
        table=PageTable(caption="Scores by metric", frame=wide, view="results"),
        narrow=n_embeddings <= _MAX_WIDE,
        min_width=charts.heat_width(n_embeddings),
    )
    return Section(
        title="Metrics", prose="The scores of each embedding with every metric.", parts=[chart]
    )


def significance(comparisons: pl.DataFrame, embeddings: Sequence[str]) -> Section | None:
    """Return the section on significant differences between embeddings, on every set."""
    between = comparisons.filter(between="embeddings").drop_nulls("difference")
    main = between.filter(pl.col("of").is_in(tabulated_names(best=True)))
    if main.is_empty():
        return None
    rows = _cells(main)
    names = readable.present(embeddings, rows["y"])
    sides = ("embedding1", "metric1", "embedding2", "metric2")
    numbers = ("difference", "low", "high", "p", "p_bonferroni", "test")
    of_best = pl.any_horizontal(pl.col("embedding1", "embedding2") == names[0])
    best_first = between.sort(of_best, descending=True, maintain_order=True)
    chart = Chart(
        title="Differences between embeddings",
        says="Each cell is the row's score minus the column's: blue if the row is significantly "
        "better, orange if it is significantly worse, grey if the difference is not significant "
        "(p at least 0.05 after Bonferroni's correction for all comparisons on the set). The table "
        "names each test.",
        spec=charts.heat(
            x=names,
            y=names,
            value="difference",
            names=("embedding", "minus"),
            middle=0,
            choices=readable.hardest_first(rows["choice"]),
        ),
        rows=rows,
        table=PageTable(
            caption="Differences between embeddings",
            frame=headed(
                best_first, [*readable.set_columns(between), "of", *sides, *numbers], of="statistic"
            ),
            view="comparisons",
            formats={"p": ".2g", "p, Bonferroni": ".2g"},
        ),
        narrow=len(names) <= _MAX_WIDE,
        min_width=charts.heat_width(len(names)),
    )
    return Section(
        title="Significance",
        prose="Which differences between embeddings are significant? All are scored on the same "
        "pairs, each with its best metric.",
        parts=[chart],
    )


def _choice(frame: pl.DataFrame, statistic: str) -> pl.Expr:
    """Return the choices of a reader: a set, and the label of a column of statistics."""
    label = pl.col(statistic).replace_strict(readable.LABELS)
    return pl.format("{}: {}", readable.set_name(frame, with_kind=True), label)


def _cells(main: pl.DataFrame) -> pl.DataFrame:
    """Return a cell for each two embeddings, in both directions."""
    both = both_ways(main)
    p = pl.format("\np {}", pl.col("p_bonferroni").map_elements(p_text, pl.String))
    return both.select(
        choice=_choice(both, "of"),
        y="embedding1",
        x="embedding2",
        value=pl.when(pl.col("p_bonferroni") < ALPHA).then("difference").otherwise(0.0),
        label=pl.concat_str(rounded("difference", "+.3f"), p.fill_null("")),
    )
