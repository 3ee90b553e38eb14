"""Evaluates embeddings on builds and rated files, and writes a folder of results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import combinations, product
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.core import manifest
from medsim.core.config import SET_COLUMNS
from medsim.core.errors import InputError, OptionError, counted, listed
from medsim.core.files import write_file
from medsim.core.kinds import TERM_COLUMNS
from medsim.core.opened import file_fingerprint
from medsim.core.options import public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.terms import lowered_column
from medsim.definitions.benchmark import BENCHMARK
from medsim.embeddings.embedded_terms import (
    embed_terms,
    identify,
    open_source,
    similarities_of,
    term_rows,
    with_fingerprint,
)
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.formats import WORDS
from medsim.embeddings.metrics import Metric, TermPoints, WordBags, Workers, metrics_of
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations import output, scoring
from medsim.evaluations.inputs import EvaluationInput, distinct_terms, read_inputs
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.output import SUMMARIES, Evaluation, EvaluationManifest
from medsim.evaluations.result_file import values_of, write_result
from medsim.evaluations.run import (
    EvaluationRun,
    Provenance,
    begin_run,
    earlier_results,
    is_same,
    resampling_of,
)
from medsim.evaluations.training_data import warnings_of_leaks
from medsim.kernels.types import Flags
from medsim.questions.question import question_files
from medsim.systems.options import systems_of
from medsim.systems.scorers import PAIR_TERMS, PREDICTED, ScoredPairs, score_pairs

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import EmbeddedTerms, NamedEmbedding
    from medsim.questions.output import Answers


@public(EvaluateOptions)
def evaluate(options: EvaluateOptions) -> Evaluation | Answers:
    """Evaluate embeddings on builds and rated files, and return the evaluation in ``out``.

    Systems without vectors are evaluated beside them, by their similarities of the pairs. If
    ``out`` is an evaluation already, inputs and models are added to it, and existing results are
    not computed again. If all inputs are folders of questions, language models, embeddings and
    systems are asked them, and the answers are returned.

    Raises:
        InputError: an input, an embedding or a table of predictions is missing, damaged or in no
            known format; or a table has a pair or a question that no input has.
        OptionError: an option is out of range or does not fit.
        ServiceError: a service cannot be reached, or gives an invalid answer.
        OutputError: ``out`` is taken, holds results that cannot be added to, or cannot be written.
    """
    if any(question_files(Path(path)) for path in options.input_paths):
        from medsim.evaluations.asking import ask_questions  # noqa: PLC0415 — brings asyncio

        return ask_questions(options)
    if options.llms:
        raise OptionError("`llms` are asked questions; give folders of questions as `inputs`")
    progress = progress_of(options.progress)
    with claimed_by(options, output.EVALUATION) as folder:
        earlier = earlier_results(options)
        inputs = read_inputs(options, progress)
        embeddings = _identified(options, inputs, progress)
        systems = _scored(options, inputs, earlier, progress)
        provenance = {input_.name: input_.provenance for input_ in inputs}
        models = {named.spec.name: named.provenance() for named in embeddings}
        models |= {one.system.name: one.system.provenance(one.fingerprint) for one in systems}
        if earlier and _has_all(earlier, options, inputs, provenance, models):
            progress.say(f"{earlier.folder} has all results already")
            return earlier
        run = begin_run(options, folder, progress, provenance, models, earlier)
        progress.warn(*warnings_of_leaks(run.inputs, run.embeddings))
        for input_ in inputs:
            if benchmark_name := input_.provenance.get("benchmark"):
                progress.say(f"{input_.name} is the build {benchmark_name} of {BENCHMARK}")
            run.write(output.SET_PAIRS.path(input_.name), input_.frame)
        for scored, input_ in product(systems, inputs):
            _write_predicted(run, scored, input_)
        for named in embeddings:
            _measure(run, named, inputs)
        summarize(run)
    return Evaluation(options.out)


def _has_all(
    earlier: Evaluation,
    options: EvaluateOptions,
    inputs: Sequence[EvaluationInput],
    provenance: Provenance,
    models: Provenance,
) -> bool:
    """Return whether an earlier evaluation has all that a run would write.

    Raises:
        OutputError: it has an input or an embedding of the same name and other content.
    """
    about, folder = earlier.manifest, earlier.folder
    if options.submitter or options.date or not is_same(earlier, provenance, models):
        return False
    for input_, name in product(inputs, models):
        paths = _result_paths(options, input_, name, about.embeddings[name])
        if not paths or not about.outputs.keys() >= {*paths}:
            return False
    with suppress(InputError, OSError):
        files = about.outputs.items()
        return all(file_fingerprint(folder / path) == known.fingerprint for path, known in files)
    return False


def _identified(
    options: EvaluateOptions, inputs: Sequence[EvaluationInput], progress: Progress
) -> list[NamedEmbedding]:
    """Return the embeddings with their fingerprints."""
    for spec in options.specs:  # the format may show that no metric fits
        if (gives := open_source(spec).gives) is not None:
            _chosen_metrics(options, spec.name, WordBags if gives == WORDS else TermPoints)
    embeddings = [identify(spec, progress) for spec in options.specs]
    if all(named.fingerprint for named in embeddings):
        return embeddings
    terms, threads = distinct_terms(inputs), options.n_threads
    return [with_fingerprint(named, terms, progress, threads=threads) for named in embeddings]


def _scored(
    options: EvaluateOptions,
    inputs: Sequence[EvaluationInput],
    earlier: Evaluation | None,
    progress: Progress,
) -> list[ScoredPairs]:
    """Return the similarities of the pairs of all inputs by every system.

    A table may also have pairs of earlier inputs, and any others if options leave pairs out.
    """
    if not (systems := systems_of(options.predictions)):
        return []
    names = listed([system.name for system in systems])
    needing = {"retrieval": options.retrieval, "separation": options.separates}
    for option in filter(needing.get, needing):
        progress.warn(f"{option} needs vectors, so it leaves out {names}")
    frames = [input_.pairs.select(PAIR_TERMS) for input_ in inputs]
    pairs = pl.concat(frames).unique(maintain_order=True)
    leaves_out = any((options.sample, options.datasets, options.difficulty, options.negatives))
    frames += [earlier.pairs().select(PAIR_TERMS).collect()] if earlier else []
    known = None if leaves_out else pl.concat(frames)
    return [score_pairs(system, pairs, progress, known=known) for system in systems]


def _write_predicted(run: EvaluationRun, scored: ScoredPairs, input_: EvaluationInput) -> None:
    """Write the similarities of an input's pairs by a system, and which terms have one.

    Files of earlier runs are kept.
    """
    name, pairs = scored.system.name, input_.pairs
    run.embeddings[name] |= {"metrics": [PREDICTED], "n_dimensions": None, "n_vocabulary": None}
    similarity = scored.of(pairs, f"pairs of {input_.name}", run.progress)
    terms_path = output.COVERED_TERMS.path(input_.name, name)
    words_path = output.COVERED_WORDS.path(input_.name, name)
    path = output.SCORES.path(input_.name, name, PREDICTED)
    if run.is_complete(terms_path, words_path, path):
        run.progress.say(f"{name} was evaluated on {input_.name} before")
        return
    similar = pairs.filter(similarity.is_not_null())
    terms, covered = (
        pl.concat(frame[side].alias("term") for side in PAIR_TERMS).unique().sort()
        for frame in (pairs, similar)
    )
    lacking = pl.DataFrame([terms, terms.is_in(covered.implode()).alias("covered")])
    run.write(terms_path, pl.concat([pl.DataFrame(schema=TERM_COLUMNS), lacking], how="diagonal"))
    run.write(words_path, pl.DataFrame(schema={"word": pl.String}))
    run.write(path, pairs.select("pair_id", similarity=similarity))


def write_terms(options: EvaluateOptions, path: Path) -> None:
    """Write the distinct terms that an evaluation embeds, one per line, without embedding them.

    Raises:
        InputError: an input cannot be read, or a term has a line break.
        OutputError: the file exists and is not to be replaced, or cannot be written.
    """
    progress = progress_of(options.progress)
    terms = distinct_terms(read_inputs(options, progress, strata=False))
    if (broken := next((term for term in terms if {"\n", "\r"} & {*term}), None)) is not None:
        raise InputError(f"{broken!r} has a line break, so {path} cannot have a term per line")
    write_file(path, "".join(f"{term}\n" for term in terms).encode(), overwrite=options.overwrite)
    progress.say(f"{path} has {counted(len(terms), 'term')}")


def _measure(run: EvaluationRun, named: NamedEmbedding, inputs: Sequence[EvaluationInput]) -> None:
    """Write the missing similarities, retrieval and separation of all inputs."""
    options, name = run.options, named.spec.name
    about = run.embeddings[name]
    wanted = [(input_, _result_paths(options, input_, name, about)) for input_ in inputs]
    missing = [input_ for input_, paths in wanted if not paths or not run.is_complete(*paths)]
    if not missing:
        run.progress.say(f"{name} was evaluated before")
        return
    embedded = embed_terms(
        named,
        distinct_terms(missing),
        run.progress,
        threads=options.n_threads,
        cache=cache_folder(options.cache),
        coverage=options.coverage,
    )
    if embedded.vocabulary is not None and not run.is_complete(
        path := output.VOCABULARY_WORDS.path(name)
    ):
        run.write(path, embedded.vocabulary.to_frame())
    metrics = _chosen_metrics(options, name, type(embedded.embedded))
    for input_ in missing:
        _write_similarities(run, input_, name, embedded, metrics)
        if input_.linked is not None:
            from medsim.evaluations.retrieval import write_retrieval  # noqa: PLC0415 — if asked for

            write_retrieval(run, input_.name, input_.linked, name, embedded)
        if input_.noisy is not None:
            from medsim.evaluations.robustness import write_ranks  # noqa: PLC0415 — if asked for

            write_ranks(run, input_.name, input_.noisy, name, embedded)
        if input_.categories is not None:
            from medsim.evaluations.separation import write_separation  # noqa: PLC0415 — if asked for

            write_separation(run, input_.name, input_.categories, name, embedded, metrics)
    about |= {
        "metrics": list(metrics_of(type(embedded.embedded))),
        "n_dimensions": embedded.embedded.vectors.shape[1],
        "n_vocabulary": embedded.n_vocabulary,
    }


def _chosen_metrics(
    options: EvaluateOptions, name: str, kind: type[WordBags | TermPoints]
) -> dict[str, Metric]:
    """Return the metrics to compute for an embedding, by name."""
    fitting = metrics_of(kind)
    chosen = {
        key: metric
        for key, metric in fitting.items()
        if not options.metrics or key in options.metrics
    }
    if not chosen:
        raise OptionError(f"none of `metrics` fits {name}; add one of {', '.join(fitting)}")
    return chosen


def _result_paths(
    options: EvaluateOptions,
    input_: EvaluationInput,
    embedding: str,
    about: Mapping[str, object],
) -> list[str]:
    """Return the files of an input under an embedding, given the embedding's provenance.

    There are none if its metrics are not known yet.
    """
    known = about.get("metrics")
    computed = known if isinstance(known, list) else []
    chosen = [one for one in computed if not options.metrics or one in options.metrics]
    paths = [output.SCORES.path(input_.name, embedding, metric) for metric in chosen]
    cosines = [metric for metric in COSINES.values() if metric in computed]
    if input_.linked is not None:
        index = options.index
        paths += (output.RETRIEVED.path(input_.name, embedding, one, index) for one in cosines)
    if input_.noisy is not None:
        from medsim.evaluations.robustness import noise_paths  # noqa: PLC0415 — if asked for

        for metric in cosines:
            paths += noise_paths(input_.name, embedding, metric, input_.noisy).values()
    if input_.categories is not None:
        from medsim.evaluations.separation import separation_paths  # noqa: PLC0415 — if asked for

        for metric in chosen:
            paths += separation_paths(input_.name, embedding, metric, input_.categories)
    return paths if chosen else []


def _write_similarities(
    run: EvaluationRun,
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
    terms_path, words_path = (
        table.path(input_.name, name) for table in (output.COVERED_TERMS, output.COVERED_WORDS)
    )
    paths = {metric: output.SCORES.path(input_.name, name, metric) for metric in metrics}
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


_MAKERS = {
    "retrieval": "medsim.evaluations.retrieval:retrieval_tables",
    "noise": "medsim.evaluations.robustness:robustness_tables",
    "separation": "medsim.evaluations.separation:separation_tables",
}
"""The functions that make tables from optional files, by the folder of these."""


def summarize(run: EvaluationRun) -> None:
    """Write the tables of all inputs, of this run and of earlier ones, and the manifest."""
    tables = {table.files: [pl.DataFrame(schema=table.dtypes)] for table in SUMMARIES}
    tables[output.RESULT] = [values_of("", ())]
    kinds = {path.split("/")[0] for path in run.output.outputs}
    makers = [_of_pairs]
    makers += [resolve_name(maker) for kind, maker in _MAKERS.items() if kind in kinds]
    for name, make in product(run.inputs, makers):
        for table, frame in make(run, name).items():
            tables[table].append(frame)
    vocabularies = {
        embedding: run.output.load(path)
        for embedding in run.embeddings
        if (path := output.VOCABULARY_WORDS.path(embedding)) in run.output.outputs
    }
    tables[output.OVERLAP.files].append(overlap_of_vocabularies(vocabularies))
    joined = {table: pl.concat(parts) for table, parts in tables.items()}
    headlines = joined.pop(output.RESULT)
    for table, frame in joined.items():
        run.write(table, frame)
    results, comparisons = (joined[table.files] for table in SUMMARIES[:2])
    write_result(run, results, comparisons, headlines)
    recorded, threads = run.options.recorded(), run.options.n_threads
    EvaluationManifest(
        inputs=run.inputs,
        embeddings=run.embeddings,
        **run.output.run_facts(recorded, run.progress, threads, *manifest.ENCODERS),
    ).write(run.output.folder)


def _of_pairs(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the results from the similarities of an input's pairs, by table."""
    load, progress, options = run.output.load, run.progress, run.options.recorded()
    pairs = load(output.SET_PAIRS.path(name))
    input_ = EvaluationInput.of_run(name, run.inputs[name], pairs, options)
    models = [
        scoring.ScoredModel(
            embedding=where["embedding"],
            metric=where["metric"],
            similarities=rows["similarity"].fill_null(np.nan).to_numpy(),
            signature=signature,
        )
        for where, signature, rows in run.files(output.SCORES, name)
    ]
    resampling = resampling_of(options, run.options.n_threads)
    with progress.stage(f"score {name}") as stage:
        every = [*models, *scoring.baseline_models(input_, run.signature)]
        results, comparisons, headlines = scoring.score_sets(
            input_, input_.scored_sets, every, resampling, stage
        )
        stage.note(f"{results.height:,} results, {comparisons.height:,} comparisons")
    empty = results.filter(pl.col("subset") == "common", pl.col("n_covered") == 0)
    for of_set in empty.select(SET_COLUMNS).unique(maintain_order=True).iter_rows():
        where = "/".join(part for part in of_set if part is not None)
        progress.warn(f"no pair of {name} {where} is covered by all embeddings: nothing to compare")
    progress.warn(*scoring.dominated_sets(input_))
    if input_.rated:
        scoring.warn_of_reach(models, resampling, progress)
    is_covered = {model.embedding: ~np.isnan(model.similarities) for model in models}
    terms, words = (
        {embedding: load(table.path(name, embedding)) for embedding in is_covered}
        for table in (output.COVERED_TERMS, output.COVERED_WORDS)
    )
    return {
        output.SET_RESULTS.files: results,
        output.SET_COMPARISONS.files: comparisons,
        output.COVERAGE.files: coverage_of(input_, is_covered, terms),
        output.OVERLAP.files: overlap_of(name, terms, words),
        output.RESULT: values_of(name, headlines),
    }


