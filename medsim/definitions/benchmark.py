"""The definitions of medsim-benchmark 1.0, in a JSON file each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

BENCHMARK = "medsim-benchmark 1.0"
"""The name of the benchmark. If rows of a dataset change, the benchmark gets another version."""


@cache
def benchmark_definitions() -> Mapping[str, Any]:
    """Return the definitions by name: of builds, such as "hpo", and of their splits."""
    stored = sorted((files(__package__) / "benchmark-1.0").iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".json"): json.loads(file.read_bytes()) for file in stored}


@cache
def benchmark_names() -> Mapping[str, str]:
    """Return the names of builds and splits, such as "hpo-splits/test", by their fingerprints."""
    return {
        content.split()[-1]: f"{name}/{part}".removesuffix("/whole")
        for name, definition in benchmark_definitions().items()
        for part, content in [*definition.values()][-1]["pairs"].items()
    }


def benchmark_builds() -> dict[str, str]:
    """Return the fingerprints of the pairs of the builds that are not splits, by name.

    ``result.json`` of an evaluation has the same fingerprints.
    """
    return {name: digest for digest, name in benchmark_names().items() if "/" not in name}
