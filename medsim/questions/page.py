"""The report of answers to multiple-choice questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    LongTable,
    Page,
    PageTable,
    Section,
    facts,
    license_notice,
    report,
)
from medsim.pages.readable import headed
from medsim.pages.sentences import p_shown
from medsim.questions.output import AFFIRMED, AFFIRMED_CSV, RESULTS, Answers
from medsim.questions.rules import RULES
from medsim.questions.scores import (
    answer_sentences,
    chosen_sentences,
    compared_rows,
    readable_results,
)

_WORDS = {
    name.replace("_", " "): RESULTS.notes[name]
    for name in ("chance", "refused", "unclear", "position_p")
}


def _charts(results: pl.DataFrame) -> Iterator[Chart]:
    """Yield a chart of the models of each folder and way of asking, the most accurate first."""
    for (name, ask), rows in compared_rows(results).group_by("input", "ask", maintain_order=True):
        ranked = rows.sort("accuracy", descending=True, maintain_order=True)
        title = f"Accuracy on {name} ({ask})"
        axis = charts.ValueAxis(title="accuracy", line=ranked["chance"][0])
        columns = ("model", "accuracy", "low", "high", "p")
        yield Chart(
            title=title,
            says="Points are accuracies, with 95% confidence intervals. The dashed line is chance.",
            spec=charts.ranking(ranked["model"].to_list(), axis),
            rows=charts.points(
                ranked, y="model", contender=pl.lit(""), value="accuracy", ends=("low", "high")
            ),
            table=PageTable(caption=title, frame=headed(ranked, columns)),
        )


def answers_page(answers: Answers) -> Page:
    """Return the page of answers: scores, and wrong names that models take for synonyms."""
    manifest, shown = answers.manifest, answers.results()
    sources: dict[str, Any] = {key: one["source"] or {} for key, one in manifest.questions.items()}
    about = (manifest.questions | manifest.models).items()
    whole, parts = readable_results(shown)
    tables = [
        PageTable(caption="All questions", frame=whole.with_columns(p_shown("p", "position_p"))),
        PageTable(caption="Accuracy by group", frame=parts),
    ]
    is_rule = pl.col("model").is_in([*RULES])
    offered = (
        answers.chosen()
        .filter(~is_rule)
        .pivot("model", index=["input", "ask", "by", "kind", "n_offered"], values="share")
    )
    chosen = PageTable(caption="Share of the wrong names offered that were chosen", frame=offered)
    affirmed = LongTable(caption=AFFIRMED.about, frame=answers.affirmed(), view="affirmed")
    result = Section(
        title="Result",
        prose="Intervals are 95% confidence intervals by concept. Tiers are edit distances from "
        "the term to the nearest wrong name. Wrong names that models take for synonyms may be "
        "synonyms that the terminology does not list: have people judge them.",
        result=[*answer_sentences(shown), *chosen_sentences(answers)],
        parts=[*_charts(shown), *tables, chosen, affirmed],
    )
    return report(
        manifest,
        answers.folder.name,
        title="Models on multiple-choice questions",
        lead="Do models know which names mean the same as a term?",
        sections=[result],
        notice=license_notice(sources),
        words=_WORDS,
        parts=[facts(key, each.items()) for key, each in about],
        commands=f'medsim sql OUT "from affirmed"\nmedsim study sample OUT/{AFFIRMED_CSV} -o study',
    )
