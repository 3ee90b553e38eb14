"""The report of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import listed
from medsim.evaluations.names import FORMERLY
from medsim.evaluations.page.comparison_sections import metrics, significance
from medsim.evaluations.page.coverage_section import coverage
from medsim.evaluations.page.paper_sections import fixed_metrics, spread_of_metrics
from medsim.evaluations.page.result_section import result, standing_order
from medsim.evaluations.page.retrieval_section import retrieval
from medsim.evaluations.page.score_sections import distributions, errors, roc_curves
from medsim.evaluations.page.separation_section import separation
from medsim.evaluations.page.standing_sections import accuracy, by_subset, leaderboard
from medsim.evaluations.page.words import words_of
from medsim.evaluations.sets import SET
from medsim.pages.page import (
    FINGERPRINT,
    Page,
    PageTable,
    Section,
    closing,
    content_digest,
    facts,
    format_value,
    license_notice,
    passed_on,
    warnings_of,
)

if TYPE_CHECKING:
    from medsim.evaluations.output import EvaluationManifest
    from medsim.evaluations.report_data import EvaluationReportData

_FEW = 4  # names that the beginning of the page lists


def evaluation_page(manifest: EvaluationManifest, data: EvaluationReportData) -> Page:
    """Return the report of an evaluation; a section without data is left out."""
    decided = {**FORMERLY, **manifest.options}
    given = {key: value for key, value in decided.items() if value is not None}
    options = ", ".join(f"{key} {value}" for key, value in given.items())
    name = f"results@{content_digest(manifest)}"
    embeddings = standing_order(data.results, data.comparisons, list(manifest.embeddings))
    licensed = [
        name for name, one in manifest.inputs.items() if one.get("redistributable") is False
    ]
    sections = [
        result(data.results, data.comparisons, manifest.warnings),
        errors(data.errors, data.retrieved, embeddings),
        leaderboard(data.results, data.comparisons, embeddings),
        significance(data.comparisons, embeddings),
        accuracy(data.results, data.comparisons, embeddings),
        distributions(data.distributions, data.quartiles, embeddings),
        roc_curves(data.curves, data.results, embeddings),
        by_subset(data.parts),
        metrics(data.results, data.comparisons, embeddings),
        spread_of_metrics(data.results, embeddings),
        fixed_metrics(data.fixed),
        retrieval(data.retrieval, data.comparisons, embeddings),
        separation(data.separation, embeddings),
        coverage(data.coverage, embeddings),
        _evaluated(manifest, data.coverage),
        _provenance(manifest, name),
    ]
    return Page(
        title="How well embeddings represent medical terms",
        lead=f"{_counted(embeddings, 'embeddings')} on "
        f"{_counted(list(manifest.inputs), 'inputs')}, evaluated by medsim {manifest.medsim}.",
        notice=license_notice(licensed) if licensed else None,
        signature=f"medsim {manifest.medsim}, {name}, {options}",
        sections=[section for section in sections if section is not None],
        words=words_of(data.results),
    )


def _counted(names: list[str], what: str) -> str:
    return listed(names) if len(names) <= _FEW else f"{len(names)} {what}"


def _evaluated(manifest: EvaluationManifest, covered: pl.DataFrame) -> Section:
    sets = covered.select(*SET, "n_pairs").unique()
    sizes = dict(sets.group_by("input").agg(pl.col("n_pairs").sum()).iter_rows())
    inputs: list[dict[str, object]] = [
        {
            "input": name,
            "kind": "rated pairs" if one.get("kind") == "rated" else "build",
            "pairs of all sets": sizes.get(name),
            "from": _origin(one),
            "may be passed on": passed_on(one.get("redistributable")),
            "fingerprint": str(one.get("fingerprint"))[:FINGERPRINT],
        }
        for name, one in manifest.inputs.items()
    ]
    embeddings: list[dict[str, object]] = [
        {
            "embedding": name,
            "format": one.get("format"),
            "dimensions": one.get("n_dimensions"),
            "words or terms": one.get("n_vocabulary"),
            "options": format_value(one.get("options") or {}),
            "fingerprint": str(one.get("fingerprint"))[:FINGERPRINT],
        }
        for name, one in manifest.embeddings.items()
    ]
    return Section(
        title="Inputs and options",
        prose="Inputs are builds, whose pairs mean the same or do not, and files of pairs that "
        "people rated. An encoder can embed any term, so it has no number of words.",
        parts=[
            PageTable(caption="Inputs", frame=_without_empty(inputs)),
            PageTable(caption="Embeddings", frame=_without_empty(embeddings)),
            facts("Options", manifest.options.items()),
            *warnings_of(manifest.warnings),
        ],
    )


def _without_empty(rows: list[dict[str, object]]) -> pl.DataFrame:
    """Return a table without the columns that are empty in every row."""
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.select(c for c in frame if not c.cast(pl.String).fill_null("").eq("").all())


def _origin(one: dict[str, object]) -> str:
    source = one.get("source")
    if isinstance(source, dict):
        return f"{source.get('name')}, release {source.get('release_date') or 'undated'}"
    layout = one.get("layout")
    return f"ratings in the layout of {layout}" if layout else "ratings"


def _provenance(manifest: EvaluationManifest, name: str) -> Section:
    rows = [
        (kind, of, one.get("path"), one.get("fingerprint"))
        for kind, every in (("input", manifest.inputs), ("embedding", manifest.embeddings))
        for of, one in every.items()
    ]
    columns = dict.fromkeys(("what", "name", "path", "fingerprint"), pl.String)
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    commands = (
        "medsim compare RESULTS --table all-auc     # every metric; retrieval, separation, …\n"
        "medsim sql RESULTS                         # lists the views\n"
        'medsim sql RESULTS "select embedding, metric, statistic, value, low, high, signature from '
        "results where subset = 'common'\""
    )
    return closing(
        manifest,
        [PageTable(caption="What was read", frame=frame)],
        f"{name}, medsim {manifest.medsim}; each row of results.parquet has its own signature",
        commands,
    )
