"""Similarities of all pairs of the inputs under an embedding, one file per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import counted
from medsim.embeddings.embedded_terms import similarities_of, term_rows
from medsim.embeddings.metrics import WordBags, Workers
from medsim.evaluations.output import SCORES, TERMS, WORDS, path_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.evaluations.inputs import EvaluationInput
    from medsim.evaluations.run import Run


def write_similarities(
    run: Run,
    input_: EvaluationInput,
    name: str,
    embedded: EmbeddedTerms,
    metrics: Collection[str],
) -> None:
    """Write the similarities of an input's pairs, and the coverage of its terms and words.

    A file of a metric has a row per pair in order of pair_id; a pair with a term that is not
    covered has no similarity. Files of an interrupted run are kept.
    """
    pairs = input_.pairs
    terms_path, words_path = (path_of(table, input_.name, name) for table in (TERMS, WORDS))
    paths = {metric: path_of(SCORES, input_.name, name, metric) for metric in metrics}
    if run.is_complete(terms_path, words_path, *paths.values()):
        return
    with run.progress.stage(f"compare pairs of {input_.name} with {name}") as stage:
        stage.total(pairs.height * len(metrics))
        workers = Workers(threads=run.options.n_threads, advance=stage.advance)
        first, second = (term_rows(embedded, pairs[side]) for side in ("term1", "term2"))
        rows = np.union1d(first, second)
        run.write(terms_path, embedded.terms[rows])
        words, bags = pl.Series("word", [], pl.String), embedded.embedded
        if isinstance(bags, WordBags) and embedded.words is not None:  # not of whole terms
            used = [bags.words[bags.starts[row] : bags.starts[row + 1]] for row in rows]
            words = embedded.words[np.unique(np.concatenate([*used, np.empty(0, np.int32)]))]
        run.write(words_path, words.sort().to_frame())
        for metric, path in paths.items():
            if run.is_complete(path):
                stage.advance(len(pairs))
                continue
            values = similarities_of(embedded, metric, first, second, workers)
            stage.advance(int(np.count_nonzero(np.isnan(values))))
            similarity = pl.Series("similarity", values).fill_nan(None)
            run.write(path, pl.DataFrame([pairs["pair_id"], similarity]))
        n_pairs, n_metrics = counted(pairs.height, "pair"), counted(len(metrics), "metric")
        stage.note(f"{n_pairs} under {n_metrics}")
