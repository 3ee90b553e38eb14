"""Term-similarity datasets from medical terminologies.

The commands of the ``medsim`` program are functions here: ``build``, ``verify``, ``synth``,
``convert``, ``merge``, ``evaluate`` (which is ``medsim eval``), ``compare``, ``correlate``,
``split``, ``tag``, ``export``, ``write_report`` (which is ``medsim report``), and ``open``, which
gives the tables and SQL of a build, as ``Evaluation`` does of an evaluation's folder (``from medsim
import *`` leaves ``open`` out); ``Embedding`` is a function, a model or vectors with a name;
``build_shard`` is ``medsim build --shard``, and ``warm`` compiles ahead. Those of ``medsim study``
are ``sample_study``, ``grade_study``, ``instances_study``, ``domains_study``, ``inspect_study``,
``score_study`` and ``choose_pairs``, those of ``medsim wic`` ``build_wic``, ``verify_wic``,
``describe_wic`` (which is ``medsim wic stats``) and ``evaluate_wic``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medsim.builds.build import build
    from medsim.builds.compiling import warm
    from medsim.builds.output import Build, open_build
    from medsim.builds.shards import build_shard, merge
    from medsim.cli.report import write_report
    from medsim.core.checks import Verification
    from medsim.core.errors import MedsimError
    from medsim.core.progress import Progress
    from medsim.embeddings.given import Embedding
    from medsim.evaluations.compare import compare
    from medsim.evaluations.correlate import correlate
    from medsim.evaluations.evaluate import evaluate
    from medsim.evaluations.output import Evaluation
    from medsim.exports.export import export
    from medsim.exports.output import Exported
    from medsim.splits.output import Splits
    from medsim.splits.split import split
    from medsim.splits.verify import verify
    from medsim.studies.asking import domains_study, grade_study, inspect_study, instances_study
    from medsim.studies.folder import Study
    from medsim.studies.sample import sample_study
    from medsim.studies.score import Scores, score_study
    from medsim.studies.word_pairs import WordPairs, choose_pairs
    from medsim.tagging.output import Tagging
    from medsim.tagging.tag import tag
    from medsim.terminologies.releases import convert, synth
    from medsim.wic.benchmark import Benchmark
    from medsim.wic.build import build_wic
    from medsim.wic.describe import describe_wic
    from medsim.wic.evaluate import WicScores, evaluate_wic
    from medsim.wic.verify import Verified
    from medsim.wic.verify import verify as verify_wic

    open = open_build  # noqa: A001 — reads well as medsim.open, and is not in __all__

__all__ = [
    "Benchmark",
    "Build",
    "Embedding",
    "Evaluation",
    "Exported",
    "MedsimError",
    "Progress",
    "Scores",
    "Splits",
    "Study",
    "Tagging",
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
    "describe_wic",
    "domains_study",
    "evaluate",
    "evaluate_wic",
    "export",
    "grade_study",
    "inspect_study",
    "instances_study",
    "merge",
    "sample_study",
    "score_study",
    "split",
    "synth",
    "tag",
    "verify",
    "verify_wic",
    "warm",
    "write_report",
]

_HOMES = {
    "Benchmark": "medsim.wic.benchmark:Benchmark",
    "Build": "medsim.builds.output:Build",
    "Embedding": "medsim.embeddings.given:Embedding",
    "Evaluation": "medsim.evaluations.output:Evaluation",
    "Exported": "medsim.exports.output:Exported",
    "MedsimError": "medsim.core.errors:MedsimError",
    "Progress": "medsim.core.progress:Progress",
    "Scores": "medsim.studies.score:Scores",
    "Splits": "medsim.splits.output:Splits",
    "Study": "medsim.studies.folder:Study",
    "Tagging": "medsim.tagging.output:Tagging",
    "Verification": "medsim.core.checks:Verification",
    "Verified": "medsim.wic.verify:Verified",
    "WicScores": "medsim.wic.evaluate:WicScores",
    "WordPairs": "medsim.studies.word_pairs:WordPairs",
    "build": "medsim.builds.build:build",
    "build_shard": "medsim.builds.shards:build_shard",
    "build_wic": "medsim.wic.build:build_wic",
    "choose_pairs": "medsim.studies.word_pairs:choose_pairs",
    "compare": "medsim.evaluations.compare:compare",
    "convert": "medsim.terminologies.releases:convert",
    "correlate": "medsim.evaluations.correlate:correlate",
    "describe_wic": "medsim.wic.describe:describe_wic",
    "domains_study": "medsim.studies.asking:domains_study",
    "evaluate": "medsim.evaluations.evaluate:evaluate",
    "evaluate_wic": "medsim.wic.evaluate:evaluate_wic",
    "export": "medsim.exports.export:export",
    "grade_study": "medsim.studies.asking:grade_study",
    "inspect_study": "medsim.studies.asking:inspect_study",
    "instances_study": "medsim.studies.asking:instances_study",
    "merge": "medsim.builds.shards:merge",
    "open": "medsim.builds.output:open_build",
    "sample_study": "medsim.studies.sample:sample_study",
    "score_study": "medsim.studies.score:score_study",
    "split": "medsim.splits.split:split",
    "synth": "medsim.terminologies.releases:synth",
    "tag": "medsim.tagging.tag:tag",
    "verify": "medsim.splits.verify:verify",
    "verify_wic": "medsim.wic.verify:verify",
    "warm": "medsim.builds.compiling:warm",
    "write_report": "medsim.cli.report:write_report",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is, so that ``import medsim`` is quick."""
    if name not in _HOMES:
        message = f"module 'medsim' has no attribute {name!r}"
        raise AttributeError(message)
    module, attribute = _HOMES[name].split(":")
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(_HOMES)
