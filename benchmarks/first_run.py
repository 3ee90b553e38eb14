"""The first build on a machine, which compiles the search, compared with the next build."""

from __future__ import annotations

import os
import tempfile
from unittest.mock import patch

from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.building import Built, build

_STAGE = "compile the search, once"


def measure(settings: Settings) -> Measured:
    """Return the times of both builds; see ``Measure``."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, {"NUMBA_CACHE_DIR": folder}),
    ):
        first, next_one = (apart(build, "hpo", settings.threads) for _ in range(2))
    if first.fingerprint != next_one.fingerprint:
        raise MismatchError("the first build and the next have other rows")
    return Measured(
        about=f"hpo, with no kernel compiled before: {first.n_positives:,} positives",
        times=f"{first.seconds:.1f} s, of which {_waited(first):.1f} s of waiting for the "
        f"compiler; the next {next_one.seconds:.1f} s",
        ratios={"next build": next_one.seconds / first.seconds},
        peak=f"{max(int(str(stage['peak_mib'])) for stage in first.manifest.stages)} MiB",
        fingerprint=first.fingerprint,
    )


def _waited(built: Built) -> float:
    stages = built.manifest.stages
    return sum(float(str(stage["seconds"])) for stage in stages if stage["name"] == _STAGE)


BENCHMARKS.register("first_run", measure)
