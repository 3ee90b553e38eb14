"""Scores embeddings by the named entities that small taggers find with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from medsim.core import manifest, surroundings
from medsim.core.config import in_threads
from medsim.core.errors import InputError, needing
from medsim.core.options import public
from medsim.core.output import OutputFolder, claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.shown import MISSING
from medsim.embeddings.embedded_terms import NamedEmbedding, identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.kernels.types import Vectors
from medsim.statistics.entity_scores import ENTITY_STATISTICS, EntityCounts, estimates_of
from medsim.statistics.estimates import defined, interval_of
from medsim.tagging import tagger
from medsim.tagging.corpus import entities_of, read_corpora
from medsim.tagging.options import RANDOM, TagOptions
from medsim.tagging.output import (
    ALL_TYPES,
    ENTITY_SCORES,
    EPOCH,
    PREDICTION,
    TAGGING,
    TASK_MODEL,
    TRIALS,
    Tagging,
    TaggingManifest,
)


@dataclass(frozen=True, slots=True)
class _Run:
    """The context that all stages share."""

    options: TagOptions
    threads: int
    output: OutputFolder
    progress: Progress
    corpora: Sequence[tagger.EncodedCorpus]
    words: Sequence[str]


@public(TagOptions)
def tag(options: TagOptions) -> Tagging:
    """Train small taggers of named entities on each embedding's word vectors; return the scores.

    For each corpus and embedding some window taggers are trained (Collobert et al. 2011; Chiu et
    al. 2018), each from different initial weights: the vectors of five words go through one hidden
    layer to the tag of the word in the middle; the vectors are not trained. Scores are of the
    entities of the test split, counted as in the script conlleval. An interrupted run leaves
    ``out`` as it was; the same call continues it.

    Raises:
        InputError: a corpus or an embedding is missing, damaged or in no known format.
        OptionError: an option is out of range or does not fit, or an extra is not installed.
        OutputError: ``out`` is taken or cannot be written.
    """
    with needing("taggers need threadpoolctl, and PubTator files PySBD", "tag"):
        import threadpoolctl  # noqa: F401, PLC0415 — an extra
    out, progress = Path(options.out), progress_of(options.progress)
    threads = options.n_threads
    with claimed_by(options, TAGGING) as output:
        corpora = [tagger.encode_corpus(corpus) for corpus in read_corpora(options, progress)]
        words = sorted({word for corpus in corpora for word in corpus.vocabulary})
        embeddings: list[NamedEmbedding | None] = [
            with_fingerprint(
                identify(embedding_spec(source, name), progress), words, progress, threads=threads
            )
            for name, source in options.embeddings.items()
        ]
        about = {named.spec.name: named.provenance() for named in embeddings if named}
        if options.random is not None:
            embeddings.append(None)
            about[RANDOM] = {"dimensions": options.random, "seed": options.seed}
        output.resume(
            {
                "options": options.recorded(),
                "corpora": {data.corpus.name: dict(data.corpus.files) for data in corpora},
                "embeddings": about,
            }
        )
        run = _Run(options, threads, output, progress, corpora, words)
        about = {
            name: {**facts, "known": _tag_all(run, name, named)}
            for (name, facts), named in zip(about.items(), embeddings, strict=True)
        }
        _write_scores(run, list(about))
        TaggingManifest(
            corpora={data.corpus.name: data.corpus.facts() for data in corpora},
            embeddings=about,
            **output.run_facts(options.recorded(), progress, threads, *manifest.ENCODERS, "pysbd"),
        ).write(output.folder)
    return Tagging(out)


def _tag_all(run: _Run, name: str, named: NamedEmbedding | None) -> dict[str, float]:
    """Write the missing predictions of an embedding for all corpora.

    Returns:
        The share of the words of each corpus's test split that the embedding has.
    """
    options = run.options
    if named is None:
        table = tagger.random_words(run.words, options.random or 0, options.seed)
    else:
        cache = cache_folder(options.cache)
        table = tagger.embed_words(named, run.words, run.progress, run.threads, cache)
    for data in run.corpora:
        if not table.knows(data.vocabulary).any():
            raise InputError(f"{name} has no vector of any word of {data.corpus.name}")
    shares = {}
    for data in run.corpora:
        if not all(map(run.output.is_complete, _paths(data, name))):
            vectors = table.scaled(data.vocabulary)
            if options.capitals:
                vectors = tagger.with_capitals(vectors, data.vocabulary)
            _tag_one(run, name, data, vectors)
        # of the words of the test split, with repetitions
        words = data.splits["test"].windows[:, tagger.WINDOW]
        shares[data.corpus.name] = round(float(table.knows(data.vocabulary)[words].mean()), 6)
    return shares


def _tag_one(run: _Run, name: str, data: tagger.EncodedCorpus, vectors: Vectors) -> None:
    """Train the taggers of one corpus and embedding, and write what they predict."""
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 — an extra

    options = run.options
    trials = range(1, options.trials + 1)
    with run.progress.stage(f"tag {data.corpus.name} with {name}") as stage:
        stage.total(options.trials * options.epochs)

        def attempt(trial: int) -> tuple[pl.DataFrame, tuple[int, int, float]]:
            scores = []

            def score(network: tagger.Network) -> float:
                if surroundings.interrupted():  # else the program would wait for all epochs
                    raise KeyboardInterrupt
                scores.append(data.f1("dev", network.tags(vectors, data.splits["dev"].windows)))
                stage.advance()
                return scores[-1]

            network, epoch = tagger.train_tagger(
                vectors,
                data.splits["train"],
                np.random.default_rng([options.seed, trial]),
                score,
                n_tags=len(data.tags),
                epochs=options.epochs,
                relu=options.relu,
            )
            stage.advance(options.epochs - len(scores))
            return _predict(data, trial, network, vectors), (trial, epoch, scores[epoch - 1])

        with threadpool_limits(1):  # else the order of sums would depend on the number of threads
            results = in_threads(min(run.threads, options.trials), attempt, trials)
        epochs = pl.DataFrame([row for _, row in results], EPOCH.dtypes, orient="row")
        stage.note(f"F1 of dev {', '.join(f'{f1:.3f}' for f1 in epochs['dev_f1'])}")
    predictions, stops = _paths(data, name)
    run.output.write(predictions, pl.concat([frame for frame, _ in results]))
    run.output.write(stops, epochs)


def _predict(
    data: tagger.EncodedCorpus, trial: int, network: tagger.Network, vectors: Vectors
) -> pl.DataFrame:
    """Return the tags of the test split: ``PREDICTION``."""
    sentences = data.corpus.splits["test"]
    tags = data.tags_by_sentence("test", network.tags(vectors, data.splits["test"].windows))
    frame = pl.DataFrame(
        {
            "trial": [trial] * len(sentences),
            "document_id": [sentence.document_id for sentence in sentences],
            "sentence": range(1, len(sentences) + 1),
            "word": [list(range(1, len(sentence.words) + 1)) for sentence in sentences],
            "gold": [sentence.tags for sentence in sentences],
            "predicted": tags,
        }
    )
    return frame.explode("word", "gold", "predicted").cast(pl.Schema(PREDICTION.dtypes))


def _write_scores(run: _Run, names: Sequence[str]) -> None:
    """Write the scores of all embeddings."""
    trials, results = [], []
    with run.progress.stage("score"):
        for data in run.corpora:
            counts = {}
            corpus, kinds = data.corpus.name, data.corpus.kinds()
            for name in names:
                predictions, stops = map(run.output.load, _paths(data, name))
                counts[name] = counts_of(predictions, kinds)
                trials.append(trials_of(corpus, name, stops, counts[name]))
            results.append(tagger_scores(corpus, kinds, counts, run.options.seed))
    scores = pl.concat(results)
    f1 = scores.filter(type=ALL_TYPES, statistic="f1").rename({"embedding": TASK_MODEL})
    tasks = f1.pivot("corpus", index=TASK_MODEL, values="value")
    tables = {"results": scores, "trials": pl.concat(trials), "tasks": tasks}
    for name, frame in tables.items():
        run.output.write(f"{name}.parquet", frame)


def _paths(data: tagger.EncodedCorpus, embedding: str) -> tuple[str, str]:
    """Return the paths of predictions, and of the epochs after which trials stopped."""
    folder = f"predictions/corpus={data.corpus.name}/embedding={embedding}"
    return f"{folder}/words.parquet", f"{folder}/epochs.parquet"


def counts_of(predictions: pl.DataFrame, kinds: Sequence[str]) -> EntityCounts:
    """Return the numbers of right, predicted and gold entities of a corpus's test split.

    Args:
        predictions: ``PREDICTION`` of all trials, in order of trial, sentence and word.
        kinds: the types of entities.

    Returns:
        int64[n_documents, 1 + n_kinds, n_trials, 3], documents in their order, or sentences if
        there is only one document; the first type is ``ALL_TYPES``.
    """
    if predictions["document_id"].n_unique() == 1:  # resamples of one document never differ
        predictions = predictions.with_columns(pl.col("sentence").cast(str).alias("document_id"))
    documents = predictions["document_id"].unique(maintain_order=True).to_list()
    row_of = {document: row for row, document in enumerate(documents)}
    number_of = {kind: at for at, kind in enumerate(kinds, start=1)}
    n_trials = predictions["trial"].n_unique()
    counts = np.zeros((len(documents), 1 + len(kinds), n_trials, 3), np.int64)
    sentences = predictions.group_by("trial", "document_id", "sentence", maintain_order=True).agg(
        "gold", "predicted"
    )
    for trial, document, _, gold, predicted in sentences.iter_rows():
        expected, tagged = set(entities_of(gold)), set(entities_of(predicted))
        for column, entities in enumerate((expected & tagged, tagged, expected)):
            for kind, number in Counter(entity.kind for entity in entities).items():
                counts[row_of[document], [0, number_of[kind]], trial - 1, column] += number
    return counts


def trials_of(
    corpus: str, embedding: str, epochs: pl.DataFrame, counts: EntityCounts
) -> pl.DataFrame:
    """Return the scores of each trial: ``TRIALS``, from the counts of ``counts_of``.

    They are int64[n_documents, 1 + n_kinds, n_trials, 3].
    """
    whole = counts[:, 0].sum(axis=0)
    scores = epochs.with_columns(
        pl.lit(corpus).alias("corpus"),
        pl.lit(embedding).alias("embedding"),
        *(pl.Series(name, statistic(whole)) for name, statistic in ENTITY_STATISTICS.items()),
    )
    return scores.select(list(TRIALS.dtypes)).cast(pl.Schema(TRIALS.dtypes))


def tagger_scores(
    corpus: str, kinds: Sequence[str], counts: Mapping[str, EntityCounts], seed: int
) -> pl.DataFrame:
    """Return the scores of all embeddings on a corpus: ``ENTITY_SCORES``.

    Args:
        corpus: its name.
        kinds: the types of its entities.
        counts: int64[n_documents, 1 + n_kinds, n_trials, 3] by embedding, see ``counts_of``; of the
            same documents.
        seed: of the bootstrap, in which all embeddings have the same resamples.
    """
    every = np.concatenate(list(counts.values()), axis=1)
    estimates = iter(estimates_of(every, seed=seed))
    rows = []
    for embedding, embedding_counts in counts.items():
        for at, kind in enumerate((ALL_TYPES, *kinds)):
            whole = embedding_counts[:, at].sum(axis=0)
            n_trials = embedding_counts.shape[2]
            for name, estimate in next(estimates).items():
                values = ENTITY_STATISTICS[name](whole)
                deviation = defined(float(np.std(values, ddof=1))) if n_trials > 1 else None
                rows.append(
                    {
                        "corpus": corpus,
                        "embedding": embedding,
                        "type": kind,
                        "statistic": name,
                        **interval_of(estimate),
                        "deviation": deviation,
                        "n_trials": n_trials,
                        "n_entities": int(whole[0, 2]),
                        "n_documents": len(embedding_counts),
                    }
                )
    return pl.DataFrame(rows, ENTITY_SCORES.dtypes)


def readable_f1(results: pl.DataFrame) -> pl.DataFrame:
    """Return F1 in percent: mean ± deviation of trials, and the mean's 95% interval."""
    rows: dict[str, dict[str, str]] = {}
    n_types = pl.col("type").n_unique().over("corpus")
    several = pl.col("type").eq(ALL_TYPES) | n_types.gt(2)  # else one type is all
    for row in results.filter(several, statistic="f1").iter_rows(named=True):
        name = row["corpus"] if row["type"] == ALL_TYPES else f"{row['corpus']} {row['type']}"
        cells = rows.setdefault(row["embedding"], {"embedding": row["embedding"]})
        cells[name] = _cell(row)
    return pl.DataFrame(list(rows.values()), infer_schema_length=None)


def _cell(row: Mapping[str, float | None]) -> str:
    value, deviation, low, high = (row[name] for name in ("value", "deviation", "low", "high"))
    text = MISSING if value is None else f"{100 * value:.1f}"
    if deviation is not None:
        text += f" ± {100 * deviation:.1f}"
    return text if low is None or high is None else f"{text} [{100 * low:.1f}, {100 * high:.1f}]"
