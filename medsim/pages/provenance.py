"""What reports of builds and of evaluations say alike of where their numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.pages.page import Code, Folded, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from medsim.core.manifest import Manifest, RunManifest
    from medsim.pages.page import Part

PAPER = (
    "Schulz, C. and Juric, D. (2020). Can Embeddings Adequately Represent Medical Terminology? New "
    "Large-Scale Medical Term Similarity Datasets Have the Answer! AAAI 2020."
)
"""The paper whose method medsim carries out."""

FINGERPRINT = 12
"""How many digits of a fingerprint are shown, as signatures of results have them."""


def content_digest(manifest: Manifest, below: str = "") -> str:
    """Return a digest of the rows of an output's files, as an evaluation identifies a build.

    Args:
        manifest: of the output.
        below: the folder whose files count; all by default.
    """
    content = sorted(
        (path, one.fingerprint) for path, one in manifest.outputs.items() if path.startswith(below)
    )
    return canonical_digest(content)[:FINGERPRINT]


_NOTHING: tuple[object, ...] = (None, "", [], {})


def facts(caption: str, rows: Iterable[tuple[str, object]]) -> Table:
    """Return a table of what and which; what is missing is left out."""
    told = [(what, said(value)) for what, value in rows if value not in _NOTHING]
    frame = pl.DataFrame(told, schema={"what": pl.String, "which": pl.String}, orient="row")
    return Table(caption=caption, frame=frame, headed=False)


def said(value: object) -> str:
    """Return a value of a manifest in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        told = {key: one for key, one in value.items() if one not in _NOTHING}
        return ", ".join(f"{key}={said(one)}" for key, one in told.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(said, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def passed_on(redistributable: object) -> str:
    """Return whether content may be passed on, in words."""
    return "not stated" if redistributable is None else "yes" if redistributable else "no"


def warnings_of(warnings: Sequence[str]) -> list[Part]:
    """Return what the user was warned of."""
    if not warnings:
        return []
    frame = pl.DataFrame({"warning": list(warnings)}, schema={"warning": pl.String})
    return [Table(caption="Warnings", frame=frame, headed=False)]


def closing(manifest: RunManifest, parts: Sequence[Part], cite: str, commands: str) -> Section:
    """Return the section that says what everything was made from and with.

    Args:
        manifest: of the output.
        parts: what is of this kind of output alone.
        cite: what to name in a paper.
        commands: to look further.
    """
    versions = {"medsim": manifest.medsim, **manifest.libraries}
    return Section(
        title="Provenance",
        prose="What the numbers of this page were made from, with what, and how to cite them.",
        parts=[
            *parts,
            Folded(
                summary="Versions, time and memory",
                tables=[
                    facts("Versions", versions.items()),
                    _stages(manifest.stages, manifest.threads),
                ],
            ),
            f"Cite as: {cite}. The method: {PAPER}",
            "To look further:",
            Code(text=commands),
        ],
    )


def _stages(stages: Sequence[Mapping[str, object]], threads: int) -> Table:
    frame = pl.DataFrame(
        [(one.get("name"), one.get("seconds"), one.get("peak_mib")) for one in stages],
        schema={"stage": pl.String, "seconds": pl.Float64, "peak memory, MiB": pl.Int64},
        orient="row",
        strict=False,
    )
    return Table(
        caption=f"Stages, with {threads} threads", frame=frame, formats={"seconds": ",.1f"}
    )
