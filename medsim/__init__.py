"""Term-similarity datasets from medical terminologies.

The commands of the ``medsim`` program are functions here: ``build``, ``verify``, ``synth``,
``convert``, ``merge``, ``evaluate`` (which is ``medsim eval``), ``compare``, ``correlate``,
``write_report`` (which is ``medsim report``), and ``open``, which gives the tables and SQL of a
build, as ``Evaluation`` does of an evaluation's folder; ``build_shard`` is
``medsim build --shard``. Those of ``medsim study`` are ``sample_study``, ``grade_study``,
``score_study`` and ``choose_pairs``, those of ``medsim wic`` ``build_wic``, ``verify_wic``
and ``evaluate_wic``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medsim.errors import MedsimError
    from medsim.progress import Progress
    from medsim.words.pairs import WordPairs
    from medsim.workflow.builds.build import build
    from medsim.workflow.builds.shards import build_shard, merge
    from medsim.workflow.builds.verify import Verification, verify
    from medsim.workflow.evaluations.compare import compare
    from medsim.workflow.evaluations.correlate import correlate
    from medsim.workflow.evaluations.evaluate import evaluate
    from medsim.workflow.opened import Build, Evaluation
    from medsim.workflow.opened import open_build as open  # noqa: A004 — reads well as medsim.open
    from medsim.workflow.releases import convert, synth
    from medsim.workflow.report import write_report
    from medsim.workflow.studies.folder import Study
    from medsim.workflow.studies.grade import grade_study
    from medsim.workflow.studies.sample import sample_study
    from medsim.workflow.studies.score import Scores, score_study
    from medsim.workflow.studies.word_pairs import choose_pairs
    from medsim.workflow.wic.benchmark import Benchmark
    from medsim.workflow.wic.build import build_wic
    from medsim.workflow.wic.evaluate import WicScores, evaluate_wic
    from medsim.workflow.wic.verify import Verified
    from medsim.workflow.wic.verify import verify as verify_wic

__all__ = [
    "Benchmark",
    "Build",
    "Evaluation",
    "MedsimError",
    "Progress",
    "Scores",
    "Study",
    "Verification",
    "Verified",
    "WicScores",
    "WordPairs",
    "build",
    "build_shard",
    "build_wic",
    "choose_pairs",
    "compare",
    "convert",
    "correlate",
    "evaluate",
    "evaluate_wic",
    "grade_study",
    "merge",
    "open",
    "sample_study",
    "score_study",
    "synth",
    "verify",
    "verify_wic",
    "write_report",
]

_HOMES = {
    "Benchmark": "medsim.workflow.wic.benchmark:Benchmark",
    "Build": "medsim.workflow.opened:Build",
    "Evaluation": "medsim.workflow.opened:Evaluation",
    "MedsimError": "medsim.errors:MedsimError",
    "Progress": "medsim.progress:Progress",
    "Scores": "medsim.workflow.studies.score:Scores",
    "Study": "medsim.workflow.studies.folder:Study",
    "Verification": "medsim.workflow.builds.verify:Verification",
    "Verified": "medsim.workflow.wic.verify:Verified",
    "WicScores": "medsim.workflow.wic.evaluate:WicScores",
    "WordPairs": "medsim.words.pairs:WordPairs",
    "build": "medsim.workflow.builds.build:build",
    "build_shard": "medsim.workflow.builds.shards:build_shard",
    "build_wic": "medsim.workflow.wic.build:build_wic",
    "choose_pairs": "medsim.workflow.studies.word_pairs:choose_pairs",
    "compare": "medsim.workflow.evaluations.compare:compare",
    "convert": "medsim.workflow.releases:convert",
    "correlate": "medsim.workflow.evaluations.correlate:correlate",
    "evaluate": "medsim.workflow.evaluations.evaluate:evaluate",
    "evaluate_wic": "medsim.workflow.wic.evaluate:evaluate_wic",
    "grade_study": "medsim.workflow.studies.grade:grade_study",
    "merge": "medsim.workflow.builds.shards:merge",
    "open": "medsim.workflow.opened:open_build",
    "sample_study": "medsim.workflow.studies.sample:sample_study",
    "score_study": "medsim.workflow.studies.score:score_study",
    "synth": "medsim.workflow.releases:synth",
    "verify": "medsim.workflow.builds.verify:verify",
    "verify_wic": "medsim.workflow.wic.verify:verify",
    "write_report": "medsim.workflow.report:write_report",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is, so that ``import medsim`` is quick."""
    if name not in _HOMES:
        message = f"module 'medsim' has no attribute {name!r}"
        raise AttributeError(message)
    module, attribute = _HOMES[name].split(":")
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
