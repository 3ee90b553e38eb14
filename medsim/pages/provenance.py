"""The provenance of numbers, which reports of builds and of evaluations tell alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.canonical import canonical_digest
from medsim.core.cells import number
from medsim.core.errors import counted, listed
from medsim.pages.page import Code, Folded, PageTable, Section

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
"""The number of digits of a fingerprint that are shown, as in signatures of results."""


def content_digest(manifest: Manifest, below: str = "") -> str:
    """Return a digest of the rows of an output's files, as an evaluation identifies a build."""
    content = sorted(
        (path, one.fingerprint) for path, one in manifest.outputs.items() if path.startswith(below)
    )
    return canonical_digest(content)[:FINGERPRINT]


_NOTHING: tuple[object, ...] = (None, "", [], {})


def facts(caption: str, rows: Iterable[tuple[str, object]]) -> PageTable:
    """Return a table of named values; missing ones are left out."""
    texts = [(name, format_value(value)) for name, value in rows if value not in _NOTHING]
    frame = pl.DataFrame(texts, schema={"what": pl.String, "which": pl.String}, orient="row")
    return PageTable(caption=caption, frame=frame, headed=False)


def format_value(value: object, form: str = "") -> str:
    """Return a value of a manifest or of a table as text, numbers that are not whole as asked."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        given = {key: one for key, one in value.items() if one not in _NOTHING}
        return ", ".join(f"{key}={format_value(one)}" for key, one in given.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(format_value, value))
    if isinstance(value, float) and form:
        return number(value, form)
    return f"{value:,}" if isinstance(value, int) else str(value)


def license_notice(terminologies: Sequence[str] = (), terms_of_use: str = "") -> str:
    """Return the notice of a page with terms of licensed terminologies, which it may name."""
    named = f" ({listed(terminologies)})" if terminologies else ""
    return (
        f"This page holds terms of a licensed terminology{named} and must not be passed on, unless "
        f"its licence allows it. {terms_of_use}".strip()
    )


def passed_on(redistributable: object) -> str:
    """Return whether content may be passed on, in words."""
    return "not stated" if redistributable is None else "yes" if redistributable else "no"


def warnings_of(warnings: Sequence[str]) -> list[Part]:
    """Return a table of warnings, nothing where there are none."""
    if not warnings:
        return []
    frame = pl.DataFrame({"warning": list(warnings)}, schema={"warning": pl.String})
    return [PageTable(caption="Warnings", frame=frame, headed=False)]


def closing(manifest: RunManifest, parts: Sequence[Part], cite: str, commands: str) -> Section:
    """Return the section on inputs, versions and resources, with how to cite and go on."""
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


def _stages(stages: Sequence[Mapping[str, object]], threads: int) -> PageTable:
    frame = pl.DataFrame(
        [(one.get("name"), one.get("seconds"), one.get("peak_mib")) for one in stages],
        schema={"stage": pl.String, "seconds": pl.Float64, "peak memory, MiB": pl.Int64},
        orient="row",
        strict=False,
    )
    return PageTable(
        caption=f"Stages, with {counted(threads, 'thread')}",
        frame=frame,
        formats={"seconds": ",.1f"},
    )
