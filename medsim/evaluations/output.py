"""The output of an evaluation: its kind, its tables and their columns, its manifest, its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from medsim.core.errors import OptionError, counted, listed, needing, unknown_name
from medsim.core.kinds import TERM_COLUMNS, Columns, Kind, View, columns
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.evaluations.notes import ABOUT, KEYS, NOTES, ORDER
from medsim.evaluations.options import SUBSETS
from medsim.evaluations.sets import SET, SET_COLUMNS, whole_sets
from medsim.evaluations.statistic import STATISTICS, tabulated_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.core.output import OutputFolder
    from medsim.core.shown import Summary
    from medsim.evaluations.options import StatisticName, Subset

_FEW = 4  # names that a summary lists

EVALUATED_COLUMNS: Columns = (
    columns(pl.String, "pair_id", "term1", "term2", *SET_COLUMNS)
    | columns(pl.Int8, "label")
    | columns(pl.Float64, "rating")
)
"""The columns of an evaluation's pairs; input comes from their folder."""

RESULT_COLUMNS: Columns = (
    columns(pl.String, *SET, "subset", "embedding", "metric", "statistic")
    | columns(pl.Float64, "value", "low", "high")
    | columns(pl.Int64, "n_pairs", "n_covered")
    | columns(pl.String, "signature")
)
"""The columns of ``results.parquet``; low and high are the ends of a 95% interval."""

COMPARISON_COLUMNS: Columns = (
    columns(pl.String, *SET, "between", "embedding1", "metric1", "embedding2", "metric2", "of")
    | columns(pl.Float64, "value1", "value2", "difference")
    | columns(pl.String, "test")
    | columns(pl.Float64, "statistic", "p", "p_bonferroni", "p_holm", "low", "high")
    | columns(pl.Int64, "n_pairs")
)
"""The columns of ``comparisons.parquet``; low and high are of the difference."""

COVERAGE_COLUMNS: Columns = columns(pl.String, *SET, "embedding") | columns(
    pl.Int64,
    *("n_terms", "n_terms_uncovered", "n_pairs", "n_pairs_uncovered", "n_pairs_common"),
    "n_pairs_oov",
)
"""The columns of ``coverage.parquet``; a pair is OOV if any word of its terms has no vector."""

OVERLAP_COLUMNS: Columns = (
    columns(pl.String, "input", "of", "embedding1", "embedding2")
    | columns(pl.Int64, "n1", "n2", "n_both")
    | columns(pl.Float64, "share1", "share2")
)
"""The columns of ``overlap.parquet``; a share is of what both have in what one has.

It is of the words or terms that an input uses, or without an input of whole vocabularies.
"""

RETRIEVAL_COLUMNS: Columns = (
    columns(pl.String, "input", "embedding", "metric", "index")
    | columns(pl.String, "subset", "difficulty", "length", "statistic")
    | columns(pl.Float64, "value", "low", "high")
    | columns(pl.Int64, "n_terms", "n_covered")
    | columns(pl.Float64, "recall")
    | columns(pl.String, "signature")
)
"""The columns of ``retrieval.parquet``; a missing difficulty or length stands for all of them."""

RETRIEVED_COLUMNS: Columns = (
    columns(pl.String, "term", "difficulty")
    | columns(pl.Int32, "n_words", "component")
    | columns(pl.Boolean, "covered")
    | columns(pl.Int64, "rank")
    | columns(pl.String, "linked_term")
    | columns(pl.Float32, "linked_similarity")
    | columns(pl.String, "nearest_term")
    | columns(pl.Float32, "nearest_similarity")
    | columns(pl.Boolean, "nearest_linked")
    | columns(pl.Float32, "recall")
)
"""The columns of what an embedding finds for each term that is linked to another.

The recall of a sampled term is the share of its ten nearest terms that an approximate index found.
"""

SEPARATION_COLUMNS: Columns = (
    columns(pl.String, "input", "embedding", "metric", "category1", "category2")
    | columns(pl.Int64, "n_terms1", "n_terms2", "n_triples", "n_errors")
    | columns(pl.Float64, "overlap_error", "category_error", "mean_similarity")
    | columns(pl.String, "signature")
)
"""The columns of ``separation.parquet``; a row without categories is of all triples together.

The row of an overlap error has the first near category and a far one.
"""

SEPARATED_COLUMNS: Columns = (
    columns(pl.String, "far", "term")
    | columns(pl.Int64, "n_triples", "n_errors")
    | columns(pl.Float64, "overlap_error")
)
"""The columns of the overlap errors of each term of the first near category, by far category."""

WORD_COLUMNS: Columns = {"word": pl.String}
"""The columns of the words of an input's terms that an embedding has, and of all its words."""

