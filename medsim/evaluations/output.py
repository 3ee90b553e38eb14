"""The output of an evaluation: its kind, tables, columns, manifest and files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import polars as pl

from medsim.core.errors import InputError, OptionError, counted, listed, needing, unknown_name
from medsim.core.kinds import Column, Kind, Table, both
from medsim.core.manifest import RunManifest
from medsim.core.opened import Opened
from medsim.core.shown import Summary
from medsim.evaluations.options import SUBSETS, Subset
from medsim.evaluations.sets import SET, whole_sets
from medsim.evaluations.statistic import STATISTICS, tabulated_names

_MAX_LISTED = 4  # names in a summary

_text, _whole, _number = (partial(Column, dtype) for dtype in (pl.String, pl.Int64, pl.Float64))
_short, _single, _flag = (partial(Column, dtype) for dtype in (pl.Int32, pl.Float32, pl.Boolean))

_INPUT = _text("Name of the build's folder, or of the rated file without its suffix.")
_EMBEDDING = _text("Name of the embedding, as given.")
_INDEX = _text("Index that was searched: flat (exact), ivf or hnsw.")
_SIGNATURE = _text("Everything that determines the score: versions, fingerprints, options, seed.")
_COVERED = {"input": _INPUT, "embedding": _EMBEDDING}
_IN_FOLDERS = {**_COVERED, "metric": _text("Name of the metric, such as avg_cos.")}
_IN_INPUT = {
    "dataset": _text(
        "Dataset of the build, with the two languages in cross_language/en-es; retrieval or "
        "separation; for a rated file the rating, and for a part of it the rating, a slash and the "
        "part, such as mean/count=10-99."
    ),
    "difficulty": _text(
        "easy or hard, or all for matched pairs; null for rated files, separation, and both "
        "together."
    ),
    "negatives": _text(
        "random, levenshtein or embedding, or all for matched pairs; null for all but pairs of a "
        "build."
    ),
}
_SET = {"input": _INPUT, **_IN_INPUT}
_INTERVAL = {
    "low": _number("Lower end of its 95% confidence interval; null where there is none."),
    "high": _number("Upper end of its 95% confidence interval; null where there is none."),
}
_SEPARATION = {
    "category1": _text("Category of the first term; null in the row of all triples."),
    "category2": _text("The other, or far, category; null in the row of all triples."),
    "n_terms1": _whole(
        "Number of terms of category1 with a vector; in the row of all triples, of all categories."
    ),
    "n_terms2": _whole(
        "Number of terms of category2 with a vector; null in the row of all triples."
    ),
    "n_triples": _whole("Number of triples; null if the two categories make none."),
    "n_errors": _whole("Number of wrong triples; null if the two categories make none."),
    "overlap_error": _number("Share (0 to 1) of wrong near-far triples; null in other rows."),
    "category_error": _number("Share (0 to 1) of wrong triples of two categories; else null."),
    "mean_similarity": _number("Mean similarity across the categories; null where undefined."),
}

SET_RESULTS = Table(
    "results.parquet",
    "A row per set, subset, embedding, metric and statistic.",
    {
        **_SET,
        "subset": _text(
            "common: pairs that all embeddings cover; own: those that this one covers; build: all "
            "pairs, for auc_matched."
        ),
        "embedding": _text("Name of the embedding; baseline for scores without a model."),
        "metric": _text("Name of the metric, such as avg_cos, or of the baseline."),
        "statistic": _text("Name of the statistic, such as auc."),
        "value": _number(
            "Value of the statistic; null if no pair is covered, if only positives or only "
            "negatives are, and for correlations of one pair or of equal ratings or similarities."
        ),
        **_INTERVAL,
        "n_pairs": _whole(
            "Number of pairs of the set, for auc_matched of those in strata with both labels; for "
            "retrieval and separation, number of terms."
        ),
        "n_covered": _whole("Number of these pairs or terms that the statistic is computed from."),
        "signature": _SIGNATURE,
    },
    key=(*SET, "subset", "embedding", "metric", "statistic"),
    order="By input; sets of pairs by name, then retrieval, then separation.",
)

SET_COMPARISONS = Table(
    "comparisons.parquet",
    "A row per significance test of a statistic on the pairs of a set that all embeddings cover: "
    "between two embeddings, each at its best metric, two metrics of one embedding, or an "
    "embedding and the best baseline.",
    {
        **_SET,
        "between": _text(
            "embeddings, metrics of one embedding, or baseline: an embedding and the best baseline."
        ),
        "embedding1": _text("Name of the first embedding."),
        "metric1": _text("Metric of the first."),
        "embedding2": _text("Name of the second, which is the same between metrics; or baseline."),
        "metric2": _text("Metric of the second."),
        "of": _text("Name of the statistic that is compared."),
        **both("value", "Value of the {}; null where it is not defined.", _number),
        "difference": _number("value1 minus value2; null if one is not defined."),
        "test": _text(
            "Name of the test: delong_clusters (AUC), mcnemar_clusters or, where few differ, "
            "mcnemar_clusters_exact (accuracies), bca (Spearman's correlation, a bootstrap), "
            "clustered_t (retrieval), matched_clusters (auc_matched); for independent pairs "
            "delong, and mcnemar or mcnemar_exact."
        ),
        "statistic": _number("Statistic of the test; null if it has none or is not defined."),
        "p": _number("Two-sided p-value; null where it is not defined."),
        "p_bonferroni": _number(
            "p after Bonferroni's correction for all comparisons of one statistic among the same "
            "models on the same set; null if p is null."
        ),
        "p_holm": _number("p after Holm's correction; null if p is null."),
        "low": _number(
            "Lower end of the 95% confidence interval of the difference; null if there is none."
        ),
        "high": _number(
            "Upper end of the 95% confidence interval of the difference; null if there is none."
        ),
        "n_pairs": _whole("Number of pairs in the test; for retrieval, number of terms."),
    },
    key=(*SET, "between", "embedding1", "metric1", "embedding2", "metric2", "of"),
    order="By input and set; sets of pairs by name, then retrieval.",
)

COVERAGE = Table(
    "coverage.parquet",
    "A row per set and embedding: how many terms and pairs have no vector.",
    {
        **_SET,
        "embedding": _EMBEDDING,
        "n_terms": _whole("Number of different terms of the set."),
        "n_terms_uncovered": _whole("Number of those without a vector."),
        "n_pairs": _whole("Number of pairs of the set."),
        "n_pairs_uncovered": _whole("Number of pairs in which a term has no vector."),
        "n_pairs_common": _whole("Number of pairs whose terms every embedding covers."),
        "n_pairs_oov": _whole("Number of pairs with a word that is out of vocabulary."),
    },
    key=(*SET, "embedding"),
    order="By input, set and embedding.",
)

OVERLAP = Table(
    "overlap.parquet",
    "A row per input and two embeddings: how many words or terms they share. Rows without an input "
    "compare the whole vocabularies of word vectors.",
    {
        "input": _text("Name of the input; null for whole vocabularies."),
        "of": _text("words of the input's terms, terms that are covered, or vocabulary."),
        **both("embedding", "Name of the {} embedding."),
        **both("n", "Number of items of the {}.", _whole),
        "n_both": _whole("Number of items of both."),
        "share1": _number("n_both divided by n1; null if n1 is 0."),
        "share2": _number("n_both divided by n2; null if n2 is 0."),
    },
    key=("input", "embedding1", "embedding2"),
    order="By input and the names of both embeddings; whole vocabularies last.",
)

SET_PAIRS = Table(
    "pairs/input=*/data.parquet",
    "A row per pair and set of the input.",
    {
        "input": _INPUT,
        "pair_id": _text("First 16 hexadecimal digits of an MD5 of both terms, as in builds."),
        **both("term", "The {} term."),
        **_IN_INPUT,
        "label": Column(pl.Int8, "1 for synonyms, 0 for negatives; null for rated pairs."),
        "rating": _number("Rating on the scale of the file; null for pairs of builds."),
    },
    key=("pair_id", "dataset", "difficulty", "negatives"),
    order="As in the files of the input, one set after the other.",
)

COVERED_TERMS = Table(
    "coverage/input=*/embedding=*/terms.parquet",
    "A row per term of the input: whether the embedding covers it.",
    {
        **_COVERED,
        "term": _text("Term as spelled in the input."),
        "covered": _flag("Whether the term has a vector."),
        "n_words": _short("Number of its words; null for embeddings of whole terms."),
        "n_unknown_words": _short("Words without a vector; null for embeddings of whole terms."),
    },
    key=("term",),
    order="By term.",
)

COVERED_WORDS = Table(
    "coverage/input=*/embedding=*/words.parquet",
    "A row per word of the input's terms with a vector; none for embeddings of whole terms.",
    {**_COVERED, "word": _text("Word as the embedding spells it.")},
    key=("word",),
    order="By word.",
)

VOCABULARY_WORDS = Table(
    "vocabularies/embedding=*/words.parquet",
    "A row per word of the embedding.",
    {
        "embedding": _EMBEDDING,
        "word": _text("Word as the embedding spells it; bytes that are not UTF-8 as escapes."),
    },
    key=("word",),
    order="By word.",
    optional=True,
)

RETRIEVAL = Table(
    "retrieval.parquet",
    "A row per input, embedding, index, subset, difficulty, length and statistic; no rows without "
    "retrieval.",
    {
        **_COVERED,
        "metric": _text("cos or avg_cos: the cosine of one vector per term."),
        "index": _INDEX,
        "subset": _text(
            "common: all linked terms; those without a vector count as not found. own: those with "
            "a vector that are linked to another term with a vector."
        ),
        "difficulty": _text("Difficulty of the term, easy or hard; null for both together."),
        "length": _text("Number of words of the term, 1 to 4 or 5+; null for any."),
        "statistic": _text("Name of the statistic, such as mrr."),
        "value": _number("Value of the statistic, 0 to 1; null without terms."),
        **_INTERVAL,
        "n_terms": _whole("Number of linked terms of that difficulty and length."),
        "n_covered": _whole("Number of these terms in the subset own."),
        "recall": _number(
            "Mean share of the ten nearest terms that the index found; null if exact."
        ),
        "signature": _SIGNATURE,
    },
    key=("input", "embedding", "metric", "index", "subset", "difficulty", "length", "statistic"),
    order="By input and embedding.",
)

RETRIEVED = Table(
    "retrieval/input=*/embedding=*/metric=*/index=*/data.parquet",
    "A row per term with a synonym: the terms that the embedding finds for it.",
    {
        **_IN_FOLDERS,
        "index": _INDEX,
        "term": _text("Term as spelled in the input."),
        "difficulty": _text("easy or hard: the difficulty of the term's easiest positive."),
        "n_words": _short("Number of words of the term."),
        "component": _short("Connected component of the term, as in the build."),
        "covered": _flag("Whether the term has a vector."),
        "rank": _whole("Rank of the nearest linked term, ties counted against it; null if none."),
        "linked_term": _text(
            "The nearest linked term; by exact search if the index found none; null if none."
        ),
        "linked_similarity": _single("Cosine with the linked term; null where there is none."),
        "nearest_term": _text("Nearest of all other terms; null without a vector."),
        "nearest_similarity": _single("Cosine with the nearest term; null where there is none."),
        "nearest_linked": _flag("Whether the nearest term is linked; null if there is none."),
        "recall": _single(
            "Share of the ten nearest terms that the index found; null if exact or unsampled."
        ),
    },
    key=("term",),
    order="By term.",
    optional=True,
)

SEPARATION = Table(
    "separation.parquet",
    "A row per input, embedding, metric and two categories, in the order in which they were named, "
    "and one of all triples together; no rows without categories.",
    {**_IN_FOLDERS, **_SEPARATION, "signature": _SIGNATURE},
    key=("input", "embedding", "metric", "category1", "category2"),
    order="By input and embedding; categories as they were named, all triples last.",
)

SEPARATED = Table(
    "separation/input=*/embedding=*/metric=*/terms.parquet",
    "A row per far category and term of the first near category with a vector: its overlap error.",
    {
        **_IN_FOLDERS,
        "far": _text("Name of the far category."),
        "term": _text("Term of the first near category."),
        "n_triples": _whole("Number of the term's triples: near terms times far terms."),
        "n_errors": _whole("Number of these triples in which the far term is at least as similar."),
        "overlap_error": _number("n_errors over n_triples; null without triples."),
    },
    key=("far", "term"),
    order="By far category as they were named, then by term.",
    optional=True,
)

SCORES = Table(
    "scores/input=*/embedding=*/metric=*/data.parquet",
    "A row per pair of the input: its similarity under one embedding and metric.",
    {
        **_IN_FOLDERS,
        "pair_id": _text("Identifier of the pair, as in the view pair."),
        "similarity": _single("Larger for more similar terms; null where a term is not covered."),
    },
    key=("pair_id",),
    order="By pair_id.",
)

SEPARATION_PARTS = Table(
    "separation/input=*/embedding=*/metric=*/data.parquet",
    "The rows of separation.parquet for one input, embedding and metric, kept so that later runs "
    "can add to them.",
    {**_IN_FOLDERS, **_SEPARATION},
    key=("category1", "category2"),
    order="Categories as they were named, all triples last.",
)


RESULT = "result.json"
"""The file with an evaluation's scores on builds, see ``medsim.evaluations.result_file``."""

