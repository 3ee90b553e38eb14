"""An evaluator for sentence-transformers, which scores a model on a build while it is trained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any, Self, TypeVar

from medsim.core.config import SET_COLUMNS
from medsim.core.errors import OptionError, needing
from medsim.core.options import PathOrOutput
from medsim.core.progress import Progress, Stage
from medsim.embeddings.embedded_terms import NamedEmbedding, embed_terms, similarities_of, term_rows
from medsim.embeddings.encoders import EncodedBatch, batches, collect
from medsim.embeddings.formats import TERMS, Request, TermVectors, VectorSource
from medsim.embeddings.formats.sentence_transformers import NAME, encode_batch
from medsim.embeddings.metrics import TermPoints, Workers
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec
from medsim.evaluations.inputs import distinct_terms, read_inputs
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.run import resampling_of
from medsim.evaluations.scoring import ScoredModel, baseline_models, score_sets
from medsim.evaluations.sets import HEADLINE
from medsim.evaluations.statistic import BASELINE

T = TypeVar("T")

_MODEL = "model"
_METRIC = COSINES[TermPoints]


class TermSimilarityEvaluator:
    """Scores an encoder on a build while sentence-transformers trains it.

    Pass it as ``evaluator`` to ``SentenceTransformerTrainer``, or call it with a model. It is a
    ``SentenceEvaluator`` of sentence-transformers, and its scores are those of ``evaluate`` with
    the same build, sample and seed.

    Args:
        build: the folder of a build, such as the validation split of ``split``.
        sample: number of positives of each dataset to score, as in ``evaluate``; None for all.
        seed: random seed of the sample.
        name: prefix of the scores; by default the name of the build's folder.
        threads: number of threads besides the model's; default: all.

    Attributes:
        primary_metric: the key of the headline score, for ``metric_for_best_model``.

    Raises:
        InputError: the build is missing or damaged.
        OptionError: an option is out of range, the build has no headline score, or
            sentence-transformers is not installed.
    """

    def __init__(
        self,
        build: PathOrOutput,
        *,
        sample: int | None = 2000,
        seed: int = 0,
        name: str | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__()
        # An evaluation needs an embedding; the model is known only when the evaluator is called.
        options = EvaluateOptions(
            build, {name or _MODEL: self}, "", sample=sample, seed=seed, threads=threads
        )
        if len(options.input_paths) != 1:
            raise OptionError("`build` must be one build; make an evaluator for each")
        (self._input,) = read_inputs(options, Progress())
        if not any(pair_set.kind == "beyond" for pair_set in self._input.scored_sets):
            raise OptionError(
                f"{options.input_paths[0]} has no headline score; it needs pairs of syn_syn with "
                "levenshtein and with random negatives"
            )
        self._threads, self._sample, self._seed = options.n_threads, sample, seed
        self._resampling = resampling_of(options.recorded(), self._threads)
        self._baselines = baseline_models(self._input, lambda *_: "")
        self._terms = distinct_terms([self._input])
        self.name = name or self._input.name
        self.greater_is_better = True
        self.primary_metric = f"{self.name}_{HEADLINE}"

    __signature__ = Signature([*signature(__init__).parameters.values()][1:])

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Return an evaluator that is also a ``SentenceEvaluator``, which is imported here."""
        return object.__new__(_with_base(cls))

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the scores of a model of sentence-transformers; nothing is written.

        They are the headline score (``NAME_auc_beyond_spelling``), its difference from the best
        baseline without a model (``NAME_auc_beyond_spelling_gain``), and the AUC of each set, such
        as ``NAME_auc_syn_syn_hard_levenshtein``. A set with too few pairs for an AUC is left out.
        """
        del output_path
        embedding = NamedEmbedding(
            spec=EmbeddingSpec(name=_MODEL, place=model, options=EmbeddingOptions()),
            source=_ModelInTraining(
                location=_MODEL, format_name=NAME, describes=NAME, gives=TERMS, model=model
            ),
            fingerprint="",
        )
        silent, threads = Progress(), self._threads
        embedded = embed_terms(embedding, self._terms, silent, threads=threads, cache=None)
        first, second = (
            term_rows(embedded, self._input.pairs[side]) for side in ("term1", "term2")
        )
        values = similarities_of(embedded, _METRIC, first, second, Workers(threads=threads))
        scored = ScoredModel(embedding=_MODEL, metric=_METRIC, similarities=values)
        models = [scored, *self._baselines]
        results, comparisons, _ = score_sets(
            self._input, self._input.scored_sets, models, self._resampling, Stage(_MODEL)
        )
        of_model = results.filter(embedding=_MODEL)
        headline = of_model.filter(statistic=HEADLINE)["value"].item()
        gain = comparisons.filter(between=BASELINE, of=HEADLINE)["difference"].item()
        metrics = {
            self.primary_metric: math.nan if headline is None else headline,
            f"{self.primary_metric}_gain": math.nan if gain is None else gain,
        }
        of_sets = of_model.filter(statistic="auc", subset="common").drop_nulls("value")
        for *key, value in of_sets.select(*SET_COLUMNS, "value").iter_rows():
            metrics["_".join([self.name, "auc", *key])] = value
        model.model_card_data.set_evaluation_metrics(self, metrics, epoch, steps)
        return metrics

    def get_config_dict(self) -> dict[str, Any]:
        """Return the settings, for the model card."""
        return {"sample": self._sample, "seed": self._seed}


def _with_base(kind: type[T]) -> type[T]:
    """Return a subclass that is also an evaluator of sentence-transformers."""
    with needing(f"{kind.__name__} needs sentence-transformers", NAME):
        try:
            from sentence_transformers.sentence_transformer import evaluation  # noqa: PLC0415 — extra
        except ImportError:  # before version 6
            from sentence_transformers import evaluation  # noqa: PLC0415 — an extra
    return type(kind.__name__, (kind, evaluation.SentenceEvaluator), {})


@dataclass(frozen=True, kw_only=True)
class _ModelInTraining(VectorSource):
    """A model whose vectors are those of its folder, if it were saved now."""

    model: Any

    def read(self, request: Request) -> TermVectors:
        """Return the vectors for a request, from the same batches as for a saved model."""

        def embed(terms: Sequence[str]) -> Iterator[EncodedBatch]:
            return ((batch, encode_batch(self.model, batch)) for batch in batches(terms))

        return collect(request, "", embed)