SIMILARITY_COLUMNS: Columns = {"pair_id": pl.String, "similarity": pl.Float32}
"""The columns of a file of similarities; they are null where a pair is not covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationManifest(RunManifest):
    """The manifest of an evaluation.

    Attributes:
        inputs: builds and rated files by name: where they lay, a fingerprint of their content,
            rows that were skipped, whether they may be passed on.
        embeddings: by name: where they lay, the hash of their files, options, sizes.
    """

    kind: ClassVar[str] = "evaluation"
    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]


_OF_WHOLE = {"input", "embedding", "metric", "signature"}


def _described(name: str, files: str, of_files: Columns) -> View:
    """Return a table with its descriptions."""
    return View(
        files,
        of_files,
        optional=True,
        about=ABOUT[name],
        notes=NOTES[name],
        key=KEYS[name],
        order=ORDER[name],
    )


EVALUATION = Kind(
    noun="evaluation",
    command="medsim eval",
    manifest=EvaluationManifest,
    views={
        # Optional, since those of earlier versions have fewer.
        name: _described(name, files, columns)
        for name, files, columns in (
            ("results", "results.parquet", RESULT_COLUMNS),
            ("comparisons", "comparisons.parquet", COMPARISON_COLUMNS),
            ("coverage", "coverage.parquet", COVERAGE_COLUMNS),
            ("overlap", "overlap.parquet", OVERLAP_COLUMNS),
            ("pair", "pairs/input=*/data.parquet", EVALUATED_COLUMNS),
            ("term", "coverage/input=*/embedding=*/terms.parquet", TERM_COLUMNS),
            ("word", "coverage/input=*/embedding=*/words.parquet", WORD_COLUMNS),
            ("vocabulary", "vocabularies/embedding=*/words.parquet", WORD_COLUMNS),
            ("retrieval", "retrieval.parquet", RETRIEVAL_COLUMNS),
            (
                "retrieved",
                "retrieval/input=*/embedding=*/metric=*/index=*/data.parquet",
                RETRIEVED_COLUMNS,
            ),
            ("separation", "separation.parquet", SEPARATION_COLUMNS),
            (
                "separated",
                "separation/input=*/embedding=*/metric=*/terms.parquet",
                SEPARATED_COLUMNS,
            ),
            ("score", "scores/input=*/embedding=*/metric=*/data.parquet", SIMILARITY_COLUMNS),
        )
    },
    resumed_by="scores",
    grows=True,
    unseen={
        "separation_part": _described(
            "separation_part",
            "separation/input=*/embedding=*/metric=*/data.parquet",
            {name: one for name, one in SEPARATION_COLUMNS.items() if name not in _OF_WHOLE},
        )
    },
)


def has_measures(separation: pl.DataFrame) -> bool:
    """Return whether a table of separation tells category errors from overlap errors.

    Earlier versions had category errors alone, in the column ``overlap_error``.
    """
    return "category_error" in separation.columns


def with_measures(separation: pl.DataFrame) -> pl.DataFrame:
    """Return a table of separation with the errors of earlier versions under their own name."""
    if has_measures(separation):
        return separation
    named = separation.rename({"overlap_error": "category_error"})
    found = named.with_columns(pl.lit(None, pl.Float64).alias("overlap_error"))
    return found.select(column for column in SEPARATION_COLUMNS if column in found.columns)


class Evaluation(Opened[EvaluationManifest]):
    """A finished evaluation; what it holds is read when it is asked for.

    Args:
        folder: where it lies.

    Raises:
        InputError: the folder holds no finished evaluation.

    Attributes:
        folder: where it lies.
        manifest: the account that it gives of itself.
    """

    kind = EVALUATION

    def _summary(self) -> Summary:
        inputs, embeddings = self.manifest.inputs, self.manifest.embeddings
        facts = [
            f"{counted(len(inputs), 'input')} ({listed(list(inputs), _FEW)})",
            f"{counted(len(embeddings), 'embedding')} ({listed(list(embeddings), _FEW)})",
            counted(self._rows_below("results.parquet"), "result"),
        ]
        has_build = any(one.get("kind") == "build" for one in inputs.values())
        statistic = "auc" if has_build else "spearman"
        calls = [
            "medsim.compare(evaluation)",
            f'.chart("{statistic}")',
            "medsim.write_report(evaluation, …)",
        ]
        return self._summarized(facts, calls, self._best)

    def _best(self) -> pl.DataFrame:
        """Return every embedding at its best metric on each set, the values first."""
        from medsim.evaluations.conclusions import best_metrics  # noqa: PLC0415 — which needs more

        results, comparisons = map(whole_sets, (self.results(), self.comparisons()))
        best = best_metrics(results, comparisons, tabulated_names(best=True))
        return best.select(
            "embedding", "metric", "value", "low", "high", "statistic", *SET, "n_pairs"
        )

    def results(self) -> pl.DataFrame:
        """Return a row per input, dataset, subset, embedding, metric and statistic."""
        results = self._checked("results.parquet")
        former = pl.col("statistic") == "overlap_error"
        if results.filter(former).is_empty() or has_measures(self.read("separation.parquet")):
            return results
        measure = pl.when(former).then(pl.lit("category_error")).otherwise("statistic")
        return results.with_columns(measure.alias("statistic"))

    def chart(self, statistic: StatisticName = "auc", *, subset: Subset = "common") -> Any:
        """Return a chart of a statistic, as an object of Altair.

        It has a point with its 95% interval for each embedding, at its best metric on each set of
        pairs; for retrieval and separation on each build.

        Args:
            statistic: such as "auc", "spearman" or "mrr"; see the column ``statistic`` of results.
            subset: pairs that all embeddings cover (common), or each its own (own).

        Raises:
            InputError: the evaluation has no such statistic.
            OptionError: a name is unknown, or Altair is not installed.
        """
        if statistic not in STATISTICS:
            raise OptionError(unknown_name("statistic", statistic, list(STATISTICS)))
        if subset not in SUBSETS:
            raise OptionError(unknown_name("subset", subset, list(SUBSETS)))
        with needing("a chart needs Altair", "report"):
            from medsim.evaluations.chart import chart_of  # noqa: PLC0415 — an extra
        return chart_of(self, STATISTICS[statistic], subset)

    def comparisons(self) -> pl.DataFrame:
        """Return a row per two embeddings, or two metrics of one, that a test compared."""
        return self._checked("comparisons.parquet")

    def coverage(self) -> pl.DataFrame:
        """Return a row per dataset and embedding: terms and pairs without vectors."""
        return self._checked("coverage.parquet")

    def overlap(self) -> pl.DataFrame:
        """Return a row per two embeddings: how many words of the terms both have."""
        return self._checked("overlap.parquet")

    def retrieval(self) -> pl.DataFrame:
        """Return a row per input, embedding, subset, difficulty, length and statistic."""
        return self._checked("retrieval.parquet")

    def separation(self) -> pl.DataFrame:
        """Return a row per input, embedding, metric and two categories."""
        return with_measures(self._checked("separation.parquet"))

    def separated(self) -> pl.LazyFrame:
        """Return the overlap error of every term of the first near category, by far category."""
        return self._scan(EVALUATION.views["separated"].files)

    def retrieved(self) -> pl.LazyFrame:
        """Return the findings of every embedding for each term that is linked to another."""
        return self._scan(EVALUATION.views["retrieved"].files)

    def pairs(self) -> pl.LazyFrame:
        """Return the pairs of all inputs, a row per pair of a dataset."""
        return self._scan(EVALUATION.views["pair"].files)

    def scores(self) -> pl.LazyFrame:
        """Return the similarity of every pair under every embedding and metric."""
        return self._scan(EVALUATION.views["score"].files)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFiles:
    """The files of an evaluation that is being made."""

    output: OutputFolder
    metadata: Mapping[str, str]

    def exist(self, *paths: str) -> bool:
        """Return whether files are there, and whole."""
        return all(map(self.output.is_complete, paths))

    def write(self, path: str, frame: pl.DataFrame) -> None:
        """Write a file."""
        self.output.write(path, frame, self.metadata)

    def load(self, path: str) -> pl.DataFrame:
        """Return the rows of a file of this run or of one before."""
        return self.output.load(path)

    def __contains__(self, path: str) -> bool:
        return path in self.output.outputs


def pairs_path(name: str) -> str:
    """Return the path of an input's pairs."""
    return f"pairs/input={name}/data.parquet"


def scores_path(name: str, embedding: str, metric: str) -> str:
    """Return the path of the similarities of an input's pairs."""
    return f"scores/input={name}/embedding={embedding}/metric={metric}/data.parquet"


def coverage_path(name: str, embedding: str, of: str) -> str:
    """Return the path of the "terms" of an input, or of the "words", that an embedding has."""
    return f"coverage/input={name}/embedding={embedding}/{of}.parquet"


def vocabulary_path(embedding: str) -> str:
    """Return the path of all words that an embedding has."""
    return f"vocabularies/embedding={embedding}/words.parquet"


def retrieval_path(name: str, embedding: str, metric: str, index: str) -> str:
    """Return the path of the terms that an embedding finds for an input's linked terms."""
    folder = f"retrieval/input={name}/embedding={embedding}/metric={metric}/index={index}"
    return f"{folder}/data.parquet"


def separation_path(name: str, embedding: str, metric: str, of: str = "data") -> str:
    """Return the path of the separation of an input's categories, or of their "terms"."""
    return f"separation/input={name}/embedding={embedding}/metric={metric}/{of}.parquet"
