"""Exports of a large build, compared with pandas and RapidFuzz for the same files."""

from __future__ import annotations

import hashlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import medsim
from benchmarks.harness import BENCHMARKS, Measured, MismatchError, Settings
from benchmarks.harness.apart import apart
from benchmarks.harness.brute_force import BruteForce, distances
from benchmarks.harness.timing import timed
from medsim.core.config import in_threads
from medsim.core.progress import Progress

if TYPE_CHECKING:
    from medsim.core.config import Strategy

_CONCEPTS_A_WARM_UP = 300
_N_NEGATIVES = 5
_COMPARED_AT_ONCE = 64
_EXPORTS: dict[str, tuple[str, Strategy | None]] = {
    "sentence-transformers": ("sentence-transformers", "levenshtein"),
    "sentence-transformers, random": ("sentence-transformers", "random"),
    "sapbert": ("sapbert", None),
    "jsonl": ("jsonl", "random"),
    "huggingface": ("huggingface", None),
    "mteb": ("mteb", None),
    "duckdb": ("duckdb", None),
}
"""The tool and the strategy of each export; the nearest terms are searched for once."""

_WRITTEN_BY_PANDAS = {
    "pair alone": "sentence-transformers",
    "sapbert": "sapbert",
    "pairs alone": "huggingface",
}
"""The files that pandas writes too, and the export with these files."""

_COUNTED = {
    "sentence-transformers": "pair/",
    "sentence-transformers, random": "pair/",
    "huggingface": "pairs/",
    "mteb": "pairs/",
    "duckdb": "duckdb",
}
"""Part of the paths of the files whose rows are counted; train by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The time and memory of one piece of work.

    Attributes:
        seconds: total time.
        peak_mib: peak memory.
        n_rows: number of written pairs.
        fingerprint: hash of the files except DuckDB's, whose bytes differ from run to run.
    """

    seconds: float
    peak_mib: int
    n_rows: int
    fingerprint: str = ""


def measure(settings: Settings) -> Measured:
    """Return the time of each export; see ``Measure``.

    Full size has about 750,000 positives. pandas reads the files of the build and writes those of
    the exports without hard negatives; RapidFuzz compares a sample of anchors with all terms, and
    its nearest are compared with those of the export.
    """
    concepts = settings.size(572_000, 5_000)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        apart(_prepare, folder, concepts, settings.threads)
        seen = {tool: apart(exported, folder, tool, settings.threads) for tool in _EXPORTS}
        naive = {
            what: apart(written_by_pandas, folder, what, seen[tool].n_rows)
            for what, tool in _WRITTEN_BY_PANDAS.items()
        }
        n_compared = settings.size(200, 500)
        compared = apart(compared_by_rapidfuzz, folder, n_compared, settings.threads)
    times = [f"{tool} {run.seconds:.1f} s" for tool, run in seen.items()]
    times += [f"pandas, {what} {run.seconds:.1f} s" for what, run in naive.items()]
    peaks = [f"{tool} {run.peak_mib:,} MiB" for tool, run in seen.items()]
    peaks += [f"pandas, {what} {run.peak_mib:,} MiB" for what, run in naive.items()]
    prints = "".join(run.fingerprint for run in seen.values())
    nearest = seen["sentence-transformers"].seconds
    return Measured(
        about=f"synth of {concepts:,} concepts, seed 1: {seen['jsonl'].n_rows:,} positives, "
        f"{_N_NEGATIVES} negatives each",
        times=f"{'; '.join(times)}; cdist {compared:,.0f} s (from {n_compared:,} anchors)",
        ratios={
            "cdist": compared / nearest,
            "pandas, sapbert": naive["sapbert"].seconds / seen["sapbert"].seconds,
        },
        peak="; ".join(peaks),
        fingerprint=hashlib.sha256(prints.encode()).hexdigest()[:16],
    )


def _prepare(folder: Path, concepts: int, threads: int) -> None:
    """Build a large and a small invented release with random negatives, which are fast."""
    for name, size in (("small", _CONCEPTS_A_WARM_UP), ("large", concepts)):
        release = folder / f"{name}.zip"
        medsim.synth(release, concepts=size, seed=1)
        medsim.build(release, folder / name, negatives=["random"], threads=threads)


