"""Tasks for mteb: a Python file, their metadata as JSON, and Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.builds.cards import CITATION, licence_of
from medsim.builds.positives import linked_terms
from medsim.core.config import PARENT_CHILD, SET_COLUMNS
from medsim.core.data import toml_of
from medsim.core.errors import OptionError, counted
from medsim.core.kinds import declared_tables
from medsim.core.manifest import Skipped, medsim_version
from medsim.core.parquet import write_lazily
from medsim.core.terms import content_hashes
from medsim.embeddings.encoders import cache_folder
from medsim.evaluations.inputs import read_build, with_strata
from medsim.evaluations.layouts import LAYOUTS, parse_rated
from medsim.evaluations.ratings import read_rated
from medsim.evaluations.sets import HEADLINE, IN_HEADLINE
from medsim.exports.formats import Export, ExportFormat
from medsim.exports.pairs import check_passed_on, check_some
from medsim.splits.output import Splits

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.core.output import OutputFolder

MAX_QUERIES = 50_000
"""The maximum number of queries of a retrieval task: mteb compares all of them with 50,000 terms at
a time, which takes 10 GB in single precision."""

_SPLIT = "test"
_WORDS = toml_of(__package__, "mteb.toml")
_LICENCES = re.compile(
    r"cc0-1\.0|cc-by-[234]\.0|cc-by-(sa|nc|nc-sa)-[34]\.0|cc-by-(nd|nc-nd)-4\.0"
)  # Creative Commons licences that mteb knows by name; others are given by their address
_UNSAFE = re.compile(r"[^\w+.-]")  # characters not allowed in names of tasks and files


def _task(
    output: OutputFolder,
    file: str,
    task_type: str,
    name: str,
    about: str,
    facts: Mapping[str, object],
    members: Mapping[str, object],
) -> dict[str, object]:
    """Return the entry of a task in tasks.json.

    Its name ends with the fingerprint of its data, because mteb stores results only by name.

    Args:
        output: folder with the data.
        file: path of the data in the folder.
        task_type: mteb's type of task.
        name: name of the task, without the fingerprint.
        about: sentences for the description.
        facts: metadata that it shares with other tasks of the same data.
        members: members of the task's class.
    """
    fingerprint = output.outputs[file].fingerprint
    metadata = {
        "name": f"{name}-{fingerprint[:8]}",
        "description": about,
        "type": task_type,
        "category": "t2t",
        **_WORDS["kinds"][task_type],
        "dataset": {"path": file, "revision": fingerprint},
        "domains": ["Medical", "Written"],
        "task_subtypes": [],
        "dialect": [],
        "sample_creation": "found",
        **facts,
    }
    return {"file": file, "metadata": metadata, "members": members}


def write_mteb(run: Export) -> None:
    """Write tasks of the headline, the sets, retrieval and rated pairs; see ``ExportFormat``.

    For splits, tasks are made from the test split; for a build, from all its content.

    Raises:
        OptionError: see ``check_passed_on``; or two rated sets have the same name, or there are no
            tasks.
    """
    exported, private = run.exported, run.options.private
    build = exported[_SPLIT] if isinstance(exported, Splits) else exported
    check_passed_on(build.manifest.source, private=private)
    source = _source(build, private=private)
    with run.progress.stage("write tasks") as stage:
        tasks = [*_headline_task(run, source), *_set_tasks(run, source)]
        tasks += [*_retrieval_tasks(run, source), *_rated_tasks(run)]
        stage.note(counted(len(tasks), "task"))
    check_some(run, len(tasks))
    text = json.dumps(tasks, indent=2, ensure_ascii=False) + "\n"
    run.output.write_text("tasks.json", text, len(tasks))
    code = (files(__package__) / "mteb_tasks.txt").read_text(encoding="utf-8")
    run.output.write_text("tasks.py", code, len(code.splitlines()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The build to make tasks from.

    Attributes:
        build: the build.
        name: terminology and split, with which names of tasks begin.
        about: sentences about the terms.
        facts: metadata of all its tasks.
        metadata: metadata of Parquet files.
    """

    build: Build
    name: str
    about: str
    facts: dict[str, object]
    metadata: dict[str, str]


