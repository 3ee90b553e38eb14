"""The report of a tagging, with its result in sentences."""

from __future__ import annotations

import polars as pl

from medsim.core.errors import counted, listed
from medsim.pages import charts
from medsim.pages.page import Chart, Page, PageTable, Section, distinct, facts, report
from medsim.pages.readable import headed
from medsim.pages.sentences import leader_sentence
from medsim.tagging.output import ALL_TYPES, Tagging

CHIU_2018 = (
    "Chiu, B. et al. (2018). Bio-SimVerb and Bio-SimLex: wide-coverage evaluation sets of word "
    "similarity in biomedicine. BMC Bioinformatics 19."
)
"""The paper with the tagging task."""

_WORDS = {
    "F1": "The harmonic mean of precision and recall.",
    "precision": "The share of the entities that a tagger finds that are correct.",
    "recall": "The share of the entities of the corpus that a tagger finds.",
    "deviation": "The standard deviation over taggers (n \u2212 1).",
}
_LARGEST = 3  # corpora that the first sentences name


def tagging_page(tagging: Tagging) -> Page:
    """Return the report of a tagging: F1 of each embedding on each corpus, and all scores."""
    manifest = tagging.manifest
    results = tagging.results()
    trials = manifest.options.get("trials")
    corpora, embeddings = manifest.corpora.items(), manifest.embeddings.items()
    return report(
        manifest,
        tagging.folder.name,
        title="Named entities by word vectors",
        lead=f"{counted(len(embeddings), 'embedding')} on "
        f"{counted(len(corpora), 'corpus', 'corpora')}, {trials} taggers each.",
        sections=[
            _result(results),
            Section(
                title="Taggers",
                prose="Each tagger is the one after the epoch with the highest F1 on dev.",
                parts=[
                    PageTable(
                        caption="Scores of each tagger",
                        frame=headed(tagging.trials(), pl.all()),
                    )
                ],
            ),
        ],
        words=_WORDS,
        parts=[
            *(facts(f"Corpus {key}", about.items()) for key, about in corpora),
            *(facts(f"Embedding {key}", about.items()) for key, about in embeddings),
        ],
        commands="medsim sql TAGS\nmedsim correlate RESULTS TAGS/tasks.parquet",
        paper=CHIU_2018,
    )


def f1_sentences(results: pl.DataFrame) -> list[str]:
    """Return the sizes of the largest corpora, and which embedding has the highest F1 on each."""
    rows = results.filter(type=ALL_TYPES, statistic="f1").drop_nulls("value")
    rows = rows.sort("n_entities", "value", descending=True, maintain_order=True)
    names = distinct(rows["corpus"])
    of_corpora = [rows.filter(corpus=name).rename({"embedding": "model"}) for name in names]
    if not of_corpora:
        return []
    sizes = listed([f"{each['n_entities'][0]:,} in {each['corpus'][0]}" for each in of_corpora])
    n_taggers = counted(of_corpora[0]["n_trials"][0], "tagger")
    return [
        f"Each score is the mean of {n_taggers}, on the entities of the test splits: {sizes}."
    ] + [
        leader_sentence(each.to_dicts(), {}, each["corpus"][0], "mean F1")
        for each in of_corpora[:_LARGEST]
    ]


def _result(results: pl.DataFrame) -> Section:
    corpora, embeddings = distinct(results["corpus"]), distinct(results["embedding"])
    whole = results.filter(type=ALL_TYPES, statistic="f1")
    chart = Chart(
        title="F1 of all entities",
        says="Points are means over the taggers of an embedding. Bars are 95% confidence "
        "intervals, by a bootstrap over the documents of the test split. An entity is found if its "
        "words and its type are correct.",
        spec=charts.dots(
            embeddings, x=charts.ValueAxis(title="F1"), y=corpora, names=("embedding", "corpus")
        ),
        rows=charts.points(whole, y="corpus", contender="embedding", ends=("low", "high")),
        table=PageTable(
            caption="F1 of all entities",
            frame=headed(whole, pl.exclude("type", "statistic"), value="F1"),
        ),
    )
    return Section(
        title="Result",
        prose="Small taggers that see only the vectors of five words find named entities.",
        parts=[chart, PageTable(caption="All scores", frame=headed(results, pl.all()))],
        result=f1_sentences(results),
    )
