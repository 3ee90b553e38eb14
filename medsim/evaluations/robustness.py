"""Robustness: how well embeddings find concepts by names with typing errors and other noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
import polars as pl

from medsim.builds.positives import content_hashes, reload_names
from medsim.core.store import Store
from medsim.core.terms import lowered_column
from medsim.embeddings.embedded_terms import EmbeddedTerms, term_rows
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.noise import NoisyNames
from medsim.evaluations.options import Noise
from medsim.evaluations.output import NOISY, ROBUSTNESS
from medsim.evaluations.sets import FEW
from medsim.evaluations.statistic import BASELINE, STATISTICS
from medsim.kernels.packing import tie_hashes
from medsim.neighbours.pool import Pool
from medsim.neighbours.rankers import names_by_cosine, names_by_distance, names_by_tfidf
from medsim.statistics.estimates import interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.core.progress import Progress
    from medsim.evaluations.options import EvaluateOptions
    from medsim.evaluations.output import TableRow
    from medsim.evaluations.run import EvaluationRun

MAX_ITEMS = 1_000
"""The most altered names of a kind and a number of errors."""

_TRIED = 4 * MAX_ITEMS
_MAX_RANK = 5
_TYPING_ERRORS = get_args(Noise)[:4]
_BASELINES = {(BASELINE, "levenshtein"): names_by_distance, (BASELINE, "tfidf"): names_by_tfidf}


class NoisyItems(NamedTuple):
    """Altered names, and the names that they are looked up among.

    Attributes:
        items: rows of ``sql/evaluations/noise_item.sql``.
        names: rows of ``sql/evaluations/noise_name.sql``.
    """

    items: pl.DataFrame
    names: pl.DataFrame


def noisy_items(
    build: Build, linked: pl.DataFrame, options: EvaluateOptions, progress: Progress
) -> NoisyItems:
    """Return altered names that still stand for their concept alone, for the chosen kinds of noise.

    Names of a single concept, which has others in the pool of retrieval, are altered. An altered
    name is kept if the exact search finds that all names nearest to it by Levenshtein distance, of
    all names of the build, are names of its concept alone. The items depend only on the build, the
    kinds and the seed. Kinds with fewer than ``FEW`` items are left out, and reported.
    """
    with progress.stage(f"alter names of {build.folder.name}") as stage, Store(threads=1) as store:
        terms = reload_names(build, store)["lower_term"].unique().sort()
        store.put("linked", linked.select("term", lowered_column(linked["term"])))
        store.run("evaluations/noise_name")
        names = store.table("noise_name").sort("name_id", "concept_id")
        named = names.drop_nulls()
        of_concepts = named.group_by("concept_id", maintain_order=True).agg("term")
        noise = NoisyNames(terms.to_list(), of_concepts["term"].to_list(), options.seed)
        sources = named.filter(pl.col("n_concepts") == 1, pl.col("n_names") > 1)["term"]
        order = tie_hashes(np.uint64(options.seed), np.uint64(0), content_hashes(sources))
        rows = _altered(noise, sources.gather(np.argsort(order)), options.noise)
        schema = dict.fromkeys(("kind", "n_errors", "term", "noisy_term"), pl.String)
        altered = pl.DataFrame([*rows], schema | {"n_errors": pl.Int32}, orient="row")
        altered = altered.with_columns(lower_noisy=lowered_column(altered["noisy_term"]))
        pool = Pool(terms, match_case=True, threads=options.n_threads)
        store.put("altered", altered.with_row_index("place"))
        store.put("nearest", pool.nearest(altered["lower_noisy"].unique(), ties="all"))
        items = store.frame("evaluations/noise_item", max_items=MAX_ITEMS)
        enough = items.filter(pl.len().over("kind", "n_errors") >= FEW)
        stage.note(f"{enough.height:,} altered names")
    if rare := sorted({*options.noise} - {*enough["kind"]}):
        progress.warn(f"fewer than {FEW} altered names: {', '.join(rare)}; left out")
    return NoisyItems(enough, names)


def _altered(
    noise: NoisyNames, names: pl.Series, kinds: Sequence[str]
) -> Iterator[tuple[str, int | None, str, str]]:
    """Yield kind, number of typing errors, name and altered name."""
    for kind in dict.fromkeys(kinds):
        for n_errors in (1, 2) if kind in _TYPING_ERRORS else (None,):
            pairs = ((name, noise.altered(name, kind, n_errors)) for name in names)
            rows = ((kind, n_errors, name, other) for name, other in pairs if other is not None)
            yield from islice(rows, _TRIED)


def noise_paths(name: str, embedding: str, metric: str, noisy: NoisyItems) -> dict[str, str]:
    """Return the path of the ranks of each kind of noise."""
    kinds = noisy.items["kind"].unique(maintain_order=True)
    return {kind: NOISY.path(name, embedding, metric, kind) for kind in kinds}


def write_ranks(
    run: EvaluationRun, input_name: str, noisy: NoisyItems, name: str, embedded: EmbeddedTerms
) -> None:
    """Write the ranks at which an embedding finds the concepts of altered names, if missing.

    The same is done for the baselines, which ignore case.
    """
    names = noisy.names.unique("name_id", keep="first", maintain_order=True)
    n_names = noisy.names.drop_nulls("concept_id")["n_names"].to_numpy()
    depth = _MAX_RANK + 2 + int(n_names.max(initial=0))  # ranks are exact, whatever names tie
    for model, metric in (*_BASELINES, (name, COSINES[type(embedded.embedded)])):
        paths = noise_paths(input_name, model, metric, noisy)
        if run.is_complete(*paths.values()):
            continue
        texts = ("lower_noisy", "lower_term") if model == BASELINE else ("noisy_term", "term")
        queries = pl.concat([noisy.items[text].alias("query") for text in texts]).unique().sort()
        with run.progress.stage(f"look up altered names in {model} {metric}"):
            if model == BASELINE:
                find = _BASELINES[model, metric]
                found = find(names["lower_term"], queries, depth, run.options.n_threads)
            else:
                rows = term_rows(embedded, names["term"]), term_rows(embedded, queries)
                found = names_by_cosine(embedded, *rows, depth, run.options.n_threads)
            items = noisy.items.with_columns(noisy_query=texts[0], plain_query=texts[1])
            with Store(threads=1) as store:
                store.put("item", items.with_row_index("item_id"))
                store.put("noise_name", noisy.names)
                store.put("asked", queries.to_frame().with_row_index("query_id"))
                store.put("found", found)
                ranks = store.frame("evaluations/noise_rank", max_rank=_MAX_RANK)
            for kind, path in paths.items():
                run.write(path, ranks.filter(kind=kind).drop("kind"))


def robustness_tables(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the accuracy on an input's altered names, by table."""
    rows: list[TableRow] = []
    for path in sorted(run.output.outputs):
        if not path.startswith(f"noise/input={name}/"):
            continue
        where = dict(part.split("=", 1) for part in path.split("/")[1:-1])
        signature = run.signature(name, where["embedding"], where["metric"])
        items = run.output.load(path)
        for (n_errors,), group in items.group_by("n_errors", maintain_order=True):
            clusters = group["concept_id"].rank("dense").cast(pl.Int64).to_numpy()
            ranks = group.select("rank", "rank_unaltered").fill_null(NOT_FOUND).cast(pl.Int64)
            altered, unaltered = (RankSample(ranks=r.to_numpy(), clusters=clusters) for r in ranks)
            rows += (
                where
                | {"n_errors": n_errors, "statistic": statistic}
                | interval_of(STATISTICS[statistic].compute(altered))
                | {"unaltered": STATISTICS[statistic].compute(unaltered).value}
                | {"n_items": group.height, "signature": f"{signature}, noise {where['kind']}"}
                for statistic in ("accuracy_at_1", "accuracy_at_5")
            )
    return {ROBUSTNESS.files: pl.DataFrame(rows, ROBUSTNESS.dtypes, orient="row")}