def _source(build: Build, *, private: bool) -> _Source:
    source, options = build.manifest.source, build.manifest.options
    terminology, licence = " ".join(str(source.get("name")).split()), licence_of(source)
    day, split_options = source.get("release_date"), options.get("split")
    split = str(split_options["name"]) if isinstance(split_options, dict) else None
    of_day, of_split = f" of {day}" if day else "", f", the split {split}" if split else ""
    languages = map(_WORDS["languages"].get, str(options.get("language")).split(","))
    is_known = _LICENCES.fullmatch(licence.hub_id)
    return _Source(
        build=build,
        name=_UNSAFE.sub("_", "-".join(filter(None, (terminology, split)))),
        about=f"The terms are those of {terminology}{of_day}{of_split}. {licence.terms}",
        facts={
            "reference": "https://doi.org/10.1609/aaai.v34i05.6404",
            "bibtex_citation": CITATION,
            "date": [day, day] if day else None,
            "eval_langs": [code for code in languages if code],
            "license": licence.hub_id if is_known else licence.link or "not specified",
            "annotations_creators": "derived",
            "is_public": licence.allows_passing_on is True and not private,
        },
        metadata={"medsim": medsim_version(), "terms_of_use": licence.terms},
    )


def _headline_task(run: Export, source: _Source) -> Iterator[dict[str, object]]:
    """Yield the task of the headline score, if all datasets are exported and the build has it."""
    if run.options.datasets or run.options.difficulty:
        return
    unclassified = replace(read_build(source.build.folder), build=None)  # its negatives
    whole = with_strata(unclassified, cache_folder(None))
    run.progress.warn(*whole.warnings)
    pairs = whole.frame.filter(IN_HEADLINE).drop_nulls("stratum")
    pairs = pairs.unique("pair_id").sort("pair_id")
    n_labels = pl.col("label").n_unique().over("stratum")
    if not pairs.select((n_labels > 1).any()).item():
        return
    learned = "that look equally alike to a spelling classifier"
    alike = (
        learned if pairs["spelling"].count() else "of the same edit distance and similar lengths"
    )
    pairs = pairs.select(sentence1="term1", sentence2="term2", labels="label", stratum="stratum")
    file = "beyond_spelling.parquet"
    run.output.write(file, pairs, source.metadata)
    about = f"{_SAME} The main score compares only pairs {alike}. {source.about}"
    facts = {**source.facts, "main_score": HEADLINE}
    name = f"{source.name}-beyond-spelling"
    yield _task(run.output, file, "PairClassification", name, about, facts, {})


_SAME = "Do two medical terms mean the same?"
_RELATED = "Is one of two medical terms the parent of the other?"


def _set_tasks(run: Export, source: _Source) -> Iterator[dict[str, object]]:
    """Yield a task of pair classification for each requested set."""
    datasets, are_synonyms = run.options.datasets, pl.col("dataset") != PARENT_CHILD
    are_chosen = pl.col("dataset").is_in(datasets) if datasets else are_synonyms
    stats = source.build.stats().filter(are_chosen)
    if run.options.difficulty:
        stats = stats.filter(difficulty=run.options.difficulty)
    for row in stats.iter_rows(named=True):
        dataset, difficulty, negatives = (row[column] for column in SET_COLUMNS)
        n_rows = row["n_positives"] + row["n_negatives"]
        if not row["n_positives"] or not row["n_negatives"]:
            if n_rows:
                why = f"{dataset}/{difficulty}/{negatives} has no positives, or no negatives"
                run.skipped.append(Skipped(reason=why, n_rows=n_rows))
            continue
        pairs = source.build.pairs(dataset, difficulty, negatives, lazy=True).select(
            sentence1="term1", sentence2="term2", labels="label"
        )
        file = f"pairs/{dataset}-{difficulty}-{negatives}.parquet"
        run.output.write_file(file, partial(write_lazily, pairs, metadata=source.metadata))
        about = (
            f"{_RELATED if dataset == PARENT_CHILD else _SAME} Pairs labelled 1 are linked by the "
            f"terminology ({dataset}, {difficulty}), the others are {negatives} negatives. "
            f"{source.about}"
        )
        name = f"{source.name}-{dataset}-{difficulty}-{negatives}"
        yield _task(run.output, file, "PairClassification", name, about, source.facts, {})


