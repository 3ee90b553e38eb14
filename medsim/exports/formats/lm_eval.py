"""Tasks for lm-evaluation-harness: multiple-choice questions by tier."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from string import ascii_uppercase
from typing import TYPE_CHECKING

from medsim.builds.cards import yaml_of
from medsim.core.manifest import medsim_version
from medsim.exports.formats import FORMATS, SPLIT_NOTE, ExportFormat
from medsim.exports.formats.jsonl import write_lines
from medsim.exports.questions import OPTIONS_OF_QUESTIONS, questions_by_split
from medsim.questions.question import QUESTION, TIERS

if TYPE_CHECKING:
    from medsim.exports.formats import Export

_UNSAFE = re.compile(r"[^a-z0-9]+")
_PROMPTS = {
    "letters": {
        "doc_to_text": "{{question}}\n{% for name in choices %}"
        f"{{{{'{ascii_uppercase}'[loop.index0]}}}}. {{{{name}}}}\n{{% endfor %}}Answer:",
        "doc_to_choice": f"{{{{'{ascii_uppercase}'[:choices|length]|list}}}}",
    },
    "names": {"doc_to_text": "{{question}}\nAnswer:", "doc_to_choice": "choices"},
}
"""The two ways to ask: models choose a letter, or the whole name without seeing the others."""


def write_lm_eval(run: Export) -> None:
    """Write questions as JSON lines by split and tier, a task for each tier, and groups of tasks.

    Tasks ask the questions of the split test, or else of the last split; examples are of the split
    train.
    """
    questions = questions_by_split(run)
    terminology = str(run.exported.manifest.source.get("name")).lower()
    asked = "test" if "test" in questions else [*questions][-1]
    names = {tier: tier.replace("-", "_").replace("+", "_up") for tier in TIERS}
    tasks: dict[str, dict[str, str]] = {}  # files by split, of tiers with questions
    for split, rows in questions.items():
        for (tier,), of_tier in rows.group_by("tier", maintain_order=True):
            file = f"data/{split}-{names[str(tier)]}.jsonl"
            run.output.write_file(file, partial(write_lines, of_tier))
            tasks.setdefault(str(tier), {})[split] = file
    for prompt, templates in _PROMPTS.items():
        group = f"medsim_{_UNSAFE.sub('_', terminology).strip('_')}_{prompt}"
        shown = [tier for tier in TIERS if asked in tasks.get(tier, {})]
        for tier in shown:
            task = {
                "task": f"{group}_{names[tier]}",
                "dataset_path": "json",
                "dataset_kwargs": {"data_files": tasks[tier]},
                "test_split": asked,
                "fewshot_split": "train" if "train" in tasks[tier] else asked,
                "output_type": "multiple_choice",
                **templates,
                "doc_to_target": "answer",
                "metric_list": [
                    {"metric": metric, "aggregation": "mean", "higher_is_better": True}
                    for metric in _METRICS
                ],
                "metadata": {"version": medsim_version()},
            }
            run.output.write_text(f"{task['task']}.yaml", yaml_of(task), 0)
        whole = {
            "group": group,
            "task": [f"{group}_{names[tier]}" for tier in shown],
            "aggregate_metric_list": [
                {"metric": metric, "weight_by_size": True} for metric in _METRICS
            ],
        }
        run.output.write_text(f"{group}.yaml", yaml_of(whole), 0)


_METRICS = ("acc", "acc_norm")

FORMATS.register(
    "lm-eval",
    ExportFormat(
        write=write_lm_eval,
        next="in {out}, lm_eval evaluates language models on the groups of tasks",
        accepts=OPTIONS_OF_QUESTIONS,
        tables={
            "questions": replace(
                QUESTION,
                files="data/SPLIT-TIER.jsonl",
                about=f"{QUESTION.about} {SPLIT_NOTE} TIER is the tier, such as 2_3 for 2-3.",
            )
        },
        others={"*.yaml": "A task for each tier, or a group with the tasks of all tiers."},
    ),
)
