"""The names that editors complete are the existing ones, and mypy finds misspelt names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from medsim.core import config, kinds, queries
from medsim.core.options import Options, declared
from medsim.evaluations import options
from medsim.evaluations.statistic import tabulated_names
from medsim.terminologies.options import ReadingOptions

ROOT = Path(__file__).parents[2]

SLIPS = """
import medsim
import numpy as np

build = medsim.build("hpo", "out", negatives=["random", "levenshtien"])  # 5
build.pairs("fsn_sny")  # 6
build.pairs(difficulty="medium")  # 7
build.table("concepts")  # 8
results = medsim.evaluate(build, {"one": np.zeros((3, 2))}, "out")  # 9
medsim.evaluate(build, {"one": "words.txt"}, "out", coverage="most")  # 10
medsim.compare(results, subset="all")  # 11
medsim.Embedding({"hand": [1.0]}, cases="lower")  # 12
medsim.Embedding({"hand": [1.0]}, case="lwer")  # 13
medsim.evaluate_wic("data", "out", models={"one": 5})  # 14
"""

RIGHT = """
from typing import Any
import medsim
import numpy as np

def embed(texts: list[str]) -> Any:
    return np.zeros((len(texts), 2))

class Model:
    def encode(self, sentences: list[str], batch_size: int = 32) -> Any:
        return embed(sentences)

words = medsim.Embedding(np.zeros((1, 2)), words=["hand"], case="lower", normalize=True)
build = medsim.build("hpo", "out", negatives=["random", "embedding"], embedding=Model())
results = medsim.evaluate(
    [build, "rated.csv"],
    {"file": "words.txt", "function": embed, "lambda": lambda texts: embed(texts),
     "model": Model(), "mapping": {"hand": [1.0]}, "array": words},
    "out",
)
medsim.compare(results, "figure-B.1", correction="holm")
medsim.open("out").pairs("fsn_syn", "hard", "levenshtein")
medsim.evaluate_wic("data", "out", models=["random", words])
"""


def test_names_for_editors_are_the_existing_ones() -> None:
    datasets = {dataset.name for dataset in queries.datasets()}

    assert set(get_args(config.DatasetName)) == datasets
    assert set(get_args(kinds.CanonicalTable)) == set(kinds.CANONICAL_TABLES)
    assert set(options.FIXABLE) | {f"all-{name}" for name in tabulated_names()} <= {*options.TABLES}


def test_choices_come_from_the_types_of_options() -> None:
    assert declared(options.CompareOptions)["correction"].choices == ("bonferroni", "holm")
    assert declared(ReadingOptions)["synonyms"].choices == ("exact", "narrow", "broad", "related")
    assert declared(options.CompareOptions)["table"].choices is None  # any spelling of a number
    assert {"all-auc", "C.1"} <= {*declared(options.CompareOptions)["table"].suggested}
    assert declared(Options) == {}


@pytest.mark.slow
def test_mypy_reports_only_misspelt_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "slips.py").write_text(SLIPS)

    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--hide-error-context", *tmp_path.glob("*.py")],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert not result.stderr, result.stderr
    errors = [line for line in result.stdout.splitlines() if ": error:" in line]
    assert {Path(line.split(":")[0]).name for line in errors} == {"slips.py"}
    assert sorted({int(line.split(":")[1]) for line in errors}) == list(range(5, 15))
