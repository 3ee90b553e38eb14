"""Tasks for lm-evaluation-harness: multiple-choice questions by tier."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from importlib import resources

from medsim.builds.cards import yaml_of
from medsim.exports.formats import Export, ExportFormat
from medsim.exports.formats.jsonl import write_lines
from medsim.exports.pairs import OPTIONS_OF_QUESTIONS, questions_by_split
from medsim.questions.output import QUESTION

_UNSAFE = re.compile(r"[^a-z0-9]+")
_AVERAGES = [{"metric": metric, "weight_by_size": True} for metric in ("acc", "acc_norm")]


def write_lm_eval(run: Export) -> None:
    """Write questions as JSON lines by split and tier, a task for each tier, and groups of tasks.

    Tasks ask the questions of the split test, or else of the last split; examples are of the split
    train. What tasks have in common is in a file that they include.
    """
    questions = questions_by_split(run)
    asked = "test" if "test" in questions else [*questions][-1]
    data: dict[str, dict[str, str]] = {}  # files by split, by tier
    for split, rows in questions.items():
        for (tier,), of_tier in rows.group_by("tier", maintain_order=True):
            name = str(tier).replace("-", "_").replace("+", "_up")
            data.setdefault(name, {})[split] = f"data/{split}-{name}.jsonl"
            run.output.write_file(data[name][split], partial(write_lines, of_tier))
    terminology = _UNSAFE.sub("_", str(run.exported.manifest.source.get("name")).lower())
    for prompt in ("letters", "names"):
        common, group = f"{prompt}_yaml", f"medsim_{terminology.strip('_')}_{prompt}"
        text = (resources.files(__package__) / f"lm_eval_{prompt}.txt").read_text(encoding="utf-8")
        run.output.write_text(common, text, 0)
        tasks = {f"{group}_{tier}": data[tier] for tier in sorted(data) if asked in data[tier]}
        for task, files in tasks.items():
            splits = {"test_split": asked, "fewshot_split": "train" if "train" in files else asked}
            dataset = {"dataset_kwargs": {"data_files": files}}
            content = yaml_of({"include": common, "task": task, **dataset, **splits})
            run.output.write_text(f"{task}.yaml", content, 0)
        whole = {"group": group, "task": [*tasks], "aggregate_metric_list": _AVERAGES}
        run.output.write_text(f"{group}.yaml", yaml_of(whole), 0)


ExportFormat(
    write=write_lm_eval,
    next="in {out}, lm_eval evaluates language models on the groups of tasks",
    accepts=OPTIONS_OF_QUESTIONS,
    tables={"questions": replace(QUESTION, files="data/SPLIT-TIER.jsonl")},
    others={
        "*.yaml": "A task for each tier, or a group with the tasks of all tiers.",
        "*_yaml": "What the tasks of a group have in common.",
    },
).register("lm-eval")
