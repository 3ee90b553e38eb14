"""The reports of benchmarks of words in context and of models on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from medsim.core.data import toml_of
from medsim.core.errors import InputError, counted, listed
from medsim.core.manifest import fingerprint
from medsim.core.shown import MISSING
from medsim.pages import charts
from medsim.pages.charts import CHANCE
from medsim.pages.page import Chart, Folded, Page, PageTable, Section, facts, license_notice, report
from medsim.pages.readable import headed, rounded, with_ends
from medsim.pages.sentences import accuracy_sentences, p_shown
from medsim.wic import MAX_REPEATS
from medsim.wic.describe import describe_wic
from medsim.wic.options import StatisticsTable
from medsim.wic.output import ALL_INSTANCES, Benchmark, WicScores, read_instances

ROUHIZADEH_2024 = (
    "Rouhizadeh, H. et al. (2024). A Dataset for Evaluating Contextualized Representation of "
    "Biomedical Concepts in Language Models. Scientific Data 11."
)
"""The paper with the method for benchmarks."""

_AUTHORS = "Rouhizadeh et al. (2024)"
_MEANINGS = toml_of(__package__, "words.toml")
_NAMED = 5  # models that a sentence names at most

_REPLY_LABELS = {
    "refused": "refused",
    "unclear": "unclear",
    "prompt_tokens": "tokens in",
    "completion_tokens": "tokens out",
}

WHY_NO_VALUE = {
    "over seeds": "a model is fitted from one seed, or not fitted",
    **dict.fromkeys(_REPLY_LABELS.values(), "a model is not a language model"),
    "p": "a model has the highest accuracy, or no test is possible",
}
"""Reasons for missing values in columns: a clause after "where"."""

_SHOWN = 5  # wrong answers of each kind
_COLUMNS = ["term 1", "sentence 1", "term 2", "sentence 2", "group", "score"]
_KINDS = {
    0: "Different meanings, classified as the same",
    1: "The same meaning, classified as different",
}
"""The kind of a wrong answer, by the right one."""


def benchmark_page(benchmark: Benchmark) -> Page:
    """Return the report of a benchmark: the tables and figures that describe BioWiC."""
    manifest = benchmark.manifest
    source: Mapping[str, object] = manifest.terminology
    instances = benchmark.instances()
    rights = {
        "May be shared": source.get("redistributable"),
        "Terms of use": source.get("terms_of_use"),
    }
    return report(
        manifest,
        benchmark.folder.name,
        title=f"Words in context of {source.get('name')}",
        lead=f"{instances.height:,} instances.",
        sections=[
            _instances(benchmark, instances),
            _repeats(benchmark),
            *([] if benchmark.semantic_types() is None else [_types(benchmark)]),
        ],
        notice=license_notice({str(source.get("name")): source}),
        words=_MEANINGS["groups"],
        parts=[facts("Terminology", rights.items())],
        commands="medsim wic stats WIC\nmedsim wic verify WIC",
        paper=ROUHIZADEH_2024,
    )


def benchmark_sentences(instances: pl.DataFrame, seen: pl.DataFrame) -> list[str]:
    """Return the sizes of a benchmark, its share of equal meanings and its unseen terms.

    Args:
        instances: of all splits.
        seen: table 5 of ``describe_wic``.
    """
    sizes = [
        f"{instances.filter(split=split).height:,} in {split}" for split in ("train", "dev", "test")
    ]
    test, share = seen.row(-1, named=True), instances["label"].sum() / instances.height
    return [
        f"The benchmark has {instances.height:,} instances (pairs of sentences): {listed(sizes)}.",
        f"In {100 * share:.1f}% of the instances, the target terms have the same meaning.",
        f"In {test['unseen %']:.1f}% of the test instances, neither target term occurs in train.",
    ]


def _instances(benchmark: Benchmark, instances: pl.DataFrame) -> Section:
    captions: dict[StatisticsTable, str] = {
        "1": "corpora",
        "3": "splits",
        "4": "target terms by their number of tokens",
        "5": "instances of test with a target term in train",
    }
    tables = {table: describe_wic(benchmark, table=table) for table in captions}
    return Section(
        title="Instances",
        prose=f"These tables have the numbers of those that describe BioWiC in {_AUTHORS}.",
        parts=[
            PageTable(caption=f"Table {table}: {captions[table]}", frame=frame)
            for table, frame in tables.items()
        ],
        result=benchmark_sentences(instances, tables["5"]),
    )


def _repeats(benchmark: Benchmark) -> Section:
    curve = describe_wic(benchmark, table="figure-3")
    names = curve.columns[1:]
    chart = Chart(
        title="Figure 3: size of train by the limit on repeats of a sentence",
        says="The limit is on how often a sentence may occur in train and dev together. "
        f"It is {benchmark.manifest.options.get('max_repeats', MAX_REPEATS)} in this benchmark.",
        spec=charts.lines(names, x="repeats of a sentence"),
        rows=curve.unpivot(
            names, index="repeats", variable_name="panel", value_name="value"
        ).rename({"repeats": "x"}),
        table=PageTable(caption="Train by repeats of a sentence", frame=curve),
    )
    return Section(
        title="Repeats",
        prose="A limit keeps a few sentences from making up most of train.",
        parts=[chart],
    )


def _types(benchmark: Benchmark) -> Section:
    table = describe_wic(benchmark, table="figure-4")
    parts = []
    for (kind,), rows_of_kind in table.group_by("of", maintain_order=True):
        name = str(kind)
        contender = pl.lit("target terms")
        rows = charts.points(rows_of_kind, y="name", contender=contender, value="target terms %")
        parts.append(
            Chart(
                title=f"Figure 4: {name}s of target terms",
                says="A concept may have several types, so shares may sum to more than 100.",
                spec=charts.dots(
                    ["target terms"],
                    x=charts.ValueAxis(title="target terms, %", scale={"zero": True}, digits=".1f"),
                    y=rows_of_kind["name"].to_list(),
                    names=("", name),
                ),
                rows=rows,
                table=PageTable(
                    caption=f"The most frequent {name}s", frame=rows_of_kind.drop("of")
                ),
            )
        )
    return Section(
        title="Semantic types",
        prose="The ten most frequent semantic types of UMLS, and groups of types, among target "
        "terms.",
        parts=parts,
    )


def wic_scores_page(opened: WicScores) -> Page:
    """Return the report of models on words in context: accuracies and differences."""
    manifest = opened.manifest
    results = opened.results()
    whole = results.filter(subset=ALL_INSTANCES).sort(
        "accuracy", descending=True, maintain_order=True
    )
    worst = worst_errors(opened, whole["model"].to_list())
    parts = Section(
        title="Parts",
        prose="Accuracies by group of instances, and by whether the target terms occur in the "
        "training data.",
        parts=[PageTable(caption="Accuracies by part", frame=readable_accuracies(results))],
    )
    recorded = {f"Model {name}": about for name, about in manifest.models.items()}
    recorded |= {f"File {split}": dict(about) for split, about in manifest.files.items()}
    return report(
        manifest,
        opened.folder.name,
        title=f"Models on words in context of {manifest.data}",
        lead=f"{counted(len(manifest.models), 'model')}; {manifest.fitted}.",
        sections=[
            _result(whole, leader_sentences(results, opened.people)),
            *([] if worst is None else [worst]),
            parts,
        ],
        words=_MEANINGS["groups"] | _MEANINGS["results"],
        parts=[facts(title, about.items()) for title, about in recorded.items()],
        commands="medsim sql SCORES                # lists the views\n"
        'medsim sql SCORES "select * from predictions where label <> prediction"',
        paper=ROUHIZADEH_2024,
    )


def _result(whole: pl.DataFrame, sentences: Sequence[str]) -> Section:
    """Return the section on the accuracies of models, which are in their order."""
    columns = ("model", "accuracy", "low", "high", "p", "n_instances", "n_uncovered")
    chart = Chart(
        title="Accuracy of each model",
        says="Points are accuracies. Bars are 95% confidence intervals, by the bootstrap or, if "
        "all or none of the answers are correct, by Wilson's method. The dashed line at 0.5 is "
        "chance.",
        spec=charts.ranking(
            whole["model"].to_list(), charts.ValueAxis(title="accuracy", line=charts.CHANCE)
        ),
        rows=charts.points(
            whole, y="model", contender=pl.lit(""), value="accuracy", ends=("low", "high")
        ),
        table=PageTable(
            caption="Accuracy of each model",
            frame=headed(whole, columns, n_uncovered="not covered"),
        ),
    )
    return Section(title="Result", parts=[chart], result=sentences)


def worst_errors(opened: WicScores, models: Sequence[str]) -> Section | None:
    """Return the wrong answers with the highest and with the lowest scores of each model.

    Results contain no sentences: they are read from the test file, if it still exists and is
    unchanged. A model without scores is left out; for a model with several seeds the first is used.
    """
    wrong = _wrong_answers(opened)
    if wrong.is_empty():
        return None
    path = Path(opened.manifest.files["test"]["path"])
    try:
        instances = read_instances(path)
        is_same = fingerprint(instances) == opened.manifest.files["test"]["fingerprint"]
    except InputError:
        is_same = False
    if not is_same:
        return Section(
            title="Worst errors",
            prose=f"The sentences of wrong answers are not shown, as {path} is missing or has "
            "changed. If that path is relative, make this page in the folder where the models were "
            "scored.",
        )
    shown = _with_sentences(wrong, instances)
    with_errors = [model for model in models if model in shown["model"]]
    return Section(
        title="Worst errors",
        prose="The wrong answers that each model is most certain of, by its score. Sentences are "
        "from the benchmark: share this page only if its licence allows it.",
        parts=[
            Folded(summary=f"Wrong answers of {model}", tables=_tables(shown, model), opened=not at)
            for at, model in enumerate(with_errors)
        ],
    )


def _wrong_answers(opened: WicScores) -> pl.DataFrame:
    """Return the answers to show, in order: the most certain ones of each model and label."""
    predictions = opened.predictions()
    first_seed = pl.col("seed").is_null() | (pl.col("seed") == pl.col("seed").min().over("model"))
    wrong = predictions.filter(
        first_seed,
        pl.col("score").is_finite(),
        pl.col("covered"),
        pl.col("prediction") != pl.col("label"),
    )
    sureness = pl.when(pl.col("label") == 0).then("score").otherwise(-pl.col("score"))
    surest = wrong.sort(sureness, "instance", descending=[True, False])
    return surest.group_by("model", "label", maintain_order=True).head(_SHOWN)


def _with_sentences(wrong: pl.DataFrame, instances: pl.DataFrame) -> pl.DataFrame:
    numbered = instances.drop("cat", "label").with_columns(
        instance=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    answers = wrong.join(numbered, on="instance", how="left", maintain_order="left")
    headings = {f"{name}{side}": f"{name} {side}" for name in ("term", "sentence") for side in "12"}
    group = pl.col("cat").str.replace_all("_", " ").alias("group")
    return answers.with_columns(group).rename(headings)


def _tables(shown: pl.DataFrame, model: str) -> list[PageTable]:
    return [
        PageTable(caption=f"{caption}, by {model}", frame=of_label.select(_COLUMNS))
        for label, caption in _KINDS.items()
        if (of_label := shown.filter(model=model, label=label)).height
    ]


def leader_sentences(results: pl.DataFrame, people: float | None) -> list[str]:
    """Return which model leads on all instances, and which are like guessing or like people."""
    quoted = pl.format("“{}”", "model").alias("model")  # a name may be a common word
    whole = results.filter(subset=ALL_INSTANCES).with_columns(quoted, chance=pl.lit(CHANCE))
    instances = f"the {counted(whole['n_instances'][0], 'instance')}"
    sentences = accuracy_sentences(whole, instances)
    if people is not None:
        alike = whole.filter(pl.lit(people).is_between("low", "high"))["model"].to_list()
        said = f"Not significantly different from human accuracy ({people:.3f})"
        sentences.append(f"{said}: {listed(alike, _NAMED) or 'no model'}.")
    return sentences


def readable_accuracies(results: pl.DataFrame, people: float | None = None) -> pl.DataFrame:
    """Return accuracies for reading: a row per model, a column per subset of the benchmark.

    The accuracy on all instances has its 95% confidence interval and, if human accuracy is known,
    the difference from it. Columns without any value are left out.
    """
    parts = results.filter(pl.col("subset") != ALL_INSTANCES).with_columns(rounded("accuracy"))
    parts = parts.pivot("subset", index="model", values="accuracy")
    whole = results.filter(subset=ALL_INSTANCES).join(parts, on="model", maintain_order="left")
    table = whole.with_columns(to_people=pl.col("accuracy") - people).select(
        "model",
        with_ends("accuracy", "low", "high"),
        pl.format("± {}", rounded("deviation")).alias("over seeds"),
        rounded("to_people", "+.3f").alias("to people"),
        p_shown("p"),
        *(pl.col(part).alias(part.replace("_", " ")) for part in parts.columns[1:]),
        *(rounded(name, ",").alias(label) for name, label in _REPLY_LABELS.items()),
    )
    present = [column.name for column in table if column.null_count() < table.height]
    return table.select(present).fill_null(MISSING)
