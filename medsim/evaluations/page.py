"""The report of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.page import words_of_sets
from medsim.core.errors import listed
from medsim.embeddings.metrics import METRICS
from medsim.evaluations import detail_sections, score_sections
from medsim.evaluations.baselines import BASELINES
from medsim.evaluations.readable import MATCHED, set_columns
from medsim.evaluations.sets import SET
from medsim.evaluations.statistic import STATISTICS
from medsim.pages.page import (
    Folded,
    Page,
    PageTable,
    Section,
    facts,
    license_notice,
    report,
)
from medsim.pages.readable import headed

if TYPE_CHECKING:
    from medsim.evaluations.output import EvaluationManifest
    from medsim.evaluations.report_data import EvaluationReportData


_MATCHED = (
    "Synonyms are compared only with negatives of the same edit distance, the same difference of "
    "lengths and about the same lengths."
)


def meanings_of(results: pl.DataFrame) -> dict[str, str]:
    """Return the meanings of the terms that a page on these results uses."""
    present = {column: {*results[column].drop_nulls()} for column in (*SET, "metric", "statistic")}
    metrics = {name: f"A metric: {entry.describes}." for name, entry in METRICS.all().items()}
    metrics |= {name: f"A baseline: {entry.describes}." for name, entry in BASELINES.items()}
    return {
        **words_of_sets(present),
        **({MATCHED: _MATCHED} if "auc_matched" in present["statistic"] else {}),
        **{name: text for name, text in metrics.items() if name in present["metric"]},
        **{
            entry.label: f"{entry.help} {entry.interval}".rstrip()
            for name, entry in STATISTICS.items()
            if name in present["statistic"]
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
    columns = (*set_columns(covered), "embedding", *counts, "n_pairs_common")
    numbers = PageTable(
        caption="Terms and pairs without vectors",
        frame=headed(covered.with_columns(**percents), columns),
        view="coverage",
        formats=dict.fromkeys(percents, ",.1f"),
    )
    but = ", except in the matched AUC" if covered["difficulty"].eq("all").any() else ""
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
_FEW = 4  # names that the beginning of the page lists


def evaluation_page(manifest: EvaluationManifest, data: EvaluationReportData) -> Page:
    """Return the report of an evaluation; a section without data is left out."""
    options = ", ".join(f"{k} {v}" for k, v in manifest.options.items() if v or type(v) is int)
    embeddings = score_sections.standing_order(data, list(manifest.embeddings))
    sections = [
        score_sections.main_result(data, manifest.options),
        detail_sections.errors(data, embeddings),
        score_sections.score_boards(data, embeddings),
        score_sections.significance(data.comparisons, embeddings),
        score_sections.accuracy(data, embeddings),
        detail_sections.distributions(data, embeddings),
        detail_sections.roc_curves(data, embeddings),
        score_sections.by_subset(data.parts),
        score_sections.metrics(data, embeddings),
        detail_sections.spread_of_metrics(data.results, embeddings),
        detail_sections.retrieval(data.retrieval, embeddings),
        detail_sections.category_separation(data.separation, embeddings),
        coverage(data.coverage),
    ]
    recorded = [
        *(facts(f"Input {name}", about.items()) for name, about in manifest.inputs.items()),
        *(facts(f"Embedding {name}", about.items()) for name, about in manifest.embeddings.items()),
    ]
    return report(
        Page(
            title="How well embeddings represent medical terms",
            lead=f"{_counted(embeddings, 'embeddings')} on "
            f"{_counted(list(manifest.inputs), 'inputs')}.",
            sections=[section for section in sections if section is not None],
            notice=license_notice(manifest.inputs),
            signature=options,
            words=meanings_of(data.results),
        ),
        manifest,
        "results",
        parts=[Folded(summary="Inputs and embeddings", tables=recorded), _TO_CITE],
        commands=_COMMANDS,
    )


def _counted(names: list[str], what: str) -> str:
    return listed(names) if len(names) <= _FEW else f"{len(names)} {what}"
