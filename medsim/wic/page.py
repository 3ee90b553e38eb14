"""The report of a benchmark of words in context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.pages import charts
from medsim.pages.page import (
    Chart,
    Page,
    PageTable,
    Section,
    closing,
    content_digest,
    facts,
    license_notice,
    passed_on,
)
from medsim.wic.describe import describe_wic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.wic.benchmark import Benchmark
    from medsim.wic.options import StatisticsTable

PAPER = (
    "Rouhizadeh, H. et al. (2024). A Dataset for Evaluating Contextualized Representation of "
    "Biomedical Concepts in Language Models. Scientific Data 11."
)
"""The paper whose method makes benchmarks."""

_AUTHORS = "Rouhizadeh et al. (2024)"


def benchmark_page(made: Benchmark) -> Page:
    """Return the report of a benchmark: the tables and figures that describe BioWiC."""
    manifest = made.manifest
    source: Mapping[str, object] = manifest.terminology
    name = f"{made.folder.name}@{content_digest(manifest)}"
    n_instances = made.instances().height
    return Page(
        title=f"Words in context of {source.get('name')}",
        lead=f"{n_instances:,} instances, built by medsim {manifest.medsim}.",
        notice=license_notice(terms_of_use=str(source.get("terms_of_use") or ""))
        if source.get("redistributable") is False
        else None,
        signature=f"medsim {manifest.medsim}, {name}, seed {manifest.options.get('seed')}",
        sections=[
            _instances(made),
            _repeats(made),
            *([] if made.semantic_types() is None else [_types(made)]),
            closing(
                manifest,
                [
                    facts("Options", manifest.options.items()),
                    facts(
                        "Terminology",
                        [
                            ("May be passed on", passed_on(source.get("redistributable"))),
                            ("Terms of use", source.get("terms_of_use")),
                        ],
                    ),
                ],
                f"{name}, built by medsim {manifest.medsim}, as {_AUTHORS} built BioWiC",
                "medsim wic stats WIC\nmedsim wic verify WIC",
                PAPER,
            ),
        ],
    )


def _instances(made: Benchmark) -> Section:
    captions: dict[StatisticsTable, str] = {
        "1": "Table 1: corpora",
        "3": "Table 3: splits",
        "4": "Table 4: target terms by their number of tokens",
        "5": "Table 5: instances of test with a target term in train",
    }
    return Section(
        title="Instances",
        prose=f"The tables by which {_AUTHORS} describe BioWiC, under their numbers.",
        parts=[
            PageTable(caption=caption, frame=describe_wic(made, table=table))
            for table, caption in captions.items()
        ],
    )


def _repeats(made: Benchmark) -> Section:
    curve = describe_wic(made, table="figure-3")
    names = curve.columns[1:]
    chart = Chart(
        title="Figure 3: train by how often a sentence may be repeated",
        says="What train would have if a sentence might occur so often in train and dev together. "
        f"This benchmark was built with {made.manifest.options.get('most_repeats', 100)}.",
        spec=charts.lines(names, x="repeats of a sentence"),
        rows=curve.unpivot(
            names, index="repeats", variable_name="panel", value_name="value"
        ).rename({"repeats": "x"}),
        table=PageTable(caption="Train by repeats of a sentence", frame=curve),
    )
    return Section(
        title="Repeats",
        prose="The limit keeps a few sentences from making up most of train.",
        parts=[chart],
    )


def _types(made: Benchmark) -> Section:
    table = describe_wic(made, table="figure-4")
    parts = []
    for (kind,), own in table.group_by("of", maintain_order=True):
        of = str(kind)
        rows = charts.points(
            own.with_columns(contender=pl.lit("target terms")), y="name", value="target terms %"
        )
        parts.append(
            Chart(
                title=f"Figure 4: {of}s of target terms",
                says="A concept may have several types, so shares may add up to more than 100.",
                spec=charts.dots(
                    ["target terms"],
                    x=charts.ValueAxis(title="target terms, %", scale={"zero": True}, digits=".1f"),
                    y=own["name"].to_list(),
                    names=("", of),
                ),
                rows=rows,
                table=PageTable(caption=f"The most frequent {of}s", frame=own.drop("of")),
            )
        )
    return Section(
        title="Semantic types",
        prose="The ten types of the Semantic Network of UMLS, and of its groups, that most target "
        "terms have.",
        parts=parts,
    )
