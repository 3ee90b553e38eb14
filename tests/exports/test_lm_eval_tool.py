"""lm-evaluation-harness runs its export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import medsim

lm_eval = pytest.importorskip("lm_eval", reason="medsim[tools] is not installed")
api = pytest.importorskip("lm_eval.api.model", reason="medsim[tools] is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of lm_eval and its imports

GROUP, PROMPTS = "medsim_release_zip", ("letters", "names")


class Oracle(api.LM):
    """A model that prefers the right answers, given by prompt."""

    def __init__(self, right: dict[str, set[str]]) -> None:
        super().__init__()
        self.right = right

    def loglikelihood(self, requests):
        """Return 0 for the right continuation of a prompt, which follows an example, else -1."""
        asked = [(start.rpartition("\n\n")[2], end) for start, end in (r.args for r in requests)]
        return [(-float(end.strip() not in self.right[prompt]), False) for prompt, end in asked]

    generate_until = loglikelihood_rolling = None


@pytest.fixture(scope="module")
def folder(shared_splits: medsim.Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tasks") / "out"
    return medsim.export(shared_splits, out, "lm-eval", private=True).folder


@pytest.fixture
def evaluate(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that evaluates a model on both groups, in the folder of the export."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path))
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=".", include_defaults=False)
    groups = [f"{GROUP}_{prompt}" for prompt in PROMPTS]

    def run(model: object, **options: object) -> dict:
        return lm_eval.simple_evaluate(
            model, tasks=groups, task_manager=manager, bootstrap_iters=0, **options
        )

    return run


def test_the_right_answers_score_one_in_every_tier(folder: Path, evaluate) -> None:
    lines = [
        json.loads(line)
        for path in sorted(folder.glob("data/test-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    right: dict[str, set[str]] = {}
    for row in lines:
        lettered = [
            f"{letter}. {name}" for letter, name in zip("ABCD", row["choices"], strict=True)
        ]
        right["\n".join([row["question"], *lettered, "Answer:"])] = {row["label"]}
        names = right.setdefault(f"{row['question']}\nAnswer:", set())
        names.add(row["choices"][row["answer"]])

    found = evaluate(Oracle(right), num_fewshot=1)

    tiers = {path.stem.removeprefix("test-") for path in folder.glob("data/test-*.jsonl")}
    assert set(found["samples"]) == {f"{GROUP}_{p}_{tier}" for p in PROMPTS for tier in tiers}
    for prompt in PROMPTS:
        samples = [rows for task, rows in found["samples"].items() if prompt in task]
        assert {row["doc"]["id"] for rows in samples for row in rows} == {r["id"] for r in lines}
        assert sum(map(len, samples)) == len(lines) > 5
        assert found["results"][f"{GROUP}_{prompt}"]["acc,none"] == 1


def test_a_model_that_guesses_is_evaluated(evaluate) -> None:
    found = evaluate("dummy", limit=10)

    for prompt in PROMPTS:
        scores = found["results"][f"{GROUP}_{prompt}"]
        assert 0 <= scores["acc,none"] <= 1
        assert 0 <= scores["acc_norm,none"] <= 1