def coverage_of(
    input_: EvaluationInput, covered: Mapping[str, Flags], terms: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return ``COVERAGE``: terms and pairs of each set without vectors (table A.1).

    Pairs in common are those that all embeddings cover. By embedding, ``covered`` has whether both
    terms of each pair have vectors, bool[n_pairs], and ``terms`` has ``TERM_COLUMNS``.
    """
    common = np.logical_and.reduce(list(covered.values()))
    is_oov = ~pl.col("covered") | (pl.col("n_unknown_words").fill_null(0) > 0)
    lacking, oov = (
        {embedding: frame.filter(chosen)["term"] for embedding, frame in terms.items()}
        for chosen in (~pl.col("covered"), is_oov)
    )
    rows = []
    counted = {"labelled", "rated", "matched"}
    for pair_set in (each for each in input_.scored_sets if each.kind in counted):
        of_set = input_.pairs[pair_set.rows]
        in_set = pl.concat([of_set["term1"], of_set["term2"]]).unique()
        rows += [
            {
                "input": input_.name,
                **pair_set.key_columns(),
                "embedding": embedding,
                "n_terms": len(in_set),
                "n_terms_uncovered": int(in_set.is_in(lacking[embedding].implode()).sum()),
                "n_pairs": len(pair_set.rows),
                "n_pairs_uncovered": int(np.count_nonzero(~is_covered[pair_set.rows])),
                "n_pairs_common": int(np.count_nonzero(common[pair_set.rows])),
                "n_pairs_oov": of_set.filter(
                    pl.any_horizontal(pl.col("term1", "term2").is_in(oov[embedding].implode()))
                ).height,
            }
            for embedding, is_covered in covered.items()
        ]
    return pl.DataFrame(rows, schema=output.COVERAGE.dtypes, orient="row")


def overlap_of(
    name: str, terms: Mapping[str, pl.DataFrame], words: Mapping[str, pl.DataFrame]
) -> pl.DataFrame:
    """Return the overlap of vocabularies on an input's terms.

    Two word embeddings are compared by the words of the input's terms that they know, ignoring
    case, others by the terms that they cover. Returns ``OVERLAP``.
    """
    known_words = {
        of: lowered_column(rows["word"]).unique().alias(of) for of, rows in words.items()
    }
    known_terms = {of: rows.filter("covered")["term"].alias(of) for of, rows in terms.items()}
    rows = []
    for first, second in combinations(terms, 2):
        of_words = len(known_words[first]) and len(known_words[second])
        known = known_words if of_words else known_terms
        rows.append(_overlap(name, "words" if of_words else "terms", known[first], known[second]))
    return pl.DataFrame(rows, schema=output.OVERLAP.dtypes, orient="row")


def overlap_of_vocabularies(vocabularies: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return the overlap of whole vocabularies of word embeddings, by name (table A.2).

    Words are compared with their case. Returns ``OVERLAP`` without an input.
    """
    named = (frame["word"].alias(name) for name, frame in vocabularies.items())
    rows = [_overlap(None, "vocabulary", *both) for both in combinations(named, 2)]
    return pl.DataFrame(rows, schema=output.OVERLAP.dtypes, orient="row")


def _overlap(name: str | None, of: str, first: pl.Series, second: pl.Series) -> tuple[Any, ...]:
    """Return a row of ``OVERLAP`` for distinct items, named by their embeddings."""
    sizes, n_both = (len(first), len(second)), first.is_in(second.implode()).sum()
    shares = (n_both / size if size else None for size in sizes)
    return (name, of, first.name, second.name, *sizes, n_both, *shares)
