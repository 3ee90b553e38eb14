"""The output of an evaluation: its kind, tables, manifest and files.

``tables.toml`` declares the tables with their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from medsim.core.errors import InputError, check_known, counted, listed, needing
from medsim.core.kinds import Kind, declared_tables
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.evaluations.options import SUBSETS, Subset
from medsim.evaluations.sets import WHOLE_SUBSET, whole_sets
from medsim.evaluations.statistic import STATISTICS, tabulated_names

if TYPE_CHECKING:
    import polars as pl

_MAX_LISTED = 4  # names in a summary

_TABLES = declared_tables(__package__)
SET_RESULTS, SET_COMPARISONS = _TABLES["results"], _TABLES["comparisons"]
COVERAGE, OVERLAP = _TABLES["coverage"], _TABLES["overlap"]
SET_PAIRS, SCORES = _TABLES["pair"], _TABLES["score"]
COVERED_TERMS, COVERED_WORDS = _TABLES["term"], _TABLES["word"]
VOCABULARY_WORDS = _TABLES["vocabulary"]
RETRIEVAL, RETRIEVED = _TABLES["retrieval"], _TABLES["retrieved"]
ROBUSTNESS, NOISY = _TABLES["robustness"], _TABLES["noisy"]
SEPARATION, SEPARATED = _TABLES["separation"], _TABLES["separated"]
SEPARATION_PARTS = _TABLES["separation_part"]

RESULT = "result.json"
"""The file with an evaluation's scores on builds, see ``medsim.evaluations.result_file``."""

RESULT_VALUES = "result.npz"
"""The file beside it with the values without each cluster, if these are large."""

SUBMITTED = ("submitter", "date")
"""The options of an evaluation that the file repeats if they are given."""

SUMMARIES = (SET_RESULTS, SET_COMPARISONS, COVERAGE, OVERLAP, RETRIEVAL, ROBUSTNESS, SEPARATION)
"""The tables that every run writes again from all results."""


TableRow: TypeAlias = dict[str, str | int | float | None]
"""A row of a table, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationManifest(RunManifest):
    """The manifest of an evaluation.

    Attributes:
        inputs: for each build or rated file, by name: path, fingerprint of the content, its
            name in medsim-benchmark 1.0, skipped rows, and whether it may be redistributed.
        embeddings: for each embedding, by name: path, hash of the files, options and sizes.
    """

    kind: ClassVar[str] = "evaluation"
    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]


EVALUATION = Kind(
    noun="evaluation",
    command="medsim eval",
    manifest=EvaluationManifest,
    views={name: table for name, table in _TABLES.items() if table is not SEPARATION_PARTS},
    resumed_by="scores",
    grows=True,
    unseen={"separation_part": SEPARATION_PARTS},
)


class Evaluation(Opened[EvaluationManifest]):
    """A finished evaluation, which reads its tables when they are needed.

    Args:
        folder: the folder of the evaluation.

    Raises:
        InputError: the folder holds no finished evaluation.

    Attributes:
        folder: the folder of the evaluation.
        manifest: its manifest.
    """

    kind = EVALUATION

    def _summary(self) -> Summary:
        inputs, embeddings = self.manifest.inputs, self.manifest.embeddings
        facts = [
            f"{counted(len(inputs), 'input')} ({listed(list(inputs), _MAX_LISTED)})",
            f"{counted(len(embeddings), 'embedding')} ({listed(list(embeddings), _MAX_LISTED)})",
            counted(self._rows_below("results.parquet"), "result"),
        ]
        has_build = any(provenance.get("kind") == "build" for provenance in inputs.values())
        statistic = "auc" if has_build else "spearman"
        calls = [
            "medsim.compare(evaluation)",
            f'.chart("{statistic}")',
            "medsim.write_report(evaluation, …)",
        ]
        return Summary(facts, calls, self._best, self.summary)

    def summary(self) -> str:
        """Return the result in sentences, one per line, as ``medsim eval`` prints them."""
        from medsim.evaluations import sentences  # noqa: PLC0415 — imports more

        said = sentences.result_sentences(self._best(), whole_sets(self.comparisons()))
        said += sentences.confusion_sentences(self.results().filter(subset=WHOLE_SUBSET))
        return "\n".join([*said, *sentences.sample_sentences(self.manifest.options)])

    def _best(self) -> pl.DataFrame:
        """Return every embedding at its best metric on each set, the headline first."""
        from medsim.evaluations.conclusions import best_metrics, headline_first  # noqa: PLC0415 — imports more

        results, comparisons = map(whole_sets, (self.results(), self.comparisons()))
        best = best_metrics(results, comparisons, tabulated_names(best=True), baseline=True)
        return headline_first(best)

    def results(self) -> pl.DataFrame:
        """Return a row per input, dataset, subset, embedding, metric and statistic."""
        return self.read_checked("results.parquet")

    def chart(self, statistic: str = "auc", *, subset: Subset = "common") -> Any:
        """Return a chart of a statistic, as an Altair object.

        It has a point with its 95% confidence interval for each embedding, at its best metric on
        each set of pairs; for retrieval and separation on each build.

        Args:
            statistic: such as "auc", "spearman" or "mrr"; see the column ``statistic`` of results.
            subset: pairs that all embeddings cover (common), or that each one covers (own).

        Raises:
            InputError: the evaluation has no such statistic.
            OptionError: a name is unknown, or Altair is not installed.
        """
        check_known("statistic", STATISTICS, statistic)
        check_known("subset", SUBSETS, subset)
        with needing("a chart needs Altair", "report"):
            from medsim.evaluations.chart import chart_of  # noqa: PLC0415 — an extra
        chosen = STATISTICS[statistic]
        of_kind = {"retrieval": [self.retrieval], "separation": [self.separation]}
        tables = of_kind.get(chosen.kind, [self.results, self.comparisons])
        if (chart := chart_of(chosen, subset, *(table() for table in tables))) is None:
            raise InputError(f"{self.folder} has no {chosen.label}")
        return chart

    def comparisons(self) -> pl.DataFrame:
        """Return a row per significance test between two embeddings, or two metrics of one."""
        return self.read_checked("comparisons.parquet")

    def coverage(self) -> pl.DataFrame:
        """Return a row per dataset and embedding: terms and pairs without vectors."""
        return self.read_checked("coverage.parquet")

    def overlap(self) -> pl.DataFrame:
        """Return a row per two embeddings: how many words or terms they share."""
        return self.read_checked("overlap.parquet")

    def retrieval(self) -> pl.DataFrame:
        """Return a row per input, embedding, subset, difficulty, length and statistic."""
        return self.read_checked("retrieval.parquet")

    def robustness(self) -> pl.DataFrame:
        """Return a row per input, embedding, kind of noise and statistic."""
        return self.read_checked("robustness.parquet")

    def separation(self) -> pl.DataFrame:
        """Return a row per input, embedding, metric and two categories."""
        return self.read_checked("separation.parquet")

    def separated(self) -> pl.LazyFrame:
        """Return the overlap error of every term of the first near category, by far category."""
        return self._scan(SEPARATED.files)

    def retrieved(self) -> pl.LazyFrame:
        """Return the terms that every embedding finds for each term with a synonym."""
        return self._scan(RETRIEVED.files)

    def pairs(self) -> pl.LazyFrame:
        """Return the pairs of all inputs, a row per pair of a dataset."""
        return self._scan(SET_PAIRS.files)

    def scores(self) -> pl.LazyFrame:
        """Return the similarity of every pair under every embedding and metric."""
        return self._scan(SCORES.files)