def _retrieval_tasks(run: Export, source: _Source) -> Iterator[dict[str, object]]:
    """Yield the task of finding linked terms, if there are any."""
    linked = linked_terms(source.build)
    rows = np.flatnonzero(linked["is_linked"])
    if not len(rows):
        return
    if (n_more := len(rows) - MAX_QUERIES) > 0:  # take the queries with the smallest hashes
        hashes = content_hashes(linked["term"][rows])
        rows = rows[np.argsort(hashes, kind="stable")[:MAX_QUERIES]]
        why = f"term is not a query, since a retrieval has at most {MAX_QUERIES:,}"
        run.skipped.append(Skipped(reason=why, n_rows=n_more))
    terms = linked.select(
        pl.int_range(pl.len()).cast(pl.String).alias("id"),
        pl.col("term").alias("text"),
        pl.col("component").alias("group"),
        pl.int_range(pl.len()).is_in(rows).alias("is_query"),
    )
    run.output.write("terms.parquet", terms, source.metadata)
    about = (
        "Is a medical term that means the same found among all others? Each term that the "
        f"terminology links to another is looked up. {source.about}"
    )
    name = f"{source.name}-retrieval"
    yield _task(run.output, "terms.parquet", "Retrieval", name, about, source.facts, {})


def _rated_tasks(run: Export) -> Iterator[dict[str, object]]:
    """Yield a task of similarity for each rating of each rated file."""
    for path in run.options.rated:
        rated = read_rated(*parse_rated(str(path)))
        for skipped in rated.skipped:
            run.skipped.append(replace(skipped, reason=f"{rated.name}: {skipped.reason}"))
        for warning in rated.warnings:
            run.progress.warn(f"{rated.name}: {warning}")
        origin = next((f", {known.source}" for known in LAYOUTS if known.name == rated.layout), "")
        for rating in rated.pairs.columns[2:]:
            name = _UNSAFE.sub("_", f"{rated.name}-{rating}")
            file = f"rated/{name}.parquet"
            if file in run.output.outputs:
                raise OptionError(f"`rated`: two sets are named {name!r}; rename one of the files")
            pairs = rated.pairs.select(sentence1="term1", sentence2="term2", score=rating)
            pairs = pairs.drop_nulls()
            run.output.write(file, pairs)
            low, high = rated.range or (min(pairs["score"]), max(pairs["score"]))
            about = (
                "How similar are two medical terms? People rated each pair; the score is the "
                f"column {rating} of the file {rated.name} ({rated.layout}{origin})."
            )
            facts: dict[str, object] = {
                "reference": None,
                "bibtex_citation": "",
                "date": None,
                "eval_langs": [],
                "license": "not specified",
                "annotations_creators": "human-annotated",
            }
            members = {"min_score": low, "max_score": high if high > low else low + 1}
            yield _task(run.output, file, "STS", name, about, facts, members)


ExportFormat(
    write=write_mteb,
    next="in {out} start Python; from tasks import TASKS; mteb.evaluate(model, TASKS)",
    accepts=frozenset({"datasets", "difficulty", "rated", "private"}),
    tables=declared_tables(__package__, "mteb.toml"),
    others={
        "tasks.json": "Metadata of every task.",
        "tasks.py": "Module that registers the tasks with mteb.",
    },
).register("mteb")
