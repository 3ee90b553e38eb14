"""Asks language models and embeddings multiple-choice questions on names, beside baselines."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core import manifest
from medsim.core.errors import OptionError
from medsim.core.options import declared
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.tables import write_csv
from medsim.embeddings.embedded_terms import embed_terms, identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.evaluations.options import EvaluateOptions
from medsim.questions.answers import AskedModel, answers_by_cosine, baselines_of
from medsim.questions.options import BASELINES
from medsim.questions.output import (
    AFFIRMED,
    ANSWERED,
    COMPARISONS,
    CSV,
    REPLIES,
    RESULTS,
    Answers,
    AnswersManifest,
)
from medsim.questions.reading import is_questions, read_questions
from medsim.questions.scores import affirmed_of, comparisons_of, results_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.core.progress import Progress
    from medsim.questions.reading import Questions

_APPLICABLE = {"threads", "cache", "overwrite", "coverage"}


def answer_questions(options: EvaluateOptions) -> Answers:
    """Ask models multiple-choice questions on names, and return their answers in ``out``.

    Language models choose the name that means the same as a term, or judge each of the names with
    the term. An embedding chooses the name with the highest cosine; if the term or all names lack a
    vector, it has no answer. No answer counts as wrong. Baselines are chance and the nearest name
    by edit distance. Of equally near names the first is chosen.
    """
    folders = list(map(Path, options.input_paths))
    if other := [folder for folder in folders if not is_questions(folder)]:
        raise OptionError(f"{other[0]} has no questions, but another input has; evaluate it alone")
    standard = EvaluateOptions(options.inputs, options.embeddings, options.out, llms=options.llms)
    for name in sorted(declared(EvaluateOptions).keys() - _APPLICABLE):
        if getattr(options, name) != getattr(standard, name):
            raise OptionError(f"`{name}` does not apply to questions; leave it out")
    progress, llms = progress_of(options.progress), list(map(AskedModel.parse, options.llms))
    _check_unique("models", [*(llm.name for llm in llms), *options.embeddings, *BASELINES])
    place = Path(options.out)
    with claimed(place, ANSWERED, overwrite=options.overwrite, input_folders=folders) as output:
        inputs = [read_questions(folder) for folder in folders]
        _check_unique("folders of questions", [each.name for each in inputs])
        for llm in llms:
            if llm.options.shots > min(each.tables[1].height for each in inputs):
                raise OptionError(
                    f"{llm.name}: shots={llm.options.shots} needs as many questions of train, and "
                    "questions of another split to ask; export splits"
                )
        answers, embeddings = _answers(options, llms, inputs, progress)
        replies = answers.filter(pl.col("model").is_in([llm.name for llm in llms]))
        affirmed = affirmed_of(replies)
        tables = [(COMPARISONS, comparisons_of(answers)), (RESULTS, results_of(answers))]
        tables += [(REPLIES, replies.select(*REPLIES.dtypes)), (AFFIRMED, affirmed)]
        for table, rows in tables:
            output.write(table.files, rows, {"medsim": manifest.medsim_version()})
        output.write_file(CSV, partial(write_csv, affirmed))
        AnswersManifest(
            questions={each.name: each.provenance for each in inputs},
            models={llm.name: llm.recorded(replies.filter(model=llm.name)) for llm in llms}
            | embeddings,
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, options.n_threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return Answers(place)


def _answers(
    options: EvaluateOptions,
    llms: Sequence[AskedModel],
    inputs: Sequence[Questions],
    progress: Progress,
) -> tuple[pl.DataFrame, dict[str, dict[str, Any]]]:
    """Return the answers of all models and baselines, and the facts about each embedding."""
    cache, threads = cache_folder(options.cache), options.n_threads
    texts = [each.tables[0].select("term", "choices") for each in inputs]
    names = {name for rows in texts for term, names in rows.iter_rows() for name in (term, *names)}
    terms, asks = sorted(names), {llm.options.ask for llm in llms}
    frames, embeddings = [], {}
    for spec in options.specs:
        source = with_fingerprint(identify(spec, progress), terms, progress, threads=threads)
        kept: dict[str, Any] = {"cache": cache, "coverage": options.coverage}
        embedded = embed_terms(source, terms, progress, threads=threads, **kept)
        frames += [answers_by_cosine(each.tables[0], spec.name, embedded) for each in inputs]
        embeddings[spec.name] = source.provenance()
        asks.add("choice")
    frames += [frame for each in inputs for frame in baselines_of(each.tables[0], asks)]
    asked = [llm.answers(each, cache, progress) for each in inputs for llm in llms]
    first = pl.DataFrame(schema=REPLIES.dtypes)
    return pl.concat([first, *asked, *frames], how="diagonal"), embeddings


def _check_unique(what: str, names: Sequence[str]) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise OptionError(f"two {what} are named {name!r}; names must be unique")
