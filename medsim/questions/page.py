"""The report of answers to multiple-choice questions."""

from __future__ import annotations

from typing import Any

import polars as pl

from medsim.pages.page import LongTable, Page, PageTable, Section, facts, license_notice, report
from medsim.pages.sentences import p_shown
from medsim.questions.output import AFFIRMED, AFFIRMED_CSV, RESULTS, Answers
from medsim.questions.rules import RULES
from medsim.questions.scores import answer_sentences, chosen_sentences, readable_results

_WORDS = {
    name.replace("_", " "): RESULTS.notes[name]
    for name in ("chance", "refused", "unclear", "position_p")
}


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
        parts=[*tables, chosen, affirmed],
    )
    return report(
        Page(
            title="Models on multiple-choice questions",
            lead="Do models know which names mean the same as a term?",
            sections=[result],
            notice=license_notice(sources),
            words=_WORDS,
        ),
        manifest,
        answers.folder.name,
        parts=[facts(key, each.items()) for key, each in about],
        commands=f'medsim sql OUT "from affirmed"\nmedsim study sample OUT/{AFFIRMED_CSV} -o study',
    )