SUMMARIES = (SET_RESULTS, SET_COMPARISONS, COVERAGE, OVERLAP, RETRIEVAL, SEPARATION)
"""The tables that every run writes again from all results."""


TableRow: TypeAlias = dict[str, str | int | float | None]
"""A row of a table, by column."""


def table_path(table: Table, *names: str) -> str:
    """Return the path of a file of a table; the names replace the stars."""
    return table.files.replace("*", "{}").format(*names)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationManifest(RunManifest):
    """The manifest of an evaluation.

    Attributes:
        inputs: for each build or rated file, by name: path, fingerprint of the content, skipped
            rows, and whether it may be redistributed.
        embeddings: for each embedding, by name: path, hash of the files, options and sizes.
    """

    kind: ClassVar[str] = "evaluation"
    inputs: dict[str, dict[str, object]]
    embeddings: dict[str, dict[str, object]]


EVALUATION = Kind(
    noun="evaluation",
    command="medsim eval",
    manifest=EvaluationManifest,
    views={
        "results": SET_RESULTS,
        "comparisons": SET_COMPARISONS,
        "coverage": COVERAGE,
        "overlap": OVERLAP,
        "pair": SET_PAIRS,
        "term": COVERED_TERMS,
        "word": COVERED_WORDS,
        "vocabulary": VOCABULARY_WORDS,
        "retrieval": RETRIEVAL,
        "retrieved": RETRIEVED,
        "separation": SEPARATION,
        "separated": SEPARATED,
        "score": SCORES,
    },
    resumed_by="scores",
    grows=True,
    unseen={"separation_part": SEPARATION_PARTS},
    others={RESULT: "The scores on whole builds without any term, for leaderboards."},
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
        return self._summarized(facts, calls, self._best)

    def _best(self) -> pl.DataFrame:
        """Return every embedding at its best metric on each set, values first."""
        from medsim.evaluations.conclusions import best_metrics  # noqa: PLC0415 — imports more

        results, comparisons = map(whole_sets, (self.results(), self.comparisons()))
        best = best_metrics(results, comparisons, tabulated_names(best=True), baseline=True)
        return best.select(
            "embedding", "metric", "value", "low", "high", "statistic", *SET, "n_pairs"
        )

    def results(self) -> pl.DataFrame:
        """Return a row per input, dataset, subset, embedding, metric and statistic."""
        return self._checked("results.parquet")

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
        if statistic not in STATISTICS:
            raise OptionError(unknown_name("statistic", statistic, list(STATISTICS)))
        if subset not in SUBSETS:
            raise OptionError(unknown_name("subset", subset, list(SUBSETS)))
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
        return self._checked("comparisons.parquet")

    def coverage(self) -> pl.DataFrame:
        """Return a row per dataset and embedding: terms and pairs without vectors."""
        return self._checked("coverage.parquet")

    def overlap(self) -> pl.DataFrame:
        """Return a row per two embeddings: how many words or terms they share."""
        return self._checked("overlap.parquet")

    def retrieval(self) -> pl.DataFrame:
        """Return a row per input, embedding, subset, difficulty, length and statistic."""
        return self._checked("retrieval.parquet")

    def separation(self) -> pl.DataFrame:
        """Return a row per input, embedding, metric and two categories."""
        return self._checked("separation.parquet")

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