def exported(folder: Path, tool: str, threads: int) -> Seen:
    """Return the time and memory of an export, after an export of a small build."""
    to, negatives = _EXPORTS[tool]

    def export_of(build: str) -> medsim.Exported:
        out = folder / f"{build} for {tool}"
        return medsim.export(folder / build, out, to, negatives=negatives, threads=threads)

    export_of("small")
    export, seconds = timed(lambda: export_of("large"))
    outputs, part = export.manifest.outputs, _COUNTED.get(tool, "train")
    text = "".join(
        f"{path} {outputs[path].fingerprint}" for path in sorted(outputs) if tool != "duckdb"
    )
    return Seen(
        seconds=seconds,
        peak_mib=max(int(str(stage["peak_mib"])) for stage in export.manifest.stages),
        n_rows=sum(output.rows for path, output in outputs.items() if part in path),
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
    )


def written_by_pandas(folder: Path, what: str, n_rows: int) -> Seen:
    """Return the time and memory of pandas for the pairs of an export, in random order."""
    progress = Progress()
    with progress.stage("pandas"):
        written, seconds = timed(lambda: _written(folder, what))
    if written != n_rows:
        raise MismatchError(f"{what}: {n_rows:,} rows, and {written:,} by pandas")
    return Seen(seconds=seconds, peak_mib=progress.records[0].peak_mib, n_rows=written)


def _written(folder: Path, what: str) -> int:
    files = sorted((folder / "large" / "pairs").glob("*/*/*/data.parquet"))
    pairs = pd.concat([pd.read_parquet(path) for path in files])
    if what == "pairs alone":
        pairs.to_parquet(folder / "pandas.parquet")
        return len(pairs)
    pairs = pairs[pairs["label"] == 1]
    low = pairs[["term1", "term2"]].min(axis=1)
    high = pairs[["term1", "term2"]].max(axis=1)
    pairs = pairs[~pd.DataFrame({"low": low, "high": high}).duplicated()]
    pairs = pairs.sample(frac=1, random_state=0)
    if what == "sapbert":
        pairs = pairs[pairs["concept1"] == pairs["concept2"]]
        lines = pairs["concept1"] + "||" + pairs["term1"] + "||" + pairs["term2"]
        (folder / "pandas.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        named = {"term1": "anchor", "term2": "positive"}
        pairs[list(named)].rename(columns=named).to_parquet(folder / "pandas.parquet")
    return len(pairs)


def compared_by_rapidfuzz(folder: Path, n_compared: int, threads: int) -> float:
    """Return RapidFuzz's extrapolated seconds to compare all anchors with all terms.

    Raises:
        MismatchError: its nearest terms differ from the export's.
    """
    terms = pd.read_parquet(folder / "large" / "terminology" / "term.parquet")
    tuples = pd.read_parquet(folder / "large for sentence-transformers" / "n-tuple")
    tuples = tuples.drop_duplicates("anchor")
    sample = tuples.sample(n_compared, random_state=0)
    lower = terms["lower_term"].to_list()
    exact = pd.Index(terms["term"])
    groups = terms["component"].to_numpy()
    brute = BruteForce(terms["term"].to_list(), groups, seed=0)
    queries = exact.get_indexer(sample["anchor"])
    negatives = sample.drop(columns=["anchor", "positive"]).to_numpy()
    seconds = 0.0
    for begin in range(0, n_compared, _COMPARED_AT_ONCE):
        rows = slice(begin, begin + _COMPARED_AT_ONCE)
        began = time.perf_counter()
        compared = distances(lower, queries[rows], threads)
        wanted = [_N_NEGATIVES] * len(compared)
        ranked = in_threads(threads, brute.nearest, queries[rows], compared, wanted)
        seconds += time.perf_counter() - began
        if not np.array_equal(exact.to_numpy()[np.stack(ranked)], negatives[rows]):
            raise MismatchError("hard negatives differ from those of brute force")
    return seconds / n_compared * len(tuples)


BENCHMARKS.register("exports", measure)
