"""Term-similarity datasets from medical terminologies.

The commands of the ``medsim`` program are functions here: ``build``, ``verify``, ``synth``,
``convert``, ``merge``, ``audit``, ``diff``, ``define``, ``rebuild``, ``evaluate`` (which is
``medsim eval``), ``compare``, ``leaderboard``, ``correlate``, ``split``, ``tag``, ``export``,
``write_report`` (which is ``medsim report``), and
``open``, which gives the tables and SQL of a build, as ``Evaluation`` does of an evaluation's
folder (``from medsim import *`` leaves ``open`` out); ``Embedding`` is a function, a model or
vectors with a name, and ``TermSimilarityEvaluator`` scores a model that sentence-transformers
trains; ``build_shard`` is ``medsim build --shard``, and ``warm`` compiles ahead. Those of ``medsim
study`` are ``sample_study``, ``grade_study``, ``instances_study``, ``domains_study``,
``inspect_study``, ``score_study`` and ``choose_pairs``, those of ``medsim wic`` ``build_wic``,
``verify_wic``, ``describe_wic`` (which is ``medsim wic stats``) and ``evaluate_wic``.
"""

from __future__ import annotations

import importlib

with open(f"{__file__}i", encoding="utf-8") as _public:  # noqa: PTH123 — pathlib takes long to import
    _lines = [line.split() for line in _public if line.startswith("from ")]

_HOMES = {name: module for _, module, _, name, *_ in _lines}
_HOMES["open"] = _HOMES.pop("open_build")  # as medsim.open it reads well

__all__ = sorted({*_HOMES} - {"open"})  # noqa: PLE0605 — a list


def __getattr__(name: str) -> object:
    """Import what is asked for when it is, so that ``import medsim`` is quick."""
    if name == "__version__":
        return importlib.import_module("medsim.core.manifest").medsim_version()
    if name not in _HOMES:
        message = f"module 'medsim' has no attribute {name!r}"
        raise AttributeError(message)
    attribute = "open_build" if name == "open" else name
    return getattr(importlib.import_module(_HOMES[name]), attribute)


def __dir__() -> list[str]:
    return sorted(_HOMES)
